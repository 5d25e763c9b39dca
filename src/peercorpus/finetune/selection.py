"""Select the papers and reviews of a release to train on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from peercorpus.benchmark.cases import BenchTask, Case, CaseCounts, CasePaper, CaseSelection, check_venues, read_papers
from peercorpus.corpus.resubmissions import group_into_works
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.examples import TrainingExample, TrainingTask, make_examples
from peercorpus.records.enums import PUBLISHABLE_GRADES, Aspect, Grade
from peercorpus.release.exports.samples import scores_before_decision
from peercorpus.release.folder import Release
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import Split

COLUMNS = ("forum_id", "reviewer", "scores", "posted_after_decision", "at_decision")


def read_confidence(release: Release) -> dict[tuple[str, str], float]:
    """Return the confidence of reviewers on [0, 1], by forum and reviewer.

    It is missing if the form does not show which answers are confident.

    Raises:
        PeercorpusError: A file of the release cannot be read.
    """
    confidence: dict[tuple[str, str], float] = {}
    for row in release.rows("reviews", None, COLUMNS):
        for score in scores_before_decision(row):
            if score.aspect is Aspect.CONFIDENCE and score.unit is not None:
                confidence.setdefault((row["forum_id"], row["reviewer"]), score.unit)
    return confidence


SINGLE_REVIEWER_TASKS = frozenset({BenchTask.REVIEW, BenchTask.REBUTTAL})
"""Tasks whose examples are one reviewer's words."""


@dataclass(frozen=True, slots=True)
class SelectionRule:
    """Which papers and reviews to train on.

    Attributes:
        venues: Venue ids or conference names; empty for all.
        years: Years; empty for all.
        worst_grade: The worst grade of text to accept.
        min_words: Minimum number of words of a review, including the review that a conversation is about.
        min_confidence: Minimum confidence of the reviewer, as a share of the form's scale, in [0, 1]; None for any.
    """

    venues: frozenset[str] = frozenset()
    years: frozenset[int] = frozenset()
    worst_grade: Grade = PUBLISHABLE_GRADES[-1]
    min_words: int = 0
    min_confidence: float | None = None

    def check(self, subject: TrainingTask) -> None:
        """Check that the rule is consistent and applies to a training task.

        Raises:
            PeercorpusError: A number is out of range, or does not apply to the task's examples.
        """
        if self.min_confidence is not None and not 0 <= self.min_confidence <= 1:
            raise PeercorpusError(
                f"--min-confidence must be between 0 and 1 (a share of the form's scale), got {self.min_confidence:g}."
            )
        asks_of_reviews = self.min_words or self.min_confidence is not None
        if asks_of_reviews and not SINGLE_REVIEWER_TASKS & set(subject.tasks):
            raise PeercorpusError(
                f"--min-words and --min-confidence choose single reviews, which '{subject}' does not use; omit them."
            )


@dataclass(frozen=True, slots=True)
class ExampleSelector:
    """Applies a selection rule to a release.

    Attributes:
        confidence: The reviewers' confidence; empty unless the rule needs it.
        works: Id of the work of each paper that is linked to another, by forum id.
    """

    release: Release
    chosen: SelectionRule
    confidence: Mapping[tuple[str, str], float]
    works: Mapping[str, str]

    def examples(self, task: BenchTask, split: Split, taken: CaseCounts) -> Iterator[TrainingExample]:
        """Yield the examples of a task, in the order of the release.

        Args:
            task: The task.
            split: The split of the release.
            taken: Receives the counts of examples that are left out.

        Raises:
            PeercorpusError: A file of the release cannot be read.
        """
        standing = self._choose_submissions(task, split)
        for paper, row in read_papers(self.release, task, self._make_selection(split), taken):
            work = self.works.get(paper.forum_id, paper.forum_id)
            why = self._explain_refusal(paper)
            if why is None and standing.get(work, paper.forum_id) != paper.forum_id:
                why = "another submission of the work is taken"
            if why is not None:
                taken.left_out[f"papers: {why}"] += 1
                continue
            for example in make_examples(Case(paper.forum_id, task, paper), row, taken):
                yield from self._filter_example(example, taken)

    def _make_selection(self, split: Split) -> CaseSelection:
        return CaseSelection(split, self.chosen.venues, self.chosen.worst_grade)

    def _choose_submissions(self, task: BenchTask, split: Split) -> dict[str, str]:
        """Return the paper to use for each work with several submissions.

        Among those with an example, this is the one with the best grade of text, the first if there are several.
        """
        grades = list(Grade)
        best = dict[str, tuple[int, str]]()
        for paper, row in read_papers(self.release, task, self._make_selection(split), CaseCounts(), with_texts=False):
            work = self.works.get(paper.forum_id)
            if (
                work is not None
                and self._explain_refusal(paper) is None
                and self._has_example(Case("", task, paper), row)
            ):
                grade = grades.index(paper.grade)
                if work not in best or grade < best[work][0]:
                    best[work] = grade, paper.forum_id
        return {work: forum_id for work, (_, forum_id) in best.items()}

    def _has_example(self, case: Case, row: Row) -> bool:
        return any(
            True
            for example in make_examples(case, row, CaseCounts())
            for _ in self._filter_example(example, CaseCounts())
        )

    def _explain_refusal(self, paper: CasePaper) -> str | None:
        if self.chosen.years and paper.year not in self.chosen.years:
            return "of another year"
        return None

    def _filter_example(self, example: TrainingExample, counts: CaseCounts) -> Iterator[TrainingExample]:
        why = self._explain_example_refusal(example) if example.task in SINGLE_REVIEWER_TASKS else None
        if why is None:
            counts.cases += 1
            yield example
        else:
            counts.left_out[f"{'reviews' if example.task is BenchTask.REVIEW else 'conversations'}: {why}"] += 1

    def _explain_example_refusal(self, example: TrainingExample) -> str | None:
        if example.words < self.chosen.min_words:
            return "a shorter review"
        if self.chosen.min_confidence is not None:
            sure = self.confidence.get((example.case.paper.forum_id, example.reviewer or ""))
            if sure is None:
                return "the reviewer's confidence is unknown"
            if sure < self.chosen.min_confidence:
                return "a less confident reviewer"
        return None


def prepare_selection(release: Release, chosen: SelectionRule) -> ExampleSelector:
    """Return the selector for a release, after reading the data that the rule needs.

    Raises:
        PeercorpusError: A file of the release cannot be read, or the rule names a venue or a conference that is not in
            it.
    """
    check_venues(release, chosen.venues)
    links = release.rows("links", None, ("forum_id", "earlier_id"))
    works = group_into_works((row["earlier_id"], row["forum_id"]) for row in links)
    confidence = {} if chosen.min_confidence is None else read_confidence(release)
    return ExampleSelector(release=release, chosen=chosen, confidence=confidence, works=works)
