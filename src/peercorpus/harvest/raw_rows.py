"""Turn OpenReview objects into rows of `raw.db`."""

import hashlib
from dataclasses import dataclass

import msgspec

from peercorpus.openreview.objects import (
    Edit,
    Header,
    Note,
    decode_leniently,
    is_wrapped,
    read_edit,
    read_note,
    venue_of,
    venue_of_edit,
)
from peercorpus.openreview.response_body import compact, is_list, is_object, read_items, read_members
from peercorpus.workspace.raw_store import UNPLACED, RawKind, RawObject

REPLIES = ("replies", "directReplies")
"""Members of `details` that contain replies."""

LATEST_MS = 2**63 - 1
"""Largest integer that SQLite can store."""


@dataclass(frozen=True, slots=True)
class RawOrigin:
    """Where objects came from.

    Attributes:
        source: The request URL or file name; never contains a token.
        seen_ms: When they were received, milliseconds since the epoch.
        venue_id: The venue whose list contained them; None if each object must name its own.
    """

    source: str
    seen_ms: int
    venue_id: str | None = None


class _Header(msgspec.Struct):
    """Fields that groups and invitations share."""

    id: str
    domain: str | None = None
    tmdate: int | None = None
    mdate: int | None = None


def build_note(body: bytes, origin: RawOrigin) -> RawObject:
    """Build the row of a note, or of an API v1 reference, which has a `referent`.

    Raises:
        msgspec.ValidationError: A field of an imported object has a type that OpenReview never uses.
    """
    # A dump with a wrong field is refused; what OpenReview itself sends is stored whatever it holds.
    note: Header = read_note(body) if origin.venue_id is None else decode_leniently(Header, body)
    note_id = note.id or _make_id(body)
    own_venue = note.domain or (venue_of(note.created_by) if note.created_by else UNPLACED)
    venue_id = origin.venue_id or own_venue
    kind = RawKind.NOTE if note.referent is None else RawKind.REFERENCE
    forum_id = note.forum or note.referent or ""
    subject_id = note.referent or note_id
    modified = _clamp_time(note.modified_ms)
    return RawObject(
        kind=kind,
        object_id=note_id,
        api=detect_api(note, body),
        venue_id=venue_id,
        forum_id=forum_id,
        subject_id=subject_id,
        modified_ms=modified,
        seen_ms=origin.seen_ms,
        source=origin.source,
        body=body,
    )


def build_edit(body: bytes, origin: RawOrigin) -> RawObject:
    """Build the row of an API v2 edit; its forum is a guess until its note is known (`RawStore.place`).

    Raises:
        msgspec.ValidationError: A field of an imported object has a type that OpenReview never uses.
    """
    edit = read_edit(body) if origin.venue_id is None else decode_leniently(Edit, body)
    venue_id = origin.venue_id or venue_of_edit(body) or UNPLACED
    edit_id = edit.id or _make_id(body)
    subject_id = edit.note.id or ""
    forum_id = edit.note.forum or subject_id
    modified = _clamp_time(edit.tmdate or edit.tcdate)
    return RawObject(
        kind=RawKind.EDIT,
        object_id=edit_id,
        api=2,
        venue_id=venue_id,
        forum_id=forum_id,
        subject_id=subject_id,
        modified_ms=modified,
        seen_ms=origin.seen_ms,
        source=origin.source,
        body=body,
    )


def build_setting(kind: RawKind, body: bytes, origin: RawOrigin) -> RawObject:
    """Build the row of a group or an invitation.

    Raises:
        msgspec.ValidationError: A field of an imported object has a type that OpenReview never uses.
    """
    header = msgspec.json.decode(body, type=_Header) if origin.venue_id is None else decode_leniently(_Header, body)
    setting_id = header.id or _make_id(body)
    own_venue = setting_id if kind is RawKind.GROUP else venue_of(setting_id)
    api = 2 if header.domain or (is_object(body) and "edit" in read_members(body)) else 1
    modified = _clamp_time(header.tmdate or header.mdate)
    venue_id = origin.venue_id or own_venue
    return RawObject(
        kind=kind,
        object_id=setting_id,
        api=api,
        venue_id=venue_id,
        forum_id="",
        subject_id=setting_id,
        modified_ms=modified,
        seen_ms=origin.seen_ms,
        source=origin.source,
        body=body,
    )


def _make_id(body: bytes) -> str:
    """Return an id for an object that came without one, so that `status` can name it."""
    return f"no id: {hashlib.sha256(body).hexdigest()[:16]}"


def _clamp_time(epoch_ms: int | None) -> int:
    """Return a time that SQLite can store; 0 if there is none."""
    return epoch_ms if epoch_ms is not None and 0 <= epoch_ms <= LATEST_MS else 0


def detect_api(note: Header, body: bytes) -> int:
    """Return which API a note came from, judged by its shape."""
    if note.invitations or note.domain is not None:
        return 2
    if note.invitation is not None:
        return 1
    return 2 if is_wrapped(decode_leniently(Note, body).content or {}) else 1


def split_replies(note: bytes | msgspec.Raw) -> tuple[bytes, list[bytes]]:
    """Split a submission into itself without the nested replies, and the replies.

    What else `details` contains is kept; if nothing is left, the submission is as it comes without `details=replies`.

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
    replies = [compact(reply) for items in nested for reply in read_items(items)]
    return compact(msgspec.json.encode(members)), replies
