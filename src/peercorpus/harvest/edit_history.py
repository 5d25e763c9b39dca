"""Fetch earlier versions of notes: API v1 references, API v2 edits.

The rate limit allows few requests, so they are spent on submissions whose PDF may have changed and on reviews that were
changed individually. For every other group only the edits of the first `TRIED` notes are requested; the rest follow
only if one of these edits has content. If many notes of an API v2 venue are left, the list of all its edits is read
instead (`venue_edits`), with the same result.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from peercorpus.errors import BusyError, NotGivenError
from peercorpus.harvest.session import VenueSession
from peercorpus.harvest.submissions import is_review
from peercorpus.harvest.venue_edits import TASK, forget_list, is_worth_a_list, note_id_of, read_venue_edits
from peercorpus.openreview.listing import fetch_edits, fetch_references
from peercorpus.openreview.objects import Edit, Note, decode_leniently, invitation_name
from peercorpus.openreview.raw_rows import build_edit, build_note, receive
from peercorpus.workspace.raw_store import RawKind, RawObject

HOUR_MS = 3_600_000
TRIED = 5
"""Number of notes tried first in groups that rarely have earlier versions."""
PLAIN = frozenset(
    {"Post_Submission", "Edit", "Withdrawn_Submission", "Desk_Rejected_Submission", "Rejected_Submission"}
)
"""Invitations that advance an API v2 paper without touching its PDF."""


@dataclass(slots=True)
class Notes:
    """Notes that may have earlier versions to request, as queue entries `<note id> <time of last modification>`.

    Attributes:
        papers: Submissions whose PDF may have changed.
        plain: Submissions of API v2 touched only by the venue's own steps.
        reviews: Reviews that were changed individually.
        released: Reviews last changed in the hour in which most reviews were changed, presumably when the venue
            released them.
    """

    papers: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    released: list[str] = field(default_factory=list)


def harvest_history(session: VenueSession) -> None:
    """Fetch the versions that are still missing."""
    _place_edits(session)
    notes = notes_with_history(session)
    if session.refresh:
        with session.raw.transaction():
            session.raw.state.reopen(session.venue_id, TASK)
            forget_list(session)
    steps = (("edits of submissions", notes.papers, notes.plain), ("edits of replies", notes.reviews, notes.released))
    candidates = {entry for _, needed, tried in steps for entry in (*needed, *tried)}
    with session.raw.transaction():
        # A note that changed again is requested once, in its current state.
        session.raw.state.unqueue(TASK, set(session.raw.state.pending(session.venue_id, TASK)) - candidates)
    _read_lists(session, steps)
    for what, needed, tried in steps:
        _enqueue(session, [*needed, *tried[:TRIED]])
        _fetch_queued(session, what, {*needed, *tried})
        if len(tried) > TRIED and _shows_edits(session, tried[:TRIED]):
            _enqueue(session, tried)
            _fetch_queued(session, what, tried)


def _place_edits(session: VenueSession) -> None:
    """Assign the forums of their notes to edits that arrived before them."""
    sql = """
        SELECT EXISTS (
            SELECT 1
            FROM objects AS edit
            JOIN objects AS note ON note.kind = 'note' AND note.object_id = edit.subject_id
            WHERE edit.venue_id = ? AND edit.kind = 'edit' AND note.forum_id <> edit.forum_id
        )
    """
    ((is_misplaced,),) = session.raw.select(sql, session.venue_id)
    if is_misplaced:
        session.raw.place()


def _read_lists(session: VenueSession, steps: Sequence[tuple[str, list[str], list[str]]]) -> None:
    """Read the list of the venue's edits if many notes are left, and again for notes that changed meanwhile."""
    for _ in range(2):
        _enqueue(session, [entry for _, needed, tried in steps for entry in (*needed, *tried[:TRIED])])
        if not is_worth_a_list(session, len(session.raw.state.pending(session.venue_id, TASK))):
            return
        for what, _, tried in steps:
            _fetch_queued(session, what, tried[:TRIED])
            if len(tried) > TRIED and _shows_edits(session, tried[:TRIED]):
                _enqueue(session, tried)
        if not read_venue_edits(session, lambda entries: _fetch_queued(session, "edits of notes", entries)):
            return


def _enqueue(session: VenueSession, entries: Sequence[str]) -> None:
    with session.raw.transaction():
        session.raw.state.enqueue(session.venue_id, TASK, entries)


def notes_with_history(session: VenueSession) -> Notes:
    """Return the notes of a venue that may have versions to request."""
    notes = Notes()
    changed = []
    for stored in session.raw.latest(RawKind.NOTE, session.venue_id):
        note = decode_leniently(Note, stored.body)
        entry = f"{stored.object_id} {stored.modified_ms}"
        if stored.object_id == stored.forum_id:
            (notes.plain if session.api == 2 and _is_plain(session, note) else notes.papers).append(entry)
        elif (note.modified_ms or 0) > (note.created_ms or 0) + HOUR_MS and is_review(session, note):
            changed.append((stored.modified_ms, entry))
    released_ms = _find_release(sorted(modified_ms for modified_ms, _ in changed)) if session.api == 2 else None
    for modified_ms, entry in changed:
        is_release = released_ms is not None and released_ms <= modified_ms < released_ms + HOUR_MS
        (notes.released if is_release else notes.reviews).append(entry)
    return notes


def _find_release(times_ms: Sequence[int]) -> int | None:
    """Return the start of the hour in which most reviews last changed; None if no hour has more than a few."""
    best = None
    most = TRIED
    end = 0
    for start, time_ms in enumerate(times_ms):
        while end < len(times_ms) and times_ms[end] < time_ms + HOUR_MS:
            end += 1
        if end - start > most:
            best = time_ms
            most = end - start
    return best


def _is_plain(session: VenueSession, note: Note) -> bool:
    return all(
        invitation in session.profile.lists
        or (invitation.startswith(f"{session.venue_id}/-/") and invitation_name(invitation) in PLAIN)
        for invitation in note.invitations or ()
    )


def _shows_edits(session: VenueSession, tried: list[str]) -> bool:
    """Return whether any edit of these notes has content; an edit that only releases a note just names its readers."""
    note_ids = {note_id_of(entry) for entry in tried}
    edits = (edit for edit in session.raw.latest(RawKind.EDIT, session.venue_id) if edit.subject_id in note_ids)
    return any(decode_leniently(Edit, edit.body).note.content for edit in edits)


def _fetch_queued(session: VenueSession, what: str, wanted: Collection[str]) -> None:
    """Fetch the edits of the queued ones among some notes, with one request per note."""
    failed = session.setbacks.failed
    chosen = set(wanted)
    queued = (entry for entry in session.raw.state.pending(session.venue_id, TASK) if entry in chosen)
    entries = sorted(queued, key=lambda entry: entry in failed)
    meter = session.meter(what, 0, len(entries), "/references" if session.api == 1 else "/notes/edits")
    for entry in entries:
        note = session.raw.find(RawKind.NOTE, note_id_of(entry))
        try:
            rows = [] if note is None else list(_fetch(session, note))
            problem = None
        except NotGivenError as error:
            rows = []
            problem = error.reason
        except BusyError as error:
            session.setbacks.count(error, entry)
            continue
        session.setbacks.reset()
        with session.raw.transaction():
            session.raw.add(rows)
            session.raw.state.mark_done(TASK, entry, problem)
        meter.advance()


def _fetch(session: VenueSession, note: RawObject) -> Iterator[RawObject]:
    fetch, build = (fetch_references, build_note) if session.api == 1 else (fetch_edits, build_edit)
    for source, item in fetch(session.client, note.object_id):
        row = receive(item, session.origin(source), build)
        yield row._replace(subject_id=note.object_id, forum_id=note.forum_id)
