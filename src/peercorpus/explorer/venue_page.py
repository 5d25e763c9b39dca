"""Count the parts of a venue that may be shown, and prepare the bar charts of its page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from peercorpus.corpus.filters import parse
from peercorpus.corpus.public_forums import PublicForum
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.point_documents import NO_ASPECT
from peercorpus.explorer.rendering import GRADES, STATUSES, format_reason
from peercorpus.explorer.selection import Selection
from peercorpus.records.enums import Grade, Status
from peercorpus.records.points import Point
from peercorpus.venues.venue_id import year_of
from peercorpus.workspace.delta_tables import Tables

_MAX_BAR_WIDTH = 100.0
"""Width of the longest bar, in the units of the chart."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart.

    Attributes:
        width: From 0 to 100; at least 0.5 unless the count is 0.
        link: Query string that selects its papers; None if there is none.
    """

    label: str
    count: int
    width: float
    share: float
    link: str | None


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart.

    Attributes:
        noun: The items counted, in the plural.
        unknown: Number of items that are in no bar.
    """

    title: str
    noun: str
    bars: Sequence[Bar]
    unknown: int = 0

    @property
    def total(self) -> int:
        """Sum of the counts."""
        return sum(bar.count for bar in self.bars)


def bars(title: str, noun: str, counts: Mapping[str, int], links: Mapping[str, str] | None = None) -> Bars:
    """Return a chart of counts by label, in the order of `counts`.

    The longest bar is `_MAX_BAR_WIDTH` wide; a count above 0 gives a bar of at least 0.5, and 0 gives none.
    """
    most = max(counts.values(), default=0)
    total = sum(counts.values())
    drawn = [
        Bar(
            label=label,
            count=count,
            width=max(0.5, _MAX_BAR_WIDTH * count / most) if count else 0.0,
            share=count / total if total else 0.0,
            link=(links or {}).get(label),
        )
        for label, count in counts.items()
    ]
    return Bars(title, noun, drawn)


MOST_TURNS = 8
"""Conversations with this many turns or more are counted together."""


@dataclass(slots=True)
class VenueCounts:
    """Counts of one venue, of records that may be shown.

    Attributes:
        is_listed: Whether OpenReview's listings of it were read completely; None if it was imported.
        records: Number of records imported from published datasets.
        pdfs: Number of PDFs known, as versions of its papers.
        texts: Number of papers with a text.
        initial_texts: Number of papers whose text is the version the reviewers read, according to its grade.
        ratings: Number of papers by mean recommendation, rounded down, on the venue's scale.
        turns: Number of conversations by number of turns, with the keys "1", …, "8 or more".
        years: Number of papers by year, those without one left out; `year` is the one that the venue's id names.
        changed: Number of papers by whether a recommendation changed: "yes", "no", "not known".
        low: Lowest recommendation that a form of it offers; None if no form is known.
        points: Number of points of its reviews by kind and aspect; the aspect is "none" if unknown.
        answered: Number of those points with an answer by the authors.
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
    years: dict[str, int] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    grades: dict[str, int] = field(default_factory=dict)
    ratings: dict[str, int] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    points: dict[str, dict[str, int]] = field(default_factory=dict)
    answered: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def points_total(self) -> int:
        """Number of points of its reviews."""
        return sum(count for aspects in self.points.values() for count in aspects.values())

    def count_points(self, points: Iterable[Point]) -> None:
        """Add the points of a paper to the counts."""
        for point in points:
            _add(self.points.setdefault(point.kind.value, {}), point.aspect or NO_ASPECT)
            if point.answers:
                _add(self.answered.setdefault(point.kind.value, {}), point.aspect or NO_ASPECT)

    def add(self, other: "VenueCounts") -> None:
        """Add the counts of a further paper of the venue, as `count_paper` made them."""
        for name in ("papers", "reviews", "conversations", "rebuttals", "pdfs", "pdfs_here", "texts", "initial_texts"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("years", "statuses", "grades", "ratings", "turns", "changed"):
            counts = getattr(self, name)
            for value, count in getattr(other, name).items():
                counts[value] = counts.get(value, 0) + count
        self.conference, self.year = other.conference, other.year
        self.low = min((value for value in (self.low, other.low) if value is not None), default=None)
        self.high = max((value for value in (self.high, other.high) if value is not None), default=None)


def count_paper(forum: PublicForum, row: PaperRow) -> VenueCounts:
    """Return the counts of a venue with only this paper."""
    pdfs = [version for version in forum.versions if version.is_pdf]
    counts = VenueCounts(
        row.venue_id,
        conference=row.conference,
        year=year_of(row.venue_id),
        papers=1,
        reviews=row.reviews,
        conversations=row.conversations,
        rebuttals=int(row.has_rebuttal),
        pdfs=len(pdfs),
        pdfs_here=sum(version.sha256 is not None for version in pdfs),
        texts=int(row.text_sha256 is not None),
        initial_texts=int(row.is_initial_text),
        years={} if row.year is None else {str(row.year): 1},
        statuses={row.status: 1},
        grades={row.grade or "none": 1},
        ratings={} if row.rating is None else {str(int(row.rating // 1)): 1},
        changed={{True: "yes", False: "no", None: "not known"}[row.score_changed]: 1},
        low=row.rating_low,
        high=row.rating_high,
    )
    for talk in forum.with_reviewers:
        turns = len(talk.turns)
        _add(counts.turns, str(turns) if turns < MOST_TURNS else f"{MOST_TURNS} or more")
    return counts


def _add(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1


_MAX_STEPS = 24
"""Scales with at most this many whole numbers show a bar for each of them; wider ones only for those that occur."""


def select_venue(venue_id: str, *further: str) -> str:
    """Return the query string that selects the papers of a venue that meet further conditions."""
    return Selection(conditions=tuple(map(parse, (f"venue={venue_id}", *further)))).query_string()


def _count_ratings(counts: VenueCounts) -> tuple[dict[str, int], dict[str, str]]:
    """Return the number of papers, and a query string, for each whole number of the mean rating."""
    by_step = {int(name): count for name, count in counts.ratings.items()}
    low = min([*by_step, *([int(counts.low)] if counts.low is not None else [])], default=0)
    high = max([*by_step, *([int(counts.high)] if counts.high is not None else [])], default=-1)
    steps = range(low, high + 1) if high - low < _MAX_STEPS else sorted(by_step)
    links = {str(step): select_venue(counts.venue_id, f"rating>={step}", f"rating<{step + 1}") for step in steps}
    return {str(step): by_step.get(step, 0) for step in steps}, links


def make_figures(counts: VenueCounts) -> list[Bars]:
    """Return the charts of a venue that have a bar."""
    statuses = {STATUSES[status]: counts.statuses[status] for status in Status if status in counts.statuses}
    status_links = {STATUSES[status]: select_venue(counts.venue_id, f"status={status}") for status in Status}
    grades = {GRADES[grade][0]: counts.grades[grade] for grade in Grade if grade in counts.grades}
    grade_links = {GRADES[grade][0]: select_venue(counts.venue_id, f"grade={grade}") for grade in Grade}
    if "none" in counts.grades:
        grades["No version held"] = counts.grades["none"]
    ratings, rating_links = _count_ratings(counts)
    names = [*map(str, range(1, MOST_TURNS)), f"{MOST_TURNS} or more"]
    last = max((names.index(name) for name in counts.turns if name in names), default=-1)
    turns = {name: counts.turns.get(name, 0) for name in names[: last + 1]}
    changed = {name.capitalize(): counts.changed[name] for name in ("yes", "no", "not known") if name in counts.changed}
    change_links = {name.capitalize(): select_venue(counts.venue_id, f"score_changed={name}") for name in ("yes", "no")}
    charts = [
        bars("Decisions", "papers", statuses, status_links),
        bars("Mean rating, rounded down", "papers", ratings, rating_links),
        bars("Turns in a conversation", "conversations", turns),
        bars("Did a rating change?", "papers", changed, change_links),
        bars("How sure is the initial version?", "papers", grades, grade_links),
    ]
    return [chart for chart in charts if chart.bars]


def list_set_aside(tables: Tables, venue_id: str) -> list[tuple[str, str, int]]:
    """Return stage, reason in words, and number of the rows of a venue that were set aside."""
    return [
        (stage, format_reason(reason), count)
        for stage in tables.stages(venue_id)
        for reason, count in tables.set_aside_counts(venue_id, stage).items()
    ]


def by_conference(venues: Mapping[str, VenueCounts]) -> list[tuple[str, list[VenueCounts]]]:
    """Group venues by conference family, the latest first."""
    families: dict[str, list[VenueCounts]] = {}
    for counts in sorted(venues.values(), key=lambda venue: (-(venue.year or 9999), venue.venue_id)):
        families.setdefault(counts.conference, []).append(counts)
    return sorted(families.items())
