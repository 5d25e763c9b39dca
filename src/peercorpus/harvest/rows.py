"""OpenReview's objects as rows of `raw.db`: the body as received, and beside it what finds it again."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from peercorpus.openreview.jsontext import compact, is_list, is_object, read_items, read_members
from peercorpus.openreview.objects import Edit, Header, Note, read_edit, read_note, salvage, venue_of
from peercorpus.raw import UNPLACED, Kind, RawObject

REPLIES = ("replies", "directReplies")

LATEST_MS = 2**63 - 1
"""What SQLite can hold."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where objects came from.

    Attributes:
        source: The request or the file; never with a token.
        venue_id: The venue whose listing gave them; None where each object must say it.
    """

    source: str
    seen_ms: int
    venue_id: str | None = None


class _Header(msgspec.Struct):
    """What groups and invitations have in common."""

    id: str
    domain: str | None = None
    tmdate: int | None = None
    mdate: int | None = None


class _Placed(msgspec.Struct):
    domain: str | None = None


def build_note(body: bytes, origin: Origin) -> RawObject:
    """The row of a note, or of an API v1 reference, which has a `referent`.

    Raises:
        msgspec.ValidationError: A field does not hold what OpenReview puts there.
    """
    # A dump with a wrong field is refused; what OpenReview itself sends is stored whatever it holds.
    note: Header = read_note(body) if origin.venue_id is None else salvage(Header, body)
    note_id, venue_id = note.id or _stand_in(body), origin.venue_id or _venue_of(note)
    kind = Kind.NOTE if note.referent is None else Kind.REFERENCE
    forum_id = note.forum or note.referent or ""
    subject_id, modified = note.referent or note_id, _storable(note.modified_ms)
    return RawObject(
        kind, note_id, api_of(note, body), venue_id, forum_id, subject_id, modified, origin.seen_ms, origin.source, body
    )


def build_edit(body: bytes, origin: Origin) -> RawObject:
    """The row of an API v2 edit; its forum is a guess until its note is known (`RawStore.place`).

    Raises:
        msgspec.ValidationError: A field does not hold what OpenReview puts there.
    """
    edit = read_edit(body) if origin.venue_id is None else salvage(Edit, body)
    domain = salvage(_Placed, body).domain
    venue_id = origin.venue_id or domain or (venue_of(edit.invitation) if edit.invitation else UNPLACED)
    edit_id, subject_id = edit.id or _stand_in(body), edit.note.id or ""
    forum_id, modified = edit.note.forum or subject_id, _storable(edit.tmdate or edit.tcdate)
    return RawObject(
        Kind.EDIT, edit_id, 2, venue_id, forum_id, subject_id, modified, origin.seen_ms, origin.source, body
    )


def build_setting(kind: Kind, body: bytes, origin: Origin) -> RawObject:
    """The row of a group or an invitation.

    Raises:
        msgspec.ValidationError: A field does not hold what OpenReview puts there.
    """
    found = msgspec.json.decode(body, type=_Header) if origin.venue_id is None else salvage(_Header, body)
    found_id = found.id or _stand_in(body)
    own_venue = found_id if kind is Kind.GROUP else venue_of(found_id)
    api = 2 if found.domain or (is_object(body) and "edit" in read_members(body)) else 1
    modified = _storable(found.tmdate or found.mdate)
    venue_id = origin.venue_id or own_venue
    return RawObject(kind, found_id, api, venue_id, "", found_id, modified, origin.seen_ms, origin.source, body)


def _stand_in(body: bytes) -> str:
    """What something is kept under that came without an id, so that status names it."""
    return f"no id: {hashlib.sha256(body).hexdigest()[:16]}"


def _storable(epoch_ms: int | None) -> int:
    """A time that can be stored; 0 where there is none."""
    return epoch_ms if epoch_ms is not None and 0 <= epoch_ms <= LATEST_MS else 0


def api_of(note: Header, body: bytes) -> int:
    """Which API gave a note, by its shape."""
    if note.invitations is not None or note.domain is not None:
        return 2
    if note.invitation is not None:
        return 1
    answers = [answer for answer in (salvage(Note, body).content or {}).values() if answer is not None]
    return 2 if answers and all(_is_wrapped(answer) for answer in answers) else 1


def _is_wrapped(answer: object) -> bool:
    return isinstance(answer, dict) and ("value" in answer or not answer)


def _venue_of(note: Header) -> str:
    return note.domain or (venue_of(note.created_by) if note.created_by else UNPLACED)


def split_replies(note: bytes | msgspec.Raw) -> tuple[bytes, list[bytes]]:
    """A submission without the replies nested in it, and the replies.

    What is left of `details` stays; where nothing is, the submission is as it comes without `details=replies`.

    >>> split_replies(b'{"id":"a","details":{"replies":[{"id":"b"}]}}')
    (b'{"id":"a"}', [b'{"id":"b"}'])
    """
    members = read_members(note) if is_object(note) else {}
    if not is_object(members.get("details")):
        return compact(note), []
    details = read_members(members["details"])
    nested = [details.pop(name) for name in REPLIES if is_list(details.get(name))]
    members["details"] = msgspec.Raw(msgspec.json.encode(details))
    if nested and not details:
        del members["details"]
    return compact(msgspec.json.encode(members)), list(_each(nested))


def _each(lists: list[msgspec.Raw]) -> Iterator[bytes]:
    for nested in lists:
        yield from (compact(item) for item in read_items(nested))
