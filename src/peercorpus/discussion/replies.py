"""Arrange the posts of a forum as a tree of replies, in constant time per post at any depth."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from peercorpus.records.reviews import Post

EPOCH = datetime.fromtimestamp(0, UTC)
PlaceT = TypeVar("PlaceT")


class Replies:
    """The posts of one forum as a tree, in `downward` each directly before those below it.

    A post is at the top if it replies to the paper or to a missing post; of posts in a cycle, the earliest is.
    """

    def __init__(self, posts: Sequence[Post]) -> None:
        by_id = {post.post_id: post for post in posts}
        self._above = {post.post_id: by_id.get(post.reply_to) if post.reply_to else None for post in posts}
        self._walk(by_id)
        if len(self.downward) < len(by_id):
            self._cut_circles(by_id)
            self._walk(by_id)

    def _walk(self, by_id: Mapping[str, Post]) -> None:
        """Arrange all posts below the topmost ones, which excludes those that reply to each other in a cycle."""
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
        """Return the post that a post replies to, or None if it is at the top."""
        return self._above[post.post_id]

    def span(self, post: Post) -> range:
        """Return the positions in `downward` of a post and all posts below it."""
        return self._spans[post.post_id]

    def fold(self, place: Callable[[Post, PlaceT | None], PlaceT]) -> dict[str, PlaceT]:
        """Return, by post id, the results of a function of each post and its parent's result."""
        places: dict[str, PlaceT] = {}
        for post in self.downward:
            above = self._above[post.post_id]
            places[post.post_id] = place(post, None if above is None else places[above.post_id])
        return places

    def in_time_order(self, posts: Sequence[Post]) -> list[Post]:
        """Return posts of the forum by time; with equal times, posts precede their replies, then by id."""

        def place(post: Post, above: tuple[datetime, int] | None) -> tuple[datetime, int]:
            time = post.created_at or EPOCH
            return (time, 1) if above is None else (max(time, above[0]), above[1] + 1)

        places = self.fold(place)
        return sorted(posts, key=lambda post: (*places[post.post_id], post.post_id))


def in_time_order(posts: Sequence[Post]) -> list[Post]:
    """Return all posts of a forum by time; with equal times, posts precede their replies, then by id."""
    return Replies(posts).in_time_order(posts)


def count_within(places: Sequence[int], span: range) -> int:
    """Return how many of some ascending positions are within a span."""
    return bisect_left(places, span.stop) - bisect_left(places, span.start)
