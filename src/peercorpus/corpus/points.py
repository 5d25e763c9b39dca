"""Read the points of a venue for a release, and check that they match the current texts of reviews and posts."""

from collections.abc import Iterable, Sequence

from peercorpus.corpus.forums import Forum, ForumReader
from peercorpus.corpus.public_forums import PublicForum, keep_public
from peercorpus.corpus.public_points import public_points
from peercorpus.errors import TableError
from peercorpus.records.points import Point
from peercorpus.workspace.delta_tables import Tables

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
        """Return the points of the public reviews of a forum, in order.

        Args:
            forum: A forum without what was taken down.

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
