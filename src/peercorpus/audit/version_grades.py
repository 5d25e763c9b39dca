"""Count version grades by venue, year and decision, and the papers that each task can use."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from types import EllipsisType
from typing import Any

from peercorpus.metrics.intervals.papers import Bounds, subtract_bounds, wilson_interval
from peercorpus.records.enums import (
    PUBLISHABLE_GRADES,
    Aspect,
    ConversationKind,
    FileSays,
    Grade,
    Role,
    SectionKind,
    Status,
)
from peercorpus.workspace.delta_tables import Tables

BATCH_ROWS = 256

CONTRADICTED = "but the file says itself"
"""Part of the rule of a version whose grade was lowered because its own file contradicts it."""


@dataclass(frozen=True, slots=True)
class Proportion:
    """A count among a number of papers.

    Attributes:
        count: Papers that have a property.
        of: Papers examined.
    """

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """The proportion, in [0, 1]; None if no paper was examined.

        >>> Proportion(1, 4).value, Proportion(0, 0).value
        (0.25, None)
        """
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> Bounds | None:
        """The 95 % score interval, in [0, 1]; None if no paper was examined.

        >>> [round(end, 4) for end in Proportion(81, 263).interval]
        [0.2553, 0.3662]
        """
        return wilson_interval(self.count, self.of)


@dataclass(frozen=True, slots=True)
class ProportionDifference:
    """The difference of two proportions, the first minus the second."""

    first: Proportion
    second: Proportion

    @property
    def value(self) -> float | None:
        """The difference, in [-1, 1]; None if either proportion covers no paper."""
        first = self.first.value
        second = self.second.value
        return None if first is None or second is None else first - second

    @property
    def interval(self) -> Bounds | None:
        """The 95 % interval, in [-1, 1]; None if either proportion covers no paper.

        Source: R. G. Newcombe, Interval estimation for the difference between independent proportions: comparison of
        eleven methods. Statistics in Medicine 17 (1998), pp. 873-890, method 10 and its table II.

        >>> [round(end, 4) for end in ProportionDifference(Proportion(56, 70), Proportion(48, 80)).interval]
        [0.0524, 0.3339]
        """
        first_bounds = self.first.interval
        second_bounds = self.second.interval
        if first_bounds is None or second_bounds is None:
            return None
        return subtract_bounds(self.first.value or 0.0, first_bounds, self.second.value or 0.0, second_bounds)

    @property
    def leans(self) -> int:
        """1 or -1 if the interval excludes 0 and the first proportion is the larger or the smaller one; else 0."""
        interval = self.interval
        if interval is None:
            return 0
        return int(interval[0] > 0) - int(interval[1] < 0)


class PaperUse(StrEnum):
    """A task that a paper can be used for."""

    ACCEPTANCE = "acceptance"
    """Predict the decision: a provably initial text, accepted or rejected, at a venue with papers of both."""
    SCORES = "scores"
    """Predict scores: a provably initial text, and a public review with a recommendation as a number."""
    REVIEWS = "reviews"
    """Write reviews: a provably initial text, and a public review with text."""
    REBUTTALS = "rebuttals"
    """Discuss: a conversation in which a reviewer and the authors speak."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A paper whose file shows a later version than its grade states, or would have stated without it."""

    forum_id: str
    grade: Grade
    rule: str


@dataclass(slots=True)
class VenueGrades:
    """Counts of one venue.

    Attributes:
        grades: Papers by year, status and grade; no grade if no version is known. The year is None if the venue
            has none.
        decided: Papers with a provably initial text, by status.
        usable: Papers by task.
        files: Files of graded versions that were inspected.
        contradictions: Papers whose file contradicts their grade, in the order of forums.
    """

    venue_id: str
    grades: Counter[tuple[int | None, Status, Grade | None]] = field(default_factory=Counter)
    decided: Counter[Status] = field(default_factory=Counter)
    usable: Counter[PaperUse] = field(default_factory=Counter)
    files: int = 0
    contradictions: list[Contradiction] = field(default_factory=list)

    @property
    def papers(self) -> int:
        """Number of papers of the venue."""
        return self.grades.total()

    def use(self, task: PaperUse) -> Proportion:
        """Return how many of the venue's papers a task can use."""
        return Proportion(self.usable[task], self.papers)


def provable(venues: Iterable[VenueGrades], status: Status, year: int | EllipsisType | None = ...) -> Proportion:
    """Return how many papers with a status have a provably initial version.

    Args:
        venues: Venues, counted together.
        status: The status to count.
        year: Papers of this year; None for papers without a year, `...` for all.
    """
    counts = Counter[bool]()
    for venue in venues:
        for (of_year, of_status, grade), number in venue.grades.items():
            if of_status is status and (year is ... or of_year == year):
                counts[grade in PUBLISHABLE_GRADES] += number
    return Proportion(counts[True], counts.total())


def bias(venues: Sequence[VenueGrades]) -> ProportionDifference:
    """Return the share of accepted papers with a provably initial version, minus that of rejected ones."""
    return ProportionDifference(provable(venues, Status.ACCEPTED), provable(venues, Status.REJECTED))


def read_grades(tables: Tables) -> list[VenueGrades]:
    """Return the counts of every venue that has papers.

    Raises:
        TableError: The tables are not built.
    """
    for name in ("1-papers", "2-reviews", "4-versions", "5-texts", "6-conversations"):
        tables.require(name)
    return [count_venue(tables, venue_id) for venue_id in tables.venues("1-papers")]


def count_venue(tables: Tables, venue_id: str) -> VenueGrades:
    """Return the counts of one venue."""
    venue = VenueGrades(venue_id)
    graded, with_text = _read_versions(tables, venue)
    scored, reviewed = _read_reviews(tables, venue_id)
    discussed = _read_discussed(tables, venue_id)
    for row in _read_rows(tables, "1-papers", venue_id, ["forum_id", "year", "status"]):
        forum_id = row["forum_id"]
        status = Status(row["status"])
        venue.grades[row["year"], status, graded.get(forum_id)] += 1
        has_text = forum_id in with_text
        venue.decided[status] += has_text
        venue.usable[PaperUse.SCORES] += has_text and forum_id in scored
        venue.usable[PaperUse.REVIEWS] += has_text and forum_id in reviewed
        venue.usable[PaperUse.REBUTTALS] += forum_id in discussed
    classes = venue.decided[Status.ACCEPTED], venue.decided[Status.REJECTED]
    venue.usable[PaperUse.ACCEPTANCE] = sum(classes) if all(classes) else 0
    return venue


def _read_rows(tables: Tables, name: str, venue_id: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for batch in tables.batches(name, venue_id, columns, BATCH_ROWS):
        yield from batch.to_pylist()


def _read_versions(tables: Tables, venue: VenueGrades) -> tuple[dict[str, Grade], set[str]]:
    """Return the best grade of each paper, and the papers with a provably initial text."""
    read = {row["sha256"] for row in _read_rows(tables, "5-texts", venue.venue_id, ["sha256"])}
    grades: dict[str, Grade] = {}
    with_text: set[str] = set()
    columns = ["forum_id", "sha256", "is_initial", "grade", "evidence"]
    for row in _read_rows(tables, "4-versions", venue.venue_id, columns):
        if row["grade"] is None:
            continue
        grade = Grade(row["grade"])
        # A paper may have a graded PDF and published texts, each with the grade that its publisher gives it.
        grades[row["forum_id"]] = min(grade, grades.get(row["forum_id"], grade), key=attrgetter("rank"))
        if row["is_initial"] and grade in PUBLISHABLE_GRADES and row["sha256"] in read:
            with_text.add(row["forum_id"])
        # A table written before files were inspected lacks the column.
        says = row["evidence"].get("file_says")
        venue.files += says is not None
        if says == FileSays.FINAL and (row["is_initial"] or CONTRADICTED in row["evidence"]["rule"]):
            venue.contradictions.append(Contradiction(row["forum_id"], grade, row["evidence"]["rule"]))
    return grades, with_text


def _read_reviews(tables: Tables, venue_id: str) -> tuple[set[str], set[str]]:
    """Return the papers with a public numeric recommendation, and those with a public review that has text."""
    scored, reviewed = set[str](), set[str]()
    columns = ["forum_id", "scores", "sections", "readers_public", "deleted"]
    for row in _read_rows(tables, "2-reviews", venue_id, columns):
        if not row["readers_public"] or row["deleted"]:
            continue
        if any(score["aspect"] == Aspect.RECOMMENDATION and score["value"] is not None for score in row["scores"]):
            scored.add(row["forum_id"])
        if any(one["text"].strip() for one in row["sections"] if one["kind"] != SectionKind.MODEL_CHAT):
            reviewed.add(row["forum_id"])
    return scored, reviewed


def _read_discussed(tables: Tables, venue_id: str) -> set[str]:
    """Return the papers with a conversation that has turns of a reviewer and of an author."""
    discussed = set[str]()
    for row in _read_rows(tables, "6-conversations", venue_id, ["forum_id", "turns", "kind"]):
        roles = {turn["role"] for turn in row["turns"]}
        if row["kind"] == ConversationKind.REVIEW and {Role.REVIEWER, Role.AUTHOR} <= roles:
            discussed.add(row["forum_id"])
    return discussed
