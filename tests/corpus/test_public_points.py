"""Points keep only what the public records of a paper still contain."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from invented_points import WEAKNESSES, answer, reaction, split
from invented_tables import NOON, conversation, paper, post, review, turn
from peercorpus.corpus.forums import Forum
from peercorpus.corpus.points import keep_changes, public_points
from peercorpus.corpus.public_forums import PublicFilter, keep_public
from peercorpus.corpus.takedown import NOTHING
from peercorpus.records.enums import Aspect, PostKind, Role, ScoreSource
from peercorpus.records.points import ChangeSign, Point, PointChange
from peercorpus.records.reviews import Post, Review
from peercorpus.records.scores import ScoreChange

F = "f1"
RAISED = ScoreChange(Aspect.RECOMMENDATION, "rating", 5.0, 6.0, NOON + timedelta(days=1), ScoreSource.EDIT)
TOLD = replace(RAISED, source=ScoreSource.TEXT, words="I raise my score.")
REVIEW = review(F, sections=(WEAKNESSES,), score_changes=(RAISED, TOLD), final_justification="It is convincing now.")
POSTS = (
    post("r", F, kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1"),
    post("a1", F, text="We added it in Section 4. Thanks."),
    post("a2", F, text="It is in Section 5 now."),
    post("later", F, role=Role.REVIEWER, signature="R1", text="This is solved. I raise my score."),
)
CHANGES = (PointChange(1, ChangeSign.PROMISE, "section 4"), PointChange(2, ChangeSign.PLACE, "table 1"))
POINTS = split(
    REVIEW,
    {
        1: {
            "answers": (answer("a1", "We added it in Section 4."), answer("a2", "It is in Section 5 now.")),
            "reaction": reaction("later", "This is solved."),
            "score_changes": (RAISED, TOLD),
            "changes": CHANGES,
        }
    },
)


def kept(
    posts: Sequence[Post] = POSTS,
    of_review: Review = REVIEW,
    points: Sequence[Point] = POINTS,
    taken: Sequence[str] = (),
) -> list[Point]:
    talk = conversation(
        F, "R1", (turn(Role.REVIEWER, "r"), turn(Role.AUTHOR, "a1", "a2"), turn(Role.REVIEWER, "later"))
    )
    sieve = PublicFilter(replace(NOTHING, posts=frozenset(taken)))
    forum = sieve.sift(Forum(paper(F), [of_review], list(posts), [], [talk]))
    assert forum is not None
    return public_points(keep_public(forum), points)


def changed(post_id: str, **other: object) -> list[Post]:
    return [replace(each, **other) if each.post_id == post_id else each for each in POSTS]  # type: ignore[arg-type]


def test_points_are_unchanged_where_everything_is_public() -> None:
    assert kept() == POINTS


@pytest.mark.parametrize("other", [{"readers_public": False}, {"deleted": True}])
def test_hidden_posts_answer_no_point(other: dict[str, object]) -> None:
    first, second = kept(changed("a1", **other))
    assert [each.post_id for each in first.answers] == ["a2"]
    assert [change.sign for change in first.changes] == [ChangeSign.PLACE]
    assert (first.reaction, second) == (POINTS[0].reaction, POINTS[1])
    assert kept(taken=["a1"])[0].answers == first.answers


def test_an_answer_needs_its_passage() -> None:
    assert [each.post_id for each in kept(changed("a2", text="Oh. It is in Section 5 now."))[0].answers] == ["a1"]
    assert len(kept(changed("a2", text="It is in Section 5 now. Oh."))[0].answers) == 2


def test_a_reaction_needs_its_post() -> None:
    for first, _ in (kept(changed("later", readers_public=False)), kept(taken=["later"])):
        assert (first.reaction, first.score_changes) == (None, ())
        assert len(first.answers) == 2
    assert kept(changed("later", text="I raise my score."))[0].reaction is None


def test_a_score_change_needs_its_review() -> None:
    assert kept(of_review=replace(REVIEW, score_changes=(RAISED,)))[0].score_changes == (RAISED,)


def test_an_added_reaction_needs_its_review() -> None:
    points = [replace(POINTS[0], reaction=reaction(REVIEW.review_id, "It is convincing now.")), POINTS[1]]
    assert kept(points=points) == points
    assert kept(of_review=replace(REVIEW, final_justification=None), points=points)[0].reaction is None


@pytest.mark.parametrize(
    "of_review",
    [
        replace(REVIEW, readers_public=False),
        replace(REVIEW, deleted=True),
        replace(REVIEW, sections=(replace(WEAKNESSES, text="1. Nothing."),)),
        replace(REVIEW, sections=(WEAKNESSES, replace(WEAKNESSES, field="questions", text="Why?"))),
        replace(REVIEW, sections=()),
    ],
)
def test_a_hidden_review_has_no_points(of_review: Review) -> None:
    assert kept(of_review=of_review) == []


def test_a_taken_down_review_has_no_points() -> None:
    assert kept(taken=[REVIEW.review_id]) == []
    assert kept(of_review=replace(REVIEW, sections=(replace(WEAKNESSES, field="a", text=" \n"), WEAKNESSES))) == POINTS


def test_points_are_of_the_first_text() -> None:
    now = replace(REVIEW, sections=(replace(WEAKNESSES, text="None is left."),))
    assert kept(of_review=now) == []
    assert kept(of_review=replace(now, initial_sections=(WEAKNESSES,))) == POINTS


def test_only_changes_that_are_shown_are_kept() -> None:
    assert keep_changes(POINTS[0], {2}).changes == CHANGES[1:]
