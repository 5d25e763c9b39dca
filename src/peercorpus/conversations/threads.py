"""One forum's posts → whose conversation each belongs to; pure rules, each with its reason.

A post belongs to the reviewer whose review (or comment to the paper) it stands under; else, under a post to all, to the
nearest reviewer above it; else, of the authors', to the one reviewer whom it, or the part before it, is addressed to.
What the authors post to the paper and to no one reviewer is a global response: context of every conversation.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from peercorpus.conversations.addressee import Names, texts_of
from peercorpus.conversations.order import EPOCH, chain, in_time_order
from peercorpus.conversations.reminders import is_reminder
from peercorpus.kinds import PostKind, Reason, Role
from peercorpus.parts import part_of
from peercorpus.records import Post

Whole = tuple[str | None, str, int | None] | None
"""What a part is of: the post that all parts answer, the title without the mark, and how many there are."""
Left = list[tuple[Post, Reason, str]]
"""Posts that are part of no conversation, each with the reason and a sentence for a person."""
DISCUSSION = frozenset({PostKind.REVIEW, PostKind.REBUTTAL, PostKind.COMMENT, PostKind.ACKNOWLEDGEMENT})


def refusal(post: Post) -> tuple[Reason, str] | None:
    """Why a post can be part of no conversation; None where it can."""
    if post.deleted:
        return Reason.DELETED, "OpenReview marks it as deleted."
    if not post.readers_public:
        return Reason.NOT_PUBLIC, "It is not readable by everyone."
    if post.kind not in DISCUSSION:
        return Reason.OUTSIDE_CONVERSATION, f"A {post.kind.value} is no turn of a conversation."
    return None


@dataclass(slots=True)
class Threads:
    """The posts of one forum, each in exactly one place.

    Attributes:
        of: Reviewer → the posts of the conversation, in time order.
        responses: The authors' posts to all, in time order.
        left: Posts that are part of no conversation, each with the reason.
        orphans: Ids of posts of a conversation that answer a post which is deleted, hidden or not held.
        names: How the reviewers may be named.
    """

    names: Names
    of: dict[str, list[Post]] = field(default_factory=dict)
    responses: list[Post] = field(default_factory=list)
    left: Left = field(default_factory=list)
    orphans: set[str] = field(default_factory=set)


def _owner(post: Post, by_id: Mapping[str, Post], names: Names) -> str | None:
    """The reviewer in whose conversation a post stands; None where it stands in no single one's."""
    above = list(chain(post, by_id))
    if above[-1].role is Role.REVIEWER and above[-1].reply_to is None:
        return above[-1].signature
    for here in above:
        if here.role is Role.REVIEWER:
            return here.signature
        if here.role is Role.AUTHOR and (reviewer := names.addressee(here)):
            return reviewer
    return None


def _whole(post: Post) -> Whole:
    """What the parts of one answer share that were posted beside each other; None of a post that is no part."""
    part = part_of(post)
    is_part = post.role is Role.AUTHOR and part.number is not None
    return (post.reply_to, part.stem.casefold(), part.total) if is_part else None


def _parts_addressed(posts: Sequence[Post], names: Names) -> dict[Whole, str]:
    """Whom the parts of one answer are to, where those that say it agree."""
    found: dict[Whole, set[str]] = defaultdict(set)
    for post in posts:
        if (whole := _whole(post)) is not None and (reviewer := names.addressee(post)):
            found[whole].add(reviewer)
    return {whole: named.pop() for whole, named in found.items() if len(named) == 1}


def _is_to_all(post: Post, by_id: Mapping[str, Post]) -> bool:
    """Whether the authors speak to the paper itself, or go on with what they said there."""
    above = list(chain(post, by_id))
    return above[-1].reply_to is None and all(one.role is Role.AUTHOR for one in above)


def read_threads(posts: Sequence[Post]) -> Threads:
    """Sort the posts of one forum, in whatever order they come."""
    by_id = {post.post_id: post for post in posts}
    ordered = in_time_order(posts)
    reviewers = {post.signature for post in posts if post.role is Role.REVIEWER}
    spoken = texts_of([post for post in ordered if post.role is Role.AUTHOR])
    threads = Threads(Names(sorted(reviewers), spoken))
    usable = {post.post_id for post in posts if refusal(post) is None}
    readable = {by_id[post_id].signature for post_id in usable if by_id[post_id].role is Role.REVIEWER}
    threads.of = {reviewer: [] for reviewer in sorted(readable)}
    siblings = _parts_addressed(posts, threads.names)
    for post in ordered:
        if refused := refusal(post):
            threads.left.append((post, *refused))
            continue
        owner = _owner(post, by_id, threads.names) or siblings.get(_whole(post))
        if owner in threads.of:
            threads.of[owner].append(post)
            if post.reply_to is not None and post.reply_to not in usable:
                threads.orphans.add(post.post_id)
        elif owner is None and readable and _is_to_all(post, by_id):
            threads.responses.append(post)
        else:
            threads.left.append((post, Reason.OUTSIDE_CONVERSATION, _why_outside(post, owner, by_id)))
    _set_reminders_aside(threads, posts)
    _drop_empty(threads)
    return threads


def _why_outside(post: Post, owner: str | None, by_id: Mapping[str, Post]) -> str:
    if owner is not None:
        return f"Nothing that {owner} posted can be read."
    if post.reply_to is not None and post.reply_to not in by_id:
        return "The post it answers is not held, and it names no single reviewer."
    return "It stands in no reviewer's thread."


def _set_reminders_aside(threads: Threads, posts: Sequence[Post]) -> None:
    """Set aside the authors' last posts that only urge, once they have said something else since a reviewer spoke."""
    replied_to = {post.reply_to for post in posts if post.role is not Role.AUTHOR}
    detail = "It only reminds: nothing in it is about the paper, and nobody answers it."
    everywhere = [post for held in threads.of.values() for post in held if post.role is Role.AUTHOR]
    for held in (*threads.of.values(), threads.responses):
        others = everywhere if held is threads.responses else threads.responses
        urging = list(takewhile(lambda post: _urges(post) and post.post_id not in replied_to, reversed(held)))
        if urging and _has_answered(held[: len(held) - len(urging)], others, urging[-1]):
            for post in urging:
                held.remove(post)
                threads.left.append((post, Reason.REMINDER, detail))


def _urges(post: Post) -> bool:
    return post.role is Role.AUTHOR and is_reminder(post.title, post.text)


def _has_answered(before: Sequence[Post], others: Sequence[Post], reminder: Post) -> bool:
    """Whether the authors spoke last before a reminder, there or elsewhere: else it may be an answer itself."""
    if before and before[-1].role is Role.AUTHOR:
        return True
    since, until = (before[-1].created_at if before else None) or EPOCH, reminder.created_at or EPOCH
    return any(since <= (post.created_at or EPOCH) <= until and not _urges(post) for post in others)


def _drop_empty(threads: Threads) -> None:
    """A reviewer without posts has no conversation; without any conversation, a response to all is part of none."""
    threads.of = {reviewer: posts for reviewer, posts in threads.of.items() if posts}
    if not threads.of:
        detail = "There is no conversation it could be part of."
        threads.left.extend((post, Reason.OUTSIDE_CONVERSATION, detail) for post in threads.responses)
        threads.responses.clear()
