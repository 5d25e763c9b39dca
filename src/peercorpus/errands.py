"""The harvest's own book in `raw.db`: lists read, what they showed, what is left to ask for, which file is whose."""

import hashlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass


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


class Errands:
    """The tables `listings`, `sightings`, `queue` and `files`."""

    _db: sqlite3.Connection

    def listing(self, venue_id: str, listing: str) -> Listing:
        """How far a listing has been fetched."""
        sql = "SELECT after, received, expected, complete, started_ms FROM listings WHERE venue_id = ? AND listing = ?"
        row = self._db.execute(sql, (venue_id, listing)).fetchone()
        return Listing(row[0], row[1], row[2], bool(row[3]), row[4]) if row else Listing(None, 0, None, False)

    def set_listing(self, venue_id: str, listing: str, state: Listing) -> None:
        """Remember how far a listing has been fetched; in the same transaction as the page itself."""
        values = (venue_id, listing, state.after, state.received, state.expected, state.complete, state.started_ms)
        self._db.execute("INSERT OR REPLACE INTO listings VALUES (?,?,?,?,?,?,?)", values)

    def forget_listings(self, venue_id: str, listing: str | None = None) -> None:
        """Begin all listings of a venue anew, or one of them."""
        sql = "DELETE FROM listings WHERE venue_id = ? AND listing = coalesce(?, listing)"
        self._db.execute(sql, (venue_id, listing))

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

    def count_shown(self, venue_id: str) -> int:
        """Notes of a venue that listings showed, and that were not gone or deleted since."""
        sql = (
            "SELECT DISTINCT object_id FROM objects INDEXED BY objects_by_forum JOIN sightings USING (object_id)"
            " WHERE venue_id = ? AND kind = 'note'"
        )
        shown = {note_id for (note_id,) in self._db.execute(sql, (venue_id,))}
        return len(shown - self.gone(venue_id))

    def unsight(self, note_ids: Iterable[str]) -> None:
        """Forget that listings showed these notes: they are deleted."""
        self._db.executemany("DELETE FROM sightings WHERE object_id = ?", ((note_id,) for note_id in note_ids))

    def was_shown(self, venue_id: str) -> bool:
        """Whether a listing ever showed a note of a venue."""
        sql = (
            "SELECT EXISTS (SELECT 1 FROM objects INDEXED BY objects_by_forum JOIN sightings USING (object_id)"
            " WHERE venue_id = ? AND kind = 'note')"
        )
        return bool(self._db.execute(sql, (venue_id,)).fetchone()[0])

    def newest_shown(self, venue_id: str) -> tuple[str, int] | None:
        """The note modified last of those that are shown, and when; None where there is none."""
        gone = self.gone(venue_id)
        rows = self._db.execute(
            "SELECT object_id, modified_ms FROM objects INDEXED BY objects_by_forum JOIN sightings USING (object_id)"
            " WHERE venue_id = ? AND kind = 'note' ORDER BY modified_ms DESC, object_id",
            (venue_id,),
        )
        return next(((note_id, modified_ms) for note_id, modified_ms in rows if note_id not in gone), None)

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

    def count_refused(self, venue_id: str, task: str) -> int:
        """How many things of the queue could not be had."""
        sql = "SELECT count(*) FROM queue WHERE venue_id = ? AND task = ? AND problem IS NOT NULL"
        (number,) = self._db.execute(sql, (venue_id, task)).fetchone()
        return int(number)

    def unqueue(self, task: str, subject_ids: Iterable[str]) -> None:
        """Take off the queue what need not be fetched any more."""
        rows = ((task, subject_id) for subject_id in subject_ids)
        self._db.executemany("DELETE FROM queue WHERE task = ? AND subject_id = ? AND done = 0", rows)

    def pending(self, venue_id: str, task: str) -> list[str]:
        """What is left to fetch, in the order in which it was queued."""
        sql = "SELECT subject_id FROM queue WHERE venue_id = ? AND task = ? AND done = 0 ORDER BY rowid"
        return [subject_id for (subject_id,) in self._db.execute(sql, (venue_id, task))]

    def done(self, venue_id: str, task: str) -> set[str]:
        """What was fetched, or could not be had."""
        sql = "SELECT subject_id FROM queue WHERE venue_id = ? AND task = ? AND done = 1"
        return {subject_id for (subject_id,) in self._db.execute(sql, (venue_id, task))}

    def mark_done(self, task: str, subject_id: str, problem: str | None = None) -> None:
        """Take one thing off the queue; `problem` says why it could not be had."""
        sql = "UPDATE queue SET done = 1, problem = ? WHERE task = ? AND subject_id = ?"
        self._db.execute(sql, (problem, task, subject_id))

    def reopen(self, venue_id: str, task: str) -> None:
        """Put back in the queue what could not be had."""
        sql = "UPDATE queue SET done = 0, problem = NULL WHERE venue_id = ? AND task = ? AND problem IS NOT NULL"
        self._db.execute(sql, (venue_id, task))

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
