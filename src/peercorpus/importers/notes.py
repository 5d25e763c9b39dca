"""Recognise OpenReview's objects in JSON values and in tables by their structure; everything else has a reason.

An item of a list is an object that is taken, a wrapper around further items, or neither: then it is set aside. A list
of a recognised object, such as `readers`, contains items only if some of them are objects that are taken, or if
OpenReview gives the list that name.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from peercorpus.importers.json_items import MOST_BYTES, Item
from peercorpus.importers.reader import Row, is_stated
from peercorpus.openreview.response_body import (
    check_json,
    compact,
    is_list,
    is_object,
    read_items,
    read_members,
    split_items,
    split_members,
)
from peercorpus.workspace.raw_store import RawKind

OF_A_NOTE = ("forum", "invitation", "invitations", "replyto", "signatures", "readers")
OF_AN_INVITATION = ("reply", "edit", "invitees", "duedate", "expdate", "maxReplies", "process")
OF_A_GROUP = ("members", "signatories", "anonids")
OF_A_TAG = ("tag", "label", "head", "tail", "weight")
"""Members of tags and edges, which name a forum or an invitation too and have no content."""
OF_A_RECORD = frozenset({"content", "forum", "replyto", "note", "group", "invitation", "invitations"})
"""Members of a record, though it may be unreadable."""
WRAPPERS = frozenset(
    {
        *("submissions", "notes", "edits", "references", "revisions", "replies", "directReplies"),
        *("groups", "invitations"),
    }
)
"""Names that crawlers and OpenReview give their lists; an empty list does not count as a record."""
NAMING = frozenset({"groups", "invitations"})
"""Those of them that may also be a list of names."""
NOT_ENTERED = frozenset({"content", "note", "original", "originalInvitation"})
"""Members that stay in their object: field values, the partial note of an edit, the original of a reference."""

NOT_JSON = "an item that is not JSON"
_NO_CONTENT, _NO_ID = _OF_RECORDS = ("a record without content", "a record without an id")
"""Reasons for objects that are records, wherever they are."""
BEGINNING_BYTES = 64
"""Bytes kept of each member of an object too large to read at once, to determine the kind of the object."""
MOST_DEPTH = 20
"""Deepest nesting at which items are looked for in a value that is not JSON."""

CONTENT = "content."
LISTS = frozenset({"invitations", "signatures", "readers", "writers", "nonreaders", "authors", "authorids", "keywords"})
TIMES = frozenset({"cdate", "mdate", "tcdate", "tmdate", "ddate", "pdate", "odate", "number"})

Members = Mapping[str, msgspec.Raw]
SetAside = Callable[[str, str], None]
"""Receives the reason why an item is set aside, and words that show which one it is."""


class DumpScanner:
    """Walks through JSON values, and reports every object that it recognises and every item that is none."""

    def __init__(self, take: Callable[[RawKind, bytes], None], set_aside: SetAside) -> None:
        """Set the callbacks.

        `take` receives the kind and body of each object, without objects nested in it; `set_aside` the reason for each
        item that is none, and which item it is.
        """
        self._take, self._report = take, set_aside
        self._taken = self._items = self._values = 0

    def enter_items(self, items: Iterable[Item]) -> None:
        """Walk through the values of a file, or the members of its only object, one at a time."""
        before = self._items
        has_values = False
        beginnings: dict[str, msgspec.Raw] = {}

        def list_members() -> Iterator[tuple[str, bytes]]:
            nonlocal has_values
            for name, content, problem in items:
                if problem is not None:
                    has_values = True
                    self._set_aside(NOT_JSON, problem)
                elif name is None:
                    has_values = True
                    self.enter_value(content)
                else:
                    # The beginning shows what it is.
                    beginnings[name] = msgspec.Raw(content[:BEGINNING_BYTES])
                    yield name, content

        self._enter_members(list_members(), in_record=False)
        if object_kind(beginnings) is not None:
            self._set_aside(f"a record larger than {MOST_BYTES:,} bytes, without the records in it", "")
        elif beginnings and not has_values and self._items == before and WRAPPERS.isdisjoint(beginnings):
            self._set_aside(describe_record(beginnings), "")

    def enter_value(self, value: bytes) -> None:
        """Walk through one value of a file: a record, a list of records, or an object that contains them."""
        self._values += 1
        _, reason = self._enter(value, None, in_record=False)
        if reason is not None and not is_list(value):
            self._set_aside(reason, name_record(value) or f"item {self._values:,}")

    def _set_aside(self, reason: str, name: str) -> None:
        self._items += 1
        self._report(reason, name)

    def _enter(self, value: bytes | msgspec.Raw, name: str | None, *, in_record: bool) -> tuple[bool, str | None]:
        """Walk through a value; return whether all of it became separate objects, and why it must be set aside."""
        if is_list(value):
            return self._enter_list(value, name, in_record=in_record)
        if not is_object(value):
            return False, "not an OpenReview object (a text, a number or nothing)"
        members = read_members(value)
        kind = object_kind(members)
        if kind is not None:
            is_setting = kind in {RawKind.INVITATION, RawKind.GROUP}  # What it contains is a form, and no record.
            body = compact(bytes(value)) if is_setting else self._without_nested(value, members)
            self._items += 1
            self._taken += 1
            self._take(kind, body)
            return True, None
        before = self._items
        self._enter_members(members.items(), in_record=in_record)
        is_item = is_record(members) or (self._items == before and not is_wrapper(members))
        return False, describe_record(members) if is_item else None

    def _enter_list(self, value: bytes | msgspec.Raw, name: str | None, *, in_record: bool) -> tuple[bool, str | None]:
        items = read_items(value)
        taken_before = self._taken
        are_taken: list[bool] = []
        left: list[tuple[str, str]] = []
        for place, item in enumerate(items, 1):
            is_taken, reason = self._enter(item, None, in_record=in_record)
            are_taken.append(is_taken)
            if reason is not None:
                left.append((reason, name_record(item) or f"item {place:,}"))
        has_objects = any(map(is_object, items))
        is_expected = name in WRAPPERS if has_objects or name is None else name in WRAPPERS - NAMING and not in_record
        is_of_records = is_expected or self._taken > taken_before or (not in_record and (has_objects or name is None))
        for reason, record_name in left:
            if is_of_records or reason in _OF_RECORDS:
                self._set_aside(reason, record_name)
        is_entered = name is not None or (is_of_records and bool(items))
        return bool(items) and all(are_taken), None if is_entered else "not an OpenReview object (a list of none)"

    def _enter_members(self, members: Iterable[tuple[str, bytes | msgspec.Raw]], *, in_record: bool) -> None:
        """Walk through the members of a wrapper: lists, further wrappers, or records by their names."""
        is_by_name = False
        left: list[tuple[str, str]] = []
        for name, nested in members:
            if name in NOT_ENTERED or not (is_list(nested) or is_object(nested)):
                continue
            is_taken, reason = self._enter(nested, name, in_record=in_record)
            is_by_name = is_by_name or (is_taken and is_object(nested))
            if reason is not None and is_object(nested):
                left.append((reason, name))
        for reason, name in left:
            if (is_by_name and not in_record) or reason in _OF_RECORDS:
                self._set_aside(reason, f"'{name}'")

    def _without_nested(self, value: bytes | msgspec.Raw, members: dict[str, msgspec.Raw]) -> bytes:
        kept = self._keep_members(members)
        if is_object(kept.get("details")):
            details = read_members(kept["details"])
            fewer = self._keep_members(details)
            if len(fewer) < len(details):
                kept["details"] = msgspec.Raw(msgspec.json.encode(fewer))
                if not fewer:
                    del kept["details"]
        return compact(value if kept == members else msgspec.json.encode(kept))

    def _keep_members(self, members: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
        """Return the members without the lists that became separate objects."""
        kept = {}
        for name, nested in members.items():
            is_entered = name not in NOT_ENTERED and name != "details" and (is_list(nested) or is_object(nested))
            is_taken = is_entered and self._enter(nested, name, in_record=True)[0]
            if not (is_taken and is_list(nested)):
                kept[name] = nested
        return kept


def object_kind(members: Members) -> RawKind | None:
    """Return the kind of an object, judging by its members; None if it is not an OpenReview object.

    A deleted note, or one whose content nobody may read, has no content.

    >>> object_kind({"id": msgspec.Raw(b'"a"'), "forum": msgspec.Raw(b'"a"'), "content": msgspec.Raw(b"null")})
    <RawKind.NOTE: 'note'>
    """
    if not _is_text(members.get("id")):
        return None
    real = _real(members)
    if is_object(members.get("note")) and "forum" not in real:
        return RawKind.EDIT
    if b"/-/" in bytes(members["id"]) and any(name in members for name in OF_AN_INVITATION):
        return RawKind.INVITATION
    if "forum" not in members and any(name in members for name in OF_A_GROUP):
        return RawKind.GROUP
    has_content = is_object(members.get("content"))
    if "referent" in real and (has_content or "forum" in real):
        return RawKind.REFERENCE
    if has_content:
        return RawKind.NOTE if any(name in members for name in OF_A_NOTE) else None
    is_note = not real.isdisjoint({"forum", "replyto"}) and real.isdisjoint(OF_A_TAG)
    return RawKind.NOTE if is_note else None


def is_wrapper(members: Members) -> bool:
    """Return whether an object has a list of objects, or nothing, under a name that lists of records have."""
    lists = [members[name] for name in WRAPPERS & members.keys()]
    return any(
        bytes(value) == b"null" or (is_list(value) and all(map(is_object, read_items(value)))) for value in lists
    )


def is_record(members: Members) -> bool:
    """Return whether an object that was not recognised is a record of its own, not only a wrapper around others."""
    real = _real(members)
    return "content" in real or not (OF_A_RECORD.isdisjoint(real) or is_wrapper(members))


def describe_record(members: Members) -> str:
    """Return the reason why a record is set aside."""
    if is_object(members.get("group")) or is_object(members.get("invitation")):
        return "an edit of a group or an invitation"
    if not OF_A_RECORD.isdisjoint(_real(members)):
        return _NO_CONTENT if _is_text(members.get("id")) else _NO_ID
    return f"not an OpenReview object (a record with {', '.join(list(members)[:4]) or 'nothing'})"


def name_record(value: bytes | msgspec.Raw) -> str:
    """Return the quoted id of a record; empty if it has none."""
    record_id = read_members(value).get("id") if is_object(value) else None
    return f"'{msgspec.json.decode(record_id)}'" if record_id is not None and _is_text(record_id) else ""


def sift(text: bytes, report: Callable[[str], None], depth: int = 0) -> bytes | None:
    """Return a JSON text without the items of its lists that are not JSON; None if nothing is left of it.

    The brackets of the text must match; `report` receives the reason for each item left out.
    """
    try:
        return check_json(text)
    except ValueError as error:
        problem = str(error)
    if depth < MOST_DEPTH and is_list(text):
        kept = [part for item in split_items(text) or () if (part := sift(item, report, depth + 1)) is not None]
        return b"[%s]" % b",".join(kept)
    members = dict(split_members(text)) if depth < MOST_DEPTH and is_object(text) else {}
    is_whole = not OF_A_RECORD.isdisjoint(members)
    outer = {*members} if not is_whole else {*_keep_lists(members), *({"details"} & members.keys())}
    sound = {name: sift(members[name], report, depth + 1) for name in outer}
    inner = {name: _check(value) for name, value in members.items() if name not in outer}
    if not members or None in inner.values():
        report(problem)
        inner, sound = {}, _keep_lists({**sound, **dict(split_members(sound.get("details") or b""))})
    whole = {name: value for name, value in {**inner, **sound}.items() if value is not None}
    return msgspec.json.encode({name: msgspec.Raw(value) for name, value in whole.items()}) if whole else None


def _keep_lists(members: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """Return the lists of records among the members of a record that cannot be read itself."""
    return {
        name: value for name, value in members.items() if name in WRAPPERS and is_list(value) and b"{" in (value or b"")
    }


def _check(text: bytes) -> bytes | None:
    try:
        return check_json(text)
    except ValueError:
        return None


def _real(members: Members) -> set[str]:
    return {name for name, value in members.items() if bytes(value) != b"null"}


def _is_text(value: msgspec.Raw | None) -> bool:
    return value is not None and len(bytes(value)) > 2 and bytes(value)[:1] == b'"'


def has_flat_notes(columns: Iterable[str]) -> bool:
    """Return whether columns are members of notes, as `pandas.json_normalize` writes them: `content.title.value`."""
    columns = list(columns)
    return any(name.startswith(CONTENT) for name in columns) and bool({"id", "forum"} & {*columns})


def nest(row: Row) -> dict[str, Any]:
    """Return the note of a row of such a table; empty cells are members that the note lacks.

    >>> nest({"id": "a", "content.title.value": "Kites", "cdate": "1700000000000.0", "content.rating": None})
    {'id': 'a', 'content': {'title': {'value': 'Kites'}}, 'cdate': 1700000000000}
    """
    note: dict[str, Any] = {}
    for name, value in row.items():
        if not is_stated(value):
            continue
        *outer, last = name.split(".")
        at = note
        for part in outer:
            inner = at.setdefault(part, {})
            if not isinstance(inner, dict):
                inner = at[part] = {"value": inner}
            at = inner
        at[last] = _read_cell(next((p for p in (last, *reversed(outer)) if p != "value"), last), value)
    return note


def _read_cell(name: str, value: object) -> object:
    """Return a cell as in the API: lists and numbers stored as text are decoded, and times are whole numbers."""
    if name in TIMES:
        try:
            return int(float(str(value)))
        except ValueError:
            return value
    if name in LISTS and isinstance(value, str) and value.strip().startswith("["):
        for written in (value, value.replace("'", '"')):
            try:
                return json.loads(written)
            except ValueError:
                continue
    return value
