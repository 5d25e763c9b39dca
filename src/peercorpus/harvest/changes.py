"""What changed since a venue was listed to its end: a few requests, or where they cannot say, all of it once more."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from peercorpus.errands import Listing
from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError
from peercorpus.harvest.rows import build_note
from peercorpus.harvest.submissions import harvest_submissions
from peercorpus.harvest.visit import Visit
from peercorpus.openreview.jsontext import compact
from peercorpus.openreview.listing import count_notes, fetch_changes
from peercorpus.openreview.objects import Note, salvage
from peercorpus.raw import RawObject

CHANGES = "changes"
"""What the state of this step is kept under, beside the lists: its `expected` is how many notes were shown in all."""

OVERLAP_MS = 3 * 3_600_000
"""How much further back it asks: a note may have changed behind a listing that took hours."""


@dataclass(slots=True)
class _Seen:
    """The ids of what was received.

    Attributes:
        gone: Notes that vanished before; one that is there again counts as new.
        shown: Notes that are there.
        roots: Submissions that no listing showed before.
        replies: Replies that none showed before.
        deleted: Notes that were shown before, and are deleted now.
        strangers: Notes that no list of the venue shows; whether they were counted before is not known.
    """

    gone: frozenset[str]

    shown: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    replies: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    strangers: set[str] = field(default_factory=set)


def harvest_changes(visit: Visit) -> None:
    """Fetch what is new, changed or deleted at a venue whose lists were read to their end before.

    Everything modified since is asked for, then the deleted notes, then how many notes there are in all. If the latest
    note held is not among them (OpenReview then does not answer this question), if a submission is new, if there is a
    note that no list shows, or if the count says that notes vanished, the lists are read again.

    Raises:
        EmptyVenueError: As `harvest_submissions`.
    """
    began_ms = visit.moment_ms()
    there_are = _take_changes(visit)
    if there_are is None:
        with visit.raw.transaction():
            visit.raw.forget_listings(visit.venue_id)
        harvest_submissions(visit)
        there_are = _count(visit)
    with visit.raw.transaction():
        state = Listing(None, 0, there_are, complete=True, started_ms=began_ms)
        visit.raw.set_listing(visit.venue_id, CHANGES, state)


def _take_changes(visit: Visit) -> int | None:
    """Store what changed, and give how many notes there are; None where the lists must be read again."""
    newest, seen = visit.raw.newest_shown(visit.venue_id), _Seen(frozenset(visit.raw.gone(visit.venue_id)))
    newest_ms = newest[1] if newest else 0
    before = visit.raw.listing(visit.venue_id, CHANGES).expected
    before = visit.raw.count_shown(visit.venue_id) if before is None else before
    try:
        for rows in _fetch(visit, newest_ms, deleted=False):
            _take_page(visit, rows, seen)
        with suppress(NotGivenError):
            # Where the deleted notes are not told, the count still says that some are missing.
            for rows in _fetch(visit, newest_ms, deleted=True):
                _take_page(visit, rows, seen)
    except (BusyError, SignInError):
        raise
    except SourceError:
        return None
    there_are = _count(visit)
    with visit.raw.transaction():
        # A submission counts as shown only together with all its replies: those that are not shown with it are gone.
        visit.raw.sight(seen.replies, visit.moment_ms())
        visit.raw.unsight(seen.deleted)
    is_answer = newest is not None and newest[0] in seen.shown | seen.deleted
    is_whole = there_are == before + len(seen.replies) - len(seen.deleted)
    return there_are if is_answer and is_whole and not seen.roots and not seen.strangers else None


def _count(visit: Visit) -> int | None:
    """How many notes of the venue are shown; None where OpenReview does not answer this question."""
    try:
        return count_notes(visit.client, visit.api, visit.venue_id)
    except (BusyError, SignInError):
        raise
    except SourceError:
        return None


def _fetch(visit: Visit, newest_ms: int, *, deleted: bool) -> Iterator[list[RawObject]]:
    """Pages of notes modified since the last look, by OpenReview's clock as far as that is known."""
    looked = visit.raw.listing(visit.venue_id, CHANGES).started_ms
    listed = (visit.raw.listing(visit.venue_id, name).started_ms for name in visit.profile.lists)
    since_ms = max(0, min(newest_ms, looked or min(listed, default=0)) - OVERLAP_MS)
    for page in fetch_changes(visit.client, visit.api, visit.venue_id, since_ms, deleted=deleted):
        yield [build_note(compact(item), visit.origin(page.source)) for item in page.items]


def _take_page(visit: Visit, rows: list[RawObject], seen: _Seen) -> None:
    kept = []
    for row in rows:
        note = salvage(Note, row.body)
        was_shown = row.object_id not in seen.gone and visit.raw.shown_ms(row.object_id) > 0
        if note.ddate is not None:
            # Whether OpenReview gives the deleted notes alone, or with all others, its documents do not say.
            if was_shown:
                kept.append(row)
                seen.deleted.add(row.object_id)
        elif was_shown or _is_listed(visit, row, note):
            kept.append(row)
            seen.shown.add(row.object_id)
            if not was_shown:
                (seen.roots if row.object_id == row.forum_id else seen.replies).add(row.object_id)
        else:
            seen.strangers.add(row.object_id)
    with visit.raw.transaction():
        visit.raw.add(kept)


def _is_listed(visit: Visit, row: RawObject, note: Note) -> bool:
    """Whether a note is what the lists of the venue show: one of their submissions, or a reply to one."""
    if row.object_id != row.forum_id:
        return visit.raw.shown_ms(row.forum_id) > 0
    return not {note.invitation, *(note.invitations or ())}.isdisjoint(visit.profile.lists)
