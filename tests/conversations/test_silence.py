"""Without any reply there is no conversation, and that is counted."""

from dataclasses import replace
from typing import Any

import pytest

from invented_posts import AUTHORS, CHAIR, OTHER, PUBLIC, REVIEWER, post
from invented_tables import review
from peercorpus.conversations.build import build_conversations
from peercorpus.records.enums import ConversationKind, PostKind, Reason
from peercorpus.records.reviews import Post

RATING = post("A", 0, REVIEWER, text="", title="Official Review of Paper 1")
WORDS = post("B", 0, OTHER)


def told(*posts: Post) -> tuple[dict[str, list[str]], list[tuple[str, Reason]]]:
    """Return the turns of each conversation, and what is set aside with its reason."""
    talks, left = build_conversations(posts)
    turns = {talk.reviewer: ["+".join(turn.post_ids) for turn in talk.turns] for talk in talks}
    return turns, sorted((one.post_id, reason) for one, reason, _ in left)


@pytest.mark.parametrize(
    "silent",
    [
        RATING,
        replace(RATING, text=" \n"),
        post("d", 1, CHAIR, kind=PostKind.DECISION, text="", title="Paper decision"),
        post("p", 1, PUBLIC, text=""),
    ],
)
def test_an_empty_post_starts_no_conversation_but_is_counted(silent: Post) -> None:
    assert told(WORDS, silent) == ({"Reviewer_B2cD": ["B"]}, [(silent.post_id, Reason.NOTHING_SAID)])


@pytest.mark.parametrize(
    "more",
    [
        [post("a", 1, AUTHORS, "A")],
        [post("r", 1, REVIEWER, "A", text="", title="I keep my score")],
    ],
)
def test_a_bare_rating_with_a_discussion_starts_a_conversation(more: list[Post]) -> None:
    turns, left = told(RATING, *more)
    assert turns["Reviewer_A1bC"][0].split("+")[0] == "A"
    assert left == []


@pytest.mark.parametrize("written", [{"initial_text": "Bad."}, {"text": "Bad."}])
def test_a_review_with_any_known_text_starts_a_conversation(written: dict[str, Any]) -> None:
    assert told(replace(RATING, **written)) == ({"Reviewer_A1bC": ["A"]}, [])


def test_a_rating_with_a_final_justification_starts_a_conversation() -> None:
    given = replace(review("f", "Reviewer_A1bC", review_id="A"), final_justification="It is well.")
    (talk,), left = build_conversations([RATING], [given])
    assert ([turn.final_justification for turn in talk.turns], left) == (["It is well."], [])


def test_responses_to_all_are_kept_if_every_review_is_a_bare_rating() -> None:
    talks, left = build_conversations([RATING, post("all", 1, AUTHORS)])
    assert [(talk.kind, talk.reviewer, len(talk.turns)) for talk in talks] == [(ConversationKind.OTHER, "everyone", 1)]
    assert [(one.post_id, reason) for one, reason, _ in left] == [("A", Reason.NOTHING_SAID)]


def test_an_empty_post_adds_no_blank_lines_to_a_turn() -> None:
    (talk,), _ = build_conversations([RATING, post("r", 1, REVIEWER, "A"), post("s", 2, REVIEWER, "A", text=" ")])
    assert [(turn.text, turn.post_ids) for turn in talk.turns] == [("r", ("A", "r", "s"))]
