"""Count the replies of a forum that were never seen, and those that are gone, by their numbers and OpenReview's count.

OpenReview numbers notes by the invitation that created them (its reference, "note fields"; the recorded forums count
from 1). In an invitation of one paper each number up to the largest one therefore belongs to a reply that was posted. A
gap does not show whether the reply is hidden or was deleted before anyone looked, and replies after the largest number
seen, or under an invitation none of whose replies is seen, leave no gap: the count is the least that is proven.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable
from typing import NamedTuple

import msgspec

from peercorpus.openreview.objects import PAPER_GROUP, Note, decode_leniently

_REPLY_GROUP = re.compile(
    r"^(?P<paper>.*?/(?:Paper|Submission|paper)\d+)/(?P<name>[A-Za-z]\w{0,99}?)(?P<number>\d{1,6})/-/"
)
"""Matches the invitation to reply to one numbered note: `…/Submission7/Official_Review2/-/Rebuttal`."""

MOST = 10_000
"""Larger numbers count something other than the replies to one paper; our choice."""


class UnseenReplies(NamedTuple):
    """Replies of one forum that are not among its posts.

    Attributes:
        not_shown: Number of replies that exist or existed, at least, and were never seen; None if nothing proves any
            number.
        deleted: Number of replies that were seen and have been deleted, or are no longer shown.
    """

    not_shown: int | None
    deleted: int


class _Details(msgspec.Struct):
    replyCount: int | None = None  # noqa: N815 -- OpenReview's name


def count_unseen(forum_id: str, notes: Iterable[Note], gone: Container[str]) -> UnseenReplies:
    """Count the replies of a forum that were not seen or are gone.

    Args:
        forum_id: The forum.
        notes: All its notes, whoever may read them, and deleted ones.
        gone: Ids of notes that a later listing no longer contains.
    """
    numbers: defaultdict[str, set[int]] = defaultdict(set)
    seen: Counter[str] = Counter()
    answered: set[tuple[str, int]] = set()
    replies = deleted = 0
    bounds: list[int] = []
    for note in notes:
        if note.id == forum_id:
            stated = decode_leniently(_Details, bytes(note.details)).replyCount
            bounds += [] if stated is None else [stated]
            continue
        replies += 1
        deleted += note.ddate is not None or note.id in gone
        first = note.invitation or next(iter(note.invitations or ()), "")
        seen[first] += 1
        if PAPER_GROUP.search(first) and note.number is not None and 0 < note.number <= MOST:
            numbers[first].add(note.number)
        if group := _REPLY_GROUP.match(first):
            answered.add((f"{group['paper']}/-/{group['name']}", int(group["number"])))
    for invitation, number in answered:
        if invitation in numbers and 0 < number <= MOST:  # Otherwise it may be the number of a reviewer.
            numbers[invitation].add(number)
    bounds = [max(0, stated - replies) for stated in bounds]
    if numbers:
        # A note that was seen without its number has one too.
        bounds.append(sum(max(0, max(held) - max(len(held), seen[name])) for name, held in numbers.items()))
    return UnseenReplies(max(bounds, default=None), deleted)
