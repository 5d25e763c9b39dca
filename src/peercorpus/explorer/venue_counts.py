"""What the explorer counts of a venue while its index is made."""

from dataclasses import dataclass, field

from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.public_forums import PublicForum
from peercorpus.raw import Kind
from peercorpus.workspace import Workspace

MOST_TURNS = 8
"""Conversations with as many turns or more are counted together."""


@dataclass(slots=True)
class VenueCounts:
    """Counts of one venue, over what may be shown.

    Attributes:
        is_listed: Whether OpenReview's listings of it were read to their end; None where it was imported.
        records: Records of published datasets held.
        pdfs: PDFs known, as versions of its papers; `pdfs_here` of them were fetched.
        texts: Papers of which a text is held; `initial_texts` of them as the reviewers read it, as far as is known.
        ratings: Papers by the mean of their recommendations, rounded down, on the venue's scale.
        low: The lowest recommendation that a form of it offers; None where no form is known; `high` likewise.
        turns: Conversations by the number of their turns, as words: "1", …, "8 or more".
        changed: Papers by whether a recommendation changed: "yes", "no", "not known".
    """

    venue_id: str
    conference: str = ""
    year: int | None = None
    is_listed: bool | None = None
    records: int = 0
    papers: int = 0
    reviews: int = 0
    conversations: int = 0
    rebuttals: int = 0
    pdfs: int = 0
    pdfs_here: int = 0
    texts: int = 0
    initial_texts: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    grades: dict[str, int] = field(default_factory=dict)
    ratings: dict[str, int] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None

    def count(self, forum: PublicForum, row: PaperRow) -> None:
        """Add one paper."""
        self.conference, self.year = row.conference, row.year
        self.papers += 1
        self.reviews += row.reviews
        self.conversations += row.conversations
        self.rebuttals += row.has_rebuttal
        pdfs = [version for version in forum.versions if version.is_pdf]
        self.pdfs += len(pdfs)
        self.pdfs_here += sum(version.sha256 is not None for version in pdfs)
        self.texts += row.text_sha256 is not None
        self.initial_texts += row.is_initial_text
        _add(self.statuses, row.status)
        _add(self.grades, row.grade or "none")
        _add(self.changed, {True: "yes", False: "no", None: "not known"}[row.score_changed])
        if row.rating is not None:
            _add(self.ratings, str(int(row.rating // 1)))
        for talk in forum.conversations:
            turns = len(talk.turns)
            _add(self.turns, str(turns) if turns < MOST_TURNS else f"{MOST_TURNS} or more")
        self._widen(row)

    def _widen(self, row: PaperRow) -> None:
        if row.rating_low is not None:
            self.low = row.rating_low if self.low is None else min(self.low, row.rating_low)
        if row.rating_high is not None:
            self.high = row.rating_high if self.high is None else max(self.high, row.rating_high)


def _add(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1


def counting(workspace: Workspace, venue_id: str) -> VenueCounts:
    """Counts of a venue of which no paper is counted yet."""
    records = workspace.raw.count(Kind.PUBLISHED, venue_id)
    return VenueCounts(venue_id, is_listed=workspace.raw.is_listed(venue_id), records=records)
