"""Read the rows of a file: CSV, TSV, JSON Lines, a JSON list, or Parquet, the first four also with gzip."""

import csv
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BufferedIOBase, BufferedReader, TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.records.layouts.json_items import MOST_BYTES, NoItemsError, read_list
from peercorpus.records.layouts.stated import Row

DELIMITED = {".csv": ",", ".tsv": "\t"}
DELIMITERS = (";", "\t")
"""What else may stand between the cells of a table, whatever its name says; the header tells."""
OVERHANG = "cells beyond the header"
"""Name given to the cells of a row that has more of them than the header."""
UNNAMED = "value without a name"
"""Name given to a row that is not an object, so that it is refused or counted as any other without an id."""
LINES = (".jsonl", ".ndjson")
FIRST_ROWS = 20
"""Rows by which a file is recognised."""
BATCH_ROWS = 64
READ_BYTES = 1 << 16
"""Bytes read at a time from a Parquet column; pyarrow's own default holds a whole row group in memory."""
UNREADABLE = (ValueError, OSError, EOFError, RecursionError, zlib.error, pa.ArrowException)
"""What reading a damaged file, or one that is not what its name says, may raise."""


def suffix_of(path: Path) -> str:
    """Return what the name of a file ends in, without `.gz`, in lower case."""
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


def is_table(path: Path) -> bool:
    """Return whether a file's name is that of a table."""
    return suffix_of(path) in {*DELIMITED, *LINES, ".json", ".parquet"}


def _open(path: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file in order; one that is not an object stands under `UNNAMED`.

    Raises:
        ValueError: The file is not what its name says.
        OSError: It cannot be read.
        EOFError: It is packed, and cut off.
    """
    suffix = suffix_of(path)
    if suffix == ".parquet":
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=READ_BYTES) as table:
            for batch in table.iter_batches(BATCH_ROWS):
                yield from batch.to_pylist()
        return
    with _open(path) as file:
        if suffix == ".json":
            yield from _read_list(file)
            return
        with TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            yield from _read_delimited(text, DELIMITED[suffix]) if suffix in DELIMITED else _read_lines(text)


def _read_delimited(file: IO[str], delimiter: str) -> Iterator[Row]:
    """Yield the rows of a table with a header.

    Raises:
        ValueError: Two of its columns have one name, so that one would be lost, or it is no such table.
    """
    csv.field_size_limit(MOST_BYTES)
    lines = _read_bounded(file)
    header = next(lines, "")
    table = csv.DictReader(
        chain([header], lines), delimiter=max((delimiter, *DELIMITERS), key=header.count), restkey=OVERHANG
    )
    try:
        repeated = [name for name, number in Counter(table.fieldnames).items() if number > 1 and name]
        if repeated:
            raise ValueError(f"two of its columns are called '{repeated[0]}'; give each a name of its own")
        yield from table
    except csv.Error as error:
        raise ValueError(str(error)) from None


def _read_bounded(file: IO[str]) -> Iterator[str]:
    """Yield the lines of a file.

    Raises:
        ValueError: One is longer than any record may be, as that of a few packed bytes.
    """
    for number, line in enumerate(iter(lambda: file.readline(MOST_BYTES + 1), ""), 1):
        if len(line) > MOST_BYTES:
            raise ValueError(f"line {number} is longer than {MOST_BYTES:,} characters")
        yield line


def _read_lines(file: IO[str]) -> Iterator[Row]:
    for number, line in enumerate(_read_bounded(file), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            yield _as_row(row)


def _as_row(item: object) -> Row:
    return item if isinstance(item, dict) else {UNNAMED: item}


def _read_list(file: BufferedIOBase) -> Iterator[Row]:
    """Yield the items of a JSON list, each read when it is asked for; none of another value.

    Raises:
        ValueError: It is not JSON.
    """
    with suppress(NoItemsError):
        for number, item in enumerate(read_list(file, MOST_BYTES), 1):
            try:
                row = json.loads(item.decode())  # Takes NaN too.
            except ValueError as error:
                raise ValueError(f"record {number}: {error}") from None
            yield _as_row(row)


def read_first_rows(path: Path) -> list[Row]:
    """Return the first rows of a file; none where it has no rows, or is not what its name says."""
    try:
        return list(islice(read_rows(path), FIRST_ROWS))
    except UNREADABLE:
        return []


def list_columns(rows: Iterable[Row]) -> list[str]:
    """Return the names in rows, each once."""
    return list(dict.fromkeys(name for row in rows for name in row if isinstance(name, str)))


def read_columns(path: Path) -> list[str]:
    """Return the names in the first rows of a file; none where it has no rows, or is not what its name says."""
    return list_columns(read_first_rows(path))


def find_damage(path: Path) -> str | None:
    """Return why the first rows of a file cannot be read; None if they can."""
    try:
        list(islice(read_rows(path), FIRST_ROWS))
    except UNREADABLE as error:
        return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return None
