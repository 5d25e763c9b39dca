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

from peercorpus.records.layouts.json_items import MOST_BYTES, NoItemsError, read_list
from peercorpus.records.layouts.parquet_rows import read_parquet_rows
from peercorpus.records.layouts.stated import Row

DELIMITED = {".csv": ",", ".tsv": "\t"}
DELIMITERS = (";", "\t")
"""Further separators of cells, whatever the name of the file; the header shows which is used."""
OVERHANG = "cells beyond the header"
"""Name for the cells of a row beyond those of the header."""
UNNAMED = "value without a name"
"""Name for the value of a row that is not an object, so that it is refused or counted like any row without an id."""
LINES = (".jsonl", ".ndjson")
MOST_COLUMNS = 10_000
CELL_CHARACTERS = MOST_BYTES
"""Limit set for `csv`, for the whole process; rows are already bounded before it applies."""
FIRST_ROWS = 20
FIRST_CHARACTERS = 1 << 24
"""Number of rows from which a file is recognised, and the size at which no more are read."""
UNREADABLE = (ValueError, OSError, EOFError, RecursionError, zlib.error, pa.ArrowException)
"""Exceptions that may be raised for a damaged file, or one whose content does not match its name."""


def suffix_of(path: Path) -> str:
    """Return the suffix of a file's name, without `.gz`, in lower case."""
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


def is_table(path: Path) -> bool:
    """Return whether a file's name is that of a table."""
    return suffix_of(path) in {*DELIMITED, *LINES, ".json", ".parquet"}


def _open(path: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


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
    with _open(path) as file:
        if suffix == ".json":
            yield from _read_list(file)
            return
        with TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            yield from _read_delimited(text, DELIMITED[suffix]) if suffix in DELIMITED else _read_lines(text)


def _read_delimited(file: IO[str], delimiter: str) -> Iterator[Row]:
    """Yield the rows of a table with a header.

    Raises:
        ValueError: Two of its columns have the same name, so that one would be lost, or a row is too long.
    """
    csv.field_size_limit(CELL_CHARACTERS)
    lines = _BoundedLines(file)
    header = next(lines, "")
    table = csv.DictReader(
        chain([header], lines), delimiter=max((delimiter, *DELIMITERS), key=header.count), restkey=OVERHANG
    )
    try:
        names = list(table.fieldnames or ())
        if len(names) > MOST_COLUMNS:
            raise ValueError(f"it has {len(names):,} columns; at most {MOST_COLUMNS:,} are read")
        repeated = [name for name, number in Counter(names).items() if number > 1 and name]
        if repeated:
            raise ValueError(f"two of its columns are called '{repeated[0]}'; give each its own name")
        lines.begin_row()
        for row in table:
            lines.begin_row()
            yield row
    except csv.Error as error:
        raise ValueError(str(error)) from None


class _BoundedLines:
    """Lines of a file, with at most as many characters per row as a record may have bytes."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._number = 0
        self.begin_row()

    def begin_row(self) -> None:
        """Count the following lines as a new row."""
        self._first = self._number + 1
        self._characters = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Return the next line.

        Raises:
            ValueError: The row is longer than any record may be, even if packed to a few bytes.
        """
        line = self._file.readline(MOST_BYTES + 1)
        if not line:
            raise StopIteration
        self._number += 1
        if self._characters or line.strip():  # A blank line between rows does not belong to either.
            self._characters += len(line)
        if self._characters > MOST_BYTES:
            raise ValueError(f"the row at line {self._first} is longer than {MOST_BYTES:,} characters")
        return line


def _read_lines(file: IO[str]) -> Iterator[Row]:
    lines = _BoundedLines(file)
    for number, line in enumerate(lines, 1):
        lines.begin_row()
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            yield _as_row(row)


def _as_row(item: object) -> Row:
    return item if isinstance(item, dict) else {UNNAMED: item}


def _read_list(file: BufferedIOBase) -> Iterator[Row]:
    """Yield the items of a JSON list, read lazily; none for any other value.

    Raises:
        ValueError: It is not JSON.
    """
    with suppress(NoItemsError):
        for number, item in enumerate(read_list(file, MOST_BYTES), 1):
            try:
                row = json.loads(item.decode())  # Accepts NaN too.
            except ValueError as error:
                raise ValueError(f"record {number}: {error}") from None
            yield _as_row(row)


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


def find_damage(path: Path) -> str | None:
    """Return why the first rows of a file cannot be read; None if they can."""
    try:
        for _ in islice(read_rows(path), FIRST_ROWS):
            pass
    except UNREADABLE as error:
        return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return None
