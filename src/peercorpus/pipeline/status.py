"""Report the status of a workspace: balances of its stages, completeness, and issues with each venue's record."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from peercorpus.corpus.points import TABLE as TABLE_OF_POINTS
from peercorpus.errors import VenueNotFoundError
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Balance
from peercorpus.forms.form_usage import FormUsage, read_censuses
from peercorpus.forms.reply_kinds import is_unknown_name
from peercorpus.forms.venue_forms import read_venue
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, decode_leniently, invitation_name
from peercorpus.pipeline.build import CUT_FIGURES, FIND_POINTS, STAGES, find_unfinished
from peercorpus.pipeline.inventory import (
    EXAMPLES,
    Coverage,
    Inventory,
    PdfCoverage,
    read_coverage,
    read_pdf_coverage,
    read_statuses,
    take_inventory,
)
from peercorpus.pipeline.losses import SourceLoss, read_losses
from peercorpus.pipeline.plan_build import carries_key, expected_key
from peercorpus.records.enums import Status
from peercorpus.texts.convert import default_engine, read_engine_used
from peercorpus.venues.catalogue import Visibility
from peercorpus.venues.own_venues import find_row
from peercorpus.wording.suggestions import suggest_name
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.object_store import Placement, read_placement
from peercorpus.workspace.raw_store import RawKind, RawStore
from peercorpus.workspace.table_damage import require_whole
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace

MONTHS_MS = round(timedelta(days=60).total_seconds() * 1000)
"""In milliseconds; references further apart were made before and after the reviews; our choice."""

ENOUGH_ACCEPTED = 20
"""Minimum number of accepted papers for reporting the absence of rejected ones; our choice."""

MOST_NAMES = 8
"""Most names of invitations that an issue lists; our choice."""

UNDECIDED = (Status.UNDER_REVIEW, Status.UNKNOWN)


class KnownIssue(StrEnum):
    """A way in which a venue's record can mislead."""

    COUNTS_DISAGREE = "counts_disagree"
    """A list contained a different number of submissions than OpenReview announced."""
    LISTED_TWICE = "listed_twice"
    """The same paper is listed under two ids."""
    BEFORE_DECISIONS = "before_decisions"
    """Most papers that have reviews have no decision."""
    NO_REJECTED = "no_rejected"
    """Rejected papers are not shown, or only those whose authors agreed."""
    REVIEWS_HIDDEN = "reviews_hidden"
    """The venue shows only some of its reviews, or none."""
    WITHDRAWN_HIDDEN = "withdrawn_hidden"
    """The list of withdrawn papers exists but is empty."""
    REVERTED = "reverted"
    """The venue reverted its reviews to their state before the discussion."""
    PDFS_OVERWRITTEN = "pdfs_overwritten"
    """All versions of accepted papers, made over months, have the same PDF."""
    NO_DEADLINE = "no_deadline"
    """The submission deadline is unknown."""
    NOT_PUBLIC = "not_public"
    """Notes are not public: they name other readers than everyone, or none."""
    READERS_UNSTATED = "readers_unstated"
    """Notes name no readers and count as public because nothing in their dump names any."""
    UNKNOWN_NAMES = "unknown_names"
    """Replies name invitations whose meaning is not known, so place, signer and content alone determine their kind."""


@dataclass(frozen=True, slots=True)
class IssueFound:
    """One issue found in a venue's record.

    Attributes:
        count: Number of papers, notes or lists concerned.
        of: Total that `count` is a part of; None if there is no meaningful total.
        examples: A few titles or ids, verbatim.
    """

    trap: KnownIssue
    count: int
    of: int | None = None
    examples: Sequence[str] = ()


def find_list_issues(inventory: Inventory) -> Iterator[IssueFound]:
    """Yield the issues with lists of submissions."""
    differing = [
        f"{submissions.invitation} ({submissions.received} of {submissions.expected})"
        for submissions in inventory.lists
        if submissions.differs
    ]
    if differing:
        yield IssueFound(KnownIssue.COUNTS_DISAGREE, count=len(differing), of=len(inventory.lists), examples=differing)
    hidden = [
        submissions.invitation
        for submissions in inventory.lists
        if submissions.is_complete
        and not submissions.received
        and submissions.invitation.endswith("/Withdrawn_Submission")
    ]
    # On API v2, withdrawn papers have no list of their own.
    if hidden and inventory.api == 1:
        yield IssueFound(KnownIssue.WITHDRAWN_HIDDEN, count=len(hidden), of=None, examples=hidden)


def find_paper_issues(coverage: Coverage) -> Iterator[IssueFound]:
    """Yield the issues with papers and reviews."""
    if coverage.listed_twice.count:
        twice = coverage.listed_twice
        yield IssueFound(KnownIssue.LISTED_TWICE, twice.count, sum(coverage.papers.values()), twice.examples)
    reviewed = {status: count - coverage.without_reviews.get(status, 0) for status, count in coverage.papers.items()}
    undecided = sum(reviewed.get(status, 0) for status in UNDECIDED)
    total = sum(reviewed.values())
    if undecided * 2 > total:
        yield IssueFound(KnownIssue.BEFORE_DECISIONS, undecided, total)
    if coverage.not_public:
        yield IssueFound(KnownIssue.NOT_PUBLIC, coverage.not_public)
    if coverage.readers_unstated:
        yield IssueFound(KnownIssue.READERS_UNSTATED, coverage.readers_unstated)


def find_name_issues(tables: Tables, venue_id: str, words: VenueVocabulary) -> Iterator[IssueFound]:
    """Yield the issue of replies whose invitations have unknown names, each name with its number of replies."""
    counts: Counter[str] = Counter()
    total = 0
    for batch in tables.batches("3-posts", venue_id, ["invitation"]):
        for invitation in batch.column("invitation").to_pylist():
            counts[invitation_name(invitation)] += 1
            total += 1
    unknown = [(name, count) for name, count in counts.most_common() if name and is_unknown_name(name, words)]
    if unknown:
        named = [f"{name} ({count:,})" for name, count in unknown[:MOST_NAMES]]
        yield IssueFound(KnownIssue.UNKNOWN_NAMES, sum(count for _, count in unknown), total, named)


def find_venue_issues(coverage: Coverage, visibility: Visibility | None) -> Iterator[IssueFound]:
    """Yield the issues known from the catalogue's entry, if it has one, or else visible in the papers."""
    accepted, rejected = (coverage.papers.get(status, 0) for status in (Status.ACCEPTED, Status.REJECTED))
    hides_rejected = visibility in {Visibility.REJECTED_OPT_IN, Visibility.ACCEPTED_ONLY} and accepted + rejected > 0
    if hides_rejected or (not rejected and accepted >= ENOUGH_ACCEPTED):
        yield IssueFound(KnownIssue.NO_REJECTED, rejected, accepted + rejected)
    bare = sum(coverage.without_reviews.values())
    if visibility in {Visibility.SOME_REVIEWS, Visibility.REVIEWS_PRIVATE} and bare:
        yield IssueFound(KnownIssue.REVIEWS_HIDDEN, bare, sum(coverage.papers.values()))
    if visibility is Visibility.REVERTED_BEFORE_DISCUSSION and coverage.reviews:
        yield IssueFound(KnownIssue.REVERTED, coverage.reviews)


def find_reference_issues(raw: RawStore, venue_id: str, statuses: Mapping[str, Status]) -> Iterator[IssueFound]:
    """Yield the issue of overwritten PDFs: on API v1 chairs could overwrite the PDF of all references of a paper.

    Only accepted papers count, as others may have a single version.
    """
    spread = same = 0
    first: list[str] = []
    for forum_id, references in raw.by_forum((RawKind.REFERENCE,), venue_id):
        if statuses.get(forum_id) is not Status.ACCEPTED:
            continue
        notes = (decode_leniently(Note, reference.body) for reference in references if reference.subject_id == forum_id)
        pdfs = [(note.created_ms, note.fields["pdf"]) for note in notes if note.created_ms and "pdf" in note.fields]
        times = [created_ms for created_ms, _ in pdfs]
        if times and max(times) - min(times) > MONTHS_MS:
            spread += 1
            if len({str(path) for _, path in pdfs}) == 1:
                same += 1
                first.append(forum_id)
    if same:
        yield IssueFound(KnownIssue.PDFS_OVERWRITTEN, count=same, of=spread, examples=first[:EXAMPLES])


@dataclass(frozen=True, slots=True)
class Completeness:
    """The completeness of one venue.

    Attributes:
        notes: Counts from the tables; None if these are not built or out of date.
        pdfs: Counts from the table of versions; None if it is not built or out of date.
        remark: The catalogue's remark on its numbers; None if it has none.
    """

    venue_id: str
    held: Inventory
    notes: Coverage | None
    pdfs: PdfCoverage | None
    cautions: Sequence[IssueFound]
    remark: str | None


def read_completeness(workspace: Workspace, venue_id: str, finished: Container[str] = TABLES) -> Completeness:
    """Count the present and missing data of a venue in a workspace; only tables that are up to date are read."""
    raw, tables = workspace.raw, workspace.tables
    row = find_row(workspace, venue_id)
    inventory = take_inventory(raw, venue_id)
    notes: Coverage | None = None
    pdfs: PdfCoverage | None = None
    cautions = list(find_list_issues(inventory))
    if "2-reviews" in finished:
        statuses = read_statuses(tables, venue_id)
        notes = read_coverage(tables, venue_id, statuses)
        cautions += [*find_paper_issues(notes), *find_venue_issues(notes, row.visibility if row else None)]
        cautions += find_reference_issues(raw, venue_id, statuses)
        cautions += find_name_issues(tables, venue_id, read_venue(workspace, venue_id).words)
    if "4-versions" in finished:
        sql = "SELECT venue_id, path FROM asked CROSS JOIN files USING (venue_id) WHERE problem IS NOT NULL"
        refused = frozenset(path for (path,) in raw.questions.rows(sql, venue_id))
        pdfs = read_pdf_coverage(tables, venue_id, refused)
        if pdfs.without_deadline:
            cautions.append(IssueFound(KnownIssue.NO_DEADLINE, pdfs.without_deadline, pdfs.papers))
    return Completeness(venue_id, inventory, notes, pdfs, cautions, row.remark if row else None)


@dataclass(frozen=True, slots=True)
class WorkspaceStatus:
    """The status of a workspace.

    Attributes:
        unfinished: Stages that are not up to date, each with its venue.
        censuses: Usage of the forms of each venue whose reviews are built.
        engines: Name and version of the engine that read each venue's PDFs, if any.
        default_engine: Name and version of the engine that a build without options would use.
        losses: Files and harvests most of whose records are set aside, of venues whose notes are built.
    """

    venues: Sequence[Completeness]
    balances: Sequence[Balance]
    unfinished: Sequence[tuple[str, str]]
    censuses: Mapping[str, Sequence[FormUsage]]
    engines: Mapping[str, tuple[str, str]]
    default_engine: tuple[str, str]
    placement: Placement
    losses: Sequence[SourceLoss] = ()

    @property
    def holds(self) -> bool:
        """Return whether every balance holds."""
        return all(balance.holds for balance in self.balances)


def only_venues(status: WorkspaceStatus, venue_ids: Sequence[str]) -> WorkspaceStatus:
    """Return the status of some venues of a workspace.

    Raises:
        VenueNotFoundError: The workspace has no data of one of them.
    """
    held = {venue.venue_id for venue in status.venues}
    missing = next((venue_id for venue_id in venue_ids if venue_id not in held), None)
    if missing is not None:
        raise VenueNotFoundError(f"The workspace has no data for '{missing}'; {suggest_name(missing, held)}")
    return replace(
        status,
        venues=[venue for venue in status.venues if venue.venue_id in venue_ids],
        balances=[balance for balance in status.balances if balance.venue_id in venue_ids],
        unfinished=[step for step in status.unfinished if step[1] in venue_ids],
        engines={venue_id: engine for venue_id, engine in status.engines.items() if venue_id in venue_ids},
    )


def read_status(workspace: Workspace, options: BuildRequest | None = None) -> WorkspaceStatus:
    """Count the stored rows in, out and set aside; unfinished stages are named, not counted.

    Raises:
        DamagedError: A table has changed since it was written, so its counts would prove nothing.
    """
    with workspace.tables.reading_through():
        for name in TABLES:
            require_whole(workspace.tables, name)
        venue_ids = workspace.venues()
        with workspace.raw.questions.reading_through(venue_ids):
            return _read_status(workspace, venue_ids, options)


def _read_status(workspace: Workspace, venue_ids: Sequence[str], options: BuildRequest | None) -> WorkspaceStatus:
    venues: list[Completeness] = []
    balances: list[Balance] = []
    unfinished: list[tuple[str, str]] = []
    censuses: dict[str, Sequence[FormUsage]] = {}
    engines: dict[str, tuple[str, str]] = {}
    for venue_id, waiting in find_unfinished(workspace, venue_ids, options):
        finished = [stage for stage in STAGES if stage.name not in waiting]
        tables = {name for stage in finished for name in stage.writes}
        venues.append(read_completeness(workspace, venue_id, tables))
        if "2-reviews" in tables:
            censuses[venue_id] = [census for _, census in read_censuses(workspace, venue_id)]
        for stage in (*finished, *(() if "choose_versions" in waiting else (CUT_FIGURES,))):
            balances.extend(stage.balance(workspace, venue_id))
        unfinished.extend((name, venue_id) for name in waiting)
        if workspace.tables.count(TABLE_OF_POINTS, venue_id) and not waiting:
            if carries_key(
                workspace, FIND_POINTS, venue_id, expected_key(workspace, FIND_POINTS, venue_id, BuildRequest())
            ):
                balances.extend(FIND_POINTS.balance(workspace, venue_id))
            else:
                unfinished.append((FIND_POINTS.name, venue_id))
        engine = read_engine_used(workspace.tables, venue_id)
        if engine is not None:
            engines[venue_id] = engine
    return WorkspaceStatus(
        venues=venues,
        balances=balances,
        unfinished=unfinished,
        censuses=censuses,
        engines=engines,
        default_engine=default_engine(),
        placement=read_placement(workspace.folder),
        losses=read_losses(workspace, censuses),
    )
