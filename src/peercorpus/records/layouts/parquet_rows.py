"""Read the rows of a Parquet file of unknown origin in bounded memory, whatever its cells unpack to."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from peercorpus.records.layouts.json_items import MOST_BYTES
from peercorpus.records.layouts.stated import DamagedRow, Row

BATCH_ROWS = 64
BATCH_BYTES = 1 << 25
"""Largest total size of rows read at once, as stated by the file."""
READ_BYTES = 1 << 16
"""Bytes read at a time from a Parquet column; pyarrow's default loads a whole row group into memory."""
MOST_GROUP_BYTES = 1 << 32
"""Largest row group that is read; pandas writes a whole table as one."""
UNSUSPICIOUS_BYTES = 1 << 28
"""Size of a row group up to which any compression ratio is accepted."""
MOST_PACKED = 100
"""Largest compression ratio of a larger row group; that of text is below 10."""


UNREADABLE = (ValueError, ArithmeticError)
"""Exceptions for a text that is not UTF-8, and for a date that Python lacks."""
UNREADABLE_CELL = "a row with a cell that cannot be read"


def read_parquet_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a Parquet file in order, or some columns of them.

    Raises:
        ValueError: A row or row group exceeds the limits.
        pa.ArrowException: The file is damaged.
        OSError: It cannot be read.
    """
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=READ_BYTES) as file:
        number = 0
        for index in range(file.num_row_groups):
            group = file.metadata.row_group(index)
            chunks = [chunk for chunk in map(group.column, range(group.num_columns)) if _is_read(chunk, columns)]
            _check_group(chunks, group.num_rows, number + 1)
            rows = _choose_rows(chunks, group.num_rows)
            for batch in file.iter_batches(rows, row_groups=[index], columns=columns):
                _check_batch(batch, number + 1)
                yield from _read_batch(batch, number + 1)
                number += batch.num_rows


def _read_batch(batch: pa.RecordBatch, first_row: int) -> list[Row]:
    """Return the rows of a batch; if one has a value that Python lacks, each by itself."""
    try:
        return cast(list[Row], batch.to_pylist())
    except UNREADABLE:
        return [_read_row(batch.slice(place, 1), first_row + place) for place in range(batch.num_rows)]


def _read_row(only_row: pa.RecordBatch, number: int) -> Row:
    """Return the row of a batch that has only this one.

    Python's dates end with the year 9999; a later one is kept as the number in the file.
    """
    row: Row = {}
    for name, cell in zip(only_row.schema.names, only_row.columns, strict=True):
        try:
            (row[name],) = cell.to_pylist()
        except UNREADABLE:
            if not pa.types.is_temporal(cell.type):
                return DamagedRow(UNREADABLE_CELL, f"row {number:,}, column '{name}'")
            (row[name],) = cell.view(pa.int32() if cell.type.bit_width == 32 else pa.int64()).to_pylist()
    return row


def _is_read(chunk: pq.ColumnChunkMetaData, columns: Sequence[str] | None) -> bool:
    path = chunk.path_in_schema
    return columns is None or any(path == name or path.startswith(f"{name}.") for name in columns)


def _check_group(chunks: Sequence[pq.ColumnChunkMetaData], rows: int, first_row: int) -> None:
    """Refuse a row group by the sizes stated in the file, before any of it is unpacked.

    Raises:
        ValueError: It is too large, or its rows are.
    """
    unpacked = sum(chunk.total_uncompressed_size for chunk in chunks)
    packed = sum(chunk.total_compressed_size for chunk in chunks)
    largest = max(chunks, key=lambda chunk: chunk.total_uncompressed_size, default=None)
    if largest is None:
        return
    place = f"rows {first_row:,} to {first_row + rows - 1:,}"
    if largest.total_uncompressed_size > MOST_BYTES * max(1, rows):
        raise ValueError(
            f"{place}: the column '{largest.path_in_schema}' has {largest.total_uncompressed_size:,} bytes;"
            f" at most {MOST_BYTES:,} per row are read"
        )
    if unpacked > MOST_GROUP_BYTES:
        raise ValueError(f"{place}: the row group has {unpacked:,} bytes; at most {MOST_GROUP_BYTES:,} are read")
    if unpacked > max(UNSUSPICIOUS_BYTES, MOST_PACKED * packed):
        raise ValueError(
            f"{place}: {packed:,} bytes, most of the column '{largest.path_in_schema}', unpack to {unpacked:,};"
            f" at most {MOST_PACKED} times is read"
        )


def _choose_rows(chunks: Sequence[pq.ColumnChunkMetaData], rows: int) -> int:
    """Return how many rows to read at once.

    Rows may share one text of a dictionary, which the file contains once, but a batch once per row.
    """
    row_bytes = sum(
        chunk.total_uncompressed_size / (1 if chunk.has_dictionary_page else max(1, rows)) for chunk in chunks
    )
    return max(1, min(BATCH_ROWS, int(BATCH_BYTES / max(1, row_bytes))))


def _check_batch(batch: pa.RecordBatch, first_row: int) -> None:
    """Refuse a batch with a row that is too large, before it is converted to Python objects.

    Raises:
        ValueError: A row exceeds the limit.
    """
    if batch.nbytes <= MOST_BYTES:
        return
    for row in range(batch.num_rows):
        sizes = [_measure_cell(column.slice(row, 1)) for column in batch.columns]
        largest, name = max(zip(sizes, batch.schema.names, strict=True))
        if largest > MOST_BYTES:
            raise ValueError(
                f"row {first_row + row:,}: the column '{name}' has a text of {largest:,} bytes;"
                f" at most {MOST_BYTES:,} are read"
            )
        if sum(sizes) > MOST_BYTES:
            raise ValueError(f"row {first_row + row:,} has {sum(sizes):,} bytes; at most {MOST_BYTES:,} are read")


def _measure_cell(cell: pa.Array) -> int:
    """Return the size of the only value of an array; for a text, its bytes in UTF-8."""
    if pa.types.is_dictionary(cell.type):
        cell = cell.dictionary_decode()
    is_text = pa.types.is_string(cell.type) or pa.types.is_large_string(cell.type)
    return (pc.sum(pc.binary_length(cell)).as_py() or 0) if is_text else cell.nbytes
