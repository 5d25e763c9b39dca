"""Harvest state in `raw.db`: progress of listings, fetch queue, files, rate-limit windows."""

import hashlib
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path

from peercorpus.workspace.raw_questions import RawQuestions


@dataclass(frozen=True, slots=True)
class Listing:
    """Progress of fetching a paged listing.

    Attributes:
        after: The last id received; None before the first page.
        expected: The count stated by OpenReview; None if it stated none.
        started_ms: When its first page was requested; 0 before that, and for listings of objects other than notes.
    """

    after: str | None
    received: int
    expected: int | None
    complete: bool
    started_ms: int = 0


NOT_BEGUN = Listing(None, 0, None, complete=False)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Link between a file and the edit that submitted it.

    Attributes:
        size_bytes: Size of the content; None if it was never received.
        problem: Reason why it was not received at the last request; None if it was.
    """

    edit_id: str
    path: str
    venue_id: str
    forum_id: str
    sha256: str | None
    size_bytes: int | None
    problem: str | None


SUPPLIED = "/supplied/"
"""Prefix of the path recorded for a file that a user supplied, in place of a fetched file's path at OpenReview."""

_UNDATED = "undated"
_MOST_LABEL = 60


@dataclass(frozen=True, slots=True)
class Supplied:
    """A version of a paper that a user supplied and that matches no version known to the workspace.

    Attributes:
        when: Time of upload stated by the user, in UTC; None if not stated.
        label: The user's name for the version; empty if not stated.
    """

    forum_id: str
    when: datetime | None = None
    label: str = ""

    def names(self) -> tuple[str, str]:
        """Return the id and the path recorded in place of an edit's id and OpenReview's path."""
        when = self.when.strftime("%Y%m%dT%H%M%SZ") if self.when else _UNDATED
        label = " ".join(self.label.split())[:_MOST_LABEL]
        edit_id = f"{self.forum_id}{SUPPLIED}{when}/{label}"
        return edit_id, f"{SUPPLIED}{hashlib.sha256(edit_id.encode()).hexdigest()[:32]}.pdf"

    @classmethod
    def parse(cls, edit_id: str) -> "Supplied":
        """Return the version for an id from `names`."""
        forum_id, _, rest = edit_id.partition(SUPPLIED)
        when, _, label = rest.partition("/")
        at = None if when == _UNDATED else datetime.strptime(when, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        return cls(forum_id, at, label)


FILE_IN_DIGEST = (
    "StoredFile(edit_id={edit_id!r}, path={path!r}, venue_id={venue_id!r}, forum_id={forum_id!r}, sha256={sha256!r},"
    " size_bytes={size_bytes!r}, problem={problem!r})"
)
"""Text of a file in the digest for content keys; any change rebuilds every workspace.

The text is data: it does not follow the name of the class or the order of its fields.
"""


EDITS = "edits"
"""Name of the listing of all edits of a venue; this listing, and those with this prefix, list no notes."""

HIDDEN_MS = 1
"""Stored as the time when a listing last showed a note: later complete listings did not show it."""

UNKNOWN_MS = 2
"""Stored as that time if it is lost, or if lost data may have recorded the note's deletion."""

_LISTS_NOTES = f"listing NOT GLOB '{EDITS}*'"
"""Condition for a listing of notes: names of other listings are not prefixes of an invitation's id."""


class HarvestState:
    """The tables `listings`, `sightings`, `queue` and `files` of `raw.db`, on the connection of its `RawStore`."""

    def __init__(self, database: sqlite3.Connection, questions: RawQuestions | None = None) -> None:
        self._db = database
        self._questions = questions or RawQuestions(database)

    def listing(self, venue_id: str, listing: str) -> Listing:
        """Return the progress of a listing; a listing never begun is at its start."""
        row = self._db.execute(
            """
            SELECT after, received, expected, complete, started_ms
            FROM listings
            WHERE venue_id = ? AND listing = ?
            """,
            (venue_id, listing),
        ).fetchone()
        if row is None:
            return NOT_BEGUN
        after, received, expected, complete, started_ms = row
        return Listing(after, received, expected, bool(complete), started_ms)

    def set_listing(self, venue_id: str, listing: str, state: Listing) -> None:
        """Store the progress of a listing; must be in the same transaction as the page itself."""
        self._db.execute(
            """
            INSERT OR REPLACE INTO listings (venue_id, listing, after, received, expected, complete, started_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            (venue_id, listing, state.after, state.received, state.expected, state.complete, state.started_ms),
        )

    def forget_listings(self, venue_id: str, listing: str | None = None) -> None:
        """Restart all listings of a venue's notes, or only the named one.

        Submissions that are gone stay so until a listing shows them.
        """
        if listing is None:
            roots = [(HIDDEN_MS, note_id) for note_id, forum_id in self._not_shown(venue_id) if note_id == forum_id]
            self._db.executemany(
                f"UPDATE sightings SET shown_ms = ? WHERE object_id = ? AND shown_ms > {UNKNOWN_MS}", roots
            )
            self._db.execute(f"DELETE FROM listings WHERE venue_id = ? AND {_LISTS_NOTES}", (venue_id,))
        else:
            self._db.execute("DELETE FROM listings WHERE venue_id = ? AND listing = ?", (venue_id, listing))

    def shown_ms(self, note_id: str) -> int:
        """Return when a listing last showed a note, in milliseconds since the epoch; 0 if none did."""
        row = self._db.execute("SELECT shown_ms FROM sightings WHERE object_id = ?", (note_id,)).fetchone()
        return row[0] if row else 0

    def shown_after(self, venue_id: str, moment_ms: int) -> list[str]:
        """Return the ids, in order, of the notes of a venue that a listing has shown after a moment."""
        rows = self._db.execute(
            """
            SELECT DISTINCT object_id
            FROM objects INDEXED BY objects_by_forum
            JOIN sightings USING (object_id)
            WHERE venue_id = ? AND kind = 'note' AND shown_ms > ?
            ORDER BY object_id
            """,
            (venue_id, moment_ms),
        )
        return [note_id for (note_id,) in rows]

    def is_listed(self, venue_id: str) -> bool | None:
        """Return whether all listings of a venue's notes were read completely; None if none was begun."""
        sql = f"""
            SELECT venue_id, min(complete)
            FROM asked
            CROSS JOIN listings USING (venue_id)
            WHERE {_LISTS_NOTES}
            GROUP BY venue_id
        """
        complete = next((complete for (complete,) in self._questions.rows(sql, venue_id)), None)
        return None if complete is None else bool(complete)

    def sight(self, note_ids: Iterable[str], shown_ms: int) -> None:
        """Store that a listing showed these notes, a submission and all its replies at the same time."""
        rows = ((note_id, shown_ms) for note_id in note_ids)
        self._db.executemany("INSERT OR REPLACE INTO sightings (object_id, shown_ms) VALUES (?, ?)", rows)

    def unconfirmed(self, venue_id: str) -> set[str]:
        """Return the ids of notes whose presence the next complete listing will confirm or refute."""
        rows = self._questions.rows(
            f"""
            SELECT DISTINCT venue_id, object_id
            FROM asked
            CROSS JOIN objects INDEXED BY objects_by_forum USING (venue_id)
            CROSS JOIN sightings USING (object_id)
            WHERE kind = 'note' AND shown_ms = {UNKNOWN_MS}
            """,
            venue_id,
        )
        return {note_id for (note_id,) in rows}

    def doubt(self, venue_id: str, note_id: str) -> None:
        """Mark it as unknown whether a note, and its replies if it is a submission, is still shown."""
        self._db.execute(
            f"""
            INSERT OR REPLACE INTO sightings
            SELECT DISTINCT object_id, {UNKNOWN_MS}
            FROM objects
            WHERE venue_id = :venue AND kind = 'note' AND (forum_id = :note OR object_id = :note)
              AND (source LIKE 'http%' OR object_id IN (SELECT object_id FROM sightings))
            """,
            {"venue": venue_id, "note": note_id},
        )

    def settle(self, venue_id: str) -> None:
        """Mark notes in doubt as gone, once all listings have been read completely."""
        self.sight(self.unconfirmed(venue_id), HIDDEN_MS)

    def count_shown(self, venue_id: str) -> int:
        """Return the number of notes of a venue that listings showed and that have not been gone or deleted since."""
        rows = self._db.execute(
            """
            SELECT DISTINCT object_id
            FROM objects INDEXED BY objects_by_forum
            JOIN sightings USING (object_id)
            WHERE venue_id = ? AND kind = 'note'
            """,
            (venue_id,),
        )
        return len({note_id for (note_id,) in rows} - self.gone(venue_id))

    def unsight(self, note_ids: Iterable[str]) -> None:
        """Forget that listings showed these notes, because they are deleted."""
        self._db.executemany("DELETE FROM sightings WHERE object_id = ?", ((note_id,) for note_id in note_ids))

    def was_shown(self, venue_id: str) -> bool:
        """Return whether a listing ever showed a note of a venue."""
        row = self._db.execute(
            """
            SELECT EXISTS (
                SELECT 1
                FROM objects INDEXED BY objects_by_forum
                JOIN sightings USING (object_id)
                WHERE venue_id = ? AND kind = 'note'
            )
            """,
            (venue_id,),
        ).fetchone()
        return bool(row[0])

    def newest_shown(self, venue_id: str) -> tuple[str, int] | None:
        """Return the most recently modified note still shown, with its time in milliseconds; None if there is none."""
        gone = self.gone(venue_id)
        rows = self._db.execute(
            """
            SELECT object_id, modified_ms
            FROM objects INDEXED BY objects_by_forum
            JOIN sightings USING (object_id)
            WHERE venue_id = ? AND kind = 'note'
            ORDER BY modified_ms DESC, object_id
            """,
            (venue_id,),
        )
        return next(((note_id, modified_ms) for note_id, modified_ms in rows if note_id not in gone), None)

    def gone(self, venue_id: str) -> set[str]:
        """Return the ids of the notes in the workspace that OpenReview no longer shows.

        A reply is gone if its submission was listed again after the reply was last listed and last modified. A
        submission is gone if all lists of its venue have been read completely since it was last listed; a submission
        from a dump that no listing ever showed does not count as gone. Notes in doubt count as gone until a listing
        shows them.
        """
        # The index covers every column of the query, without which SQLite would read every body from disk.
        replies = self._questions.rows(
            """
            SELECT DISTINCT venue_id, note.object_id
            FROM asked
            CROSS JOIN objects AS note INDEXED BY objects_by_forum USING (venue_id)
            CROSS JOIN sightings AS root ON root.object_id = note.forum_id
            LEFT JOIN sightings AS own ON own.object_id = note.object_id
            WHERE note.kind = 'note'
              AND coalesce(own.shown_ms, 0) < root.shown_ms
              AND note.modified_ms <= root.shown_ms
            """,
            venue_id,
        )
        return {note_id for (note_id,) in replies} | {note_id for note_id, _ in self._not_shown(venue_id)}

    def _not_shown(self, venue_id: str) -> list[tuple[str, str]]:
        """Return the submissions that are gone, and all notes in doubt, with the ids of their forums."""
        of_venue = f"FROM listings WHERE listings.venue_id = note.venue_id AND {_LISTS_NOTES}"
        rows = self._questions.rows(
            f"""
            SELECT DISTINCT note.venue_id, note.object_id, note.forum_id
            FROM asked
            CROSS JOIN objects AS note INDEXED BY objects_by_forum ON note.venue_id = asked.venue_id
            CROSS JOIN sightings AS own USING (object_id)
            WHERE note.kind = 'note'
              AND (
                  own.shown_ms <= {UNKNOWN_MS}
                  OR note.forum_id = note.object_id
                  AND NOT EXISTS (SELECT 1 {of_venue} AND NOT complete)
                  AND own.shown_ms < (SELECT min(started_ms) {of_venue} AND started_ms > 0)
              )
            """,
            venue_id,
        )
        return [(note_id, forum_id) for note_id, forum_id in rows]

    def sight_edits(self, venue_id: str, edit_ids: Iterable[str], shown_ms: int) -> int:
        """Store that the list of a venue's edits showed these; return how many it had not shown since `shown_ms`.

        Stored only while the list is being read.
        """
        before = self._db.total_changes
        self._db.executemany(
            """
            INSERT INTO sightings (object_id, shown_ms)
            VALUES (?, ?)
            ON CONFLICT (object_id) DO UPDATE SET shown_ms = excluded.shown_ms WHERE shown_ms < excluded.shown_ms
            """,
            ((f"{EDITS} {venue_id} {edit_id}", shown_ms) for edit_id in edit_ids),
        )
        return self._db.total_changes - before

    def count_sighted_edits(self, venue_id: str) -> int:
        """Return the number of edits that the list of a venue's edits has shown so far."""
        sql = "SELECT count(*) FROM sightings WHERE object_id > ? AND object_id < ?"
        (number,) = self._db.execute(sql, (f"{EDITS} {venue_id} ", f"{EDITS} {venue_id}!")).fetchone()
        return int(number)

    def forget_sighted_edits(self, venue_id: str) -> None:
        """Forget which edits the list of a venue's edits has shown."""
        sql = "DELETE FROM sightings WHERE object_id > ? AND object_id < ?"
        self._db.execute(sql, (f"{EDITS} {venue_id} ", f"{EDITS} {venue_id}!"))

    def edited_notes(self, venue_id: str, *, sighted: bool, since_ms: int = 0) -> set[str]:
        """Return the notes with a stored edit that the list of the venue's edits has, or has not, shown so far.

        Only edits modified at `since_ms` or later count, milliseconds since the epoch.
        """
        rows = self._db.execute(
            f"""
            SELECT DISTINCT subject_id
            FROM objects
            WHERE venue_id = ? AND kind = 'edit' AND modified_ms >= ?
              AND ? = EXISTS (
                  SELECT 1 FROM sightings WHERE sightings.object_id = '{EDITS} ' || venue_id || ' ' || objects.object_id
              )
            """,
            (venue_id, since_ms, sighted),
        )
        return {note_id for (note_id,) in rows}

    def enqueue(self, venue_id: str, task: str, subject_ids: Iterable[str]) -> None:
        """Queue subjects to fetch; those already queued or done are unchanged."""
        rows = ((venue_id, task, subject_id) for subject_id in subject_ids)
        self._db.executemany("INSERT OR IGNORE INTO queue (venue_id, task, subject_id) VALUES (?, ?, ?)", rows)

    def answers(self, venue_id: str, task: str) -> Counter[str | None]:
        """Count the requested subjects of the queue by the reason for failure; the key None counts successes."""
        sql = "SELECT problem, count(*) FROM queue WHERE venue_id = ? AND task = ? AND done = 1 GROUP BY problem"
        return Counter(dict(self._db.execute(sql, (venue_id, task))))

    def unqueue(self, task: str, subject_ids: Iterable[str]) -> None:
        """Remove subjects from the queue that no longer need to be fetched."""
        rows = ((task, subject_id) for subject_id in subject_ids)
        self._db.executemany("DELETE FROM queue WHERE task = ? AND subject_id = ? AND done = 0", rows)

    def pending(self, venue_id: str, task: str) -> list[str]:
        """Return the subjects still to fetch, in the order of queuing."""
        sql = """
            SELECT venue_id, subject_id
            FROM asked
            CROSS JOIN queue USING (venue_id)
            WHERE task = ? AND done = 0
            ORDER BY queue.rowid
        """
        return [subject_id for (subject_id,) in self._questions.rows(sql, venue_id, task)]

    def pending_before(self, venue_id: str, task: str, marker: tuple[str, str]) -> list[str]:
        """Return the subjects still to fetch that were queued before another entry, a task and its subject."""
        sql = """
            SELECT subject_id
            FROM queue
            WHERE venue_id = ? AND task = ? AND done = 0
              AND rowid < (SELECT rowid FROM queue WHERE task = ? AND subject_id = ?)
            ORDER BY rowid
        """
        return [subject_id for (subject_id,) in self._db.execute(sql, (venue_id, task, *marker))]

    def done(self, venue_id: str, task: str) -> set[str]:
        """Return the subjects that were fetched or could not be fetched."""
        sql = "SELECT subject_id FROM queue WHERE venue_id = ? AND task = ? AND done = 1"
        return {subject_id for (subject_id,) in self._db.execute(sql, (venue_id, task))}

    def mark_done(self, task: str, subject_id: str, problem: str | None = None) -> None:
        """Mark a subject as done; `problem` is the reason why it could not be fetched, or None for success."""
        sql = "UPDATE queue SET done = 1, problem = ? WHERE task = ? AND subject_id = ?"
        self._db.execute(sql, (problem, task, subject_id))

    def reopen(self, venue_id: str, task: str) -> None:
        """Queue again the subjects that could not be fetched."""
        sql = "UPDATE queue SET done = 0, problem = NULL WHERE venue_id = ? AND task = ? AND problem IS NOT NULL"
        self._db.execute(sql, (venue_id, task))

    def add_file(self, stored: StoredFile) -> None:
        """Store an edit's file, or the reason why it could not be fetched."""
        self.add_files([stored])

    def add_files(self, files: Iterable[StoredFile]) -> None:
        """Store the files of edits, or the reasons why they could not be fetched."""
        self._db.executemany(
            """
            INSERT OR REPLACE INTO files (edit_id, path, venue_id, forum_id, sha256, size_bytes, problem)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            map(astuple, files),
        )

    def files(self, venue_id: str) -> list[StoredFile]:
        """Return every file requested for a venue, sorted by forum and edit."""
        rows = self._questions.rows(
            """
            SELECT venue_id, edit_id, path, venue_id, forum_id, sha256, size_bytes, problem
            FROM asked
            CROSS JOIN files USING (venue_id)
            ORDER BY forum_id, edit_id, path
            """,
            venue_id,
        )
        return [StoredFile(*row) for row in rows]

    def venues_with_files(self) -> set[str]:
        """Return the venues with a fetched file."""
        rows = self._db.execute("SELECT DISTINCT venue_id FROM files WHERE sha256 IS NOT NULL")
        return {venue_id for (venue_id,) in rows}

    def files_digest(self, venue_id: str) -> str:
        """Return a digest of the links between files and edits, made only from the fields in `FILE_IN_DIGEST`."""
        texts = (FILE_IN_DIGEST.format(**asdict(file)) for file in self.files(venue_id))
        return hashlib.sha256(f"[{', '.join(texts)}]".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Window:
    """Rate-limit window of one route.

    Attributes:
        limit: Requests allowed per window; None if only a refusal was seen.
        remaining: Requests left in it.
        ends_at: Time when the next window opens, in seconds since the epoch by this machine's clock.
        seen_at: Time of reading this; no wait exceeds the time from then to `ends_at`, even if the clock has changed
            since.
        length_s: Seconds from one window to the next; None if not stated.
    """

    limit: int | None
    remaining: int
    ends_at: float
    seen_at: float
    length_s: int | None

    def left_s(self, now: float) -> float:
        """Return the seconds until the next window opens; 0 if it already has."""
        return max(0.0, min(self.ends_at - now, self.ends_at - self.seen_at))


class BudgetState:
    """The table `budget` of `raw.db`.

    It has its own connection, which threads may share. The budget stated by a response is therefore kept even if the
    transaction that stores the response is rolled back, and writing it does not wait for the disk.
    """

    def __init__(self, path: Path) -> None:
        """Connect to a `raw.db` that `RawStore` has already opened for writing."""
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=60)
        # A lost last entry costs only one refused request; waiting for the disk after each request would cost more.
        self._db.execute("PRAGMA synchronous = NORMAL")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def windows(self) -> dict[str, Window]:
        """Return the known windows by route."""
        sql = "SELECT route, request_limit, remaining, ends_at, seen_at, length_s FROM budget"
        with self._lock:
            return {route: Window(*values) for route, *values in self._db.execute(sql)}

    def set_window(self, route: str, window: Window) -> None:
        """Store the window of a route, replacing the previous one."""
        with self._lock:
            self._db.execute(
                """
                INSERT OR REPLACE INTO budget (route, request_limit, remaining, ends_at, seen_at, length_s)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                (route, *astuple(window)),
            )
