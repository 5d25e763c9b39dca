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

from peercorpus.errors import TableError
from peercorpus.execution.stage import ALL_FORUMS, ForumRange
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.arrow_schema import NOTHING, arrow_schema, from_arrow, repeat_text
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
from peercorpus.workspace.small_parts import SmallParts
from peercorpus.workspace.table_logs import LOG, TableLogs
from peercorpus.workspace.table_state import (
    OpenedTable,
    PartitionChange,
    TablePart,
    TableState,
    content_of,
    identify_table,
    number_of,
    owner_of,
    read_state,
)

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


def _by_place(part: TablePart) -> list[str]:
    return part.relative.split("/")


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
        self._small: SmallParts | None = None

    def _open(self, name: str) -> OpenedTable | None:
        """Return a table as it is now, whatever its columns; only commits that are new are read."""
        opened = self._opened.get(name)
        if (self._is_steady and name in self._opened) or (opened is not None and opened.is_changed):
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

    @contextmanager
    def reading_through(self) -> Iterator[None]:
        """Look once, and read the small files of many venues together: venues are read in alphabetical order inside.

        In a store, where a file is a request in either case, each is read by itself.
        """
        with self.looking_once():
            self._small = SmallParts(self.folder, self.parts) if isinstance(self.folder, Path) else None
            try:
                yield
            finally:
                self._small = None

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
        if opened.table is not None and opened.read_version != opened.table.version():
            columns = {field.name for field in opened.table.schema().fields}
            is_ours = columns == set(arrow_schema(TABLES[name]).names)
            folder = self.folder / name
            with translate_delta_errors(folder):
                opened.state = read_state(opened.table, folder, _partition_columns(name)) if is_ours else None
            opened.read_version = opened.table.version()
        return opened.state

    def state_of(self, name: str, venue_id: str, stages: Sequence[str]) -> TableState | None:
        """Return what a table holds of one venue, with what these stages set aside; None if there is no such table."""
        state = self._state(name)
        return None if state is None else state.of_venue(venue_id, stages)

    def version(self, name: str) -> int | None:
        """Return the number of a table's last commit; None if there is no such table."""
        opened = self._open(name)
        return None if opened is None else opened.version

    def _clear(self, name: str) -> None:
        """Delete a table with other columns: it is made again from what was received."""
        opened = self._open(name)
        if opened is None or opened.table is None:
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
        state = TableState({}, {})
        self._opened[name] = OpenedTable(None, state=state)
        return state

    def _commit(
        self, name: str, writer: PartitionWriter, key: str | None, made_from: Mapping[str, str], *, replaces: bool
    ) -> None:
        """Add a partition's new rows to a table's changes, and commit these unless they are held back."""
        files = tuple((action, writer.rows) for action in writer.finish())
        self.apply(PartitionChange(name, writer.partition, replaces, files, writer.content, key, made_from))

    def apply(self, change: PartitionChange) -> None:
        """Add a change to those of its table, and commit these unless they are held back."""
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
        """Return the numbers of the transactions that hold what a partition has after a change: content and key."""
        before = 0 if change.replaces else self._read_content(change.name, change.partition)
        content = (before + change.content) % (1 << CONTENT_BITS)
        return {content_of(owner_of(change.partition)): content} | change.numbers

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
        folder, columns = self.folder / name, _partition_columns(name)
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
        """Replace a venue's partitions of these tables, and what this stage set aside, by what is written inside.

        Each table changes in one commit, the last of which finishes the stage; an error raised inside changes none.

        Args:
            names: The tables.
            venue_id: The venue.
            stage: The stage.
            key: Its content key.
            number: Of the range of the venue's forums whose rows are written.
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
        partition = {column: values[column] for column in _partition_columns(name)}
        return PartitionWriter(self.folder / name, TABLES[name], partition, self.scratch, number)

    def append(self, name: str, venue_id: str, stage: str, records: Sequence[object]) -> None:
        """Add rows to a venue's partition in one commit; this does not mark the partition as finished."""
        writer = self._make_writer(name, venue_id, stage)
        for record in records:
            writer.add(record)
        self._commit(name, writer, None, {"stage": stage, "venue_id": venue_id}, replaces=False)

    def is_finished(self, name: str, venue_id: str, stage: str, key: str) -> bool:
        """Return whether the last finishing commit of a partition has this key."""
        owner = f"{venue_id}/{stage}" if name == "set-aside" else venue_id
        return self._read_key(name, owner) == number_of(key)

    def _read_key(self, name: str, owner: str) -> int | None:
        """Return the number that the last commit with this owner's transaction has; None if there is none."""
        state = self._state(name)
        return state.numbers.get(owner) if state else None

    def finish(self, name: str, venue_id: str, stage: str, key: str) -> None:
        """Mark a partition that was filled by appending as finished."""
        made_from = {"stage": stage, "venue_id": venue_id, "content_key": key}
        self._commit(name, self._make_writer(name, venue_id, stage), key, made_from, replaces=False)

    def empty(self, name: str, venue_id: str) -> None:
        """Remove a venue's rows of a table that is damaged there: the next build makes them again."""
        for stage in self.stages(venue_id) if name == "set-aside" else [""]:
            made_from = {"stage": stage, "venue_id": venue_id}
            self._commit(name, self._make_writer(name, venue_id, stage), NO_KEY, made_from, replaces=True)

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
        stored = self._read_key(name, content_of(owner_of(partition)))
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

    def _parts_of(self, name: str, partition: Mapping[str, str]) -> list[TablePart]:
        state = self._state(name)
        return sorted(state.parts_of(partition), key=_by_place) if state else []

    def _files(self, name: str, partition: Mapping[str, str]) -> list[Location]:
        return [self.folder / name / part.relative for part in self._parts_of(name, partition)]

    def paths(self, name: str, venue_id: str) -> list[Location]:
        """Return the Parquet files of a venue's partition as they are now."""
        return self._files(name, {"venue_id": venue_id})

    def count(self, name: str, venue_id: str) -> int:
        """Return the number of rows of a venue."""
        return sum(self._count_part(name, part) for part in self._parts_of(name, {"venue_id": venue_id}))

    def _count_part(self, name: str, part: TablePart) -> int:
        known = self._small.count(name, part) if self._small else None
        return self._reader.count(self.folder / name / part.relative) if known is None else known

    def parts(self, name: str) -> list[TablePart]:
        """Return the Parquet files of a table, sorted by their paths."""
        state = self._state(name)
        return sorted(state.all_parts(), key=attrgetter("relative")) if state else []

    def count_committed(self, name: str, venue_id: str) -> int:
        """Return the number of rows of a venue according to the commits that wrote them; 0 if there is no table."""
        state = self._state(name)
        return sum(part.rows for part in (state.parts_of({"venue_id": venue_id}) if state else ()))

    def tuples(self, name: str, venue_id: str, columns: Sequence[str]) -> set[tuple[str, ...]]:
        """Return the distinct values of these columns in a venue's rows."""
        return set(self.rows(name, venue_id, columns))

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

    def batches(
        self,
        name: str,
        venue_id: str,
        columns: Sequence[str] | None = None,
        rows: int = BATCH_ROWS,
        span: ForumRange = ALL_FORUMS,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a venue's rows, or those of a range of forums, in batches, without the partition columns."""
        for path in self.paths(name, venue_id):
            yield from self._reader.batches(path, columns, rows, span)

    def rows(
        self, name: str, venue_id: str, columns: Sequence[str], stage: str | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the values of these columns in a venue's rows, without the partition columns, in their order.

        Args:
            name: The table.
            venue_id: The venue.
            columns: Columns, or parts of them such as `scores.list.element.field`, which limit what is read of a large
                file; parts of one column are one value.
            stage: Of what is set aside, the stage whose rows these are; None means all.
        """
        partition = {"venue_id": venue_id} if stage is None else {"venue_id": venue_id, "stage": stage}
        whole = list(dict.fromkeys(column.partition(".")[0] for column in columns))
        for part in self._parts_of(name, partition):
            values = self._small.columns(name, part, whole) if self._small else None
            if values is not None:
                yield from zip(*values, strict=True)
                continue
            for batch in self._reader.batches(self.folder / name / part.relative, columns):
                yield from zip(*(batch.column(column).to_pylist() for column in whole), strict=True)

    def _list_partitions(self, name: str, venue_id: str | None) -> list[Mapping[str, str]]:
        """Return the partitions of a venue, or all, in the order of their stages."""
        state = self._state(name)
        if state is None:
            return []
        parts = state.all_parts() if venue_id is None else state.parts_of({"venue_id": venue_id})
        partitions = {tuple(part.values.items()): part.values for part in parts}
        return [partitions[items] for items in sorted(partitions)]

    def read(
        self,
        record_type: type[RecordT],
        venue_id: str,
        unread: Mapping[str, object] = NOTHING,
        span: ForumRange = ALL_FORUMS,
    ) -> Iterator[RecordT]:
        """Yield a venue's records in the order in which they were written.

        Args:
            record_type: The type of the records.
            venue_id: The venue.
            unread: Fields that are not read, with what every record has instead, as reading all takes longer.
            span: Range of forums, for records that have one.
        """
        for partition in self._list_partitions(self.name_of(record_type), venue_id):
            yield from self._read_partition(record_type, partition, unread, span)

    def _read_partition(
        self,
        record_type: type[RecordT],
        partition: Mapping[str, str],
        unread: Mapping[str, object] = NOTHING,
        span: ForumRange = ALL_FORUMS,
    ) -> Iterator[RecordT]:
        schema = arrow_schema(cast(Any, record_type))
        columns = [column for column in schema.names if column not in partition and column not in unread]
        for path in self._files(self.name_of(record_type), partition):
            for batch in self._reader.batches(path, columns, span=span):
                for column, value in partition.items():
                    batch = batch.append_column(schema.field(column), repeat_text(value, batch.num_rows))
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
                    for group in groups_with(file, ForumRange(0, forum_id, f"{forum_id}\0")):
                        ids = file.read_row_group(group, ["forum_id"], use_threads=False).column(0)
                        is_of_forum = pc.equal(ids, repeat_text(forum_id, len(ids)))
                        if not pc.any(is_of_forum).as_py():
                            continue
                        rows = file.read_row_group(group, columns, use_threads=False).filter(is_of_forum)
                        for column, value in partition.items():
                            rows = rows.append_column(schema.field(column), repeat_text(value, rows.num_rows))
                        for batch in rows.to_batches():
                            yield from from_arrow(record_type, batch, unread)

    def stages(self, venue_id: str) -> list[str]:
        """Return the stages that set rows of a venue aside."""
        return [part["stage"] for part in self._list_partitions("set-aside", venue_id)]

    def set_aside_counts(self, venue_id: str, stage: str) -> dict[Reason, int]:
        """Return how many rows of a venue a stage set aside, by reason; reasons without rows are left out."""
        counts = Counter(Reason(reason) for (reason,) in self.rows("set-aside", venue_id, ["reason"], stage))
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
