"""Order and pages of a list: `sort`, `after`, `offset`, `limit`, as both APIs understand them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from peercorpus.simulator.answers import invalid
from peercorpus.simulator.holdings import Json

MOST_ROWS = 1000
PARAMETERS = frozenset({"limit", "offset", "after", "sort"})
_DATES = ("cdate", "ddate", "mdate", "odate", "pdate", "tcdate", "tmdate", "duedate", "expdate")
_SORTABLE = frozenset({"id", "number", *_DATES})


@dataclass(frozen=True, slots=True)
class Paging:
    """Which part of a list is asked for, and in which order; None: the service's own, newest first."""

    limit: int
    offset: int
    after: str | None
    sort: str | None


def read_paging(query: Mapping[str, str]) -> Paging:
    """Read the paging parameters of a query.

    Raises:
        ApiError: A number is none or out of range, or the list cannot be sorted by that field.
    """
    limit = read_number(query, "limit", MOST_ROWS)
    if limit > MOST_ROWS:
        raise invalid("limit", limit, f"must be <= {MOST_ROWS}", comparison="<=", limit=MOST_ROWS)
    after = query.get("after")
    # Keyset paging needs a total order; without `sort` only the ids give one.
    sort = query.get("sort") or ("id" if after else None)
    if sort is not None:
        _read_sort(sort)
    return Paging(limit, read_number(query, "offset", 0), after, sort)


def read_number(query: Mapping[str, str], name: str, default: int) -> int:
    """Read a parameter that is a whole number, zero or more."""
    text = query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit()):
        raise invalid(name, text, "must be integer")
    return int(text)


def in_order(rows: Sequence[Json], sort: str | None) -> list[Json]:
    """The rows by the field that `sort` names, ties by id; without `sort` as they come."""
    if sort is None:
        return list(rows)
    field, descending = _read_sort(sort)
    return sorted(rows, key=lambda row: _sort_key(row, field), reverse=descending)


def page_of(rows: Sequence[Json], paging: Paging, after_row: Json | None = None) -> list[Json]:
    """The rows of one page; empty behind the end.

    Args:
        rows: In the order of `paging.sort`.
        paging: What is asked for.
        after_row: The row that `after` names, where the service still holds it: it may have left the list since.
    """
    start = paging.offset
    if paging.after is not None:
        start += _place_behind(rows, paging.after, paging.sort or "id", after_row)
    return list(rows[start : start + paging.limit])


def _place_behind(rows: Sequence[Json], after: str, sort: str, after_row: Json | None) -> int:
    for place, row in enumerate(rows):
        if row["id"] == after:
            return place + 1
    field, descending = _read_sort(sort)
    if after_row is None and field != "id":
        raise invalid("after", after, "must be the id of a document")
    last = _sort_key(after_row or {"id": after}, field)
    keys = [_sort_key(row, field) for row in rows]
    return sum(key >= last if descending else key <= last for key in keys)


def _sort_key(row: Json, field: str) -> tuple[float, str]:
    value = row.get(field)
    return (float(value) if isinstance(value, int | float) else -1.0, str(row["id"]))


def _read_sort(sort: str) -> tuple[str, bool]:
    field, _, direction = sort.partition(":")
    if field not in _SORTABLE or direction not in {"", "asc", "desc"}:
        raise invalid("sort", sort, f"must name one of {', '.join(sorted(_SORTABLE))}")
    return field, direction == "desc"
