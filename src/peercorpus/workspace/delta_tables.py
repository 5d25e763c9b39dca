"""Delta Lake tables of a workspace; a stage replaces a venue's partition in one commit."""

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, Schema
from deltalake.exceptions import TableNotFoundError
from deltalake.transaction import create_table_with_add_actions

from peercorpus.errors import TableError
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.arrow_schema import NOTHING, arrow_schema, from_arrow
from peercorpus.records.documents import Change, Figure, Inspection, PaperText
from peercorpus.records.enums import Reason
from peercorpus.records.papers import Link, Paper, PaperVersion, SetAside
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.workspace.object_store import (
    Location,
    damaged_table,
    delta_options,
    list_below,
    table_url,
    translate_delta_errors,
)
from peercorpus.workspace.parquet import (
    BATCH_ROWS,
    CONTENT_BITS,
    PartitionWriter,
    PartReader,
    digest_record,
    flush_to_disk,
    groups_with,
    open_part,
)
from peercorpus.workspace.private_files import make_private_folder
from peercorpus.workspace.table_logs import LOG, TableLogs
from peercorpus.workspace.table_state import OpenedTable, TablePart, TableState, identify_table, read_state

TABLES: dict[str, type] = {
    "1-papers": Paper,
    "2-ai-reviews": AiReview,
    "2-reviews": Review,
    "3-posts": Post,
    "4-versions": PaperVersion,
    "5-figures": Figure,
    "5-texts": PaperText,
    "6-conversations": Conversation,
    "7-changes": Change,
    "8-links": Link,
    "0-inspections": Inspection,
    "set-aside": SetAside,
}

ON_DEMAND = frozenset({"5-figures"})
"""Tables that a build makes only if asked to."""

NO_KEY = "0" * 64
"""Key of a partition that was emptied, which no finished stage has."""

HOLD_S = 5.0
"""Seconds after which changes that are made together are committed: the most work that a kill loses; our choice."""

RecordT = TypeVar("RecordT")


def _partition_columns(name: str) -> tuple[str, ...]:
    return ("venue_id", "stage") if name == "set-aside" else ("venue_id",)


def _owner(partition: Mapping[str, str]) -> str:
    """Return the name of the transaction that holds the key of a partition."""
    return "/".join(partition.values())


def _content_of(owner: str) -> str:
    """Return the name of the transaction that holds what stands for a partition's rows."""
    return f"content of {owner}"


class Replacement:
    """Receives the rows a stage writes for one venue, by record type, and the rows it sets aside."""

    def __init__(self, writers: Mapping[type, PartitionWriter], venue_id: str, stage: str) -> None:
        self._writers = writers
        self._venue_id = venue_id
        self._stage = stage
        self._add = {record_type: writer.add for record_type, writer in writers.items()}

    def add(self, record: object) -> None:
        """Write one record to the table of its type."""
        self._add[type(record)](record)

    def set_aside(self, record_id: str, forum_id: str | None, reason: Reason, detail: str) -> None:
        """Record that a row was left out, and why."""
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


class Tables:
    """All tables of a workspace."""

    def __init__(
        self, folder: Location, scratch: Path, logs: TableLogs | None = None, *, is_steady: bool = False
    ) -> None:
        """Use the tables below a folder.

        Args:
            folder: Location of the tables.
            scratch: Local folder for files that are not complete yet.
            logs: What is recorded of their logs; None if nothing is.
            is_steady: Whether each table stays as it was when first opened, but for this process's own commits: where
                no other process writes, or its commits are not looked for.
        """
        self.folder = folder
        self.scratch = scratch
        self.logs = logs
        self._is_steady = is_steady
        self._options = delta_options(folder)
        self._opened: dict[str, OpenedTable | None] = {}
        self._held_since: float | None = None
        self._reader = PartReader()

    def _open(self, name: str) -> OpenedTable | None:
        """Return a table as it is now, whatever its columns; only commits that are new are read."""
        opened = self._opened.get(name)
        if (self._is_steady and name in self._opened) or (opened is not None and opened.changes.made_from):
            return opened
        identity = identify_table(self.folder / name / LOG)
        if opened is None or identity is None or identity != opened.identity:
            table = self._read(name)
            opened = self._opened[name] = None if table is None else OpenedTable(table, identity)
        else:
            with translate_delta_errors(self.folder / name):
                opened.follow(self.folder / name / LOG)
        return opened

    @contextmanager
    def looking_once(self) -> Iterator[None]:
        """Read every table inside as it is when first opened there, whatever other processes commit meanwhile."""
        was_steady, self._is_steady = self._is_steady, True
        if not was_steady:
            self._opened.clear()
        self._reader.keeps = True
        try:
            yield
        finally:
            self._is_steady = was_steady
            self._reader.forget()

    def _read(self, name: str) -> DeltaTable | None:
        url = table_url(self.folder / name)
        table: DeltaTable | None = None
        with translate_delta_errors(self.folder / name):
            # Of a folder that may not be read, only this says so; in a store, it is one more listing.
            is_there = not isinstance(self.folder, Path) or DeltaTable.is_deltatable(url)
            with suppress(TableNotFoundError):
                table = DeltaTable(url, storage_options=self._options) if is_there else None
        loss = self.find_loss(name, None if table is None else table.version())
        if loss is not None and not (table is None and self.logs and self.logs.is_writer):
            raise damaged_table(self.folder / name, loss)
        return table

    def find_loss(self, name: str, version: int | None) -> str | None:
        """Return, in words, why a table with this last commit is not the one last written; None if it is."""
        return self.logs.find_loss(name, self.folder / name / LOG, version) if self.logs else None

    def _state(self, name: str) -> TableState | None:
        """Return what a table holds; one with other columns, made by another version of peercorpus, counts as missing.

        What changes that are not committed yet make of it counts.
        """
        opened = self._open(name)
        if opened is None:
            return None
        if opened.read_version != opened.table.version():
            columns = {field.name for field in opened.table.schema().fields}
            is_ours = columns == set(arrow_schema(TABLES[name]).names)
            folder = self.folder / name
            with translate_delta_errors(folder):
                opened.state = read_state(opened.table, folder, _partition_columns(name)) if is_ours else None
            opened.read_version = opened.table.version()
        return opened.state

    def version(self, name: str) -> int | None:
        """Return the number of a table's last commit; None if there is no such table."""
        opened = self._open(name)
        return None if opened is None else opened.table.version()

    def _clear(self, name: str) -> None:
        """Delete a table with other columns: it is made again from what was received."""
        opened = self._open(name)
        if opened is None:
            return
        names = {uri.rpartition("/")[2] for uri in opened.table.file_uris()}
        paths = sorted((path for path, _ in list_below(self.folder / name)), key=str)
        log = [path for path in paths if path.parent.name == LOG]
        # The last commit first: until the first one is gone, what is left is a table.
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
        schema = Schema.from_arrow(arrow_schema(TABLES[name]))
        columns = list(_partition_columns(name))
        url = table_url(folder)
        create_table_with_add_actions(url, schema, [], partition_by=columns, name=name, storage_options=self._options)
        table = DeltaTable(url, storage_options=self._options)
        state = TableState({}, {})
        self._opened[name] = OpenedTable(table, identify_table(folder / LOG), read_version=table.version(), state=state)
        return state

    def _commit(
        self, name: str, writer: PartitionWriter, mode: str, key: str | None, made_from: Mapping[str, str]
    ) -> None:
        """Add a partition's new rows to a table's changes, and commit these unless they are held back."""
        added = writer.finish()
        with translate_delta_errors(self.folder / name):
            state = self._create_if_missing(name)
        content = writer.content + (self._read_content(name, writer.partition) if mode == "append" else 0)
        owner = _owner(writer.partition)
        numbers = {_content_of(owner): content % (1 << CONTENT_BITS)}
        numbers |= {owner: int(key[:15], 16)} if key else {}
        opened = self._opened[name]
        assert opened is not None
        if mode == "overwrite":
            for path in opened.remove(writer.partition):
                (self.folder / name / path).unlink(missing_ok=True)
        for action in added:
            opened.add(action, writer.partition, writer.rows)
        state.numbers |= numbers
        opened.changes.numbers |= numbers
        opened.changes.made_from.append(made_from)
        self.commit_due()

    def commit_due(self) -> None:
        """Commit the changes that are not held back, or were for `HOLD_S` seconds."""
        if self._held_since is None or time.monotonic() - self._held_since > HOLD_S:
            self._flush()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Hold back the changes made inside, so that those of many venues are one commit to a table; look once.

        This object reads them at once; others, and this one after a kill, read them once they are committed: by the
        first change or call of `commit_due` after `HOLD_S` seconds, and at the end, also where an error is raised.
        """
        self._held_since = time.monotonic()
        with self.looking_once():
            try:
                yield
            finally:
                self._held_since = None
                self._flush()

    def _flush(self) -> None:
        """Commit what is held back: what is set aside first, then the tables in the order in which they are made."""
        if self._held_since is not None:
            self._held_since = time.monotonic()
        changed = {name: opened for name, opened in self._opened.items() if opened and opened.changes.made_from}
        # Where a commit fails, the tables are read again: what is in memory is not what they hold.
        self._opened = {name: opened for name, opened in self._opened.items() if name not in changed}
        for name in sorted(changed, key=lambda name: (name != "set-aside", name)):
            self._write_commit(name, changed[name])
            self._opened[name] = changed[name]

    def _write_commit(self, name: str, opened: OpenedTable) -> None:
        if isinstance(self.folder, Path):
            flush_to_disk(self.folder / name / path for path in opened.changes.added)
        with translate_delta_errors(self.folder / name):
            opened.commit(Schema.from_arrow(arrow_schema(TABLES[name])), _partition_columns(name))
        if self.logs:
            self.logs.record(name, self.folder / name / LOG, opened.table.version())

    @contextmanager
    def replacing(self, names: Sequence[str], venue_id: str, stage: str, key: str) -> Iterator[Replacement]:
        """Replace a venue's partitions of these tables, and what this stage set aside, by what is written inside.

        Each table changes in one commit, the last of which finishes the stage; an error raised inside changes none.
        """
        writers = {TABLES[name]: self._make_writer(name, venue_id, stage) for name in ("set-aside", *names)}
        try:
            yield Replacement(writers, venue_id, stage)
        except BaseException:
            for writer in writers.values():
                writer.discard()
            raise
        made_from = {"stage": stage, "venue_id": venue_id, "content_key": key}
        for name in ("set-aside", *names):
            self._commit(name, writers[TABLES[name]], "overwrite", key, made_from)

    def _make_writer(self, name: str, venue_id: str, stage: str) -> PartitionWriter:
        values = {"venue_id": venue_id, "stage": stage}
        partition = {column: values[column] for column in _partition_columns(name)}
        return PartitionWriter(self.folder / name, record_type=TABLES[name], partition=partition, scratch=self.scratch)

    def append(self, name: str, venue_id: str, stage: str, records: Sequence[object]) -> None:
        """Add rows to a venue's partition in one commit; this does not mark the partition as finished."""
        writer = self._make_writer(name, venue_id, stage)
        for record in records:
            writer.add(record)
        self._commit(name, writer, "append", None, {"stage": stage, "venue_id": venue_id})

    def is_finished(self, name: str, venue_id: str, stage: str, key: str) -> bool:
        """Return whether the last finishing commit of a partition has this key."""
        owner = f"{venue_id}/{stage}" if name == "set-aside" else venue_id
        return self._read_key(name, owner) == int(key[:15], 16)

    def _read_key(self, name: str, owner: str) -> int | None:
        """Return the number that the last commit with this owner's transaction has; None if there is none."""
        state = self._state(name)
        return state.numbers.get(owner) if state else None

    def finish(self, name: str, venue_id: str, stage: str, key: str) -> None:
        """Mark a partition that was filled by appending as finished."""
        made_from = {"stage": stage, "venue_id": venue_id, "content_key": key}
        self._commit(name, self._make_writer(name, venue_id, stage), "append", key, made_from)

    def empty(self, name: str, venue_id: str) -> None:
        """Remove a venue's rows of a table that is damaged there: the next build makes them again."""
        for stage in self.stages(venue_id) if name == "set-aside" else [""]:
            made_from = {"stage": stage, "venue_id": venue_id}
            self._commit(name, self._make_writer(name, venue_id, stage), "overwrite", NO_KEY, made_from)

    def set_log_aside(self, name: str, aside: Path) -> None:
        """Take a table with a damaged log out of what is read: the next build makes it again.

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

    def digest(self, name: str, venue_id: str) -> str:
        """Return what stands for a partition's content in the keys of stages that read it: its own finishing key."""
        return str(self._read_key(name, venue_id))

    def content(self, name: str, venue_id: str | None) -> str:
        """Return what stands for a venue's rows of a table, or for all rows, however they were made.

        Equal rows give the same 15 hexadecimal digits in every workspace, in any order.
        """
        parts = self._list_partitions(name, venue_id)
        return f"{sum(self._read_content(name, part) for part in parts) % (1 << CONTENT_BITS):015x}"

    def _read_content(self, name: str, partition: Mapping[str, str]) -> int:
        """Return the number that stands for a partition's rows; those of earlier versions are read for it."""
        stored = self._read_key(name, _content_of(_owner(partition)))
        if stored is not None:
            return stored
        return sum(map(digest_record, self._read_partition(TABLES[name], partition)))

    def digests(self, name: str) -> dict[str, str]:
        """Return the digest of every venue that has rows in a table."""
        return {venue_id: self.digest(name, venue_id) for venue_id in self.venues(name)}

    def venues(self, name: str) -> list[str]:
        """Return the venues that have rows in a table, in alphabetical order."""
        state = self._state(name)
        return sorted(state.parts) if state else []

    def _files(self, name: str, partition: Mapping[str, str]) -> list[Location]:
        state = self._state(name)
        return sorted(self.folder / name / part.relative for part in (state.parts_of(partition) if state else ()))

    def paths(self, name: str, venue_id: str) -> list[Location]:
        """Return the Parquet files of a venue's partition as they are now."""
        return self._files(name, {"venue_id": venue_id})

    def count(self, name: str, venue_id: str) -> int:
        """Return the number of rows of a venue."""
        return sum(map(self._reader.count, self.paths(name, venue_id)))

    def parts(self, name: str) -> list[TablePart]:
        """Return the Parquet files of a table, sorted by their paths."""
        state = self._state(name)
        return sorted(state.all_parts(), key=attrgetter("relative")) if state else []

    def count_committed(self, name: str, venue_id: str) -> int:
        """Return the number of rows of a venue according to the commits that wrote them; 0 if there is no table."""
        state = self._state(name)
        return sum(part.rows for part in (state.parts_of({"venue_id": venue_id}) if state else ()))

    def _read_tuples(self, name: str, venue_id: str, columns: Sequence[str]) -> list[tuple[str, ...]]:
        batches = self.batches(name, venue_id, columns)
        return [tuple(row[column] for column in columns) for batch in batches for row in batch.to_pylist()]

    def tuples(self, name: str, venue_id: str, columns: Sequence[str]) -> set[tuple[str, ...]]:
        """Return the distinct values of these columns in a venue's rows."""
        return set(self._read_tuples(name, venue_id, columns))

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

        From here until the stage finishes, the partition has a key that no finished partition has.
        """
        name = self.name_of(record_type)
        started = hashlib.sha256(f"{key} started".encode()).hexdigest()
        rows = self._read_tuples(name, venue_id, columns)
        kept = set(wanted_rows & set(rows))
        if len(kept) == len(rows):
            self.finish(name, venue_id, stage, started)
            return kept
        with self.replacing((name,), venue_id, stage, started) as replacement:
            for record in self.read(record_type, venue_id):
                if tuple(getattr(record, column) for column in columns) in kept:
                    replacement.add(record)
        return kept

    def batches(
        self, name: str, venue_id: str, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Yield a venue's rows in batches, without the partition columns."""
        for path in self.paths(name, venue_id):
            yield from self._reader.batches(path, columns, rows)

    def _list_partitions(self, name: str, venue_id: str | None) -> list[Mapping[str, str]]:
        """Return the partitions of a venue, or all, in the order of their stages."""
        state = self._state(name)
        if state is None:
            return []
        parts = state.all_parts() if venue_id is None else state.parts_of({"venue_id": venue_id})
        partitions = {tuple(part.values.items()): part.values for part in parts}
        return [partitions[items] for items in sorted(partitions)]

    def read(
        self, record_type: type[RecordT], venue_id: str, unread: Mapping[str, object] = NOTHING
    ) -> Iterator[RecordT]:
        """Yield a venue's records in the order in which they were written.

        Args:
            record_type: The type of the records.
            venue_id: The venue.
            unread: Fields that are not read, with what every record has instead, as reading all takes longer.
        """
        for partition in self._list_partitions(self.name_of(record_type), venue_id):
            yield from self._read_partition(record_type, partition, unread)

    def _read_partition(
        self, record_type: type[RecordT], partition: Mapping[str, str], unread: Mapping[str, object] = NOTHING
    ) -> Iterator[RecordT]:
        schema = arrow_schema(cast(Any, record_type))
        columns = [column for column in schema.names if column not in partition and column not in unread]
        for path in self._files(self.name_of(record_type), partition):
            for batch in self._reader.batches(path, columns):
                for column, value in partition.items():
                    constant = pa.array([value] * batch.num_rows, pa.string())
                    batch = batch.append_column(schema.field(column), constant)
                yield from from_arrow(record_type, batch, unread)

    def of_forum(
        self, record_type: type[RecordT], venue_id: str, forum_id: str, unread: Mapping[str, object] = NOTHING
    ) -> Iterator[RecordT]:
        """Yield the records of one forum of a venue; only row groups that may contain it are read.

        Args:
            record_type: The type of the records.
            venue_id: The venue.
            forum_id: The forum.
            unread: As in `read`.
        """
        name = self.name_of(record_type)
        schema = arrow_schema(cast(Any, record_type))
        for partition in self._list_partitions(name, venue_id):
            columns = [column for column in schema.names if column not in partition and column not in unread]
            for path in self._files(name, partition):
                with open_part(path) as file:
                    for group in groups_with(file, forum_id):
                        rows = file.read_row_group(group, columns).filter(pc.field("forum_id") == forum_id)
                        for column, value in partition.items():
                            constant = pa.array([value] * rows.num_rows, pa.string())
                            rows = rows.append_column(schema.field(column), constant)
                        for batch in rows.to_batches():
                            yield from from_arrow(record_type, batch, unread)

    def stages(self, venue_id: str) -> list[str]:
        """Return the stages that set rows of a venue aside."""
        return [part["stage"] for part in self._list_partitions("set-aside", venue_id)]

    def set_aside_counts(self, venue_id: str, stage: str) -> dict[Reason, int]:
        """Return how many rows of a venue a stage set aside, by reason; reasons without rows are left out."""
        counts = Counter[Reason]()
        for path in self._files("set-aside", {"venue_id": venue_id, "stage": stage}):
            for batch in self._reader.batches(path, ["reason"]):
                counts.update(map(Reason, batch.column("reason").to_pylist()))
        return dict(sorted(counts.items()))

    @staticmethod
    def name_of(record_type: type) -> str:
        """Return the table for records of a type.

        Raises:
            TableError: There is none.
        """
        name = next((name for name, kind in TABLES.items() if kind is record_type), None)
        if name is None:
            raise TableError(f"No table holds records of type '{record_type.__name__}'.")
        return name

    def require(self, name: str) -> Location:
        """Return the location of a table that exists.

        Raises:
            TableError: It has not been built.
        """
        if self._state(name) is None:
            command = "peercorpus build --figures" if name in ON_DEMAND else "peercorpus build"
            raise TableError(f"The table '{name}' is not built yet in '{self.folder.parent}'; run '{command}'.")
        return self.folder / name
