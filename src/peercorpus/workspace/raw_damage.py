"""Find damaged objects in `raw.db`, and set them aside so that they are fetched again."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import zstandard

from peercorpus.workspace.harvest_state import HarvestState
from peercorpus.workspace.raw_schema import find_lacking

DIGEST_BYTES = 16
"""Length of the prefix of a body's SHA-256 stored with it."""

WITH_OWN_ID = frozenset({"note", "reference", "edit", "group", "invitation"})
"""Kinds of objects whose body states the id that they are stored under."""

LATEST_MS = 10**14
"""Later times, after the year 5000, are not compared, because times too large for SQLite are stored as 0."""

VERSIONS = "versions"
"""Task of the queue that fetches earlier versions of notes."""


def digest_body(body: bytes) -> bytes:
    """Return the digest stored with a body."""
    return hashlib.sha256(body).digest()[:DIGEST_BYTES]


def unpack_body(decompressor: zstandard.ZstdDecompressor, packed: bytes, digest: bytes) -> bytes | None:
    """Return a body as received; None if the stored value is damaged or has the wrong type."""
    try:
        body = decompressor.decompress(packed)
    except (zstandard.ZstdError, MemoryError, TypeError):
        return None
    return body if digest_body(body) == digest else None


@dataclass(frozen=True, slots=True)
class DamagedObject:
    """One damaged version of an object."""

    seen: int
    kind: str
    object_id: str
    venue_id: str
    subject_id: str
    source: str


class DamagedObjects:
    """The damaged objects of a `raw.db`, on the connection of its `RawStore`.

    Versions set aside are in the table `damaged`, which only a repair creates: an intact database has none.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database

    def database_faults(self) -> list[str]:
        """Return the faults that SQLite itself finds in the pages and indexes of the file, in its words."""
        try:
            found = [text for (text,) in self._db.execute("PRAGMA integrity_check")]
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            return [str(error)]
        lacking = find_lacking(self._db)
        return [*([] if found == ["ok"] else found), *([f"its schema lacks {lacking}"] if lacking else [])]

    def count(self) -> int:
        """Return the number of versions of objects to check."""
        (count,) = self._db.execute("SELECT count(*) FROM objects").fetchone()
        return int(count)

    def check_each(self) -> Iterator[DamagedObject | None]:
        """Yield one value for each version of each object: None if it is intact."""
        decompressor = zstandard.ZstdDecompressor()
        rows = self._db.cursor().execute(
            """
            SELECT seen, kind, object_id, venue_id, subject_id, source, modified_ms, digest, body
            FROM objects
            ORDER BY seen
            """
        )
        for seen, kind, object_id, venue_id, subject_id, source, modified_ms, digest, packed in rows:
            body = unpack_body(decompressor, packed, digest)
            is_whole = body is not None and (kind not in WITH_OWN_ID or _agrees(body, kind, object_id, modified_ms))
            yield None if is_whole else DamagedObject(seen, kind, object_id, venue_id, subject_id, source)

    def set_aside(self, objects: Iterable[DamagedObject]) -> None:
        """Set damaged versions aside, so that a harvest requests them again; must be called in a transaction."""
        self._db.execute("CREATE TABLE IF NOT EXISTS damaged AS SELECT * FROM objects WHERE FALSE")
        state = HarvestState(self._db)
        objects = list(objects)
        for venue_id in {each.venue_id for each in objects}:
            state.forget_listings(venue_id)
            self._db.execute("DELETE FROM listings WHERE venue_id = ?", (venue_id,))
        for each in objects:
            self._db.execute("INSERT INTO damaged SELECT * FROM objects WHERE seen = ?", (each.seen,))
            self._db.execute("DELETE FROM objects WHERE seen = ?", (each.seen,))
            if each.kind == "note":
                # The lost version may have recorded the deletion of the note.
                state.doubt(each.venue_id, each.object_id)
            self._db.execute(
                "DELETE FROM queue WHERE task = ? AND substr(subject_id, 1, ?) = ?",
                (VERSIONS, len(each.subject_id) + 1, f"{each.subject_id} "),
            )

    def not_back(self) -> list[DamagedObject]:
        """Return the versions set aside that have not been received again."""
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'damaged'").fetchone():
            return []
        rows = self._db.execute(
            """
            SELECT seen, kind, object_id, venue_id, subject_id, source
            FROM damaged
            WHERE (kind, digest) NOT IN (SELECT kind, digest FROM objects)
            ORDER BY venue_id, kind, object_id, seen
            """
        )
        return [DamagedObject(*row) for row in rows]


def _agrees(body: bytes, kind: str, object_id: str, modified_ms: int) -> bool:
    """Return whether id and time stated in a body, if any, agree with its row."""
    try:
        stated = json.loads(body)
    except (ValueError, RecursionError):
        # It was received in this form, since its digest is correct.
        return True
    if not isinstance(stated, dict):
        return True
    own = stated.get("id")
    time_ms = stated.get("tmdate") or stated.get("tcdate" if kind == "edit" else "mdate")
    is_time = type(time_ms) is int and 0 < time_ms < LATEST_MS
    return (not isinstance(own, str) or own == object_id) and (not is_time or time_ms == modified_ms)
