"""Who is left out where only versions are taken that are proven: grades by venue, year and decision, and their use.

Provable initial versions lean to rejected papers, as accepted ones are revised; a result on them speaks of these papers
only. Everything is counted from the tables, a batch at a time; of a paper a few marks are held.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import EllipsisType
from typing import Any

from peercorpus.audit.shares import Difference, Share
from peercorpus.kinds import PUBLISHABLE_GRADES, Aspect, FileSays, Grade, Role, Status
from peercorpus.tables import Tables

BATCH_ROWS = 256

CONTRADICTED = "but the file says itself"
"""What the rule of a version says whose grade was lowered because its own file contradicts it."""


class Task(StrEnum):
    """What a paper can be used for."""

    ACCEPTANCE = "acceptance"
    """To predict the decision: a provably initial text, accepted or rejected, where the venue has papers of both."""
    SCORES = "scores"
    """To predict scores: a provably initial text, and a public review with an overall recommendation as a number."""
    REVIEWS = "reviews"
    """To write reviews: a provably initial text, and a public review with text."""
    REBUTTALS = "rebuttals"
    """To discuss: a conversation in which a reviewer and the authors speak."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A paper whose file says that it is a later version than its grade says, or would have said."""

    forum_id: str
    grade: Grade
    rule: str


@dataclass(slots=True)
class VenueGrades:
    """Counts of one venue.

    Attributes:
        grades: Papers by year, status and grade; no grade where no version is known. The year is None where the venue
            has none.
        decided: Papers with a provably initial text, by status.
        usable: Papers by task.
        files: Files of graded versions that were looked into.
        contradictions: In the order of forums.
    """

    venue_id: str
    grades: Counter[tuple[int | None, Status, Grade | None]] = field(default_factory=Counter)
    decided: Counter[Status] = field(default_factory=Counter)
    usable: Counter[Task] = field(default_factory=Counter)
    files: int = 0
    contradictions: list[Contradiction] = field(default_factory=list)

    @property
    def papers(self) -> int:
        """Papers of the venue."""
        return self.grades.total()

    def use(self, task: Task) -> Share:
        """How many of the venue's papers a task can use."""
        return Share(self.usable[task], self.papers)


def provable(venues: Iterable[VenueGrades], status: Status, year: int | EllipsisType | None = ...) -> Share:
    """How many papers of a status have a provably initial version.

    Args:
        venues: Counted together.
        status: What became of the papers.
        year: Of this year, or of none; of all, if not named.
    """
    counts = Counter[bool]()
    for venue in venues:
        for (of_year, of_status, grade), number in venue.grades.items():
            if of_status is status and (year is ... or of_year == year):
                counts[grade in PUBLISHABLE_GRADES] += number
    return Share(counts[True], counts.total())


def bias(venues: Sequence[VenueGrades]) -> Difference:
    """The share of accepted papers with a provably initial version, less that of rejected ones."""
    return Difference(provable(venues, Status.ACCEPTED), provable(venues, Status.REJECTED))


def read_grades(tables: Tables) -> list[VenueGrades]:
    """Count every venue that has papers.

    Raises:
        TableError: The tables are not built.
    """
    for name in ("1-papers", "2-reviews", "4-versions", "5-texts", "6-conversations"):
        tables.require(name)
    return [read_venue(tables, venue_id) for venue_id in tables.venues("1-papers")]


def read_venue(tables: Tables, venue_id: str) -> VenueGrades:
    """Count one venue."""
    found = VenueGrades(venue_id)
    graded, with_text = _read_versions(tables, found)
    scored, reviewed = _read_reviews(tables, venue_id)
    discussed = _read_discussed(tables, venue_id)
    for row in _rows(tables, "1-papers", venue_id, ["forum_id", "year", "status"]):
        forum_id, status = row["forum_id"], Status(row["status"])
        found.grades[row["year"], status, graded.get(forum_id)] += 1
        has_text = forum_id in with_text
        found.decided[status] += has_text
        found.usable[Task.SCORES] += has_text and forum_id in scored
        found.usable[Task.REVIEWS] += has_text and forum_id in reviewed
        found.usable[Task.REBUTTALS] += forum_id in discussed
    classes = found.decided[Status.ACCEPTED], found.decided[Status.REJECTED]
    found.usable[Task.ACCEPTANCE] = sum(classes) if all(classes) else 0
    return found


def _rows(tables: Tables, name: str, venue_id: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for batch in tables.batches(name, venue_id, columns, BATCH_ROWS):
        yield from batch.to_pylist()


def _read_versions(tables: Tables, found: VenueGrades) -> tuple[dict[str, Grade], set[str]]:
    """The grade of each paper, and the papers with a provably initial text."""
    read = {row["sha256"] for row in _rows(tables, "5-texts", found.venue_id, ["sha256"])}
    grades: dict[str, Grade] = {}
    with_text: set[str] = set()
    columns = ["forum_id", "sha256", "is_initial", "grade", "evidence"]
    for row in _rows(tables, "4-versions", found.venue_id, columns):
        if row["grade"] is None:
            continue
        grade = grades[row["forum_id"]] = Grade(row["grade"])
        if row["is_initial"] and grade in PUBLISHABLE_GRADES and row["sha256"] in read:
            with_text.add(row["forum_id"])
        # A table written before files were looked into does not have the column.
        says = row["evidence"].get("file_says")
        found.files += says is not None
        if says == FileSays.FINAL and (row["is_initial"] or CONTRADICTED in row["evidence"]["rule"]):
            found.contradictions.append(Contradiction(row["forum_id"], grade, row["evidence"]["rule"]))
    return grades, with_text


def _read_reviews(tables: Tables, venue_id: str) -> tuple[set[str], set[str]]:
    """The papers with a public recommendation as a number, and those with a public review that has text."""
    scored, reviewed = set[str](), set[str]()
    columns = ["forum_id", "scores", "sections", "readers_public", "deleted"]
    for row in _rows(tables, "2-reviews", venue_id, columns):
        if not row["readers_public"] or row["deleted"]:
            continue
        if any(one["aspect"] == Aspect.RECOMMENDATION and one["value"] is not None for one in row["scores"]):
            scored.add(row["forum_id"])
        if any(one["text"].strip() for one in row["sections"]):
            reviewed.add(row["forum_id"])
    return scored, reviewed


def _read_discussed(tables: Tables, venue_id: str) -> set[str]:
    """The papers of which a conversation has a reviewer's and an author's turn."""
    discussed = set[str]()
    for row in _rows(tables, "6-conversations", venue_id, ["forum_id", "turns"]):
        if {Role.REVIEWER, Role.AUTHOR} <= {turn["role"] for turn in row["turns"]}:
            discussed.add(row["forum_id"])
    return discussed
