"""Read the edits of an API v2 venue as one list, with a thousand per request instead of one request per note.

The list is first read to the end, in order of id; later readings begin with the latest edit and stop at those read
before. The edits of notes that are queued when the reading begins are stored, as if each had been requested
individually, and so are those of notes missing from the workspace. The list is not trusted: its venue, order and count
are checked, and the edits of a few notes are requested individually. If a check fails, those of every note are.
"""

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import msgspec

from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError
from peercorpus.harvest.session import VenueSession
from peercorpus.openreview import listing
from peercorpus.openreview.listing import LATEST_FIRST, ListPage, fetch_venue_edits, probe_venue_edits
from peercorpus.openreview.objects import Note, decode_leniently, venue_of_edit
from peercorpus.openreview.raw_rows import build_edit, receive
from peercorpus.workspace.harvest_state import EDITS, Listing
from peercorpus.workspace.raw_store import RawKind, RawObject

TASK = "versions"
"""Name of the queue of notes whose edits are to be fetched, with entries `<note id> <time of last modification>`."""

LIST = "list of edits"
"""Name of the queue of lists of edits, by venue. A reading covers the notes queued before its list was."""

UNDER_WAY, UNDER_WAY_AGAIN = f"{EDITS}, under way", f"{EDITS}, under way again"
"""Listings that record how far a list has been read, or read again because it was shorter than its count."""

LATEST = f"{EDITS}, latest"
"""Listing whose `after` is the time of the latest edit when the reading began, later copied to `EDITS`."""

CHECKED = 5
"""Number of notes with edits in the list, and of notes without, that are requested individually to check it."""

FEW = 2 * CHECKED
"""Number of notes up to which individual requests cost no more than the list and its check."""

OVERLAP_MS = 600_000
"""How much later than the preceding edit an edit in the list may be, in milliseconds."""

MOST_OTHERS = 10
"""A page is refused if more than one in this many edits belongs to another venue."""

DAY_MS = 86_400_000

Ask = Callable[[Sequence[str]], None]
"""Requests the edits of queued notes one by one."""


class Mode(NamedTuple):
    """How the list is read.

    Attributes:
        sort: Order of the list, as OpenReview names it.
        since_ms: Time of the oldest edit wanted, milliseconds since the epoch; 0 means all.
    """

    sort: str
    since_ms: int


WHOLE = Mode("id", 0)


def note_id_of(entry: str) -> str:
    """Return the note of a queue entry."""
    # An id not created by OpenReview may contain spaces.
    return entry.rpartition(" ")[0]


def find_refusal(session: VenueSession) -> str | None:
    """Return why the list of a venue's edits cannot be used; None if it can, or was never requested."""
    return next(iter(session.raw.state.answers(session.venue_id, LIST)), None)


def is_worth_a_list(session: VenueSession, notes: int) -> bool:
    """Return whether to try the list for a number of notes: for a whole API v2 venue, unless it is unusable."""
    return session.api == 2 and session.limit is None and notes > FEW and find_refusal(session) is None


def count_requests(edits: int) -> int:
    """Return the number of requests for a list of edits of a given length: pages, probe, count and check.

    >>> count_requests(11_672)
    24
    """
    return -(-edits // listing.LARGEST_PAGE) + 2 + 2 * CHECKED


def plan_list(session: VenueSession, entries: Collection[str]) -> int:
    """Return the number of requests for reading the list; a lower bound if it was read before.

    The notes wanted are queue entries; there are none before the venue is listed.

    Raises:
        NotGivenError: OpenReview refuses the list.
    """
    probe = _probe(session)
    under_way = session.raw.state.listing(session.venue_id, UNDER_WAY)
    mode = _mode(session)
    edits = 1 if mode != WHOLE or probe.expected is None else max(0, probe.expected - under_way.received)
    return count_requests(edits) + len(_never_asked(session, mode, entries))


def read_venue_edits(session: VenueSession, ask: Ask) -> bool:
    """Read the list of a venue's edits, store those of the queued notes, and mark these notes as done.

    Notes for which the list is not conclusive stay queued: all of them, if OpenReview refuses the list or a check of it
    fails, which is recorded. An interrupted reading is resumed where it stopped.

    Returns:
        Whether the list was read and found correct.

    Raises:
        BusyError: OpenReview asks to wait, or does not respond to requests for single notes either.
        SignInError: A token is needed, or was refused.
    """
    try:
        mode = _read_to_end(session)
        if mode is not None:
            _settle(session, mode, ask)
    except (BusyError, SignInError):
        raise
    except SourceError as error:
        _give_up(session, error.reason if isinstance(error, NotGivenError) else "no list of edits")
        return False
    return mode is not None


def _unusable(session: VenueSession, reason: str) -> NotGivenError:
    return NotGivenError(f"OpenReview's list of the edits of '{session.venue_id}' cannot be used: {reason}.", reason)


def _give_up(session: VenueSession, reason: str) -> None:
    """Record why the list cannot be used; edits already received stay."""
    with session.raw.transaction():
        _forget_reading(session)
        session.raw.state.enqueue(session.venue_id, LIST, [session.venue_id])
        session.raw.state.mark_done(LIST, session.venue_id, reason)


def _forget_reading(session: VenueSession) -> None:
    for name in (UNDER_WAY, UNDER_WAY_AGAIN, LATEST):
        session.raw.state.forget_listings(session.venue_id, name)
    session.raw.state.forget_sighted_edits(session.venue_id)
    session.raw.state.unqueue(LIST, [session.venue_id])


def forget_list(session: VenueSession) -> None:
    """Delete the list's progress, and the reason why it could not be used, so that it is tried again."""
    session.raw.state.reopen(session.venue_id, LIST)
    session.raw.state.forget_listings(session.venue_id, EDITS)
    _forget_reading(session)


def _begin(session: VenueSession) -> Mode | None:
    """Return how to read the list, resumed or begun now; None if it is too long to be worthwhile."""
    state, venue_id = session.raw.state, session.venue_id
    if state.listing(venue_id, UNDER_WAY).started_ms:
        return _mode(session)
    pending = state.pending(venue_id, TASK)
    mode = _mode(session)
    singly = len(_never_asked(session, mode, pending))
    if mode != WHOLE and len(pending) - singly <= FEW and singly <= FEW:
        return None
    probe = _probe(session)
    cost = count_requests(probe.expected or 0)
    if mode != WHOLE and singly > cost:
        mode = WHOLE
    if len(pending) - (0 if mode == WHOLE else singly) < (cost if mode == WHOLE else FEW):
        return None
    started_ms = session.moment_ms()
    latest_ms = min(_build(session, probe)[0].modified_ms, started_ms + DAY_MS)
    with session.raw.transaction():
        if mode == WHOLE:
            state.forget_listings(venue_id, EDITS)
        _forget_reading(session)
        state.enqueue(venue_id, LIST, [venue_id])
        state.set_listing(venue_id, LATEST, Listing(str(latest_ms), 0, None, complete=True))
        state.set_listing(venue_id, UNDER_WAY, Listing(None, 0, probe.expected, complete=False, started_ms=started_ms))
    return mode


def _probe(session: VenueSession) -> ListPage:
    """Return the latest edit of the venue, and the number of all edits."""
    probe = probe_venue_edits(session.client, session.venue_id)
    if not probe.items:
        raise _unusable(session, "an empty list of edits")
    return probe


def _mode(session: VenueSession) -> Mode:
    """Return how to read the list, depending on whether it was read to the end before."""
    before = session.raw.state.listing(session.venue_id, EDITS)
    since_ms = int(before.after or 0) - OVERLAP_MS if before.complete else 0
    return Mode(LATEST_FIRST, since_ms) if since_ms > 0 else WHOLE


def _never_asked(session: VenueSession, mode: Mode, entries: Collection[str]) -> set[str]:
    """Return the queued notes that may have edits older than those that the list is read for."""
    if mode == WHOLE:
        return set()
    requested = {note_id_of(entry) for entry in session.raw.state.done(session.venue_id, TASK)}
    return {
        entry for entry in entries if note_id_of(entry) not in requested and _created_ms(session, entry) < mode.since_ms
    }


def _created_ms(session: VenueSession, entry: str) -> int:
    note = session.raw.find(RawKind.NOTE, note_id_of(entry))
    return 0 if note is None else decode_leniently(Note, note.body).created_ms or 0


def _read_to_end(session: VenueSession) -> Mode | None:
    """Read the list, and read it again if it was shorter than its count."""
    try:
        mode = _begin(session)
        for name in (UNDER_WAY, UNDER_WAY_AGAIN):
            if mode is not None:
                _read_list(session, mode, name)
            if mode is None or mode != WHOLE or _is_whole(session):
                return mode
    except BusyError as error:
        if error.wait_s is not None:
            raise
        return None
    raise _unusable(session, "fewer edits than it counts")


def _is_whole(session: VenueSession) -> bool:
    """Return whether the list has shown as many edits as OpenReview counts now."""
    there_are = probe_venue_edits(session.client, session.venue_id).expected
    return there_are is None or session.raw.state.count_sighted_edits(session.venue_id) >= there_are


def _read_list(session: VenueSession, mode: Mode, name: str) -> None:
    """Read the rest of the list page by page, each stored in one transaction with the progress."""
    state = session.raw.state.listing(session.venue_id, name)
    if not state.started_ms:
        state = replace(state, started_ms=session.moment_ms())
    wanted = {note_id_of(entry) for entry in _entries(session)}
    meter = session.meter("edits of the venue", state.received, state.expected, listing.EDITS, listing.LARGEST_PAGE)
    while not state.complete:
        page = fetch_venue_edits(session.client, session.venue_id, state, sort=mode.sort)
        rows = _build(session, page)
        _check_order(session, rows, mode)
        kept = list(_place(session, rows, wanted))
        with session.raw.transaction():
            session.raw.add(kept)
            new = session.raw.state.sight_edits(session.venue_id, (row.object_id for row in rows), state.started_ms)
            if not new and len(rows) >= listing.LARGEST_PAGE:
                raise _unusable(session, "the same edits again")
            state = _next(state, page, rows, new, mode)
            session.raw.state.set_listing(session.venue_id, name, state)
        meter.advance(len(rows), page.expected)


def _next(state: Listing, page: ListPage, rows: Sequence[RawObject], new: int, mode: Mode) -> Listing:
    received = state.received + new
    oldest_ms = next(reversed(_read_times(rows)), mode.since_ms)
    is_last = page.is_last or not new or received == page.expected or oldest_ms < mode.since_ms
    return replace(state, after=page.after, received=received, expected=page.expected, complete=is_last)


def _entries(session: VenueSession) -> list[str]:
    """Return the queued notes that the reading covers: those queued before it began."""
    return session.raw.state.pending_before(session.venue_id, TASK, (LIST, session.venue_id))


def _build(session: VenueSession, page: ListPage) -> list[RawObject]:
    return [receive(item, session.origin(page.source), build_edit) for item in page.items]


def _check_order(session: VenueSession, rows: Sequence[RawObject], mode: Mode) -> None:
    """Check that the latest edits come first if that order was requested."""
    if mode != WHOLE and any(earlier < later for earlier, later in pairwise(_read_times(rows))):
        raise _unusable(session, "not the latest edits first")


def _read_times(rows: Sequence[RawObject]) -> list[int]:
    """Return when the edits of a page were last modified; an unreadable one may have no time."""
    return [row.modified_ms for row in rows if row.modified_ms or row.kind is not RawKind.UNREADABLE]


def _place(session: VenueSession, rows: Sequence[RawObject], wanted: Set[str]) -> Iterator[RawObject]:
    """Yield the edits of a page to store, each with the venue and forum of its note.

    Edits of the venue's notes that are not wanted are left out. An edit of an unknown note keeps its own venue and
    forum, and the stage that reads versions sets it aside.
    """
    places = _find_places(session, {row.subject_id for row in rows})
    others = 0
    for row in rows:
        venue_id, forum_id = places.get(row.subject_id, (venue_of_edit(row.body), row.forum_id))
        others += venue_id not in {None, session.venue_id}
        if others > max(1, len(rows) // MOST_OTHERS):
            raise _unusable(session, "edits of other venues")
        if row.subject_id not in places:
            yield row
        elif row.subject_id in wanted or venue_id != session.venue_id:
            yield row._replace(venue_id=venue_id or row.venue_id, forum_id=forum_id)


def _find_places(session: VenueSession, note_ids: Set[str]) -> dict[str, tuple[str, str]]:
    """Return the venue and forum of the stored ones among some notes."""
    rows = session.raw.select(
        "SELECT DISTINCT object_id, venue_id, forum_id FROM objects"
        " WHERE kind = 'note' AND object_id IN (SELECT value FROM json_each(?))",
        msgspec.json.encode(sorted(note_ids)).decode(),
    )
    return {note_id: (venue_id, forum_id) for note_id, venue_id, forum_id in rows}


def _settle(session: VenueSession, mode: Mode, ask: Ask) -> None:
    """Mark as done the notes whose edits are all in the list, after requesting those of a few individually."""
    state, venue_id = session.raw.state, session.venue_id
    entries = _entries(session)
    unsure = _never_asked(session, mode, entries)
    lacking = state.edited_notes(venue_id, sighted=False, since_ms=mode.since_ms)
    shown = state.edited_notes(venue_id, sighted=True)
    lost = [entry for entry in entries if note_id_of(entry) in lacking]
    sure = [entry for entry in entries if entry not in unsure and note_id_of(entry) not in lacking]
    unchanged = [entry for entry in sure if note_id_of(entry) in shown]
    silent = [entry for entry in sure if note_id_of(entry) not in shown]
    requested = [*lost, *unchanged[:CHECKED], *silent[:CHECKED]]
    ask(requested)
    if _lacks_edits(session, mode):
        raise _unusable(session, "edits missing from the list")
    latest = state.listing(venue_id, LATEST)
    with session.raw.transaction():
        for entry in set(sure).difference(requested):
            state.mark_done(TASK, entry)
        _forget_reading(session)
        state.set_listing(venue_id, EDITS, latest)


def _lacks_edits(session: VenueSession, mode: Mode) -> bool:
    """Return whether notes requested individually since the reading began have edits that were missing from the list.

    Edits made during the reading may have been too late for it.
    """
    state, venue_id = session.raw.state, session.venue_id
    until_ms = int(state.listing(venue_id, LATEST).after or 0) - OVERLAP_MS
    rows = session.raw.select(
        """
        SELECT EXISTS (
            SELECT 1
            FROM objects
            WHERE venue_id = ? AND kind = 'edit' AND seen_ms >= ? AND modified_ms BETWEEN ? AND ?
              AND NOT EXISTS (SELECT 1 FROM sightings WHERE sightings.object_id = ? || objects.object_id)
        )
        """,
        venue_id,
        state.listing(venue_id, UNDER_WAY).started_ms,
        mode.since_ms,
        until_ms,
        f"{EDITS} {venue_id} ",
    )
    ((lacks,),) = rows
    return bool(lacks)
