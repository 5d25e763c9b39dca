"""The earlier versions of papers and reviews: API v1's references and API v2's edits, one request a note.

Papers of API v1 are all asked for: only their references say what was submitted. Papers of API v2 are asked for where
their `invitations` name one that may have changed the PDF; of the rest (posted and released, nothing more) a few are
tried, and all of them only where a venue shows those edits to the public, as journals do. A request budget of some
hundreds an hour allows no more. Reviews are asked for where they changed more than an hour after they were posted; but
the release of a venue's reviews is such a change of all of them within an hour, so of that hour too a few are tried.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from peercorpus.errors import BusyError, NotGivenError
from peercorpus.harvest.rows import build_edit, build_note
from peercorpus.harvest.submissions import is_review
from peercorpus.harvest.visit import Visit
from peercorpus.openreview.jsontext import compact
from peercorpus.openreview.listing import fetch_edits, fetch_references
from peercorpus.openreview.objects import Edit, Note, salvage, tail_of
from peercorpus.raw import Kind, RawObject

TASK = "versions"
HOUR_MS = 3_600_000
TRIED = 5
PLAIN = frozenset(
    {"Post_Submission", "Edit", "Withdrawn_Submission", "Desk_Rejected_Submission", "Rejected_Submission"}
)
"""What moves an API v2 paper on without touching its PDF."""


@dataclass(slots=True)
class Notes:
    """What may be asked for, as queue entries: `<note id> <when it was last modified>`.

    Attributes:
        papers: Submissions whose PDF may have changed.
        plain: Submissions of API v2 that nothing but the venue's own steps touched.
        reviews: Reviews that changed by themselves.
        released: Reviews that last changed in the hour in which most did.
    """

    papers: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    released: list[str] = field(default_factory=list)


def harvest_history(visit: Visit) -> None:
    """Fetch the versions that are still missing."""
    notes = notes_with_history(visit)
    if visit.refresh:
        with visit.raw.transaction():
            visit.raw.reopen(visit.venue_id, TASK)
    known = {*notes.papers, *notes.plain, *notes.reviews, *notes.released}
    with visit.raw.transaction():
        # A note that changed again is asked for once, as it is now.
        visit.raw.unqueue(TASK, set(visit.raw.pending(visit.venue_id, TASK)) - known)
    for asked, tried, what in (
        (notes.papers, notes.plain, "edits of submissions"),
        (notes.reviews, notes.released, "edits of replies"),
    ):
        with visit.raw.transaction():
            visit.raw.enqueue(visit.venue_id, TASK, [*asked, *tried[:TRIED]])
        _work_off(visit, what)
        if len(tried) > TRIED and _shows_edits(visit, tried[:TRIED]):
            with visit.raw.transaction():
                visit.raw.enqueue(visit.venue_id, TASK, tried)
            _work_off(visit, what)


def notes_with_history(visit: Visit) -> Notes:
    """Which notes of a venue may have versions to ask for."""
    notes, changed = Notes(), []
    for found in visit.raw.latest(Kind.NOTE, visit.venue_id):
        note = salvage(Note, found.body)
        entry = f"{found.object_id} {found.modified_ms}"
        if found.object_id == found.forum_id:
            (notes.plain if visit.api == 2 and _is_plain(visit, note) else notes.papers).append(entry)
        elif is_review(visit, note.created_by) and _was_changed(note):
            changed.append((found.modified_ms, entry))
    released_ms = _release(sorted(modified_ms for modified_ms, _ in changed)) if visit.api == 2 else None
    for modified_ms, entry in changed:
        is_release = released_ms is not None and released_ms <= modified_ms < released_ms + HOUR_MS
        (notes.released if is_release else notes.reviews).append(entry)
    return notes


def _release(times_ms: Sequence[int]) -> int | None:
    """When the hour begins in which the most reviews last changed; None where that is no more than a few of them."""
    best, most, end = None, TRIED, 0
    for start, time_ms in enumerate(times_ms):
        while end < len(times_ms) and times_ms[end] < time_ms + HOUR_MS:
            end += 1
        if end - start > most:
            best, most = time_ms, end - start
    return best


def _is_plain(visit: Visit, note: Note) -> bool:
    return all(
        invitation in visit.profile.lists
        or (invitation.startswith(f"{visit.venue_id}/-/") and tail_of(invitation) in PLAIN)
        for invitation in note.invitations or ()
    )


def _was_changed(note: Note) -> bool:
    return (note.modified_ms or 0) > (note.created_ms or 0) + HOUR_MS


def _shows_edits(visit: Visit, tried: list[str]) -> bool:
    """Whether any edit of these notes tells of their content; the release of a note names its readers alone."""
    wanted = {_note_id(entry) for entry in tried}
    edits = (edit for edit in visit.raw.latest(Kind.EDIT, visit.venue_id) if edit.subject_id in wanted)
    return any(salvage(Edit, edit.body).note.content for edit in edits)


def _note_id(entry: str) -> str:
    # An id that OpenReview did not make may hold spaces.
    return entry.rpartition(" ")[0]


def _work_off(visit: Visit, what: str) -> None:
    failed = visit.setbacks.failed
    entries = sorted(visit.raw.pending(visit.venue_id, TASK), key=lambda entry: entry in failed)
    meter = visit.meter(what, 0, len(entries), "/references" if visit.api == 1 else "/notes/edits")
    for entry in entries:
        note = visit.raw.find(Kind.NOTE, _note_id(entry))
        try:
            rows = [] if note is None else list(_fetch(visit, note))
            problem = None
        except NotGivenError as error:
            rows, problem = [], error.reason
        except BusyError as error:
            visit.setbacks.count(error, entry)
            continue
        visit.setbacks.reset()
        with visit.raw.transaction():
            visit.raw.add(rows)
            visit.raw.mark_done(TASK, entry, problem)
        meter.advance()


def _fetch(visit: Visit, note: RawObject) -> Iterator[RawObject]:
    fetch, build = (fetch_references, build_note) if visit.api == 1 else (fetch_edits, build_edit)
    for source, item in fetch(visit.client, note.object_id):
        row = build(compact(item), visit.origin(source))
        yield row._replace(subject_id=note.object_id, forum_id=note.forum_id)
