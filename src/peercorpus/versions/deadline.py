"""When the submission had to be in: the catalogue's deadline, else the invitation's own."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import msgspec

from peercorpus.openreview.objects import to_time
from peercorpus.raw import Kind, RawStore
from peercorpus.venues.catalogue import deadline_of, rows
from peercorpus.versions.invitations import stages_of

GRACE = timedelta(minutes=30)
"""How long after its due date OpenReview still takes a submission by default (`expdate` = `duedate` + 30 minutes)."""

EXTENSION = timedelta(days=7)
"""An invitation that closed later than so after the deadline was opened again; it extends nothing."""


ABSTRACTS_ALONE = frozenset(row.id for row in rows() if row.abstract_deadline and not row.full_deadline)
"""Venues of which the catalogue knows when abstracts were due, and not when full papers were."""

DIGEST = hashlib.sha256(" ".join(sorted(ABSTRACTS_ALONE)).encode()).hexdigest()
"""Stands for them in the keys of what is chosen with them; the catalogue's own digest does not."""


class _Dates(msgspec.Struct):
    """What an invitation says of time, in epoch milliseconds UTC."""

    duedate: int | None = None
    expdate: int | None = None


@dataclass(frozen=True, slots=True)
class Deadline:
    """The last moment at which a PDF could be what the reviewers read, and where that was read.

    Attributes:
        at: With the grace that OpenReview gives, or a paper's own extension.
        due: When papers were due, without that; None where only `at` is known.
        may_be_of_abstracts: Whether it is read from an invitation that may have taken abstracts first.
    """

    at: datetime
    source: str
    due: datetime | None = None
    may_be_of_abstracts: bool = False


class Deadlines:
    """The deadlines of one venue's submissions.

    Attributes:
        venue_id: The venue.
    """

    def __init__(self, raw: RawStore, venue_id: str) -> None:
        self.venue_id, self._raw = venue_id, raw
        self._listed = deadline_of(venue_id)
        self._stages = stages_of(venue_id)
        # Where the catalogue knows only when abstracts were due, the invitation may hold no other.
        form = f"{venue_id}/-/Submission"
        self._of_all = None if self._listed or venue_id in ABSTRACTS_ALONE else self._of_invitation(form)
        self._form_was_reopened = self._closed_late(form)

    def of(self, invitations: list[str]) -> Deadline | None:
        """The deadline of one submission; None where none is known.

        Where full papers were due after abstracts, the submission invitation holds the abstracts' deadline, which says
        nothing of the PDF: only the paper's own full-paper invitation counts then.

        Args:
            invitations: Every invitation that edited the submission (API v2; empty on API v1).
        """
        own, full = self._own(invitations), self._full(invitations)
        if self._listed is not None:
            listed = Deadline(self._listed.at + GRACE, f"{self._listed.source} (+ 30 min)", self._listed.at)
            return self._extended(listed, full)
        if full is not None:
            return self._of_invitation(full)
        if self._of_all is None or any(map(self._stages.may_bring_the_full_paper, own)):
            return None
        # A note of API v1 does not name what edited it.
        return replace(self._of_all, may_be_of_abstracts=not invitations)

    def was_reopened(self, invitations: list[str]) -> bool:
        """Whether the venue's form, or the paper's own for full papers, closed long after papers were due there."""
        full = self._full(invitations)
        return self._form_was_reopened or (full is not None and self._closed_late(full))

    def _closed_late(self, invitation_id: str) -> bool:
        closed, due = self._dates(invitation_id)
        usual = self._listed.at if self._listed else due
        return closed is not None and usual is not None and closed > usual + EXTENSION

    def _own(self, invitations: list[str]) -> list[str]:
        return [name for name in invitations if not name.startswith(f"{self.venue_id}/-/")]

    def _full(self, invitations: list[str]) -> str | None:
        own = self._own(invitations)
        return next((name for name in own if name.rpartition("/")[2] in self._stages.full_paper), None)

    def _extended(self, listed: Deadline, full: str | None) -> Deadline:
        """A paper's own invitation may close later than the venue's: chairs extend it for one paper."""
        own = self._of_invitation(full) if full else None
        if own is None or listed.due is None or not listed.at < own.at <= listed.due + EXTENSION:
            return listed
        return Deadline(own.at, f"{own.source}; due: {listed.source}", listed.due)

    def _dates(self, invitation_id: str) -> tuple[datetime | None, datetime | None]:
        """When an invitation closed, and when it was due."""
        found = self._raw.find(Kind.INVITATION, invitation_id)
        dates = msgspec.json.decode(found.body, type=_Dates) if found else _Dates()
        return to_time(dates.expdate), to_time(dates.duedate)

    def _of_invitation(self, invitation_id: str) -> Deadline | None:
        closed, due = self._dates(invitation_id)
        if closed is not None and (due is None or closed <= due + EXTENSION):
            return Deadline(closed, f"{invitation_id} (expdate)", due if due and due < closed else None)
        return Deadline(due + GRACE, f"{invitation_id} (duedate + 30 min)", due) if due is not None else None
