"""Import recorded dumps: every item of every file is stored, was stored before, or is set aside with a reason.

A forum belongs to the venue that its own notes name, if all agree. If they name none, it belongs to the venue that was
named when the notes were imported, or otherwise to the one in the file's name. If they name several, the forum stays
unplaced. The order of imports does not matter: all notes of a forum are examined again whenever one of them may add
information.
"""

import re
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import msgspec
import pyarrow as pa

from peercorpus.errors import DumpError
from peercorpus.importers.datasets import FORMATS, DatasetCounts
from peercorpus.importers.files import DumpFile, list_files, open_unpacked, read_elements, read_values
from peercorpus.importers.notes import DumpScanner, nest
from peercorpus.importers.re2 import read_archive, read_element, read_manuscripts
from peercorpus.importers.reader import DamagedRow, Record, encode_row
from peercorpus.importers.reviewbench import find_column_fault, read_reviewbench
from peercorpus.importers.tables import (
    DELIMITED,
    LINES,
    UNREADABLE,
    explain,
    find_damage,
    is_table,
    read_columns,
    read_rows,
    suffix_of,
)
from peercorpus.importers.tally import NAMES_READERS, FileImport, ImportCounts, Tally, is_known_closed, is_unreadable
from peercorpus.openreview.objects import now_ms, read_note, stated_venues
from peercorpus.openreview.raw_rows import RawOrigin
from peercorpus.venues.venue_names import is_stand_in, name_of_stand_in, venue_named, venue_of_file
from peercorpus.wording.untrusted_text import show_path
from peercorpus.workspace.raw_store import UNPLACED, RawKind, RawObject, RawStore
from peercorpus.workspace.workspace import Workspace

READERS_COLUMN = re.compile(rb"\breaders\b")
_CHUNK_BYTES, _LONGEST_BYTES = 1 << 20, 64
"""How much of a file is searched for readers at a time, and how much of it again, as a part may end in between."""
DAMAGE = (pa.ArrowException, ArithmeticError, BadZipFile, EOFError, zlib.error, RuntimeError, TypeError)
"""Exceptions that reading a damaged file may raise, apart from `ValueError` and `OSError`."""


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
        files = tuple(tally.result for tally in tallies)
        if not any(file.taken or any(map(is_unreadable, file.left_out)) for file in files):
            names = ", ".join(f"'{show_path(path)}'" for path in paths)
            nothing = f"{names} contains no record in a supported layout; supported are {'; '.join(FORMATS)}."
            raise DumpError(" ".join(file.problem for file in files if file.is_damaged and file.problem) or nothing)
        # Those that the catalogue did not name when they were imported, but names now.
        held = {venue: venue_named(name_of_stand_in(venue)) for venue in workspace.raw.venues() if is_stand_in(venue)}
        workspace.raw.rename_venues({venue: own for venue, own in held.items() if not is_stand_in(own)})
        workspace.raw.place()
        for tally in tallies:
            tally.find_doubtful()
        disagreeing = {forum_id for tally in tallies for forum_id in tally.find_disagreeing()}
        if disagreeing or UNPLACED in workspace.raw.venues() or any(file.doubtful for file in files):
            named = {forum_id: file.venue_id for file in files if file.venue_id for forum_id in file.unnamed}
            place_forums(workspace.raw, by_user=named if venue_id else {}, by_file=named, others=disagreeing)
    return ImportSummary(files)


def _import_files(raw: RawStore, dumps: Sequence[DumpFile], venue_id: str | None) -> Iterator[Tally]:
    seen_ms = now_ms()
    digests = dict[str, bytes]()
    for dump in dumps:
        result = FileImport(dump.name, venue_id or venue_of_file(dump.name), is_venue_of_name=venue_id is None)
        tally = Tally(raw, dump, RawOrigin(dump.name, seen_ms), digests, result)
        if dump.is_named or dump.is_known:
            before = raw.last_row()
            _import_file(tally)
            tally.rows = before, raw.last_row()
        else:
            result.problem = _name_unknown(dump)
        yield tally


def _mark_open_dumps(raw: RawStore, tallies: Sequence[Tally]) -> None:
    """Record what came from dumps in which nothing names readers, as their exporters left them out.

    Nothing opens an object of which another version names readers that are not everyone.
    """
    closed = {tally.dump.dump for tally in tallies if tally.names_readers or _may_name_readers(tally)}
    for tally in tallies:
        if tally.dump.dump not in closed:
            raw.mark_open(*tally.rows, is_known_closed)


def _may_name_readers(tally: Tally) -> bool:
    """Return whether a file names readers anywhere, if not all of it was read; else what was read decides."""
    if not (tally.result.left_out or tally.result.is_damaged) or not tally.dump.path.is_file():
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


def _import_file(tally: Tally) -> None:
    result = tally.result
    try:
        result.problem = _read_file(tally)
    except DumpError as error:
        result.problem, result.is_damaged = str(error), True
    tally.flush()
    if not result.taken and result.problem is None and not any(map(is_unreadable, result.left_out)):
        result.is_damaged = tally.dump.is_named
        nothing = "it contains no OpenReview object and no published record"
        result.problem = _unrecognised(tally.dump) if tally.dump.is_named else nothing


def _read_flat_notes(tally: Tally) -> None:
    """Import the notes of a table whose columns are the notes' members."""
    scanner = DumpScanner(tally.take, tally.result.leave_out)
    try:
        for row in read_rows(tally.dump.path):
            if isinstance(row, DamagedRow):
                tally.result.leave_out(row.reason, row.name)
            else:
                scanner.enter_value(encode_row(nest(row)))
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
    return f"'{dump.shown}' contains no record in a supported layout ({seen}); supported are {'; '.join(FORMATS)}."


def _describe_fault(dump: DumpFile, fault: str) -> str:
    """Return why a Parquet file in a folder is not read."""
    damage = find_damage(dump.path)
    if damage:
        problem, more = f"cannot be read: {damage}", "."
    else:
        problem = f"is not a ReviewBench table: {fault}"
        more = f"; other supported layouts are {'; '.join(FORMATS)}."
    if dump.is_named:
        raise DumpError(f"'{dump.shown}' {problem}{more}")
    return f"it {problem}"


def _read_file(tally: Tally) -> str | None:
    """Import the content of a file; return the reason if nothing in it can be imported, or None."""
    dump, result = tally.dump, tally.result
    if dump.is_flat:
        _read_flat_notes(tally)
        return None
    is_reviewbench = dump.path.suffix == ".parquet" and dump.source is None
    if is_reviewbench:
        with _translate_errors(dump):
            fault = find_column_fault(dump.path)
        if fault is not None:
            return _describe_fault(dump, fault)
    published = _choose_records(dump, is_reviewbench=is_reviewbench)
    if published is None and suffix_of(dump.path) in DELIMITED:
        raise DumpError(_unrecognised(dump))
    if published is None:
        DumpScanner(tally.take, result.leave_out).enter_items(read_values(dump))
        return None
    files = 0
    for record in _read_records(dump, published):
        tally.take_published(record)
        files += record.files
    if dump.beside:
        result.leave_out("a file beside a manuscript", "", dump.beside)
    if dump.source and dump.source.reader.is_of_folders and len(dump.source.files) > files:
        result.leave_out("a file beside those that are read for each paper", "", len(dump.source.files) - files)
    return None


def _choose_records(dump: DumpFile, *, is_reviewbench: bool) -> Iterator[Record] | None:
    """Return an iterator over the records of a published dataset; None if the file is not part of one."""
    if dump.manuscripts:
        return read_manuscripts(dump.manuscripts)
    if is_reviewbench:
        return read_reviewbench(dump.path)
    if dump.path.suffix == ".zip":
        return read_archive(dump.path)
    if dump.source is not None:
        return dump.source.records()
    return _read_list(dump) if dump.is_json and dump.suffix not in LINES and _is_re2(dump) else None


def _is_re2(dump: DumpFile) -> bool:
    """Return whether a file is one JSON list whose first element is a record of Re²."""
    try:
        with closing(_read_records(dump, _read_list(dump))) as records:
            first_record = next(records, None)
    except DumpError:
        return False
    return first_record is not None and first_record.problem is None


def _read_list(dump: DumpFile) -> Iterator[Record]:
    for number, element in enumerate(read_elements(dump), 1):
        yield read_element(element, f"record {number}")


def _read_records(dump: DumpFile, records: Iterator[Record]) -> Generator[Record, None, None]:
    with _translate_errors(dump):
        yield from records


@contextmanager
def _translate_errors(dump: DumpFile) -> Iterator[None]:
    """Turn the errors of reading a file into a `DumpError` that names it."""
    try:
        yield
    except DAMAGE as error:
        raise DumpError(f"'{dump.shown}' cannot be read: it is truncated or damaged ({explain(error)}).") from None
    except ValueError as error:
        raise DumpError(f"'{dump.shown}' cannot be read: {error}.") from None
    except OSError as error:
        raise DumpError(f"'{dump.shown}' cannot be read: {error.strerror or explain(error)}.") from None


def place_forums(
    raw: RawStore, by_user: Mapping[str, str], by_file: Mapping[str, str], others: Iterable[str] = ()
) -> None:
    """Assign a venue to forums whose submission names none: the one their notes agree on, or the one named for them.

    Args:
        raw: The store; `RawStore.place` has run.
        by_user: Venue named by the user, by forum id, for forums of notes that name none themselves.
        by_file: Venue from the names of the imported files, likewise.
        others: Forums with a note whose venue differs from that of its forum.
    """
    moves: list[tuple[str, str, str]] = []
    for forum_id, notes in raw.unsettled({*by_user, *by_file, *others}):
        venue_id = _choose_venue(forum_id, notes, by_user.get(forum_id), by_file.get(forum_id))
        moves += [(venue_id, held_id, forum_id) for held_id in sorted({note.venue_id for note in notes} - {venue_id})]
    raw.move(moves)


def _choose_venue(forum_id: str, notes: list[RawObject], by_user: str | None, by_file: str | None) -> str:
    """Return the venue of a forum from all versions of all its notes, latest last; `UNPLACED` if it is undecided.

    The submission takes precedence over replies, replies over the user, and the user over the names of files.
    """
    read = []
    for raw_note in notes:
        with suppress(msgspec.ValidationError):
            read.append((raw_note, read_note(raw_note.body)))
    roots = [(raw, note) for raw, note in read if raw.object_id == forum_id and (note.domain or note.created_by)]
    if roots:
        raw_root, root = roots[-1]
        return raw_root.venue_id if raw_root.venue_id != UNPLACED else next(stated_venues(root))
    stated = {venue_id for _, note in read for venue_id in stated_venues(note)}
    if stated:
        return stated.pop() if len(stated) == 1 else UNPLACED
    return by_user or _find_named(notes, by_file)


def _find_named(notes: list[RawObject], by_file: str | None) -> str:
    """Return the venue that a user named earlier, or otherwise the one that the names of the notes' files agree on."""
    named = [(note.venue_id, venue_of_file(note.origin)) for note in notes]
    placed = {venue_id for venue_id, _ in named} - {UNPLACED}
    by_files = {own for _, own in named if own}
    # If a note is at another venue than its file's name states, or the name states none, a user has named the venue.
    overruled = {venue_id for venue_id, own in named if own not in {None, venue_id}} - {UNPLACED}
    chosen = overruled or placed - by_files or by_files or ({by_file} if by_file else set())
    return chosen.pop() if len(chosen) == 1 else UNPLACED
