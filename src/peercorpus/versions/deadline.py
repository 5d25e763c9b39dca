"""When the submission had to be in: the catalogue's deadline, else the invitation's own."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from peercorpus.openreview.objects import tail_of, to_time
from peercorpus.raw import Kind, RawStore
from peercorpus.venues.catalogue import deadline_of
from peercorpus.versions.invitations import HARMLESS

GRACE = timedelta(minutes=30)
"""How long after its due date OpenReview still takes a submission by default (`expdate` = `duedate` + 30 minutes)."""

FULL_SUBMISSION = "Full_Submission"


class _Dates(msgspec.Struct):
    """What an invitation says of time, in epoch milliseconds UTC."""

    duedate: int | None = None
    expdate: int | None = None


@dataclass(frozen=True, slots=True)
class Deadline:
    """The last moment at which a PDF could be what the reviewers read, and where that was read."""

    at: datetime
    source: str


def _of_invitation(raw: RawStore, invitation_id: str) -> Deadline | None:
    found = raw.find(Kind.INVITATION, invitation_id)
    if found is None:
        return None
    dates = msgspec.json.decode(found.body, type=_Dates)
    closed, due = to_time(dates.expdate), to_time(dates.duedate)
    if closed is not None:
        return Deadline(closed, f"{invitation_id} (expdate)")
    return Deadline(due + GRACE, f"{invitation_id} (duedate + 30 min)") if due is not None else None


def _may_bring_the_full_paper(venue_id: str, invitation: str) -> bool:
    """Whether a paper's own invitation may be the full-paper stage: at ICLR 2024 it was called `Revision`."""
    tail = tail_of(invitation)
    own = not invitation.startswith(f"{venue_id}/-/")
    return own and (tail == "Revision" or (tail.endswith("_Submission") and tail not in HARMLESS))


def read_deadline(raw: RawStore, venue_id: str, invitations: list[str]) -> Deadline | None:
    """The deadline of one submission; None where none is known.

    Where full papers were due after abstracts, the submission invitation holds the abstracts' deadline, which says
    nothing of the PDF: only the paper's own full-submission invitation counts then.

    Args:
        raw: What was received.
        venue_id: The venue.
        invitations: Every invitation that edited the submission (API v2; empty on API v1).
    """
    listed = deadline_of(venue_id)
    if listed is not None:
        return Deadline(listed.at + GRACE, f"{listed.source} (+ 30 min)")
    full = next((name for name in invitations if name.endswith(f"/-/{FULL_SUBMISSION}")), None)
    if full is not None:
        return _of_invitation(raw, full)
    if any(_may_bring_the_full_paper(venue_id, name) for name in invitations):
        return None
    return _of_invitation(raw, f"{venue_id}/-/Submission")
