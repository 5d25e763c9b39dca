"""A selection as CSV, JSONL or Parquet, a batch of papers at a time, and what reproduces it."""

import csv
import io
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

import msgspec
import pyarrow.parquet as pq

from peercorpus.errors import PeercorpusError
from peercorpus.explorer.paper_row import COLUMNS, PaperRow
from peercorpus.explorer.search import rows_of
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.explorer.selection import Selection, is_of_papers
from peercorpus.publish.csv_cells import as_cell
from peercorpus.schema import arrow_schema, to_arrow

BATCH = 500
"""Papers written at a time."""


def _cell(value: object) -> object:
    """A value as a cell.

    >>> _cell("=1+1"), _cell(("a", "b")), _cell(-1.0)
    ("'=1+1", 'a; b', -1.0)
    """
    if isinstance(value, tuple):
        value = "; ".join(value)
    return as_cell(value) if isinstance(value, str) else value


def as_csv(rows: Iterable[PaperRow]) -> Iterator[bytes]:
    """A header, and a line for each paper; keywords are joined by "; "."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    for batch in _batches(rows):
        writer.writerows([_cell(value) for value in asdict(row).values()] for row in batch)
        yield lines.getvalue().encode()
        lines.seek(0)
        lines.truncate()


def as_jsonl(rows: Iterable[PaperRow]) -> Iterator[bytes]:
    """One JSON object a paper."""
    for batch in _batches(rows):
        yield b"".join(msgspec.json.encode(row) + b"\n" for row in batch)


def as_parquet(rows: Iterable[PaperRow]) -> Iterator[bytes]:
    """A Parquet file, sent as it grows."""
    sink = _Growing()
    with pq.ParquetWriter(sink, arrow_schema(PaperRow), compression="zstd") as writer:
        for batch in _batches(rows):
            if batch:
                writer.write_table(to_arrow(PaperRow, batch))
            yield sink.taken()
    yield sink.taken()


def _batches(rows: Iterable[PaperRow]) -> Iterator[list[PaperRow]]:
    """The rows by the batch; one empty batch of none."""
    is_empty = True
    iterator = iter(rows)
    while batch := [row for _, row in zip(range(BATCH), iterator, strict=False)]:
        is_empty = False
        yield batch
    if is_empty:
        yield []


class _Growing(io.RawIOBase):
    """A file that is only written at its end, and from which what was written is taken."""

    def __init__(self) -> None:
        self._held, self._length = bytearray(), 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        added = bytes(data)  # type: ignore[call-overload]
        self._held += added
        self._length += len(added)
        return len(added)

    def tell(self) -> int:
        return self._length

    def taken(self) -> bytes:
        """What was written since it was last taken."""
        held = bytes(self._held)
        self._held.clear()
        return held


Writing = Callable[[Iterable[PaperRow]], Iterator[bytes]]
FORMATS: Mapping[str, tuple[Writing, str]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "jsonl": (as_jsonl, "application/x-ndjson"),
    "parquet": (as_parquet, "application/vnd.apache.parquet"),
}
"""By the name behind the last dot: what writes it, and what it is called on the web."""


def write_selection(opened: OpenIndex, selection: Selection, out: Path) -> int:
    """Write every paper of a selection to a file whose name says the format; how many there are.

    Raises:
        PeercorpusError: Its name ends in no format.
    """
    chosen = FORMATS.get(out.suffix.removeprefix("."))
    if chosen is None:
        raise PeercorpusError(f"'{out.name}' does not say which format; end it in one of: .{', .'.join(FORMATS)}.")
    counted = _Counted(rows_of(opened, selection))
    partial = out.with_name(f"{out.name}.partial")
    with partial.open("wb") as file:
        file.writelines(chosen[0](counted))
    partial.replace(out)
    return counted.count


class _Counted:
    """Rows, counted as they pass."""

    def __init__(self, rows: Iterable[PaperRow]) -> None:
        self._rows, self.count = rows, 0

    def __iter__(self) -> Iterator[PaperRow]:
        for row in self._rows:
            self.count += 1
            yield row


def command_of(folder: Path, selection: Selection, name: str = "papers.csv") -> str:
    """The command that writes the same selection."""
    asked = replace(selection, page=1).query_string()
    return shlex.join(["peercorpus", "explore", "--workspace", str(folder), "--select", asked, "--out", name])


def python_of(folder: Path, selection: Selection, *, is_whole: bool) -> str:
    """The lines of Python that give the same papers.

    Args:
        folder: Of the workspace.
        selection: What is asked for.
        is_whole: Whether nothing of the workspace is taken down, so that its tables hold what is shown.
    """
    opened = f"corpus = peercorpus.open({str(folder)!r})"
    if is_whole and not selection.words and all(map(is_of_papers, selection.conditions)):
        if not selection.conditions:
            return f"import peercorpus\n\n{opened}\ncorpus.papers()"
        conditions = [str(condition) for condition in selection.conditions]
        return (
            f"import peercorpus\nfrom peercorpus.where import matching, parse_all\n\n{opened}\n"
            f"corpus.papers().filter(matching(parse_all({conditions!r})))"
        )
    asked = replace(selection, page=1, sort="relevance").query_string()
    return (
        "import peercorpus\nimport polars as pl\nfrom peercorpus.explorer.selected import selected\n\n"
        f'{opened}\ncorpus.papers().filter(pl.col("forum_id").is_in(selected({str(folder)!r}, {asked!r})))'
    )
