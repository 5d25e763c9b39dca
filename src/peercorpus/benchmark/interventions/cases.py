"""Read papers from a release and make the questions about them: two for each arm of each paper."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import msgspec
from inspect_ai.dataset import Sample

from peercorpus.benchmark.adapters.adapter import Adapter
from peercorpus.benchmark.cases import CASE_MAKERS, BenchTask, Case, CaseCounts, CaseSelection, read_papers
from peercorpus.benchmark.interventions.change import CHANGED, Arm, Change, Place
from peercorpus.benchmark.interventions.passages import PaperText
from peercorpus.benchmark.interventions.rules import choose_change
from peercorpus.benchmark.messages import ShownPaper, TokenBudget, messages, shown_paper
from peercorpus.benchmark.solvers import build_sample
from peercorpus.release.folder import Release
from peercorpus.release.record_rows import Row

QUESTIONS = (BenchTask.REVIEW, BenchTask.ACCEPTANCE)
"""The two questions, worded as in these tasks."""
NO_RULE = "no rule applies"
ARM = "arm"
"""Key of a sample's metadata that names its arm."""
PLACES = "places"
"""Key of a sample's metadata with the places that a review may name."""


@dataclass(frozen=True, slots=True)
class ChangedPaper:
    """A paper as shown in its questions, and the changes made by rules.

    Attributes:
        shown: The clean text, cut to the budget; the cut is the same in every arm.
        changes: One change for each arm that has one.
        cases: The questions, by task.
    """

    forum_id: str
    shown: ShownPaper
    changes: dict[Arm, Change]
    cases: dict[BenchTask, Case]

    def text(self, arm: Arm) -> str:
        """Return the text of an arm."""
        return self.shown.text if arm is Arm.CLEAN else self.changes[arm].apply(self.shown.text)

    def places(self, arm: Arm) -> dict[Arm, Place]:
        """Return the places that a review of an arm may name: for the clean paper, the unchanged places of all arms."""
        if arm is Arm.CLEAN:
            return {changed: change.places()[0] for changed, change in self.changes.items()}
        return {arm: self.changes[arm].places()[1]}


@dataclass(slots=True)
class ChangeCounts:
    """Counts of the papers of each arm, and of those left out.

    Attributes:
        left_out: Number of papers by arm or question and reason.
    """

    papers: int = 0
    arms: Counter[Arm] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


def change_paper(text: str, seed: str) -> dict[Arm, Change]:
    """Return the change of each arm for which a rule applies to a text."""
    paper = PaperText(text)
    drawn = ((arm, choose_change(paper, arm, seed)) for arm in CHANGED)
    return {arm: change for arm, change in drawn if change is not None}


def _draw_papers(release: Release, selection: CaseSelection, papers: int, seed: int, counts: ChangeCounts) -> set[str]:
    """Return the ids of the papers drawn by a seed among those with a review to compare with."""
    of_task = CaseCounts()
    rows = read_papers(release, BenchTask.REVIEW, selection, of_task, with_texts=False)
    known = {
        paper.forum_id
        for paper, row in rows
        if list(CASE_MAKERS[BenchTask.REVIEW](Case(paper.forum_id, BenchTask.REVIEW, paper), row, of_task))
    }
    counts.left_out.update({what: count for what, count in of_task.left_out.items() if what.startswith("papers: ")})
    drawn = sorted(known, key=lambda forum_id: hashlib.sha256(f"{seed}/{forum_id}".encode()).digest())
    if drawn[papers:]:
        counts.left_out["papers: not drawn"] += len(drawn) - papers
    return set(drawn[:papers])


def _make_cases(case: Case, row: Row, counts: ChangeCounts) -> dict[BenchTask, Case]:
    cases: dict[BenchTask, Case] = {}
    for task in QUESTIONS:
        of_task = CaseCounts()
        made = list(CASE_MAKERS[task](replace(case, task=task), row, of_task))
        cases |= {task: made[0]} if made else {}
        if not made:
            counts.left_out.update({f"{task}: {what}": count for what, count in of_task.left_out.items()})
    return cases


def read_changed_papers(
    release: Release,
    selection: CaseSelection,
    budget: TokenBudget,
    papers: int,
    seed: int,
    counts: ChangeCounts,
) -> Iterator[ChangedPaper]:
    """Yield the papers of a split drawn by a seed, with their changes; one is in memory at a time.

    Args:
        release: A release with the configuration `review_sft`.
        selection: Selection of the papers.
        budget: Limit on the part of a paper that is shown.
        papers: Maximum number of papers.
        seed: Seed of the papers and of their changes.
        counts: Receives the counts of made and left-out papers.

    Raises:
        PeercorpusError: A file of the release cannot be read.
    """
    drawn = _draw_papers(release, selection, papers, seed, counts)
    counter = budget.counter()
    for paper, row in read_papers(release, BenchTask.REVIEW, selection, CaseCounts()):
        if paper.forum_id not in drawn:
            continue
        shown = shown_paper(paper, budget, counter)
        changes = change_paper(shown.text, f"{seed}/{paper.forum_id}")
        counts.left_out.update(f"{arm}: {NO_RULE}" for arm in CHANGED if arm not in changes)
        if changes:
            counts.papers += 1
            counts.arms.update([Arm.CLEAN, *changes])
            cases = _make_cases(Case(paper.forum_id, BenchTask.REVIEW, paper), row, counts)
            yield ChangedPaper(paper.forum_id, shown, changes, cases)
        else:
            counts.left_out[f"papers: {NO_RULE}"] += 1


def make_samples(changed: ChangedPaper, adapter: Adapter | None) -> Iterator[Sample]:
    """Yield the questions about a paper, one for each arm and task; an adapter may support only some of the tasks."""
    for task, case in changed.cases.items():
        if adapter is not None and task not in adapter.tasks:
            continue
        for arm in (Arm.CLEAN, *changed.changes):
            asked = replace(case, case_id=f"{case.paper.forum_id}/{arm}/{task}")
            text = changed.text(arm)
            said = messages(asked, text) if adapter is None else adapter.messages(asked, text)
            sample = build_sample(asked, said, changed.shown)
            places = {where.value: msgspec.to_builtins(place) for where, place in changed.places(arm).items()}
            sample.metadata = (sample.metadata or {}) | {ARM: arm.value, PLACES: places}
            yield sample
