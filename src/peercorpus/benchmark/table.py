"""A leaderboard: runs of one protocol beside each other and beside the baselines, each number with its interval."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from peercorpus.benchmark.alike import asked_alike, fields_asked
from peercorpus.benchmark.logs import Protocol, Run
from peercorpus.benchmark.measures import Measure, measures_of
from peercorpus.benchmark.outcomes import GRADER_FAILED, Outcome, SaidNumbers, Scored
from peercorpus.errors import PeercorpusError, UndefinedMetricError
from peercorpus.metrics import Difference, bootstrap, paired
from peercorpus.progress import Meter, Show, show_nothing

DROPPED, WRONG = "left out", "counted as wrong"
"""What becomes of answers that are not scored."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with its 95 % interval over papers.

    Attributes:
        papers: That it is of.
        low: None where there are fewer than two papers, or no draw has the number.
        undefined: Draws of papers on which the number has no value; the interval is of the others.
    """

    value: float
    papers: int
    low: float | None = None
    high: float | None = None
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """What one run reaches.

    Attributes:
        failures: What becomes of answers that are not scored; empty where all are.
        n: Answers that the numbers are of, of so many `papers`.
        unscored: Answers that are not scored, by the reason.
        cut_papers: Cases in which the model saw a part of the paper.
        cut_answers: Answers that the model was stopped in; they are scored as far as they go.
        cells: By measure; None where a number is not defined, or the run has it not.
        says: Of a baseline, what it does; of a model that was judged, how far to believe the judge.
    """

    name: str
    is_baseline: bool
    words: str
    failures: str
    n: int
    papers: int
    unscored: Counter[str]
    cut_papers: int
    cut_answers: int
    cells: tuple[Cell | None, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Board:
    """Runs in one table.

    Attributes:
        group: What the measures are of, such as an aspect; empty where the task has one table.
        rows: Baselines last, each part the best first by the first measure.
        signatures: What stands below the table, by measure: one a version that was used.
        is_part: Whether some of the runs were asked for more fields, which one of the models does not give.
    """

    protocol: Protocol
    group: str
    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]
    signatures: dict[str, list[str]]
    is_part: bool = False


@dataclass(slots=True)
class Boards:
    """All tables of a folder of logs.

    Attributes:
        notes: Runs that stand in no table, and why; protocols without a baseline.
    """

    boards: list[Board] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Column:
    """A measure as some runs have it.

    Attributes:
        by: The grader, or the signature less our version: runs of another have no number here.
    """

    scored: Scored
    by: str
    measure: Measure


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
    papers = by_paper(one for one in outcomes if measure.concerns(one))
    try:
        value = _flat(measure, list(papers.values())) * measure.factor
    except UndefinedMetricError:
        return None
    try:
        found = bootstrap(papers, partial(_flat, measure), resamples)
    except UndefinedMetricError:
        return Cell(value, len(papers))
    return Cell(value, len(papers), found.low * measure.factor, found.high * measure.factor, found.undefined)


def _by(scored: Scored, run: Run, measure: Measure) -> str:
    """By whom or how a run was measured, whichever version of ours did it; empty of a plain mean."""
    if scored is Scored.JUDGE:
        return f"by {run.grader}"
    return run.signatures.get(measure.metric, "").partition("|peercorpus:")[0]


def _measures(runs: Sequence[Run]) -> dict[str, list[_Column]]:
    """All measures of some runs by group, in columns of their own where several graders or settings gave them."""
    groups: dict[str, dict[str, dict[str, _Column]]] = {}
    for run in runs:
        for scored, outcomes in run.outcomes.items():
            for measure in measures_of(scored, outcomes):
                same_name = groups.setdefault(measure.group, {}).setdefault(measure.name, {})
                by = _by(scored, run, measure)
                same_name.setdefault(by, _Column(scored, by, measure))
    return {
        group: [_named(one, len(ways)) for ways in columns.values() for one in ways.values()]
        for group, columns in groups.items()
    }


def _named(column: _Column, ways: int) -> _Column:
    """The column with who or what it is by in its name, where a reader has to know."""
    if ways == 1 and column.scored is not Scored.JUDGE:
        return column
    return replace(column, measure=replace(column.measure, name=f"{column.measure.name} ({column.by})"))


def _is_of(outcome: Outcome, group: str) -> bool:
    """Whether a case asks what a table is of: a paper whose form lacks an aspect says nothing of it."""
    found = outcome.found
    return not isinstance(found, SaidNumbers) or any(one.aspect == group for one in found.fields)


def _rows(run: Run, group: str, columns: Sequence[_Column], resamples: int) -> list[Row]:
    asked = {scored: [one for one in found if _is_of(one, group)] for scored, found in run.outcomes.items()}
    failed = _failed(asked)
    first = next(iter(asked.values()))
    rows = []
    for failures in (DROPPED, WRONG) if failed else ("",):
        chosen = {
            scored: [one for one in outcomes if one.unscored is None or (failures == WRONG and _is_its_own(one))]
            for scored, outcomes in asked.items()
        }
        cells = [
            cell(one.measure, chosen[one.scored], resamples)
            if one.scored in chosen and _by(one.scored, run, one.measure) == one.by
            else None
            for one in columns
        ]
        of = [one for one in first if failures == WRONG or one.unscored is None]
        papers = len({one.forum_id for one in of})
        name = f"{run.name} ({run.settings})" if run.settings else run.name
        known = (name, run.is_baseline, "" if run.is_baseline else run.adapter or "ours", failures, len(of), papers)
        rows.append(Row(*known, failed, run.cut_papers, run.cut_answers, tuple(cells), run.says))
    return rows


def _is_its_own(failure: Outcome) -> bool:
    """Whether an answer has no score through its own fault, and not through that of who judged it."""
    return failure.unscored != GRADER_FAILED


def _failed(asked: Mapping[Scored, Sequence[Outcome]]) -> Counter[str]:
    """Answers that a scorer has no score for, each once, by the first reason: the task's own before a judge's."""
    reasons: dict[tuple[str, int], str] = {}
    for outcomes in asked.values():
        for place, one in enumerate(outcomes):
            if one.unscored is not None:
                reasons.setdefault((one.case_id, place), one.unscored)
    return Counter(reasons.values())


def _ordered(rows: list[list[Row]], first: Measure) -> tuple[Row, ...]:
    def place(of_run: list[Row]) -> tuple[bool, bool, float, str]:
        worst = of_run[-1].cells[0]
        value = 0.0 if worst is None else worst.value
        return of_run[0].is_baseline, worst is None, -value if first.higher_is_better else value, of_run[0].name

    return tuple(row for of_run in sorted(rows, key=place) for row in of_run)


def _signatures(runs: Sequence[Run], columns: Sequence[_Column]) -> dict[str, list[str]]:
    found = {}
    for one in columns:
        metric = one.measure.metric
        measured = (run for run in runs if one.scored in run.outcomes and _by(one.scored, run, one.measure) == one.by)
        used = {run.signatures[metric] for run in measured if metric in run.signatures}
        found[one.measure.name] = sorted(used) or ["mean over answers"]
    return found


def _latest(runs: Iterable[Run], notes: list[str]) -> list[Run]:
    """Of runs of one protocol by one model the latest."""
    kept: dict[tuple[object, ...], Run] = {}
    for run in runs:
        key = (run.protocol, run.name, run.settings, run.is_baseline, run.adapter, run.grader)
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
    meter = Meter("tables", "protocols", show, total=len(asked))
    for protocol in asked:
        models = [run for run in whole if run.protocol == protocol and not run.is_baseline]
        baselines = [run for run in whole if run.is_baseline and run.protocol.data == protocol.data]
        if not baselines:
            made.notes.append(
                f"No baseline has answered these cases of '{protocol.task}'; add one to see what is beaten."
            )
        _add(made, protocol, [*models, *_one_each(baselines)], resamples)
        meter.advance()
    return made


def _one_each(baselines: Sequence[Run]) -> list[Run]:
    """Each baseline once: what models are told makes no difference to it."""
    return list({run.name: run for run in baselines}.values())


def _add(made: Boards, protocol: Protocol, runs: list[Run], resamples: int) -> None:
    for group in _measures(runs):
        for alike, is_part in asked_alike(runs, group):
            columns = _measures(alike)[group]
            rows = [_rows(run, group, columns, resamples) for run in alike]
            measures = tuple(one.measure for one in columns)
            ordered = _ordered(rows, measures[0])
            made.boards.append(Board(protocol, group, measures, ordered, _signatures(alike, columns), is_part))


def compare(first: Run, second: Run, resamples: int = 1000) -> list[tuple[str, Difference | str]]:
    """The differences of two runs on the same cases, with intervals; answers that are not scored count as wrong.

    Returns:
        By the name of the number; of one that there is not, why.

    Raises:
        PeercorpusError: They are of different cases, splits or words.
    """
    same = first.protocol == second.protocol
    if not same and not ((first.is_baseline or second.is_baseline) and first.protocol.data == second.protocol.data):
        names = [name for name in Protocol.__slots__ if getattr(first.protocol, name) != getattr(second.protocol, name)]
        raise PeercorpusError(
            f"'{first.path.name}' and '{second.path.name}' cannot be compared: they differ in {', '.join(names)}."
        )
    found: list[tuple[str, Difference | str]] = []
    for scored in Scored:
        if scored in first.outcomes and scored in second.outcomes:
            found += _differences(scored, first, second, resamples)
        elif scored in first.outcomes or scored in second.outcomes:
            found.append((scored.value, "one of the runs was not measured so"))
    return found


def _differences(scored: Scored, first: Run, second: Run, resamples: int) -> Iterator[tuple[str, Difference | str]]:
    ours, theirs = first.outcomes[scored], second.outcomes[scored]
    for measure in measures_of(scored, ours):
        name = f"{measure.group} {measure.name}".strip()
        ways = _by(scored, first, measure), _by(scored, second, measure)
        if ways[0] != ways[1]:
            yield name, f"not to be compared, as measured in two ways: {ways[0]}; {ways[1]}"
        elif fields_asked(ours, measure.group) != fields_asked(theirs, measure.group):
            yield name, "not to be compared, as the runs were asked for other fields"
        else:
            try:
                yield name, paired(by_paper(ours), by_paper(theirs), partial(_flat, measure), resamples)
            except UndefinedMetricError as error:
                yield name, str(error)
