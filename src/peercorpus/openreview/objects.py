"""Types for OpenReview's notes, edits and references, shared by API v1 and v2."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from typing import Annotated, Any, TypeGuard, TypeVar

import msgspec

from peercorpus.openreview.response_body import UNREADABLE, read_anything, split_beginning, split_members
from peercorpus.workspace.raw_store import RawKind, RawObject

PAPER_GROUP = re.compile(r"/(?:Paper|Submission|paper)\d+(?:/|$)")
"""Matches the place where a venue id ends and the group of one paper begins."""

EVERYONE = "everyone"
VISITORS = (EVERYONE, "(guest)")
"""The groups that somebody without an account is in."""
CHAIRS_EDIT = "/-/Edit"
FILES = "/pdf/"
"""Path prefix of files on OpenReview itself; other values link elsewhere (2013 to 2017, mostly arXiv)."""
FILE_PATH = re.compile(r"/(?:pdf|attachment)/\S+")


def everyone_may_read(readers: object, nonreaders: object = None) -> bool:
    """Return whether a visitor without an account may read something.

    Whoever exports a note may leave out its readers, so readers that are absent, or not a list of names, prove nothing
    and forbid it; so do names of nonreaders that cannot be read.

    >>> everyone_may_read(["everyone"]), everyone_may_read(None), everyone_may_read(["everyone"], ["everyone"])
    (True, False, False)
    """
    if readers == [EVERYONE] and nonreaders in (None, []):  # Most objects, and the quick way.
        return True
    return (
        _are_names(readers)
        and EVERYONE in readers
        and (nonreaders is None or (_are_names(nonreaders) and not any(name in VISITORS for name in nonreaders)))
    )


def field_is_shown(answer: object) -> bool:
    """Return whether whoever may read a note may read this field of it: one without readers has those of the note."""
    if not isinstance(answer, dict) or ("readers" not in answer and "nonreaders" not in answer):
        return True
    return everyone_may_read(answer.get("readers", [EVERYONE]), answer.get("nonreaders"))


def _are_names(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and {*map(type, value)} <= {str}


class Header(msgspec.Struct, dict=True):
    """The fields needed to store a note; its content is not decoded.

    Attributes:
        forum: Id of the root note; a root's own id.
        invitation: The one invitation of API v1.
        invitations: API v2's list of all invitations that ever edited the note, the creating one first.
        tmdate: True modification time set by the server, milliseconds since the epoch.
    """

    id: str | None = None
    forum: str | None = None
    invitation: str | None = None
    invitations: list[str] | None = None
    domain: str | None = None
    referent: str | None = None
    mdate: int | None = None
    tmdate: int | None = None

    @cached_property
    def created_by(self) -> str:
        """The invitation that created the note; empty if it names none.

        A venue's chairs edit through `<venue>/-/Edit`, which creates nothing; it is returned only if there is no other.

        >>> Header(invitations=["V/-/Edit", "V/Submission1/-/Official_Review"]).created_by
        'V/Submission1/-/Official_Review'
        """
        if self.invitation or not self.invitations:
            return self.invitation or ""
        return next((name for name in self.invitations if not name.endswith(CHAIRS_EDIT)), self.invitations[0])

    @property
    def modified_ms(self) -> int | None:
        """Last modification, by the server's clock if known, milliseconds since the epoch."""
        return self.tmdate or self.mdate


def is_wrapped(content: Mapping[str, Any]) -> bool:
    """Return whether content has the form of API v2, in which every answer is an object with a `value`, or empty."""
    answers = [answer for answer in content.values() if answer is not None]
    return bool(answers) and all(isinstance(answer, dict) and ("value" in answer or not answer) for answer in answers)


class Note(Header):
    """A note, an API v1 reference, or the partial note inside an API v2 edit.

    Attributes:
        original: Id of the author's own note behind a blind one.
        tcdate: True creation time set by the server, milliseconds since the epoch; `cdate` can be back-dated.
        ddate: Time of deletion; None if it was not deleted.
        details: What the request asked for beside the note, as received.
    """

    replyto: str | None = None
    original: str | None = None
    number: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    signatures: list[str] | None = None
    readers: list[str] | None = None
    nonreaders: Any = None
    cdate: int | None = None
    tcdate: int | None = None
    ddate: int | None = None
    license: str | None = None
    content: dict[str, Any] | None = None
    details: msgspec.Raw = msgspec.Raw(b"{}")

    @property
    def is_public(self) -> bool:
        """Whether everyone may read the note; false if the record names no readers."""
        return everyone_may_read(self.readers, self.nonreaders)

    @property
    def is_of_v1(self) -> bool:
        """Whether API v1 returned the note; without an invitation, decided by the content, because API v2 wraps
        answers.

        >>> Note(content={"title": "A"}).is_of_v1, Note(content={"title": {"value": "A"}}).is_of_v1
        (True, False)
        """
        if self.invitation or self.invitations or self.domain:
            return bool(self.invitation)
        return not is_wrapped(self.content or {})

    @property
    def created_ms(self) -> int | None:
        """Creation, by the server's clock if known, milliseconds since the epoch."""
        return self.tcdate or self.cdate

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The content without API v2's wrapping, limited to what a guest may read; empty fields are left out.

        A field without readers of its own has those of the note.

        >>> Note(content={"title": {"value": "A"}, "rating": 6, "pdf": {}}).fields
        {'title': 'A', 'rating': 6}
        """
        is_of_v2 = self.invitation is None
        fields: dict[str, Any] = {}
        for name, answer in (self.content or {}).items():
            value = answer
            if isinstance(answer, dict):
                value = (answer.get("value") if is_of_v2 else answer) if field_is_shown(answer) else None
            if value is not None:
                fields[name] = value
        return fields


class Edit(msgspec.Struct):
    """An API v2 edit: a partial note, and when it was applied.

    Attributes:
        tmdate: Later than `tcdate` if the edit was posted again: its content may be newer than its creation.
        replacement: True if the note starts over with this edit, without what earlier edits brought.
    """

    id: str
    invitation: str | None = None
    readers: list[str] | None = None
    nonreaders: Any = None
    signatures: list[str] | None = None
    tcdate: int | None = None
    tmdate: int | None = None
    ddate: int | None = None
    replacement: Any = None
    note: Note = msgspec.field(default_factory=Note)

    @property
    def is_public(self) -> bool:
        """Whether everyone may read the edit; false if the record names no readers."""
        return everyone_may_read(self.readers, self.nonreaders)


StructT = TypeVar("StructT", bound=msgspec.Struct)

WHOLE_NUMBERS = frozenset({"number", "cdate", "tcdate", "mdate", "tmdate", "ddate", "duedate", "expdate"})
"""Members that OpenReview sends as whole numbers, and tools such as pandas write as floats or texts."""
REMOVED = {"delete": True}
"""What an edit of API v2 has in place of a member that it removes: a restored note has it as its `ddate`."""
_WHOLE = re.compile(r"\s*(-?\d{1,19})(?:\.0*)?\s*")


def _as_whole(value: object) -> object:
    """Return a whole number written as a float or a text, None for a removed member, and anything else as it is.

    >>> [_as_whole(value) for value in (1767225600000.0, "2", {"delete": True}, 1.5, "today")]
    [1767225600000, 2, None, 1.5, 'today']
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and (match := _WHOLE.fullmatch(value)):
        return int(match[1])
    return None if value == REMOVED else value


def _mend_numbers(members: object) -> object:
    if not isinstance(members, dict):
        return members
    mended = {name: _as_whole(value) if name in WHOLE_NUMBERS else value for name, value in members.items()}
    return mended if "note" not in mended else {**mended, "note": _mend_numbers(mended["note"])}


@cache
def _decoder(kind: type[StructT]) -> msgspec.json.Decoder[StructT]:
    return msgspec.json.Decoder(kind)


def decode_strictly(kind: type[StructT], body: bytes | str) -> StructT:
    """Decode an object; only its whole numbers may be written in another way.

    Raises:
        msgspec.ValidationError: A field has a type that OpenReview never uses.
    """
    try:
        decoded: StructT = _decoder(kind).decode(body)
    except msgspec.ValidationError:
        return msgspec.convert(_mend_numbers(read_anything(body)), kind)
    return decoded


def read_note(body: bytes | str) -> Note:
    """Decode a note or a reference, as `decode_strictly`."""
    return decode_strictly(Note, body)


def read_edit(body: bytes | str) -> Edit:
    """Decode an edit, as `decode_strictly`."""
    return decode_strictly(Edit, body)


ItemT = TypeVar("ItemT", Note, Edit)


def open_readers(item: ItemT, stored: RawObject) -> ItemT:
    """Let everyone read an object without readers if its dump names none for any object, and return it."""
    if item.readers is None and stored.is_open:
        item.readers = [EVERYONE]
    return item


def read_stored_note(stored: RawObject) -> Note:
    """Decode a stored note or reference, with the readers that it has in its dump."""
    return open_readers(read_note(stored.body), stored)


def read_stored_edit(stored: RawObject) -> Edit:
    """Decode a stored edit, with the readers that it has in its dump."""
    return open_readers(read_edit(stored.body), stored)


def decode_leniently(kind: type[StructT], body: bytes) -> StructT:
    """Decode the readable part of an object; an unreadable field counts as absent, a missing id as empty.

    Whole numbers are read as by `decode_strictly`, and an object within the object is decoded leniently too.

    For the harvest, which stores whatever arrives. Stages decode strictly and set unreadable objects aside.

    >>> note = decode_leniently(Note, b'{"id": "a", "number": "seven", "content": {"rating": NaN}}')
    >>> note.id, note.number, note.content
    ('a', None, None)
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except UNREADABLE:
        members = dict(split_members(body) or split_beginning(body))
    fields = msgspec.structs.fields(kind)
    readable: dict[str, Any] = {field.name: "" for field in fields if field.required}
    for field in fields:
        with suppress(KeyError, *UNREADABLE):
            readable[field.name] = _decode_field(field, members[field.name])
    return kind(**readable)


def _decode_field(field: msgspec.structs.FieldInfo, value: bytes) -> object:
    if field.name in WHOLE_NUMBERS:
        return msgspec.convert(_as_whole(read_anything(value)), field.type)
    if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
        return decode_leniently(field.type, value)
    return msgspec.json.decode(value, type=field.type)


def file_path(note: Note, name: str) -> str | None:
    """Return OpenReview's own path to the file in a field of a note; None if the field has none."""
    path = note.fields.get(name)
    return path if isinstance(path, str) and path.startswith("/") else None


def decode_note(kind: RawKind, body: bytes) -> Note:
    """Return the note, or partial note, in a reference or an edit."""
    return decode_leniently(Edit, body).note if kind is RawKind.EDIT else decode_leniently(Note, body)


def venue_of(invitation: str) -> str:
    """Return the venue that an invitation belongs to.

    >>> venue_of("ICLR.cc/2020/Conference/Paper2594/-/Official_Comment")
    'ICLR.cc/2020/Conference'
    >>> venue_of("ICLR.cc/2018/Conference/-/Paper951/Official_Review")
    'ICLR.cc/2018/Conference'
    """
    group = invitation.partition("/-/")[0]
    return PAPER_GROUP.split(group, maxsplit=1)[0]


class _Place(msgspec.Struct):
    domain: str | None = None
    invitation: str | None = None


def venue_of_edit(body: bytes) -> str | None:
    """Return the venue that an edit as received names, by its domain or its invitation; None if it names neither.

    >>> venue_of_edit(b'{"domain": "V/2025"}'), venue_of_edit(b'{"invitation": "V/2025/-/Edit"}'), venue_of_edit(b"{}")
    ('V/2025', 'V/2025', None)
    """
    place = decode_leniently(_Place, body)
    return place.domain or (venue_of(place.invitation) if place.invitation else None)


def stated_venues(note: Note) -> Iterator[str]:
    """Yield the venues that a note names: by its domain or invitation, and by groups of its paper.

    >>> list(stated_venues(Note(signatures=["ICLR.cc/2019/Conference/Paper7/AnonReviewer2", "~Ada_Example1"])))
    ['ICLR.cc/2019/Conference']
    """
    if note.domain or note.created_by:
        yield note.domain or venue_of(note.created_by)
    for group in (*(note.signatures or ()), *(note.readers or ())):
        if PAPER_GROUP.search(group):
            yield venue_of(group)


def invitation_name(invitation: str) -> str:
    """Return the name of an invitation: the part after `/-/`, without the paper.

    >>> invitation_name("ICLR.cc/2018/Conference/-/Paper951/Official_Review")
    'Official_Review'
    >>> invitation_name("V/2025/Conference/Submission1/Official_Review2/-/Rebuttal")
    'Rebuttal'
    """
    tail = invitation.rpartition("/-/")[2]
    return PAPER_GROUP.sub("", f"/{tail}").lstrip("/") if "/" in tail else tail


def is_path(answer: str) -> bool:
    """Return whether a field value is the path of a file on OpenReview.

    >>> is_path("/attachment/0a1b.zip"), is_path("/pdf and /attachment are paths")
    (True, False)
    """
    return answer.startswith("/") and FILE_PATH.fullmatch(answer) is not None


def now_ms() -> int:
    """Return the time by this machine's clock, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


@lru_cache(maxsize=1_024)
def to_time(epoch_ms: int | None) -> datetime | None:
    """Convert milliseconds since the epoch to a UTC time; None if there is no number or it is outside the calendar.

    Tools write 0 for a time that they do not know.

    >>> to_time(1), to_time(0), to_time(10**18)
    (datetime.datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=datetime.timezone.utc), None, None)
    """
    try:
        return None if not epoch_ms else datetime.fromtimestamp(epoch_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
