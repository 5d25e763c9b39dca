"""Distinguish and compare the arms of a model: with or without figures, with the paper or a part of it."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from peercorpus.benchmark.cases import CONTROLS, PaperPart
from peercorpus.benchmark.estimates import UNINFORMED, Column, Estimate, name_measurer, treat_failures
from peercorpus.benchmark.logs import Protocol, TaskRun
from peercorpus.benchmark.measures import group_by_paper
from peercorpus.benchmark.messages import WITHOUT
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.intervals.pairs import compare_pairs


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two arms, the first minus the second.

    Attributes:
        title: The arms, in the title of a table.
        means: Meaning of the difference, as a sentence.
    """

    title: str
    means: str


FIGURES = Contrast("with figures minus without", "The effect of the figures.")
READING = {
    PaperPart.ABSTRACT: Contrast(
        f"{PaperPart.PAPER.arm} minus {PaperPart.ABSTRACT.arm}",
        "What reading the paper adds to its title and abstract.",
    ),
    PaperPart.TITLE: Contrast(
        f"{PaperPart.PAPER.arm} minus {PaperPart.TITLE.arm}",
        "What reading adds to the title. A result from the title alone is remembered or guessed from it; this"
        " table does not show which.",
    ),
}


@dataclass(frozen=True, slots=True)
class ArmDifference:
    """Results of a model in one arm minus those on the same questions in another.

    Answers without a score count as uninformed in both; those on which the judge failed in one are left out of both.

    Attributes:
        name: The run of the first arm, as in the table.
        papers: Description of the papers.
        cells: One per measure, each with its p-value; None if the number is undefined or was measured in different
            ways.
    """

    contrast: Contrast
    name: str
    papers: str
    cells: tuple[tuple[Estimate, float] | None, ...]


def name_runs(runs: Sequence[TaskRun]) -> list[str]:
    """Return the name of each run: the model, its settings and, if the runs differ in it, the arm."""
    has_figures = any(run.figures is not None for run in runs)
    has_controls = any(run.part is not PaperPart.PAPER for run in runs)
    names = []
    for run in runs:
        name = f"{run.name} ({run.settings})" if run.settings else run.name
        arms = [WITHOUT if run.figures is None else run.figures.arm] if has_figures else []
        arms += [run.part.arm] if has_controls else []
        names.append(", ".join([name, *([] if run.is_baseline else arms)]))
    return names


def group_by_protocol(runs: Sequence[TaskRun]) -> Iterator[tuple[Protocol, list[TaskRun]]]:
    """Yield the runs of each protocol; baselines, whose answers no prompt affects, are with all runs on their cases."""
    asked = sorted({run.protocol for run in runs if not run.is_baseline})
    covered = {protocol.data for protocol in asked}
    for protocol in [*asked, *sorted({run.protocol for run in runs if run.protocol.data not in covered})]:
        models = [run for run in runs if run.protocol == protocol and not run.is_baseline]
        baselines = {run.name: run for run in runs if run.is_baseline and run.protocol.data == protocol.data}
        yield protocol, [*models, *baselines.values()]


def _pair_arms(runs: Sequence[TaskRun]) -> Iterator[tuple[Contrast, TaskRun, TaskRun]]:
    """Yield the pairs of arms of one model in which the first shows more than the second."""
    plain = {run.identity[:-1]: run for run in runs if run.figures is None}
    for run in runs:
        *model, part, _ = run.identity
        if run.figures is not None:
            pairs = [(FIGURES, plain.get((*model, part)))]
        else:
            parts = CONTROLS if part is PaperPart.PAPER else ()
            pairs = [(READING[less], plain.get((*model, less))) for less in parts]
        yield from ((contrast, run, other) for contrast, other in pairs if other is not None)


def compare_arms(runs: Sequence[TaskRun], columns: Sequence[Column]) -> Iterator[ArmDifference]:
    """Yield the differences of each model's arms, on all papers and, with figures, on those that have some."""
    names = {id(run): name for run, name in zip(runs, name_runs(runs), strict=True)}
    for contrast, more, less in _pair_arms(runs):
        papers = {outcome.forum_id for outcomes in more.outcomes.values() for outcome in outcomes}
        subsets = {"all": papers}
        if more.figures is not None and more.figures.papers & papers not in (set(), papers):
            subsets["those with figures"] = more.figures.papers & papers
        for says, subset in subsets.items():
            cells = tuple(compare_column(column, more, less, subset) for column in columns)
            yield ArmDifference(contrast, names[id(more)], says, cells)


def compare_column(column: Column, first: TaskRun, second: TaskRun, papers: Set[str]) -> tuple[Estimate, float] | None:
    """Return a number of the first run minus that of the second, on the cases that count in both, with its p-value.

    None if it is undefined, or if the runs measured it in different ways.
    """
    scored, measure = column.scored, column.measure
    if any(scored not in run.outcomes or name_measurer(scored, run, measure) != column.by for run in (first, second)):
        return None
    both = [
        [outcome for outcome in treat_failures(run.outcomes[scored], UNINFORMED) if measure.concerns(outcome)]
        for run in (first, second)
    ]
    cases = [{outcome.case_id for outcome in outcomes if outcome.forum_id in papers} for outcomes in both]
    shared = cases[0] & cases[1]
    ours, theirs = (group_by_paper(outcome for outcome in outcomes if outcome.case_id in shared) for outcomes in both)
    try:
        compared = compare_pairs(ours, theirs, measure.estimator)
    except UndefinedMetricError:
        return None
    difference = Estimate(compared.value * measure.factor, compared.papers, measure.scale(compared.bounds))
    return difference, compared.p
