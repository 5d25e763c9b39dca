"""What a review said at first: by the edit that made it, else by the earliest version that can be seen."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from peercorpus.kinds import ScoreSource
from peercorpus.openreview.objects import Note

AT_ONCE_MS = 1_000
"""An edit this close to the note's creation is the creation."""


class First(NamedTuple):
    """An answer as first given.

    Attributes:
        is_changed: Whether the note shows another one now; never false of a version that may not be the first.
    """

    answer: Any
    source: ScoreSource
    is_changed: bool


def first_answers(note: Note, edits: Sequence[Note], earlier: Sequence[Note]) -> dict[str, First]:
    """The answers of a review as first given, by field, as far as edits or earlier versions tell.

    What the note no longer shows is not taken from anywhere.

    Args:
        note: The note as it is now.
        edits: Its edits or references that could be read, in any order.
        earlier: Its earlier versions that everyone could read, in any order.
    """
    posted, seen = _as_posted(note, edits)
    versions = [*earlier, *seen]
    if not posted and not versions:
        return {}
    found: dict[str, First] = {}
    for name, answer in note.fields.items():
        first, source = posted.get(name), ScoreSource.EDIT
        if first is None:
            first, source = _as_seen(name, note, versions), ScoreSource.SNAPSHOT
            if first == answer:
                continue  # What was seen may have been changed to this already.
        if first is not None:
            found[name] = First(first, source, first != answer)
    return found


def _as_posted(note: Note, edits: Sequence[Note]) -> tuple[Mapping[str, Any], Sequence[Note]]:
    """The fields of the edit that made the review, where it still stands as it was; and the edits before others.

    An edit that another one follows shows what stood until then: the edit that made the review is often hidden. So it
    is where that one was posted again later, but before the edit that follows: the first references of the recorded
    reviews of ICLR 2019 all were, when these were released.
    """
    made_at, ordered = note.tcdate, sorted(edits, key=lambda edit: edit.tcdate or 0)
    if len(ordered) > 1 and made_at is not None and 0 < _stood_ms(ordered[0]) <= made_at + AT_ONCE_MS:
        return ordered[0].fields, ordered[1:-1]
    return {}, [edit for edit, following in pairwise(ordered) if 0 < _stood_ms(edit) < (following.tcdate or 0)]


def _stood_ms(edit: Note) -> int:
    """From when on an edit says what it says now: it may have been posted again."""
    return max(edit.tcdate or 0, edit.tmdate or 0)


def _as_seen(name: str, note: Note, earlier: Sequence[Note]) -> object | None:
    """A field in the earliest version held from before the note's; None where none, or two of one moment, tell it."""
    now = note.modified_ms or 0
    seen = [(version.modified_ms or 0, version.fields[name]) for version in earlier if name in version.fields]
    first_ms = min((at for at, _ in seen if 0 < at < now), default=None)
    answers = [answer for at, answer in seen if at == first_ms]
    return answers[0] if answers and all(answer == answers[0] for answer in answers) else None


def was_revised(edits: Sequence[Note]) -> bool | None:
    """Whether the edits change what an earlier one said; None where no edit can be read.

    An edit is a patch: it changes what it names, and leaves the rest as it was.
    """
    state: dict[str, Any] = {}
    for edit in sorted(edits, key=lambda edit: edit.tcdate or 0):
        patched = state | edit.fields
        if state and patched != state:
            return True
        state = patched
    return False if state else None
