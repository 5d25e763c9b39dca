"""Turn OpenReview objects into rows of `raw.db`."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from peercorpus.openreview.objects import (
    Edit,
    Header,
    Note,
    decode_leniently,
    decode_strictly,
    is_wrapped,
    read_edit,
    read_note,
    venue_of,
    venue_of_edit,
)
from peercorpus.openreview.response_body import (
    check_object,
    compact,
    has_control,
    is_list,
    is_object,
    read_members,
    split_items,
    split_member,
)
from peercorpus.workspace.raw_store import UNPLACED, RawKind, RawObject, RawStore

REPLIES = ("replies", "directReplies")
"""Members of `details` that contain replies."""

NO_ID = "no id: "
"""Prefix of the ids made for objects that were received without one."""

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


def receive(
    text: bytes | msgspec.Raw, origin: RawOrigin, build: Callable[[bytes, RawOrigin], RawObject] | None = None
) -> RawObject:
    """Build the row of an object sent by OpenReview; an unreadable one is stored as bytes, to be set aside.

    `build` builds the row of an object that can be read; None means `build_note`.
    """
    try:
        body = compact(check_object(bytes(text)))
    except ValueError:
        return _build_unreadable(bytes(text), origin)
    return (build or build_note)(body, origin)


def _build_unreadable(body: bytes, origin: RawOrigin) -> RawObject:
    header = decode_leniently(Header, body)
    # The same HTML page may have been received in place of several objects.
    forum_id, subject_id, object_id = (
        "" if has_control(name) else name for name in (header.forum or header.referent, header.referent, header.id)
    )
    object_id = object_id or _make_id(origin.source.encode() + body)
    row = RawObject(RawKind.UNREADABLE, object_id, 0, UNPLACED, forum_id or "", subject_id or object_id, 0, 0, "", body)
    return _complete(row, origin, header.modified_ms)


def find_unreadable(raw: RawStore, venue_id: str) -> list[str]:
    """Return the ids of a venue's objects that were unreadable when last received, in alphabetical order.

    An object without even an id is no longer included once all lists have been read again without it.
    """
    rows = raw.questions.rows(
        f"""
        SELECT DISTINCT kept.venue_id, kept.object_id
        FROM asked
        CROSS JOIN objects AS kept INDEXED BY objects_by_forum ON kept.venue_id = asked.venue_id
        WHERE kept.kind = 'unreadable' AND NOT EXISTS (
            SELECT 1
            FROM objects AS later
            WHERE later.kind IN ('note', 'reference', 'edit', 'group', 'invitation')
              AND later.object_id = kept.object_id AND later.seen_ms > kept.seen_ms
        ) AND NOT EXISTS (
            SELECT 1
            FROM sightings
            WHERE sightings.object_id = kept.object_id AND sightings.object_id GLOB '{NO_ID}*' AND shown_ms < (
                SELECT min(started_ms)
                FROM listings
                WHERE listings.venue_id = kept.venue_id AND listing GLOB '*/-/*' AND listing NOT GLOB '* *'
                HAVING min(complete)
            )
        )
        ORDER BY kept.object_id
        """,
        venue_id,
    )
    return [object_id for (object_id,) in rows]


def build_note(body: bytes, origin: RawOrigin) -> RawObject:
    """Build the row of a note, or of an API v1 reference, which has a `referent`.

    Raises:
        msgspec.ValidationError: A field of an imported object has a type that OpenReview never uses.
    """
    # A dump with a wrong field is refused; whatever OpenReview itself sends is stored.
    note: Header = read_note(body) if origin.venue_id is None else decode_leniently(Header, body)
    note_id = note.id or _make_id(body)
    venue_id = note.domain or (venue_of(note.created_by) if note.created_by else UNPLACED)
    kind = RawKind.NOTE if note.referent is None else RawKind.REFERENCE
    forum_id, subject_id = note.forum or note.referent or "", note.referent or note_id
    row = RawObject(kind, note_id, detect_api(note, body), venue_id, forum_id, subject_id, 0, 0, "", body)
    return _complete(row, origin, note.modified_ms)


def build_edit(body: bytes, origin: RawOrigin) -> RawObject:
    """Build the row of an API v2 edit; its forum is a guess until its note is known (`RawStore.place`).

    Raises:
        msgspec.ValidationError: A field of an imported object has a type that OpenReview never uses.
    """
    edit = read_edit(body) if origin.venue_id is None else decode_leniently(Edit, body)
    venue_id = origin.venue_id or venue_of_edit(body) or UNPLACED
    subject_id = edit.note.id or ""
    forum_id = edit.note.forum or subject_id
    row = RawObject(RawKind.EDIT, edit.id or _make_id(body), 2, venue_id, forum_id, subject_id, 0, 0, "", body)
    return _complete(row, origin, edit.tmdate or edit.tcdate)


def build_setting(kind: RawKind, body: bytes, origin: RawOrigin) -> RawObject:
    """Build the row of a group or an invitation.

    Raises:
        msgspec.ValidationError: A field of an imported object has a type that OpenReview never uses.
    """
    decode = decode_strictly if origin.venue_id is None else decode_leniently
    header = decode(_Header, body)
    setting_id = header.id or _make_id(body)
    venue_id = setting_id if kind is RawKind.GROUP else venue_of(setting_id)
    api = 2 if header.domain or (is_object(body) and "edit" in read_members(body)) else 1
    return _complete(
        RawObject(kind, setting_id, api, venue_id, "", setting_id, 0, 0, "", body),
        origin,
        header.tmdate or header.mdate,
    )


def _make_id(body: bytes) -> str:
    """Return an id for an object received without one, so that `status` can name it."""
    return f"{NO_ID}{hashlib.sha256(body).hexdigest()[:16]}"


def _complete(row: RawObject, origin: RawOrigin, modified_ms: int | None) -> RawObject:
    """Return a row with its origin, the venue of that, and a time that SQLite can store; 0 if there is none."""
    time_ms = modified_ms if modified_ms is not None and 0 <= modified_ms <= LATEST_MS else 0
    venue_id = origin.venue_id or row.venue_id
    return row._replace(venue_id=venue_id, modified_ms=time_ms, seen_ms=origin.seen_ms, source=origin.source)


def detect_api(note: Header, body: bytes) -> int:
    """Return the API that a note came from, judging by its structure."""
    if note.invitations or note.domain is not None:
        return 2
    if note.invitation is not None:
        return 1
    return 2 if is_wrapped(decode_leniently(Note, body).content or {}) else 1


def split_replies(note: bytes | msgspec.Raw) -> tuple[bytes, list[bytes]]:
    """Split a submission into the submission without nested replies, and the replies; any of them may be invalid JSON.

    Other contents of `details` are kept; if there are none, the submission equals one requested without
    `details=replies`.

    >>> split_replies(b'{"id":"a","details":{"replies":[{"id":"b"}]}}')
    (b'{"id":"a"}', [b'{"id":"b"}'])
    """
    text = bytes(note)
    parts: list[bytes] = []
    replies: list[bytes] = []
    for part in (split_items(text) or ()) if is_object(text) else ():
        name, value = split_member(part)
        if name == "details" and is_object(value):
            others, nested = _take_replies(value)
            parts += [b'"details":' + others] if others else []
            replies += nested
        else:
            parts.append(part)
    return (b"{%s}" % b",".join(parts) if parts else text), replies


def _take_replies(details: bytes) -> tuple[bytes | None, list[bytes]]:
    """Return `details` without the replies, None if nothing else is in it; and the replies."""
    others: list[bytes] = []
    replies: list[list[bytes]] = []
    for part in split_items(details) or ():
        name, value = split_member(part)
        items = split_items(value) if name in REPLIES and is_list(value) else None
        if items is None:
            others.append(part)
        else:
            replies.append(items)
    is_all = bool(replies) and not others
    return None if is_all else b"{%s}" % b",".join(others), [reply for items in replies for reply in items]
