"""Read all records of a paper, or of a venue paper by paper.

A forum is one submission with everything posted to it; OpenReview gives both the same id. Tables are sorted by forum
within a venue, so that a venue can be read with one forum in memory at a time.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Generic, Protocol, TypeVar

from peercorpus.corpus.resubmissions import read_links
from peercorpus.errors import TableError
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.enums import PostKind
from peercorpus.records.papers import Link, Paper, PaperVersion, SetAside
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.workspace.delta_tables import Tables

SPOKEN = frozenset({PostKind.DECISION, PostKind.META_REVIEW})
"""Kinds of posts that can contain a paper's decision and the comment on it."""
COMMENT = frozenset({"decision_comment"})
DECIDED = frozenset({"status", "decision", "decided_at"}) | COMMENT
"""The fields of a paper that are taken from its decision."""


def hides_decision(decision: str | None, comment: str | None, are_public: Collection[bool]) -> bool:
    """Return whether a decision and the comment on it are known only from posts that not everyone may read.

    `are_public` says of each post of the paper that can contain a decision whether everyone may read it.
    """
    has_decision = decision is not None or comment is not None
    return has_decision and len(are_public) > 0 and not any(are_public)


class OfForum(Protocol):
    """A record that belongs to a forum."""

    @property
    def forum_id(self) -> str:
        """The id of the forum."""
        ...


RecordT = TypeVar("RecordT", bound=OfForum)


@dataclass(frozen=True)
class Forum:
    """One paper with the records that belong to it.

    Attributes:
        ai_reviews: Reviews that an AI wrote or may have written, separate from everything that people wrote.
        links: Links with other submissions of the same work, earlier and later ones, where they are read.
        set_aside: Its records that a stage could not use, with the reason, where they are read.
    """

    paper: Paper
    reviews: Sequence[Review]
    posts: Sequence[Post]
    versions: Sequence[PaperVersion]
    conversations: Sequence[Conversation]
    ai_reviews: Sequence[AiReview] = ()
    links: Sequence[Link] = ()
    set_aside: Sequence[SetAside] = ()

    @property
    def public_post_ids(self) -> set[str]:
        """The ids of the posts that everyone may read and that are not deleted."""
        return {post.post_id for post in self.posts if post.readers_public and not post.deleted}

    @property
    def public_posts(self) -> list[Post]:
        """The posts of `public_post_ids`; `reply_to` of each names another public record of this paper, or is None."""
        public = self.public_post_ids
        named = public | {review.review_id for review in self.reviews if review.readers_public and not review.deleted}
        return [
            post if post.reply_to in named else replace(post, reply_to=None)
            for post in self.posts
            if post.post_id in public
        ]

    @property
    def withheld(self) -> frozenset[str]:
        """The fields of the paper known only from posts that are not public: `DECIDED`, `COMMENT` or none."""
        public = self.public_post_ids
        comment = self.paper.decision_comment
        spoken = [post for post in self.posts if post.kind in SPOKEN]
        if hides_decision(self.paper.decision, comment, [post.post_id in public for post in spoken]):
            return DECIDED
        holders = {post.post_id for post in spoken if comment and comment in post.text}
        return COMMENT if holders and public.isdisjoint(holders) else frozenset()


PARTS: Mapping[str, type] = {
    "reviews": Review,
    "posts": Post,
    "versions": PaperVersion,
    "conversations": Conversation,
    "ai_reviews": AiReview,
}
"""Fields of a forum whose records each have a table, sorted by forum."""


def _group_by_forum(records: Iterator[RecordT]) -> Iterator[tuple[str, list[RecordT]]]:
    last = ""
    for forum_id, group in groupby(records, key=lambda record: record.forum_id):
        if forum_id < last:
            raise TableError(
                f"A table is not sorted by forum: '{forum_id}' follows '{last}'; run 'peercorpus build' again."
            )
        last = forum_id
        yield forum_id, list(group)


def read_forum(tables: Tables, venue_id: str, forum_id: str) -> Forum | None:
    """Return one forum of a venue, or None if the venue has no such paper."""
    paper = next(iter(tables.of_forum(Paper, venue_id, forum_id)), None)
    if paper is None:
        return None
    parts: dict[str, Any] = {name: list(tables.of_forum(kind, venue_id, forum_id)) for name, kind in PARTS.items()}
    return Forum(paper, **parts)


class ForumReader(Generic[RecordT]):
    """Reads the records of one forum after another from an iterator that is sorted by forum.

    Attributes:
        orphans: Number of records skipped so far because their forum was not requested.
    """

    def __init__(self, records: Iterator[RecordT]) -> None:
        self._groups = _group_by_forum(records)
        self._next = next(self._groups, None)
        self.orphans = 0

    def take(self, forum_id: str) -> list[RecordT]:
        """Return the records of a forum; forums must be requested in ascending order of their ids."""
        while self._next is not None and self._next[0] < forum_id:
            self._skip(self._next[1])
        if self._next is None or self._next[0] != forum_id:
            return []
        records = self._next[1]
        self._next = next(self._groups, None)
        return records

    def _skip(self, group: list[RecordT]) -> None:
        self.orphans += len(group)
        self._next = next(self._groups, None)

    def exhaust(self) -> int:
        """Skip the remaining records and return the total number skipped."""
        while self._next is not None:
            self._skip(self._next[1])
        return self.orphans


class VenueForums:
    """Iterates over the forums of a venue, in ascending order of their ids.

    Attributes:
        orphans: Number of reviews and conversations whose forum has no paper; known after the iteration.
    """

    def __init__(self, tables: Tables, venue_id: str) -> None:
        self._papers = tables.read(Paper, venue_id)
        self._parts = {name: ForumReader[Any](tables.read(kind, venue_id)) for name, kind in PARTS.items()}
        self.orphans = 0

    def __iter__(self) -> Iterator[Forum]:
        for forum_id, papers in _group_by_forum(self._papers):
            yield Forum(papers[0], **{name: reader.take(forum_id) for name, reader in self._parts.items()})
        self.orphans = self._parts["reviews"].exhaust() + self._parts["conversations"].exhaust()


def read_whole_record(tables: Tables, forum_id: str) -> Forum:
    """Return one paper with its links and set-aside records.

    Raises:
        TableError: The tables have not been built, or no paper has this id.
    """
    tables.require("1-papers")
    for venue_id in tables.venues("1-papers"):
        forum = read_forum(tables, venue_id, forum_id)
        if forum is not None:
            links = [link for link in read_links(tables) if forum_id in {link.forum_id, link.earlier_id}]
            return replace(forum, links=links, set_aside=list(tables.of_forum(SetAside, venue_id, forum_id)))
    raise TableError(
        f"No paper of this workspace has the id '{forum_id}'; copy the part after 'forum?id=' of its OpenReview page."
    )


def is_public(conversation: Conversation, public: set[str]) -> bool:
    """Return whether everyone may read every post of a conversation, given the ids of the public posts."""
    return all(public.issuperset(turn.post_ids) for turn in conversation.turns)
