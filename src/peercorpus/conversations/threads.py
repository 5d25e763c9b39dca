"""Assign each post of a forum to a conversation or to the responses to all reviewers, or set it aside with a reason."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from peercorpus.conversations.context import is_beside
from peercorpus.conversations.reminders import is_reminder, nudges
from peercorpus.corpus.reminder_decisions import LIST, Decision, Decisions, Verdict
from peercorpus.discussion.addressees import PARTIES, address_posts
from peercorpus.discussion.replies import EPOCH, Replies
from peercorpus.discussion.until_decision import decides
from peercorpus.openreview.objects import invitation_name
from peercorpus.records.enums import Addressee, ConversationKind, PostKind, Reason, Role
from peercorpus.records.reviews import Post
from peercorpus.venues.ai_reviews import SIGNERS as AI_INVITATIONS

Left = list[tuple[Post, Reason, str]]
"""Posts that are in no conversation, each with the reason and a sentence for users."""
KeyT = TypeVar("KeyT")
DISCUSSION = frozenset(
    {PostKind.REVIEW, PostKind.REBUTTAL, PostKind.COMMENT, PostKind.ACKNOWLEDGEMENT, PostKind.RECOMMENDATION}
)
OF_CHAIRS = frozenset({PostKind.META_REVIEW, PostKind.DECISION, PostKind.DESK_REJECTION, PostKind.WITHDRAWAL})
"""Posts by chairs about a paper, and authors' forms addressed to the chairs."""
NO_ANSWERS = "{}"
"""The `extra` of a post with words alone."""
read_answers = msgspec.json.Decoder(dict[str, Any]).decode
NO_DECISIONS: Mapping[str, Decision] = MappingProxyType({})
Party = tuple[ConversationKind, str]
"""The other party of a conversation: its kind, and the signature or a value of `Addressee`."""
CHAIRS: Party = (ConversationKind.CHAIRS, Addressee.CHAIRS.value)
EVERYONE: Party = (ConversationKind.OTHER, Addressee.EVERYONE.value)
KINDS = {Addressee.PUBLIC: ConversationKind.PUBLIC, Addressee.ETHICS: ConversationKind.ETHICS}


def refusal(post: Post) -> tuple[Reason, str] | None:
    """Return why a post cannot be in any conversation, or None if it can."""
    if post.deleted:
        return Reason.DELETED, "OpenReview marks it as deleted."
    if not post.readers_public:
        return Reason.NOT_PUBLIC, "It is not readable by everyone."
    if post.kind is PostKind.OTHER and (
        post.role is Role.AI or invitation_name(post.invitation).lower() in AI_INVITATIONS
    ):
        if post.role is Role.AI:
            return Reason.PERSON_OR_AI, "It is signed by a group for AI posts, but its invitation is for people."
        unsigned = "Its invitation is for AI reviews, but it is not signed as the venue signs those"
        return Reason.PERSON_OR_AI, f"{unsigned}: a person may have written it."
    if post.role is Role.AI:
        return Reason.OUTSIDE_CONVERSATION, "The venue's AI posted it, but it is not below an AI review."
    if post.kind is PostKind.OTHER:
        return Reason.OUTSIDE_CONVERSATION, "Its kind cannot be determined from its invitation."
    return None


@dataclass(slots=True)
class Threads:
    """The posts of one forum, each assigned to exactly one place.

    Attributes:
        by_reviewer: The posts of the conversation with each reviewer, in time order.
        by_party: The posts of every other conversation, in time order.
        responses: The authors' posts to several or all reviewers, in time order.
        decisions: The posts with a decision that everyone can read, in time order.
        left: Posts that are in no conversation, each with the reason.
        orphans: Ids of posts in conversations that answer a deleted, hidden or missing post.
        ordered: All posts, in time order.
        replies: The posts as a tree.
        latest: By id, the latest time at which the post or any post above it was posted.
        reminded: The thread of each reminder that is set aside, itself included, by the reminder's id.
        answered_reminders: Ids of reminders that a reviewer answered: they remain, as turns of their own.
    """

    by_reviewer: dict[str, list[Post]] = field(default_factory=dict)
    by_party: dict[Party, list[Post]] = field(default_factory=dict)
    responses: list[Post] = field(default_factory=list)
    decisions: list[Post] = field(default_factory=list)
    left: Left = field(default_factory=list)
    orphans: set[str] = field(default_factory=set)
    ordered: list[Post] = field(default_factory=list)
    replies: Replies = field(default_factory=lambda: Replies(()))
    latest: Mapping[str, datetime] = field(default_factory=dict)
    reminded: dict[str, tuple[Post, ...]] = field(default_factory=dict)
    answered_reminders: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Above:
    """Facts about a post and those above it.

    Attributes:
        top: The topmost post.
        latest: When the latest of them was posted.
        greeted: The reviewer greeted first in the nearest post that greets and addresses reviewers.
        owner: The author of the nearest reviewer's post, or the addressee of the authors' nearest post to one reviewer.
        other: The nearest post by neither authors nor reviewers.
        is_letter: Whether it is the authors' letter to the chairs alone, with no chair's post above it.
        has_letter: Whether there is such a letter between the post and the nearest reviewer's post.
        has_chair: Whether a chair wrote one of them.
        has_ai: Whether an AI wrote one of them.
        is_authors: Whether the authors wrote all of them.
    """

    top: Post
    latest: datetime
    greeted: str | None
    owner: str | None
    other: Post | None
    is_letter: bool
    has_letter: bool
    has_chair: bool
    has_ai: bool
    is_authors: bool


def _look_above(post: Post, above: _Above | None, reviewers: frozenset[str]) -> _Above:
    is_author = post.role is Role.AUTHOR
    is_reviewer = post.role is Role.REVIEWER
    has_chair = PARTIES.get(post.role) is Addressee.CHAIRS or (above is not None and above.has_chair)
    is_letter = is_author and post.addressed_to == (Addressee.CHAIRS,) and not has_chair
    greeted = post.greets[0] if post.greets and post.addressed_to == post.greets else None
    owner = post.signature if is_reviewer else None
    if is_author and len(post.addressed_to) == 1 and post.addressed_to[0] in reviewers:
        owner = post.addressed_to[0]
    time = post.created_at or EPOCH
    return _Above(
        top=above.top if above else post,
        latest=max(time, above.latest) if above else time,
        greeted=above.greeted if above and greeted is None else greeted,
        owner=above.owner if above and owner is None else owner,
        other=post if not is_author and not is_reviewer else above.other if above else None,
        is_letter=is_letter,
        has_letter=is_letter or (not is_reviewer and above is not None and above.has_letter),
        has_chair=has_chair,
        has_ai=post.role is Role.AI or (above is not None and above.has_ai),
        is_authors=is_author and (above is None or above.is_authors),
    )


def _find_owner(above: _Above) -> str | None:
    if above.greeted is not None:
        return above.greeted
    if above.has_letter:
        return None
    if above.top.role is Role.REVIEWER and above.top.reply_to is None:
        return above.top.signature
    return above.owner


def _find_party(post: Post, above: _Above, names: Mapping[Addressee, Set[str]]) -> Party | None:
    """Return the party other than a reviewer with whom a post is exchanged, or None if there is none."""
    if post.kind in OF_CHAIRS or above.is_letter:
        return CHAIRS
    if above.other is not None:
        # The party that began the thread; if that is the authors or reviewers, the party that posted last.
        is_theirs = above.top.role not in {Role.AUTHOR, Role.REVIEWER}
        speaker = above.top if is_theirs else above.other
        addressee = PARTIES.get(speaker.role)
        if addressee is Addressee.CHAIRS:
            return CHAIRS
        return KINDS.get(addressee or Addressee.EVERYONE, ConversationKind.OTHER), speaker.signature
    if Addressee.CHAIRS in post.addressed_to and len(post.addressed_to) == 1:
        return CHAIRS
    for addressee, kind in KINDS.items():
        if addressee in post.addressed_to:
            speakers = names[addressee]
            return kind, next(iter(speakers)) if len(speakers) == 1 else addressee.value
    return None


def _is_response(above: _Above) -> bool:
    """Return whether the authors post to the paper itself, or continue their own thread there."""
    return above.top.reply_to is None and above.is_authors


def read_threads(
    posts: Sequence[Post],
    decided_at: datetime | None = None,
    justified: Set[str] = frozenset(),
    decisions: Decisions = NO_DECISIONS,
) -> Threads:
    """Assign the posts of one forum, given in any order."""
    addressed = address_posts(posts)
    replies = Replies(addressed)
    ordered = replies.in_time_order(addressed)
    by_id = {post.post_id: post for post in ordered}
    usable = {post.post_id for post in ordered if refusal(post) is None}
    reviewers = frozenset(post.signature for post in ordered if post.role is Role.REVIEWER)
    said = (post for post in ordered if post.role is Role.REVIEWER and _is_said(post))
    readable = {post.signature for post in said if post.post_id in usable}
    names = _name_parties(post for post in ordered if post.post_id in usable)
    places = replies.fold(lambda post, above: _look_above(post, above, reviewers))
    threads = Threads({reviewer: [] for reviewer in sorted(readable)}, ordered=ordered, replies=replies)
    threads.latest = {post_id: place.latest for post_id, place in places.items()}
    threads.decisions = [post for post in ordered if post.post_id in usable and decides(post, decided_at)]
    for post in ordered:
        if refused := refusal(post):
            threads.left.append((post, *refused))
            continue
        above = places[post.post_id]
        if above.has_ai:
            threads.left.append((post, Reason.OUTSIDE_CONVERSATION, "It is below a post by the venue's AI."))
            continue
        owner = _find_owner(above) if _is_said(post) else None
        party = _find_party(post, above, names) if owner not in threads.by_reviewer else None
        if owner in threads.by_reviewer:
            threads.by_reviewer[owner].append(post)
        elif party is not None and (owner is None or post.role is not Role.AUTHOR):
            threads.by_party.setdefault(party, []).append(post)
        elif owner is None and _is_response(above) and _has_reader(post, readable, reviewers):
            threads.responses.append(post)
            continue
        else:
            threads.left.append((post, Reason.OUTSIDE_CONVERSATION, _explain_outside(post, owner, by_id)))
            continue
        if post.reply_to is not None and post.reply_to not in usable:
            threads.orphans.add(post.post_id)
    _set_aside(threads, posts, justified, decisions)
    return threads


def _name_parties(usable: Iterable[Post]) -> dict[Addressee, set[str]]:
    names: dict[Addressee, set[str]] = {addressee: set() for addressee in KINDS}
    for post in usable:
        party = PARTIES.get(post.role)
        if party is not None and party in names:
            names[party].add(post.signature)
    return names


def _is_said(post: Post) -> bool:
    return post.kind in DISCUSSION and (post.kind is not PostKind.RECOMMENDATION or post.role is Role.REVIEWER)


def _has_reader(post: Post, readable: set[str], reviewers: frozenset[str]) -> bool:
    named = reviewers.intersection(post.addressed_to)
    return not named or not named.isdisjoint(readable)


def _explain_outside(post: Post, owner: str | None, by_id: Mapping[str, Post]) -> str:
    if owner is not None:
        return f"No post by {owner} can be read."
    if post.reply_to is not None and post.reply_to not in by_id:
        return "The post it answers is not in the workspace, and it names no single reviewer."
    return "No post by those it addresses can be read."


def _set_aside(threads: Threads, posts: Sequence[Post], justified: Set[str], decisions: Decisions) -> None:
    _set_repeated_aside(threads)
    _set_decided_aside(threads, decisions)
    _set_reminders_aside(threads, posts, decisions)
    _set_silence_aside(threads.by_reviewer, threads.left, justified)
    _place_responses(threads)
    _set_silence_aside(threads.by_party, threads.left, justified)


MIN_REPEATED_WORDS = 20
"""Fewest words of a text that is not posted twice by chance in different places; our choice."""


def _set_repeated_aside(threads: Threads) -> None:
    """Set aside what a reviewer posted again word for word, in the same place or too long for a phrase, without another
    answer.
    """
    for reviewer, thread in threads.by_reviewer.items():
        told: dict[tuple[str, ...], list[Post]] = {}
        kept: list[Post] = []
        for post in thread:
            words = tuple(post.text.split()) if post.signature == reviewer else ()
            before = told.setdefault(words, []) if words else []
            earlier = next((one for one in before if _repeats(post, one, len(words))), None)
            if earlier is not None:
                detail = f"It repeats the post '{earlier.post_id}' by the same reviewer, word for word."
                threads.left.append((post, Reason.OUTSIDE_CONVERSATION, detail))
            else:
                before.append(post)
                kept.append(post)
        thread[:] = kept


def _repeats(post: Post, earlier: Post, num_words: int) -> bool:
    """Return whether a post with the words of an earlier one adds nothing: no answer besides those given there."""
    if earlier.reply_to != post.reply_to and num_words < MIN_REPEATED_WORDS:
        return False
    if post.extra in {earlier.extra, NO_ANSWERS}:
        return True
    answers, known = (read_answers(one.extra) for one in (post, earlier))
    return all(name in known and known[name] == answer for name, answer in answers.items())


def _set_decided_aside(threads: Threads, decisions: Decisions) -> None:
    if not decisions:
        return
    for thread in (*threads.by_reviewer.values(), *threads.by_party.values(), threads.responses):
        urging = [post for post in thread if post.role is Role.AUTHOR and _decided(post, decisions) is Verdict.REMINDER]
        _remove_reminders(threads, thread, urging, f"A person decided that it is only a reminder ({LIST}).")
    threads.by_party = {party: thread for party, thread in threads.by_party.items() if thread}


def _remove_reminders(threads: Threads, thread: list[Post], urging: Sequence[Post], detail: str) -> None:
    whole = tuple(thread)
    removed = {post.post_id for post in urging}
    thread[:] = [post for post in thread if post.post_id not in removed]
    threads.left.extend((post, Reason.REMINDER, detail) for post in urging)
    threads.reminded |= dict.fromkeys(removed, whole)


def _decided(post: Post, decisions: Decisions) -> Verdict | None:
    decision = decisions.get(post.post_id)
    return decision.verdict if decision else None


def _set_reminders_aside(threads: Threads, posts: Sequence[Post], decisions: Decisions) -> None:
    """Set aside the authors' reminders that nobody answers, and note those that a reviewer answers."""
    replied_to = {post.reply_to for post in posts if post.role is not Role.AUTHOR}
    detail = "It is only a reminder: nothing in it is about the paper, and it has no reply."
    known: dict[str, bool] = {}

    def urges(post: Post) -> bool:
        if post.post_id not in known:
            known[post.post_id] = _urges(post, decisions)
        return known[post.post_id]

    everywhere = [post for thread in threads.by_reviewer.values() for post in thread if post.role is Role.AUTHOR]
    for thread in (*threads.by_reviewer.values(), threads.responses):
        others = everywhere if thread is threads.responses else threads.responses
        theirs = {post.post_id for post in thread if post.role is Role.AUTHOR}
        reminders = list(_find_reminders(thread, others, urges))
        places = _find_answered(thread, theirs, urges) if reminders else set()
        answered = {post.post_id for place, post in reminders if post.post_id in replied_to or place in places}
        threads.answered_reminders |= answered
        _remove_reminders(threads, thread, [post for _, post in reminders if post.post_id not in answered], detail)


def _find_reminders(
    thread: Sequence[Post], others: Sequence[Post], urges: Callable[[Post], bool]
) -> Iterator[tuple[int, Post]]:
    before: list[Post] = []
    theirs: list[Post] = []
    for place, post in enumerate(thread):
        is_authors = post.role is Role.AUTHOR
        if is_authors and _has_answered(before, theirs, others, post, urges) and urges(post):
            yield place, post
            continue
        before.append(post)
        if is_authors:
            theirs.append(post)


def _find_answered(thread: Sequence[Post], of_authors: Set[str], urges: Callable[[Post], bool]) -> set[int]:
    """Return the places behind which the first post that does not urge is a reviewer's own, no reply to the authors."""
    answered: set[int] = set()
    is_answer = False
    for place in range(len(thread) - 1, -1, -1):
        if is_answer:
            answered.add(place)
        if not urges(post := thread[place]):
            is_answer = post.role is Role.REVIEWER and post.reply_to not in of_authors
    return answered


def _urges(post: Post, decisions: Decisions) -> bool:
    is_kept = _decided(post, decisions) is Verdict.KEEP
    return post.role is Role.AUTHOR and not is_kept and is_reminder(post.title, post.text)


def _find_between(since: datetime | None, others: Sequence[Post], reminder: Post) -> Iterator[Post]:
    until = reminder.created_at or EPOCH
    return (post for post in others if (since or EPOCH) <= (post.created_at or EPOCH) <= until)


def _has_answered(
    before: Sequence[Post], theirs: list[Post], others: Sequence[Post], reminder: Post, urges: Callable[[Post], bool]
) -> bool:
    """Return whether the last post before a reminder is one of the authors'; if not, it may be an answer.

    It is none if it states that it is a reminder, and the authors have said something else at any time before.
    """
    if before and before[-1].role is Role.AUTHOR:
        return True
    if not all(map(urges, _find_between(before[-1].created_at if before else None, others, reminder))):
        return True
    if not (theirs or others) or not urges(reminder) or not nudges(reminder.title, reminder.text):
        return False
    while theirs and urges(theirs[-1]):
        theirs.pop()
    return bool(theirs) or not all(map(urges, _find_between(None, others, reminder)))


def _set_silence_aside(talks: dict[KeyT, list[Post]], left: Left, justified: Set[str]) -> None:
    for key, posts in list(talks.items()):
        if posts and not any(_has_words(post) or post.post_id in justified for post in posts):
            left.extend((post, Reason.NOTHING_SAID, "It contains no words, and it has no reply.") for post in posts)
            del talks[key]


def _has_words(post: Post) -> bool:
    """Return whether a post has any words: in its text or, if its title is not the form's, in its title."""
    is_titled = post.title is not None and post.kind not in {PostKind.REVIEW, *OF_CHAIRS}
    return bool((post.initial_text or post.text).strip()) or is_titled


def _place_responses(threads: Threads) -> None:
    """Drop conversations without posts; if no reviewer's is left, the responses become a conversation of their own."""
    threads.by_reviewer = {reviewer: posts for reviewer, posts in threads.by_reviewer.items() if posts}
    if threads.responses and not threads.by_reviewer:
        threads.by_party[EVERYONE] = threads.responses
        threads.responses = []
    outside = [post for post in threads.responses if not any(is_beside(post, name) for name in threads.by_reviewer)]
    detail = "No post by those it addresses can be read."
    threads.left.extend((post, Reason.OUTSIDE_CONVERSATION, detail) for post in outside)
    outside_ids = {post.post_id for post in outside}
    threads.responses = [post for post in threads.responses if post.post_id not in outside_ids]
