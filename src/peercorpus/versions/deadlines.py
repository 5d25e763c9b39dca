"""Determine submission deadlines, and which invitations can change a PDF.

`Stages` classifies the invitations of a venue by what they state themselves, else by their names in `invitations.toml`.
`Deadlines` finds the last moment at which a PDF could be the one that reviewers read, from the catalogue or from
OpenReview's invitations.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from peercorpus.execution.stage import digest_of_data
from peercorpus.openreview.objects import Note, decode_leniently, invitation_name, to_time
from peercorpus.records.enums import VersionMoment
from peercorpus.venues.catalogue import DEADLINE_YEARS, VenueRow, digest_deadlines, row_of
from peercorpus.venues.own_venues import OwnInvitations, find_row, own_venue
from peercorpus.workspace.raw_store import RawKind, RawStore
from peercorpus.workspace.workspace import Workspace

ANY_FIELD = "*"


class _Invitation(msgspec.Struct):
    """An invitation; its dates are milliseconds since the epoch, UTC."""

    edit: Any = None
    cdate: int | None = None
    duedate: int | None = None
    expdate: int | None = None


@dataclass(frozen=True, slots=True)
class PdfForm:
    """What an invitation states about the PDFs of submissions.

    Attributes:
        brings_pdf: Whether it can change a PDF; None if it does not say.
        opens_at: When it can first be used; None if unknown.
        due_at: When it is due; None if it states no due time.
        closes_at: When it can last be used; None if it stays open.
    """

    brings_pdf: bool | None
    opens_at: datetime | None = None
    due_at: datetime | None = None
    closes_at: datetime | None = None


def read_form(body: bytes) -> PdfForm:
    """Read an invitation as received; what cannot be read counts as absent."""
    invitation = decode_leniently(_Invitation, body)
    nested = invitation.edit.get("invitation") if isinstance(invitation.edit, dict) else None
    if isinstance(nested, dict):
        invitation = decode_leniently(_Invitation, msgspec.json.encode(nested))
    edit = invitation.edit
    return PdfForm(
        brings_pdf=_can_change(edit.get("note")) if isinstance(edit, dict) else None,
        opens_at=to_time(invitation.cdate),
        due_at=to_time(invitation.duedate),
        closes_at=to_time(invitation.expdate),
    )


def _can_change(note: object) -> bool | None:
    content = note.get("content", {}) if isinstance(note, dict) else None
    if not isinstance(content, dict):
        return None
    fields = [content[name] for name in ("pdf", ANY_FIELD) if name in content]
    return any(not isinstance(field, dict) or "value" in field or "readers" not in field for field in fields)


_TEXT = files(__package__).joinpath("invitations.toml").read_text(encoding="utf-8")
INVITATIONS_DIGEST = digest_of_data(tomllib.loads(_TEXT))
"""Digest of `invitations.toml`, part of the content key of the versions chosen with it."""


@dataclass(frozen=True, slots=True)
class Stages:
    """Effects of a venue's invitations on a PDF: by what they state themselves, else by the last element of their ids.

    Attributes:
        harmless: Cannot change the PDF after the deadline.
        forms: Accept the submission from its authors, on or before the deadline.
        full_paper: Submit the full paper, on or before the deadline.
        ambiguous: Do not ask for a PDF, but chairs can change it with them.
        late: Submit a PDF only after reviewing began.
        moments: Moment of a version submitted by an invitation, for those that determine it.
        harmless_endings: Endings of names that venues compose, of steps that bring no PDF.
        stated: Names whose effect the user states, whatever the invitation says.
        read: What the stored invitations state, by id; those of the whole venue also by name.
    """

    harmless: frozenset[str]
    forms: frozenset[str]
    full_paper: frozenset[str]
    ambiguous: frozenset[str]
    late: frozenset[str]
    moments: Mapping[str, VersionMoment]
    harmless_endings: tuple[str, ...] = ()
    stated: frozenset[str] = frozenset()
    read: Mapping[str, PdfForm] = field(default_factory=dict)

    def form_of(self, invitation: str) -> PdfForm | None:
        """Return what an invitation states about PDFs; None if it is not stored, or the user states its effect."""
        tail = invitation_name(invitation)
        return None if tail in self.stated else self.read.get(invitation) or self.read.get(tail)

    def is_harmless(self, invitation: str, reviewed_at: datetime | None = None) -> bool:
        """Return whether an invitation cannot have changed the PDF that reviewers read; one closed earlier cannot."""
        tail, form = invitation_name(invitation), self.form_of(invitation)
        if form is None or form.brings_pdf is None:
            return tail in self.harmless or tail.endswith(self.harmless_endings)
        is_closed = reviewed_at is not None and form.closes_at is not None and form.closes_at < reviewed_at
        return not form.brings_pdf or is_closed or self.takes_submissions(invitation)

    def may_bring_the_full_paper(self, invitation: str, limit: datetime | None = None) -> bool:
        """Return whether a paper's own invitation may have submitted a PDF before the deadline; unknown ones may.

        One that opened after `limit` did not.
        """
        tail, form = invitation_name(invitation), self.form_of(invitation)
        if form is not None and form.brings_pdf is False:
            return False
        if tail in self.full_paper:
            return True
        if tail in self.harmless | self.ambiguous | self.late or tail.endswith(self.harmless_endings):
            return False
        if form is None or form.brings_pdf is None:
            return tail.endswith(("Revision", "_Submission"))
        return limit is None or form.opens_at is None or form.opens_at <= limit

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
        harmless_endings=tuple(general["without_pdf_endings"]),
        stated=frozenset(row.get("stated", ())),
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

    general = left(tables["any"]) | {"without_pdf_endings": tables["any"]["without_pdf_endings"]}
    of_venue = left(known[0] if known else {})
    return _build_stages(
        general, {kind: (*of_venue[kind], *names) for kind, names in stated.items()} | {"stated": named}
    )


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

FULL_PAPER_DELAYS = (timedelta(days=1), timedelta(days=14))
"""Shortest and longest time between the deadlines of abstracts and of full papers.

Source: the venues of the catalogue with both deadlines, which are 3 to 7 days apart.
"""

NEVER = datetime(DEADLINE_YEARS[-1], 1, 1, tzinfo=UTC)
"""An invitation's date from here on is not a deadline: it means that the form stays open."""


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


def _read_forms(raw: RawStore, venue_id: str) -> dict[str, PdfForm]:
    read: dict[str, PdfForm] = {}
    for invitation in raw.latest(RawKind.INVITATION, venue_id):
        form = read_form(invitation.body)
        read[invitation.object_id] = form
        if invitation.object_id.startswith(f"{venue_id}/-/"):
            read[invitation_name(invitation.object_id)] = form
    return read


class Deadlines:
    """The deadlines of one venue's submissions.

    Attributes:
        venue_id: The venue.
        stated: Every deadline of full papers stated by any source, including hints, earliest first, without the grace
            period.
        stages: Effects of its invitations.
    """

    def __init__(self, raw: RawStore, venue_id: str, row: VenueRow | None = None, stages: Stages | None = None) -> None:
        """Read the deadlines of a venue; row and stages are those of the catalogue and the package if not given."""
        self.venue_id = venue_id
        row = row or row_of(venue_id)
        self.stated = row.stated_deadlines if row else ()
        self._listed = row.full_deadline if row else None
        self._may_mean_abstracts = row is not None and row.may_mean_abstracts
        self.stages = replace(stages or stages_of(venue_id), read=_read_forms(raw, venue_id))
        self._of_form: dict[str, tuple[Deadline | None, bool]] = {}
        self._of_creator: dict[str, Stages] = {}

    def stages_of_note(self, creator: str) -> Stages:
        """Return the effects of invitations on a note of API v2; its creator is a submission form whatever its name."""
        tail, stages = invitation_name(creator), self.stages
        is_named = tail in stages.harmless | stages.ambiguous | stages.late | stages.stated
        if is_named or tail.endswith(stages.harmless_endings) or not creator.startswith(f"{self.venue_id}/-/"):
            return stages
        if creator not in self._of_creator:
            names = {tail}
            extended = replace(stages, forms=stages.forms | names, harmless=stages.harmless | names)
            self._of_creator[creator] = extended
        return self._of_creator[creator]

    def _read_venue_deadline(self, invitations: list[str]) -> tuple[Deadline | None, bool]:
        form = self._find_form(invitations)
        if form not in self._of_form:
            deadline = None if self._listed else self._read_deadline(form)
            is_of_papers = deadline is not None and self._is_stated(deadline)
            # If only the deadline of abstracts is certain, the invitation may state it, unless a list confirms it.
            is_unsure = self._may_mean_abstracts and not is_of_papers
            self._of_form[form] = (None if is_unsure else deadline), is_of_papers
        return self._of_form[form]

    def _find_form(self, invitations: list[str]) -> str:
        creator = Note(invitations=invitations).created_by
        form = self.stages.read.get(creator) if creator.startswith(f"{self.venue_id}/-/") else None
        return creator if form is not None and form.brings_pdf else f"{self.venue_id}/-/Submission"

    def _is_stated(self, found: Deadline) -> bool:
        due = found.due or found.at
        return any(abs(due - one.at) <= GRACE for one in self.stated)

    def of(self, invitations: list[str]) -> Deadline | None:
        """Return the deadline of one submission, or None if unknown.

        If full papers were due after abstracts, the submission invitation states the deadline of abstracts, which says
        nothing about the PDF; then only the paper's own full-paper invitation counts.
        """
        own = self._find_own(invitations)
        full = self._find_full_paper(invitations)
        if self._listed is not None:
            listed = Deadline(self._listed.at + GRACE, f"{self._listed.source} (+ 30 min)", self._listed.at)
            return self._extend(listed, full)
        if full is not None:
            return self._read_deadline(full)
        deadline, is_of_papers = self._read_venue_deadline(invitations)
        if deadline is None or any(
            self.stages.may_bring_the_full_paper(name, deadline.at + FULL_PAPER_DELAYS[1]) for name in own
        ):
            return None
        # A note of API v1 does not name the invitations that edited it.
        return replace(deadline, may_be_of_abstracts=not invitations and not is_of_papers)

    def was_reopened(self, invitations: list[str]) -> bool:
        """Return whether the venue's form, or the paper's full-paper form, closed long after the deadline."""
        full = self._find_full_paper(invitations)
        forms = [self._find_form(invitations), *([full] if full else ())]
        return any(map(self._has_closed_late, forms))

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
        form = self.stages.read.get(invitation_id) or self.stages.read.get(invitation_name(invitation_id))
        if form is None:
            return None, None
        return form.closes_at, form.due_at if form.due_at is None or form.due_at < NEVER else None

    def _read_deadline(self, invitation_id: str) -> Deadline | None:
        closed, due = self._read_dates(invitation_id)
        if closed is not None and closed <= (due + EXTENSION if due else NEVER):
            return Deadline(closed, f"{invitation_id} (expdate)", due if due and due < closed else None)
        return Deadline(due + GRACE, f"{invitation_id} (duedate + 30 min)", due) if due is not None else None
