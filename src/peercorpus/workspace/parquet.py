"""Write Parquet files completely or not at all, and read them in batches."""

import errno
import json
import os
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from peercorpus.errors import DamagedError, StoreError
from peercorpus.execution.stage import ALL_FORUMS, ForumRange
from peercorpus.records.arrow_schema import to_arrow
from peercorpus.workspace.object_store import Location, S3Path, file_digest

if TYPE_CHECKING:
    from deltalake.transaction import AddAction

BATCH_ROWS = 1_000
"""Number of rows buffered before they are written as one row group."""

CONTENT_BITS = 60
"""Bits of the digest of rows; it is stored as a Delta transaction's number, which has 63."""

SMALL_BYTES = 1 << 20
"""Maximum decoded size of a file to be cached in memory."""

KEPT_FILES = 32
"""Number of small files cached at a time: those of a few venues, 32 MB at most."""

FLUSHES_AT_ONCE = 8
"""Number of files flushed concurrently, because a disk writes them together."""

_READ_BYTES = 1 << 16
"""Bytes read at a time from a column; by default, pyarrow keeps a whole file in memory."""


_encode = msgspec.msgpack.Encoder().encode


@contextmanager
def open_parquet(location: Location) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file so that reading keeps one batch in memory; in a store, one row group.

    Raises:
        OSError: It is missing or cannot be read, or a page that is read does not match its checksum.
        ArrowException: It is not Parquet, or cannot be decoded.
    """
    with ExitStack() as opened:
        if isinstance(location, S3Path):
            # Without pyarrow's buffer, a column of a row group is one request.
            file = pq.ParquetFile(
                opened.enter_context(location.open()),
                pre_buffer=False,
                buffer_size=0,
                page_checksum_verification=True,
            )
        else:
            file = pq.ParquetFile(location, pre_buffer=False, buffer_size=_READ_BYTES, page_checksum_verification=True)
        yield opened.enter_context(file)


@contextmanager
def open_part(location: Location) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file of a table like `open_parquet`.

    Raises:
        DamagedError: It is missing, or the part read has changed since it was written.
        OSError: It cannot be opened, or the store does not respond.
    """
    try:
        with open_parquet(location) as file:
            yield file
    except (OSError, pa.ArrowException) as error:
        if not _is_damage(location, error):
            raise
        # A file of a release is in `data/reviews` of its folder.
        folders = location.parents[:3] if isinstance(location, Path) else ()
        if any((folder / "release.json").is_file() for folder in folders):
            advice = "take an intact copy of the release."
        else:
            advice = "run 'peercorpus check --repair' on the workspace, so that the next build remakes it."
        raise DamagedError(f"'{location}' is damaged ({name_fault(error)}); {advice}") from None


class PartReader:
    """Reads Parquet files of tables; small ones are decoded once and cached for a while, on request.

    The many small venues of a workspace are read one after another, each by every stage in turn, and opening such a
    file takes longer than reading it. A name is never reused for other rows.
    """

    def __init__(self) -> None:
        self.keeps = False
        self._kept: OrderedDict[Location, pa.Table] = OrderedDict()

    def batches(
        self,
        location: Location,
        columns: Sequence[str] | None = None,
        rows: int = BATCH_ROWS,
        span: ForumRange = ALL_FORUMS,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a file in batches; raises the errors of `open_part`.

        Columns may be parts of others, such as `scores.list.element.field`; these are read from the file itself.
        If only a range of forums is read, `forum_id` must be among the columns.
        """
        for batch in self._all_batches(location, columns, rows, span):
            if span != ALL_FORUMS:
                is_within = pc.greater_equal(batch.column("forum_id"), span.first_id)
                if span.end_id is not None:
                    is_within = pc.and_(is_within, pc.less(batch.column("forum_id"), span.end_id))
                batch = batch.filter(is_within)
            yield batch

    def _all_batches(
        self, location: Location, columns: Sequence[str] | None, rows: int, span: ForumRange
    ) -> Iterator[pa.RecordBatch]:
        """Yield the batches of all row groups that may contain a forum of the range."""
        is_whole = self.keeps and not any("." in column for column in columns or ())
        table = self._kept.get(location) if is_whole else None
        if table is None:
            with open_part(location) as file:
                groups = map(file.metadata.row_group, range(file.num_row_groups))
                if not is_whole or sum(group.total_byte_size for group in groups) > SMALL_BYTES:
                    groups_within = None if span == ALL_FORUMS else list(groups_with(file, span))
                    yield from file.iter_batches(rows, columns=columns, row_groups=groups_within)
                    return
                table = file.read(use_threads=False)
        if table.nbytes <= SMALL_BYTES:  # The decoded size may exceed the one stated in the file.
            self._kept[location] = table
            self._kept.move_to_end(location)
        if len(self._kept) > KEPT_FILES:
            self._kept.popitem(last=False)
        yield from (table if columns is None else table.select(list(columns))).to_batches(rows)

    def count(self, location: Location) -> int:
        """Return the number of rows of a file; raises the errors of `open_part`."""
        if self.keeps and location in self._kept:
            return int(self._kept[location].num_rows)
        with open_part(location) as file:
            return int(file.metadata.num_rows)

    def forget(self) -> None:
        """Clear the cache."""
        self.keeps = False
        self._kept.clear()


def _is_damage(location: Location, error: Exception) -> bool:
    """Return whether an error means a missing or damaged file, rather than a refusing or unreachable disk or store."""
    # Errors raised by Arrow itself have no errno.
    number = getattr(error, "errno", None)
    return number in {None, errno.ENOENT} or (number == errno.EIO and isinstance(location, Path))


def name_fault(error: Exception) -> str:
    r"""Return what is wrong with a file, in a few words.

    >>> name_fault(OSError("could not verify page integrity, CRC checksum verification failed\nfor page 2"))
    'could not verify page integrity, CRC checksum verification failed'
    """
    if isinstance(error, FileNotFoundError):
        return "it is missing"
    return getattr(error, "strerror", None) or str(error).partition("\n")[0].rstrip(".")


def groups_with(file: pq.ParquetFile, span: ForumRange) -> Iterator[int]:
    """Yield the row groups that may contain a forum of a range, judged by their smallest and largest forum id."""
    column = file.schema_arrow.get_field_index("forum_id")
    for group in range(file.num_row_groups):
        bounds = file.metadata.row_group(group).column(column).statistics
        is_known = bounds is not None and bounds.has_min_max
        if not is_known or (bounds.max >= span.first_id and (span.end_id is None or bounds.min < span.end_id)):
            yield group


def find_fault(location: Location, rows: int | None, *, opens: bool = True) -> str | None:
    """Return what is wrong with a file of a table, reading all of it; None if it is intact.

    Args:
        location: The file.
        rows: Number of rows according to the log; None if not stated.
        opens: Whether to open it even if it matches the digest in its name.

    Raises:
        StoreError: The store is out of order or refuses.
    """
    try:
        if file_digest(location) != location.stem.rpartition("-")[2]:
            return "it was cut or changed after it was written"
        if not opens:
            return None
        with open_parquet(location) as file:
            held = file.metadata.num_rows
    except (OSError, pa.ArrowException) as error:
        if not _is_damage(location, error) and isinstance(location, S3Path):
            raise StoreError(f"'{location}' cannot be read: {name_fault(error)}.") from None
        return name_fault(error)
    return None if rows in {held, None} else f"it has {held} rows; {rows} were written"


def digest_record(record: object) -> int:
    """Return the digest of a record as a number; digests of several are added, so their order does not matter."""
    return int.from_bytes(blake2b(_encode(record), digest_size=8).digest())


def flush_to_disk(paths: Iterable[Path]) -> None:
    """Wait until files are on the disk, several at a time.

    Raises:
        OSError: A file cannot be written.
    """
    with ThreadPoolExecutor(FLUSHES_AT_ONCE) as pool:
        for _ in pool.map(_flush_file, paths):
            pass


def _flush_file(path: Path) -> None:
    with path.open("rb") as written:
        os.fsync(written.fileno())


class PartitionWriter:
    """Writes one new file of one partition, row group by row group; nothing is visible before the commit.

    The name of the file ends with its SHA-256, so that `find_fault` detects every changed bit. It begins with a number,
    so that files for ranges of a venue's forums are read in the order of the ranges.

    A file in a store is written locally first, and uploaded when complete.

    Attributes:
        content: The sum of the digests of the added records.
    """

    def __init__(
        self, folder: Location, record_type: type, partition: Mapping[str, str], scratch: Path, number: int = 0
    ) -> None:
        self.record_type = record_type
        self.partition = partition
        self.rows = 0
        self.content = 0
        self._partition_path = "/".join(f"{column}={quote(value, safe='')}" for column, value in partition.items())
        self._place = folder / self._partition_path
        self._name = f"{number:05}-{uuid4().hex}"
        self._path = (self._place if isinstance(self._place, Path) else scratch) / f"{self._name}.parquet"
        self._writer: pq.ParquetWriter | None = None
        self._batch: list[Any] = []

    def add(self, record: object) -> None:
        """Add one record."""
        self.content += digest_record(record)
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

    def finish(self) -> "list[AddAction]":
        """Close the file and return the action for the commit; empty if nothing was written.

        `flush_to_disk` must have finished for the file before the commit.

        Raises:
            OSError: The file cannot be written.
        """
        from deltalake.transaction import AddAction

        self._flush()
        if self._writer is None:
            return []
        self._writer.close()
        size_bytes = self._path.stat().st_size
        name = f"{self._name}-{file_digest(self._path)}.parquet"
        if isinstance(self._place, S3Path):
            (self._place / name).write_bytes(self._path)
            self._path.unlink()
        else:
            self._path = self._path.rename(self._place / name)
        stats = json.dumps({"numRecords": self.rows})
        now_ms = int(time.time() * 1000)
        return [
            AddAction(
                path=f"{self._partition_path}/{name}",
                size=size_bytes,
                partition_values=self.partition,
                modification_time=now_ms,
                data_change=True,
                stats=stats,
            )
        ]

    def discard(self) -> None:
        """Close and delete the file."""
        if self._writer is not None:
            self._writer.close()
        self._path.unlink(missing_ok=True)
