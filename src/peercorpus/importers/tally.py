"""Store and count the objects of one file; what cannot be read, or contradicts a stored version, is set aside.

A note never changes its forum or venue. Nor does it change its text, or open what its readers closed, without a later
time. What contradicts a stored version is set aside, so that no file can move, replace or open what another one, or a
harvest, brought; the order of files then decides nothing silently. What a file closes is stored, and closed from then
on.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import Any, cast

import msgspec

from peercorpus.importers.datasets import NAMES, DatasetCounts, build_published
from peercorpus.importers.files import DumpFile
from peercorpus.importers.notes import name_record
from peercorpus.importers.reader import Record
from peercorpus.openreview.objects import Header, decode_leniently, everyone_may_read, field_is_shown, venue_of
from peercorpus.openreview.raw_rows import RawOrigin, build_edit, build_note, build_setting
from peercorpus.openreview.response_body import check_ids, has_control, read_anything
from peercorpus.records.datasets import WITH_SPLITS, Dataset, find_stated_split, parse_dataset
from peercorpus.workspace.raw_store import UNPLACED, RawKind, RawObject, RawStore

VERSIONED = (RawKind.NOTE, RawKind.EDIT, RawKind.REFERENCE)
"""Kinds of objects of which later versions exist."""
WHOLE = ""
"""Stands for all of a note or an edit among the names of its fields."""
NAMES_READERS = re.compile(rb'"readers"\s*+:\s*+(?!null)\S')
"""Matches readers in JSON; inside a text the quotation marks would be escaped."""
BESIDE = ("not an OpenReview object", "an edit of a group", "a file beside")
"""Beginnings of the reasons for items that are not records at all."""
COMMIT = re.compile(r"^(hf:[^@]*)@[^/]*")
TABLES = frozenset({Dataset.PAPER_LIST, Dataset.REVIEW_TABLE, Dataset.TEXT_FOLDER})
"""Datasets that people may have several tables of, such as ratings before and after the discussion."""
BATCH = 500
"""Number of objects stored at once."""
BATCH_BYTES = 1 << 24
"""Size at which objects are stored even if there are fewer than `BATCH`: a published record contains a whole paper."""


def names_invitation(body: bytes) -> bool:
    """Return whether a note, as compact JSON, seems to name an invitation; exact for notes sent by OpenReview."""
    return b'"invitation' in body and b'"invitations":null' not in body and b'"invitations":[]' not in body


def is_unreadable(reason: str) -> bool:
    """Return whether a reason is that of a record that could not be read, not of something beside the records."""
    return not reason.startswith(BESIDE)


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """Number of objects of a kind: added, and already known in exactly this form."""

    new: int = 0
    known: int = 0

    @property
    def total(self) -> int:
        """Number of added and known objects."""
        return self.new + self.known


@dataclass(slots=True)
class FileImport:
    """Result of importing one file.

    Attributes:
        new: Number of objects added, by kind.
        seen: Number of objects added or already known, by kind.
        first: The first item that was set aside for each reason.
        problem: Why the file, or the rest of it, was skipped; None if it was read to the end.
        is_damaged: Whether the file, or the rest of it, could not be read.
        unnamed: Forums of notes that name no invitation or no venue.
        doubtful: Those forums, and forums whose submission is hidden, deleted or not in the workspace.
        venue_id: The venue for notes whose forum names none, from the user or the file's name; None if neither names
            one.
        is_venue_of_name: Whether it comes from the file's name.
        datasets: Counts of the contents of its published records, by the name of their dataset.
    """

    name: str
    venue_id: str | None = None
    is_venue_of_name: bool = False
    new: Counter[RawKind] = field(default_factory=Counter)
    seen: Counter[RawKind] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    problem: str | None = None
    is_damaged: bool = False
    unnamed: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    datasets: dict[str, DatasetCounts] = field(default_factory=dict)

    @property
    def taken(self) -> Mapping[RawKind, ImportCounts]:
        """Counts of imported objects by kind."""
        return {kind: ImportCounts(self.new[kind], seen - self.new[kind]) for kind, seen in self.seen.items() if seen}

    @property
    def is_whole(self) -> bool:
        """Whether the file was read to its end, with every record in it."""
        return not self.is_damaged and not any(map(is_unreadable, self.left_out))

    def leave_out(self, reason: str, name: str, number: int = 1) -> None:
        """Count items that are set aside, the first of which has this name."""
        self.left_out[reason] += number
        self.first.setdefault(reason, name)


@dataclass(slots=True)
class Tally:
    """State of one file while it is imported.

    Attributes:
        digests: Digests of the published records of all files of this import, by id.
        hidden: Forums whose submission is hidden or deleted.
        forums: Forums of all notes, with the venues that the notes name.
        names_readers: Whether any note, edit or reference names readers, or a field of one does.
        rows: The last rows of `raw.db` before and after the file.
    """

    raw: RawStore
    dump: DumpFile
    origin: RawOrigin
    digests: dict[str, bytes]
    result: FileImport
    hidden: set[str] = field(default_factory=set)
    forums: dict[str, set[str]] = field(default_factory=dict)
    waiting: list[RawObject] = field(default_factory=list)
    waiting_bytes: int = 0
    names_readers: bool = False
    rows: tuple[int, int] = (0, 0)

    def take(self, kind: RawKind, body: bytes) -> None:
        """Store one recognised object, or set it aside if a field, or an id, is as OpenReview's never are."""
        if kind in {RawKind.NOTE, RawKind.EDIT, RawKind.REFERENCE} and NAMES_READERS.search(body):
            self.names_readers = True
        try:
            row = BUILDERS[kind](body, self.origin) if kind in BUILDERS else build_setting(kind, body, self.origin)
            check_ids(body)
        except (ValueError, OverflowError) as error:
            self.result.leave_out(f"a {kind} with an unreadable field: {error}", name_record(body))
            return
        if row.kind is RawKind.NOTE:
            self._watch(row)
        self._keep(row)

    def _watch(self, row: RawObject) -> None:
        """Record the forum of a note, and whether it may be set aside."""
        self.forums.setdefault(row.forum_id, set()).add(row.venue_id)
        if row.venue_id == UNPLACED or not names_invitation(row.body):
            self.result.unnamed.add(row.forum_id)
        is_deleted = b'"ddate":' in row.body and b'"ddate":null' not in row.body
        if row.object_id == row.forum_id and (is_deleted or b'"everyone"' not in row.body):
            self.hidden.add(row.forum_id)

    def take_published(self, record: Record) -> None:
        """Store one published record; one with a known id but different content is stored in addition to the first.

        One that names no paper, or does not have the fields of its dataset, is set aside.
        """
        if record.problem is not None:
            self.result.leave_out(record.problem, record.place)
            return
        try:
            row = build_published(
                record.dataset, record.body, replace(self.origin, source=f"{self.dump.name}, {record.place}")
            )
        except (msgspec.ValidationError, OverflowError) as error:
            self.result.leave_out(f"a record with an unreadable field: {error}", record.place)
            return
        if any(map(has_control, (row.object_id, row.venue_id))):
            self.result.leave_out(
                "a record whose paper, venue or reviewer has a control character in its id", record.place
            )
            return
        split = find_stated_split(record.dataset, row.source)
        digest = hashlib.sha256(repr(split).encode() + record.body).digest()[:16]
        record_id = row.object_id
        number = 1
        while self._is_of_another_file(record_id, row) or self.digests.setdefault(record_id, digest) != digest:
            number += 1
            record_id = f"{row.object_id}#{number}"
        self.result.datasets.setdefault(NAMES[record.dataset], DatasetCounts()).count(record.dataset, row)
        self._keep(row._replace(object_id=record_id))

    def _is_of_another_file(self, record_id: str, row: RawObject) -> bool:
        """Return whether an id belongs to another file's record: of another split, or another table.

        A later version of the same file is an update, even if it comes from a later commit on the Hub.
        """
        dataset = parse_dataset(row.object_id)
        held = self.raw.find(RawKind.PUBLISHED, record_id) if dataset in TABLES | WITH_SPLITS else None
        if held is None:
            return False
        file, held_file = (COMMIT.sub("", source.rpartition(", ")[0]) for source in (row.source, held.source))
        split, other = (find_stated_split(dataset, source) for source in (row.source, held.source))
        is_of_split = split is not None and split != other
        return is_of_split or (held.body != row.body and file != held_file)

    def _keep(self, row: RawObject) -> None:
        self.waiting.append(row)
        self.waiting_bytes += len(row.body)
        self.result.seen[row.kind] += 1
        if len(self.waiting) >= BATCH or self.waiting_bytes >= BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Store the objects collected so far, except those that contradict or repeat what is stored."""
        for kind, group in groupby(sorted(self.waiting, key=attrgetter("kind")), key=attrgetter("kind")):
            rows = list(group)
            self.result.new[kind] += self.raw.add(self._drop_contradictions(kind, rows) if kind in VERSIONED else rows)
        self.waiting.clear()
        self.waiting_bytes = 0

    def _drop_contradictions(self, kind: RawKind, rows: list[RawObject]) -> Iterator[RawObject]:
        """Yield the rows that add something to what is stored; one that contradicts it is set aside."""
        held = self.raw.versions_of(kind, {row.object_id for row in rows})
        for row in rows:
            versions = held.setdefault(row.object_id, [])
            if any(version.body == row.body for version in versions):
                continue
            contradiction = find_contradiction(row, versions)
            if contradiction is not None:
                self.result.seen[kind] -= 1
                self.result.leave_out(f"a {kind} with {contradiction}", f"'{row.object_id}'")
            elif not adds_nothing(row, versions):
                versions.append(row)
                yield row

    def find_doubtful(self) -> None:
        """Find the forums whose notes may be set aside, once all files are stored."""
        lacking = self.forums.keys() - self.raw.roots_among(self.forums)
        self.result.doubtful = self.result.unnamed | self.hidden | lacking
        self.result.unnamed.discard("")

    def find_disagreeing(self) -> set[str]:
        """Return the forums in which a note names another venue than that of the submission."""
        held = self.raw.roots_among(self.forums)
        return {forum_id for forum_id, venue_id in held.items() if self.forums[forum_id] != {venue_id}}


BUILDERS = {RawKind.EDIT: build_edit, RawKind.NOTE: build_note, RawKind.REFERENCE: build_note}
"""Functions that build rows; another object is a setting."""


class Contradiction(StrEnum):
    """How an object contradicts a stored version of it."""

    FORUM = "another forum or venue than the stored version, which a note never changes; the stored one stays"
    TEXT = "another text than the stored version of the same time; the stored one stays"
    READERS = "more readers than the stored version of the same time; the stored one stays"


def find_contradiction(row: RawObject, stored: Iterable[RawObject]) -> Contradiction | None:
    """Return how an object contradicts one of the stored versions of it; None if it does not."""
    members = _read_object(row)
    for version in stored:
        held = _read_object(version)
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
    members = {name: value for name, value in _read_object(row).items() if value is not None}
    closed = _list_closed(members, is_closed_unless_named=False)
    for version in stored:
        held = _read_object(version)
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
    return any(WHOLE in _list_closed(_read_object(version), is_closed_unless_named=False) for version in stored)


def _list_closed(members: Mapping[str, Any], *, is_closed_unless_named: bool) -> set[str]:
    """Return the fields of a note, or an edit's note, that not everyone may read, and `WHOLE` if that is all of it."""
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


def _read_object(raw_object: RawObject) -> dict[str, Any]:
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
