"""Import recorded dumps: OpenReview objects are recognised by their structure; either all files are stored or none."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import msgspec

from peercorpus.errors import DumpError
from peercorpus.harvest.forum_venues import settle_venues
from peercorpus.harvest.import_datasets import NAMES as NAMES_OF_DATASETS
from peercorpus.harvest.import_datasets import (
    DatasetCounts,
    PublishedRecord,
    build_published,
    find_column_fault,
    read_published_records,
)
from peercorpus.harvest.import_files import DumpFile, list_files, read_values
from peercorpus.harvest.raw_rows import RawOrigin, build_edit, build_note, build_setting
from peercorpus.openreview.objects import now_ms
from peercorpus.openreview.response_body import compact, is_list, is_object, read_items, read_members
from peercorpus.records.layouts.flat_notes import nest
from peercorpus.records.layouts.json_items import MOST_BYTES, Item
from peercorpus.records.layouts.recognise import NAMES
from peercorpus.records.layouts.tables import (
    DELIMITED,
    UNREADABLE,
    find_damage,
    is_table,
    read_columns,
    read_rows,
    suffix_of,
)
from peercorpus.records.published_datasets import WITH_SPLITS, Dataset, find_stated_split, parse_dataset
from peercorpus.venues.dataset_names import is_stand_in, name_of_stand_in, venue_named
from peercorpus.venues.file_names import venue_of_file
from peercorpus.workspace.raw_store import UNPLACED, RawKind, RawObject, RawStore
from peercorpus.workspace.workspace import Workspace

OF_A_NOTE = ("forum", "invitation", "invitations", "replyto", "signatures", "readers")
OF_AN_INVITATION = ("reply", "edit", "invitees", "duedate", "expdate", "maxReplies", "process")
OF_A_GROUP = ("members", "signatories", "anonids")
WRAPPERS = frozenset({"submissions", "notes", "edits", "references", "revisions", "replies", "groups", "invitations"})
"""Names that crawlers and OpenReview give their lists; an empty list does not count as a skipped record."""
NOT_ENTERED = frozenset({"content", "note", "original", "originalInvitation"})
"""Members that stay in their object: field values, the partial note of an edit, the original of a reference."""

BEGINNING_BYTES = 64
"""Bytes kept of each member of an object too large to read at once, to determine the kind of the object."""

Members = Mapping[str, msgspec.Raw]


class DumpScanner:
    """Walks through one JSON value and reports every object it recognises and every record it does not."""

    def __init__(self, take: Callable[[RawKind, bytes], None], leave_out: Callable[[str], None]) -> None:
        """Set the callbacks.

        Args:
            take: Receives the kind and body of each object, without objects nested in it.
            leave_out: Receives the reason for each record that is not an OpenReview object.
        """
        self._take, self._leave_out = take, leave_out
        self._taken = 0

    def enter_value(self, value: bytes) -> None:
        """Walk through one value of a file: a record, a list of records, or an object that contains them."""
        if is_object(value):
            self._enter_item(msgspec.Raw(value), in_object=False)
        else:
            self._enter(value, in_object=False)

    def enter_items(self, items: Iterable[Item]) -> None:
        """Walk through the values of a file, or the members of its only object, one at a time."""
        before = self._taken
        is_list = False
        members: dict[str, msgspec.Raw] = {}
        for name, content in items:
            if name is None:
                is_list = True
                self.enter_value(content)
                continue
            # The beginning shows what it is.
            members[name] = msgspec.Raw(content[:BEGINNING_BYTES])
            if name not in NOT_ENTERED:
                self._enter(content, in_object=False)
        if object_kind(members) is not None:
            self._leave_out(f"a record larger than {MOST_BYTES:,} bytes, without the records in it")
        elif members and not is_list and self._taken == before and WRAPPERS.isdisjoint(members):
            self._leave_out(describe_record(members))

    def _enter(self, value: bytes | msgspec.Raw, *, in_object: bool) -> bool:
        """Walk through a value; return whether all of it became separate objects."""
        if is_list(value):
            are_taken = [self._enter_item(item, in_object=in_object) for item in read_items(value)]
            return bool(are_taken) and all(are_taken)
        if not is_object(value):
            return False
        members = read_members(value)
        kind = object_kind(members)
        if kind is None:
            for name, nested in members.items():
                if name not in NOT_ENTERED:
                    self._enter(nested, in_object=in_object)
            return False
        self._take(kind, self._without_nested(value, members))
        self._taken += 1
        return True

    def _enter_item(self, item: msgspec.Raw, *, in_object: bool) -> bool:
        before = self._taken
        is_taken = self._enter(item, in_object=in_object)
        if self._taken == before and not in_object and is_object(item):
            members = read_members(item)
            if WRAPPERS.isdisjoint(members):
                self._leave_out(describe_record(members))
        return is_taken

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
        return {
            name: nested
            for name, nested in members.items()
            if name in NOT_ENTERED or name == "details" or not (self._enter(nested, in_object=True) and is_list(nested))
        }


def object_kind(members: Members) -> RawKind | None:
    """Return the kind of an object, judging by its members; None if it is not an OpenReview object.

    >>> object_kind({"id": msgspec.Raw(b'"a"'), "forum": msgspec.Raw(b'"a"'), "content": msgspec.Raw(b"{}")})
    <RawKind.NOTE: 'note'>
    """
    if not _is_text(members.get("id")):
        return None
    if is_object(members.get("note")) and not _is_there(members, ("forum", "content")):
        return RawKind.EDIT
    if b"/-/" in bytes(members["id"]) and any(name in members for name in OF_AN_INVITATION):
        return RawKind.INVITATION
    if "forum" not in members and any(name in members for name in OF_A_GROUP):
        return RawKind.GROUP
    if not is_object(members.get("content")):
        return None
    if _is_there(members, ("referent",)):
        return RawKind.REFERENCE
    return RawKind.NOTE if any(name in members for name in OF_A_NOTE) else None


def describe_record(members: Members) -> str:
    """Return the reason why a record is left out."""
    if "content" in members and not _is_text(members.get("id")):
        return "a record without an id"
    if is_object(members.get("group")) or is_object(members.get("invitation")):
        return "an edit of a group or an invitation"
    return f"not an OpenReview object (a record with {', '.join(list(members)[:4]) or 'nothing'})"


def _is_text(value: msgspec.Raw | None) -> bool:
    return value is not None and len(bytes(value)) > 2 and bytes(value)[:1] == b'"'


def _is_there(members: Members, names: tuple[str, ...]) -> bool:
    return any(name in members and bytes(members[name]) != b"null" for name in names)


def names_invitation(body: bytes) -> bool:
    """Return whether a note, as compact JSON, seems to name an invitation; exact for notes sent by OpenReview."""
    return b'"invitation' in body and b'"invitations":null' not in body and b'"invitations":[]' not in body


COMMIT = re.compile(r"^(hf:[^@]*)@[^/]*")
TABLES = frozenset({Dataset.PAPER_LIST, Dataset.REVIEW_TABLE, Dataset.TEXT_FOLDER})
"""Datasets that people may have several tables of, such as ratings before and after the discussion."""
BATCH = 500
"""Number of objects stored at once."""
BATCH_BYTES = 1 << 24
"""Size at which objects are stored even if there are fewer than `BATCH`: a published record contains a whole paper."""


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """Number of objects of a kind: added, and already known in exactly this form."""

    new: int = 0
    known: int = 0

    @property
    def total(self) -> int:
        """Number of added and known objects."""
        return self.new + self.known


@dataclass(frozen=True, slots=True)
class FileImport:
    """Result of importing one file.

    Attributes:
        taken: Counts of imported objects by kind.
        left_out: Number of records left out, by reason.
        problem: Why the file, or the rest of it, was skipped; None if it was read to the end.
        unnamed: Forums of notes that name no invitation or no venue.
        doubtful: Those forums, and forums whose submission is hidden, deleted or not in the workspace.
        venue_id: The venue for notes whose forum names none, from the user or the file's name; None if neither names
            one.
        is_venue_of_name: Whether it comes from the file's name.
        datasets: Counts of the contents of its published records, by the name of their dataset.
    """

    name: str
    taken: Mapping[RawKind, ImportCounts]
    left_out: Mapping[str, int]
    problem: str | None
    unnamed: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    venue_id: str | None = None
    is_venue_of_name: bool = False
    datasets: Mapping[str, DatasetCounts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """Result of an import, file by file, in the order read."""

    files: tuple[FileImport, ...]

    def taken(self, kind: RawKind) -> ImportCounts:
        """Return how many objects of a kind all files contained."""
        counts = [file.taken[kind] for file in self.files if kind in file.taken]
        return ImportCounts(sum(count.new for count in counts), sum(count.known for count in counts))

    @property
    def datasets(self) -> Mapping[str, DatasetCounts]:
        """Counts of the contents of all files' published records, by the name of their dataset."""
        total: dict[str, DatasetCounts] = {}
        for file in self.files:
            for name, counts in file.datasets.items():
                total.setdefault(name, DatasetCounts()).add(counts)
        return total

    @property
    def left_out(self) -> Mapping[str, int]:
        """Number of records left out of all files, by reason."""
        total: Counter[str] = Counter()
        for file in self.files:
            total.update(file.left_out)
        return total


@dataclass(slots=True)
class _Tally:
    """State of one file while it is imported.

    Attributes:
        digests: Digests of the published records of all files of this import, by id.
        venue_id: The venue named for notes whose forum names none, or None.
        is_venue_of_name: Whether it comes from the file's name.
        unnamed: Forums of notes that name no invitation or no venue.
        hidden: Forums whose submission is hidden or deleted.
        forums: Forums of all notes, with the venues that the notes name.
    """

    raw: RawStore
    dump: DumpFile
    keep_going: bool
    origin: RawOrigin
    digests: dict[str, bytes]
    venue_id: str | None
    is_venue_of_name: bool
    unnamed: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    forums: dict[str, set[str]] = field(default_factory=dict)
    waiting: list[RawObject] = field(default_factory=list)
    waiting_bytes: int = 0
    new: Counter[RawKind] = field(default_factory=Counter)
    seen: Counter[RawKind] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    problem: str | None = None
    datasets: dict[str, DatasetCounts] = field(default_factory=dict)

    def take(self, kind: RawKind, body: bytes) -> None:
        """Store one recognised object.

        Raises:
            DumpError: The object has no forum, or a field has a type that OpenReview never uses.
        """
        try:
            row = self._build(kind, body)
        except (msgspec.ValidationError, OverflowError) as error:
            self._refuse(f"a {kind} with an unreadable field: {error}", f"a {kind} in '{self.dump.name}' is unreadable")
            return
        if kind is RawKind.NOTE and not row.forum_id and not self.keep_going:
            raise DumpError(
                f"Note '{row.object_id}' in '{self.dump.name}' names no forum; --keep-going sets it aside instead."
            )
        if row.kind is RawKind.NOTE:
            self._watch(row)
        self._keep(row)

    def _watch(self, row: RawObject) -> None:
        """Record the forum of a note, and whether it may be set aside."""
        self.forums.setdefault(row.forum_id, set()).add(row.venue_id)
        if row.venue_id == UNPLACED or not names_invitation(row.body):
            self.unnamed.add(row.forum_id)
        is_deleted = b'"ddate":' in row.body and b'"ddate":null' not in row.body
        if row.object_id == row.forum_id and (is_deleted or b'"everyone"' not in row.body):
            self.hidden.add(row.forum_id)

    def take_published(self, record: PublishedRecord) -> None:
        """Store one published record; one with a known id but different content is stored in addition to the first.

        Raises:
            DumpError: The record names no paper, or does not have the fields of its dataset.
        """
        position = f"{record.place} of '{self.dump.name}'"
        if record.problem is not None:
            self._refuse(record.problem, f"{position} cannot be imported")
            return
        try:
            row = build_published(
                record.dataset, record.body, replace(self.origin, source=f"{self.dump.name}, {record.place}")
            )
        except (msgspec.ValidationError, OverflowError) as error:
            self._refuse(f"a record with an unreadable field: {error}", f"{position} is unreadable")
            return
        split = find_stated_split(record.dataset, row.source)
        digest = hashlib.sha256(repr(split).encode() + record.body).digest()[:16]
        record_id = row.object_id
        number = 1
        while self._is_of_another_file(record_id, row) or self.digests.setdefault(record_id, digest) != digest:
            number += 1
            record_id = f"{row.object_id}#{number}"
        self.datasets.setdefault(NAMES_OF_DATASETS[record.dataset], DatasetCounts()).count(record.dataset, row)
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
        self.seen[row.kind] += 1
        if len(self.waiting) >= BATCH or self.waiting_bytes >= BATCH_BYTES:
            self.flush()

    def _build(self, kind: RawKind, body: bytes) -> RawObject:
        if kind is RawKind.EDIT:
            return build_edit(body, self.origin)
        if kind in {RawKind.NOTE, RawKind.REFERENCE}:
            return build_note(body, self.origin)
        return build_setting(kind, body, self.origin)

    def _refuse(self, reason: str, sentence: str) -> None:
        if not self.keep_going:
            # The name of a file is not changed.
            begun = f"{sentence[0].upper()}{sentence[1:]}" if sentence.partition(" ")[0].isalpha() else sentence
            raise DumpError(f"{begun} ({reason}); --keep-going skips it instead.")
        self.left_out[reason] += 1

    def leave_out(self, reason: str, number: int = 1) -> None:
        """Count records that are skipped."""
        self.left_out[reason] += number

    def flush(self) -> None:
        """Store the objects collected so far."""
        for kind, rows in groupby(sorted(self.waiting, key=attrgetter("kind")), key=attrgetter("kind")):
            self.new[kind] += self.raw.add(rows)
        self.waiting.clear()
        self.waiting_bytes = 0

    def find_doubtful(self) -> frozenset[str]:
        """Return the forums whose notes may be set aside, once all files are stored."""
        return frozenset(self.unnamed | self.hidden | (self.forums.keys() - self.raw.roots_among(self.forums)))

    def find_disagreeing(self) -> set[str]:
        """Return the forums in which a note names another venue than that of the submission."""
        held = self.raw.roots_among(self.forums)
        return {forum_id for forum_id, venue_id in held.items() if self.forums[forum_id] != {venue_id}}

    def result(self) -> FileImport:
        """Return the result for the file."""
        counts = {kind: ImportCounts(self.new[kind], seen - self.new[kind]) for kind, seen in self.seen.items()}
        return FileImport(
            name=self.dump.name,
            taken=counts,
            left_out=dict(self.left_out),
            problem=self.problem,
            unnamed=frozenset(self.unnamed - {""}),
            venue_id=self.venue_id,
            is_venue_of_name=self.is_venue_of_name,
            datasets=self.datasets,
        )


def import_dumps(
    workspace: Workspace, paths: Sequence[Path], *, keep_going: bool = False, venue_id: str | None = None
) -> ImportSummary:
    """Import recorded OpenReview objects and the records of published datasets, in one transaction.

    Args:
        workspace: Receives the objects.
        paths: JSON or JSON Lines, with or without gzip; ReviewBench's Parquet; Re²'s JSON, and its manuscripts as files
            or zip. Folders are searched; `hf:owner/name` is a dataset on the Hugging Face Hub.
        keep_going: Skip what cannot be read and keep notes without a forum, instead of failing.
        venue_id: Venue of notes whose forum names none, such as reviews stored without their metadata; None means the
            one in the file's name, if there is one.

    Raises:
        DumpError: A path does not exist, a file cannot be read, a named file contains nothing from OpenReview, a note
            names no forum, or a record names no paper; nothing is stored in that case.
        SourceError: A dataset could not be downloaded.
    """
    dumps = list_files(paths)
    with workspace.raw.transaction():
        tallies = list(_import_files(workspace.raw, dumps, keep_going, venue_id))
        files = tuple(tally.result() for tally in tallies)
        if not keep_going and not any(file.taken for file in files):
            names = ", ".join(f"'{path}'" for path in paths)
            raise DumpError(f"{names} contains no record in a supported layout; supported are {'; '.join(NAMES)}.")
        workspace.raw.rename_venues(_find_named(workspace.raw))
        workspace.raw.place()
        doubtful = [tally.find_doubtful() for tally in tallies]
        disagreeing = {forum_id for tally in tallies for forum_id in tally.find_disagreeing()}
        if any(doubtful) or disagreeing or UNPLACED in workspace.raw.venues():
            named = {forum_id: file.venue_id for file in files if file.venue_id for forum_id in file.unnamed}
            settle_venues(
                workspace.raw,
                by_user=named if venue_id else {},
                by_file=named,
                others=disagreeing,
            )
    return ImportSummary(tuple(map(_with_doubtful, files, doubtful)))


def _find_named(raw: RawStore) -> dict[str, str]:
    """Return the venues that the catalogue did not name when they were imported, but names now."""
    stand_ins = filter(is_stand_in, raw.venues())
    named = {venue_id: venue_named(name_of_stand_in(venue_id)) for venue_id in stand_ins}
    return {venue_id: own for venue_id, own in named.items() if not is_stand_in(own)}


def _with_doubtful(file: FileImport, doubtful: frozenset[str]) -> FileImport:
    return replace(file, doubtful=doubtful)


def _import_files(raw: RawStore, dumps: Sequence[DumpFile], keep_going: bool, venue_id: str | None) -> Iterator[_Tally]:
    seen_ms = now_ms()
    digests = dict[str, bytes]()
    for dump in dumps:
        tally = _Tally(
            raw=raw,
            dump=dump,
            keep_going=keep_going,
            origin=RawOrigin(dump.name, seen_ms),
            digests=digests,
            venue_id=venue_id or venue_of_file(dump.name),
            is_venue_of_name=venue_id is None,
        )
        if dump.is_named or dump.is_known:
            _import_file(tally)
        else:
            tally.problem = _name_unknown(dump)
        yield tally


def _import_file(tally: _Tally) -> None:
    try:
        tally.problem = _read_file(tally)
    except DumpError as error:
        if not tally.keep_going:
            raise
        tally.problem = str(error)
    tally.flush()
    if not tally.seen and tally.problem is None:
        tally.problem = "it contains no OpenReview object and no published record"
        if tally.dump.is_named and not tally.keep_going:
            raise DumpError(_unrecognised(tally.dump))


def _read_flat_notes(tally: _Tally) -> None:
    """Import the notes of a table whose columns are the notes' members."""
    walk = DumpScanner(tally.take, tally.leave_out)
    try:
        for row in read_rows(tally.dump.path):
            walk.enter_value(msgspec.json.encode(nest(row)))
    except UNREADABLE as error:
        raise DumpError(f"'{tally.dump.shown}' cannot be read: {error}.") from None


def _name_unknown(dump: DumpFile) -> str:
    """Return why a file in a folder is not read, judging by its name, or by its first rows if it is a table."""
    if dump.is_link:
        return "a link, which is not followed; name its target"
    if suffix_of(dump.path) not in DELIMITED:
        return "not a JSON, Parquet or zip file, nor a table"
    damage = find_damage(dump.path)
    return f"it cannot be read: {damage}" if damage else "a table in no supported layout"


def _unrecognised(dump: DumpFile) -> str:
    """Return the error for a file in no known layout, with its first fields and the supported layouts."""
    is_read = dump.path.is_file() and is_table(dump.path)
    damage = find_damage(dump.path) if is_read else None
    if damage:
        return f"'{dump.shown}' cannot be read: {damage}."
    names = read_columns(dump.path) if is_read else []
    seen = f"its records have {', '.join(names[:8])}{' and more' if len(names) > 8 else ''}" if names else "no records"
    return f"'{dump.shown}' contains no record in a supported layout ({seen}); supported are {'; '.join(NAMES)}."


def _describe_fault(dump: DumpFile, fault: str) -> str:
    """Return why a Parquet file in a folder is not read.

    Raises:
        DumpError: The user named the file itself.
    """
    damage = find_damage(dump.path)
    if damage:
        problem, more = f"cannot be read: {damage}", "."
    else:
        problem = f"is not a ReviewBench table: {fault}"
        more = f"; other supported layouts are {'; '.join(NAMES)}."
    if dump.is_named:
        raise DumpError(f"'{dump.shown}' {problem}{more}")
    return f"it {problem}"


def _read_file(tally: _Tally) -> str | None:
    """Import the content of a file; return the reason if nothing in it can be imported, or None."""
    dump = tally.dump
    if dump.is_flat:
        _read_flat_notes(tally)
        return None
    fault = find_column_fault(dump) if dump.is_table and dump.layout is None else None
    if fault is not None:
        return _describe_fault(dump, fault)
    published = read_published_records(dump)
    if published is None and suffix_of(dump.path) in DELIMITED:
        raise DumpError(_unrecognised(dump))
    if published is None:
        DumpScanner(tally.take, tally.leave_out).enter_items(read_values(dump))
        return None
    files = 0
    for record in published:
        tally.take_published(record)
        files += record.files
    if dump.beside:
        tally.leave_out("a file beside a manuscript", dump.beside)
    if dump.layout and dump.layout.is_of_folders and len(dump.layout.files) > files:
        tally.leave_out("a file beside those that are read for each paper", len(dump.layout.files) - files)
    return None
