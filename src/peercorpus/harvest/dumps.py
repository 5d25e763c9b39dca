"""Import of recorded dumps and published datasets: every object in them becomes a row of `raw.db`, all or none."""

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import msgspec

from peercorpus.errors import DumpError
from peercorpus.harvest.placing import build_published
from peercorpus.harvest.published import Found, missing_column, read_published
from peercorpus.harvest.reading import DumpFile, list_files, read_values
from peercorpus.harvest.recognise import Walk
from peercorpus.harvest.rows import Origin, build_edit, build_note, build_setting
from peercorpus.raw import Kind, RawObject, RawStore
from peercorpus.workspace import Workspace

BATCH = 500
BATCH_BYTES = 1 << 24
"""Stored at once, also where that is fewer than `BATCH` objects: a published record holds a whole paper."""


@dataclass(frozen=True, slots=True)
class Taken:
    """How many objects of a kind were taken: seen for the first time, and known already in this very form."""

    new: int = 0
    known: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.new + self.known


@dataclass(frozen=True, slots=True)
class FileImport:
    """What became of one file.

    Attributes:
        left_out: How many records were not taken, by reason.
        problem: Why the file as a whole, or the rest of it, was left out; None where it was read to its end.
    """

    name: str
    taken: Mapping[Kind, Taken]
    left_out: Mapping[str, int]
    problem: str | None


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import did, file by file, in the order read."""

    files: tuple[FileImport, ...]

    def taken(self, kind: Kind) -> Taken:
        """How many objects of a kind were taken from all files."""
        each = [found.taken[kind] for found in self.files if kind in found.taken]
        return Taken(sum(one.new for one in each), sum(one.known for one in each))

    @property
    def left_out(self) -> Mapping[str, int]:
        """How many records of all files were not taken, by reason."""
        total: Counter[str] = Counter()
        for found in self.files:
            total.update(found.left_out)
        return total


@dataclass(slots=True)
class _Tally:
    """One file while it is read.

    Attributes:
        digests: Of the published records of all files of this import, by their id.
    """

    raw: RawStore
    dump: DumpFile
    keep_going: bool
    origin: Origin
    digests: dict[str, bytes]
    waiting: list[RawObject] = field(default_factory=list)
    waiting_bytes: int = 0
    new: Counter[Kind] = field(default_factory=Counter)
    seen: Counter[Kind] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    problem: str | None = None

    def take(self, kind: Kind, body: bytes) -> None:
        """Keep one recognised object.

        Raises:
            DumpError: It has no forum, or a field holds what OpenReview never puts there.
        """
        try:
            row = self._build(kind, body)
        except (msgspec.ValidationError, OverflowError) as error:
            self._refuse(f"a {kind} with an unreadable field: {error}", f"a {kind} in '{self.dump.name}' is unreadable")
            return
        if kind is Kind.NOTE and not row.forum_id and not self.keep_going:
            raise DumpError(
                f"Note '{row.object_id}' in '{self.dump.name}' names no forum; --keep-going sets it aside instead."
            )
        self._keep(row)

    def take_published(self, found: Found) -> None:
        """Keep one published record; one of the same id that says other things stays beside it.

        Raises:
            DumpError: It names no paper, or is not what its dataset says it is.
        """
        where = f"{found.place} of '{self.dump.name}'"
        if found.problem is not None:
            self._refuse(found.problem, f"{where} cannot be taken")
            return
        try:
            row = build_published(
                found.dataset, found.body, replace(self.origin, source=f"{self.dump.name}, {found.place}")
            )
        except (msgspec.ValidationError, OverflowError) as error:
            self._refuse(f"a record with an unreadable field: {error}", f"{where} is unreadable")
            return
        digest, record_id, number = hashlib.sha256(found.body).digest()[:16], row.object_id, 1
        while self.digests.setdefault(record_id, digest) != digest:
            number += 1
            record_id = f"{row.object_id}#{number}"
        self._keep(row._replace(object_id=record_id))

    def _keep(self, row: RawObject) -> None:
        self.waiting.append(row)
        self.waiting_bytes += len(row.body)
        self.seen[row.kind] += 1
        if len(self.waiting) >= BATCH or self.waiting_bytes >= BATCH_BYTES:
            self.flush()

    def _build(self, kind: Kind, body: bytes) -> RawObject:
        if kind is Kind.EDIT:
            return build_edit(body, self.origin)
        if kind in {Kind.NOTE, Kind.REFERENCE}:
            return build_note(body, self.origin)
        return build_setting(kind, body, self.origin)

    def _refuse(self, reason: str, sentence: str) -> None:
        if not self.keep_going:
            raise DumpError(f"{sentence[0].upper()}{sentence[1:]} ({reason}); --keep-going leaves it out instead.")
        self.left_out[reason] += 1

    def leave_out(self, reason: str, number: int = 1) -> None:
        """Count records that are not taken."""
        self.left_out[reason] += number

    def flush(self) -> None:
        """Store what waits."""
        for kind, rows in groupby(sorted(self.waiting, key=attrgetter("kind")), key=attrgetter("kind")):
            self.new[kind] += self.raw.add(rows)
        self.waiting.clear()
        self.waiting_bytes = 0

    def result(self) -> FileImport:
        """What became of the file."""
        taken = {kind: Taken(self.new[kind], seen - self.new[kind]) for kind, seen in self.seen.items()}
        return FileImport(self.dump.name, taken, dict(self.left_out), self.problem)


def import_dumps(workspace: Workspace, paths: Sequence[Path], *, keep_going: bool = False) -> ImportSummary:
    """Import recorded OpenReview objects and the records of published datasets, in one transaction.

    Args:
        workspace: Where they go.
        paths: JSON or JSON lines, packed with gzip or not; ReviewBench's Parquet; Re²'s JSON, and manuscripts, as a zip
            file or not. Folders are walked; `hf:owner/name` is a dataset of the Hugging Face Hub.
        keep_going: Leave out what cannot be read and keep notes without a forum, instead of ending with an error.

    Raises:
        DumpError: A path does not exist, a file cannot be read, a named file holds nothing of OpenReview, a note names
            no forum, or a record no paper; nothing is stored then.
        SourceError: A dataset could not be fetched.
    """
    dumps = list_files(paths)
    with workspace.raw.transaction():
        files = tuple(_import_files(workspace.raw, dumps, keep_going))
        if not keep_going and not any(found.taken for found in files):
            raise DumpError(f"{_listed(paths)} holds no OpenReview object and no record of ReviewBench or Re².")
        workspace.raw.place()
    return ImportSummary(files)


def _import_files(raw: RawStore, dumps: Sequence[DumpFile], keep_going: bool) -> Iterator[FileImport]:
    seen_ms, digests = time.time_ns() // 1_000_000, dict[str, bytes]()
    for dump in dumps:
        tally = _Tally(raw, dump, keep_going, Origin(dump.name, seen_ms), digests)
        if dump.is_named or dump.is_known:
            _import_file(tally)
        else:
            tally.problem = "not a JSON, Parquet or zip file"
        yield tally.result()


def _import_file(tally: _Tally) -> None:
    try:
        tally.problem = _read_file(tally)
    except DumpError as error:
        if not tally.keep_going:
            raise
        tally.problem = str(error)
    tally.flush()
    if not tally.seen and tally.problem is None:
        tally.problem = "it holds no OpenReview object and no published record"
        if tally.dump.is_named and not tally.keep_going:
            raise DumpError(f"'{tally.dump.name}' holds no OpenReview object; name a file of notes or edits.")


def _read_file(tally: _Tally) -> str | None:
    """Take what a file holds; why it holds nothing that can be taken, None where it does."""
    dump = tally.dump
    column = missing_column(dump) if dump.is_table else None
    if column is not None:
        if dump.is_named:
            raise DumpError(f"'{dump.name}' is no table of ReviewBench: it has no column '{column}'.")
        return f"no table of ReviewBench: it has no column '{column}'"
    published = read_published(dump)
    if published is None:
        walk = Walk(tally.take, tally.leave_out)
        for value in read_values(dump):
            walk.enter_value(value)
        return None
    for found in published:
        tally.take_published(found)
    if dump.beside:
        tally.leave_out("a file beside a manuscript", dump.beside)
    return None


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(f"'{path}'" for path in paths)
