"""A leaderboard: runs of one protocol beside each other and beside the baselines, each number with its interval."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from peercorpus.benchmark.logs import Protocol, Run
from peercorpus.benchmark.measures import Measure, measures_of
from peercorpus.benchmark.outcomes import Outcome, Scored
from peercorpus.errors import PeercorpusError, UndefinedMetricError
from peercorpus.metrics import Difference, bootstrap, paired
from peercorpus.progress import Meter, Show, show_nothing

DROPPED, WRONG = "left out", "counted as wrong"
"""What becomes of answers that are not scored."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with its 95 % interval over papers; None where there are fewer than two, or no draw has the number."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """What one run reaches.

    Attributes:
        failures: What becomes of answers that are not scored; empty where all are.
        n: Answers that the numbers are of, of so many `papers`.
        unscored: Answers that are not scored, by the reason.
        cells: By measure; None where a number is not defined, or the run has it not.
    """

    name: str
    is_baseline: bool
    words: str
    failures: str
    n: int
    papers: int
    unscored: Counter[str]
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """Runs in one table.

    Attributes:
        group: What the measures are of, such as an aspect; empty where the task has one table.
        rows: Baselines last, each part the best first by the first measure.
        signatures: What stands below the table, by measure: one a version that was used.
    """

    protocol: Protocol
    group: str
    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]
    signatures: dict[str, list[str]]


@dataclass(slots=True)
class Boards:
    """All tables of a folder of logs.

    Attributes:
        notes: Runs that stand in no table, and why; protocols without a baseline.
    """

    boards: list[Board] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def by_paper(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Outcomes by their paper, which is what chance draws."""
    papers: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        papers[outcome.forum_id].append(outcome)
    return papers


def _flat(measure: Measure, papers: Sequence[list[Outcome]]) -> float:
    return measure.of(list(chain.from_iterable(papers)))


def cell(measure: Measure, outcomes: Sequence[Outcome], resamples: int) -> Cell | None:
    """A number of some outcomes with its interval; None where they do not define it."""
    try:
        value = measure.of(list(outcomes))
    except UndefinedMetricError:
        return None
    try:
        found = bootstrap(by_paper(outcomes), partial(_flat, measure), resamples)
    except UndefinedMetricError:
        return Cell(value * measure.factor)
    return Cell(value * measure.factor, found.low * measure.factor, found.high * measure.factor)


def _name(scored: Scored, run: Run, measure: Measure) -> str:
    return f"{measure.name} (by {run.grader})" if scored is Scored.JUDGE else measure.name


def _measures(runs: Sequence[Run]) -> dict[str, dict[str, tuple[Scored, Measure]]]:
    """All measures of some runs, by group and name; those of several graders stand in columns of their own."""
    groups: dict[str, dict[str, tuple[Scored, Measure]]] = {}
    for run in runs:
        for scored, outcomes in run.outcomes.items():
            for measure in measures_of(scored, outcomes):
                name = _name(scored, run, measure)
                groups.setdefault(measure.group, {}).setdefault(name, (scored, replace(measure, name=name)))
    return groups


def _rows(run: Run, columns: dict[str, tuple[Scored, Measure]], resamples: int) -> list[Row]:
    failed = Counter(one.unscored for outcomes in run.outcomes.values() for one in outcomes if one.unscored)
    first = next(iter(run.outcomes.values()))
    # A judge's number is of its own run alone, so it goes by the name that holds the judge's.
    has = _measures([run]).get(next(iter(columns.values()))[1].group, {})
    rows = []
    for failures in (DROPPED, WRONG) if failed else ("",):
        chosen = {
            scored: [one for one in outcomes if failures == WRONG or one.unscored is None]
            for scored, outcomes in run.outcomes.items()
        }
        cells = []
        for name, (scored, measure) in columns.items():
            cells.append(cell(measure, chosen[scored], resamples) if name in has else None)
        of = [one for one in first if failures == WRONG or one.unscored is None]
        papers = len({one.forum_id for one in of})
        words = "" if run.is_baseline else run.adapter or "ours"
        rows.append(Row(run.name, run.is_baseline, words, failures, len(of), papers, failed, tuple(cells)))
    return rows


def _ordered(rows: list[list[Row]], first: Measure) -> tuple[Row, ...]:
    def place(of_run: list[Row]) -> tuple[bool, bool, float, str]:
        worst = of_run[-1].cells[0]
        value = 0.0 if worst is None else worst.value
        return of_run[0].is_baseline, worst is None, -value if first.higher_is_better else value, of_run[0].name

    return tuple(row for of_run in sorted(rows, key=place) for row in of_run)


def _signatures(runs: Sequence[Run], columns: dict[str, tuple[Scored, Measure]]) -> dict[str, list[str]]:
    found = {}
    for name, (_, measure) in columns.items():
        used = {run.signatures[measure.metric] for run in runs if measure.metric in run.signatures}
        found[name] = sorted(used) or ["mean over answers"]
    return found


def _latest(runs: Iterable[Run], notes: list[str]) -> list[Run]:
    """Of runs of one protocol by one model the latest."""
    kept: dict[tuple[object, ...], Run] = {}
    for run in runs:
        key = (run.protocol, run.name, run.is_baseline, run.adapter, run.grader)
        if key in kept:
            notes.append(f"'{kept[key].path.name}' is left out: '{run.path.name}' is a later run of the same.")
        kept[key] = run
    return list(kept.values())


def make_boards(runs: Sequence[Run], resamples: int = 1000, show: Show = show_nothing) -> Boards:
    """Every run that is whole in a table of its protocol; baselines in each table of their cases.

    Args:
        runs: The oldest first.
        resamples: Of the papers, for the intervals.
        show: Told how far it is.
    """
    made = Boards()
    went_on = {run.task_id for run in runs if not run.missing}
    for run in runs:
        if run.missing and run.task_id not in went_on:
            made.notes.append(
                f"'{run.path.name}' ({run.protocol.task} by {run.name}) is left out: it broke off; run the same again."
            )
    whole = _latest([run for run in runs if not run.missing], made.notes)
    asked = sorted({run.protocol for run in whole if not run.is_baseline})
    covered = {protocol.data for protocol in asked}
    asked += sorted({run.protocol for run in whole if run.is_baseline and run.protocol.data not in covered})
    meter = Meter("tables", "runs", show, total=len(whole))
    for protocol in asked:
        models = [run for run in whole if run.protocol == protocol and not run.is_baseline]
        baselines = [run for run in whole if run.is_baseline and run.protocol.data == protocol.data]
        if not baselines:
            made.notes.append(
                f"No baseline has answered these cases of '{protocol.task}'; add one to see what is beaten."
            )
        _add(made, protocol, [*models, *_one_each(baselines)], resamples, meter)
    return made


def _one_each(baselines: Sequence[Run]) -> list[Run]:
    """Each baseline once: what models are told makes no difference to it."""
    return list({run.name: run for run in baselines}.values())


def _add(made: Boards, protocol: Protocol, runs: list[Run], resamples: int, meter: Meter) -> None:
    for group, columns in _measures(runs).items():
        rows = [_rows(run, columns, resamples) for run in runs]
        measures = tuple(measure for _, measure in columns.values())
        ordered = _ordered(rows, measures[0])
        made.boards.append(Board(protocol, group, measures, ordered, _signatures(runs, columns)))
    for _ in runs:
        meter.advance()


def compare(first: Run, second: Run, resamples: int = 1000) -> list[tuple[str, Difference]]:
    """The differences of two runs on the same cases, with intervals; answers that are not scored count as wrong.

    Raises:
        PeercorpusError: They are of different cases, splits or words.
    """
    same = first.protocol == second.protocol
    if not same and not ((first.is_baseline or second.is_baseline) and first.protocol.data == second.protocol.data):
        names = [name for name in Protocol.__slots__ if getattr(first.protocol, name) != getattr(second.protocol, name)]
        raise PeercorpusError(
            f"'{first.path.name}' and '{second.path.name}' cannot be compared: they differ in {', '.join(names)}."
        )
    found = []
    for scored in first.outcomes.keys() & second.outcomes.keys():
        ours, theirs = by_paper(first.outcomes[scored]), by_paper(second.outcomes[scored])
        for measure in measures_of(scored, first.outcomes[scored]):
            try:
                difference = paired(ours, theirs, partial(_flat, measure), resamples)
            except UndefinedMetricError:
                continue
            found.append((f"{measure.group} {measure.name}".strip(), difference))
    return found
