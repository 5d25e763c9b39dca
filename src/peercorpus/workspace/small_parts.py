"""Read the small Parquet files of many venues together, since opening each separately takes far longer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from peercorpus.workspace.table_state import TablePart

SMALL_BYTES = 1 << 18
"""Maximum size of a small file; our choice."""

GROUP_BYTES = 1 << 21
"""Total size of the files read together and in memory at a time; our choice."""

FIRST_FILES = 8
"""Number of files read together at first, until the requested columns are known."""

FEW_FILES = 32
"""With fewer small files in a table, each is read separately."""

_PLACE = "file in which this row is"


@dataclass(slots=True)
class _Table:
    """The small files of one table, with one group of them in memory.

    Attributes:
        places: Position of each file among them, by its path.
        spans: For each of them, its first row in the columns and the row after its last, by path.
        columns: Values of the columns of all of them.
    """

    parts: Sequence[TablePart]
    places: dict[str, int]
    wanted: set[str] = field(default_factory=set)
    group: Sequence[TablePart] = ()
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def choose_group(self, part: TablePart) -> None:
        """Choose a file and those of the following venues as the group in memory."""
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
    """Values of small files of local tables, for callers that read venue after venue in alphabetical order.

    They are used only if every file has the number of rows in the log; otherwise, or if a file cannot be read, the
    files are read one by one, which reports the fault.
    """

    def __init__(self, folder: Path, list_parts: Callable[[str], Sequence[TablePart]]) -> None:
        """Read the tables below a folder; `list_parts` returns the files of a table."""
        self._folder = folder
        self._list_parts = list_parts
        self._tables: dict[str, _Table] = {}

    def columns(self, name: str, part: TablePart, columns: Sequence[str]) -> list[list[Any]] | None:
        """Return the values of these columns in a file; None if it must be read separately."""
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
        """Return the number of rows of a file; None if it must be opened separately."""
        return part.rows if self.columns(name, part, ()) is not None else None

    def _open(self, name: str) -> _Table:
        small = (part for part in self._list_parts(name) if part.size_bytes <= SMALL_BYTES)
        parts = sorted(small, key=lambda part: (part.values["venue_id"], part.relative))
        places = {part.relative: place for place, part in enumerate(parts)} if len(parts) >= FEW_FILES else {}
        table = self._tables[name] = _Table(parts, places)
        return table

    def _load(self, name: str, table: _Table, columns: Sequence[str]) -> bool:
        """Read columns of the files of the group; return whether all agree with the log."""
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
