"""Write Parquet files completely or not at all, and read them in batches."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pyarrow.parquet as pq
from deltalake.transaction import AddAction, RemoveAction

from peercorpus.records.arrow_schema import to_arrow
from peercorpus.workspace.object_store import Location, S3Path

BATCH_ROWS = 1_000
"""Rows collected in memory before they are written as one row group."""

_READ_BYTES = 1 << 16
"""Bytes read at a time from a column; pyarrow's own default holds a whole file in memory."""


@contextmanager
def open_parquet(location: Location) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file so that reading holds one batch in memory; in a store, one row group."""
    if isinstance(location, S3Path):
        # Without a buffer of pyarrow's, a column of a row group is one request.
        with location.open() as opened, pq.ParquetFile(opened, pre_buffer=False, buffer_size=0) as file:
            yield file
    else:
        with pq.ParquetFile(location, pre_buffer=False, buffer_size=_READ_BYTES) as file:
            yield file


def groups_with(file: pq.ParquetFile, forum_id: str) -> Iterator[int]:
    """Yield the row groups that may contain a forum, judged by their smallest and largest forum id."""
    column = file.schema_arrow.get_field_index("forum_id")
    for group in range(file.num_row_groups):
        bounds = file.metadata.row_group(group).column(column).statistics
        if bounds is None or not bounds.has_min_max or bounds.min <= forum_id <= bounds.max:
            yield group


class PartitionWriter:
    """Writes one new file of one partition, row group by row group; nothing is visible before the commit.

    A file in a store is written locally first, and uploaded when complete.
    """

    def __init__(self, folder: Location, record_type: type, partition: Mapping[str, str], scratch: Path) -> None:
        self.record_type = record_type
        self.partition = partition
        self.rows = 0
        name = f"{uuid4().hex}.parquet"
        steps = [f"{column}={quote(value, safe='')}" for column, value in partition.items()]
        self.relative = "/".join([*steps, name])
        self._place = folder / self.relative
        self._path = self._place if isinstance(self._place, Path) else scratch / name
        self._writer: pq.ParquetWriter | None = None
        self._batch: list[Any] = []

    def add(self, record: object) -> None:
        """Add one record."""
        self._batch.append(record)
        if len(self._batch) >= BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        if not self._batch:
            return
        rows = to_arrow(self.record_type, self._batch).drop_columns(list(self.partition))
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._path, rows.schema, compression="zstd", write_page_checksum=True)
        self._writer.write_table(rows)
        self.rows += len(self._batch)
        self._batch = []

    def finish(self) -> list[AddAction | RemoveAction]:
        """Close the file and return the action for the commit; empty if nothing was written.

        Raises:
            OSError: The file cannot be written.
        """
        self._flush()
        if self._writer is None:
            return []
        self._writer.close()
        size_bytes = self._path.stat().st_size
        self._settle()
        stats = json.dumps({"numRecords": self.rows})
        now_ms = int(time.time() * 1000)
        return [
            AddAction(
                path=self.relative,
                size=size_bytes,
                partition_values=self.partition,
                modification_time=now_ms,
                data_change=True,
                stats=stats,
            )
        ]

    def _settle(self) -> None:
        if isinstance(self._place, S3Path):
            self._place.upload(self._path)
            self._path.unlink()
        else:
            with self._path.open("rb") as written:
                os.fsync(written.fileno())

    def discard(self) -> None:
        """Close and delete the file."""
        if self._writer is not None:
            self._writer.close()
        self._path.unlink(missing_ok=True)
