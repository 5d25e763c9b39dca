"""Delta Lake tables of a workspace: a stage replaces a venue's partition in one commit; workers draft changes."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from uuid import uuid4

from peercorpus.records.arrow_schema import arrow_schema
from peercorpus.records.enums import Reason
from peercorpus.records.papers import SetAside
from peercorpus.workspace.object_store import Location, list_below
from peercorpus.workspace.parquet import (
    CONTENT_BITS,
    PartitionWriter,
    flush_to_disk,
)
from peercorpus.workspace.private_files import make_private_folder
from peercorpus.workspace.table_logs import LOG, table_url, translate_delta_errors
from peercorpus.workspace.table_reader import TABLES, RecordT, TableReader, partition_columns
from peercorpus.workspace.table_state import (
    OpenedTable,
    PartitionChange,
    TablePart,
    TableState,
    content_of,
    identify_table,
    owner_of,
)

NO_KEY = "0" * 64
"""Key of an emptied partition; no finished stage has it."""

HOLD_S = 5.0
"""Seconds after which buffered changes are committed, and so the most work that a kill loses; our choice."""


class Replacement:
    """Receives the rows that a stage writes for one venue, by record type, and those it sets aside."""

    def __init__(self, writers: Mapping[type, PartitionWriter], venue_id: str, stage: str) -> None:
        self._writers = writers
        self._venue_id = venue_id
        self._stage = stage
        self._add = {record_type: writer.add for record_type, writer in writers.items()}

    def add(self, record: object) -> None:
        """Write one record to the table of its type."""
        self._add[type(record)](record)

    def set_aside(self, record_id: str, forum_id: str | None, reason: Reason, detail: str) -> None:
        """Record a row that was left out, with the reason."""
        self.add(
            SetAside(
                record_id=record_id,
                forum_id=forum_id,
                venue_id=self._venue_id,
                stage=self._stage,
                reason=reason,
                detail=detail,
            )
        )


class Tables(TableReader):
    """All tables of a workspace, for reading and writing."""

    def _clear(self, name: str) -> None:
        """Delete a table with different columns; it is made again from raw objects."""
        opened = self._open(name)
        if opened is None or opened.table is None:
            return
        names = {uri.rpartition("/")[2] for uri in opened.table.file_uris()}
        paths = sorted((path for path, _ in list_below(self.folder / name)), key=str)
        log = [path for path in paths if path.parent.name == LOG]
        # The last commit is deleted first, so that until the first one is gone, the rest is a valid table.
        for path in [*reversed(log), *(path for path in paths if path.name in names)]:
            path.unlink()

    def _create_if_missing(self, name: str) -> TableState:
        state = self._state(name)
        if state is not None:
            return state
        if self.logs:
            self.logs.forget(name)
        self._clear(name)
        folder = self.folder / name
        if isinstance(folder, Path):
            folder.mkdir(parents=True, exist_ok=True)
        state = TableState({}, {})
        self._opened[name] = OpenedTable(None, state=state)
        return state

    def _commit(
        self, name: str, writer: PartitionWriter, key: str | None, made_from: Mapping[str, str], *, replaces: bool
    ) -> None:
        """Add a partition's new rows to a table's changes, and commit these unless they are buffered."""
        files = tuple((action, writer.rows) for action in writer.finish())
        self.apply(PartitionChange(name, writer.partition, replaces, files, writer.content, key, made_from))

    def apply(self, change: PartitionChange) -> None:
        """Add a change to those of its table, and commit these unless they are buffered."""
        name = change.name
        with translate_delta_errors(self.folder / name):
            state = self._create_if_missing(name)
        numbers = self._number(change)
        opened = self._opened[name]
        assert opened is not None
        if change.replaces:
            for path in opened.remove(change.partition):
                (self.folder / name / path).unlink(missing_ok=True)
        for action, rows in change.files:
            opened.add(action, change.partition, rows)
        state.numbers |= numbers
        opened.changes.numbers |= numbers
        opened.changes.made_from.append(change.made_from)
        self.commit_due()

    def _number(self, change: PartitionChange) -> dict[str, int]:
        """Return the transaction numbers that store a partition's content and key after a change."""
        before = 0 if change.replaces else self._read_content(change.name, change.partition)
        content = (before + change.content) % (1 << CONTENT_BITS)
        return {content_of(owner_of(change.partition)): content} | change.numbers

    def commit_due(self) -> None:
        """Commit changes that are not buffered, or have been for `HOLD_S` seconds."""
        if self._held_since is None or time.monotonic() - self._held_since > HOLD_S:
            self._flush()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Buffer the changes made in the context, so that those of many venues are one commit per table; look once.

        This object sees them at once; others, and this one after a kill, see them when they are committed: at the first
        change or call of `commit_due` after `HOLD_S` seconds, and at the end, even if an error is raised.
        """
        self._held_since = time.monotonic()
        with self.looking_once():
            try:
                yield
            finally:
                self._held_since = None
                self._flush()

    def _flush(self) -> None:
        """Commit the buffered changes: first rows set aside, then the tables in the order of their making."""
        if self._held_since is not None:
            self._held_since = time.monotonic()
        changed = {name: opened for name, opened in self._opened.items() if opened and opened.changes.made_from}
        # If a commit fails, the tables are read again, since the state in memory differs from theirs.
        self._opened = {name: opened for name, opened in self._opened.items() if name not in changed}
        for name in sorted(changed, key=lambda name: (name != "set-aside", name)):
            self._write_commit(name, changed[name])
            self._opened[name] = changed[name]

    def _write_commit(self, name: str, opened: OpenedTable) -> None:
        from deltalake import DeltaTable, Schema

        if isinstance(self.folder, Path):
            flush_to_disk(self.folder / name / path for path in opened.changes.added)
        folder, columns = self.folder / name, partition_columns(name)
        url, schema = table_url(folder), Schema.from_arrow(arrow_schema(TABLES[name]))
        with translate_delta_errors(folder):
            if opened.version is None:
                opened.create(url, name, schema, columns, self._options)
            else:
                opened.table = opened.table or DeltaTable(url, storage_options=self._options)
                opened.commit(schema, columns)
            if opened.table is None and isinstance(folder, Path):
                opened.table, opened.identity = DeltaTable(url), identify_table(folder / LOG)
        if self.logs and opened.version is not None:
            self.logs.record(name, folder / LOG, opened.version)

    @contextmanager
    def replacing(
        self, names: Sequence[str], venue_id: str, stage: str, key: str, number: int = 0
    ) -> Iterator[Replacement]:
        """Replace a venue's partitions of these tables, and the rows this stage set aside, with rows written in the
        context.

        Each table changes in one commit, the last of which finishes the stage under the content key; if an error is
        raised, none changes. `number` is that of the range of the venue's forums whose rows are written.
        """
        writers = {TABLES[name]: self._make_writer(name, venue_id, stage, number) for name in ("set-aside", *names)}
        try:
            yield Replacement(writers, venue_id, stage)
        except BaseException:
            for writer in writers.values():
                writer.discard()
            raise
        made_from = {"stage": stage, "venue_id": venue_id, "content_key": key}
        for name in ("set-aside", *names):
            self._commit(name, writers[TABLES[name]], key, made_from, replaces=True)

    def _make_writer(self, name: str, venue_id: str, stage: str, number: int = 0) -> PartitionWriter:
        values = {"venue_id": venue_id, "stage": stage}
        partition = {column: values[column] for column in partition_columns(name)}
        return PartitionWriter(self.folder / name, TABLES[name], partition, self.scratch, number)

    def append(self, name: str, venue_id: str, stage: str, records: Sequence[object]) -> None:
        """Add rows to a venue's partition in one commit; this does not mark the partition as finished."""
        writer = self._make_writer(name, venue_id, stage)
        for record in records:
            writer.add(record)
        self._commit(name, writer, None, {"stage": stage, "venue_id": venue_id}, replaces=False)

    def finish(self, name: str, venue_id: str, stage: str, key: str) -> None:
        """Mark a partition that was filled by appending as finished."""
        made_from = {"stage": stage, "venue_id": venue_id, "content_key": key}
        self._commit(name, self._make_writer(name, venue_id, stage), key, made_from, replaces=False)

    def empty(self, name: str, venue_id: str) -> None:
        """Remove a venue's rows from a table that is damaged there; the next build makes them again."""
        for stage in self.stages(venue_id) if name == "set-aside" else [""]:
            made_from = {"stage": stage, "venue_id": venue_id}
            self._commit(name, self._make_writer(name, venue_id, stage), NO_KEY, made_from, replaces=True)

    def set_log_aside(self, name: str, aside: Path) -> None:
        """Set a table with a damaged log aside; the next build makes it again.

        A local table is moved into the folder `aside`; in a store, the log is deleted and the Parquet files stay.
        """
        if self.logs:
            self.logs.forget(name)
        folder = self.folder / name
        if isinstance(folder, Path):
            make_private_folder(aside)
            with suppress(FileNotFoundError):
                folder.rename(aside / f"{name}-{uuid4().hex}")
        else:
            for path, _ in list_below(folder / LOG):
                path.unlink(missing_ok=True)
        self._opened.pop(name, None)

    def sift(
        self,
        record_type: type[RecordT],
        venue_id: str,
        stage: str,
        columns: Sequence[str],
        wanted_rows: Set[tuple[str, ...]],
        key: str,
    ) -> set[tuple[str, ...]]:
        """Keep the wanted rows of a stage's own table, matched by these columns; return those that exist.

        From then until the stage finishes, the partition has a key that no finished partition has.
        """
        name = self.name_of(record_type)
        started = hashlib.sha256(f"{key} started".encode()).hexdigest()
        rows = list(self.rows(name, venue_id, columns))
        kept = set(wanted_rows & set(rows))
        if len(kept) == len(rows):
            self.finish(name, venue_id, stage, started)
            return kept
        with self.replacing((name,), venue_id, stage, started) as replacement:
            for record in self.read(record_type, venue_id):
                if tuple(getattr(record, column) for column in columns) in kept:
                    replacement.add(record)
        return kept


@cache
def open_for_worker(folder: Location, scratch: Path) -> Tables:
    """Return the tables in their state when a worker process first opens them; `scratch` is a local folder."""
    return Tables(folder, scratch, is_steady=True)


HeldTables = Mapping[str, TableState]
"""State of tables, by name; a missing table is left out."""


class DraftTables(Tables):
    """Tables that are never reloaded and never committed: files are written, and changes are collected.

    The process that has locked the workspace applies the changes to its own tables.
    """

    def __init__(self, folder: Location, scratch: Path) -> None:
        super().__init__(folder, scratch, is_steady=True)
        self._changes: list[PartitionChange] = []
        self._held: dict[str, TableState] = {}
        self._reader.keeps = True

    def start(self, held: HeldTables) -> None:
        """Start from the needed part of the tables' state, and discard collected changes."""
        self._held = {name: state.copy() for name, state in held.items()}
        self._changes = []

    def take_changes(self) -> list[PartitionChange]:
        """Return the changes since the last call, in order."""
        changes, self._changes = self._changes, []
        return changes

    def _state(self, name: str) -> TableState | None:
        return self._held.get(name)

    def apply(self, change: PartitionChange) -> None:
        """Collect a change; later reads include it."""
        state = self._held.setdefault(change.name, TableState({}, {}))
        numbers = self._number(change)
        if change.replaces:
            for part in state.parts_of(change.partition):
                state.remove(part)
        for action, rows in change.files:
            state.add(TablePart(action.path, change.partition, rows, action.size))
        state.numbers |= numbers
        self._changes.append(change)

    def commit_due(self) -> None:
        """Commit nothing."""


def hold(tables: Tables, names: Iterable[str], venue_id: str, stages: Sequence[str]) -> HeldTables:
    """Return the state of these tables for a venue, to start `DraftTables` from."""
    states = ((name, tables.state_of(name, venue_id, stages)) for name in names)
    return {name: state for name, state in states if state is not None}


def join_ranges(ranges: Sequence[Sequence[PartitionChange]]) -> list[PartitionChange]:
    """Combine a stage's changes for each range of a venue's forums into changes for the venue, in order."""
    if len(ranges) == 1:
        return list(ranges[0])
    return [
        replace(
            together[0],
            files=tuple(file for change in together for file in change.files),
            content=sum(change.content for change in together),
        )
        for together in zip(*ranges, strict=True)
    ]
