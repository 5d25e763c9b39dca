"""What the explorer may show of a forum: nothing taken down, nothing deleted, nothing that not everyone may read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from peercorpus.kinds import Grade, Role, Status
from peercorpus.publish.forums import SPOKEN, Forum, Walk, read_forum
from peercorpus.publish.rows import is_public
from peercorpus.publish.sifting import Sieve
from peercorpus.publish.takedown import Takedown
from peercorpus.records import Conversation, Paper, PaperVersion, Post, Review
from peercorpus.tables import Tables


@dataclass(frozen=True)
class PublicForum:
    """One paper, and all of it that may be shown."""

    paper: Paper
    reviews: Sequence[Review]
    posts: Sequence[Post]
    versions: Sequence[PaperVersion]
    conversations: Sequence[Conversation]

    @cached_property
    def by_id(self) -> dict[str, Post]:
        """The posts by their ids."""
        return {post.post_id: post for post in self.posts}

    @property
    def initial(self) -> PaperVersion | None:
        """The version with a grade, the best one first; None where no version has one."""
        graded = [version for version in self.versions if version.grade is not None]
        return min(graded, key=lambda one: [*Grade].index(one.grade or Grade.UNAVAILABLE), default=None)

    def spoken(self) -> list[Post]:
        """Meta-reviews and decisions, in time order."""
        return _in_time([post for post in self.posts if post.kind in SPOKEN])

    def versions_in_time(self) -> list[PaperVersion]:
        """The versions in the order in which they came; those without a date last."""
        return sorted(self.versions, key=lambda one: (one.created_at is None, one.created_at, one.edit_id))

    def others(self) -> list[Post]:
        """Posts that stand in no conversation and are neither review, meta-review nor decision, in time order."""
        told = {post_id for talk in self.conversations for turn in talk.turns for post_id in turn.post_ids}
        told |= {beside.post_id for talk in self.conversations for beside in talk.context}
        reviewers = {talk.reviewer for talk in self.conversations}
        told |= {review.review_id for review in self.reviews if review.reviewer in reviewers}
        return _in_time([post for post in self.posts if post.post_id not in told and post.kind not in SPOKEN])

    @property
    def has_rebuttal(self) -> bool:
        """Whether the authors answered a review, or all of them."""
        return any(talk.context or any(turn.role is Role.AUTHOR for turn in talk.turns) for talk in self.conversations)


def _in_time(posts: Sequence[Post]) -> list[Post]:
    return sorted(posts, key=lambda post: (post.created_at is None, post.created_at, post.post_id))


def public_part(forum: Forum) -> PublicForum:
    """What everyone may read of a forum from which what was taken down is gone."""
    public = forum.public_post_ids
    posts = [post for post in forum.posts if post.post_id in public]
    talks = [_in_public(talk, public) for talk in forum.conversations if is_public(talk, public)]
    reviews = [review for review in forum.reviews if review.readers_public and not review.deleted]
    return PublicForum(_decided_in_public(forum), reviews, posts, forum.versions, talks)


def _in_public(talk: Conversation, public: set[str]) -> Conversation:
    return replace(talk, context=tuple(beside for beside in talk.context if beside.post_id in public))


def _decided_in_public(forum: Forum) -> Paper:
    """The paper without what stands only in posts that not everyone may read."""
    hidden: dict[str, Any] = dict.fromkeys(forum.withheld)
    return replace(forum.paper, **hidden | ({"status": Status.UNKNOWN} if "status" in hidden else {}))


def public_forums(tables: Tables, takedown: Takedown, venue_id: str) -> Iterator[PublicForum]:
    """Everything of a venue that may be shown, a forum at a time."""
    return map(public_part, Sieve(takedown).through(Walk(tables, venue_id)))


def one_forum(tables: Tables, takedown: Takedown, venue_id: str, forum_id: str) -> PublicForum | None:
    """What may be shown of one paper; None where there is none, or it is taken down."""
    forum = read_forum(tables, venue_id, forum_id)
    kept = None if forum is None else Sieve(takedown).sift(forum)
    return None if kept is None else public_part(kept)
