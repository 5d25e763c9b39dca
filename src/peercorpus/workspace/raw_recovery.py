"""Make a new `raw.db` from all intact content of a damaged one."""

import os
import re
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import zstandard

from peercorpus.errors import DamagedError
from peercorpus.workspace.harvest_state import UNKNOWN_MS
from peercorpus.workspace.pseudonyms import KEY, StoredKey, store_key
from peercorpus.workspace.raw_damage import DIGEST_BYTES, DamagedObject, DamagedObjects, unpack_body
from peercorpus.workspace.raw_store import RawKind, RawStore
from peercorpus.workspace.sqlite_pages import Row, read_rows

OBJECT_COLUMNS = 12
FILE_COLUMNS = 7
LISTING_COLUMNS = 7
INDEXED = ("venue_id", "kind", "forum_id", "object_id", "modified_ms", "seen", "digest")
"""Columns of the index `objects_by_forum`; SQLite appends the row id, which is `seen` again."""

BY_ORIGIN = ("seen_ms", "api", "subject_id", "source")
"""Columns of the index `objects_by_origin`; SQLite appends the row id."""

SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
KINDS = frozenset(kind.value for kind in RawKind)


@dataclass(frozen=True, slots=True)
class Recovery:
    """Content recovered from a damaged `raw.db`.

    Attributes:
        kept: The damaged file, under its new name.
        objects: Number of recovered versions of objects.
        lost: Versions in the index that are not intact.
        has_key: Whether the key of the pseudonyms was recovered.
        venue_ids: The venues with recovered content.
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
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return [str(error)]


def recover_database(path: Path) -> Recovery:
    """Replace a damaged database with a new one that has all its intact content; the damaged one is kept beside it.

    Lists and histories count as not fetched, so that the next harvest requests all of them again. Until then, the notes
    that a listing showed are in doubt, because lost data may have recorded their deletion. Versions in the index that
    are not intact are listed as set aside. The caller must have locked the workspace.

    Raises:
        DamagedError: No object can be read; the file is unchanged.
        OSError: There is no room for the new database.
    """
    with TemporaryDirectory(dir=path.parent, prefix=".recovering-") as folder:
        made = Path(folder) / path.name
        RawStore(made).close()
        with closing(sqlite3.connect(made)) as database, database:
            found = _take_over(database, read_rows(path))
            lost = len(DamagedObjects(database).not_back())
        if not found.objects:
            raise DamagedError(
                f"Nothing in '{path}' can be read; restore a backup, or harvest and import into a new workspace."
            )
        with closing(RawStore(made)) as raw:
            with raw.transaction():
                raw.place()
                raw.state.sight(_find_shown(raw, found, is_whole=_has_all_sightings(path)), UNKNOWN_MS)
            venue_ids = raw.venues()
        kept = path.with_name(f"{path.name}.damaged-{uuid4().hex[:8]}")
        _keep(path, kept)
        made.replace(path)
    return Recovery(kept, found.objects, lost, found.find_key() is not None, venue_ids)


def _has_all_sightings(path: Path) -> bool:
    """Return whether SQLite can read the whole table of notes that listings showed."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        # SQLite reads a damaged log only up to the damage.
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            return database.execute("PRAGMA integrity_check('sightings')").fetchall() == [("ok",)]
    except sqlite3.DatabaseError:
        return False


def _find_shown(raw: RawStore, found: "_Found", *, is_whole: bool) -> Iterator[str]:
    """Yield the notes of harvested venues that a listing showed, or may have shown if the table is incomplete."""
    from_service = "SELECT DISTINCT venue_id FROM objects WHERE source LIKE 'http%'"
    harvested = found.listed | {venue_id for (venue_id,) in raw.select(from_service)}
    notes = "SELECT DISTINCT venue_id, object_id, source LIKE 'http%' FROM objects WHERE kind = 'note'"
    for venue_id, note_id, was_fetched in raw.select(notes):
        if venue_id in harvested and (was_fetched or note_id in found.shown or not is_whole):
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


@dataclass(slots=True)
class _Found:
    """Content found in a damaged database.

    Attributes:
        objects: Number of versions of objects.
        keys: Stored keys of the pseudonyms, intact or not.
        shown: Ids in the table of notes that listings showed, and others.
        listed: Venues with a listing.
        indexed: Entries of the index `objects_by_forum`, by the object's row.
        origins: Entries of the index `objects_by_origin`, by the object's row.
    """

    objects: int = 0
    keys: list[bytes] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    indexed: dict[object, set[tuple[object, ...]]] = field(default_factory=dict)
    origins: dict[object, set[tuple[object, ...]]] = field(default_factory=dict)

    def take_entry(self, values: Sequence[object]) -> None:
        """Record an entry of an index, or a row of a table stored like one."""
        if _is_in_index(values):
            self.indexed.setdefault(values[-1], set()).add(tuple(values[:-1]))
        elif _is_origin(values):
            self.origins.setdefault(values[-1], set()).add(tuple(values[:-1]))
        elif len(values) == 2 and values[0] == KEY and isinstance(values[1], bytes):
            self.keys.append(values[1])
        elif len(values) == 2:
            self.shown.add(str(values[0]))

    def find_key(self) -> bytes | None:
        """Return the key of the pseudonyms, preferably one with its SHA-256; None if no copy is intact."""
        whole = (StoredKey(value, None).find_whole() for value in sorted(self.keys, key=len, reverse=True))
        return next(filter(None, whole), None)


def _take_over(database: sqlite3.Connection, rows: Iterable[Row]) -> _Found:
    """Write the intact rows, and return everything else found."""
    decompressor = zstandard.ZstdDecompressor()
    found = _Found()
    for rowid, values in rows:
        if rowid is None:
            found.take_entry(values)
        elif _is_object(values):
            if unpack_body(decompressor, values[11], values[3]) is not None:  # type: ignore[arg-type]
                row = (rowid, *values[1:])
                database.execute(f"INSERT OR IGNORE INTO objects VALUES ({', '.join('?' * len(row))})", row)
        elif _is_file(values):
            # A page no longer in use may contain the row from before the file was received.
            verb = "IGNORE" if values[4] is None else "REPLACE"
            database.execute(f"INSERT OR {verb} INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        elif len(values) == LISTING_COLUMNS and _have_types(values, str, (0, 1)):
            found.listed.add(str(values[0]))
    if (key := found.find_key()) is not None:
        store_key(database, key)
    _set_contradicted_aside(database, found)
    (found.objects,) = database.execute("SELECT count(*) FROM objects").fetchone()
    return found


def _set_contradicted_aside(database: sqlite3.Connection, found: _Found) -> None:
    """Set aside the objects whose row contradicts an index, and list those found only in the index."""
    damaged = DamagedObjects(database)
    contradicted = [
        *_find_contradicted(database, INDEXED, found.indexed),
        *_find_contradicted(database, BY_ORIGIN, found.origins),
    ]
    damaged.set_aside({each.seen: each for each in contradicted}.values())
    database.executemany(
        """
        INSERT INTO damaged
        SELECT :seen, :kind, :object_id, :digest, 0, :venue_id, :forum_id, :object_id, :modified_ms, 0, '', x''
        WHERE :seen NOT IN (SELECT seen FROM objects UNION SELECT seen FROM damaged)
        """,
        [dict(zip(INDEXED, entry, strict=True)) for entries in found.indexed.values() for entry in entries],
    )


def _find_contradicted(
    database: sqlite3.Connection, columns: Sequence[str], entries: Mapping[object, Set[tuple[object, ...]]]
) -> list[DamagedObject]:
    """Return the objects whose row contradicts an index; an object missing in the index is accepted."""
    rows = database.execute(
        f"SELECT seen, kind, object_id, venue_id, subject_id, source, {', '.join(columns)} FROM objects"
    )
    return [DamagedObject(*row[:6]) for row in rows if entries.get(row[0], {row[6:]}).isdisjoint({row[6:]})]


def _is_bytes(value: object, length: int) -> bool:
    return isinstance(value, bytes) and len(value) == length


def _is_object(values: Sequence[object]) -> bool:
    if len(values) != OBJECT_COLUMNS or values[1] not in KINDS or not _is_bytes(values[3], DIGEST_BYTES):
        return False
    return (
        isinstance(values[11], bytes)
        and _have_types(values, str, (2, 5, 6, 7, 10))
        and _have_types(values, int, (4, 8, 9))
    )


def _is_in_index(values: Sequence[object]) -> bool:
    return len(values) == len(INDEXED) + 1 and values[1] in KINDS and _is_bytes(values[6], DIGEST_BYTES)


def _is_origin(values: Sequence[object]) -> bool:
    has_length = len(values) == len(BY_ORIGIN) + 1
    return has_length and _have_types(values, int, (0, 1, 4)) and _have_types(values, str, (2, 3))


def _is_file(values: Sequence[object]) -> bool:
    if len(values) != FILE_COLUMNS or not _have_types(values, str, (0, 1, 2, 3)):
        return False
    return values[4] is None or (isinstance(values[4], str) and SHA256.fullmatch(values[4]) is not None)


def _have_types(values: Sequence[object], kind: type, positions: Iterable[int]) -> bool:
    return all(isinstance(values[position], kind) for position in positions)
