"""Walks the tables of a venue side by side, a forum at a time, in memory bounded by a forum."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, Protocol, TypeVar

from peercorpus.errors import TableError
from peercorpus.kinds import PostKind
from peercorpus.records import Conversation, Paper, PaperVersion, Post, Review
from peercorpus.tables import Tables

SPOKEN = frozenset({PostKind.DECISION, PostKind.META_REVIEW})
"""The posts that hold a paper's decision and its comment."""
COMMENT = frozenset({"decision_comment"})
DECIDED = frozenset({"status", "decision", "decided_at"}) | COMMENT
"""The fields of a paper that its decision tells."""


def hides_decision(decision: str | None, comment: str | None, are_public: Collection[bool]) -> bool:
    """Whether a decision is told by no post that everyone may read.

    Args:
        decision: As it was read; None where none was.
        comment: The text with it; None where there is none.
        are_public: Of each post of the paper that may hold a decision, whether everyone may read it.
    """
    is_told = decision is not None or comment is not None
    return is_told and len(are_public) > 0 and not any(are_public)


class OfForum(Protocol):
    """A record that belongs to a forum."""

    @property
    def forum_id(self) -> str:
        """The forum it belongs to."""
        ...


RecordT = TypeVar("RecordT", bound=OfForum)


@dataclass(frozen=True, slots=True)
class Forum:
    """One paper and all that the tables say about it."""

    paper: Paper
    reviews: list[Review]
    posts: list[Post]
    versions: list[PaperVersion]
    conversations: list[Conversation]

    @property
    def public_post_ids(self) -> set[str]:
        """The posts that everyone may read and nobody deleted."""
        return {post.post_id for post in self.posts if post.readers_public and not post.deleted}

    @property
    def withheld(self) -> frozenset[str]:
        """The fields of the paper that stand only in posts not everyone may read: `DECIDED`, `COMMENT`, or none."""
        public, comment = self.public_post_ids, self.paper.decision_comment
        spoken = [post for post in self.posts if post.kind in SPOKEN]
        if hides_decision(self.paper.decision, comment, [post.post_id in public for post in spoken]):
            return DECIDED
        holders = {post.post_id for post in spoken if comment and comment in post.text}
        return COMMENT if holders and public.isdisjoint(holders) else frozenset()


def _ordered(records: Iterator[RecordT]) -> Iterator[tuple[str, list[RecordT]]]:
    last = ""
    for forum_id, group in groupby(records, key=lambda record: record.forum_id):
        if forum_id < last:
            raise TableError(
                f"A table is not in the order of its forums at '{forum_id}'; run 'peercorpus build' again."
            )
        last = forum_id
        yield forum_id, list(group)


def read_forum(tables: Tables, venue_id: str, forum_id: str) -> Forum | None:
    """One forum of a venue; None where it has no such paper."""

    def read(record_type: type[RecordT]) -> list[RecordT]:
        return list(tables.of_forum(record_type, venue_id, forum_id))

    papers = read(Paper)
    if not papers:
        return None
    return Forum(papers[0], read(Review), read(Post), read(PaperVersion), read(Conversation))


class Companion(Generic[RecordT]):
    """Records in the order of their forums, taken a forum at a time in that order.

    Attributes:
        orphans: Records passed over so far, as nobody asked for their forum.
    """

    def __init__(self, records: Iterator[RecordT]) -> None:
        self._groups = _ordered(records)
        self._next = next(self._groups, None)
        self.orphans = 0

    def take(self, forum_id: str) -> list[RecordT]:
        """The records of a forum that comes after every forum asked for before."""
        while self._next is not None and self._next[0] < forum_id:
            self._pass_over(self._next[1])
        if self._next is None or self._next[0] != forum_id:
            return []
        found = self._next[1]
        self._next = next(self._groups, None)
        return found

    def _pass_over(self, group: list[RecordT]) -> None:
        self.orphans += len(group)
        self._next = next(self._groups, None)

    def exhaust(self) -> int:
        """Pass over what is left; all records passed over."""
        while self._next is not None:
            self._pass_over(self._next[1])
        return self.orphans


class Walk:
    """The forums of a venue, in order.

    Attributes:
        orphans: After the walk, reviews and conversations whose forum has no paper.
    """

    def __init__(self, tables: Tables, venue_id: str) -> None:
        self._papers = tables.read(Paper, venue_id)
        self._reviews = Companion(tables.read(Review, venue_id))
        self._posts = Companion(tables.read(Post, venue_id))
        self._versions = Companion(tables.read(PaperVersion, venue_id))
        self._conversations = Companion(tables.read(Conversation, venue_id))
        self.orphans = 0

    def __iter__(self) -> Iterator[Forum]:
        for forum_id, papers in _ordered(self._papers):
            yield Forum(
                papers[0],
                self._reviews.take(forum_id),
                self._posts.take(forum_id),
                self._versions.take(forum_id),
                self._conversations.take(forum_id),
            )
        self.orphans = self._reviews.exhaust() + self._conversations.exhaust()
