"""Delta Lake tables of a workspace; a stage replaces a venue's partition in one commit."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
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
    digest_record,
    groups_with,
    open_part,
)
from peercorpus.workspace.private_files import make_private_folder
from peercorpus.workspace.table_logs import LOG, TableLogs

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

RecordT = TypeVar("RecordT")
Identity = tuple[int, int]


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


@dataclass(frozen=True, slots=True)
class TablePart:
    """One Parquet file of a table, as the log has it.

    Attributes:
        relative: Its path below the table, quoted as in a URL.
        values: Its partition, by column.
        rows: Rows written to it.
    """

    relative: str
    values: Mapping[str, str]
    rows: int


@dataclass(slots=True)
class _OpenedTable:
    """A local table that was opened before.

    Attributes:
        identity: What distinguishes it from another one made in its place.
        table: The table, with the commits that were read.
        log: Folder of its log.
        changed_at: When a file of the log was last added or removed, as it was before the last commits were read; a
            time in nanoseconds, in which two changes may fall together. None if that was not looked at.
        keys: Number of a commit, and the numbers of transactions that were looked up in it, by owner.
    """

    identity: Identity
    table: DeltaTable
    log: Path
    changed_at: int | None = None
    keys: tuple[int, dict[str, int | None]] = field(default_factory=lambda: (-1, {}))

    def has_next(self) -> bool:
        """Return whether the commit after the last one that was read is there."""
        return (self.log / f"{self.table.version() + 1:020}.json").exists()

    def read_key(self, owner: str) -> int | None:
        """Return the number that the last commit with this owner's transaction has; None if there is none."""
        version = self.table.version()
        looked_up_in, keys = self.keys
        if version != looked_up_in:
            keys = {}
            self.keys = version, keys
        if owner not in keys:
            keys[owner] = self.table.transaction_version(owner)
        return keys[owner]


class Tables:
    """All tables of a workspace."""

    def __init__(self, folder: Location, scratch: Path, logs: TableLogs | None = None) -> None:
        """Use the tables below a folder.

        Args:
            folder: Location of the tables.
            scratch: Local folder for files that are not complete yet.
            logs: What is recorded of their logs; None if nothing is.
        """
        self.folder = folder
        self.scratch = scratch
        self.logs = logs
        self._options = delta_options(folder)
        self._opened: dict[str, _OpenedTable] = {}

    def _open(self, name: str) -> DeltaTable | None:
        """Return a table as it is now, whatever its columns; only commits that are new are read."""
        identity = self._identify(name)
        opened = self._opened.get(name)
        if opened is not None and identity == opened.identity:
            changed_at = opened.log.stat().st_mtime_ns
            if changed_at != opened.changed_at or opened.has_next():
                with translate_delta_errors(self.folder / name):
                    opened.table.update_incremental()
                opened.changed_at = changed_at
            return opened.table
        table = self._read(name)
        if table is not None:
            self._keep_open(name, identity, table)
        return table

    def _keep_open(self, name: str, identity: Identity | None, table: DeltaTable) -> None:
        log = self.folder / name / LOG
        if identity is not None and isinstance(log, Path):
            self._opened[name] = _OpenedTable(identity, table, log)

    def _read(self, name: str) -> DeltaTable | None:
        url = table_url(self.folder / name)
        with translate_delta_errors(self.folder / name):
            is_there = DeltaTable.is_deltatable(url, self._options)
            table = DeltaTable(url, storage_options=self._options) if is_there else None
        loss = self.find_loss(name, None if table is None else table.version())
        if loss is not None and not (table is None and self.logs and self.logs.is_writer):
            raise damaged_table(self.folder / name, loss)
        return table

    def find_loss(self, name: str, version: int | None) -> str | None:
        """Return, in words, why a table with this last commit is not the one last written; None if it is."""
        return self.logs.find_loss(name, self.folder / name / LOG, version) if self.logs else None

    def _identify(self, name: str) -> Identity | None:
        """Return what distinguishes a local table from another one made in its place; None if that is not known."""
        first = self.folder / name / LOG / f"{0:020}.json"
        try:
            stat = first.stat() if isinstance(first, Path) else None
        except FileNotFoundError:
            return None
        return stat and (stat.st_ino, stat.st_mtime_ns)

    def _table(self, name: str) -> DeltaTable | None:
        """Return a table; one with other columns, made by another version of peercorpus, counts as missing."""
        table = self._open(name)
        columns = {field.name for field in table.schema().fields} if table else set()
        return table if columns == set(arrow_schema(TABLES[name]).names) else None

    def version(self, name: str) -> int | None:
        """Return the number of a table's last commit; None if there is no such table."""
        table = self._open(name)
        return None if table is None else table.version()

    def _clear(self, name: str) -> None:
        """Delete a table with other columns: it is made again from what was received."""
        table = self._open(name)
        if table is None:
            return
        names = {uri.rpartition("/")[2] for uri in table.file_uris()}
        paths = sorted((path for path, _ in list_below(self.folder / name)), key=str)
        log = [path for path in paths if path.parent.name == LOG]
        # The last commit first: until the first one is gone, what is left is a table.
        for path in [*reversed(log), *(path for path in paths if path.name in names)]:
            path.unlink()

    def _create_if_missing(self, name: str) -> DeltaTable:
        table = self._table(name)
        if table is not None:
            return table
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
        identity = self._identify(name)
        table = DeltaTable(url, storage_options=self._options)
        self._keep_open(name, identity, table)
        return table

    def _commit(
        self, name: str, writer: PartitionWriter, mode: str, key: str | None, made_from: Mapping[str, str]
    ) -> None:
        actions = writer.finish()
        content = writer.content + (self._read_content(name, writer.partition) if mode == "append" else 0)
        owner = _owner(writer.partition)
        transactions = [Transaction(_content_of(owner), content % (1 << CONTENT_BITS))]
        transactions += [Transaction(owner, int(key[:15], 16))] if key else []
        properties = CommitProperties(custom_metadata=dict(made_from), app_transactions=transactions)
        filters = [(column, "=", value) for column, value in writer.partition.items()]
        with translate_delta_errors(self.folder / name):
            self._create_if_missing(name).create_write_transaction(
                actions,
                mode,
                Schema.from_arrow(arrow_schema(TABLES[name])),
                list(_partition_columns(name)),
                partition_filters=filters if mode == "overwrite" else None,
                commit_properties=properties,
            )
        if self.logs:
            self.logs.record(name, self.folder / name / LOG)

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
        table = self._table(name)
        opened = self._opened.get(name)
        with translate_delta_errors(self.folder / name):
            if opened is not None and opened.table is table:
                return opened.read_key(owner)
            return table.transaction_version(owner) if table else None

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
        table = self._table(name)
        return sorted({part["venue_id"] for part in table.partitions()}) if table else []

    def _files(self, name: str, partition: Mapping[str, str]) -> list[Location]:
        table = self._table(name)
        where = [(column, "=", value) for column, value in partition.items()]
        uris = table.file_uris(file_pruning_predicate=where) if table else []
        # A URI quotes the folder of the workspace; below it the names on disk are quoted themselves.
        steps = len(_partition_columns(name)) + 1
        return sorted(self.folder / name / "/".join(uri.split("/")[-steps:]) for uri in uris)

    def paths(self, name: str, venue_id: str) -> list[Location]:
        """Return the Parquet files of a venue's partition as they are now."""
        return self._files(name, {"venue_id": venue_id})

    def count(self, name: str, venue_id: str) -> int:
        """Return the number of rows of a venue."""
        rows = 0
        for path in self.paths(name, venue_id):
            with open_part(path) as file:
                rows += file.metadata.num_rows
        return rows

    def parts(self, name: str) -> list[TablePart]:
        """Return the Parquet files of a table, sorted by their paths."""
        table = self._table(name)
        files = pa.table(table.get_add_actions(flatten=True)).to_pylist() if table else []
        columns = _partition_columns(name)
        parts = (
            TablePart(file["path"], {column: file[f"partition.{column}"] for column in columns}, file["num_records"])
            for file in files
        )
        return sorted(parts, key=attrgetter("relative"))

    def count_committed(self, name: str, venue_id: str) -> int:
        """Return the number of rows of a venue according to the commits that wrote them; 0 if there is no table."""
        return sum(part.rows for part in self.parts(name) if part.values["venue_id"] == venue_id)

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
            with open_part(path) as file:
                yield from file.iter_batches(rows, columns=columns)

    def _list_partitions(self, name: str, venue_id: str | None) -> list[dict[str, str]]:
        """Return the partitions of a venue, or all, in the order of their stages: Delta Lake has them in any order."""
        table = self._table(name)
        where = None if venue_id is None else [("venue_id", "=", venue_id)]
        parts = table.partitions(file_pruning_predicate=where) if table else []
        return sorted(parts, key=lambda part: sorted(part.items()))

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
        for path in self._files(self.name_of(record_type), partition):
            with open_part(path) as file:
                columns = [column for column in file.schema_arrow.names if column not in unread]
                for batch in file.iter_batches(BATCH_ROWS, columns=columns):
                    for column, value in partition.items():
                        constant = pa.array([value] * batch.num_rows, pa.string())
                        batch = batch.append_column(schema.field(column), constant)
                    yield from from_arrow(record_type, batch, unread)

    def of_forum(self, record_type: type[RecordT], venue_id: str, forum_id: str) -> Iterator[RecordT]:
        """Yield the records of one forum of a venue; only row groups that may contain it are read."""
        name = self.name_of(record_type)
        schema = arrow_schema(cast(Any, record_type))
        for partition in self._list_partitions(name, venue_id):
            for path in self._files(name, partition):
                with open_part(path) as file:
                    for group in groups_with(file, forum_id):
                        rows = file.read_row_group(group).filter(pc.field("forum_id") == forum_id)
                        for column, value in partition.items():
                            constant = pa.array([value] * rows.num_rows, pa.string())
                            rows = rows.append_column(schema.field(column), constant)
                        for batch in rows.to_batches():
                            yield from from_arrow(record_type, batch)

    def stages(self, venue_id: str) -> list[str]:
        """Return the stages that set rows of a venue aside."""
        return [part["stage"] for part in self._list_partitions("set-aside", venue_id)]

    def set_aside_counts(self, venue_id: str, stage: str) -> dict[Reason, int]:
        """Return how many rows of a venue a stage set aside, by reason; reasons without rows are left out."""
        counts = Counter[Reason]()
        for path in self._files("set-aside", {"venue_id": venue_id, "stage": stage}):
            with open_part(path) as file:
                counts.update(map(Reason, file.read(["reason"]).column("reason").to_pylist()))
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
        if self._table(name) is None:
            command = "peercorpus build --figures" if name in ON_DEMAND else "peercorpus build"
            raise TableError(f"The table '{name}' is not built yet in '{self.folder.parent}'; run '{command}'.")
        return self.folder / name


class StoredTables(Tables):
    """Tables in a store, as they were when first opened and as this process's own commits leave them.

    Opening a table, or reading a key from its log, requests every commit since its last checkpoint; each is done once.
    """

    def __init__(self, folder: Location, scratch: Path, logs: TableLogs | None = None) -> None:
        """Use the tables below a prefix; arguments as `Tables`."""
        super().__init__(folder, scratch, logs)
        self._first_opened: dict[str, DeltaTable | None] = {}
        self._keys: dict[tuple[str, str], int | None] = {}

    def _open(self, name: str) -> DeltaTable | None:
        if name not in self._first_opened:
            self._first_opened[name] = self._read(name)
        return self._first_opened[name]

    def _read_key(self, name: str, owner: str) -> int | None:
        if (name, owner) not in self._keys:
            self._keys[name, owner] = super()._read_key(name, owner)
        return self._keys[name, owner]

    def _clear(self, name: str) -> None:
        super()._clear(name)
        self._first_opened.pop(name, None)

    def set_log_aside(self, name: str, aside: Path) -> None:
        super().set_log_aside(name, aside)
        self._first_opened.pop(name, None)

    def _commit(
        self, name: str, writer: PartitionWriter, mode: str, key: str | None, made_from: Mapping[str, str]
    ) -> None:
        super()._commit(name, writer, mode, key, made_from)
        owner = _owner(writer.partition)
        for stored in (owner, _content_of(owner)):
            self._keys.pop((name, stored), None)
        table = self._first_opened.get(name)
        if table is None:
            self._first_opened.pop(name, None)
            return
        with translate_delta_errors(self.folder / name):
            table.update_incremental()
