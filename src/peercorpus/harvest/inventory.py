"""What `raw.db` holds of a venue and what it lacks, counted in SQL: no note is decoded."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import zstandard

from peercorpus.harvest.changes import CHANGES
from peercorpus.harvest.history import TASK
from peercorpus.openreview.objects import to_time
from peercorpus.raw import Kind, RawStore

EXAMPLES = 3
"""How many of a kind are named."""

LARGE_BYTES = 1_000_000
"""A note of more JSON than this is named."""

ID_CHARACTERS = 64
"""A longer id is named; OpenReview's own have ten or so."""

FRAME_HEADER_BYTES = 18
"""The longest header of a zstd frame; the size of what it holds stands there (RFC 8878, 3.1.1.1)."""

NOTES = "FROM objects INDEXED BY objects_by_forum WHERE venue_id = ? AND kind = 'note'"


@dataclass(frozen=True, slots=True)
class Named:
    """How many there are, and the first few of them, verbatim."""

    count: int
    examples: Sequence[str]


@dataclass(frozen=True, slots=True)
class List:
    """One list of submissions.

    Attributes:
        expected: How many OpenReview announced; None where it did not say.
    """

    invitation: str
    received: int
    expected: int | None
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Inventory:
    """What is held of a venue as received, and what is missing.

    Attributes:
        is_listed: Whether its lists were read to their end; None where it was never harvested.
        last_seen_at: When a list last showed one of its submissions, or OpenReview was last asked what had changed;
            None where neither ever was, or the clock was set wrong.
        gone: Notes that OpenReview shows no longer.
        files_not_had: Files that could not be had, by cause; a path counts once.
        edits_left: Notes whose edits are still to be asked for.
        edits_not_had: Notes whose edits could not be had, by cause.
        odd_ids: Notes whose id is not made of letters, digits, `-` and `_`.
        large_notes: Ids of notes of more than `LARGE_BYTES`.
    """

    api: int | None
    is_listed: bool | None
    lists: Sequence[List]
    last_seen_at: datetime | None
    gone: int
    files_not_had: Mapping[str, int]
    edits_left: int
    edits_not_had: Mapping[str, int]
    odd_ids: Named
    large_notes: Named

    @property
    def received(self) -> int:
        """Submissions its lists gave."""
        return sum(one.received for one in self.lists)

    @property
    def expected(self) -> int | None:
        """Submissions OpenReview announced; None where it did not say so of every list."""
        counts = [one.expected for one in self.lists if one.expected is not None]
        return sum(counts) if counts and len(counts) == len(self.lists) else None


def take_inventory(raw: RawStore, venue_id: str) -> Inventory:
    """Count what is held of a venue."""
    causes = (
        "SELECT problem, count(DISTINCT path) FROM files WHERE venue_id = ? AND problem IS NOT NULL GROUP BY problem"
    )
    refused = (
        "SELECT problem, count(*) FROM queue WHERE venue_id = ? AND task = ? AND done AND problem IS NOT NULL"
        " GROUP BY problem"
    )
    return Inventory(
        api=_api(raw, venue_id),
        is_listed=raw.is_listed(venue_id),
        lists=_lists(raw, venue_id),
        last_seen_at=_last_seen_at(raw, venue_id),
        gone=len(raw.gone(venue_id)),
        files_not_had=dict(raw.select(causes, venue_id)),
        edits_left=len(raw.pending(venue_id, TASK)),
        edits_not_had=dict(raw.select(refused, venue_id, TASK)),
        odd_ids=_odd_ids(raw, venue_id),
        large_notes=_large_notes(raw, venue_id),
    )


def _api(raw: RawStore, venue_id: str) -> int | None:
    sql = "SELECT api FROM objects WHERE venue_id = ? AND kind = 'note' LIMIT 1"
    return next((api for (api,) in raw.select(sql, venue_id)), None)


def _lists(raw: RawStore, venue_id: str) -> list[List]:
    # What else is remembered as a listing is not named as an invitation is.
    sql = (
        "SELECT listing, received, expected, complete FROM listings"
        " WHERE venue_id = ? AND listing GLOB '*/-/*' AND listing NOT GLOB '* *' ORDER BY listing"
    )
    return [List(name, received, expected, bool(done)) for name, received, expected, done in raw.select(sql, venue_id)]


def _last_seen_at(raw: RawStore, venue_id: str) -> datetime | None:
    sql = (
        "SELECT max(own.shown_ms) FROM objects AS note INDEXED BY objects_by_forum"
        " CROSS JOIN sightings AS own USING (object_id)"
        " WHERE note.venue_id = ? AND note.kind = 'note' AND note.forum_id = note.object_id"
    )
    ((shown_ms,),) = raw.select(sql, venue_id)
    # A clock that was set wrong may have written a time that no calendar holds.
    with suppress(ValueError, OverflowError):
        return to_time(max(shown_ms or 0, raw.listing(venue_id, CHANGES).started_ms) or None)
    return None


def _odd_ids(raw: RawStore, venue_id: str) -> Named:
    odd = f"{NOTES} AND (object_id GLOB '*[^A-Za-z0-9_-]*' OR length(object_id) NOT BETWEEN 1 AND {ID_CHARACTERS})"
    ((count,),) = raw.select(f"SELECT count(DISTINCT object_id) {odd}", venue_id)
    first = raw.select(f"SELECT DISTINCT object_id {odd} ORDER BY object_id LIMIT {EXAMPLES}", venue_id)
    return Named(count, [note_id for (note_id,) in first])


def _large_notes(raw: RawStore, venue_id: str) -> Named:
    sql = f"SELECT object_id, substr(body, 1, {FRAME_HEADER_BYTES}) FROM objects WHERE venue_id = ? AND kind = ?"
    found = raw.select(sql, venue_id, Kind.NOTE.value)
    large = {note_id for note_id, header in found if zstandard.frame_content_size(header) > LARGE_BYTES}
    return Named(len(large), sorted(large)[:EXAMPLES])
