"""Read the points of reviews as everyone may see them, and check that they are of the present reviews and posts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from peercorpus.corpus.forums import Forum, ForumReader
from peercorpus.errors import TableError
from peercorpus.records.points import Point, PointAnswer
from peercorpus.records.reviews import Post, Review
from peercorpus.workspace.delta_tables import Tables

TABLE = "9-points"


def require_points(tables: Tables, venue_id: str) -> None:
    """Check that the points of a venue's reviews were looked for.

    Raises:
        TableError: They were not.
    """
    if tables.digest(TABLE, venue_id) == "None":
        raise TableError(f"The points of '{venue_id}' were not looked for; run 'peercorpus build --points'.")


class VenuePoints:
    """The points of a venue, taken forum by forum in ascending order of their ids."""

    def __init__(self, tables: Tables, venue_id: str) -> None:
        self._points = ForumReader(tables.read(Point, venue_id))

    def take(self, forum: Forum) -> list[Point]:
        """Return the points of the public reviews of a forum, in order.

        Args:
            forum: A forum from which what was taken down is already removed.

        Raises:
            TableError: The points are of an earlier text of a review or a post.
        """
        return [*select_public(self._points.take(forum.paper.forum_id), forum)]


def select_public(points: list[Point], forum: Forum) -> Iterator[Point]:
    """Yield the points of public reviews, without answers and reactions in posts that not everyone may read.

    Args:
        points: Of the forum.
        forum: A forum from which what was taken down is already removed.

    Raises:
        TableError: The points are of an earlier text of a review or a post.
    """
    reviews = {review.review_id: review for review in forum.reviews if review.readers_public and not review.deleted}
    posts = {post.post_id: post for post in forum.public_posts}
    texts: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for review_id, review in reviews.items():
        for section in review.first_sections:
            texts[review_id, section.field].append(section.text)
    for point in points:
        if point.review_id in reviews:
            held = texts[point.review_id, point.field]
            if all(text[point.start : point.end] != point.text for text in held):
                raise _outdated(point)
            yield _without_hidden(point, posts, reviews)


def _without_hidden(point: Point, posts: Mapping[str, Post], reviews: Mapping[str, Review]) -> Point:
    answers = tuple(answer for answer in point.answers if _is_shown(point, answer, posts))
    reaction = point.reaction
    if reaction is not None and reaction.post_id not in posts and reaction.post_id not in reviews:
        return replace(point, answers=answers, reaction=None, score_changes=())
    return replace(point, answers=answers)


def _is_shown(point: Point, answer: PointAnswer, posts: Mapping[str, Post]) -> bool:
    if answer.post_id not in posts:
        return False
    if posts[answer.post_id].text[answer.start : answer.end] != answer.text:
        raise _outdated(point)
    return True


def _outdated(point: Point) -> TableError:
    return TableError(
        f"The points of the review '{point.review_id}' are of earlier texts; run 'peercorpus build --points' for the"
        f" venue '{point.venue_id}'."
    )
