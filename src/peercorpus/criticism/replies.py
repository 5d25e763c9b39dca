"""Read the authors' posts that may answer one review: in its conversation, and to several or all reviewers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from peercorpus.records.enums import Role
from peercorpus.records.reviews import Conversation, Post


@dataclass(frozen=True, slots=True)
class Reply:
    """A post by the authors, or the parts of it, that may answer one review.

    Attributes:
        post_id: The post.
        text: Its text, verbatim.
        created_at: Time of posting; None if unknown.
        is_to_all: Whether it addresses several or all reviewers.
        concerning: Passages of such a post that name this reviewer, verbatim; empty if all of it may concern them.
    """

    post_id: str
    text: str
    created_at: datetime | None
    is_to_all: bool = False
    concerning: tuple[str, ...] = ()

    def parts(self) -> Iterator[tuple[int, str]]:
        """Yield the offset and the text of each part that may concern this review."""
        if not self.concerning:
            yield 0, self.text
            return
        at = 0
        for passage in self.concerning:
            found = self.text.find(passage, at)
            if found >= 0:
                yield found, passage
                at = found + len(passage)


def read_replies(conversation: Conversation | None, posts: Mapping[str, Post]) -> Iterator[Reply]:
    """Yield the authors' posts in a conversation, then their responses to several or all reviewers.

    Args:
        conversation: The conversation with the reviewer; None if there is none.
        posts: Posts by id; those not in it are left out.
    """
    if conversation is None:
        return
    for turn in conversation.turns:
        if turn.role is Role.AUTHOR:
            for post_id in turn.post_ids:
                if post_id in posts:
                    yield Reply(post_id, posts[post_id].text, posts[post_id].created_at)
    for beside in conversation.context:
        post = posts.get(beside.post_id)
        if post is not None:
            yield Reply(post.post_id, post.text, post.created_at, is_to_all=True, concerning=beside.concerning)
