"""`raw.db`: everything OpenReview sent, every version seen, and what is left to fetch.

SQLite in WAL mode. A note, reference, edit, group or invitation is one row per distinct body; nothing is ever
overwritten. Nested replies are rows of their own. Every write is one transaction.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from heapq import merge
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

UNPLACED = "unplaced"
"""The venue of an object that names none, until its forum is known."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
    seen INTEGER PRIMARY KEY,
    kind TEXT NOT NULL, object_id TEXT NOT NULL, digest BLOB NOT NULL, api INTEGER NOT NULL,
    venue_id TEXT NOT NULL, forum_id TEXT NOT NULL, subject_id TEXT NOT NULL,
    modified_ms INTEGER NOT NULL, seen_ms INTEGER NOT NULL, source TEXT NOT NULL, body BLOB NOT NULL,
    UNIQUE (kind, object_id, digest));
CREATE INDEX IF NOT EXISTS objects_by_forum ON objects (venue_id, kind, forum_id, object_id, modified_ms, seen);
CREATE INDEX IF NOT EXISTS objects_by_digest ON objects (kind, venue_id, object_id, digest);
CREATE INDEX IF NOT EXISTS objects_by_subject ON objects (kind, subject_id);
CREATE TABLE IF NOT EXISTS listings (
    venue_id TEXT NOT NULL, listing TEXT NOT NULL, after TEXT, received INTEGER NOT NULL, expected INTEGER,
    complete INTEGER NOT NULL, started_ms INTEGER NOT NULL, PRIMARY KEY (venue_id, listing));
CREATE TABLE IF NOT EXISTS queue (
    venue_id TEXT NOT NULL, task TEXT NOT NULL, subject_id TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0,
    problem TEXT, PRIMARY KEY (task, subject_id));
CREATE TABLE IF NOT EXISTS files (
    edit_id TEXT NOT NULL, path TEXT NOT NULL, venue_id TEXT NOT NULL, forum_id TEXT NOT NULL,
    sha256 TEXT, size_bytes INTEGER, problem TEXT, PRIMARY KEY (edit_id, path));
CREATE TABLE IF NOT EXISTS sightings (object_id TEXT PRIMARY KEY, shown_ms INTEGER NOT NULL);
"""

COLUMNS = "kind, object_id, api, venue_id, forum_id, subject_id, modified_ms, seen_ms, source, body"


class Kind(StrEnum):
    """What an OpenReview object is. A reference is API v1's word for an edit."""

    NOTE = "note"
    REFERENCE = "reference"
    EDIT = "edit"
    GROUP = "group"
    INVITATION = "invitation"


class RawObject(NamedTuple):
    """One object as received.

    Attributes:
        api: 1 or 2.
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


@dataclass(frozen=True, slots=True)
class Listing:
    """How far a paged listing has been fetched.

    Attributes:
        after: The last id received; None before the first page.
        expected: The count OpenReview gave; None where it gave none.
        started_ms: When its first page was asked for; 0 before, and for what lists no notes.
    """

    after: str | None
    received: int
    expected: int | None
    complete: bool
    started_ms: int = 0


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Which file belongs to which edit.

    Attributes:
        sha256: None where it was never had.
        problem: Why it could not be had when last asked for; None where it was.
    """

    edit_id: str
    path: str
    venue_id: str
    forum_id: str
    sha256: str | None
    size_bytes: int | None
    problem: str | None


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


class RawStore:
    """The database of what arrived. Not shared between threads."""

    def __init__(self, path: Path, *, write: bool = True) -> None:
        """Open the database; only a writer creates it, or needs its folder to be writable."""
        if write:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(SCHEMA)
        else:
            self._db = _opened_to_read(path)
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
        self._db.executemany(
            "INSERT OR IGNORE INTO objects (kind, object_id, digest, api, venue_id, forum_id, subject_id, modified_ms,"
            " seen_ms, source, body) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (self._row(found) for found in objects),
        )
        return self._db.total_changes - before

    def _row(self, found: RawObject) -> tuple[object, ...]:
        digest = hashlib.sha256(found.body).digest()[:16]
        body = self._compressor.compress(found.body)
        key = (found.kind.value, found.object_id, digest, found.api, found.venue_id, found.forum_id, found.subject_id)
        return (*key, found.modified_ms, found.seen_ms, found.source, body)

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
            " WHERE kind IN ('note', 'edit', 'reference')"
            f" AND EXISTS (SELECT 1 {root} AND root.venue_id <> objects.venue_id)"
        )

    def venues(self) -> list[str]:
        """Every venue of which notes, references or edits are held, in alphabetical order."""
        kinds = "('note', 'reference', 'edit')"
        rows = self._db.execute(f"SELECT DISTINCT venue_id FROM objects WHERE kind IN {kinds} ORDER BY venue_id")
        return [venue_id for (venue_id,) in rows]

    def is_empty(self) -> bool:
        """Whether nothing at all was ever stored."""
        row: tuple[int] = self._db.execute("SELECT NOT EXISTS (SELECT 1 FROM objects)").fetchone()
        return bool(row[0])

    def count(self, kind: Kind, venue_id: str) -> int:
        """Distinct objects of a kind (not versions of them)."""
        sql = "SELECT count(DISTINCT object_id) FROM objects WHERE kind = ? AND venue_id = ?"
        row: tuple[int] = self._db.execute(sql, (kind.value, venue_id)).fetchone()
        return row[0]

    def count_forums(self, venue_id: str) -> int:
        """Forums of which anything is held."""
        sql = (
            "SELECT count(DISTINCT forum_id) FROM objects WHERE venue_id = ? AND kind IN ('note', 'edit', 'reference')"
        )
        row: tuple[int] = self._db.execute(sql, (venue_id,)).fetchone()
        return row[0]

    def versions(self, kind: Kind, venue_id: str) -> Iterator[RawObject]:
        """Every version of every object of a kind, by forum, then id, then time: the latest of an id comes last."""
        order = "forum_id, object_id, modified_ms, seen"
        rows = self._db.cursor().execute(
            f"SELECT {COLUMNS} FROM objects WHERE venue_id = ? AND kind = ? ORDER BY {order}", (venue_id, kind.value)
        )
        return map(self._object, rows)

    def _object(self, row: tuple[Any, ...]) -> RawObject:
        return RawObject._make((Kind(row[0]), *row[1:9], self._decompressor.decompress(row[9])))

    def latest(self, kind: Kind, venue_id: str) -> Iterator[RawObject]:
        """The latest version of every object of a kind, by forum, then id."""
        last = None
        for found in self.versions(kind, venue_id):
            if last is not None and found.object_id != last.object_id:
                yield last
            last = found
        if last is not None:
            yield last

    def by_forum(self, kinds: Iterable[Kind], venue_id: str) -> Iterator[tuple[str, list[RawObject]]]:
        """The latest version of every object of these kinds, a forum at a time, forums in order of their id."""
        forum = attrgetter("forum_id")
        for forum_id, group in groupby(merge(*(self.latest(kind, venue_id) for kind in kinds), key=forum), key=forum):
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
            "SELECT object_id, digest FROM objects WHERE kind = ? AND venue_id = ? ORDER BY object_id, digest",
            (kind, venue_id),
        )
        total = hashlib.sha256()
        for object_id, digest in rows:
            total.update(object_id.encode() + b"\0" + digest)
        if kind == Kind.NOTE:
            total.update(repr(sorted(self.gone(venue_id))).encode())
        return total.hexdigest()

    def listing(self, venue_id: str, listing: str) -> Listing:
        """How far a listing has been fetched."""
        sql = "SELECT after, received, expected, complete, started_ms FROM listings WHERE venue_id = ? AND listing = ?"
        row = self._db.execute(sql, (venue_id, listing)).fetchone()
        return Listing(row[0], row[1], row[2], bool(row[3]), row[4]) if row else Listing(None, 0, None, False)

    def set_listing(self, venue_id: str, listing: str, state: Listing) -> None:
        """Remember how far a listing has been fetched; in the same transaction as the page itself."""
        values = (venue_id, listing, state.after, state.received, state.expected, state.complete, state.started_ms)
        self._db.execute("INSERT OR REPLACE INTO listings VALUES (?,?,?,?,?,?,?)", values)

    def forget_listings(self, venue_id: str) -> None:
        """Begin the listings of a venue anew."""
        self._db.execute("DELETE FROM listings WHERE venue_id = ?", (venue_id,))

    def shown_ms(self, note_id: str) -> int:
        """When a listing last showed a note; 0 where none did."""
        row = self._db.execute("SELECT shown_ms FROM sightings WHERE object_id = ?", (note_id,)).fetchone()
        return row[0] if row else 0

    def is_listed(self, venue_id: str) -> bool | None:
        """Whether all listings of a venue were read to their end; None where none was begun."""
        sql = "SELECT min(complete) FROM listings WHERE venue_id = ?"
        (complete,) = self._db.execute(sql, (venue_id,)).fetchone()
        return None if complete is None else bool(complete)

    def sight(self, note_ids: Iterable[str], shown_ms: int) -> None:
        """Remember that a listing showed these notes, a submission and all its replies at the same time."""
        rows = ((note_id, shown_ms) for note_id in note_ids)
        self._db.executemany("INSERT OR REPLACE INTO sightings VALUES (?,?)", rows)

    def gone(self, venue_id: str) -> set[str]:
        """Notes held that OpenReview shows no longer.

        A reply is gone if its submission was listed later than it, and later than it was written; a submission, if all
        lists of its venue were read to their end since it was last listed. What no listing ever showed (a dump) is not
        gone by that.
        """
        # The index holds all that is asked for; without it, every body is read from disk.
        replies = self._db.execute(
            "SELECT DISTINCT note.object_id FROM objects AS note INDEXED BY objects_by_forum"
            " CROSS JOIN sightings AS root ON root.object_id = note.forum_id"
            " LEFT JOIN sightings AS own ON own.object_id = note.object_id"
            " WHERE note.kind = 'note' AND note.venue_id = ? AND coalesce(own.shown_ms, 0) < root.shown_ms"
            " AND note.modified_ms <= root.shown_ms",
            (venue_id,),
        )
        roots = self._db.execute(
            "SELECT DISTINCT note.object_id FROM objects AS note INDEXED BY objects_by_forum"
            " CROSS JOIN sightings AS own USING (object_id)"
            " WHERE note.kind = 'note' AND note.venue_id = :venue AND note.forum_id = note.object_id"
            " AND NOT EXISTS (SELECT 1 FROM listings WHERE venue_id = :venue AND NOT complete)"
            " AND own.shown_ms < (SELECT min(started_ms) FROM listings WHERE venue_id = :venue AND started_ms > 0)",
            {"venue": venue_id},
        )
        return {note_id for rows in (replies, roots) for (note_id,) in rows}

    def enqueue(self, venue_id: str, task: str, subject_ids: Iterable[str]) -> None:
        """Add what is left to fetch; what is queued or done already stays as it is."""
        rows = ((venue_id, task, subject_id) for subject_id in subject_ids)
        self._db.executemany("INSERT OR IGNORE INTO queue (venue_id, task, subject_id) VALUES (?,?,?)", rows)

    def pending(self, venue_id: str, task: str) -> list[str]:
        """What is left to fetch, in the order in which it was queued."""
        sql = "SELECT subject_id FROM queue WHERE venue_id = ? AND task = ? AND done = 0 ORDER BY rowid"
        return [subject_id for (subject_id,) in self._db.execute(sql, (venue_id, task))]

    def mark_done(self, task: str, subject_id: str, problem: str | None = None) -> None:
        """Take one thing off the queue; `problem` says why it could not be had."""
        sql = "UPDATE queue SET done = 1, problem = ? WHERE task = ? AND subject_id = ?"
        self._db.execute(sql, (problem, task, subject_id))

    def add_file(self, stored: StoredFile) -> None:
        """Remember which file an edit brought, or why it could not be had."""
        values = (stored.edit_id, stored.path, stored.venue_id, stored.forum_id)
        rest = (stored.sha256, stored.size_bytes, stored.problem)
        self._db.execute("INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?)", (*values, *rest))

    def files(self, venue_id: str) -> list[StoredFile]:
        """Every file asked for at a venue, by forum and edit."""
        rows = self._db.execute("SELECT * FROM files WHERE venue_id = ? ORDER BY forum_id, edit_id, path", (venue_id,))
        return [StoredFile(*row) for row in rows]

    def files_digest(self, venue_id: str) -> str:
        """A digest of which file belongs to which edit."""
        return hashlib.sha256(repr(self.files(venue_id)).encode()).hexdigest()
