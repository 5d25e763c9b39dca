"""Parquet files of the tables, on this machine or in a store: written whole, read a batch at a time."""

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

from peercorpus.schema import to_arrow
from peercorpus.store import Place, S3Path

BATCH_ROWS = 1_000
"""Rows held in memory before they are written as one row group."""

_READ_BYTES = 1 << 16
"""Read at a time from a column of a file; pyarrow's own default holds a whole file in memory."""


@contextmanager
def open_parquet(place: Place) -> Iterator[pq.ParquetFile]:
    """A Parquet file, opened so that reading holds a batch of it in memory and no more; of a store, a row group."""
    if isinstance(place, S3Path):
        # Without a buffer of pyarrow's, a column of a row group is one request.
        with place.open() as opened, pq.ParquetFile(opened, pre_buffer=False, buffer_size=0) as file:
            yield file
    else:
        with pq.ParquetFile(place, pre_buffer=False, buffer_size=_READ_BYTES) as file:
            yield file


def groups_with(file: pq.ParquetFile, forum_id: str) -> Iterator[int]:
    """The row groups whose forums may include one, by their least and greatest."""
    column = file.schema_arrow.get_field_index("forum_id")
    for group in range(file.num_row_groups):
        bounds = file.metadata.row_group(group).column(column).statistics
        if bounds is None or not bounds.has_min_max or bounds.min <= forum_id <= bounds.max:
            yield group


class PartitionWriter:
    """One new file of one partition, written a row group at a time; nothing is visible until it is committed.

    A file of a store is written on this machine first, and sent when it is whole.
    """

    def __init__(self, folder: Place, record_type: type, partition: Mapping[str, str], scratch: Path) -> None:
        self.record_type, self.partition, self.rows = record_type, partition, 0
        name = f"{uuid4().hex}.parquet"
        steps = [f"{column}={quote(value, safe='')}" for column, value in partition.items()]
        self.relative = "/".join([*steps, name])
        self._place = folder / self.relative
        self._path = self._place if isinstance(self._place, Path) else scratch / name
        self._writer: pq.ParquetWriter | None = None
        self._batch: list[Any] = []

    def add(self, record: object) -> None:
        """Write one record."""
        self._batch.append(record)
        if len(self._batch) >= BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        if not self._batch:
            return
        rows = to_arrow(self.record_type, self._batch).drop_columns(list(self.partition))
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._path, rows.schema, compression="zstd")
        self._writer.write_table(rows)
        self.rows += len(self._batch)
        self._batch = []

    def finish(self) -> list[AddAction | RemoveAction]:
        """Close the file; the commit's action, or none where nothing was written.

        Raises:
            OSError: It cannot be written.
        """
        self._flush()
        if self._writer is None:
            return []
        self._writer.close()
        size_bytes = self._path.stat().st_size
        self._settle()
        stats = json.dumps({"numRecords": self.rows})
        now_ms = int(time.time() * 1000)
        return [AddAction(self.relative, size_bytes, self.partition, now_ms, True, stats)]

    def _settle(self) -> None:
        if isinstance(self._place, S3Path):
            self._place.upload(self._path)
            self._path.unlink()
        else:
            with self._path.open("rb") as written:
                os.fsync(written.fileno())

    def discard(self) -> None:
        """Close and remove the file."""
        if self._writer is not None:
            self._writer.close()
        self._path.unlink(missing_ok=True)
