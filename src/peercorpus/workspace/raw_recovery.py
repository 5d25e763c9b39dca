"""Make a new `raw.db` from what SQLite can still read of a damaged one."""

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import zstandard

from peercorpus.errors import DamagedError
from peercorpus.workspace.harvest_state import UNKNOWN_MS
from peercorpus.workspace.pseudonyms import KEY, StoredKey, store_key
from peercorpus.workspace.raw_damage import DamagedObject, DamagedObjects, unpack_body
from peercorpus.workspace.raw_store import RawKind, RawStore

INDEXES = {
    "objects_by_forum": ("venue_id", "kind", "forum_id", "object_id", "modified_ms", "digest"),
    "objects_by_origin": ("seen_ms", "api", "subject_id", "source"),
}
"""Indexes of the objects, each with the columns that it repeats."""

ORPHANS = "lost_and_found"
"""Table in which `.recover` puts the rows of pages that no table leads to."""

LONGEST_GAP = 100_000
"""Consecutive row ids that cannot be read, after which none is expected: about what one page of a tree leads to."""

UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Errors of a damaged database; the second, where the message of the first quotes a damaged name."""

SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
KINDS = frozenset(kind.value for kind in RawKind)

Values = Sequence[object]


def _have_types(values: Values, kind: type, positions: Iterable[int]) -> bool:
    return all(isinstance(values[position], kind) for position in positions)


def _is_object(values: Values) -> bool:
    digest, body = values[3], values[11]
    if values[1] not in KINDS or not isinstance(digest, bytes) or not isinstance(body, bytes):
        return False
    is_typed = _have_types(values, str, (2, 5, 6, 7, 10)) and _have_types(values, int, (4, 8, 9))
    return is_typed and unpack_body(zstandard.ZstdDecompressor(), body, digest) is not None


SHAPES: dict[str, tuple[int, Callable[[Values], bool]]] = {
    "objects": (12, _is_object),
    "files": (
        7,
        lambda values: (
            _have_types(values, str, (0, 1, 2, 3))
            and (values[4] is None or (isinstance(values[4], str) and SHA256.fullmatch(values[4]) is not None))
        ),
    ),
    "listings": (7, lambda values: _have_types(values, str, (0, 1)) and _have_types(values, int, (3, 5, 6))),
}
"""Tables to take over, each with its number of columns and what tells whether a row is as it was written."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """Content recovered from a damaged `raw.db`.

    Attributes:
        lost: Versions in the index that are not intact.
    """

    kept: Path
    objects: int
    lost: int
    has_key: bool
    venue_ids: Sequence[str]


def find_database_faults(path: Path) -> list[str]:
    """Return the faults that SQLite finds in a database, in its words, without writing; empty if none."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("SELECT 1 FROM objects LIMIT 1")
            return DamagedObjects(database).database_faults()
    except UNREADABLE as error:
        return [str(error)]


def recover_database(path: Path) -> Recovery:
    """Replace a damaged database with a new one that has all its readable content; the damaged one is kept beside it.

    If a program `sqlite3` with the command `.recover` is installed, it also finds pages that no query reaches. Lists
    and histories count as not fetched, so that the next harvest requests all of them again. Until then, the notes
    that a listing showed are in doubt, because lost data may have recorded their deletion. Versions in the index that
    are not intact are listed as set aside. The caller must have locked the workspace.

    Raises:
        DamagedError: No object can be read; the file is unchanged.
        OSError: There is no room for the new database.
    """
    with TemporaryDirectory(dir=path.parent, prefix=".recovering-") as folder:
        made = Path(folder) / path.name
        RawStore(made).close()
        dumped = Path(folder) / "dumped.db"
        is_dumped = _dump(path, dumped)
        with (
            closing(_open(path)) as damaged,
            closing(_open(dumped if is_dumped else path)) as source,
            closing(sqlite3.connect(made)) as database,
            database,
        ):
            objects, has_key = _take_over(database, source, damaged)
            lost = len(DamagedObjects(database).not_back())
            listed = {str(values[0]) for _, values in _list_rows(source, "listings")}
        if not objects:
            program = "" if is_dumped else " install a program 'sqlite3' that has '.recover' and run this again,"
            others = "restore a backup, or harvest and import into a new workspace"
            raise DamagedError(f"Nothing in '{path}' can be read;{program} {others}.")
        with closing(RawStore(made)) as raw:
            with raw.transaction():
                raw.place()
                raw.state.sight(_find_shown(raw, listed, _read_sightings(path)), UNKNOWN_MS)
            venue_ids = raw.venues()
        kept = path.with_name(f"{path.name}.damaged-{uuid4().hex[:8]}")
        _keep(path, kept)
        made.replace(path)
    return Recovery(kept, objects, lost, has_key, venue_ids)


def _dump(path: Path, out: Path) -> bool:
    """Write what the command `.recover` of SQLite's shell finds to a new database; return whether it has succeeded."""
    shell = shutil.which("sqlite3")
    if shell is None:
        return False
    command = [shell, "-init", os.devnull]
    reading = [*command, "-readonly", str(path.absolute()), ".recover"]
    # A shell without the command takes it for the name of a file, which it makes.
    with subprocess.Popen(reading, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=out.parent) as reader:
        subprocess.run([*command, str(out)], stdin=reader.stdout, capture_output=True, check=False)
    return reader.returncode == 0 and out.exists()


def _open(path: Path) -> sqlite3.Connection:
    """Open a database to read it, even one that is shorter than its header states."""
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    with suppress(*UNREADABLE):
        database.execute("PRAGMA writable_schema = ON")
    return database


def _list_rows(database: sqlite3.Connection, table: str) -> Iterator[tuple[int, Values]]:
    """Yield the id and the columns of every readable row of a table, then of orphans of its shape, if it has its types.

    Ids that cannot be read are passed over one by one, as others on the same page may be whole.
    """
    tables: set[str] = set()
    with suppress(*UNREADABLE):
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    width, is_row = SHAPES[table]
    following = f"SELECT rowid, * FROM {table} WHERE rowid >= ? ORDER BY rowid LIMIT 1"
    start, misses = 1, 0
    while table in tables and misses < LONGEST_GAP:
        row, misses = None, misses + 1
        with suppress(*UNREADABLE):
            row = database.execute(following, (start,)).fetchone()
            if row is None:
                break
        if row is not None and is_row(row[1:]):
            start, misses = max(start, row[0]), 0
            yield row[0], row[1:]
        start += 1
    if ORPHANS in tables:
        columns = ", ".join(f"c{number}" for number in range(width))
        orphans = f"SELECT id, {columns} FROM {ORPHANS} WHERE nfield = {width} AND id IS NOT NULL"
        with suppress(sqlite3.OperationalError):  # None is so wide.
            yield from ((rowid, values) for rowid, *values in database.execute(orphans) if is_row(values))


def _take_over(
    database: sqlite3.Connection, source: sqlite3.Connection, damaged: sqlite3.Connection
) -> tuple[int, bool]:
    """Write the intact rows; return the number of objects, and whether the key of the pseudonyms is among them."""
    for seen, values in _list_rows(source, "objects"):
        _insert(database, "objects", (seen, *values[1:]))
    for _, values in _list_rows(source, "files"):
        _insert(database, "files", values)
    key = _find_key(source)
    if key is not None:
        store_key(database, key)
    _set_contradicted_aside(database, damaged)
    (objects,) = database.execute("SELECT count(*) FROM objects").fetchone()
    return objects, key is not None


def _insert(database: sqlite3.Connection, table: str, values: Values) -> None:
    marks = ", ".join("?" * len(values))
    database.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", tuple(values))


def _find_key(source: sqlite3.Connection) -> bytes | None:
    """Return the key of the pseudonyms, preferably one with its SHA-256; None if no copy is intact."""
    values: list[bytes] = []
    for table, name, value in (("secrets", "name", "value"), ("secret_copies", "name", "value"), (ORPHANS, "c0", "c1")):
        with suppress(*UNREADABLE):
            query = f"SELECT CAST({value} AS BLOB) FROM {table} WHERE {name} = ?"
            values += [found for (found,) in source.execute(query, (KEY,)) if found]
    whole = (StoredKey(value, None).find_whole() for value in sorted(values, key=len, reverse=True))
    return next(filter(None, whole), None)


def _set_contradicted_aside(database: sqlite3.Connection, damaged: sqlite3.Connection) -> None:
    """Set aside the objects whose row contradicts an index, and list those found only in the index."""
    aside = DamagedObjects(database)
    aside.set_aside(())
    for index, columns in INDEXES.items():
        database.execute(f"CREATE TEMPORARY TABLE entries (seen, {', '.join(columns)})")
        marks = ", ".join("?" * (1 + len(columns)))
        database.executemany(f"INSERT INTO entries VALUES ({marks})", _list_entries(damaged, index, columns))
        rows = ", ".join(f"objects.{column}" for column in columns)
        entries = ", ".join(f"entries.{column}" for column in columns)
        contradicted = database.execute(
            f"""
            SELECT DISTINCT seen, objects.kind, objects.object_id, objects.venue_id, objects.subject_id, objects.source
            FROM objects JOIN entries USING (seen)
            WHERE ({rows}) IS NOT ({entries})
            """
        )
        aside.set_aside([DamagedObject(*row) for row in contradicted.fetchall()])
        if "digest" in columns:
            database.execute(
                """
                INSERT INTO damaged
                SELECT DISTINCT seen, kind, object_id, digest, 0, venue_id, forum_id, object_id, modified_ms, 0, '', x''
                FROM entries
                WHERE seen NOT IN (SELECT seen FROM objects UNION SELECT seen FROM damaged)
                """
            )
        database.execute("DROP TABLE entries")


def _list_entries(damaged: sqlite3.Connection, index: str, columns: Sequence[str]) -> Iterator[Values]:
    """Yield the entries of an index up to the first that cannot be read, then those from its end."""
    for order in ("", "DESC"):
        entries = f"SELECT seen, {', '.join(columns)} FROM objects INDEXED BY {index}"
        with suppress(*UNREADABLE):
            yield from damaged.execute(f"{entries} ORDER BY {', '.join(f'{column} {order}' for column in columns)}")


def _read_sightings(path: Path) -> set[str] | None:
    """Return the notes that listings showed; None if SQLite cannot read the whole table."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        # SQLite reads a damaged log only up to the damage.
        return None
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            if database.execute("PRAGMA integrity_check('sightings')").fetchall() != [("ok",)]:
                return None
            return {note_id for (note_id,) in database.execute("SELECT object_id FROM sightings")}
    except UNREADABLE:
        return None


def _find_shown(raw: RawStore, listed: set[str], sightings: set[str] | None) -> Iterator[str]:
    """Yield the notes of harvested venues that a listing showed, or may have shown if the table is incomplete."""
    from_service = "SELECT DISTINCT venue_id FROM objects WHERE source LIKE 'http%'"
    harvested = listed | {venue_id for (venue_id,) in raw.select(from_service)}
    notes = "SELECT DISTINCT venue_id, object_id, source LIKE 'http%' FROM objects WHERE kind = 'note'"
    for venue_id, note_id, was_fetched in raw.select(notes):
        if venue_id in harvested and (was_fetched or sightings is None or note_id in sightings):
            yield note_id


def _keep(path: Path, kept: Path) -> None:
    """Link a database to a second name; its write-ahead log is moved there, since it must not be read with another."""
    try:
        os.link(path, kept)
    except OSError:
        shutil.copy2(path, kept)
    with suppress(FileNotFoundError):
        path.with_name(f"{path.name}-wal").rename(kept.with_name(f"{kept.name}-wal"))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
