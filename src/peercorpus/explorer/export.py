"""Write the papers of a selection as CSV, JSONL or Parquet, and show the command and Python that give the same."""

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
from peercorpus.explorer.search import select_rows
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.explorer.selection import Selection
from peercorpus.records.arrow_schema import arrow_schema, to_arrow
from peercorpus.wording.untrusted_text import escape_csv_cell
from peercorpus.workspace.private_files import replacing

_BATCH_PAPERS = 500
"""Papers in memory at once while a file is written."""


def _format_cell(value: object) -> object:
    """Return a value as a cell of a CSV file.

    >>> _format_cell("=1+1"), _format_cell(("a", "b")), _format_cell(-1.0)
    ("'=1+1", 'a; b', -1.0)
    """
    if isinstance(value, tuple):
        value = "; ".join(value)
    return escape_csv_cell(value) if isinstance(value, str) else value


def as_csv(rows: Iterable[PaperRow]) -> Iterator[bytes]:
    """Yield a CSV file in parts: a header and a line for each paper; keywords are joined by "; "."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    for batch in _split_batches(rows):
        writer.writerows(map(_format_cell, asdict(row).values()) for row in batch)
        yield lines.getvalue().encode()
        lines.seek(0)
        lines.truncate()


def as_jsonl(rows: Iterable[PaperRow]) -> Iterator[bytes]:
    """Yield JSON lines in parts, one object for each paper."""
    for batch in _split_batches(rows):
        yield b"".join(msgspec.json.encode(asdict(row)) + b"\n" for row in batch)


def as_parquet(rows: Iterable[PaperRow]) -> Iterator[bytes]:
    """Yield a Parquet file in parts."""
    sink = _GrowingFile()
    with pq.ParquetWriter(sink, arrow_schema(PaperRow), compression="zstd") as writer:
        for batch in _split_batches(rows):
            if batch:
                writer.write_table(to_arrow(PaperRow, batch))
            yield sink.take()
    yield sink.take()


def _split_batches(rows: Iterable[PaperRow]) -> Iterator[list[PaperRow]]:
    """Yield the rows in batches; a single empty batch if there are none."""
    is_empty = True
    iterator = iter(rows)
    while batch := [row for _, row in zip(range(_BATCH_PAPERS), iterator, strict=False)]:
        is_empty = False
        yield batch
    if is_empty:
        yield []


class _GrowingFile(io.RawIOBase):
    """A file that is written only at its end, and whose new bytes can be taken out as it grows."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        added = bytes(data)  # type: ignore[call-overload]
        self._data += added
        self._length += len(added)
        return len(added)

    def tell(self) -> int:
        return self._length

    def take(self) -> bytes:
        data = bytes(self._data)
        self._data.clear()
        return data


FORMATS: Mapping[str, tuple[Callable[[Iterable[PaperRow]], Iterator[bytes]], str]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "jsonl": (as_jsonl, "application/x-ndjson"),
    "parquet": (as_parquet, "application/vnd.apache.parquet"),
}
"""For each file extension the function that writes it, and its media type."""


def check_extension(out: Path) -> None:
    """Check that a file's extension is a key of `FORMATS`; raise a PeercorpusError otherwise."""
    if out.suffix.removeprefix(".") not in FORMATS:
        raise PeercorpusError(f"The extension of '{out.name}' is not a format; use one of: .{', .'.join(FORMATS)}.")


def write_selection(opened: OpenIndex, selection: Selection, out: Path) -> int:
    """Write every paper of a selection to a file, which is replaced, and return their number.

    The extension determines the format.

    Raises:
        PeercorpusError: As for `check_extension`.
    """
    check_extension(out)
    write, _ = FORMATS[out.suffix.removeprefix(".")]
    papers = 0

    def count(rows: Iterable[PaperRow]) -> Iterator[PaperRow]:
        nonlocal papers
        for row in rows:
            papers += 1
            yield row

    with replacing(out) as partial, partial.open("r+b") as file:
        file.writelines(write(count(select_rows(opened, selection))))
    return papers


def export_command(folder: Path, selection: Selection) -> str:
    """Return the command that writes the same papers to a file."""
    chosen = ["--select", replace(selection, page=1).query_string()]
    return shlex.join(["peercorpus", "explore", "--workspace", str(folder), *chosen, "--out", "papers.csv"])
