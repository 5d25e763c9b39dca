"""Points of invented reviews, with answers, reactions and changes."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from invented_tables import ICLR, NOON, a_forum, post, what_follows
from peercorpus.points.find_points import Forum, read_points
from peercorpus.records.documents import Change
from peercorpus.records.enums import PostKind, Role, SectionKind
from peercorpus.records.points import (
    AnswerMethod,
    ChangeSign,
    KindSource,
    Point,
    PointAnswer,
    PointAspect,
    PointChange,
    PointKind,
    PointReaction,
    Reaction,
    ReactionScope,
)
from peercorpus.records.reviews import Conversation, Post, Review, Section

PRAISE, BLAME = "They fly kites. ", "No wind is measured; ask ada@example.org."
ANSWER = "We measured the wind."
LAST = "The wind is fine now."


def an_answer(post_id: str, text: str = ANSWER) -> PointAnswer:
    return PointAnswer(post_id, 0, len(text), text, AnswerMethod.QUOTE, 0.97, is_to_all=False, created_at=NOON)


def two_points(forum_id: str, venue_id: str) -> list[Point]:
    """Praise, and a criticism with two answers, a reaction and two changes, one of which is in the paper."""
    review_id = f"{forum_id}-R1"
    first = Point(
        point_id=f"{review_id}/1",
        forum_id=forum_id,
        venue_id=venue_id,
        review_id=review_id,
        reviewer="R1",
        number=1,
        field="comments",
        section_kind=SectionKind.OTHER,
        start=0,
        end=len(PRAISE),
        text=PRAISE,
        kind=PointKind.STRENGTH,
        kind_source=KindSource.WORDS,
        label=None,
        aspect=None,
    )
    reaction = PointReaction(Reaction.RESOLVED, f"{forum_id}-last", LAST, ReactionScope.POINT, NOON)
    second = replace(
        first,
        point_id=f"{review_id}/2",
        number=2,
        start=len(PRAISE),
        end=len(PRAISE + BLAME),
        text=BLAME,
        kind=PointKind.WEAKNESS,
        aspect=PointAspect.EXPERIMENTS,
        answers=(an_answer(f"{forum_id}-answer"), an_answer(f"{forum_id}-hidden")),
        reaction=reaction,
        changes=(PointChange(1, ChangeSign.TERMS, "wind"), PointChange(99, ChangeSign.TERMS, "kite")),
    )
    return [first, second]


def a_discussion(forum_id: str, venue_id: str = ICLR) -> list[object]:
    """A paper whose review has two points."""
    sections = (Section(SectionKind.OTHER, "comments", PRAISE + BLAME),)
    records = [
        replace(record, sections=sections) if isinstance(record, Review) else record
        for record in [*a_forum(forum_id, venue_id), *what_follows(forum_id, venue_id)]
        if getattr(record, "post_id", "") != f"{forum_id}-answer"
    ]
    spoken = [
        post(f"{forum_id}-answer", forum_id, venue_id, text=ANSWER, posted_after_decision=False),
        post(f"{forum_id}-hidden", forum_id, venue_id, text=ANSWER, readers_public=False),
        post(f"{forum_id}-last", forum_id, venue_id, text=LAST, role=Role.REVIEWER, kind=PostKind.COMMENT),
    ]
    return [*records, *spoken, *two_points(forum_id, venue_id)]


def with_points(records: Iterable[object]) -> list[object]:
    """Records, and the points of the reviews among them, each with every post of the authors as its answer."""
    kept = list(records)
    forums: dict[str, Forum] = {}
    for record in kept:
        if isinstance(record, Review | Post | Conversation | Change):
            forums.setdefault(record.forum_id, Forum()).add(record)
    points = (point for forum in forums.values() for point in _answered(forum))
    return [*kept, *points]


def _answered(forum: Forum) -> Iterator[Point]:
    spoken = [post for post in forum.posts.values() if post.role is Role.AUTHOR and post.text]
    answers = tuple(
        PointAnswer(one.post_id, 0, len(one.text), one.text, AnswerMethod.ORDER, 0.5, is_to_all=True, created_at=NOON)
        for one in spoken
    )
    for point in read_points(forum):
        reaction = PointReaction(Reaction.PARTLY, point.review_id, point.text, ReactionScope.POINT, None)
        yield replace(point, answers=answers, reaction=reaction)
