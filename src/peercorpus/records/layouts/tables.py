"""Read the rows of a file: CSV, TSV, JSON Lines, a JSON list, or Parquet, the first four also with gzip."""

import csv
import gzip
import json
import sys
import zlib
from collections.abc import Iterator
from io import TextIOBase, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.records.layouts.stated import Row

DELIMITED = {".csv": ",", ".tsv": "\t"}
LINES = (".jsonl", ".ndjson")
FIRST_ROWS = 20
"""Rows by whose names a file is recognised."""
BATCH_ROWS = 64


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
    """Yield the rows of a file that are objects, in order.

    Raises:
        ValueError: The file is not what its name says.
        OSError: It cannot be read.
    """
    suffix = suffix_of(path)
    if suffix == ".parquet":
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                yield from batch.to_pylist()
        return
    with _open(path) as file:
        if suffix in DELIMITED:
            csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
            try:
                yield from csv.DictReader(file, delimiter=DELIMITED[suffix])
            except csv.Error as error:
                raise ValueError(str(error)) from None
        elif suffix in LINES:
            yield from (row for line in file if line.strip() and isinstance(row := json.loads(line), dict))
        else:
            found = json.load(file)
            yield from (row for row in (found if isinstance(found, list) else ()) if isinstance(row, dict))


def read_columns(path: Path) -> list[str]:
    """Return the names in the first rows of a file; none where it has no rows, or is not what its name says."""
    try:
        rows = list(islice(read_rows(path), FIRST_ROWS))
    except (ValueError, OSError, EOFError, RecursionError, zlib.error, pa.ArrowException):
        return []
    return list(dict.fromkeys(name for row in rows for name in row if isinstance(name, str)))
