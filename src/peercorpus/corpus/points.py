"""Read the points of a venue for a release, and check that they match the current texts of reviews and posts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from peercorpus.corpus.forums import Forum, ForumReader
from peercorpus.corpus.public_forums import PublicForum, keep_public
from peercorpus.errors import TableError
from peercorpus.records.points import ChangeSign, Point, PointAnswer, PointReaction
from peercorpus.records.reviews import Review
from peercorpus.records.scores import ScoreChange
from peercorpus.workspace.delta_tables import Tables


def public_points(forum: PublicForum, points: Iterable[Point]) -> list[Point]:
    """Return the points that may be shown of a paper's reviews, without the parts that must not be shown.

    Reviews that are not public or are taken down are left out, and so are those whose points differ from their text: a
    table made before a review changed may contain what its reviewer removed. The points of one review are consecutive,
    in the order of their numbers.
    """
    reviews = {review.review_id: review for review in forum.reviews}
    changed = _list_score_changes(forum)
    return [
        point
        for review_id, group in groupby(points, key=attrgetter("review_id"))
        if review_id in reviews
        for point in _of_review(forum, reviews[review_id], list(group), changed)
    ]


def _of_review(
    forum: PublicForum, review: Review, points: Sequence[Point], changed: Mapping[str, set[ScoreChange]]
) -> Iterator[Point]:
    text = "".join(section.text for section in review.first_sections if section.text.strip())
    if "".join(point.text for point in points) == text:
        yield from (_keep_public(point, forum, review, changed[review.reviewer]) for point in points)


def _list_score_changes(forum: PublicForum) -> Mapping[str, set[ScoreChange]]:
    """Return the changes of each reviewer's scores that may be shown."""
    changed: dict[str, set[ScoreChange]] = {}
    for review in forum.reviews:
        changed.setdefault(review.reviewer, set()).update(review.score_changes)
    for talk in forum.conversations:
        for turn in talk.turns:
            changed.setdefault(talk.reviewer, set()).update(turn.score_changes)
    return changed


def _keep_public(point: Point, forum: PublicForum, review: Review, changed: set[ScoreChange]) -> Point:
    """Return a point with only what public posts say about it.

    A change to the paper known from a promise is removed with any answer, as that answer may contain the promise.
    """
    answers = tuple(answer for answer in point.answers if _is_answer_public(answer, forum))
    reaction = point.reaction if point.reaction and _is_reaction_public(point.reaction, forum, review) else None
    is_whole = len(answers) == len(point.answers)
    return replace(
        point,
        answers=answers,
        reaction=reaction,
        score_changes=tuple(change for change in point.score_changes if reaction and change in changed),
        changes=tuple(change for change in point.changes if is_whole or change.sign is not ChangeSign.PROMISE),
    )


def keep_changes(point: Point, numbers: Collection[int]) -> Point:
    """Return a point with only those changes to the paper that have one of these numbers."""
    return replace(point, changes=tuple(change for change in point.changes if change.number in numbers))


def _is_answer_public(answer: PointAnswer, forum: PublicForum) -> bool:
    post = forum.by_id.get(answer.post_id)
    return post is not None and post.text[answer.start : answer.end] == answer.text


def _is_reaction_public(reaction: PointReaction, forum: PublicForum, review: Review) -> bool:
    post = forum.by_id.get(reaction.post_id)
    added = (review.final_justification or "") if reaction.post_id == review.review_id else ""
    return reaction.text in added or (post is not None and reaction.text in post.text)


TABLE = "9-points"


def require_points(tables: Tables, venue_id: str) -> None:
    """Check that the points of a venue's reviews were extracted.

    Raises:
        TableError: They were not extracted.
    """
    if tables.digest(TABLE, venue_id) == "None":
        raise TableError(f"The points of '{venue_id}' have not been extracted; run 'peercorpus build --points'.")


class VenuePoints:
    """The points of a venue, read forum by forum in ascending order of ids."""

    def __init__(self, tables: Tables, venue_id: str) -> None:
        self._points = ForumReader(tables.read(Point, venue_id))

    def take(self, forum: Forum) -> list[Point]:
        """Return the points of the public reviews of a forum, in order; what was taken down has been removed from it.

        Raises:
            TableError: The points belong to an earlier text of a review or a post.
        """
        rows = self._points.take(forum.paper.forum_id)
        public = keep_public(forum)
        shown = public_points(public, rows)
        _check_current(public, rows, shown)
        return shown


def _check_current(forum: PublicForum, rows: Sequence[Point], shown: Iterable[Point]) -> None:
    public = {review.review_id for review in forum.reviews}
    current = {point.review_id for point in shown}
    for point in rows:
        if point.review_id not in public:
            continue
        spoken = ((answer, forum.by_id.get(answer.post_id)) for answer in point.answers)
        texts = [(answer.text, post.text[answer.start : answer.end]) for answer, post in spoken if post is not None]
        if point.review_id not in current or any(before != now for before, now in texts):
            raise TableError(
                f"The points of the review '{point.review_id}' belong to earlier texts; run 'peercorpus build --points'"
                f" for the venue '{point.venue_id}'."
            )
