"""Digests what commands print and write, in a form that depends on the content alone.

Versions of code are taken out and kept apart: they change whenever code does, whether or not its output changes.
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
    """What kind of content a digest covers."""

    DATA = "data"
    """Rows, numbers and files for machines."""
    WORDS = "words"
    """Text for people: terminal output, cards, pages, figures."""
    VERSIONS = "versions"
    """Versions of code, and checksums that change with them; never compared."""


VERSION_COLUMNS = {"engine_version", "inspector", "text_engine"}
"""Columns of tables and releases that contain versions of code."""
ENGINE_KEYS = {"default_engine", "read_by"}
"""Keys of JSON objects whose value is a list of an engine's name and version."""
MEASURED_KEYS = {"seconds"}
"""Keys of JSON objects whose value is a duration."""
FILE_KEYS = {"inputs.json": {"peercorpus", "pyarrow", "tables"}}
"""Keys whose values are versions of code or depend on rows that contain them, in files of this name only."""
WORDS_SUFFIXES = {".html", ".svg", ".pdf", ".png", ".css", ".js"}
WORDS_NAMES = {"README.md", "leaderboard.md"}
SHORTEST_VERSION = 8
"""Shorter versions, in characters, are not replaced in texts, since they may be something else there."""
SCHEMA = "(schema)"
"""Stands for names, order and types of columns among the digests of columns."""
SHORT_SUM = 12
"""Digits of a checksum that is shortened in a table for people."""
SUM = re.compile(rf"\b(?:[0-9a-f]{{64}}|[0-9a-f]{{{SHORT_SUM}}})\b")
DURATION = re.compile(r"\bin [\d.,]+ (?:ms|s|min|h)\b|[\d.,]+ (?:pages|papers|rows)/s")

IGNORED = (
    ("raw.db: seen_ms, started_ms, shown_ms", "times of the harvest or the import, which read the clock"),
    ("raw.db: the table budget", "times and the rest of the request budget, by the server's address"),
    ("raw.db: the key of pseudonyms", "drawn at random in a new workspace; prepared workspaces keep theirs"),
    ("raw.db: the order of rows, ports in sources", "requests run concurrently, and servers take any free port"),
    ("tables: names of Parquet files, _delta_log", "random names and times of commits; the rows are digested"),
    ("tables, releases: engine_version, inspector, text_engine", "versions of code; see the section 'versions'"),
    ("inputs.json: peercorpus, pyarrow, tables", "versions of code, in rows too; see the section 'versions'"),
    ("status --json: versions in default_engine, read_by", "versions of code; see the section 'versions'"),
    ("release.json, checksums.json and others: sums of files", "each file is itself digested; names are kept"),
    ("Parquet: bytes", "rows and schema are digested; bytes of a release: see the section 'versions'"),
    ("standard output: durations and speeds", "they are measured"),
    ("convert: seconds", "they are measured"),
    ("standard error of commands that work", "progress, which depends on speed"),
    ("bench: *.eval, logs.json, eval-set.json", "logs of inspect_ai with its ids and times; leaderboards are digested"),
    ("explorer: HTTP headers", "the date; the bodies are digested"),
    ("explorer and texts folders of a workspace", "caches; pages and outputs made from them are digested"),
)
"""What is not digested, and why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One digest.

    Attributes:
        columns: The digest of each column, if the content is rows.
        shown: The versions themselves, if the content is versions.
    """

    section: Section
    sha256: str
    columns: Mapping[str, str] = field(default_factory=dict)
    shown: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object without empty values."""
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
        versions: Versions of code as they appear in texts, each with its replacement.
        sums: Checksums of files, each with its replacement.
    """

    prefix: str
    entries: dict[str, Entry] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    sums: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, content: str | bytes, section: Section = Section.DATA) -> None:
        """Digest content under a name."""
        self._put(name, Entry(section, sha256(content)))

    def put_version(self, name: str, versions: str) -> None:
        """Record versions of code apart; they are shown unchanged."""
        self._put(name, Entry(Section.VERSIONS, sha256(versions), shown=versions))

    def _put(self, name: str, entry: Entry) -> None:
        full = f"{self.prefix}/{name}"
        if full in self.entries:
            raise ValueError(f"two digests have the name '{full}'")
        self.entries[full] = entry

    def put_text(self, name: str, text: str, section: Section) -> None:
        """Digest a text, less versions, sums and durations."""
        self.put(name, DURATION.sub("<duration>", self.plain(text)), section)

    def put_json(self, name: str, text: str, file_name: str = "") -> None:
        """Digest JSON, less versions and sums; the order of keys counts."""
        value = without_versions(json.loads(text), VERSION_COLUMNS | MEASURED_KEYS | FILE_KEYS.get(file_name, set()))
        self.put(name, self.plain(dumped(value)))

    def put_rows(self, name: str, table: pl.DataFrame, *, in_order: bool) -> None:
        """Digest rows and schema, and each column; rows without an order are sorted by content."""
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
        """Return a text in which versions of code and checksums of files are replaced by descriptions."""
        named = SUM.sub(lambda match: self.sums.get(match[0], match[0]), text)
        for version in sorted(self.versions, key=len, reverse=True):
            named = named.replace(version, self.versions[version])
        return named

    def know_versions(self, versions: Iterable[str], called: str) -> None:
        """Replace these versions in texts from now on."""
        self.versions |= {version: f"<{called}>" for version in versions if len(version) >= SHORTEST_VERSION}

    def know_sums(self, folder: Path) -> None:
        """Replace the checksums of a folder's files in texts from now on."""
        for path in _files(folder):
            total, called = sha256(path.read_bytes()), f"<sha256 of {path.relative_to(folder).as_posix()}>"
            self.sums |= {total: called, total[:SHORT_SUM]: called}

    def put_folder(self, name: str, folder: Path, left_out: frozenset[str] = frozenset()) -> None:
        """Digest every file of a folder according to its kind; `left_out` lists suffixes and names of files."""
        self.know_sums(folder)
        for path in _files(folder):
            if not {path.name, path.suffix} & left_out:
                self.put_file(f"{name}/{path.relative_to(folder).as_posix()}", path)

    def put_file(self, name: str, path: Path) -> None:
        """Digest a file according to its kind."""
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
        """Digest the bytes of a folder's files together, among the versions, except files of checksums and keys."""
        files = [path for path in _files(folder) if path.name not in {"inputs.json", "release.json"}]
        lines = [f"{sha256(path.read_bytes())}  {path.relative_to(folder).as_posix()}" for path in files]
        self._put(name, Entry(Section.VERSIONS, sha256("\n".join(lines))))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def without_versions(value: object, keys: set[str]) -> object:
    """Return a JSON value in which the values of these keys are replaced, and engines keep only their name."""
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
