"""Prepare the points of a paper's reviews for its page, with words for all about them, and links to their answers."""

import re
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
from peercorpus.records.points import (
    AnswerMethod,
    ChangeSign,
    KindSource,
    Point,
    PointAnswer,
    PointAspect,
    PointChange,
    PointKind,
    Reaction,
    ReactionScope,
)
from peercorpus.release.point_rows import BY_MODEL

KINDS = {
    PointKind.SUMMARY: "Summary",
    PointKind.STRENGTH: "Strength",
    PointKind.WEAKNESS: "Weakness",
    PointKind.QUESTION: "Question",
    PointKind.SUGGESTION: "Suggestion",
    PointKind.MINOR: "Minor",
    PointKind.LIMITATION: "Limitation",
    PointKind.OTHER: "Other",
}
KIND_SOURCES: Mapping[str, str] = {
    KindSource.FIELD: "The kind is known from the form: the field is for this kind only.",
    KindSource.HEADING: "The kind is known from a heading that the reviewer wrote, or from a list of + and -.",
    KindSource.WORDS: "The kind follows from the point's own words, or those before it.",
    KindSource.NONE: "Nothing shows the kind.",
    BY_MODEL: "A language model named the kind.",
}
ASPECTS = {aspect: aspect.value.replace("_", " ").capitalize() for aspect in PointAspect}
METHODS: Mapping[str, str] = {
    AnswerMethod.QUOTE: "repeats words of the point",
    AnswerMethod.LABEL: "names the point's label",
    AnswerMethod.ORDER: "known only from its place among the answers",
    AnswerMethod.SIMILARITY: "shares rare words with the point",
    BY_MODEL: "named by a language model",
}
REACTIONS = {
    Reaction.RESOLVED: "Resolved",
    Reaction.PARTLY: "Partly resolved",
    Reaction.NOT_RESOLVED: "Not resolved",
}
SCOPES = {
    ReactionScope.POINT: "said of this point",
    ReactionScope.ALL: "said of all points",
}
SIGNS = {
    ChangeSign.TERMS: "shares the words",
    ChangeSign.PLACE: "at the place that the point names:",
    ChangeSign.PROMISE: "at the place that the answer promises:",
}
_WORD = re.compile(r"[^\W_]+")
_CONFIDENCES = ((0.9, "very likely"), (0.7, "likely"))


def describe_shared(change: PointChange, text: str) -> str:
    """Return the evidence that a change concerns a point; shared words in the form that the point has them.

    >>> describe_shared(PointChange(1, ChangeSign.TERMS, "kite tether"), "A tethered kite")
    'shares the words tethered, kite'
    """
    if change.sign is not ChangeSign.TERMS:
        return f"{SIGNS[change.sign]} {change.shared}"
    shared = change.shared.split()
    words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    shown = {stem: next((word for word in words if word.startswith(stem)), stem) for stem in shared}
    order = list(words)
    ranked = sorted(dict.fromkeys(shown.values()), key=lambda word: order.index(word) if word in words else len(order))
    return f"{SIGNS[change.sign]} {', '.join(ranked)}"


def describe_confidence(confidence: float | None) -> str:
    """Return how sure an answer is, in words and as a number on [0, 1]; None if that was not measured.

    >>> describe_confidence(0.934), describe_confidence(0.7), describe_confidence(0.5), describe_confidence(None)
    ('very likely, 0.93', 'likely, 0.70', 'uncertain, 0.50', 'not measured')
    """
    if confidence is None:
        return "not measured"
    words = next((words for least, words in _CONFIDENCES if confidence >= least), "uncertain")
    return f"{words}, {confidence:.2f}"


MAX_POINTS_CHARACTERS = 300_000
"""Characters of points that are rendered as Markdown on one page; they are shown a second time there."""
ELSEWHERE = "conversations"
"""The HTML id of the section of conversations; points of reviews that none of them shows are at its end."""


@dataclass(frozen=True, slots=True)
class ShownPoint:
    """One point on the page of its paper.

    Attributes:
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
    forum: PublicForum, dialogues: Sequence[Dialogue], changes: Collection[int]
) -> dict[str, list[ReviewPoints]]:
    """Return the points of each review that has some, by the HTML id of the element that shows the review.

    Those of a review that the page does not show are at `ELSEWHERE`. The page of changes shows those with the numbers
    `changes`.
    """
    posts = dict(find_places(forum, dialogues))
    own = {
        talk.reviewer: [item for item in talk.items if isinstance(item, Spoken) and item.is_own]
        for talk in reversed(dialogues)
    }
    by_place: dict[str, list[ReviewPoints]] = {}
    kept = [keep_changes(point, changes) for point in forum.points]
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
    place = posts.get(point.reaction.post_id) if point.reaction else None
    if point.reaction and point.reaction.post_id == point.review_id:
        place = added or place
    return ShownPoint(
        anchor=point_anchor(point.review_id, point.number),
        point=point,
        text=dedent(point.text.strip("\n")).strip(),
        answers=[(answer, posts.get(answer.post_id)) for answer in point.answers],
        reaction_place=place,
    )
