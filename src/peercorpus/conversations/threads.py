"""One forum's posts → the conversation with each reviewer.

A conversation holds what one reviewer posted to the paper (a review, or comments only), every post under it, and what
the reviewer wrote under a response to all reviewers, in time order; consecutive posts of one speaker are one turn. An
author's post to the whole forum is such a response: context of every conversation, a turn of none.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby

from peercorpus.kinds import PostKind, Reason, Role
from peercorpus.records import Conversation, Post, Turn

DISCUSSION = frozenset({PostKind.REVIEW, PostKind.REBUTTAL, PostKind.COMMENT, PostKind.ACKNOWLEDGEMENT})
EPOCH = datetime.fromtimestamp(0, UTC)


def _in_time_order(posts: Iterable[Post]) -> list[Post]:
    return sorted(posts, key=lambda post: (post.created_at or EPOCH, post.post_id))


def refusal(post: Post) -> tuple[Reason, str] | None:
    """Why a post can be part of no conversation; None where it can."""
    if post.deleted:
        return Reason.DELETED, "OpenReview marks it as deleted."
    if not post.readers_public:
        return Reason.NOT_PUBLIC, "It is not readable by everyone."
    if post.kind not in DISCUSSION:
        return Reason.OUTSIDE_CONVERSATION, f"A {post.kind.value} is no turn of a conversation."
    return None


def _owner(post: Post, by_id: Mapping[str, Post]) -> str | None:
    """The reviewer whose thread a post stands in: the nearest of its ancestors, itself included, who is one."""
    seen: set[str] = set()
    here: Post | None = post
    while here is not None and here.post_id not in seen:
        if here.role is Role.REVIEWER and here.reply_to is None:
            return here.signature
        seen.add(here.post_id)
        here = by_id.get(here.reply_to) if here.reply_to else None
    # Under a response to all, or under a post that is gone: a reviewer still speaks in the own conversation.
    return post.signature if post.role is Role.REVIEWER else None


def is_global_response(post: Post, by_id: Mapping[str, Post]) -> bool:
    """Whether the authors answer all reviewers at once: to the paper itself, or as a further part of such an answer."""
    seen: set[str] = set()
    here: Post | None = post
    while here is not None and here.role is Role.AUTHOR and here.post_id not in seen:
        if here.reply_to is None:
            return True
        seen.add(here.post_id)
        here = by_id.get(here.reply_to)
    return False


def merge_turns(posts: Sequence[Post]) -> tuple[Turn, ...]:
    """Posts in time order as turns: consecutive posts of one speaker are one."""
    turns = []
    for (role, signature), group in groupby(posts, key=lambda post: (post.role, post.signature)):
        merged = list(group)
        turns.append(
            Turn(
                role=role,
                signature=signature,
                title=merged[0].title,
                text="\n\n".join(post.text if post.initial_text is None else post.initial_text for post in merged),
                created_at=merged[0].created_at,
                post_ids=tuple(post.post_id for post in merged),
                holds_update=any(post.holds_update for post in merged),
            )
        )
    return tuple(turns)


def build_conversations(posts: Sequence[Post]) -> tuple[list[Conversation], list[tuple[Post, Reason, str]]]:
    """One forum's conversations, and the posts that are part of none, each with the reason."""
    left: list[tuple[Post, Reason, str]] = []
    usable: list[Post] = []
    for post in _in_time_order(posts):
        refused = refusal(post)
        if refused:
            left.append((post, *refused))
        else:
            usable.append(post)
    by_id = {post.post_id: post for post in posts}
    reviewers = {post.signature for post in usable if post.role is Role.REVIEWER}
    context = [post for post in usable if is_global_response(post, by_id)] if reviewers else []
    threads: dict[str, list[Post]] = {reviewer: [] for reviewer in sorted(reviewers)}
    for post in usable:
        if post in context:
            continue
        owner = _owner(post, by_id)
        if owner not in threads:
            left.append((post, Reason.OUTSIDE_CONVERSATION, "It stands in no reviewer's thread."))
        else:
            threads[owner].append(post)
    if not any(threads.values()):
        left.extend(
            (post, Reason.OUTSIDE_CONVERSATION, "There is no conversation it could be part of.") for post in context
        )
    ids = tuple(post.post_id for post in context)
    return [_conversation(reviewer, thread, ids) for reviewer, thread in threads.items() if thread], left


def _conversation(reviewer: str, thread: Sequence[Post], context: tuple[str, ...]) -> Conversation:
    forum_id, venue_id = thread[0].forum_id, thread[0].venue_id
    return Conversation(f"{forum_id}/{reviewer}", forum_id, venue_id, reviewer, merge_turns(thread), context)
