"""Prepare the points of a paper's reviews for its page, each with links to where the page shows its answers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from textwrap import dedent

from jinja2.filters import do_urlencode

from peercorpus.corpus.points import keep_changes
from peercorpus.corpus.public_forums import PublicForum
from peercorpus.explorer.paper_page import Dialogue, Spoken
from peercorpus.explorer.rendering import masked
from peercorpus.records.points import Point, PointAnswer, PointReaction

MAX_POINTS_CHARACTERS = 300_000
"""Characters of points that are rendered as Markdown on one page; they are shown a second time there."""
ELSEWHERE = "conversations"
"""The HTML id of the section of conversations; points of reviews that none of them shows are at its end."""


@dataclass(frozen=True, slots=True)
class ShownPoint:
    """One point on the page of its paper.

    Attributes:
        anchor: Its HTML id.
        text: Its text, without space around it and indentation.
        answers: Each answer with the id of the element that shows its post; None if the page does not show it.
        reaction_place: The id of the element that shows the reviewer's later words; None if there is none.
    """

    anchor: str
    point: Point
    text: str
    answers: Sequence[tuple[PointAnswer, str | None]]
    reaction_place: str | None


@dataclass(frozen=True, slots=True)
class ReviewPoints:
    """The points of one review.

    Attributes:
        fields: The form's name of each field, and its points.
    """

    review_id: str
    reviewer: str
    fields: Sequence[tuple[str, Sequence[ShownPoint]]]

    def _list_points(self) -> list[Point]:
        return [shown.point for _, points in self.fields for shown in points]

    @property
    def total(self) -> int:
        """Number of points."""
        return len(self._list_points())

    @property
    def critical(self) -> int:
        """Number of points that authors may be expected to answer."""
        return sum(point.is_critical for point in self._list_points())

    @property
    def answered(self) -> int:
        """Number of those with an answer."""
        return sum(point.is_critical and bool(point.answers) for point in self._list_points())


def point_anchor(review_id: str, number: int) -> str:
    """Return the HTML id of a point on the page of its paper.

    >>> point_anchor("rEv1ew", 3)
    'point-rEv1ew-3'
    """
    return f"point-{do_urlencode(masked(review_id))}-{number}"


def points_by_place(
    points: Sequence[Point], forum: PublicForum, dialogues: Sequence[Dialogue], changes: Collection[int]
) -> dict[str, list[ReviewPoints]]:
    """Return the points of each review that has some, by the HTML id of the element that shows the review.

    Those of a review that the page does not show are at `ELSEWHERE`.

    Args:
        points: The points of the paper that may be shown.
        forum: The parts of the paper that may be shown.
        dialogues: Its conversations as the page shows them.
        changes: Numbers of the changes that the page of changes shows.
    """
    posts = dict(find_places(forum, dialogues))
    own = {talk.reviewer: _list_own(talk) for talk in reversed(dialogues)}
    by_place: dict[str, list[ReviewPoints]] = {}
    kept = [keep_changes(point, changes) for point in points]
    for review_id, group in groupby(kept, key=attrgetter("review_id")):
        of_review = list(group)
        reviewer = of_review[0].reviewer
        turns = own.get(reviewer, [])
        added = next((turn.anchor for turn in reversed(turns) if turn.turn.final_justification), None)
        shown = [_show(point, posts, added) for point in of_review]
        fields = [(name, list(of_field)) for name, of_field in groupby(shown, key=lambda one: one.point.field)]
        place = posts.get(review_id) or next((turn.anchor for turn in turns), ELSEWHERE)
        by_place.setdefault(place, []).append(ReviewPoints(review_id, reviewer, fields))
    return by_place


def _list_own(talk: Dialogue) -> list[Spoken]:
    """Return the turns of a conversation's other party."""
    return [item for item in talk.items if isinstance(item, Spoken) and item.is_own]


def find_places(forum: PublicForum, dialogues: Sequence[Dialogue]) -> Iterator[tuple[str, str]]:
    """Yield the posts that the page shows, each with the id of the element that shows it in full."""
    for post in (*forum.spoken(), *forum.others()):
        yield post.post_id, _post_anchor(post.post_id)
    for review in forum.ai_reviews:
        yield from ((note_id, _post_anchor(note_id)) for note_id in review.note_ids)
    for item in (item for talk in dialogues for item in talk.items):
        if isinstance(item, Spoken):
            yield from ((post_id, item.anchor) for post_id in item.turn.post_ids)
        elif item.is_first:
            yield item.post.post_id, _post_anchor(item.post.post_id)


def _post_anchor(post_id: str) -> str:
    return f"post-{do_urlencode(masked(post_id))}"


def _show(point: Point, posts: Mapping[str, str], added: str | None) -> ShownPoint:
    return ShownPoint(
        anchor=point_anchor(point.review_id, point.number),
        point=point,
        text=dedent(point.text.strip("\n")).strip(),
        answers=[(answer, posts.get(answer.post_id)) for answer in point.answers],
        reaction_place=_find_reaction(point.reaction, point.review_id, posts, added),
    )


def _find_reaction(
    reaction: PointReaction | None, review_id: str, posts: Mapping[str, str], added: str | None
) -> str | None:
    if reaction is None:
        return None
    return (added if reaction.post_id == review_id else None) or posts.get(reaction.post_id)
