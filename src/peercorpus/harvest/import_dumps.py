"""Import recorded dumps: every item of every file is stored, was stored before, or is set aside with a reason."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import msgspec

from peercorpus.errors import DumpError
from peercorpus.harvest.contradictions import VERSIONED, adds_nothing, find_contradiction, is_known_closed
from peercorpus.harvest.dump_objects import DumpScanner, name_record
from peercorpus.harvest.forum_venues import settle_venues
from peercorpus.harvest.import_datasets import NAMES as NAMES_OF_DATASETS
from peercorpus.harvest.import_datasets import (
    DatasetCounts,
    PublishedRecord,
    build_published,
    encode_row,
    find_column_fault,
    read_published_records,
)
from peercorpus.harvest.import_files import DumpFile, list_files, open_unpacked, read_values
from peercorpus.harvest.raw_rows import RawOrigin, build_edit, build_note, build_setting
from peercorpus.openreview.objects import now_ms
from peercorpus.openreview.response_body import check_ids, has_control
from peercorpus.records.layouts.flat_notes import nest
from peercorpus.records.layouts.recognise import NAMES
from peercorpus.records.layouts.stated import DamagedRow
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
from peercorpus.records.untrusted_text import show_path
from peercorpus.venues.dataset_names import is_stand_in, name_of_stand_in, venue_named
from peercorpus.venues.file_names import venue_of_file
from peercorpus.workspace.raw_store import UNPLACED, RawKind, RawObject, RawStore
from peercorpus.workspace.workspace import Workspace


def names_invitation(body: bytes) -> bool:
    """Return whether a note, as compact JSON, seems to name an invitation; exact for notes sent by OpenReview."""
    return b'"invitation' in body and b'"invitations":null' not in body and b'"invitations":[]' not in body


NAMES_READERS = re.compile(rb'"readers"\s*+:\s*+(?!null)\S')
"""Matches readers in JSON; inside a text the quotation marks would be escaped."""
READERS_COLUMN = re.compile(rb"\breaders\b")
_CHUNK_BYTES, _LONGEST_BYTES = 1 << 20, 64
"""How much of a file is searched for readers at a time, and how much of it again, as a part may end in between."""

BESIDE = ("not an OpenReview object", "an edit of a group", "a file beside")
"""Beginnings of the reasons for items that are not records at all."""


def is_unreadable(reason: str) -> bool:
    """Return whether a reason is that of a record that could not be read, not of something beside the records."""
    return not reason.startswith(BESIDE)


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
        left_out: Number of items set aside, by reason.
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
    taken: Mapping[RawKind, ImportCounts]
    left_out: Mapping[str, int]
    problem: str | None
    first: Mapping[str, str] = field(default_factory=dict)
    is_damaged: bool = False
    unnamed: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    venue_id: str | None = None
    is_venue_of_name: bool = False
    datasets: Mapping[str, DatasetCounts] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether the file was read to its end, with every record in it."""
        return not self.is_damaged and not any(map(is_unreadable, self.left_out))


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
        """Number of items set aside of all files, by reason."""
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
        names_readers: Whether any note, edit or reference names readers, or a field of one does.
        rows: The last rows of `raw.db` before and after the file.
    """

    raw: RawStore
    dump: DumpFile
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
    first: dict[str, str] = field(default_factory=dict)
    problem: str | None = None
    is_damaged: bool = False
    datasets: dict[str, DatasetCounts] = field(default_factory=dict)
    names_readers: bool = False
    rows: tuple[int, int] = (0, 0)

    def take(self, kind: RawKind, body: bytes) -> None:
        """Store one recognised object, or set it aside if a field, or an id, is as OpenReview's never are."""
        if kind in {RawKind.NOTE, RawKind.EDIT, RawKind.REFERENCE} and NAMES_READERS.search(body):
            self.names_readers = True
        try:
            row = self._build(kind, body)
            check_ids(body)
        except (ValueError, OverflowError) as error:
            self.leave_out(f"a {kind} with an unreadable field: {error}", name_record(body))
            return
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

        One that names no paper, or does not have the fields of its dataset, is set aside.
        """
        if record.problem is not None:
            self.leave_out(record.problem, record.place)
            return
        try:
            row = build_published(
                record.dataset, record.body, replace(self.origin, source=f"{self.dump.name}, {record.place}")
            )
        except (msgspec.ValidationError, OverflowError) as error:
            self.leave_out(f"a record with an unreadable field: {error}", record.place)
            return
        if any(map(has_control, (row.object_id, row.venue_id))):
            self.leave_out("a record whose paper, venue or reviewer has a control character in its id", record.place)
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

    def leave_out(self, reason: str, name: str, number: int = 1) -> None:
        """Count items that are set aside, the first of which has this name."""
        self.left_out[reason] += number
        self.first.setdefault(reason, name)

    def flush(self) -> None:
        """Store the objects collected so far, except those that contradict or repeat what is stored."""
        for kind, group in groupby(sorted(self.waiting, key=attrgetter("kind")), key=attrgetter("kind")):
            rows = list(group)
            self.new[kind] += self.raw.add(self._drop_contradictions(kind, rows) if kind in VERSIONED else rows)
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
                self.seen[kind] -= 1
                self.leave_out(f"a {kind} with {contradiction}", f"'{row.object_id}'")
            elif not adds_nothing(row, versions):
                versions.append(row)
                yield row

    def find_doubtful(self) -> frozenset[str]:
        """Return the forums whose notes may be set aside, once all files are stored."""
        return frozenset(self.unnamed | self.hidden | (self.forums.keys() - self.raw.roots_among(self.forums)))

    def find_disagreeing(self) -> set[str]:
        """Return the forums in which a note names another venue than that of the submission."""
        held = self.raw.roots_among(self.forums)
        return {forum_id for forum_id, venue_id in held.items() if self.forums[forum_id] != {venue_id}}

    def result(self) -> FileImport:
        """Return the result for the file."""
        seen_kinds = {kind: seen for kind, seen in self.seen.items() if seen}
        counts = {kind: ImportCounts(self.new[kind], seen - self.new[kind]) for kind, seen in seen_kinds.items()}
        return FileImport(
            name=self.dump.name,
            taken=counts,
            left_out=dict(self.left_out),
            problem=self.problem,
            first=self.first,
            is_damaged=self.is_damaged,
            unnamed=frozenset(self.unnamed - {""}),
            venue_id=self.venue_id,
            is_venue_of_name=self.is_venue_of_name,
            datasets=self.datasets,
        )


def import_dumps(workspace: Workspace, paths: Sequence[Path], *, venue_id: str | None = None) -> ImportSummary:
    """Import recorded OpenReview objects and the records of published datasets, in one transaction.

    Every item of every file is stored, was stored before, or is set aside with a reason. A file that cannot be read, or
    not to its end, does not stop the others.

    Args:
        workspace: Receives the objects.
        paths: JSON or JSON Lines, with or without gzip; ReviewBench's Parquet; Re²'s JSON, and its manuscripts as files
            or zip. Folders are searched; `hf:owner/name` is a dataset on the Hugging Face Hub.
        venue_id: Venue of notes whose forum names none, such as reviews stored without their metadata; None means the
            one in the file's name, if there is one.

    Raises:
        DumpError: A path does not exist, or no file contains anything from OpenReview or of a published dataset.
        SourceError: A dataset could not be downloaded.
    """
    dumps = list_files(paths)
    with workspace.raw.transaction():
        tallies = list(_import_files(workspace.raw, dumps, venue_id))
        _mark_open_dumps(workspace.raw, tallies)
        files = tuple(tally.result() for tally in tallies)
        if not any(file.taken or any(map(is_unreadable, file.left_out)) for file in files):
            names = ", ".join(f"'{show_path(path)}'" for path in paths)
            nothing = f"{names} contains no record in a supported layout; supported are {'; '.join(NAMES)}."
            raise DumpError(" ".join(file.problem for file in files if file.is_damaged and file.problem) or nothing)
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


def _import_files(raw: RawStore, dumps: Sequence[DumpFile], venue_id: str | None) -> Iterator[_Tally]:
    seen_ms = now_ms()
    digests = dict[str, bytes]()
    for dump in dumps:
        tally = _Tally(
            raw=raw,
            dump=dump,
            origin=RawOrigin(dump.name, seen_ms),
            digests=digests,
            venue_id=venue_id or venue_of_file(dump.name),
            is_venue_of_name=venue_id is None,
        )
        if dump.is_named or dump.is_known:
            before = raw.last_row()
            _import_file(tally)
            tally.rows = before, raw.last_row()
        else:
            tally.problem = _name_unknown(dump)
        yield tally


def _mark_open_dumps(raw: RawStore, tallies: Sequence[_Tally]) -> None:
    """Record what came from dumps in which nothing names readers, as their exporters left them out.

    Nothing opens an object of which another version names readers that are not everyone.
    """
    closed = {tally.dump.dump for tally in tallies if tally.names_readers or _may_name_readers(tally)}
    for tally in tallies:
        if tally.dump.dump not in closed:
            raw.mark_open(*tally.rows, is_known_closed)


def _may_name_readers(tally: _Tally) -> bool:
    """Return whether a file names readers anywhere, if not all of it was read; else what was read decides."""
    if not (tally.left_out or tally.is_damaged) or not tally.dump.path.is_file():
        return False
    try:
        with open_unpacked(tally.dump) as content:
            before = b""
            while chunk := content.read(_CHUNK_BYTES):
                if (READERS_COLUMN if tally.dump.is_flat else NAMES_READERS).search(before + chunk):
                    return True
                before = chunk[-_LONGEST_BYTES:]
    except (DumpError, OSError):
        return True
    return False


def _import_file(tally: _Tally) -> None:
    try:
        tally.problem = _read_file(tally)
    except DumpError as error:
        tally.problem, tally.is_damaged = str(error), True
    tally.flush()
    if not tally.seen and tally.problem is None and not any(map(is_unreadable, tally.left_out)):
        tally.is_damaged = tally.dump.is_named
        nothing = "it contains no OpenReview object and no published record"
        tally.problem = _unrecognised(tally.dump) if tally.dump.is_named else nothing


def _read_flat_notes(tally: _Tally) -> None:
    """Import the notes of a table whose columns are the notes' members."""
    walk = DumpScanner(tally.take, tally.leave_out)
    try:
        for row in read_rows(tally.dump.path):
            if isinstance(row, DamagedRow):
                tally.leave_out(row.reason, row.name)
            else:
                walk.enter_value(encode_row(nest(row)))
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
        tally.leave_out("a file beside a manuscript", "", dump.beside)
    if dump.layout and dump.layout.is_of_folders and len(dump.layout.files) > files:
        tally.leave_out("a file beside those that are read for each paper", "", len(dump.layout.files) - files)
    return None
