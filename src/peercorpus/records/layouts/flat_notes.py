"""Read tables whose columns are the members of notes, as `pandas.json_normalize` writes them: `content.title.value`."""

import json
from collections.abc import Iterable
from typing import Any

from peercorpus.records.layouts.stated import Row, is_stated

CONTENT = "content."
LISTS = frozenset({"invitations", "signatures", "readers", "writers", "nonreaders", "authors", "authorids", "keywords"})
TIMES = frozenset({"cdate", "mdate", "tcdate", "tmdate", "ddate", "pdate", "odate", "number"})


def has_flat_notes(columns: Iterable[str]) -> bool:
    """Return whether columns are members of notes: an id, or a forum, and some members of `content`."""
    columns = list(columns)
    return any(name.startswith(CONTENT) for name in columns) and bool({"id", "forum"} & {*columns})


def nest(row: Row) -> dict[str, Any]:
    """Return the note of a row; empty cells are members that the note lacks.

    >>> nest({"id": "a", "content.title.value": "Kites", "cdate": "1700000000000.0", "content.rating": None})
    {'id': 'a', 'content': {'title': {'value': 'Kites'}}, 'cdate': 1700000000000}
    """
    note: dict[str, Any] = {}
    for name, value in row.items():
        if not is_stated(value):
            continue
        *outer, last = name.split(".")
        at = note
        for part in outer:
            inner = at.setdefault(part, {})
            if not isinstance(inner, dict):
                inner = at[part] = {"value": inner}
            at = inner
        at[last] = _read_cell(next((p for p in (last, *reversed(outer)) if p != "value"), last), value)
    return note


def _read_cell(name: str, value: object) -> object:
    """Return a cell as in the API: lists and numbers stored as text are decoded, and times are whole numbers."""
    if name in TIMES:
        try:
            return int(float(str(value)))
        except ValueError:
            return value
    if name in LISTS and isinstance(value, str) and value.strip().startswith("["):
        for written in (value, value.replace("'", '"')):
            try:
                return json.loads(written)
            except ValueError:
                continue
    return value
