"""`raw.db`: everything OpenReview sent, every version seen, and what is left to fetch.

SQLite in WAL mode. A note, reference, edit, group or invitation is one row per distinct body; nothing is ever
overwritten. Nested replies are rows of their own. Every write is one transaction.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from heapq import merge
from importlib.resources import files
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from peercorpus.errands import Errands
from peercorpus.pseudonyms import Pseudonyms

UNPLACED = "unplaced"
"""The venue of an object that names none, until its forum is known."""

SCHEMA = (files("peercorpus") / "raw.sql").read_text(encoding="utf-8")

CACHE_KIB = 65_536
"""Of the database's pages in memory, at most."""

BATCH = 1_000
"""Objects compressed together."""

COMPRESSING = 2
"""Threads that compress."""

COLUMNS = "kind, object_id, api, venue_id, forum_id, subject_id, modified_ms, seen_ms, source, body"


class Kind(StrEnum):
    """What an OpenReview object is. A reference is API v1's word for an edit."""

    NOTE = "note"
    REFERENCE = "reference"
    EDIT = "edit"
    GROUP = "group"
    INVITATION = "invitation"
    PUBLISHED = "published"
    """A row of a dataset that others published, as JSON; its text is verbatim, its shape is theirs."""


class RawObject(NamedTuple):
    """One object as received.

    Attributes:
        api: 1 or 2; 0 for what others published.
        venue_id: The venue group it belongs to, or `UNPLACED`.
        forum_id: The root note; empty where it has none (groups, invitations).
        subject_id: The note an edit or reference is about; its own id for everything else.
        modified_ms: When OpenReview last modified it; 0 where it does not say.
        source: The request, or the file, it came from; never with a token.
        body: The JSON text as received, less replies nested in it, which are objects of their own.
    """

    kind: Kind
    object_id: str
    api: int
    venue_id: str
    forum_id: str
    subject_id: str
    modified_ms: int
    seen_ms: int
    source: str
    body: bytes


def _row(found: RawObject, packed: zstandard.BufferSegment) -> tuple[object, ...]:
    digest = hashlib.sha256(found.body).digest()[:16]
    key = (found.kind.value, found.object_id, digest, found.api, found.venue_id, found.forum_id, found.subject_id)
    return (*key, found.modified_ms, found.seen_ms, found.source, packed.tobytes())


def _opened_to_read(path: Path) -> sqlite3.Connection:
    """A connection for reading; where not even SQLite's own side files can be made, nobody else can write either."""
    for mode in ("mode=ro", "immutable=1"):
        database = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None)
        try:
            database.execute("SELECT 1 FROM objects LIMIT 1")
        except sqlite3.OperationalError:
            database.close()
            if mode == "immutable=1":
                raise
        else:
            break
    return database


class RawStore(Errands):
    """The database of what arrived. Not shared between threads."""

    def __init__(self, path: Path, *, write: bool = True) -> None:
        """Open the database; only a writer creates it, or needs its folder to be writable."""
        if write:
            self._db = sqlite3.connect(path, isolation_level=None)
            # Bodies of some kilobytes lie on one page; it counts only before the first table is made.
            self._db.execute("PRAGMA page_size = 16384")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            # A page of a listing fits, with the indexes it touches; SQLite's own 2 MB are written out half-way.
            self._db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            self._db.executescript(SCHEMA)
        else:
            self._db = _opened_to_read(path)
        self.pseudonyms = Pseudonyms(self._db, write=write)
        self._compressor = zstandard.ZstdCompressor(level=3)
        self._decompressor = zstandard.ZstdDecompressor()

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes inside happen together or not at all."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def add(self, objects: Iterable[RawObject]) -> int:
        """Store what has not been seen before; the number of rows that were new."""
        before = self._db.total_changes
        waiting = iter(objects)
        while batch := list(islice(waiting, BATCH)):
            packed = self._compressor.multi_compress_to_buffer([found.body for found in batch], threads=COMPRESSING)
            self._db.executemany(
                "INSERT OR IGNORE INTO objects (kind, object_id, digest, api, venue_id, forum_id, subject_id,"
                " modified_ms, seen_ms, source, body) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                (_row(found, packed[place]) for place, found in enumerate(batch)),
            )
        return self._db.total_changes - before

    def place(self) -> None:
        """Give every reply, reference and edit the venue of its forum, as far as the forum is known.

        A reply's own invitation may name another group than its paper's venue does. All versions of a note lie where
        its latest says, so that a note is in one forum and one venue only.
        """
        latest = (
            "FROM objects AS latest WHERE latest.kind = 'note' AND latest.object_id = objects.object_id"
            " ORDER BY latest.modified_ms DESC, latest.seen DESC LIMIT 1"
        )
        self._db.execute(
            f"UPDATE objects SET forum_id = (SELECT latest.forum_id {latest}),"
            f" venue_id = (SELECT latest.venue_id {latest})"
            " WHERE kind = 'note' AND object_id IN (SELECT object_id FROM objects WHERE kind = 'note'"
            " GROUP BY object_id HAVING min(forum_id) <> max(forum_id) OR min(venue_id) <> max(venue_id))"
        )
        subject = "FROM objects AS note WHERE note.kind = 'note' AND note.object_id = objects.subject_id"
        self._db.execute(
            f"UPDATE objects SET forum_id = (SELECT note.forum_id {subject} LIMIT 1)"
            " WHERE kind IN ('edit', 'reference')"
            f" AND EXISTS (SELECT 1 {subject} AND note.forum_id <> objects.forum_id)"
        )
        root = (
            "FROM objects AS root WHERE root.kind = 'note' AND root.object_id = objects.forum_id"
            " AND root.forum_id = root.object_id"
        )
        self._db.execute(
            f"UPDATE objects SET venue_id = (SELECT root.venue_id {root} LIMIT 1)"
            " WHERE kind IN ('note', 'edit', 'reference', 'published')"
            f" AND EXISTS (SELECT 1 {root} AND root.venue_id <> objects.venue_id)"
        )
        # A published record without a venue of its own lies beside the latest that has one.
        stated = (
            "FROM objects AS stated WHERE stated.kind = 'published' AND stated.subject_id = objects.subject_id"
            f" AND stated.object_id GLOB 'reviewbench:*' AND NOT EXISTS (SELECT 1 {root})"
            " ORDER BY stated.seen DESC LIMIT 1"
        )
        self._db.execute(
            f"UPDATE objects SET venue_id = (SELECT stated.venue_id {stated})"
            f" WHERE kind = 'published' AND venue_id <> (SELECT stated.venue_id {stated})"
        )

    def venues(self) -> list[str]:
        """Every venue of which notes, references or edits are held, in alphabetical order."""
        # From each venue to the next by the index; DISTINCT would read all of it.
        rows = self._db.execute(
            "WITH RECURSIVE held (venue_id) AS (SELECT min(venue_id) FROM objects UNION ALL"
            " SELECT (SELECT min(venue_id) FROM objects WHERE venue_id > held.venue_id) FROM held"
            " WHERE venue_id IS NOT NULL)"
            " SELECT venue_id FROM held WHERE EXISTS (SELECT 1 FROM objects WHERE objects.venue_id = held.venue_id"
            " AND kind IN ('note', 'reference', 'edit', 'published')) ORDER BY venue_id"
        )
        return [venue_id for (venue_id,) in rows]

    def select(self, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """The rows of a query that changes nothing, for counts that one reader alone needs."""
        return self._db.cursor().execute(sql, values)

    def is_empty(self) -> bool:
        """Whether nothing at all was ever stored."""
        row: tuple[int] = self._db.execute("SELECT NOT EXISTS (SELECT 1 FROM objects)").fetchone()
        return bool(row[0])

    def count(self, kind: Kind, venue_id: str, prefix: str = "") -> int:
        """Distinct objects of a kind (not versions of them), or those whose id begins so."""
        sql = (
            "SELECT count(DISTINCT object_id) FROM objects WHERE kind = ? AND venue_id = ?"
            " AND substr(object_id, 1, ?) = ?"
        )
        row: tuple[int] = self._db.execute(sql, (kind.value, venue_id, len(prefix), prefix)).fetchone()
        return row[0]

    def roots(self, venue_id: str) -> set[str]:
        """The forums of a venue whose own submission note is held, public or not."""
        sql = "SELECT DISTINCT forum_id FROM objects WHERE venue_id = ? AND kind = 'note' AND object_id = forum_id"
        return {forum_id for (forum_id,) in self._db.execute(sql, (venue_id,))}

    def count_versions(self, venue_id: str) -> int:
        """Everything ever received of a venue: each version of each object."""
        (number,) = self._db.execute("SELECT count(*) FROM objects WHERE venue_id = ?", (venue_id,)).fetchone()
        return int(number)

    def count_forums(self, venue_id: str) -> int:
        """Forums of which anything is held."""
        kinds = "('note', 'reference', 'edit', 'published')"
        sql = f"SELECT count(DISTINCT forum_id) FROM objects WHERE venue_id = ? AND kind IN {kinds}"
        row: tuple[int] = self._db.execute(sql, (venue_id,)).fetchone()
        return row[0]

    def versions(
        self, kind: Kind, venue_id: str, prefix: str = "", *, with_replies: bool = True
    ) -> Iterator[RawObject]:
        """Every version of every object of a kind, by forum, then id, then time: the latest of an id comes last.

        Only of those whose id begins with `prefix`; without replies, of the notes only submissions.
        """
        roots = "" if with_replies or kind is not Kind.NOTE else " AND object_id = forum_id"
        order = "forum_id, object_id, modified_ms, seen"
        rows = self._db.cursor().execute(
            f"SELECT {COLUMNS} FROM objects WHERE venue_id = ? AND kind = ? AND substr(object_id, 1, ?) = ?{roots}"
            f" ORDER BY {order}",
            (venue_id, kind.value, len(prefix), prefix),
        )
        return map(self._object, rows)

    def _object(self, row: tuple[Any, ...]) -> RawObject:
        return RawObject._make((Kind(row[0]), *row[1:9], self._decompressor.decompress(row[9])))

    def latest(self, kind: Kind, venue_id: str, prefix: str = "", *, with_replies: bool = True) -> Iterator[RawObject]:
        """The latest version of every object of a kind, by forum, then id."""
        last = None
        for found in self.versions(kind, venue_id, prefix, with_replies=with_replies):
            if last is not None and found.object_id != last.object_id:
                yield last
            last = found
        if last is not None:
            yield last

    def by_forum(
        self, kinds: Iterable[Kind], venue_id: str, *, earlier: bool = False, with_replies: bool = True
    ) -> Iterator[tuple[str, list[RawObject]]]:
        """The latest version of every object of these kinds, a forum at a time, forums in order of their id.

        With `earlier`, every version of each, one object after the other, the latest last; without replies, of the
        notes only submissions.
        """
        forum, read = attrgetter("forum_id"), self.versions if earlier else self.latest
        objects = (read(kind, venue_id, with_replies=with_replies) for kind in kinds)
        for forum_id, group in groupby(merge(*objects, key=forum), key=forum):
            yield forum_id, list(group)

    def find(self, kind: Kind, object_id: str) -> RawObject | None:
        """The latest version of one object; None where it was never seen."""
        row = self._db.execute(
            f"SELECT {COLUMNS} FROM objects WHERE kind = ? AND object_id = ?"
            " ORDER BY modified_ms DESC, seen DESC LIMIT 1",
            (kind.value, object_id),
        ).fetchone()
        return self._object(row) if row else None

    def digest(self, kind: str, venue_id: str) -> str:
        """A digest of all versions of a kind of object, in whatever order they arrived, and of what is gone."""
        rows = self._db.execute(
            "SELECT object_id, digest FROM objects INDEXED BY objects_by_forum WHERE kind = ? AND venue_id = ?"
            " ORDER BY object_id, digest",
            (kind, venue_id),
        )
        total = hashlib.sha256()
        for object_id, digest in rows:
            total.update(object_id.encode() + b"\0" + digest)
        if kind == Kind.NOTE:
            total.update(repr(sorted(self.gone(venue_id))).encode())
        return total.hexdigest()
