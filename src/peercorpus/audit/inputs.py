"""Read the papers to audit from files (Parquet, JSON, JSON Lines, CSV, TSV) or from a workspace.

Files may come from other sources: columns are recognised by common names, and errors never quote a row.
"""

import json
import mmap
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from peercorpus.audit.papers import AuditSource, SourceRecord
from peercorpus.corpus.text_choice import is_grade_accepted
from peercorpus.errors import TableError
from peercorpus.importers.tables import read_parquet_rows
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade, Status
from peercorpus.records.papers import PaperVersion
from peercorpus.release.provenance import read_worst_grade
from peercorpus.wording.untrusted_text import escape_and_cut, redact_people
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.workspace import Workspace

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
"""Columns that may state where a text came from or how long its file is; read if they exist."""

GRADE, NO_GRADE = "grade", "None"
"""Column of a release with the grade of a paper's text, and how a missing one is read."""
BATCH_ROWS = 32
CSV_BLOCK_BYTES = 1 << 23
"""Bytes of a CSV file read at once; one row must fit."""
TRAIT_CHARACTERS = 60
_RECORDS_FOR_COLUMNS = 100
"""Number of records of a JSON file from which its columns are determined."""

BOM = b"\xef\xbb\xbf"
"""Byte order mark, which some programs write before the first character."""
OBJECT = msgspec.json.Decoder(dict[str, Any])
REASON_CHARACTERS = 150
ROW_OF_CSV = re.compile(r"(Expected \d+ columns, got \d+):.*", re.DOTALL)
Record = Mapping[str, Any]
Columns = Sequence[str] | None
Reader = Callable[[Path, Columns], Iterator[Record]]


def _read_csv(path: Path, columns: Columns) -> Iterator[Record]:
    names = columns or _read_csv_columns(path)
    strings = {name: pa.string() for name in names}
    with pyarrow.csv.open_csv(
        path,
        pyarrow.csv.ReadOptions(block_size=CSV_BLOCK_BYTES),
        pyarrow.csv.ParseOptions(delimiter=_choose_delimiter(path), newlines_in_values=True),
        pyarrow.csv.ConvertOptions(include_columns=list(names), column_types=strings, strings_can_be_null=False),
    ) as reader:
        for batch in reader:
            for part in range(0, batch.num_rows, BATCH_ROWS):
                yield from batch.slice(part, BATCH_ROWS).to_pylist()


def _choose_delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def _read_csv_columns(path: Path) -> list[str]:
    options = pyarrow.csv.ReadOptions(block_size=CSV_BLOCK_BYTES)
    parsing = pyarrow.csv.ParseOptions(delimiter=_choose_delimiter(path), newlines_in_values=True)
    with pyarrow.csv.open_csv(path, options, parsing) as reader:
        return list(reader.schema.names)


def _read_lines(path: Path, _: Columns) -> Iterator[Record]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if bare := line.removeprefix(BOM if number == 1 else b"").strip():
                try:
                    yield _decode_object(bare)
                except ValueError as error:
                    raise ValueError(f"line {number:,} is not a JSON object ({error})") from None


def _decode_object(line: bytes) -> Record:
    """Return a JSON object; also accepts what Python writes beyond JSON: NaN and lone surrogates.

    Raises:
        ValueError: The line is not a JSON object.
    """
    try:
        return OBJECT.decode(line)
    except msgspec.DecodeError as error:
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            raise error from None
        if not isinstance(fields, dict):
            raise
        return {
            name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
            for name, value in fields.items()
        }


def _read_json(path: Path, columns: Columns) -> Iterator[Record]:
    """Yield the objects of one list, or of one object whose members are objects; otherwise one object per line."""
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        # The map is closed with its last view; members that are not yet decoded stay on disk, not in memory.
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    members = _split_members(content[len(BOM) :] if content[: len(BOM)] == BOM else content)
    if members is None:
        yield from _read_lines(path, columns)
        return
    while members:
        name, raw = members.pop()
        yield {**({} if name is None else {"id": name}), **_decode_object(bytes(raw))}


def _split_members(content: memoryview) -> list[tuple[str | None, msgspec.Raw]] | None:
    """Return the undecoded members of a JSON text, last first; None unless it is a list or an object of objects."""
    try:
        members = msgspec.json.decode(content, type=list[msgspec.Raw] | dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        if bytes(content[:1]) == b"{":  # One object per line: some people name their JSON Lines files `.json`.
            return None
        raise
    if isinstance(members, list):
        return [(None, raw) for raw in reversed(members)]
    are_objects = all(bytes(memoryview(raw)[:1]) == b"{" for raw in members.values())
    return list(reversed(members.items())) if are_objects else None


READERS: dict[str, Reader] = {
    ".parquet": read_parquet_rows,
    ".pq": read_parquet_rows,
    ".jsonl": _read_lines,
    ".ndjson": _read_lines,
    ".json": _read_json,
    ".csv": _read_csv,
    ".tsv": _read_csv,
}


def _read_records(path: Path, columns: Columns = None) -> Iterator[Record]:
    """Yield the records of a file.

    Raises:
        TableError: It is not in the format that its name states.
    """
    try:
        yield from READERS[path.suffix.lower()](path, columns)
    except (pa.ArrowException, RecursionError, ValueError) as error:
        raise _make_error(path, error) from None


def _make_error(path: Path, error: Exception) -> TableError:
    """Return the error for a file, without the row that Arrow quotes."""
    reason = ROW_OF_CSV.sub(r"\1", " ".join(str(error).split()))
    reason = escape_and_cut(str(redact_people(reason)), REASON_CHARACTERS)
    return TableError(f"'{path.name}' cannot be read as {path.suffix[1:]}: {reason}")


def _read_columns(path: Path) -> list[str]:
    """Return the columns of a file from its beginning; empty for an empty file."""
    if path.stat().st_size == 0:
        return []
    try:
        if READERS[path.suffix.lower()] is read_parquet_rows:
            return list(pq.read_schema(path).names)
        if READERS[path.suffix.lower()] is _read_csv:
            return _read_csv_columns(path)
    except (pa.ArrowException, ValueError) as error:
        raise _make_error(path, error) from None
    return list(dict.fromkeys(name for record in islice(_read_records(path), _RECORDS_FOR_COLUMNS) for name in record))


def _read_columns_if_any(path: Path) -> list[str]:
    """Return the columns of a file in a folder; empty for JSON without rows, such as a manifest."""
    try:
        return _read_columns(path)
    except TableError:
        if path.suffix.lower() != ".json":
            raise
    return []


def _find(columns: Sequence[str], named: str | None, usual_names: Sequence[str]) -> str | None:
    if named is not None:
        return named if named in columns else None
    lowered = {_bare(name): name for name in reversed(columns)}
    return next((lowered[name] for name in usual_names if name in lowered), None)


def _bare(name: str) -> str:
    """Return the name of a column in lower case, without what `json_normalize` adds around a note's fields."""
    return name.lower().removeprefix("content.").removesuffix(".value")


def _list_paths(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the files that can be read, and those in other formats."""
    if not path.exists():
        raise TableError(f"'{path}' does not exist; name a workspace, a release, a file or a folder of files.")
    inside = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    papers = _find_release_papers(path)
    readable = sorted(
        file for file in inside if file.suffix.lower() in READERS and (papers is None or papers in file.parents)
    )
    if not readable:
        raise TableError(f"'{path}' contains no Parquet, JSON Lines, JSON, CSV or TSV file and is not a workspace.")
    return readable, sorted(set(inside) - set(readable))


def _find_release_papers(path: Path) -> Path | None:
    """Return a release's folder that has each paper once, with the grade of its text; None if it is not a release."""
    folders = (path / "data" / name for name in ("papers_full", "papers"))
    is_release = (path / "release.json").is_file()
    return next((folder for folder in folders if is_release and folder.is_dir()), None)


def _keep_accepted(records: Iterator[SourceRecord], worst_grade: Grade) -> Iterator[SourceRecord]:
    """Yield the papers of a release with the texts that its tasks may contain; any other text counts as missing."""
    for record in records:
        is_accepted = is_grade_accepted(record.traits.get(GRADE), worst_grade)
        yield record if is_accepted else record._replace(text=None, traits={**record.traits, GRADE: NO_GRADE})


def _read_entries(path: Path, text: str, decision: str) -> Iterator[SourceRecord]:
    columns = _read_columns(path)
    record_id = _find(columns, None, IDS)
    routes = [name for name in columns if name.lower() in ROUTES and name not in {text, decision}]
    names_paper = record_id is not None and record_id.lower() in PAPER_IDS
    needed = list(dict.fromkeys(name for name in (text, decision, record_id, *routes) if name))
    for record in _read_records(path, needed):
        own = record.get(record_id) if record_id else None
        own = None if own is None or own == "" else str(own)
        traits = {name: str(redact_people(str(record.get(name))))[:TRAIT_CHARACTERS] for name in routes}
        yield SourceRecord(
            record_id=own, text=record.get(text), decision=record.get(decision), traits=traits, names_paper=names_paper
        )


def file_source(path: Path, text: str | None = None, decision: str | None = None) -> AuditSource:
    """Return the rows of a file, or of the files in a folder that have a text and a decision.

    Args:
        path: A file, or a folder of files. From a release, only texts that its tasks may contain are taken, as stated
            in its `inputs.json`; a paper with any other text has none.
        text: The column of the text; None for the first of `TEXTS` that exists.
        decision: The column of the decision; None for the first of `DECISIONS` that exists.

    Raises:
        TableError: The file does not exist, cannot be read, or lacks these columns.
    """
    readable, others = _list_paths(path)
    chosen: list[tuple[Path, str, str]] = []
    seen: list[str] = []
    for file in readable:
        columns = _read_columns_if_any(file) if path.is_dir() else _read_columns(file)
        seen.extend(name for name in columns if name not in seen)
        found_text, found_decision = _find(columns, text, TEXTS), _find(columns, decision, DECISIONS)
        if found_text and found_decision and found_text != found_decision:
            chosen.append((file, found_text, found_decision))
        else:
            others.append(file)
    if not chosen:
        raise TableError(_describe_missing_columns(path, seen, text, decision))

    papers = _find_release_papers(path)
    worst_grade = read_worst_grade(path) if papers is not None and papers.name == "papers_full" else None

    def entries() -> Iterator[SourceRecord]:
        for chosen_file in chosen:
            records = _read_entries(*chosen_file)
            yield from records if worst_grade is None else _keep_accepted(records, worst_grade)

    parquet = all(READERS[file.suffix.lower()] is read_parquet_rows for file, _, _ in chosen)
    total = sum(pq.read_metadata(file).num_rows for file, _, _ in chosen) if parquet else None
    names = tuple(sorted(file.relative_to(path).as_posix() for file in others))
    texts = ", ".join(sorted({found_text for _, found_text, _ in chosen}))
    decisions = ", ".join(sorted({found_decision for _, _, found_decision in chosen}))
    return AuditSource(
        name=path.resolve().name, text=texts, decision=decisions, entries=entries, total=total, passed_over=names
    )


def _describe_missing_columns(path: Path, seen: Sequence[str], text: str | None, decision: str | None) -> str:
    """Return the error for when no file has the required columns."""
    if not seen:
        return f"'{path}' contains no rows."
    lacking = [
        f"a {what} ({f'--{what} {named}' if named else 'name it with --' + what})"
        for what, named, usual_names in (("text", text, TEXTS), ("decision", decision, DECISIONS))
        if _find(seen, named, usual_names) is None
    ]
    both = "no file with a column of a text and another of a decision (name them with --text and --decision)"
    what = f"no column of {' and of '.join(lacking)}" if lacking else both
    columns = ", ".join(escape_and_cut(name, 40) for name in seen[:20])
    return f"'{path}' has {what}; its columns are: {columns}{', …' if len(seen) > 20 else ''}."


DECIDED = (Status.ACCEPTED.value, Status.REJECTED.value)
NO_TEXT = "no version that may be published as initial"
TAKEN_DOWN = "taken down"


def _choose_files(tables: Tables, venue_id: str, hidden_files: Set[str]) -> dict[str, tuple[int, str]]:
    """Return the file published as initial for each forum that has one, with the rank of its grade."""
    read = {
        sha256
        for batch in tables.batches("5-texts", venue_id, ["sha256"])
        for sha256 in batch.column("sha256").to_pylist()
    } - hidden_files
    chosen: dict[str, tuple[int, str]] = {}
    for version in tables.read(PaperVersion, venue_id):
        sha256 = version.sha256
        if version.is_initial and version.grade in PUBLISHABLE_GRADES and sha256 is not None and sha256 in read:
            candidate = (PUBLISHABLE_GRADES.index(version.grade), sha256)
            # The first one of the best grade, as in a release.
            if version.forum_id not in chosen or candidate[0] < chosen[version.forum_id][0]:
                chosen[version.forum_id] = candidate
    return chosen


def _read_statuses(tables: Tables, venue_id: str) -> dict[str, str]:
    return {
        row["forum_id"]: row["status"]
        for batch in tables.batches("1-papers", venue_id, ["forum_id", "status"])
        for row in batch.to_pylist()
    }


def _make_record(forum_id: str, status: str, text: str | None, route: str) -> SourceRecord:
    why_not = None if status in DECIDED else f"status {status}"
    return SourceRecord(record_id=forum_id, text=text, decision=status, traits={"source route": route}, why_not=why_not)


def _read_venue(tables: Tables, venue_id: str, hidden: Set[str], hidden_files: Set[str]) -> Iterator[SourceRecord]:
    statuses = _read_statuses(tables, venue_id)
    chosen = _choose_files(tables, venue_id, hidden_files)
    forums: dict[str, list[str]] = defaultdict(list)
    for forum_id, status in statuses.items():
        if forum_id in hidden:
            yield SourceRecord(record_id=None, text=None, decision=status, traits={}, why_not=TAKEN_DOWN)
        elif forum_id in chosen:
            forums[chosen[forum_id][1]].append(forum_id)
        else:
            yield _make_record(forum_id, status, None, NO_TEXT)
    for batch in tables.batches("5-texts", venue_id, ["sha256", "markdown"], BATCH_ROWS):
        for row in batch.to_pylist():
            for forum_id in forums.pop(row["sha256"], ()):
                route = PUBLISHABLE_GRADES[chosen[forum_id][0]].value
                yield _make_record(forum_id, statuses[forum_id], row["markdown"], route)


def workspace_source(
    workspace: Workspace, hidden: Set[str] = frozenset(), hidden_files: Set[str] = frozenset()
) -> AuditSource:
    """Return the decided papers of all venues of a workspace, with the text that would be published as initial.

    A paper without such a text has none; one that was not decided after review is set aside.

    Args:
        workspace: The workspace whose tables are read.
        hidden: Forum ids of papers that are taken down.
        hidden_files: sha256 of the files that are taken down.
    """
    tables = workspace.tables

    def entries() -> Iterator[SourceRecord]:
        for venue_id in tables.venues("1-papers"):
            yield from _read_venue(tables, venue_id, hidden, hidden_files)

    total = sum(tables.count("1-papers", venue_id) for venue_id in tables.venues("1-papers"))
    return AuditSource(
        name=workspace.folder.resolve().name,
        text="5-texts.markdown",
        decision="1-papers.status",
        entries=entries,
        total=total,
    )
