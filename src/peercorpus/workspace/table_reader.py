"""Read the Delta Lake tables of a workspace, by venue, range of forums or forum."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc

from peercorpus.errors import TableError
from peercorpus.execution.stage import ALL_FORUMS, ForumRange
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.arrow_schema import NOTHING, arrow_schema, from_arrow, repeat_text
from peercorpus.records.documents import Change, Figure, Inspection, PaperText
from peercorpus.records.enums import Reason
from peercorpus.records.papers import Link, Paper, PaperVersion, SetAside
from peercorpus.records.points import Point
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.workspace.object_store import Location
from peercorpus.workspace.parquet import (
    BATCH_ROWS,
    CONTENT_BITS,
    PartReader,
    digest_record,
    groups_with,
    open_part,
)
from peercorpus.workspace.small_parts import SmallParts
from peercorpus.workspace.table_logs import (
    LOG,
    TableLogs,
    damaged_table,
    delta_options,
    table_url,
    translate_delta_errors,
)
from peercorpus.workspace.table_state import (
    OpenedTable,
    TablePart,
    TableState,
    content_of,
    identify_table,
    number_of,
    owner_of,
    read_state,
)

if TYPE_CHECKING:
    from deltalake import DeltaTable

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
    "9-points": Point,
    "0-inspections": Inspection,
    "set-aside": SetAside,
}

ON_DEMAND: Mapping[str, str] = MappingProxyType({"5-figures": "--figures", "9-points": "--points"})
"""Tables that a build makes only on request, with the option for it."""

RecordT = TypeVar("RecordT")


def partition_columns(name: str) -> tuple[str, ...]:
    """Return the partition columns of a table."""
    return ("venue_id", "stage") if name == "set-aside" else ("venue_id",)


class TableReader:
    """The tables of a workspace, in their state at the time of reading."""

    def __init__(
        self, folder: Location, scratch: Path, logs: TableLogs | None = None, *, is_steady: bool = False
    ) -> None:
        """Use the tables below a folder.

        Args:
            folder: Location of the tables.
            scratch: Local folder for incomplete files.
            logs: Records of their logs; None if there are none.
            is_steady: Whether each table stays in its state at first opening, apart from this process's own commits;
                True if no other process writes, or its commits should be ignored.
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
        """Return a table in its current state, whatever its columns; only new commits are read."""
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
        """In the context, read every table in its state at first opening, whatever other processes commit meanwhile."""
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
        """Look once, and read the small files of many venues together; venues must then be read in alphabetical order.

        In a store, where every file needs a request anyway, each is read separately.
        """
        with self.looking_once():
            self._small = SmallParts(self.folder, self.parts) if isinstance(self.folder, Path) else None
            try:
                yield
            finally:
                self._small = None

    def _read(self, name: str) -> "DeltaTable | None":
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        url = table_url(self.folder / name)
        table: DeltaTable | None = None
        with translate_delta_errors(self.folder / name):
            # Only this detects an unreadable folder; in a store, it would be one more listing.
            is_there = not isinstance(self.folder, Path) or DeltaTable.is_deltatable(url)
            with suppress(TableNotFoundError):
                table = DeltaTable(url, storage_options=self._options) if is_there else None
        loss = self.find_loss(name, None if table is None else table.version())
        if loss is not None and not (table is None and self.logs and self.logs.is_writer):
            raise damaged_table(self.folder / name, loss)
        return table

    def find_loss(self, name: str, version: int | None) -> str | None:
        """Return how a table with this last commit differs from the one last written, in words; None if it does not."""
        return self.logs.find_loss(name, self.folder / name / LOG, version) if self.logs else None

    def _state(self, name: str) -> TableState | None:
        """Return the state of a table; one with different columns, from another version of peercorpus, counts as
        missing.

        Uncommitted changes are included.
        """
        opened = self._open(name)
        if opened is None:
            return None
        if opened.table is not None and opened.read_version != opened.table.version():
            columns = {field.name for field in opened.table.schema().fields}
            is_ours = columns == set(arrow_schema(TABLES[name]).names)
            folder = self.folder / name
            with translate_delta_errors(folder):
                opened.state = read_state(opened.table, folder, partition_columns(name)) if is_ours else None
            opened.read_version = opened.table.version()
        return opened.state

    def state_of(self, name: str, venue_id: str, stages: Sequence[str]) -> TableState | None:
        """Return a table's state for one venue, with rows set aside by these stages; None if there is no such table."""
        state = self._state(name)
        return None if state is None else state.of_venue(venue_id, stages)

    def version(self, name: str) -> int | None:
        """Return the number of a table's last commit; None if there is no such table."""
        opened = self._open(name)
        return None if opened is None else opened.version

    def is_finished(self, name: str, venue_id: str, stage: str, key: str) -> bool:
        """Return whether the last finishing commit of a partition has this key."""
        owner = f"{venue_id}/{stage}" if name == "set-aside" else venue_id
        return self._read_key(name, owner) == number_of(key)

    def _read_key(self, name: str, owner: str) -> int | None:
        """Return the number in the last commit with this owner's transaction; None if there is none."""
        state = self._state(name)
        return state.numbers.get(owner) if state else None

    def digest(self, name: str, venue_id: str) -> str:
        """Return a partition's digest for the keys of stages that read it: its own finishing key."""
        return str(self._read_key(name, venue_id))

    def content(self, name: str, venue_id: str | None) -> str:
        """Return a digest of a venue's rows in a table, or of all rows, however they were made.

        Equal rows give the same 15 hexadecimal digits in every workspace, whatever their order.
        """
        parts = self._list_partitions(name, venue_id)
        return f"{sum(self._read_content(name, part) for part in parts) % (1 << CONTENT_BITS):015x}"

    def _read_content(self, name: str, partition: Mapping[str, str]) -> int:
        """Return the digest of a partition's rows as a number; rows of earlier versions are read for it."""
        stored = self._read_key(name, content_of(owner_of(partition)))
        if stored is not None:
            return stored
        return sum(map(digest_record, self._read_partition(TABLES[name], partition)))

    def digests(self, name: str) -> dict[str, str]:
        """Return the digest of every venue with rows in a table."""
        return {venue_id: self.digest(name, venue_id) for venue_id in self.venues(name)}

    def venues(self, name: str) -> list[str]:
        """Return the venues with rows in a table, in alphabetical order."""
        state = self._state(name)
        return sorted(state.parts) if state else []

    def _parts_of(self, name: str, partition: Mapping[str, str]) -> list[TablePart]:
        state = self._state(name)
        return sorted(state.parts_of(partition), key=lambda part: part.relative.split("/")) if state else []

    def _files(self, name: str, partition: Mapping[str, str]) -> list[Location]:
        return [self.folder / name / part.relative for part in self._parts_of(name, partition)]

    def paths(self, name: str, venue_id: str) -> list[Location]:
        """Return the current Parquet files of a venue's partition."""
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
        """Return the number of a venue's rows according to the commits that wrote them; 0 if there is no table."""
        state = self._state(name)
        return sum(part.rows for part in (state.parts_of({"venue_id": venue_id}) if state else ()))

    def tuples(self, name: str, venue_id: str, columns: Sequence[str]) -> set[tuple[str, ...]]:
        """Return the distinct values of these columns in a venue's rows."""
        return set(self.rows(name, venue_id, columns))

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
        self,
        name: str,
        venue_id: str,
        columns: Sequence[str],
        stage: str | None = None,
        span: ForumRange = ALL_FORUMS,
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the values of these columns in a venue's rows, in order, without the partition columns.

        Parts of columns, such as `scores.list.element.field`, limit the amount read from a large file; parts of one
        column form one value. For rows set aside, `stage` chooses those of one stage.
        """
        partition = {"venue_id": venue_id} if stage is None else {"venue_id": venue_id, "stage": stage}
        whole = list(dict.fromkeys(column.partition(".")[0] for column in columns))
        for part in self._parts_of(name, partition):
            values = self._small.columns(name, part, whole) if self._small and span == ALL_FORUMS else None
            if values is not None:
                yield from zip(*values, strict=True)
                continue
            for batch in self._reader.batches(self.folder / name / part.relative, columns, span=span):
                yield from zip(*(batch.column(column).to_pylist() for column in whole), strict=True)

    def _list_partitions(self, name: str, venue_id: str | None) -> list[Mapping[str, str]]:
        """Return the partitions of a venue, or of all venues, in the order of their stages."""
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
        """Yield a venue's records, or those of a range of forums, in the order of writing.

        `unread` names fields not to read, with the value that every record gets instead: reading all takes longer.
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
        """Yield the records of one forum of a venue, as `read`; only row groups that may contain it are read."""
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
        """Return the stages with rows of a venue set aside."""
        return [part["stage"] for part in self._list_partitions("set-aside", venue_id)]

    def set_aside_counts(self, venue_id: str, stage: str) -> dict[Reason, int]:
        """Return the number of a venue's rows set aside by a stage, by reason; reasons without rows are left out."""
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
            raise TableError(f"No table contains records of type '{record_type.__name__}'.")
        return name

    def require(self, name: str) -> Location:
        """Return the location of a table that exists.

        Raises:
            TableError: It has not been built.
        """
        if self._state(name) is None:
            command = f"peercorpus build {ON_DEMAND.get(name, '')}".rstrip()
            raise TableError(f"The table '{name}' has not been built in '{self.folder.parent}'; run '{command}'.")
        return self.folder / name
