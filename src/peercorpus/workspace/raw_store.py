"""Access `raw.db`, which stores OpenReview's objects byte for byte, and the key of the pseudonyms."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from peercorpus.errors import DamagedError
from peercorpus.execution.stage import ALL_FORUMS, ForumRange
from peercorpus.records.datasets import Dataset
from peercorpus.workspace.harvest_state import HarvestState
from peercorpus.workspace.pseudonyms import Pseudonyms
from peercorpus.workspace.raw_damage import DamagedObjects, digest_body, unpack_body
from peercorpus.workspace.raw_questions import RawQuestions
from peercorpus.workspace.raw_schema import open_to_read, open_to_write

UNPLACED = "unplaced"
"""Venue of an object without a stated venue, until its forum is known."""

BATCH = 1_000
"""Objects compressed together."""

COMPRESSING = 2
"""Number of compressing threads."""

OBJECT = "kind, object_id, api, venue_id, forum_id, subject_id, modified_ms, seen_ms, source, digest, body"
"""Columns of one object, in the order of unpacking."""


class RawKind(StrEnum):
    """Kind of an OpenReview object; a reference is API v1's word for an edit."""

    NOTE = "note"
    REFERENCE = "reference"
    EDIT = "edit"
    GROUP = "group"
    INVITATION = "invitation"
    PUBLISHED = "published"
    """A row of a dataset published by others, as JSON, with its text and structure unchanged."""

    UNREADABLE = "unreadable"
    """A note, edit, reference, group or invitation that is not JSON, in the bytes received."""


_KINDS = {kind.value: kind for kind in RawKind}


OPEN = " (names no readers)"
"""Added to the source of what came from a dump in which no note, edit or reference names readers."""


class RawObject(NamedTuple):
    """One object as received.

    Attributes:
        api: 1 or 2; 0 for a record of a published dataset.
        venue_id: The venue group it belongs to, or `UNPLACED`.
        forum_id: Id of the root note; empty if it has none (groups, invitations).
        subject_id: The note an edit or reference is about; its own id for everything else.
        modified_ms: When OpenReview last modified it, milliseconds since the epoch; 0 if not stated.
        seen_ms: When it was received, milliseconds since the epoch.
        source: The request URL or file name it came from, and `OPEN` where it holds; never contains a token.
        body: The JSON text as received, without nested replies, which are separate objects.
    """

    kind: RawKind
    object_id: str
    api: int
    venue_id: str
    forum_id: str
    subject_id: str
    modified_ms: int
    seen_ms: int
    source: str
    body: bytes

    @property
    def origin(self) -> str:
        """The request URL or file name it came from."""
        return self.source.removesuffix(OPEN)

    @property
    def is_open(self) -> bool:
        """Whether it came from a dump that names no readers at all: such a dump counts as public."""
        return self.source.endswith(OPEN)


_WITHIN = "forum_id >= ? AND forum_id < ?"
"""Condition that a forum is in a range, with the values of `_bounds`."""

_BEHIND_ALL = b"\xff" * 8
"""A value that SQLite sorts after any text."""


def _bounds(span: ForumRange) -> tuple[str, str | bytes]:
    return span.first_id, _BEHIND_ALL if span.end_id is None else span.end_id


class RawStore:
    """Database of everything received; must not be shared between threads.

    Attributes:
        questions: Queries about venues, possibly for many at a time.
        state: The harvest's own tables, on the same connection, so that transactions cover them too.
        pseudonyms: Pseudonyms of accounts, made with the key in this database.
    """

    def __init__(self, path: Path, *, write: bool = True) -> None:
        """Open the database; only a writer creates or migrates it, or needs a writable folder.

        Raises:
            WorkspaceError: Its schema is newer than this code or of no known version, or too old for a reader.
            sqlite3.Error: It cannot be opened.
        """
        self.path = path
        self._db, was_older = open_to_write(path) if write else (open_to_read(path), False)
        self.questions = RawQuestions(self._db)
        self.state = HarvestState(self._db, self.questions)
        self.damaged = DamagedObjects(self._db)
        self.pseudonyms = Pseudonyms(self._db)
        try:
            if write:
                self.pseudonyms.ensure_key(is_first=was_older or self.is_empty())
        except BaseException:
            self._db.close()
            raise
        self._compressor = zstandard.ZstdCompressor(level=3)
        self._decompressor = zstandard.ZstdDecompressor()

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def release_memory(self) -> None:
        """Release the memory of pages that are in the cache of the database; they are read again when needed."""
        self._db.execute("PRAGMA shrink_memory")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all writes inside together, or none of them."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def add(self, objects: Iterable[RawObject]) -> int:
        """Store objects and versions not stored yet; return the number of rows added."""
        before = self._db.total_changes
        waiting = iter(objects)
        while batch := list(islice(waiting, BATCH)):
            packed = self._compressor.multi_compress_to_buffer([one.body for one in batch], threads=COMPRESSING)
            self._db.executemany(
                f"INSERT OR IGNORE INTO objects ({OBJECT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (one.kind.value, *one[1:-1], digest_body(one.body), packed[place].tobytes())
                    for place, one in enumerate(batch)
                ),
            )
        return self._db.total_changes - before

    def last_row(self) -> int:
        """Return the row of the object that was added last; 0 if there is none."""
        (row,) = self._db.execute("SELECT coalesce(max(seen), 0) FROM objects").fetchone()
        return int(row)

    def mark_open(self, after: int, last: int, is_closed: Callable[[Sequence[RawObject]], bool]) -> None:
        """Record that nothing in the dump of these rows names readers, except for objects whose versions are closed."""
        here = "seen > ? AND seen <= ? AND kind IN ('note', 'edit', 'reference')"
        again = "held.kind = one.kind AND held.object_id = one.object_id AND held.seen <> one.seen"
        is_known = f"EXISTS (SELECT 1 FROM objects AS held WHERE {again})"
        sql = f"SELECT DISTINCT kind, object_id FROM objects AS one WHERE {here} AND {is_known}"
        known = self._db.execute(sql, (after, last)).fetchall()
        closed = [(kind, name) for kind, name in known if is_closed(self.versions_of(RawKind(kind), [name])[name])]
        among = "(kind, object_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))"
        update = f"UPDATE objects SET source = source || ? WHERE {here} AND NOT {among}"
        self._db.execute(update, (OPEN, after, last, json.dumps(closed)))

    def place(self) -> None:
        """Give every reply, reference and edit the venue of its forum, as far as the forum is known.

        A reply's own invitation may name a group other than its paper's venue. A note never changes its forum or venue:
        all versions get those of the first harvested version, or otherwise of the latest one from a file.
        """
        stating = """
            FROM objects AS stating
            WHERE stating.kind = 'note' AND stating.object_id = objects.object_id
            ORDER BY stating.forum_id = '', stating.venue_id = 'unplaced', instr(stating.source, '://') = 0,
                CASE WHEN instr(stating.source, '://') THEN stating.seen ELSE -stating.modified_ms END,
                stating.seen DESC
            LIMIT 1
        """
        self._db.execute(
            f"""
            UPDATE objects
            SET forum_id = (SELECT stating.forum_id {stating}), venue_id = (SELECT stating.venue_id {stating})
            WHERE kind = 'note' AND object_id IN (
                SELECT object_id
                FROM objects
                WHERE kind = 'note'
                GROUP BY object_id
                HAVING min(forum_id) <> max(forum_id) OR min(venue_id) <> max(venue_id)
            )
            """
        )
        subject = "FROM objects AS note WHERE note.kind = 'note' AND note.object_id = objects.subject_id"
        self._db.execute(
            f"""
            UPDATE objects
            SET forum_id = (SELECT note.forum_id {subject} LIMIT 1)
            WHERE kind IN ('edit', 'reference')
              AND EXISTS (SELECT 1 {subject} AND note.forum_id <> objects.forum_id)
            """
        )
        root = """
            FROM objects AS root
            WHERE root.kind = 'note' AND root.object_id = objects.forum_id AND root.forum_id = root.object_id
              AND root.venue_id <> 'unplaced'
        """
        self._db.execute(
            f"""
            UPDATE objects
            SET venue_id = (SELECT root.venue_id {root} LIMIT 1)
            WHERE kind IN ('note', 'edit', 'reference', 'published')
              AND EXISTS (SELECT 1 {root} AND root.venue_id <> objects.venue_id)
            """
        )
        self._place_published(root)
        self._place_files()

    def _place_published(self, root: str) -> None:
        """Give the published records of a paper without a submission one venue.

        It is the venue of the record whose dataset comes first in `Dataset`, preferring records with a venue's own id,
        and the latest one among equals.
        """
        ranks = " ".join(f"WHEN '{dataset}' THEN {rank}" for rank, dataset in enumerate(Dataset))
        stated = f"""
            FROM objects AS stated
            WHERE stated.kind = 'published' AND stated.subject_id = objects.subject_id AND NOT EXISTS (SELECT 1 {root})
            ORDER BY stated.venue_id = 'unplaced', stated.venue_id GLOB 'published/*',
                CASE substr(stated.object_id, 1, instr(stated.object_id, ':') - 1) {ranks} END,
                stated.seen DESC
            LIMIT 1
        """
        self._db.execute(
            f"""
            UPDATE objects
            SET venue_id = (SELECT stated.venue_id {stated})
            WHERE kind = 'published' AND venue_id <> (SELECT stated.venue_id {stated})
            """
        )

    def _place_files(self) -> None:
        """Give every file the venue of its submission."""
        root = """
            FROM objects AS root
            WHERE root.kind = 'note' AND root.object_id = files.forum_id AND root.forum_id = root.object_id
        """
        self._db.execute(
            f"""
            UPDATE files
            SET venue_id = (SELECT root.venue_id {root} LIMIT 1)
            WHERE EXISTS (SELECT 1 {root} AND root.venue_id <> files.venue_id)
            """
        )

    def unsettled(self, others: Iterable[str] = ()) -> Iterator[tuple[str, list[RawObject]]]:
        """Yield each forum without a placed submission whose notes are in several venues or none, with all its notes.

        The forums `others` are yielded as well, wherever their notes are.
        """
        rows = self._db.cursor().execute(
            f"""
            WITH doubtful AS (
                SELECT forum_id
                FROM objects
                WHERE kind = 'note' AND forum_id <> ''
                GROUP BY forum_id
                HAVING min(venue_id) <> max(venue_id) OR min(venue_id) = 'unplaced'
                UNION
                SELECT value FROM json_each(?)
            )
            SELECT {OBJECT}
            FROM objects INDEXED BY objects_by_forum
            WHERE kind = 'note' AND forum_id IN doubtful
            ORDER BY forum_id, modified_ms, seen
            """,
            (json.dumps(list(others)),),
        )
        for forum_id, notes in groupby(map(self._unpack_object, rows), key=attrgetter("forum_id")):
            yield forum_id, list(notes)

    def of_forums(self, forum_ids: Iterable[str]) -> Iterator[tuple[tuple[str, str], list[RawObject]]]:
        """Yield the notes and published records of forums, every version, the latest last, by venue and forum."""
        rows = self._db.cursor().execute(
            f"""
            SELECT {OBJECT}
            FROM objects INDEXED BY objects_by_forum
            WHERE kind IN ('note', 'published') AND forum_id IN (SELECT value FROM json_each(?))
            ORDER BY venue_id, forum_id, modified_ms, seen
            """,
            (json.dumps(list(forum_ids)),),
        )
        for key, objects in groupby(map(self._unpack_object, rows), key=attrgetter("venue_id", "forum_id")):
            yield key, list(objects)

    def roots_among(self, forum_ids: Iterable[str]) -> dict[str, str]:
        """Return the forums among some whose submission is stored, with its venue."""
        rows = self._db.execute(
            """
            SELECT DISTINCT object_id, venue_id
            FROM objects
            WHERE kind = 'note' AND forum_id = object_id AND object_id IN (SELECT value FROM json_each(?))
            """,
            (json.dumps(list(forum_ids)),),
        )
        return dict(rows.fetchall())

    def move(self, moves: Iterable[tuple[str, str, str]]) -> None:
        """Assign all objects of forums to another venue.

        Each move has the new venue, the forum's current venue, and the forum.
        """
        self._db.executemany(
            """
            UPDATE objects
            SET venue_id = ?
            WHERE venue_id = ? AND kind IN ('note', 'edit', 'reference') AND forum_id = ?
            """,
            moves,
        )
        self._place_files()

    def rename_venues(self, names: Mapping[str, str]) -> None:
        """Change the venue ids of published records, given the new id by the current one."""
        self._db.executemany(
            "UPDATE objects SET venue_id = ? WHERE venue_id = ? AND kind = 'published'",
            [(new, held) for held, new in names.items()],
        )

    def venues(self) -> list[str]:
        """Return every venue with notes, references, edits or published records, in alphabetical order."""
        # Steps from venue to venue in the index; DISTINCT would read all of it.
        rows = self._db.execute(
            """
            WITH RECURSIVE held (venue_id) AS (
                SELECT min(venue_id) FROM objects
                UNION ALL
                SELECT (SELECT min(venue_id) FROM objects WHERE venue_id > held.venue_id)
                FROM held
                WHERE venue_id IS NOT NULL
            )
            SELECT venue_id
            FROM held
            WHERE EXISTS (
                SELECT 1
                FROM objects
                WHERE objects.venue_id = held.venue_id AND kind IN ('note', 'reference', 'edit', 'published')
            )
            ORDER BY venue_id
            """
        )
        return [venue_id for (venue_id,) in rows]

    def select(self, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a read-only query, for counts that only one caller needs."""
        return self._db.cursor().execute(sql, values)

    def is_empty(self) -> bool:
        """Return whether nothing was ever stored."""
        (is_empty,) = self._db.execute("SELECT NOT EXISTS (SELECT 1 FROM objects)").fetchone()
        return bool(is_empty)

    def count(self, kind: RawKind, venue_id: str, prefix: str = "") -> int:
        """Return the number of distinct objects (not versions) of a kind whose ids begin with `prefix`.

        A prefix must not extend beyond the first colon of an id.
        """
        start = "substr(object_id, 1, instr(object_id || ':', ':'))" if prefix or kind is RawKind.PUBLISHED else "''"
        rows = self.questions.rows(
            f"""
            SELECT venue_id, {start} AS start, count(DISTINCT object_id)
            FROM asked
            CROSS JOIN objects INDEXED BY objects_by_forum USING (venue_id)
            WHERE kind = ?
            GROUP BY venue_id, start
            """,
            venue_id,
            kind.value,
            is_short=True,
        )
        return sum(number for start, number in rows if start.startswith(prefix))

    def roots(self, venue_id: str) -> set[str]:
        """Return the forums of a venue whose own submission note is stored, public or not."""
        rows = self.questions.rows(
            """
            SELECT DISTINCT venue_id, forum_id
            FROM asked
            CROSS JOIN objects INDEXED BY objects_by_forum USING (venue_id)
            WHERE kind = 'note' AND object_id = forum_id
            """,
            venue_id,
        )
        return {forum_id for (forum_id,) in rows}

    def count_versions(self, venue_id: str) -> int:
        """Return the number of versions of all objects of a venue."""
        (number,) = self._db.execute("SELECT count(*) FROM objects WHERE venue_id = ?", (venue_id,)).fetchone()
        return int(number)

    def count_forums(self, venue_id: str, span: ForumRange = ALL_FORUMS) -> int:
        """Return the number of forums of a venue, or of a range of them, with at least one stored object."""
        return len(self.forum_ids(venue_id, span))

    def forum_ids(self, venue_id: str, span: ForumRange = ALL_FORUMS) -> list[str]:
        """Return these forums in order."""
        rows = self._db.execute(
            f"""
            SELECT DISTINCT forum_id
            FROM objects INDEXED BY objects_by_forum
            WHERE venue_id = ? AND kind IN ('note', 'reference', 'edit', 'published') AND {_WITHIN}
            ORDER BY forum_id
            """,
            (venue_id, *_bounds(span)),
        )
        return [forum_id for (forum_id,) in rows]

    def versions(
        self,
        kind: RawKind,
        venue_id: str,
        prefix: str = "",
        *,
        with_replies: bool = True,
        span: ForumRange = ALL_FORUMS,
    ) -> Iterator[RawObject]:
        """Yield every version of every object of a kind, ordered by forum, id and time, with the latest of an id last.

        A prefix limits the objects by their ids; without replies, notes are submissions only.
        """
        only_roots = "" if with_replies or kind is not RawKind.NOTE else "AND object_id = forum_id"
        rows = self._db.cursor().execute(
            f"""
            SELECT {OBJECT}
            FROM objects
            WHERE venue_id = ? AND kind = ? AND substr(object_id, 1, ?) = ? AND {_WITHIN} {only_roots}
            ORDER BY forum_id, object_id, modified_ms, seen
            """,
            (venue_id, kind.value, len(prefix), prefix, *_bounds(span)),
        )
        return map(self._unpack_object, rows)

    def _unpack_object(self, row: tuple[Any, ...]) -> RawObject:
        kind, object_id, api, venue_id, forum_id, subject_id, modified_ms, seen_ms, source, digest, packed = row
        body = unpack_body(self._decompressor, packed, digest)
        if body is None:
            raise DamagedError(
                f"'{self.path}' is damaged: its {kind} '{object_id}' of '{venue_id}' differs from the one received;"
                " run 'peercorpus check --repair' on the workspace."
            )
        # Positional arguments are faster, and this runs for every object read.
        return RawObject(
            _KINDS[kind], object_id, api, venue_id, forum_id, subject_id, modified_ms, seen_ms, source, body
        )

    def latest(
        self,
        kind: RawKind,
        venue_id: str,
        prefix: str = "",
        *,
        with_replies: bool = True,
        span: ForumRange = ALL_FORUMS,
    ) -> Iterator[RawObject]:
        """Yield the latest version of every object of a kind, ordered by forum and id; arguments as in `versions`."""
        latest = None
        for version in self.versions(kind, venue_id, prefix, with_replies=with_replies, span=span):
            if latest is not None and version.object_id != latest.object_id:
                yield latest
            latest = version
        if latest is not None:
            yield latest

    def by_forum(
        self,
        kinds: Iterable[RawKind],
        venue_id: str,
        *,
        earlier: bool = False,
        with_replies: bool = True,
        span: ForumRange = ALL_FORUMS,
    ) -> Iterator[tuple[str, list[RawObject]]]:
        """Yield each forum, ordered by id, with the latest version of its objects of these kinds.

        With `earlier`, every version of each object is included; versions of one are consecutive, with the latest last.
        """
        read = self.versions if earlier else self.latest
        by_forum_id = attrgetter("forum_id")
        of_kinds = (
            groupby(read(kind, venue_id, with_replies=with_replies, span=span), key=by_forum_id) for kind in kinds
        )
        # A group is read before the next one of its kind is requested, as `groupby` requires.
        for forum_id, groups in groupby(merge(*of_kinds, key=itemgetter(0)), key=itemgetter(0)):
            yield forum_id, [found for _, group in groups for found in group]

    def find(self, kind: RawKind, object_id: str) -> RawObject | None:
        """Return the latest version of one object; None if it is not stored."""
        row = self._db.execute(
            f"""
            SELECT {OBJECT}
            FROM objects
            WHERE kind = ? AND object_id = ?
            ORDER BY modified_ms DESC, seen DESC
            LIMIT 1
            """,
            (kind.value, object_id),
        ).fetchone()
        return self._unpack_object(row) if row else None

    def versions_of(self, kind: RawKind, object_ids: Iterable[str]) -> dict[str, list[RawObject]]:
        """Return every version of some objects of a kind, in the order of arrival, by id."""
        among = "object_id IN (SELECT value FROM json_each(?)) ORDER BY object_id, seen"
        sql = f"SELECT {OBJECT} FROM objects WHERE kind = ? AND {among}"
        rows = map(self._unpack_object, self._db.cursor().execute(sql, (kind.value, json.dumps(list(object_ids)))))
        return {object_id: list(versions) for object_id, versions in groupby(rows, key=attrgetter("object_id"))}

    def digest(self, kind: str, venue_id: str) -> str:
        """Return a digest of all versions of a kind of object, in any order of arrival, and of the notes gone."""
        rows = self.questions.rows(
            """
            SELECT venue_id, object_id, digest
            FROM asked
            CROSS JOIN objects INDEXED BY objects_by_forum USING (venue_id)
            WHERE kind = ?
            ORDER BY object_id, digest
            """,
            venue_id,
            kind,
        )
        total = hashlib.sha256()
        for object_id, digest in rows:
            total.update(object_id.encode() + b"\0" + digest)
        if kind == RawKind.NOTE:
            total.update(repr(sorted(self.state.gone(venue_id))).encode())
            if unconfirmed := self.state.unconfirmed(venue_id):
                total.update(repr(sorted(unconfirmed)).encode())
        return total.hexdigest()
