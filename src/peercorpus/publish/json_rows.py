"""Rows → a file of JSON: an object a line, or one array, as Re² is published."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any


def _encoded(row: dict[str, Any]) -> str:
    """A row as JSON, times in ISO 8601.

    >>> _encoded({"é": datetime(2020, 1, 2)})
    '{"é": "2020-01-02T00:00:00"}'
    """
    return json.dumps(row, ensure_ascii=False, default=datetime.isoformat)


def _as_lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield _encoded(row) + "\n"


def _as_list(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    before = "[\n"
    for row in rows:
        yield before + _encoded(row)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def write_rows(path: Path, rows: Iterable[dict[str, Any]], *, as_list: bool) -> None:
    """Write rows as they come: one array, or an object a line."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_as_list(rows) if as_list else _as_lines(rows))
