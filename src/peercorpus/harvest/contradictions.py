"""Find imported objects that contradict what is stored: a note never changes its forum or venue.

Nor does it change its text, or open what its readers closed, without a later time. What contradicts a stored version is
set aside, so that no file can move, replace or open what another one, or a harvest, brought; the order of files then
decides nothing silently. What a file closes is stored, and closed from then on.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, cast

from peercorpus.openreview.objects import Header, decode_leniently, everyone_may_read, field_is_shown, venue_of
from peercorpus.openreview.response_body import read_anything
from peercorpus.workspace.raw_store import RawKind, RawObject

VERSIONED = (RawKind.NOTE, RawKind.EDIT, RawKind.REFERENCE)
"""Kinds of objects of which later versions exist."""
WHOLE = ""
"""Stands for all of a note or an edit among the names of its fields."""


class Contradiction(StrEnum):
    """How an object contradicts a stored version of it."""

    FORUM = "another forum or venue than the stored version, which a note never changes; the stored one stays"
    TEXT = "another text than the stored version of the same time; the stored one stays"
    READERS = "more readers than the stored version of the same time; the stored one stays"


def find_contradiction(row: RawObject, stored: Iterable[RawObject]) -> Contradiction | None:
    """Return how an object contradicts one of the stored versions of it; None if it does not."""
    members = _read(row)
    for version in stored:
        held = _read(version)
        if _has_moved(row, version) or _names_other_venue(row, version):
            return Contradiction.FORUM
        text, held_text = _read_text(members), _read_text(held)
        if row.modified_ms != version.modified_ms:
            continue
        if held_text and text != held_text:
            return Contradiction.TEXT
        if _list_closed(held, is_closed_unless_named=False) - _list_closed(members, is_closed_unless_named=True):
            return Contradiction.READERS
    return None


def adds_nothing(row: RawObject, stored: Iterable[RawObject]) -> bool:
    """Return whether a stored version of the same time has every member of an object with the same value.

    One that was harvested has all that matters if it has the same text and closes as much.
    """
    members = {name: value for name, value in _read(row).items() if value is not None}
    closed = _list_closed(members, is_closed_unless_named=False)
    for version in stored:
        held = _read(version)
        if row.modified_ms != version.modified_ms:
            continue
        if all(held.get(name) == value for name, value in members.items()):
            return True
        is_as_closed = closed <= _list_closed(held, is_closed_unless_named=False)
        if "://" in version.source and is_as_closed and _read_text(members) == _read_text(held):
            return True
    return False


def is_known_closed(stored: Iterable[RawObject]) -> bool:
    """Return whether a version of an object names readers, and not everyone is among them."""
    return any(WHOLE in _list_closed(_read(version), is_closed_unless_named=False) for version in stored)


def _list_closed(members: Mapping[str, Any], *, is_closed_unless_named: bool) -> set[str]:
    """Return the fields of a note, or of an edit's note, that not everyone may read, and `WHOLE` if that is all of it.

    Args:
        members: The members of the note or edit.
        is_closed_unless_named: Whether it counts as closed if it names no readers.
    """
    readers, nonreaders = members.get("readers"), members.get("nonreaders")
    is_closed = is_closed_unless_named
    if readers is not None or nonreaders is not None:
        is_closed = not everyone_may_read(readers, nonreaders)
    fields = {name for name, answer in _read_content(members).items() if not field_is_shown(answer)}
    return fields | {WHOLE} if is_closed else fields


def _has_moved(row: RawObject, version: RawObject) -> bool:
    """Return whether two versions are of two notes, or of notes in two forums."""
    if row.subject_id and version.subject_id and row.subject_id != version.subject_id:
        return True
    # The forum of an edit is a guess until its note is known.
    return row.kind is RawKind.NOTE and bool(row.forum_id and version.forum_id) and row.forum_id != version.forum_id


def _read(raw_object: RawObject) -> dict[str, Any]:
    return cast(dict[str, Any], read_anything(raw_object.body))


def _names_other_venue(row: RawObject, version: RawObject) -> bool:
    """Return whether two versions name two venues in the same way: by their domain, or else by their invitation."""
    header, held = (decode_leniently(Header, kept.body) for kept in (row, version))
    if header.domain and held.domain:
        return header.domain != held.domain
    return bool(header.created_by and held.created_by) and venue_of(header.created_by) != venue_of(held.created_by)


def _read_text(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a note, or of an edit's note, without the wrapping of API v2 and without empty fields."""
    fields = _read_content(members).items()
    values = {name: value.get("value") if isinstance(value, dict) else value for name, value in fields}
    return {name: value for name, value in values.items() if value is not None}


def _read_content(members: Mapping[str, Any]) -> dict[str, Any]:
    note = members.get("note")
    content = (note if isinstance(note, dict) else members).get("content")
    return content if isinstance(content, dict) else {}
