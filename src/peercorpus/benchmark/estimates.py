"""Compute the numbers of a run's outcomes with their intervals, in columns that runs measured alike share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from peercorpus.benchmark.logs import TaskRun
from peercorpus.benchmark.measures import Measure, compute_over_papers, group_by_paper, select_measures
from peercorpus.benchmark.outcomes import GRADER_FAILED, CaseOutcome, Scored, ScoresRecord
from peercorpus.errors import UndefinedMetricError

DROPPED = "left out"
"""Treatment of answers without a score in a row of a table: they do not count."""
LENIENT = "read leniently"
"""Treatment: what they plainly say counts, and those that say nothing plainly do not."""
UNINFORMED = "counted as uninformed"
"""Treatment: they count as the answer of someone who read nothing."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval over papers.

    Attributes:
        papers: Number of papers that it is computed from.
        low: None if nothing tells how much the number varies: there is one paper, or all papers have the same value.
        high: None in the same cases as `low`.
        undefined: Of a share of pairs: resamples without a pair; the interval is computed from the others.
    """

    value: float
    papers: int
    low: float | None = None
    high: float | None = None
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A measure as some runs have it.

    Attributes:
        by: The grader, or the signature without our version; runs with another value have no number in this column.
    """

    scored: Scored
    by: str
    measure: Measure


def cell(measure: Measure, outcomes: Sequence[CaseOutcome], resamples: int) -> Estimate | None:
    """Return a number with its interval, or None if the outcomes do not define it."""
    papers = group_by_paper(outcome for outcome in outcomes if measure.concerns(outcome))
    try:
        value = compute_over_papers(measure, list(papers.values()))
    except UndefinedMetricError:
        return None
    # Ids in order, so that the same papers are drawn whatever the order of the log.
    by_id = [papers[forum_id] for forum_id in sorted(papers)]
    bounds = None if measure.bounds is None else measure.bounds(by_id, value, resamples)
    low, high = bounds or (None, None)
    return Estimate(
        value=value * measure.factor,
        papers=len(papers),
        low=None if low is None else low * measure.factor,
        high=None if high is None else high * measure.factor,
    )


def name_measurer(scored: Scored, run: TaskRun, measure: Measure) -> str:
    """Return who or what measured a number, without our own version; empty for a plain mean."""
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
    """Return the outcomes that count in a row of a table, as they count there."""
    if failures == UNINFORMED:
        # An answer that only the judge failed on lacks a score through no fault of its own.
        return [outcome for outcome in outcomes if outcome.unscored != GRADER_FAILED]
    scored = [outcome for outcome in outcomes if outcome.unscored is None]
    if failures == LENIENT:
        scored += [
            replace(outcome, found=outcome.lenient, unscored=None)
            for outcome in outcomes
            if outcome.lenient is not None
        ]
    return scored
