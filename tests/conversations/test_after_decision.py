"""Posts after the decision form separate turns, which are marked as such."""

from dataclasses import replace
from datetime import timedelta

import pytest

from invented_posts import AUTHORS, CHAIR, PUBLIC, REVIEWER, START, post
from invented_tables import review
from peercorpus.conversations.build import build_conversations
from peercorpus.conversations.turns import build_turn
from peercorpus.records.enums import Aspect, PostKind, Role, ScoreSource
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.records.scores import ScoreChange
from peercorpus.records.until_decision import count_after_decision, cut_at_decision, forget_decision_in, is_after

DECIDED = START + timedelta(days=6)
DECISION = post("d", 6, (Role.PROGRAM_CHAIR, "Program_Chairs"), kind=PostKind.DECISION)
REVIEWED = post("A", 0, REVIEWER)


def converse(*posts: Post, reviews: tuple[Review, ...] = ()) -> list[Conversation]:
    flagged = [replace(one, posted_after_decision=is_after(one.created_at, DECIDED)) for one in posts]
    return build_conversations(flagged, reviews, DECIDED)[0]


def told(talk: Conversation) -> list[tuple[str, bool | None]]:
    return [("+".join(turn.post_ids), turn.posted_after_decision) for turn in talk.turns]


def test_a_turn_says_whether_it_came_after_the_decision() -> None:
    answers = [post("a", 5, AUTHORS, "A"), post("b", 7, AUTHORS, "A"), post("all", 8, AUTHORS)]
    talk, _ = converse(REVIEWED, DECISION, *answers, post("r", 9, REVIEWER, "b"))
    assert told(talk) == [("A", False), ("a", False), ("b", True), ("r", True)]
    assert [beside.posted_after_decision for beside in talk.context] == [True]


def test_without_a_time_a_turn_does_not_say_whether_it_followed_the_decision() -> None:
    (talk,) = build_conversations([REVIEWED, replace(post("a", 5, AUTHORS, "A"), created_at=None)])[0]
    assert told(talk) == [("A", None), ("a", None)]


def test_a_score_change_without_a_post_after_the_decision_is_flagged() -> None:
    change = ScoreChange(Aspect.RECOMMENDATION, "rating", 5.0, 6.0, START + timedelta(days=7), ScoreSource.EDIT)
    given = replace(review("f", "Reviewer_A1bC", review_id="A"), score_changes=(change,))
    talk, _ = converse(REVIEWED, DECISION, reviews=(given,))
    assert told(talk) == [("A", False), ("", True)]


def test_a_meta_review_that_serves_as_the_decision_ends_every_turn() -> None:
    earlier = post("n", 3, CHAIR, kind=PostKind.META_REVIEW)
    verdict = post("m", 6, CHAIR, kind=PostKind.META_REVIEW)
    said = [post("early", 4, REVIEWER, "A"), post("late", 7, REVIEWER, "A")]
    talk, _ = converse(REVIEWED, earlier, verdict, *said)
    assert told(talk) == [("A+early", False), ("late", True)]


def test_the_decision_ends_the_turns_of_every_conversation() -> None:
    said = [post("p", 1, PUBLIC), post("a", 2, AUTHORS, "p"), post("b", 7, AUTHORS, "p")]
    (talk,) = [talk for talk in converse(*said, DECISION) if talk.kind == "public"]
    assert told(talk) == [("p", False), ("a", False), ("b", True)]


def test_a_conversation_is_cut_at_the_first_turn_after_the_decision() -> None:
    said = [
        post("a", 5, AUTHORS, "A"),
        post("all", 5.5, AUTHORS),
        post("r", 7, REVIEWER, "a"),
        post("more", 8, AUTHORS),
    ]
    talk, _ = converse(REVIEWED, DECISION, *said)
    kept = cut_at_decision(talk)
    assert told(kept) == [("A", False), ("a", False)]
    assert [beside.post_id for beside in kept.context] == ["all"]
    assert (count_after_decision(talk), count_after_decision(kept)) == (2, 0)
    assert cut_at_decision(forget_decision_in(talk)) == forget_decision_in(talk)


@pytest.mark.parametrize("kind", [PostKind.COMMENT, PostKind.META_REVIEW])
def test_a_post_without_a_decision_ends_no_turn(kind: PostKind) -> None:
    talk, _ = converse(REVIEWED, post("c", 3, CHAIR, kind=kind), post("r", 4, REVIEWER, "A"))
    assert told(talk) == [("A+r", False)]


@pytest.mark.parametrize(
    ("days", "after"),
    [((4, None), None), ((None, None), None), ((4, 5), False), ((7, None), True), ((None, 7), True)],
)
def test_partly_undated_turn_is_before_only_if_known(days: tuple[float | None, ...], after: bool | None) -> None:
    answers = [
        replace(post(f"a{place}", 5, AUTHORS, "A"), created_at=None if day is None else START + timedelta(days=day))
        for place, day in enumerate(days)
    ]
    flagged = [replace(one, posted_after_decision=is_after(one.created_at, DECIDED)) for one in answers]
    assert build_turn(tuple(flagged), decided_at=DECIDED).posted_after_decision is after
