"""Compare runs of one protocol, in tables and in pairs, with 95 % intervals over papers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from peercorpus.benchmark.arms import ArmDifference, compare_arms, group_by_protocol, name_runs
from peercorpus.benchmark.cases import PaperPart
from peercorpus.benchmark.cutoff import Cutoff, CutoffTable, read_periods, split_at_cutoff
from peercorpus.benchmark.estimates import (
    DROPPED,
    LENIENT,
    UNINFORMED,
    Column,
    Estimate,
    cell,
    collect_columns,
    concerns_group,
    name_measurer,
    treat_failures,
)
from peercorpus.benchmark.logs import Protocol, TaskRun, comparable_runs, fields_asked
from peercorpus.benchmark.measures import (
    Measure,
    bin_probabilities,
    compute_over_papers,
    group_by_paper,
    select_measures,
)
from peercorpus.benchmark.outcomes import CaseOutcome, Scored
from peercorpus.errors import PeercorpusError, UndefinedMetricError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.metrics.intervals.pairs import PairedDifference as Difference
from peercorpus.metrics.intervals.pairs import compare_pairs
from peercorpus.metrics.intervals.papers import Bounds
from peercorpus.metrics.prediction import ReliabilityBin
from peercorpus.venues.rules import warn_of_pooling

FEWEST_WINS = 2 / 3
"""Smallest share of papers on which a reviewer must beat the best floor for a measure to be clearly above it.

One in two is chance. It is required only of measures of correctness that differ on most papers.
"""
ALL = "all"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """People and floors by one measure, both measured against the other reviewers.

    Attributes:
        measure: Name in tables.
        venue: Conference and year, or `all`.
        papers: Number of papers with several reviewers.
        human: The result of people.
        floors: The results of the floors, by name.
        best: Name of the best floor.
        gain: Difference between people and the best floor, positive if people are better.
        bounds: The gain's 95 % interval; None if it has none.
        wins: Share of papers on which people are better, ties counted half; None if most papers tie.
    """

    measure: str
    venue: str
    papers: int
    human: float
    floors: Mapping[str, float]
    best: str
    gain: float
    bounds: Bounds | None
    wins: float | None

    @property
    def is_clear(self) -> bool:
        """Whether people are clearly above the floor: significantly better, and on most papers."""
        return self.bounds is not None and self.bounds[0] > 0 and (self.wins is None or self.wins >= FEWEST_WINS)


def compare_with_floors(measure: Measure, outcomes: Sequence[CaseOutcome]) -> Iterator[Ceiling]:
    """Yield the ceiling of a measure over all papers, then by venue and year if there are several.

    A measure has none if it is undefined for people or all floors, or if it measures the form or calibration of answers
    instead of their correctness.
    """
    if measure.higher_is_better is None or measure.bounds is None or not measure.metric:
        return
    scored = [outcome for outcome in outcomes if outcome.unscored is None]
    venues = sorted({outcome.venue for outcome in scored})
    for venue in (ALL, *(venues if len(venues) > 1 else ())):
        of_venue = [outcome for outcome in scored if venue in {ALL, outcome.venue}]
        ceiling = _compare(measure, venue, of_venue) if of_venue else None
        if ceiling is not None:
            yield ceiling


def _compare(measure: Measure, venue: str, outcomes: Sequence[CaseOutcome]) -> Ceiling | None:
    """Compare people with each floor, on the papers on which the measure has a value for both."""
    sign = 1 if measure.higher_is_better else -1
    every = group_by_paper(outcomes)
    floors = {}
    for name in sorted(set.intersection(*(set(outcome.floors) for outcome in outcomes))):
        answered = [(one, replace(one, found=one.floors[name])) for one in outcomes]
        both = [(one, floor) for one, floor in answered if measure.concerns(one) and measure.concerns(floor)]
        people, papers = group_by_paper(one for one, _ in both), group_by_paper(floor for _, floor in both)
        try:
            value = compute_over_papers(measure, list(papers.values()))
            compared = compare_pairs(people, papers, measure.estimator)
            floors[name] = value, (people, papers), compared
        except UndefinedMetricError:
            continue
    if not floors:
        return None
    best = max(floors, key=lambda name: sign * floors[name][0])
    _, beside, compared = floors[best]
    bounds = measure.scale(compared.bounds)
    if bounds is not None and sign < 0:
        bounds = -bounds[1], -bounds[0]
    return Ceiling(
        measure=measure.name,
        venue=venue,
        papers=len(every),
        human=compute_over_papers(measure, list(every.values())) * measure.factor,
        floors={name: value * measure.factor for name, (value, _, _) in floors.items()},
        best=best,
        gain=sign * compared.value * measure.factor,
        bounds=bounds,
        wins=_count_wins(measure, *beside, sign),
    )


def _count_wins(
    measure: Measure, people: Mapping[str, list[CaseOutcome]], floor: Mapping[str, list[CaseOutcome]], sign: int
) -> float | None:
    """Return the share of papers on which people are better; None if most are ties or the measure needs many papers.

    Also None if a single answer is either right or wrong: if a floor is right, nothing can be better.
    """
    try:
        answers = (outcome for papers in (people, floor) for outcomes in papers.values() for outcome in outcomes)
        if {measure.of([outcome]) for outcome in answers} <= {0, 1}:
            return None
        gains = [sign * (measure.of(people[paper]) - measure.of(floor[paper])) for paper in people]
    except UndefinedMetricError:
        return None
    ties = sum(gain == 0 for gain in gains)
    if 2 * ties > len(gains):
        return None
    return (sum(gain > 0 for gain in gains) + ties / 2) / len(gains)


@dataclass(frozen=True, slots=True)
class RunResult:
    """One row of a table: the numbers of one run.

    Attributes:
        prompt: The adapter whose prompts the model received, or `ours`; empty for a baseline.
        failures: Treatment of answers without a score; empty if all have one.
        n: Number of answers that count.
        papers: Number of papers with these answers.
        unscored: Number of answers without a score, by reason.
        cut_papers: Cases in which the model saw only a part of the paper.
        cut_answers: Number of answers that ended at the token limit; they are scored unchanged.
        cells: One per measure; None if the number is undefined or was not measured in this run.
        reliability: For decisions that all state a probability: the share of accepted papers by probability.
        says: Description of a baseline; for a judged model, the reliability of the judge.
    """

    name: str
    is_baseline: bool
    prompt: str
    failures: str
    n: int
    papers: int
    unscored: Counter[str]
    cut_papers: int
    cut_answers: int
    cells: tuple[Estimate | None, ...]
    says: str
    reliability: tuple[ReliabilityBin, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """One table of runs.

    Attributes:
        group: Subject of the measures, such as an aspect; empty if the task has one table.
        rows: Models, then baselines, each sorted by the first measure, best first.
        signatures: Signatures for the notes below the table, by measure; one for each version that was used.
        has_controls: Whether some models saw less than the paper.
        is_part: Whether some runs were asked for more fields, which another model does not give.
        arms: Descriptions of the figures shown, or of what controls could not show, by the name of the run.
        differences: Differences between the arms of each model with several arms.
        cutoff: The same runs before and after a model's cutoff; None unless one is stated.
        ceilings: Comparison of people with the floors, on all papers and by venue and year.
        not_asked: Number of cases of the task that were not asked because of a limit.
        pooled: Warning that the cases are of venues with different rules; empty if there is none.
    """

    protocol: Protocol
    group: str
    measures: tuple[Measure, ...]
    rows: tuple[RunResult, ...]
    signatures: dict[str, list[str]]
    is_part: bool = False
    has_controls: bool = False
    arms: Mapping[str, str] = field(default_factory=dict)
    differences: tuple[ArmDifference, ...] = ()
    cutoff: CutoffTable | None = None
    ceilings: tuple[Ceiling, ...] = ()
    not_asked: int = 0
    pooled: str = ""


@dataclass(slots=True)
class Boards:
    """All tables of a folder of logs.

    Attributes:
        notes: Runs that are in no table, with the reason, and protocols without a baseline.
    """

    boards: list[Board] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _make_rows(run: TaskRun, name: str, group: str, columns: Sequence[Column]) -> list[RunResult]:
    asked = {
        scored: [outcome for outcome in outcomes if concerns_group(outcome, group)]
        for scored, outcomes in run.outcomes.items()
    }
    failed = _count_unscored(asked)
    is_readable = any(outcome.lenient is not None for outcomes in asked.values() for outcome in outcomes)
    treatments = (DROPPED, *((LENIENT,) if is_readable else ()), UNINFORMED) if failed else ("",)
    if run.is_ceiling:
        treatments = treatments[:1]
    rows = []
    for failures in treatments:
        chosen = {scored: treat_failures(outcomes, failures) for scored, outcomes in asked.items()}
        counted = chosen[next(iter(asked))]
        cells = [
            cell(column.measure, chosen[column.scored])
            if column.scored in chosen and name_measurer(column.scored, run, column.measure) == column.by
            else None
            for column in columns
        ]
        papers = len({outcome.forum_id for outcome in counted})
        row = RunResult(
            name=name,
            is_baseline=run.is_baseline,
            prompt="" if run.is_baseline else run.adapter or "ours",
            failures=failures,
            n=len(counted),
            papers=papers,
            unscored=_count_unscored(asked, besides_readable=failures == LENIENT),
            cut_papers=run.cut_papers,
            cut_answers=run.cut_answers,
            cells=tuple(cells),
            says=run.says,
            reliability=tuple(bin_probabilities(counted)),
        )
        rows.append(row)
    return rows


def _count_unscored(asked: Mapping[Scored, Sequence[CaseOutcome]], *, besides_readable: bool = False) -> Counter[str]:
    """Count the answers without a score, each once, by the first reason: the task's scorers come before the judge.

    Args:
        asked: The outcomes by scorer.
        besides_readable: Whether answers that can be read leniently are not counted.
    """
    reasons: dict[tuple[str, int], str] = {}
    for outcomes in asked.values():
        for index, outcome in enumerate(outcomes):
            if outcome.unscored is not None and not (besides_readable and outcome.lenient is not None):
                reasons.setdefault((outcome.case_id, index), outcome.unscored)
    return Counter(reasons.values())


def _sort_rows(rows: list[list[RunResult]], first: Measure) -> tuple[RunResult, ...]:
    def place(of_run: list[RunResult]) -> tuple[bool, bool, float, str]:
        worst = of_run[-1].cells[0]
        value = 0.0 if worst is None else worst.value
        return of_run[0].is_baseline, worst is None, -value if first.higher_is_better else value, of_run[0].name

    return tuple(row for of_run in sorted(rows, key=place) for row in of_run)


def _collect_signatures(runs: Sequence[TaskRun], columns: Sequence[Column]) -> dict[str, list[str]]:
    signatures = {}
    for column in columns:
        metric = column.measure.metric
        measured = (
            run
            for run in runs
            if column.scored in run.outcomes and name_measurer(column.scored, run, column.measure) == column.by
        )
        used = {run.signatures[metric] for run in measured if metric in run.signatures}
        signatures[column.measure.name] = sorted(used) or ["mean over answers"]
    return signatures


def _keep_latest(runs: Iterable[TaskRun], notes: list[str]) -> list[TaskRun]:
    """Return the latest run of each model and protocol, and add notes on the others."""
    kept: dict[tuple[object, ...], TaskRun] = {}
    for run in runs:
        key = (run.protocol, *run.identity)
        if key in kept:
            notes.append(f"'{kept[key].path.name}' is left out: '{run.path.name}' is a later run of the same.")
        kept[key] = run
    return list(kept.values())


def make_boards(runs: Sequence[TaskRun], show: Show = show_nothing, cutoff: Cutoff | None = None) -> Boards:
    """Return a table for each protocol; baselines appear in each table of their cases. Incomplete runs are only noted.

    Args:
        runs: Runs, oldest first.
        show: Receives the progress.
        cutoff: End of a model's training data, at which all tables are split.

    Raises:
        PeercorpusError: The release for the dates of papers is missing, or cannot be read.
    """
    tables = Boards()
    went_on = {run.task_id for run in runs if not run.missing}
    for run in runs:
        if run.missing and run.task_id not in went_on:
            tables.notes.append(
                f"'{run.path.name}' ({run.protocol.task} by {run.name}) is left out: it was interrupted; run it again."
            )
    complete = _keep_latest([run for run in runs if not run.missing], tables.notes)
    grouped = list(group_by_protocol(complete))
    meter = Meter("tables", "protocols", show, total=len(grouped))
    for protocol, of_protocol in grouped:
        if not any(run.is_baseline for run in of_protocol):
            tables.notes.append(f"No baseline has answered these cases of '{protocol.task}'; add one for comparison.")
        _add_boards(tables, protocol, of_protocol, cutoff)
        meter.advance()
    return tables


def _add_boards(tables: Boards, protocol: Protocol, runs: list[TaskRun], cutoff: Cutoff | None) -> None:
    periods = {} if cutoff is None else read_periods(cutoff, protocol, runs)
    for group in collect_columns(runs):
        for alike, is_part in comparable_runs(runs, group):
            columns = collect_columns(alike)[group]
            names = name_runs(alike)
            rows = [_make_rows(run, name, group, columns) for run, name in zip(alike, names, strict=True)]
            measures = tuple(column.measure for column in columns)
            ordered = _sort_rows(rows, measures[0])
            tables.boards.append(
                Board(
                    protocol=protocol,
                    group=group,
                    measures=measures,
                    rows=ordered,
                    signatures=_collect_signatures(alike, columns),
                    is_part=is_part,
                    has_controls=any(run.part is not PaperPart.PAPER for run in alike),
                    arms={name: says for run, name in zip(alike, names, strict=True) if (says := run.describe_arm())},
                    differences=tuple(compare_arms(alike, columns)),
                    cutoff=None
                    if cutoff is None
                    else split_at_cutoff(list(zip(names, alike, strict=True)), columns, group, periods, cutoff.day),
                    ceilings=tuple(_find_ceilings(alike, columns, group)),
                    not_asked=max(run.not_asked for run in alike),
                    pooled=warn_of_pooling(_list_venues(alike)),
                )
            )


def _list_venues(runs: Sequence[TaskRun]) -> set[str]:
    outcomes = (outcome for run in runs for of_one in run.outcomes.values() for outcome in of_one)
    return {outcome.venue_id for outcome in outcomes} - {""}


def _find_ceilings(runs: Sequence[TaskRun], columns: Sequence[Column], group: str) -> Iterator[Ceiling]:
    for run in runs:
        for column in columns if run.is_ceiling else ():
            if name_measurer(column.scored, run, column.measure) == column.by:
                outcomes = [
                    outcome
                    for outcome in run.outcomes.get(column.scored, ())
                    if concerns_group(outcome, group) and column.measure.concerns(outcome)
                ]
                yield from compare_with_floors(column.measure, outcomes)


def compare_runs(first: TaskRun, second: TaskRun) -> list[tuple[str, Difference | str]]:
    """Return the differences of two runs on the same cases, the first minus the second, with intervals.

    A case without a score in one of the runs is left out of both, and an entry under the name of the scorer states how
    many of these each run has: following the format and judging well are different abilities.

    Returns:
        The name of each number and its difference, or the reason why there is none.

    Raises:
        PeercorpusError: The runs differ in cases, splits or prompts.
    """
    same = first.protocol == second.protocol
    if not same and not ((first.is_baseline or second.is_baseline) and first.protocol.data == second.protocol.data):
        names = [name for name in Protocol.__slots__ if getattr(first.protocol, name) != getattr(second.protocol, name)]
        raise PeercorpusError(
            f"'{first.path.name}' and '{second.path.name}' cannot be compared: they differ in {', '.join(names)}."
        )
    differences: list[tuple[str, Difference | str]] = []
    for scored in Scored:
        if scored in first.outcomes and scored in second.outcomes:
            differences += _compare_scored(scored, first, second)
        elif scored in first.outcomes or scored in second.outcomes:
            differences.append((scored.value, "only one of the runs has this measurement"))
    return differences


def _compare_scored(scored: Scored, first: TaskRun, second: TaskRun) -> Iterator[tuple[str, Difference | str]]:
    unscored = [{outcome.case_id for outcome in run.outcomes[scored] if outcome.unscored} for run in (first, second)]
    left_out = unscored[0] | unscored[1]
    ours, theirs = (
        [outcome for outcome in run.outcomes[scored] if outcome.case_id not in left_out] for run in (first, second)
    )
    if left_out:
        cases = len({outcome.case_id for outcome in first.outcomes[scored]})
        yield (
            scored.value,
            f"without a score: {len(unscored[0]):,} of {cases:,} cases by {first.name}, {len(unscored[1]):,} by"
            f" {second.name}; compared on the other {cases - len(left_out):,}",
        )
    if not ours:
        return
    for measure in select_measures(scored, ours):
        name = f"{measure.group} {measure.name}".strip()
        ways = name_measurer(scored, first, measure), name_measurer(scored, second, measure)
        if ways[0] != ways[1]:
            yield name, f"not comparable, because it was measured in different ways: {ways[0]}; {ways[1]}"
        elif fields_asked(ours, measure.group) != fields_asked(theirs, measure.group):
            yield name, "not comparable, because the runs were asked for different fields"
        else:
            yield name, _compare_measured(measure, ours, theirs)


def _compare_measured(measure: Measure, ours: Sequence[CaseOutcome], theirs: Sequence[CaseOutcome]) -> Difference | str:
    """Compare two runs on the cases that concern the measure in both; return a sentence if that is not possible."""
    both = set.intersection(*({one.case_id for one in run if measure.concerns(one)} for run in (ours, theirs)))
    if not both:
        return "no case has a value in both runs"
    kept = ([one for one in run if one.case_id in both and measure.concerns(one)] for run in (ours, theirs))
    try:
        first, second = map(group_by_paper, kept)
        return compare_pairs(first, second, measure.estimator)
    except UndefinedMetricError as error:
        return str(error)


def plot_reliability(board: Board) -> dict[str, tuple[ReliabilityBin, ...]]:
    """Return the data of a table's reliability plot: the rows whose answers all state a probability."""
    # Without failures, whose substitute probability is not the model's own.
    rows = (row for row in board.rows if row.reliability and row.failures in {"", DROPPED})
    return {row.name: row.reliability for row in rows}
