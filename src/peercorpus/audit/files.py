"""Files that hold a corpus — Parquet, JSON Lines, JSON, CSV — as rows to audit, in memory bounded by a batch."""

import json
import mmap
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from peercorpus.audit.source import Entry, Source
from peercorpus.audit.visible import visible
from peercorpus.errors import TableError
from peercorpus.openreview.objects import blot_people

TEXTS = (
    *("markdown", "paper_text", "full_text", "fulltext", "paper_markdown", "text", "paper", "paper_content"),
    *("manuscript", "pdf_text", "body", "content", "article", "document"),
)
DECISIONS = ("decision", "paper_decision", "final_decision", "accepted", "accept", "is_accepted", "status", "label")
PAPER_IDS = ("forum_id", "paper_id", "submission_id", "forum")
IDS = (*PAPER_IDS, "record_id", "id")
ROUTES = (
    *("grade", "source_route", "text_source", "source", "route", "engine", "version"),
    *("pages", "page_count", "num_pages", "n_pages"),
)
"""Columns that may say where a text came from, or how long its file is, read where they are there."""

BATCH_ROWS = 32
READ_BYTES = 1 << 16
CSV_BLOCK_BYTES = 1 << 23
"""One row of a CSV file must fit in it."""
TRAIT_CHARACTERS = 60
LOOKED_AT = 100
"""Records of a JSON file that tell its columns."""

BOM = b"\xef\xbb\xbf"
"""What some programs write before the first character."""
OBJECT = msgspec.json.Decoder(dict[str, Any])
REASON_CHARACTERS = 150
ROW_OF_CSV = re.compile(r"(Expected \d+ columns, got \d+):.*", re.DOTALL)
Record = Mapping[str, Any]
Columns = Sequence[str] | None
Reader = Callable[[Path, Columns], Iterator[Record]]


def _parquet(path: Path, columns: Columns) -> Iterator[Record]:
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=READ_BYTES) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=columns):
            yield from batch.to_pylist()


def _csv(path: Path, columns: Columns) -> Iterator[Record]:
    names = columns or _csv_columns(path)
    strings = {name: pa.string() for name in names}
    with pyarrow.csv.open_csv(
        path,
        pyarrow.csv.ReadOptions(block_size=CSV_BLOCK_BYTES),
        pyarrow.csv.ParseOptions(delimiter=_delimiter(path), newlines_in_values=True),
        pyarrow.csv.ConvertOptions(include_columns=list(names), column_types=strings, strings_can_be_null=False),
    ) as reader:
        for batch in reader:
            for part in range(0, batch.num_rows, BATCH_ROWS):
                yield from batch.slice(part, BATCH_ROWS).to_pylist()


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def _csv_columns(path: Path) -> list[str]:
    options = pyarrow.csv.ReadOptions(block_size=CSV_BLOCK_BYTES)
    parsing = pyarrow.csv.ParseOptions(delimiter=_delimiter(path), newlines_in_values=True)
    with pyarrow.csv.open_csv(path, options, parsing) as reader:
        return list(reader.schema.names)


def _lines(path: Path, _: Columns) -> Iterator[Record]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if bare := line.removeprefix(BOM if number == 1 else b"").strip():
                try:
                    yield _object(bare)
                except ValueError as error:
                    raise ValueError(f"line {number:,} is no JSON object ({error})") from None


def _object(line: bytes) -> Record:
    """A JSON object; also with what Python writes beyond JSON: NaN, and halves of surrogate pairs.

    Raises:
        ValueError: It is none.
    """
    try:
        return OBJECT.decode(line)
    except msgspec.DecodeError as error:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise error from None
        if not isinstance(found, dict):
            raise
        return {name: _proper(value) for name, value in found.items()}


def _proper(value: object) -> object:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _json(path: Path, columns: Columns) -> Iterator[Record]:
    """The objects of one list, or of one object whose members are objects; else one object a line."""
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        # Closed with the last view of it: what waits to be decoded lies on disk, not in memory.
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    members = _members(content[len(BOM) :] if content[: len(BOM)] == BOM else content)
    if members is None:
        yield from _lines(path, columns)
        return
    while members:
        name, raw = members.pop()
        yield {**({} if name is None else {"id": name}), **_object(bytes(raw))}


def _members(content: memoryview) -> list[tuple[str | None, msgspec.Raw]] | None:
    """The members of a JSON text, not decoded, last first; None where it is no list and no object of objects."""
    try:
        found = msgspec.json.decode(content, type=list[msgspec.Raw] | dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        if bytes(content[:1]) == b"{":  # One object a line, as some name their JSON Lines.
            return None
        raise
    if isinstance(found, list):
        return [(None, raw) for raw in reversed(found)]
    are_objects = all(bytes(memoryview(raw)[:1]) == b"{" for raw in found.values())
    return list(reversed(found.items())) if are_objects else None


READERS: dict[str, Reader] = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".jsonl": _lines,
    ".ndjson": _lines,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _csv,
}


def _records(path: Path, columns: Columns = None) -> Iterator[Record]:
    """The records of a file.

    Raises:
        TableError: It is not what its name says.
    """
    try:
        yield from READERS[path.suffix.lower()](path, columns)
    except (pa.ArrowException, RecursionError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> TableError:
    """What to say of it, without the row that Arrow adds."""
    reason = ROW_OF_CSV.sub(r"\1", " ".join(str(error).split()))
    reason = visible(str(blot_people(reason)), REASON_CHARACTERS)
    return TableError(f"'{path.name}' cannot be read as {path.suffix[1:]}: {reason}")


def _columns(path: Path) -> list[str]:
    """The columns of a file, as its head tells them; none where it holds nothing."""
    if path.stat().st_size == 0:
        return []
    try:
        if READERS[path.suffix.lower()] is _parquet:
            return list(pq.read_schema(path).names)
        if READERS[path.suffix.lower()] is _csv:
            return _csv_columns(path)
    except (pa.ArrowException, ValueError) as error:
        raise _unreadable(path, error) from None
    return list(dict.fromkeys(name for record in islice(_records(path), LOOKED_AT) for name in record))


def _columns_or_none(path: Path) -> list[str]:
    """The columns of a file in a folder; none for a JSON file that holds no rows, such as a manifest."""
    try:
        return _columns(path)
    except TableError:
        if path.suffix.lower() != ".json":
            raise
    return []


def _find(columns: Sequence[str], named: str | None, known: Sequence[str]) -> str | None:
    if named is not None:
        return named if named in columns else None
    lowered = {name.lower(): name for name in reversed(columns)}
    return next((lowered[name] for name in known if name in lowered), None)


def _paths(path: Path) -> tuple[list[Path], list[Path]]:
    """The files that may be read, and those that are in no format that is read."""
    if not path.exists():
        raise TableError(f"'{path}' does not exist; name a workspace, a release, a file or a folder of files.")
    inside = [found for found in path.rglob("*") if found.is_file()] if path.is_dir() else [path]
    papers = _papers_of_release(path)
    readable = sorted(
        found for found in inside if found.suffix.lower() in READERS and (papers is None or papers in found.parents)
    )
    if not readable:
        raise TableError(f"'{path}' holds no Parquet, JSONL, JSON or CSV file, and is no workspace.")
    return readable, sorted(set(inside) - set(readable))


def _papers_of_release(path: Path) -> Path | None:
    """Where a release of ours has each paper once; its other configurations have the same papers again."""
    papers = path / "data" / "papers"
    return papers if (path / "release.json").is_file() and papers.is_dir() else None


def _entries(path: Path, text: str, decision: str) -> Iterator[Entry]:
    columns = _columns(path)
    record_id = _find(columns, None, IDS)
    routes = [name for name in columns if name.lower() in ROUTES and name not in {text, decision}]
    names_paper = record_id is not None and record_id.lower() in PAPER_IDS
    wanted = list(dict.fromkeys(name for name in (text, decision, record_id, *routes) if name))
    for record in _records(path, wanted):
        own = record.get(record_id) if record_id else None
        own = None if own is None or own == "" else str(own)
        traits = {name: str(blot_people(str(record.get(name))))[:TRAIT_CHARACTERS] for name in routes}
        yield Entry(own, record.get(text), record.get(decision), traits, names_paper=names_paper)


def file_source(path: Path, text: str | None = None, decision: str | None = None) -> Source:
    """The rows of a file, or of the files of a folder that have a text and a decision.

    Args:
        path: A file, or a folder of files; a release is one.
        text: The column of the text; None: the first of `TEXTS` that is there.
        decision: The column of the decision; None: the first of `DECISIONS` that is there.

    Raises:
        TableError: There is no such file, it cannot be read, or it has no such columns.
    """
    readable, others = _paths(path)
    chosen: list[tuple[Path, str, str]] = []
    seen: list[str] = []
    for found in readable:
        columns = _columns_or_none(found) if path.is_dir() else _columns(found)
        seen.extend(name for name in columns if name not in seen)
        found_text, found_decision = _find(columns, text, TEXTS), _find(columns, decision, DECISIONS)
        if found_text and found_decision and found_text != found_decision:
            chosen.append((found, found_text, found_decision))
        else:
            others.append(found)
    if not chosen:
        raise TableError(_no_columns(path, seen, text, decision))

    def entries() -> Iterator[Entry]:
        for chosen_file in chosen:
            yield from _entries(*chosen_file)

    parquet = all(READERS[found.suffix.lower()] is _parquet for found, _, _ in chosen)
    total = sum(pq.read_metadata(found).num_rows for found, _, _ in chosen) if parquet else None
    names = tuple(sorted(found.relative_to(path).as_posix() for found in others))
    texts = ", ".join(sorted({found_text for _, found_text, _ in chosen}))
    decisions = ", ".join(sorted({found_decision for _, _, found_decision in chosen}))
    return Source(path.resolve().name, texts, decisions, entries, total, names)


def _no_columns(path: Path, seen: Sequence[str], text: str | None, decision: str | None) -> str:
    """What to say where no file has the columns that are needed."""
    if not seen:
        return f"'{path}' holds no rows."
    lacking = [
        f"a {what} ({f'--{what} {named}' if named else 'name it with --' + what})"
        for what, named, known in (("text", text, TEXTS), ("decision", decision, DECISIONS))
        if _find(seen, named, known) is None
    ]
    both = "no file with a column of a text and another of a decision (name them with --text and --decision)"
    what = f"no column of {' and of '.join(lacking)}" if lacking else both
    columns = ", ".join(visible(name, 40) for name in seen[:20])
    return f"'{path}' has {what}; its columns are: {columns}{', …' if len(seen) > 20 else ''}."
