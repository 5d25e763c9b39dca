"""Which papers and reviews are learnt from, and how often each."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from peercorpus.benchmark.cases import BenchTask, Case, CasePaper, Selection, Taken, read_papers
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.lessons import Lesson, Subject, lessons_of
from peercorpus.finetune.signals import Signals, read_signals
from peercorpus.kinds import PUBLISHABLE_GRADES, Grade
from peercorpus.publish.opened import Release
from peercorpus.publish.record_rows import Row
from peercorpus.publish.splits import Side
from peercorpus.works import works_of

OF_ONE_REVIEWER = frozenset({BenchTask.REVIEW, BenchTask.REBUTTAL})
"""Tasks whose lessons are one reviewer's words."""
MOST_WEIGHT = 100


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is learnt from.

    Attributes:
        venues: Ids of venues or names of conferences; empty for all.
        years: Empty for all.
        worst_grade: The grade that a paper's text must have at least.
        min_words: Of a review; also of the review that a conversation is about.
        max_words: The same; None for any.
        min_confidence: Of the reviewer, as a share of the form's scale, on [0, 1]; None for any.
        max_spread: Highest less lowest recommendation of the paper, as a share of the scale, on [0, 1]; None for any.
        every_try: Whether all submissions of one work are taken, instead of one.
        weights: How often the lessons of a venue or conference are told, 1 where none is named; the venue's id goes
            before the conference. A fraction takes that share of them.
    """

    venues: frozenset[str] = frozenset()
    years: frozenset[int] = frozenset()
    worst_grade: Grade = PUBLISHABLE_GRADES[-1]
    min_words: int = 0
    max_words: int | None = None
    min_confidence: float | None = None
    max_spread: float | None = None
    every_try: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)

    def check(self, subject: Subject) -> None:
        """See that it can be held to.

        Raises:
            PeercorpusError: A number is out of its range, or concerns nothing that is learnt.
        """
        for name, share in (("--min-confidence", self.min_confidence), ("--max-spread", self.max_spread)):
            if share is not None and not 0 <= share <= 1:
                raise PeercorpusError(f"{name} is a share of the form's scale, from 0 to 1; {share:g} is none.")
        for name, weight in self.weights.items():
            if not 0 <= weight <= MOST_WEIGHT:
                raise PeercorpusError(f"The weight of '{name}' lies from 0 to {MOST_WEIGHT}; {weight:g} does not.")
        if self.max_words is not None and self.max_words < self.min_words:
            raise PeercorpusError(f"No review has {self.min_words} words and no more than {self.max_words}.")
        asks_of_reviews = self.min_words or self.max_words is not None or self.min_confidence is not None
        if asks_of_reviews and not OF_ONE_REVIEWER & set(subject.tasks):
            raise PeercorpusError(
                f"What is learnt for '{subject}' is of no one review: leave out --min-words, --max-words and"
                " --min-confidence."
            )

    def times(self, lesson: Lesson) -> int:
        """How often a lesson is told: the whole part of its weight, and once more for a share of them by their ids."""
        paper = lesson.case.paper
        weight = self.weights.get(paper.venue_id, self.weights.get(paper.conference, 1.0))
        whole = int(weight)
        drawn = hashlib.sha256(f"{lesson.task}:{lesson.lesson_id}".encode()).digest()[:8]
        return whole + (int.from_bytes(drawn) / 2**64 < weight - whole)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen of a release.

    Attributes:
        signals: Read only where they are asked for.
        works: The work of every paper that is linked to another, by forum id.
    """

    release: Release
    chosen: Chosen
    signals: Signals
    works: Mapping[str, str]

    def lessons(self, task: BenchTask, side: Side, taken: Taken) -> Iterator[Lesson]:
        """The lessons of a task, in the order of the release.

        Args:
            task: The task.
            side: Where from.
            taken: Counts what is left out, and why.

        Raises:
            PeercorpusError: A file of the release cannot be read.
        """
        standing = {} if self.chosen.every_try else self._standing(task, side)
        for paper, row in read_papers(self.release, task, self._selection(side), taken):
            work = self.works.get(paper.forum_id, paper.forum_id)
            why = self._why_not(paper)
            if why is None and standing.get(work, paper.forum_id) != paper.forum_id:
                why = "another submission of the work is taken"
            if why is not None:
                taken.left_out[f"papers: {why}"] += 1
                continue
            for lesson in lessons_of(Case(paper.forum_id, task, paper), row, taken):
                yield from self._fitting(lesson, taken)

    def _selection(self, side: Side) -> Selection:
        return Selection(side, self.chosen.venues, self.chosen.worst_grade)

    def _standing(self, task: BenchTask, side: Side) -> dict[str, str]:
        """The paper that stands for each work with several.

        Of those from which there is a lesson the one whose text is known best, of these the first.
        """
        grades, best = list(Grade), dict[str, tuple[int, str]]()
        for paper, row in read_papers(self.release, task, self._selection(side), Taken(), with_texts=False):
            work = self.works.get(paper.forum_id)
            if work is not None and self._why_not(paper) is None and self._has_lesson(Case("", task, paper), row):
                grade = grades.index(paper.grade)
                if work not in best or grade < best[work][0]:
                    best[work] = grade, paper.forum_id
        return {work: forum_id for work, (_, forum_id) in best.items()}

    def _has_lesson(self, case: Case, row: Row) -> bool:
        return any(True for lesson in lessons_of(case, row, Taken()) for _ in self._fitting(lesson, Taken()))

    def _why_not(self, paper: CasePaper) -> str | None:
        if self.chosen.years and paper.year not in self.chosen.years:
            return "of another year"
        if self.chosen.max_spread is not None:
            spread = self.signals.spread(paper.forum_id)
            if spread is None:
                return "fewer than two recommendations on a known scale"
            if spread > self.chosen.max_spread:
                return "the reviewers lie further apart"
        return None

    def _fitting(self, lesson: Lesson, taken: Taken) -> Iterator[Lesson]:
        why = self._why_no_lesson(lesson) if lesson.task in OF_ONE_REVIEWER else None
        if why is None:
            taken.cases += 1
            yield lesson
        else:
            taken.left_out[f"{'reviews' if lesson.task is BenchTask.REVIEW else 'conversations'}: {why}"] += 1

    def _why_no_lesson(self, lesson: Lesson) -> str | None:
        if lesson.words < self.chosen.min_words:
            return "a shorter review"
        if self.chosen.max_words is not None and lesson.words > self.chosen.max_words:
            return "a longer review"
        if self.chosen.min_confidence is not None:
            sure = self.signals.confidence.get((lesson.case.paper.forum_id, lesson.reviewer or ""))
            if sure is None:
                return "the reviewer's confidence is not known"
            if sure < self.chosen.min_confidence:
                return "a less confident reviewer"
        return None


def choose(release: Release, chosen: Chosen) -> Choice:
    """Make ready to choose.

    Raises:
        PeercorpusError: A file of the release cannot be read.
    """
    asks = chosen.min_confidence is not None or chosen.max_spread is not None
    links = release.rows("links", None, ("forum_id", "earlier_id"))
    works = works_of((row["earlier_id"], row["forum_id"]) for row in links)
    return Choice(release, chosen, read_signals(release) if asks else Signals(), works)
