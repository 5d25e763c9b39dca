"""Read the rows of a file: CSV, TSV, JSON Lines, a JSON list, or Parquet, the first four also with gzip.

Memory is bounded, whatever the file unpacks to.
"""

import csv
import gzip
import json
import re
import zlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from io import BufferedIOBase, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from peercorpus.importers.json_items import MOST_BYTES, NoItemsError, read_list
from peercorpus.importers.reader import DamagedRow, Row

DELIMITED = {".csv": ",", ".tsv": "\t"}
DELIMITERS = (";", "\t")
"""Further separators of cells, whatever the name of the file; the header shows which is used."""
UNNAMED = "value without a name"
"""Name for the value of a row that is not an object, so that it is refused or counted like any row without an id."""
HALF_OF_A_PAIR = re.compile("[\ud800-\udfff]")
LINES = (".jsonl", ".ndjson")
MOST_COLUMNS = 10_000
CELL_CHARACTERS = MOST_BYTES
"""Limit set for `csv`, for the whole process; rows are already bounded before it applies."""
FIRST_ROWS = 20
FIRST_CHARACTERS = 1 << 24
"""Number of rows from which a file is recognised, and the size at which no more are read."""
UNREADABLE = (ValueError, OSError, EOFError, RecursionError, ArithmeticError, zlib.error, pa.ArrowException)
"""Exceptions that may be raised for a damaged file, or one whose content does not match its name."""

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
WITHOUT_VALUE = (ValueError, ArithmeticError)
"""Exceptions for a text that is not UTF-8, and for a date that Python lacks."""
UNREADABLE_CELL = "a row with a cell that cannot be read"


def suffix_of(path: Path) -> str:
    """Return the suffix of a file's name, without `.gz`, in lower case."""
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


def is_table(path: Path) -> bool:
    """Return whether a file's name is that of a table."""
    return suffix_of(path) in {*DELIMITED, *LINES, ".json", ".parquet"}


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file in order; one that is not an object is stored under `UNNAMED`.

    Raises:
        ValueError: The content of the file does not match its name.
        OSError: It cannot be read.
        EOFError: It is packed, and cut off.
    """
    suffix = suffix_of(path)
    if suffix == ".parquet":
        yield from read_parquet_rows(path)
        return
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        if suffix == ".json":
            yield from _read_list(file)
            return
        # Bytes that are not UTF-8 damage only their row.
        with TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
            yield from _read_delimited(text, DELIMITED[suffix]) if suffix in DELIMITED else _read_lines(text)


def _read_delimited(file: IO[str], delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(CELL_CHARACTERS)
    lines = _BoundedLines(file)
    first = next(lines, "")
    lines.put_back([first])
    rows = _split_rows(lines, max((delimiter, *DELIMITERS), key=first.count))
    header = next(rows, [])
    if isinstance(header, DamagedRow):
        raise ValueError(f"its header is {header.reason} ({header.name})")  # noqa: TRY004 (the content is wrong)
    if len(header) > MOST_COLUMNS:
        raise ValueError(f"it has {len(header):,} columns; at most {MOST_COLUMNS:,} are read")
    names = [name or (f"column {place}" if "" in header[: place - 1] else "") for place, name in enumerate(header, 1)]
    repeated = [name for name, number in Counter(names).items() if number > 1]
    if repeated:
        raise ValueError(f"two of its columns are called '{repeated[0]}'; give each its own name")
    for cells in rows:
        if isinstance(cells, DamagedRow):
            yield cells
        elif len(cells) < len(names) or any(cells[len(names) :]):
            yield DamagedRow(RAGGED, f"line {lines.first:,} has {len(cells):,} of {len(names):,}")
        else:
            yield dict(zip(names, cells, strict=False))


def _split_rows(lines: "_BoundedLines", delimiter: str) -> Iterator[list[str] | DamagedRow]:
    """Yield the cells of each row; after a row with a quote that is not closed, go on with the line below its first."""
    table = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.begin_row()
        cells: list[str] | DamagedRow | None
        try:
            cells = next(table, None)
        except (csv.Error, TooLongError) as error:
            table = csv.reader(lines, delimiter=delimiter, strict=True)
            cells = _read_alone(lines, delimiter)
            if isinstance(error, TooLongError):
                cells = DamagedRow(TOO_LONG, str(error))
        if cells is None:
            return
        if cells and not isinstance(cells, DamagedRow) and not _is_utf8("".join(cells)):
            cells = DamagedRow(NOT_UTF8, f"line {lines.first:,}")
        if cells or isinstance(cells, DamagedRow):
            yield cells


def _read_alone(lines: "_BoundedLines", delimiter: str) -> list[str] | DamagedRow:
    """Return the cells of the first line of a row that cannot be read, and put back the other lines.

    A line that closes its quotes, but has characters outside them, is read as spreadsheets do.
    """
    first, *others = lines.row
    lines.put_back(others)
    if first.count('"') % 2:
        return DamagedRow(UNCLOSED, f"line {lines.first:,}")
    return next(csv.reader([first], delimiter=delimiter))


class TooLongError(ValueError):
    """A row is longer than any record may be."""


class _BoundedLines:
    """Lines of a file, with at most as many characters per row as a record may have bytes.

    Attributes:
        first: Number of its first line.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._waiting = deque[str]()
        self._number = 0
        self.begin_row()

    def begin_row(self) -> None:
        """Count the following lines as a new row."""
        self.first = self._number + 1
        self.row: list[str] = []
        self._characters = 0

    def put_back(self, lines: Sequence[str]) -> None:
        """Return the last lines read, to be read again."""
        self._waiting.extendleft(reversed(lines))
        self._number -= len(lines)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Return the next line.

        Raises:
            TooLongError: The row would be longer than any record may be, even if packed to a few bytes.
            ValueError: Its first line already is.
        """
        line = self._waiting.popleft() if self._waiting else self._file.readline(MOST_BYTES + 1)
        if not line:
            raise StopIteration
        self._number += 1
        if self._characters or line.strip():  # A blank line between rows does not belong to either.
            self._characters += len(line)
        if self._characters > MOST_BYTES:
            problem = f"the row at line {self.first} is longer than {MOST_BYTES:,} characters"
            if not self.row:
                raise ValueError(problem)
            self.put_back([line])
            raise TooLongError(problem)
        self.row.append(line)
        return line


TOO_LONG = "a row that is too long"
RAGGED = "a row with more or fewer cells than the header"
UNCLOSED = "a row with a quote that is not closed"
NOT_UTF8 = "a row that is not UTF-8 text"
NOT_JSON = "a row that is not JSON"


def _is_utf8(text: str) -> bool:
    """Return whether a text has no half of a surrogate pair, as which bytes that are not UTF-8 were read."""
    return text.isascii() or not HALF_OF_A_PAIR.search(text)


def _read_lines(file: IO[str]) -> Iterator[Row]:
    lines = _BoundedLines(file)
    for number, line in enumerate(lines, 1):
        lines.begin_row()
        if line.strip():
            yield _read_json(line, f"line {number:,}")


def _read_json(text: str, name: str) -> Row:
    if not _is_utf8(text):
        return DamagedRow(NOT_UTF8, name)
    try:
        row = json.loads(text)  # Accepts NaN too.
    except (ValueError, RecursionError) as error:
        return DamagedRow(NOT_JSON, f"{name}: {error}")
    if "\\ud" in text.lower():
        # JavaScript writes half of a surrogate pair where a text was cut inside an emoji.
        row = json.loads(HALF_OF_A_PAIR.sub("\ufffd", json.dumps(row, ensure_ascii=False)))
    return row if isinstance(row, dict) else {UNNAMED: row}


def _read_list(file: BufferedIOBase) -> Iterator[Row]:
    """Yield the items of a JSON list, read lazily; none for any other value."""
    with suppress(NoItemsError):
        for number, item in enumerate(read_list(file, MOST_BYTES), 1):
            yield _read_json(item.decode(errors="surrogateescape"), f"record {number:,}")


def take_first(rows: Iterator[Row]) -> list[Row]:
    """Return the rows from which a file is recognised: fewer if they are large."""
    taken, characters = list[Row](), 0
    while len(taken) < FIRST_ROWS and characters < FIRST_CHARACTERS and (row := next(rows, None)) is not None:
        taken.append(row)
        characters += len(str(row))
    return taken


def read_first_rows(path: Path) -> list[Row]:
    """Return the first rows of a file; none if it has no rows, or its content does not match its name."""
    try:
        return take_first(read_rows(path))
    except UNREADABLE:
        return []


def list_columns(rows: Iterable[Row]) -> list[str]:
    """Return the distinct names in rows."""
    return list(dict.fromkeys(name for row in rows for name in row if isinstance(name, str)))


def read_columns(path: Path) -> list[str]:
    """Return the names in the first rows of a file; none if it has no rows, or its content does not match its name."""
    return list_columns(read_first_rows(path))


def explain(error: Exception) -> str:
    """Return the first line of an error without a full stop, or its kind if it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def find_damage(path: Path) -> str | None:
    """Return why one of the first rows of a file cannot be read; None if all can."""
    try:
        damaged = [row for row in islice(read_rows(path), FIRST_ROWS) if isinstance(row, DamagedRow)]
    except UNREADABLE as error:
        return explain(error)
    return f"{damaged[0].name}: {damaged[0].reason}" if damaged else None


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
    except WITHOUT_VALUE:
        return [_read_row(batch.slice(place, 1), first_row + place) for place in range(batch.num_rows)]


def _read_row(only_row: pa.RecordBatch, number: int) -> Row:
    """Return the row of a batch that has only this one.

    Python's dates end with the year 9999; a later one is kept as the number in the file.
    """
    row: Row = {}
    for name, cell in zip(only_row.schema.names, only_row.columns, strict=True):
        try:
            (row[name],) = cell.to_pylist()
        except WITHOUT_VALUE:
            if not pa.types.is_temporal(cell.type):
                return DamagedRow(UNREADABLE_CELL, f"row {number:,}, column '{name}'")
            (row[name],) = cell.view(pa.int32() if cell.type.bit_width == 32 else pa.int64()).to_pylist()
    return row


def _is_read(chunk: pq.ColumnChunkMetaData, columns: Sequence[str] | None) -> bool:
    path = chunk.path_in_schema
    return columns is None or any(path == name or path.startswith(f"{name}.") for name in columns)


def _check_group(chunks: Sequence[pq.ColumnChunkMetaData], rows: int, first_row: int) -> None:
    """Refuse a row group by the sizes stated in the file, before any of it is unpacked."""
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
    """Refuse a batch with a row that is too large, before it is converted to Python objects."""
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
