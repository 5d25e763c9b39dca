"""Where changes of scores and final justifications are placed."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from invented_posts import AUTHORS, CHAIR, OTHER, PUBLIC, REVIEWER, START, post
from invented_tables import review
from peercorpus.conversations.build import build_conversations
from peercorpus.conversations.turns import build_turn
from peercorpus.discussion.until_decision import count_after_decision, cut_at_decision, forget_decision_in, is_after
from peercorpus.records.enums import Aspect, Phase, PostKind, Role, ScoreSource
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.records.scores import Score, ScoreChange

CHANGE = ScoreChange(Aspect.RECOMMENDATION, "rating", 5.0, 6.0, START + timedelta(days=3.5), ScoreSource.EDIT)
POSTS = [
    post("A", 0, REVIEWER),
    post("a", 2, AUTHORS, "A"),
    post("r", 4, REVIEWER, "a", text="I raise my score from 5 to 6."),
    post("b", 5, AUTHORS, "r"),
]


def talk(**more: Any) -> Conversation:
    given: Review = replace(review("f", "Reviewer_A1bC", review_id="A"), **more)
    (conversation,), _ = build_conversations(POSTS, [given])
    return conversation


def test_a_score_change_joins_its_turn() -> None:
    assert [turn.score_changes for turn in talk(score_changes=(CHANGE,)).turns] == [(), (), (CHANGE,), ()]


def test_a_bare_change_is_a_turn() -> None:
    late = replace(CHANGE, changed_at=START + timedelta(days=9))
    turns = talk(score_changes=(late,)).turns
    assert [(turn.text, turn.post_ids, turn.score_changes) for turn in turns[4:]] == [("", (), (late,))]
    assert turns[4].created_at == late.changed_at


def test_a_mentioned_change_joins_its_post() -> None:
    told = replace(CHANGE, changed_at=None, source=ScoreSource.TEXT)
    words = Score(
        Aspect.RECOMMENDATION, "rating", 5, 1, 10, "raise my score from 5 to 6", Phase.INITIAL, ScoreSource.TEXT
    )
    assert [turn.score_changes for turn in talk(scores=(words,), score_changes=(told,)).turns] == [(), (), (told,), ()]


def test_an_undated_change_joins_the_conversation() -> None:
    undated = replace(CHANGE, changed_at=None, source=ScoreSource.SNAPSHOT)
    conversation = talk(score_changes=(undated,))
    assert conversation.undated_changes == (undated,)
    assert not any(turn.score_changes for turn in conversation.turns)


def test_both_justifications_are_kept_in_order() -> None:
    posts = [post("A", 0, REVIEWER), post("B", 1, REVIEWER), post("a", 2, AUTHORS, "A")]
    one, other = (
        replace(review("f", "Reviewer_A1bC", review_id=name), final_justification=f"Of {name}.") for name in "AB"
    )
    (found,), _ = build_conversations(posts, [one, other])
    assert found.turns[-1].final_justification == "Of A.\n\nOf B."
    assert build_conversations(posts, [other, one])[0] == [found]


@pytest.mark.parametrize(("day", "turn"), [(3.0, 2), (4.5, 2), (None, 4)])
def test_a_justification_stands_where_written(day: float | None, turn: int) -> None:
    at = None if day is None else START + timedelta(days=day)
    turns = talk(final_justification="All is well.", justified_at=at).turns
    assert [place for place, one in enumerate(turns) if one.final_justification] == [turn]


@pytest.mark.parametrize(
    ("day", "turn"),
    [(2.0, 2), (2.0 - 1e-6, 0), (4.0, 2), (5.0, 4)],
    ids=["with the authors' answer", "just before it", "with the reviewer's own post", "with their last post"],
)
def test_a_simultaneous_change_follows_its_post(day: float, turn: int) -> None:
    change = replace(CHANGE, changed_at=START + timedelta(days=day))
    turns = talk(score_changes=(change,)).turns
    assert [place for place, one in enumerate(turns) if one.score_changes] == [turn]


def test_a_change_after_responses_stands_apart() -> None:
    told = replace(CHANGE, changed_at=None, source=ScoreSource.TEXT)
    words = "raise my score from 5 to 6"
    score = Score(Aspect.RECOMMENDATION, "rating", 5, 1, 10, words, Phase.INITIAL, ScoreSource.TEXT)
    posts = [post("A", 0, REVIEWER), post("g", 2, AUTHORS), post("r", 4, REVIEWER, "A", text=f"I {words}.")]
    given = replace(review("f", "Reviewer_A1bC", review_id="A"), scores=(score,), score_changes=(told,))
    (found,), _ = build_conversations(posts, [given])
    assert [(turn.post_ids, turn.score_changes) for turn in found.turns] == [(("A",), ()), (("r",), (told,))]
    assert [(beside.post_id, beside.before_turn) for beside in found.context] == [("g", 1)]


def test_others_words_report_no_change() -> None:
    told = replace(CHANGE, changed_at=None, source=ScoreSource.TEXT)
    words = "raise my score from 5 to 6"
    score = Score(Aspect.RECOMMENDATION, "rating", 5, 1, 10, words, Phase.INITIAL, ScoreSource.TEXT)
    given = replace(review("f", "Reviewer_A1bC", review_id="A"), scores=(score,), score_changes=(told,))
    posts = [
        post("A", 0, REVIEWER),
        post("b", 1, OTHER, "A", text=f"I {words}, too."),
        post("a", 2, AUTHORS, "A"),
        post("r", 3, REVIEWER, "A", text=f"I {words}."),
    ]
    (found,), _ = build_conversations(posts, [given])
    assert [(turn.post_ids, bool(turn.score_changes)) for turn in found.turns if turn.score_changes] == [(("r",), True)]


DECIDED = START + timedelta(days=6)
DECISION = post("d", 6, (Role.PROGRAM_CHAIR, "Program_Chairs"), kind=PostKind.DECISION)
REVIEWED = post("A", 0, REVIEWER)


def converse(*posts: Post, reviews: tuple[Review, ...] = ()) -> list[Conversation]:
    flagged = [replace(one, posted_after_decision=is_after(one.created_at, DECIDED)) for one in posts]
    return build_conversations(flagged, reviews, DECIDED)[0]


def told(talk: Conversation) -> list[tuple[str, bool | None]]:
    return [("+".join(turn.post_ids), turn.posted_after_decision) for turn in talk.turns]


def test_a_turn_knows_the_decision() -> None:
    answers = [post("a", 5, AUTHORS, "A"), post("b", 7, AUTHORS, "A"), post("all", 8, AUTHORS)]
    talk, _ = converse(REVIEWED, DECISION, *answers, post("r", 9, REVIEWER, "b"))
    assert told(talk) == [("A", False), ("a", False), ("b", True), ("r", True)]
    assert [beside.posted_after_decision for beside in talk.context] == [True]


def test_an_undated_turn_knows_no_decision() -> None:
    (talk,) = build_conversations([REVIEWED, replace(post("a", 5, AUTHORS, "A"), created_at=None)])[0]
    assert told(talk) == [("A", None), ("a", None)]


def test_a_late_bare_change_is_flagged() -> None:
    change = ScoreChange(Aspect.RECOMMENDATION, "rating", 5.0, 6.0, START + timedelta(days=7), ScoreSource.EDIT)
    given = replace(review("f", "Reviewer_A1bC", review_id="A"), score_changes=(change,))
    talk, _ = converse(REVIEWED, DECISION, reviews=(given,))
    assert told(talk) == [("A", False), ("", True)]


def test_a_deciding_meta_review_ends_turns() -> None:
    earlier = post("n", 3, CHAIR, kind=PostKind.META_REVIEW)
    verdict = post("m", 6, CHAIR, kind=PostKind.META_REVIEW)
    said = [post("early", 4, REVIEWER, "A"), post("late", 7, REVIEWER, "A")]
    talk, _ = converse(REVIEWED, earlier, verdict, *said)
    assert told(talk) == [("A+early", False), ("late", True)]


def test_the_decision_ends_the_turns_of_every_conversation() -> None:
    said = [post("p", 1, PUBLIC), post("a", 2, AUTHORS, "p"), post("b", 7, AUTHORS, "p")]
    (talk,) = [talk for talk in converse(*said, DECISION) if talk.kind == "public"]
    assert told(talk) == [("p", False), ("a", False), ("b", True)]


def test_a_conversation_ends_at_the_decision() -> None:
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
    ("days", "after"), [((4, None), None), ((None, None), None), ((4, 5), False), ((7, None), True), ((None, 7), True)]
)
def test_partly_undated_turn_is_before_only_if_known(days: tuple[float | None, ...], after: bool | None) -> None:
    answers = [
        replace(post(f"a{place}", 5, AUTHORS, "A"), created_at=None if day is None else START + timedelta(days=day))
        for place, day in enumerate(days)
    ]
    flagged = [replace(one, posted_after_decision=is_after(one.created_at, DECIDED)) for one in answers]
    assert build_turn(tuple(flagged), decided_at=DECIDED).posted_after_decision is after
