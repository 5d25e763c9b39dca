"""Put the posts of a forum in the order of their replies, so that each takes the same time however deep it stands."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from peercorpus.records.reviews import Post

EPOCH = datetime.fromtimestamp(0, UTC)
PlaceT = TypeVar("PlaceT")


class Replies:
    """The posts of one forum as a tree.

    A post stands at the top if it answers the paper or a post that is not held. Of posts that answer each other in a
    circle, the earliest stands at the top.

    Attributes:
        downward: All posts, each directly before those below it.

    Args:
        posts: All posts of one forum, in any order.
    """

    def __init__(self, posts: Sequence[Post]) -> None:
        by_id = {post.post_id: post for post in posts}
        self._above = {post.post_id: by_id.get(post.reply_to) if post.reply_to else None for post in posts}
        self._walk(by_id)
        if len(self.downward) < len(by_id):
            self._cut_circles(by_id)
            self._walk(by_id)

    def _walk(self, by_id: Mapping[str, Post]) -> None:
        """Put in order whatever stands below a post at the top; those that answer each other in a circle do not."""
        below: dict[str | None, list[Post]] = {}
        for post in by_id.values():
            above = self._above[post.post_id]
            below.setdefault(above.post_id if above else None, []).append(post)
        self.downward: list[Post] = []
        self._spans: dict[str, range] = {}
        stack: list[tuple[Post, int | None]] = [(post, None) for post in below.get(None, ())]
        while stack:
            post, start = stack.pop()
            if start is not None:
                self._spans[post.post_id] = range(start, len(self.downward))
                continue
            stack.append((post, len(self.downward)))
            stack += ((answer, None) for answer in below.get(post.post_id, ()))
            self.downward.append(post)

    def _cut_circles(self, by_id: Mapping[str, Post]) -> None:
        walked: dict[str, str] = {}
        for first in by_id.values():
            post: Post | None = first
            path: list[Post] = []
            while post is not None and post.post_id not in walked:
                walked[post.post_id] = first.post_id
                path.append(post)
                post = self._above[post.post_id]
            if post is not None and walked[post.post_id] == first.post_id:
                circle = path[path.index(post) :]
                self._above[min(circle, key=lambda one: (one.created_at or EPOCH, one.post_id)).post_id] = None

    def above(self, post: Post) -> Post | None:
        """Return the post that a post answers, or None if it stands at the top."""
        return self._above[post.post_id]

    def span(self, post: Post) -> range:
        """Return the places in `downward` of a post and of all that is below it."""
        return self._spans[post.post_id]

    def fold(self, place: Callable[[Post, PlaceT | None], PlaceT]) -> dict[str, PlaceT]:
        """Return by post id what a function makes of each post and of what it made of the post that it answers."""
        places: dict[str, PlaceT] = {}
        for post in self.downward:
            above = self._above[post.post_id]
            places[post.post_id] = place(post, None if above is None else places[above.post_id])
        return places

    def in_time_order(self, posts: Sequence[Post]) -> list[Post]:
        """Return posts of the forum by time; at the same time, answered posts come first, then by id."""

        def place(post: Post, above: tuple[datetime, int] | None) -> tuple[datetime, int]:
            time = post.created_at or EPOCH
            return (time, 1) if above is None else (max(time, above[0]), above[1] + 1)

        places = self.fold(place)
        return sorted(posts, key=lambda post: (*places[post.post_id], post.post_id))


def in_time_order(posts: Sequence[Post]) -> list[Post]:
    """Return all posts of a forum by time; at the same time, answered posts come first, then by id."""
    return Replies(posts).in_time_order(posts)


def count_within(places: Sequence[int], span: range) -> int:
    """Return how many of some ascending places lie within a span."""
    return bisect_left(places, span.stop) - bisect_left(places, span.start)
