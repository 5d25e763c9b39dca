"""Writes what commands answer and leave behind in a form that depends on what it says alone, and digests it.

Versions of code are taken out and kept apart: they change whenever code does, whether or not what it makes changes.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl


class Section(StrEnum):
    """What kind of thing a digest is of."""

    DATA = "data"
    """Rows, numbers and files for machines."""
    WORDS = "words"
    """Text for people: terminal output, cards, pages, figures."""
    VERSIONS = "versions"
    """Versions of code, and sums that change with them; never compared."""


VERSION_COLUMNS = {"engine_version", "inspector", "text_engine"}
"""Columns of tables and of releases that hold versions of code."""
ENGINE_KEYS = {"default_engine", "read_by"}
"""Keys of JSON objects that hold the name of an engine and its version, as a list."""
MEASURED_KEYS = {"seconds"}
"""Keys of JSON objects that hold how long something took."""
FILE_KEYS = {"inputs.json": {"peercorpus", "pyarrow", "tables"}}
"""Keys that do, or that stand for rows with versions of code in them, in files of this name alone."""
WORDS_SUFFIXES = {".html", ".svg", ".pdf", ".png", ".css", ".js"}
WORDS_NAMES = {"README.md", "leaderboard.md"}
SHORTEST_VERSION = 8
"""Versions of fewer characters are not looked for in texts, where they may be something else."""
SCHEMA = "(schema)"
"""Stands for names, order and types of columns among the digests of columns."""
SHORT_SUM = 12
"""Digits of a sum where a table for people shortens it."""
SUM = re.compile(rf"\b(?:[0-9a-f]{{64}}|[0-9a-f]{{{SHORT_SUM}}})\b")
DURATION = re.compile(r"\bin [\d.,]+ (?:ms|s|min|h)\b|[\d.,]+ (?:pages|papers|rows)/s")

IGNORED = (
    ("raw.db: seen_ms, started_ms, shown_ms", "instants of the harvest or the import, which read the clock"),
    ("raw.db: the table budget", "instants and what is left of the request budget, by the server's address"),
    ("raw.db: the key of pseudonyms", "drawn at random in a new workspace; prepared workspaces keep theirs"),
    ("raw.db: the order of rows, ports in sources", "requests run side by side, and servers take any free port"),
    ("tables: names of Parquet files, _delta_log", "random names and instants of commits; the rows are digested"),
    ("tables, releases: engine_version, inspector, text_engine", "versions of code; see the section 'versions'"),
    ("inputs.json: peercorpus, pyarrow, tables", "versions of code, in rows too; see the section 'versions'"),
    ("status --json: versions in default_engine, read_by", "versions of code; see the section 'versions'"),
    ("release.json, checksums.json and others: sums of files", "each file is digested itself; names are kept"),
    ("Parquet: bytes", "rows and schema are digested; bytes of a release: see the section 'versions'"),
    ("standard output: durations and speeds", "they are measured"),
    ("convert: seconds", "they are measured"),
    ("standard error of commands that work", "progress, which depends on speed"),
    ("bench: *.eval, logs.json, eval-set.json", "logs of inspect_ai with its ids and times; leaderboards are digested"),
    ("explorer: HTTP headers", "the date; the bodies are digested"),
    ("explorer and texts folders of a workspace", "caches; what is shown of them is digested"),
)
"""What is not digested, and why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One digest.

    Attributes:
        columns: Of rows, the digest of each column.
        shown: Of versions, the versions themselves.
    """

    section: Section
    sha256: str
    columns: Mapping[str, str] = field(default_factory=dict)
    shown: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it, without what is empty."""
        return {name: value for name, value in asdict(self).items() if value}


def sha256(content: str | bytes) -> str:
    """Return the digest of a text or of bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def _as_text(value: object) -> str:
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"no canonical form of a {type(value).__name__}")


def dumped(value: object, *, sort_keys: bool = False) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=sort_keys, default=_as_text)


@dataclass(slots=True)
class Canon:
    """Collects digests under names that begin with a prefix.

    Attributes:
        versions: Versions of code as they stand in texts, each with what replaces it.
        sums: Of files, with what replaces them.
    """

    prefix: str
    entries: dict[str, Entry] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    sums: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, content: str | bytes, section: Section = Section.DATA) -> None:
        """Digest a content under a name."""
        self._put(name, Entry(section, sha256(content)))

    def put_version(self, name: str, versions: str) -> None:
        """Keep versions of code apart; they are shown as they are."""
        self._put(name, Entry(Section.VERSIONS, sha256(versions), shown=versions))

    def _put(self, name: str, entry: Entry) -> None:
        full = f"{self.prefix}/{name}"
        if full in self.entries:
            raise ValueError(f"two digests are called '{full}'")
        self.entries[full] = entry

    def put_text(self, name: str, text: str, section: Section) -> None:
        """Digest a text, less versions, sums and durations."""
        self.put(name, DURATION.sub("<duration>", self.plain(text)), section)

    def put_json(self, name: str, text: str, file_name: str = "") -> None:
        """Digest JSON, less versions and sums; the order of keys counts."""
        value = without_versions(json.loads(text), VERSION_COLUMNS | MEASURED_KEYS | FILE_KEYS.get(file_name, set()))
        self.put(name, self.plain(dumped(value)))

    def put_rows(self, name: str, table: pl.DataFrame, *, in_order: bool) -> None:
        """Digest rows and schema, each column too; without an order the rows are sorted by what they say."""
        schema = dumped([(column, str(kind)) for column, kind in table.schema.items()])
        kept = [column for column in table.columns if column not in VERSION_COLUMNS]
        rows = [
            ({column: row[column] for column in kept}, self.plain(dumped(row, sort_keys=True)))
            for row in table.select(kept).iter_rows(named=True)
        ]
        if not in_order:
            rows.sort(key=lambda pair: pair[1])
        columns = {column: sha256(self.plain("\n".join(dumped(row[column]) for row, _ in rows))) for column in kept}
        whole = sha256("\n".join([schema, *(line for _, line in rows)]))
        self._put(name, Entry(Section.DATA, whole, {SCHEMA: sha256(schema), **columns}))

    def plain(self, text: str) -> str:
        """Return a text in which versions of code and sums of files are replaced by what they are of."""
        named = SUM.sub(lambda match: self.sums.get(match[0], match[0]), text)
        for version in sorted(self.versions, key=len, reverse=True):
            named = named.replace(version, self.versions[version])
        return named

    def know_versions(self, versions: Iterable[str], called: str) -> None:
        """Replace these versions in texts from now on."""
        self.versions |= {version: f"<{called}>" for version in versions if len(version) >= SHORTEST_VERSION}

    def know_sums(self, folder: Path) -> None:
        """Replace the sums of a folder's files in texts from now on."""
        for path in _files(folder):
            total, called = sha256(path.read_bytes()), f"<sha256 of {path.relative_to(folder).as_posix()}>"
            self.sums |= {total: called, total[:SHORT_SUM]: called}

    def put_folder(self, name: str, folder: Path, left_out: frozenset[str] = frozenset()) -> None:
        """Digest every file of a folder by its kind; `left_out` are suffixes and names of files."""
        self.know_sums(folder)
        for path in _files(folder):
            if not {path.name, path.suffix} & left_out:
                self.put_file(f"{name}/{path.relative_to(folder).as_posix()}", path)

    def put_file(self, name: str, path: Path) -> None:
        """Digest a file by its kind."""
        is_words = path.suffix in WORDS_SUFFIXES or path.name in WORDS_NAMES
        section = Section.WORDS if is_words else Section.DATA
        if path.suffix == ".parquet":
            self.put_rows(name, pl.read_parquet(path, hive_partitioning=False), in_order=True)
        elif path.suffix == ".json":
            self.put_json(name, path.read_text(encoding="utf-8"), path.name)
        elif path.suffix in {".pdf", ".png"}:
            self.put(name, path.read_bytes(), section)
        else:
            self.put_text(name, path.read_text(encoding="utf-8"), section)

    def put_bytes(self, name: str, folder: Path) -> None:
        """Digest the bytes of a folder's files together, among the versions; not those that hold sums and keys."""
        files = [path for path in _files(folder) if path.name not in {"inputs.json", "release.json"}]
        lines = [f"{sha256(path.read_bytes())}  {path.relative_to(folder).as_posix()}" for path in files]
        self._put(name, Entry(Section.VERSIONS, sha256("\n".join(lines))))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def without_versions(value: object, keys: set[str]) -> object:
    """Return a JSON value in which what these keys hold is replaced, and of engines only the name is left."""
    if isinstance(value, list):
        return [without_versions(item, keys) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _versionless(key, item, keys) for key, item in value.items()}


def _versionless(key: str, value: object, keys: set[str]) -> object:
    if key in keys:
        return "<left out>"
    if key in ENGINE_KEYS and isinstance(value, list):
        return value[:1]
    return without_versions(value, keys)
