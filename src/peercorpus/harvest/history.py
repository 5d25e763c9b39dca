"""The earlier versions of papers and reviews: API v1's references and API v2's edits, one request a note.

Papers of API v1 are all asked for: only their references say what was submitted. Papers of API v2 are asked for where
their `invitations` name one that may have changed the PDF; of the rest (posted and released, nothing more) a few are
tried, and all of them only where a venue shows those edits to the public, as journals do. A request budget of some
hundreds an hour allows no more. Reviews are asked for where they changed more than an hour after they were posted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from peercorpus.errors import NotGivenError
from peercorpus.harvest.rows import build_edit, build_note
from peercorpus.harvest.submissions import is_review
from peercorpus.harvest.visit import Visit
from peercorpus.openreview.jsontext import compact
from peercorpus.openreview.listing import fetch_edits, fetch_references
from peercorpus.openreview.objects import Note, salvage, tail_of
from peercorpus.raw import Kind, RawObject

TASK = "versions"
HOUR_MS = 3_600_000
TRIED = 5
PLAIN = frozenset(
    {"Post_Submission", "Edit", "Withdrawn_Submission", "Desk_Rejected_Submission", "Rejected_Submission"}
)
"""What moves an API v2 paper on without touching its PDF."""


@dataclass(slots=True)
class _Plan:
    """What to ask for, as queue entries: `<note id> <when it was last modified>`."""

    papers: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)


def harvest_history(visit: Visit) -> None:
    """Fetch the versions that are still missing."""
    plan = _plan(visit)
    tried = plan.plain[:TRIED]
    with visit.raw.transaction():
        visit.raw.enqueue(visit.venue_id, TASK, [*plan.papers, *tried])
    _work_off(visit, "edits of submissions")
    with visit.raw.transaction():
        if _shows_edits(visit, tried):
            visit.raw.enqueue(visit.venue_id, TASK, plan.plain)
        visit.raw.enqueue(visit.venue_id, TASK, plan.reviews)
    _work_off(visit, "edits of replies")


def _plan(visit: Visit) -> _Plan:
    plan = _Plan()
    for found in visit.raw.latest(Kind.NOTE, visit.venue_id):
        note = salvage(Note, found.body)
        entry = f"{found.object_id} {found.modified_ms}"
        if found.object_id == found.forum_id:
            (plan.plain if visit.api == 2 and _is_plain(visit, note) else plan.papers).append(entry)
        elif is_review(visit, note.created_by) and _was_changed(note):
            plan.reviews.append(entry)
    return plan


def _is_plain(visit: Visit, note: Note) -> bool:
    return all(
        invitation in visit.profile.lists
        or (invitation.startswith(f"{visit.venue_id}/-/") and tail_of(invitation) in PLAIN)
        for invitation in note.invitations or ()
    )


def _was_changed(note: Note) -> bool:
    return (note.modified_ms or 0) > (note.created_ms or 0) + HOUR_MS


def _shows_edits(visit: Visit, tried: list[str]) -> bool:
    wanted = {_note_id(entry) for entry in tried}
    return any(edit.subject_id in wanted for edit in visit.raw.latest(Kind.EDIT, visit.venue_id))


def _note_id(entry: str) -> str:
    return entry.partition(" ")[0]


def _work_off(visit: Visit, what: str) -> None:
    entries = visit.raw.pending(visit.venue_id, TASK)
    meter = visit.meter(what, 0, len(entries))
    for entry in entries:
        note = visit.raw.find(Kind.NOTE, _note_id(entry))
        try:
            rows = [] if note is None else list(_fetch(visit, note))
            problem = None
        except NotGivenError as error:
            rows, problem = [], error.reason
        with visit.raw.transaction():
            visit.raw.add(rows)
            visit.raw.mark_done(TASK, entry, problem)
        meter.advance()


def _fetch(visit: Visit, note: RawObject) -> Iterator[RawObject]:
    fetch, build = (fetch_references, build_note) if visit.api == 1 else (fetch_edits, build_edit)
    for source, item in fetch(visit.client, note.object_id):
        row = build(compact(item), visit.origin(source))
        yield row._replace(subject_id=note.object_id, forum_id=note.forum_id)
