"""Determine submission deadlines, and which invitations can change a PDF.

`Stages` classifies the invitations of a venue according to `invitations.toml`. `Deadlines` finds the last moment at
which a PDF could be the one that reviewers read, from the catalogue or from OpenReview's invitations.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from peercorpus.execution.stage import digest_of_data
from peercorpus.openreview.objects import decode_leniently, invitation_name, to_time
from peercorpus.records.enums import VersionMoment
from peercorpus.venues.catalogue import DEADLINE_YEARS, VenueRow, digest_deadlines, row_of
from peercorpus.venues.own_venues import OwnInvitations, find_row, own_venue
from peercorpus.workspace.raw_store import RawKind, RawStore
from peercorpus.workspace.workspace import Workspace

_TEXT = files(__package__).joinpath("invitations.toml").read_text(encoding="utf-8")
INVITATIONS_DIGEST = digest_of_data(tomllib.loads(_TEXT))
"""Digest of `invitations.toml`, part of the content key of the versions chosen with it."""


@dataclass(frozen=True, slots=True)
class Stages:
    """Effects of a venue's invitations on a PDF, by the last element of their ids.

    Attributes:
        harmless: Cannot change the PDF after the deadline.
        forms: Accept the submission from its authors, on or before the deadline.
        full_paper: Submit the full paper, on or before the deadline.
        ambiguous: Do not ask for a PDF, but chairs can change it with them.
        late: Submit a PDF only after reviewing began.
        moments: Moment of a version submitted by an invitation, for those that determine it.
    """

    harmless: frozenset[str]
    forms: frozenset[str]
    full_paper: frozenset[str]
    ambiguous: frozenset[str]
    late: frozenset[str]
    moments: Mapping[str, VersionMoment]

    def may_bring_the_full_paper(self, invitation: str) -> bool:
        """Return whether a paper's own invitation may have submitted a PDF before the deadline; unknown ones may."""
        tail = invitation_name(invitation)
        if tail in self.full_paper:
            return True
        return tail not in self.harmless | self.ambiguous | self.late and tail.endswith(("Revision", "_Submission"))

    def takes_submissions(self, invitation: str) -> bool:
        """Return whether an invitation is known to accept submissions from authors, and only until the deadline."""
        return invitation_name(invitation) in self.forms | self.full_paper

    def follows_reviews(self, invitation: str) -> bool:
        """Return whether an invitation opens only after the reviews, so that its files come after them."""
        return invitation_name(invitation) in self.moments


def read_stages(text: str) -> dict[str, Stages]:
    """Return the effects of invitations by venue id; the empty id applies to all venues without a row.

    A venue's row adds to the general rules and must name its source.
    """
    tables = tomllib.loads(text)
    general = tables["any"]
    rows = [{"id": "", "source": general["source"]}, *tables.get("venue", ())]
    return {row["id"]: _build_stages(general, row) for row in rows if row["source"]}


def _build_stages(general: Mapping[str, Any], row: Mapping[str, Any]) -> Stages:
    def collect(kind: str) -> frozenset[str]:
        return frozenset(general.get(kind, ())) | frozenset(row.get(kind, ()))

    forms = collect("submission")
    full_paper = collect("full_paper")
    discussion = collect("discussion")
    final = collect("camera_ready")
    return Stages(
        harmless=forms | collect("posting") | collect("without_pdf") | full_paper,
        forms=forms,
        full_paper=full_paper,
        ambiguous=collect("ambiguous"),
        late=collect("late") | discussion | final,
        moments=dict.fromkeys(discussion, VersionMoment.DISCUSSION) | dict.fromkeys(final, VersionMoment.CAMERA_READY),
    )


@cache
def _known() -> dict[str, Stages]:
    return read_stages(_TEXT)


def stages_of(venue_id: str) -> Stages:
    """Return the effects of a venue's invitations."""
    return _known().get(venue_id) or _known()[""]


def extend_stages(venue_id: str, own: OwnInvitations) -> Stages:
    """Return the effects of a venue's invitations, with the user's statements taking precedence over the package's."""
    tables = tomllib.loads(_TEXT)
    known: list[dict[str, Any]] = [row for row in tables.get("venue", ()) if row["id"] == venue_id]
    stated: dict[str, tuple[str, ...]] = msgspec.structs.asdict(own)
    named = {name for names in stated.values() for name in names}

    def left(row: Mapping[str, Any]) -> dict[str, list[str]]:
        return {kind: [name for name in row.get(kind, ()) if name not in named] for kind in stated}

    general, of_venue = left(tables["any"]), left(known[0] if known else {})
    return _build_stages(general, {kind: (*of_venue[kind], *names) for kind, names in stated.items()})


def find_stages(workspace: Workspace, venue_id: str) -> Stages:
    """Return the effects of a venue's invitations, according to the package and the user's file.

    Raises:
        VenuesFileError: The user's file is not valid.
    """
    own = own_venue(workspace, venue_id)
    return extend_stages(venue_id, own.invitations) if own else stages_of(venue_id)


def digest_venue(workspace: Workspace, venue_id: str) -> str:
    """Return the digest of a venue's deadlines and of the user's statements on its invitations; empty if none.

    Part of the content key of the venue's versions.
    """
    own = own_venue(workspace, venue_id)
    stated = msgspec.structs.asdict(own.invitations) if own else {}
    parts = (digest_deadlines(find_row(workspace, venue_id)), digest_of_data(stated) if any(stated.values()) else "")
    return " ".join(filter(None, parts))


GRACE = timedelta(minutes=30)
"""Time after the due date in which OpenReview accepts submissions by default (`expdate` = `duedate` + 30 minutes)."""

EXTENSION = timedelta(days=7)
"""An invitation that closed later than this after the deadline counts as reopened, not extended."""

NEVER = datetime(DEADLINE_YEARS[-1], 1, 1, tzinfo=UTC)
"""An invitation's date from here on is not a deadline: it means that the form stays open."""


class _Dates(msgspec.Struct):
    """The dates of an invitation, in milliseconds since the epoch, UTC."""

    duedate: int | None = None
    expdate: int | None = None


@dataclass(frozen=True, slots=True)
class Deadline:
    """The last moment at which a PDF could be the one that reviewers read, and its source.

    Attributes:
        at: The moment, including OpenReview's grace period or a paper's own extension.
        due: The due time without either; None if only `at` is known.
        may_be_of_abstracts: Whether it comes from an invitation that may have collected abstracts first.
    """

    at: datetime
    source: str
    due: datetime | None = None
    may_be_of_abstracts: bool = False


class Deadlines:
    """The deadlines of one venue's submissions.

    Attributes:
        venue_id: The venue.
        stated: Every deadline of full papers stated by any source, including hints, earliest first, without the grace
            period.
        stages: Effects of its invitations.
    """

    def __init__(self, raw: RawStore, venue_id: str, row: VenueRow | None = None, stages: Stages | None = None) -> None:
        """Read the deadlines of a venue.

        Args:
            raw: The store with its invitations.
            venue_id: The venue.
            row: The venue's row; None means the catalogue's.
            stages: Effects of its invitations; None means those known to the package.
        """
        self.venue_id = venue_id
        self._raw = raw
        row = row or row_of(venue_id)
        self.stated = row.stated_deadlines if row else ()
        self._listed = row.full_deadline if row else None
        self.stages = stages or stages_of(venue_id)
        form = f"{venue_id}/-/Submission"
        deadline = None if self._listed else self._read_deadline(form)
        self._is_of_papers = deadline is not None and self._is_stated(deadline)
        # If only the deadline of abstracts is certain, the invitation may state that one, unless a list confirms it.
        is_unsure = row is not None and row.may_mean_abstracts and not self._is_of_papers
        self._venue_deadline = None if is_unsure else deadline
        self._form_was_reopened = self._has_closed_late(form)

    def _is_stated(self, found: Deadline) -> bool:
        """Return whether a source states an invitation's deadline as that of full papers."""
        due = found.due or found.at
        return any(abs(due - one.at) <= GRACE for one in self.stated)

    def of(self, invitations: list[str]) -> Deadline | None:
        """Return the deadline of one submission, or None if unknown.

        If full papers were due after abstracts, the submission invitation states the deadline of abstracts, which says
        nothing about the PDF; then only the paper's own full-paper invitation counts.

        Args:
            invitations: Every invitation that edited the submission (API v2; empty on API v1).
        """
        own = self._find_own(invitations)
        full = self._find_full_paper(invitations)
        if self._listed is not None:
            listed = Deadline(self._listed.at + GRACE, f"{self._listed.source} (+ 30 min)", self._listed.at)
            return self._extend(listed, full)
        if full is not None:
            return self._read_deadline(full)
        if self._venue_deadline is None or any(map(self.stages.may_bring_the_full_paper, own)):
            return None
        # A note of API v1 does not name the invitations that edited it.
        return replace(self._venue_deadline, may_be_of_abstracts=not invitations and not self._is_of_papers)

    def was_reopened(self, invitations: list[str]) -> bool:
        """Return whether the venue's form, or the paper's full-paper form, closed long after the deadline."""
        full = self._find_full_paper(invitations)
        return self._form_was_reopened or (full is not None and self._has_closed_late(full))

    def _has_closed_late(self, invitation_id: str) -> bool:
        closed, due = self._read_dates(invitation_id)
        usual = self._listed.at if self._listed else due
        return closed is not None and usual is not None and closed > usual + EXTENSION

    def _find_own(self, invitations: list[str]) -> list[str]:
        return [name for name in invitations if not name.startswith(f"{self.venue_id}/-/")]

    def _find_full_paper(self, invitations: list[str]) -> str | None:
        own = self._find_own(invitations)
        return next((name for name in own if name.rpartition("/")[2] in self.stages.full_paper), None)

    def _extend(self, listed: Deadline, full: str | None) -> Deadline:
        """Return the later deadline of a paper's own invitation, which chairs may extend; else the listed one."""
        own = self._read_deadline(full) if full else None
        if own is None or listed.due is None or not listed.at < own.at <= listed.due + EXTENSION:
            return listed
        return Deadline(own.at, f"{own.source}; due: {listed.source}", listed.due)

    def _read_dates(self, invitation_id: str) -> tuple[datetime | None, datetime | None]:
        """Return when an invitation closed and when it was due, each None if unknown; "never" counts as unknown."""
        invitation = self._raw.find(RawKind.INVITATION, invitation_id)
        dates = decode_leniently(_Dates, invitation.body) if invitation else _Dates()
        due = to_time(dates.duedate)
        return to_time(dates.expdate), due if due is None or due < NEVER else None

    def _read_deadline(self, invitation_id: str) -> Deadline | None:
        closed, due = self._read_dates(invitation_id)
        if closed is not None and closed <= (due + EXTENSION if due else NEVER):
            return Deadline(closed, f"{invitation_id} (expdate)", due if due and due < closed else None)
        return Deadline(due + GRACE, f"{invitation_id} (duedate + 30 min)", due) if due is not None else None
