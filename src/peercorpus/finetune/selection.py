"""Select the papers and reviews of a release to train on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from peercorpus.benchmark.cases import BenchTask, Case, CaseCounts, CasePaper, CaseSelection, check_venues, read_papers
from peercorpus.corpus.resubmissions import group_into_works
from peercorpus.finetune.examples import TrainingExample, make_examples
from peercorpus.records.enums import Aspect, Grade
from peercorpus.release.exports.request import ExampleRequest
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
class ExampleSelector:
    """Selects the examples of a request.

    Attributes:
        confidence: The reviewers' confidence; empty unless the request needs it.
        works: Id of the work of each paper that is linked to another, by forum id.
    """

    release: Release
    request: ExampleRequest
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
        return CaseSelection(split, frozenset(self.request.venue), Grade(self.request.grade))

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
        if self.request.year and paper.year not in self.request.year:
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
        if example.words < (self.request.min_words or 0):
            return "a shorter review"
        if self.request.min_confidence is not None:
            sure = self.confidence.get((example.case.paper.forum_id, example.reviewer or ""))
            if sure is None:
                return "the reviewer's confidence is unknown"
            if sure < self.request.min_confidence:
                return "a less confident reviewer"
        return None


def prepare_selection(release: Release, request: ExampleRequest) -> ExampleSelector:
    """Return the selector for a release, after reading the data that the request needs.

    Raises:
        PeercorpusError: A file of the release cannot be read, or a venue or a conference of the request is not in it.
    """
    check_venues(release, request.venue)
    links = release.rows("links", None, ("forum_id", "earlier_id"))
    works = group_into_works((row["earlier_id"], row["forum_id"]) for row in links)
    confidence = {} if request.min_confidence is None else read_confidence(release)
    return ExampleSelector(release=release, request=request, confidence=confidence, works=works)
