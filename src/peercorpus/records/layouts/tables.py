"""Read the rows of a file: CSV, TSV, JSON Lines, a JSON list, or Parquet, the first four also with gzip."""

import csv
import gzip
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from io import TextIOBase, TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import cast

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

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
UNREADABLE = (ValueError, OSError, EOFError, RecursionError, zlib.error, pa.ArrowException)
"""What reading a damaged file, or one that is not what its name says, may raise."""


def suffix_of(path: Path) -> str:
    """Return what the name of a file ends in, without `.gz`, in lower case."""
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


def is_table(path: Path) -> bool:
    """Return whether a file's name is that of a table."""
    return suffix_of(path) in {*DELIMITED, *LINES, ".json", ".parquet"}


def _open(path: Path) -> TextIOBase:
    raw = gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # noqa: SIM115 (closed with the wrapper)
    return cast("TextIOBase", TextIOWrapper(raw, encoding="utf-8-sig", newline=""))


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file in order; one that is not an object stands under `UNNAMED`.

    Raises:
        ValueError: The file is not what its name says.
        OSError: It cannot be read.
        EOFError: It is packed, and cut off.
    """
    suffix = suffix_of(path)
    if suffix == ".parquet":
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                yield from batch.to_pylist()
        return
    with _open(path) as file:
        if suffix in DELIMITED:
            yield from _read_delimited(file, DELIMITED[suffix])
        elif suffix in LINES:
            yield from _read_lines(file)
        else:
            yield from _read_list(file)


def _read_delimited(file: TextIOBase, delimiter: str) -> Iterator[Row]:
    """Yield the rows of a table with a header.

    Raises:
        ValueError: Two of its columns have one name, so that one would be lost, or it is no such table.
    """
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    header = file.readline()
    table = csv.DictReader(
        chain([header], file), delimiter=max((delimiter, *DELIMITERS), key=header.count), restkey=OVERHANG
    )
    try:
        repeated = [name for name, number in Counter(table.fieldnames).items() if number > 1 and name]
        if repeated:
            raise ValueError(f"two of its columns are called '{repeated[0]}'; give each a name of its own")
        yield from table
    except csv.Error as error:
        raise ValueError(str(error)) from None


def _read_lines(file: TextIOBase) -> Iterator[Row]:
    for number, line in enumerate(file, 1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            yield _as_row(row)


def _as_row(item: object) -> Row:
    return item if isinstance(item, dict) else {UNNAMED: item}


def _read_list(file: TextIOBase) -> Iterator[Row]:
    """Yield the items of a JSON list, each decoded when it is asked for; none of another value.

    Raises:
        ValueError: It is not JSON.
    """
    content = file.read()
    try:
        items = msgspec.json.decode(content, type=list[msgspec.Raw])
    except msgspec.ValidationError:
        return  # Some other value than a list.
    except msgspec.DecodeError:
        found = json.loads(content)  # Takes NaN too, and says where the damage is.
        yield from map(_as_row, found if isinstance(found, list) else ())
        return
    for item in items:
        yield _as_row(json.loads(bytes(item)))


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
