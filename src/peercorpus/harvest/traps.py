"""What is known to mislead whoever counts a venue's record, recognised in what is held of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from peercorpus.harvest.coverage import Coverage, PdfCoverage
from peercorpus.harvest.inventory import EXAMPLES, Inventory
from peercorpus.kinds import Status
from peercorpus.openreview.objects import Note, salvage
from peercorpus.raw import Kind, RawStore
from peercorpus.venues.catalogue import Visibility

MONTHS_MS = round(timedelta(days=60).total_seconds() * 1000)
"""References further apart than this were made before and after the reviews; our choice."""

ENOUGH_ACCEPTED = 20
"""From so many accepted papers on, no rejected one beside them is no chance; our choice."""

UNDECIDED = (Status.UNDER_REVIEW, Status.UNKNOWN)


class Trap(StrEnum):
    """A way in which a venue's record misleads."""

    COUNTS_DISAGREE = "counts_disagree"
    """A list gave another number of submissions than OpenReview announced."""
    LISTED_TWICE = "listed_twice"
    """The same paper is listed under two ids."""
    BEFORE_DECISIONS = "before_decisions"
    """Most papers that have reviews have no decision."""
    NO_REJECTED = "no_rejected"
    """Rejected papers are not shown, or only those whose authors agreed."""
    REVIEWS_HIDDEN = "reviews_hidden"
    """The venue shows a part of its reviews, or none."""
    WITHDRAWN_HIDDEN = "withdrawn_hidden"
    """The list of withdrawn papers is there and empty."""
    REVERTED = "reverted"
    """The venue put its reviews back to how they stood before the discussion."""
    PDFS_OVERWRITTEN = "pdfs_overwritten"
    """All versions of accepted papers, months apart, are one PDF."""
    NO_DEADLINE = "no_deadline"
    """It is not known when the submission had to be in."""
    NOT_PUBLIC = "not_public"
    """The account was shown what the public is not."""


@dataclass(frozen=True, slots=True)
class Caution:
    """One trap that a venue's record holds.

    Attributes:
        count: Of what it concerns: papers, notes or lists.
        of: Out of how many; None where that says nothing.
        examples: A few of them by title or id, verbatim.
    """

    trap: Trap
    count: int
    of: int | None = None
    examples: Sequence[str] = ()


def traps_of_lists(found: Inventory) -> Iterator[Caution]:
    """What the lists of submissions tell."""
    differing = [
        f"{one.invitation} ({one.received} of {one.expected})"
        for one in found.lists
        if one.is_complete and one.expected not in {None, one.received}
    ]
    if differing:
        yield Caution(Trap.COUNTS_DISAGREE, len(differing), len(found.lists), differing)
    hidden = [
        one.invitation
        for one in found.lists
        if one.is_complete and not one.received and one.invitation.endswith("/Withdrawn_Submission")
    ]
    # On API v2 withdrawn papers are no list of their own.
    if hidden and found.api == 1:
        yield Caution(Trap.WITHDRAWN_HIDDEN, len(hidden), None, hidden)


def traps_of_papers(found: Coverage) -> Iterator[Caution]:
    """What papers and reviews tell."""
    if found.listed_twice.count:
        yield Caution(
            Trap.LISTED_TWICE, found.listed_twice.count, sum(found.papers.values()), found.listed_twice.examples
        )
    reviewed = {status: count - found.without_reviews.get(status, 0) for status, count in found.papers.items()}
    undecided, of = sum(reviewed.get(status, 0) for status in UNDECIDED), sum(reviewed.values())
    if undecided * 2 > of:
        yield Caution(Trap.BEFORE_DECISIONS, undecided, of)
    if found.not_public:
        yield Caution(Trap.NOT_PUBLIC, found.not_public)


def traps_of_pdfs(found: PdfCoverage) -> Iterator[Caution]:
    """What the versions tell."""
    if found.without_deadline:
        yield Caution(Trap.NO_DEADLINE, found.without_deadline, found.papers)


def traps_of_venue(found: Coverage, visibility: Visibility | None) -> Iterator[Caution]:
    """What the catalogue tells, and what the papers tell where it does not.

    Args:
        found: What was read of its notes.
        visibility: As the catalogue has it; None where it says nothing.
    """
    accepted, rejected = (found.papers.get(status, 0) for status in (Status.ACCEPTED, Status.REJECTED))
    hides_rejected = visibility in {Visibility.REJECTED_OPT_IN, Visibility.ACCEPTED_ONLY} and accepted + rejected > 0
    if hides_rejected or (not rejected and accepted >= ENOUGH_ACCEPTED):
        yield Caution(Trap.NO_REJECTED, rejected, accepted + rejected)
    bare = sum(found.without_reviews.values())
    if visibility in {Visibility.SOME_REVIEWS, Visibility.REVIEWS_PRIVATE} and bare:
        yield Caution(Trap.REVIEWS_HIDDEN, bare, sum(found.papers.values()))
    if visibility is Visibility.REVERTED_BEFORE_DISCUSSION and found.reviews:
        yield Caution(Trap.REVERTED, found.reviews)


def traps_of_references(raw: RawStore, venue_id: str, statuses: Mapping[str, Status]) -> Iterator[Caution]:
    """What API v1's references tell of accepted papers: their chairs could write one PDF over all versions.

    Only accepted papers count: the last version of any other may well be its first.
    """
    spread = same = 0
    first: list[str] = []
    for forum_id, found in raw.by_forum((Kind.REFERENCE,), venue_id):
        if statuses.get(forum_id) is not Status.ACCEPTED:
            continue
        notes = (salvage(Note, one.body) for one in found if one.subject_id == forum_id)
        pdfs = [(note.created_ms, note.fields["pdf"]) for note in notes if note.created_ms and "pdf" in note.fields]
        times = [created_ms for created_ms, _ in pdfs]
        if times and max(times) - min(times) > MONTHS_MS:
            spread += 1
            if len({str(path) for _, path in pdfs}) == 1:
                same += 1
                first.append(forum_id)
    if same:
        yield Caution(Trap.PDFS_OVERWRITTEN, same, spread, first[:EXAMPLES])
