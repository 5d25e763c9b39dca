"""The order in which a forum's posts are read: by time, and never an answer before what it answers.

Some records hold the day alone: then the tree decides within the day.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from peercorpus.records import Post

EPOCH = datetime.fromtimestamp(0, UTC)


def chain(post: Post, by_id: Mapping[str, Post]) -> Iterator[Post]:
    """A post, the post it answers, and so on as far as they are held; each once, though they may stand in a circle."""
    seen: set[str] = set()
    here: Post | None = post
    while here is not None and here.post_id not in seen:
        yield here
        seen.add(here.post_id)
        here = by_id.get(here.reply_to) if here.reply_to else None


def in_time_order(posts: Sequence[Post]) -> list[Post]:
    """All posts of a forum by time; of one moment what is answered comes first, then by id."""
    by_id = {post.post_id: post for post in posts}

    def place(post: Post) -> tuple[datetime, int, str]:
        above = list(chain(post, by_id))
        return max(one.created_at or EPOCH for one in above), len(above), post.post_id

    return sorted(posts, key=place)
