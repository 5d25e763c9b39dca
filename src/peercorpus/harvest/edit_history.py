"""Fetch earlier versions of notes: API v1 references, API v2 edits.

The rate limit allows few requests, so they are spent on submissions whose PDF may have changed and on reviews that were
changed one at a time. Of each other group only the edits of the first `TRIED` notes are requested; those of the rest
follow only if one of these edits has content.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from peercorpus.errors import BusyError, NotGivenError
from peercorpus.harvest.raw_rows import build_edit, build_note
from peercorpus.harvest.session import VenueSession
from peercorpus.harvest.submissions import is_review
from peercorpus.openreview.listing import fetch_edits, fetch_references
from peercorpus.openreview.objects import Edit, Note, decode_leniently, invitation_name
from peercorpus.openreview.response_body import compact
from peercorpus.workspace.raw_store import RawKind, RawObject

TASK = "versions"
HOUR_MS = 3_600_000
TRIED = 5
"""Number of notes tried first in groups that rarely have versions of their own."""
PLAIN = frozenset(
    {"Post_Submission", "Edit", "Withdrawn_Submission", "Desk_Rejected_Submission", "Rejected_Submission"}
)
"""Invitations that move an API v2 paper on without touching its PDF."""


@dataclass(slots=True)
class Notes:
    """Notes that may have earlier versions to request, as queue entries `<note id> <time of last modification>`.

    Attributes:
        papers: Submissions whose PDF may have changed.
        plain: Submissions of API v2 touched only by the venue's own steps.
        reviews: Reviews that were changed one at a time.
        released: Reviews last changed in the hour in which most reviews were, presumably because the venue released
            them then.
    """

    papers: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    released: list[str] = field(default_factory=list)


def harvest_history(session: VenueSession) -> None:
    """Fetch the versions that are still missing."""
    notes = notes_with_history(session)
    if session.refresh:
        with session.raw.transaction():
            session.raw.state.reopen(session.venue_id, TASK)
    candidates = {*notes.papers, *notes.plain, *notes.reviews, *notes.released}
    with session.raw.transaction():
        # A note that changed again is asked for once, as it is now.
        session.raw.state.unqueue(TASK, set(session.raw.state.pending(session.venue_id, TASK)) - candidates)
    for asked, tried, what in (
        (notes.papers, notes.plain, "edits of submissions"),
        (notes.reviews, notes.released, "edits of replies"),
    ):
        with session.raw.transaction():
            session.raw.state.enqueue(session.venue_id, TASK, [*asked, *tried[:TRIED]])
        _fetch_queued(session, what)
        if len(tried) > TRIED and _shows_edits(session, tried[:TRIED]):
            with session.raw.transaction():
                session.raw.state.enqueue(session.venue_id, TASK, tried)
            _fetch_queued(session, what)


def notes_with_history(session: VenueSession) -> Notes:
    """Return the notes of a venue that may have versions to request."""
    notes = Notes()
    changed = []
    for stored in session.raw.latest(RawKind.NOTE, session.venue_id):
        note = decode_leniently(Note, stored.body)
        entry = f"{stored.object_id} {stored.modified_ms}"
        if stored.object_id == stored.forum_id:
            (notes.plain if session.api == 2 and _is_plain(session, note) else notes.papers).append(entry)
        elif is_review(session, note.created_by) and _was_changed(note):
            changed.append((stored.modified_ms, entry))
    released_ms = _find_release(sorted(modified_ms for modified_ms, _ in changed)) if session.api == 2 else None
    for modified_ms, entry in changed:
        is_release = released_ms is not None and released_ms <= modified_ms < released_ms + HOUR_MS
        (notes.released if is_release else notes.reviews).append(entry)
    return notes


def _find_release(times_ms: Sequence[int]) -> int | None:
    """Return when the hour begins in which most reviews last changed; None if there are only a few in any hour."""
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


def _was_changed(note: Note) -> bool:
    return (note.modified_ms or 0) > (note.created_ms or 0) + HOUR_MS


def _shows_edits(session: VenueSession, tried: list[str]) -> bool:
    """Return whether any edit of these notes has content; one that releases a note only names its readers."""
    note_ids = {_note_id(entry) for entry in tried}
    edits = (edit for edit in session.raw.latest(RawKind.EDIT, session.venue_id) if edit.subject_id in note_ids)
    return any(decode_leniently(Edit, edit.body).note.content for edit in edits)


def _note_id(entry: str) -> str:
    # An id that OpenReview did not make may hold spaces.
    return entry.rpartition(" ")[0]


def _fetch_queued(session: VenueSession, what: str) -> None:
    failed = session.setbacks.failed
    entries = sorted(session.raw.state.pending(session.venue_id, TASK), key=lambda entry: entry in failed)
    meter = session.meter(what, 0, len(entries), "/references" if session.api == 1 else "/notes/edits")
    for entry in entries:
        note = session.raw.find(RawKind.NOTE, _note_id(entry))
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
        row = build(compact(item), session.origin(source))
        yield row._replace(subject_id=note.object_id, forum_id=note.forum_id)
