"""Compute the numbers of a run's outcomes with their intervals, in columns shared by runs measured in the same way."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from peercorpus.benchmark.logs import TaskRun
from peercorpus.benchmark.measures import Measure, compute_over_papers, group_by_paper, select_measures
from peercorpus.benchmark.outcomes import GRADER_FAILED, CaseOutcome, Scored, ScoresRecord
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.intervals.papers import Bounds

DROPPED = "left out"
"""Treatment of answers without a score: they do not count."""
LENIENT = "read leniently"
"""Treatment: those with a clear meaning count, the others do not."""
UNINFORMED = "counted as uninformed"
"""Treatment: they count as an answer by someone who has read nothing."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval over papers.

    Attributes:
        papers: Number of papers from which it is computed.
        bounds: The interval; None if the variation is unknown: there is one paper, or all papers have the same value.
        undefined: For a share of pairs, the number of resamples without a pair; the interval is computed from the
            others.
    """

    value: float
    papers: int
    bounds: Bounds | None = None
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A measure of some runs.

    Attributes:
        by: The grader, or the signature without our version; runs with another value have no number in this column.
    """

    scored: Scored
    by: str
    measure: Measure


def cell(measure: Measure, outcomes: Sequence[CaseOutcome]) -> Estimate | None:
    """Return a number with its interval, or None if the outcomes do not define it."""
    papers = group_by_paper(outcome for outcome in outcomes if measure.concerns(outcome))
    try:
        value = compute_over_papers(measure, list(papers.values()))
    except UndefinedMetricError:
        return None
    # Sorted ids, so that the same papers are drawn whatever the order of the log.
    by_id = [papers[forum_id] for forum_id in sorted(papers)]
    bounds = None if measure.bounds is None else measure.bounds(by_id, value)
    return Estimate(value * measure.factor, len(papers), measure.scale(bounds))


def name_measurer(scored: Scored, run: TaskRun, measure: Measure) -> str:
    """Return the grader or signature behind a number, without our own version; empty for a plain mean."""
    if scored is Scored.JUDGE:
        return f"by {run.grader}"
    return run.signatures.get(measure.metric, "").partition("|peercorpus:")[0]


def collect_columns(runs: Sequence[TaskRun]) -> dict[str, list[Column]]:
    """Return all measures of some runs by group, with separate columns for different graders or settings."""
    groups: dict[str, dict[str, dict[str, Column]]] = {}
    for run in runs:
        for scored, outcomes in run.outcomes.items():
            for measure in select_measures(scored, outcomes):
                same_name = groups.setdefault(measure.group, {}).setdefault(measure.name, {})
                by = name_measurer(scored, run, measure)
                same_name.setdefault(by, Column(scored, by, measure))
    named: dict[str, list[Column]] = {}
    for group, columns in groups.items():
        for ways in columns.values():
            for column in ways.values():
                # The grader or signature is shown only if the measure's name alone would be ambiguous.
                is_clear = len(ways) == 1 and column.scored is not Scored.JUDGE
                name = column.measure.name if is_clear else f"{column.measure.name} ({column.by})"
                named.setdefault(group, []).append(replace(column, measure=replace(column.measure, name=name)))
    return named


def concerns_group(outcome: CaseOutcome, group: str) -> bool:
    """Return whether a case concerns a table; a paper whose form lacks an aspect does not."""
    record = outcome.found
    return not isinstance(record, ScoresRecord) or any(score.aspect == group for score in record.fields)


def treat_failures(outcomes: Sequence[CaseOutcome], failures: str) -> list[CaseOutcome]:
    """Return the outcomes that count in a row of a table, in the form in which they count."""
    if failures == UNINFORMED:
        # An answer on which only the judge failed is not to blame for its missing score.
        return [outcome for outcome in outcomes if outcome.unscored != GRADER_FAILED]
    scored = [outcome for outcome in outcomes if outcome.unscored is None]
    if failures == LENIENT:
        scored += [
            replace(outcome, found=outcome.lenient, unscored=None)
            for outcome in outcomes
            if outcome.lenient is not None
        ]
    return scored
