"""Read the result of a query as a Polars frame, and write it as CSV or JSON."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from peercorpus.errors import PeercorpusError
from peercorpus.wording.untrusted_text import escape_csv_cell

_WHOLE = pa.decimal128(38, 0)
"""Type of DuckDB's 128-bit integers in Arrow."""


def read_frame(file: Path) -> pl.DataFrame:
    """Read an Arrow IPC file that a query wrote.

    Raises:
        PeercorpusError: A column has a type that Polars does not know.
    """
    table = pa.ipc.open_file(file.read_bytes()).read_all()
    table = table.rename_columns(_distinct(table.column_names))
    for place, field in enumerate(table.schema):
        if field.type == _WHOLE:
            table = table.set_column(place, field.name, _narrow(table.column(place)))
        elif field.type == pa.month_day_nano_interval():
            table = table.set_column(place, field.name, _to_duration(field.name, table.column(place)))
    try:
        return pl.DataFrame(table)
    except pl.exceptions.PolarsError:
        raise PeercorpusError(
            "A column has a type that Polars does not know, such as an interval inside a list; cast it to another."
        ) from None


def _distinct(names: list[str]) -> list[str]:
    """Return unique names of columns.

    >>> _distinct(["a", "a_1", "a"])
    ['a', 'a_1', 'a_2']
    """
    counts: Counter[str] = Counter()
    taken = set(names)
    distinct = []
    for name in names:
        new = name
        while counts[name] and new in taken:
            new = f"{name}_{counts[name]}"
            counts[name] += 1
        counts[name] += 1
        taken.add(new)
        distinct.append(new)
    return distinct


def _narrow(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def _to_duration(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return intervals as durations in microseconds.

    Raises:
        PeercorpusError: One has months, which have no fixed length.
    """
    spans = column.to_pylist()
    if any(span is not None and span.months for span in spans):
        raise PeercorpusError(
            f"The column '{name[:100]}' counts months, which have no fixed length; use date_diff, or cast it to text."
        )
    micros = [None if span is None else span.days * 86_400_000_000 + span.nanoseconds // 1_000 for span in spans]
    return pa.chunked_array([pa.array(micros, pa.int64()).cast(pa.duration("us"))])


def make_plain(value: Any) -> Any:  # noqa: ANN401 -- any value of a cell
    """Return a cell as a JSON value: times in ISO 8601, durations as "2 days, 3:00:00", bytes as their number.

    >>> make_plain({"a": [date(2024, 1, 2), timedelta(days=2, hours=3), b"12", Decimal("1.50"), float("nan")]})
    {'a': ['2024-01-02', '2 days, 3:00:00', '<2 bytes>', '1.50', 'nan']}
    """
    if isinstance(value, Mapping):
        return {str(key): make_plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [make_plain(inner) for inner in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, float):
        # JSON has neither NaN nor infinity.
        return value if value - value == 0 else str(value)
    return str(value) if isinstance(value, timedelta | Decimal) else value


def iterate_rows(frame: pl.DataFrame) -> Iterator[list[Any]]:
    """Yield the rows of a frame, with each cell as a JSON value."""
    for row in frame.iter_rows():
        yield [make_plain(cell) for cell in row]


def to_json(frame: pl.DataFrame) -> str:
    r"""Return a frame as a JSON array with one object per line.

    >>> to_json(pl.DataFrame({"a": [1, None]}))
    '[\n{"a": 1},\n{"a": null}\n]\n'
    """
    rows = (dict(zip(frame.columns, row, strict=True)) for row in iterate_rows(frame))
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def to_csv(frame: pl.DataFrame) -> str:
    r"""Return a frame as CSV; null is an empty cell; lists, structs and truth values are as in JSON.

    A text that a spreadsheet would execute as a formula is prefixed with "'".

    >>> to_csv(pl.DataFrame({"a": ["=1+1", None], "b": [[1, 2], []]}))
    'a,b\n\'=1+1,"[1, 2]"\n,[]\n'
    """
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow([escape_csv_cell(name) for name in frame.columns])
    writer.writerows([_csv_cell(cell) for cell in row] for row in iterate_rows(frame))
    return lines.getvalue()


def _csv_cell(cell: Any) -> Any:  # noqa: ANN401 -- any value of a cell
    if isinstance(cell, dict | list | bool):
        return json.dumps(cell, ensure_ascii=False)
    return escape_csv_cell(cell) if isinstance(cell, str) else cell
