"""Read the small Parquet files of many venues together: opening each by itself takes far longer than reading it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from peercorpus.workspace.table_state import TablePart

SMALL_BYTES = 1 << 18
"""Size up to which a file counts as small; our choice."""

GROUP_BYTES = 1 << 21
"""Size of the files read together, which are in memory at a time; our choice."""

FIRST_FILES = 8
"""Number of files read together at first, until it is known which columns are asked for."""

FEW_FILES = 32
"""With fewer small files in a table, each is read by itself."""

_PLACE = "file in which this row is"


@dataclass(slots=True)
class _Table:
    """The small files of one table, of which those of a group are in memory.

    Attributes:
        parts: The files in the order of their venues.
        places: Where each file is among them, by its path.
        wanted: Columns asked for so far.
        group: The files in memory.
        spans: First row of each of them in the columns, and the row after its last, by path.
        columns: Values of the columns of all of them.
    """

    parts: Sequence[TablePart]
    places: dict[str, int]
    wanted: set[str] = field(default_factory=set)
    group: Sequence[TablePart] = ()
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def choose_group(self, part: TablePart) -> None:
        """Take a file, and those of the venues after it, as the ones that are in memory."""
        first = self.places[part.relative]
        most = FIRST_FILES if not self.group else len(self.parts)
        group, size_bytes = [part], part.size_bytes
        for other in self.parts[first + 1 : first + most]:
            size_bytes += other.size_bytes
            if size_bytes > GROUP_BYTES:
                break
            group.append(other)
        ends = [0]
        for one in group:
            ends.append(ends[-1] + one.rows)
        self.group, self.columns = group, {}
        self.spans = {one.relative: span for one, span in zip(group, pairwise(ends), strict=True)}


class SmallParts:
    """Values of small files of local tables, for whoever reads one venue after the other in alphabetical order.

    They are taken only where every file has the rows that the log says; else, or where a file cannot be read, the
    files are left to be read one by one, which says what is wrong.
    """

    def __init__(self, folder: Path, list_parts: Callable[[str], Sequence[TablePart]]) -> None:
        """Read the tables below a folder.

        Args:
            folder: Location of the tables.
            list_parts: Returns the files of a table.
        """
        self._folder = folder
        self._list_parts = list_parts
        self._tables: dict[str, _Table] = {}

    def columns(self, name: str, part: TablePart, columns: Sequence[str]) -> list[list[Any]] | None:
        """Return the values of these columns in a file; None where it must be read by itself."""
        table = self._tables.get(name) or self._open(name)
        if part.relative not in table.places:
            return None
        is_new = part.relative not in table.spans
        if is_new:
            table.choose_group(part)
        table.wanted.update(columns)
        missing = sorted(table.wanted) if is_new else [column for column in columns if column not in table.columns]
        if (missing or is_new) and not self._load(name, table, missing):
            table.places.clear()
            return None
        start, end = table.spans[part.relative]
        return [table.columns[column][start:end] for column in columns]

    def count(self, name: str, part: TablePart) -> int | None:
        """Return the number of rows of a file; None where it must be opened by itself."""
        return part.rows if self.columns(name, part, ()) is not None else None

    def _open(self, name: str) -> _Table:
        parts = sorted(self._list_small(name), key=lambda part: (part.values["venue_id"], part.relative))
        places = {part.relative: place for place, part in enumerate(parts)} if len(parts) >= FEW_FILES else {}
        table = self._tables[name] = _Table(parts, places)
        return table

    def _list_small(self, name: str) -> Iterator[TablePart]:
        return (part for part in self._list_parts(name) if part.size_bytes <= SMALL_BYTES)

    def _load(self, name: str, table: _Table, columns: Sequence[str]) -> bool:
        """Read columns of the files of the group; return whether all are what the log says."""
        import polars as pl

        paths = [str(self._folder / name / part.relative) for part in table.group]
        try:
            scan = pl.scan_parquet(paths, glob=False, hive_partitioning=False, include_file_paths=_PLACE)
            rows = scan.select(_PLACE, *columns).collect()
        except (OSError, pl.exceptions.PolarsError):
            return False
        found = rows[_PLACE].rle().struct
        counts = dict(zip(found.field("value").to_list(), found.field("len").to_list(), strict=True))
        if counts != {path: part.rows for path, part in zip(paths, table.group, strict=True)}:
            return False
        table.columns |= {column: rows[column].to_list() for column in columns}
        return True
