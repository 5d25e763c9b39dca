"""Lay out the runs of a comparison like Tables 2 to 5 of the Re² paper, with the printed rows below ours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean, stdev

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.logs import TaskRun
from peercorpus.benchmark.measures import Measure, group_by_paper, select_measures
from peercorpus.benchmark.outcomes import CaseOutcome, Scored
from peercorpus.benchmark.re2.comparison import ComparedModel
from peercorpus.benchmark.re2.printed import PrintedRows, about_printed, read_printed
from peercorpus.benchmark.tables import NONE, Table, Tables
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.intervals.pairs import bound_combination
from peercorpus.metrics.intervals.papers import Bounds

JUDGED = "judge: "


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a printed table.

    Attributes:
        heading: Its heading, as printed.
        measure: Name of our measure.
        decimals: Digits after the point, as printed.
    """

    task: BenchTask
    scored: Scored
    heading: str
    measure: str
    decimals: int = 2


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table of the paper.

    Attributes:
        printed: Names of the parts of the printed tables whose columns are side by side.
    """

    number: int
    title: str
    columns: tuple[Column, ...]
    printed: tuple[str, ...]


def _lay_out_texts(task: BenchTask) -> tuple[Column, ...]:
    return (
        Column(task, Scored.OVERLAP, "BLEU", "BLEU"),
        Column(task, Scored.OVERLAP, "ROUGE-L", "ROUGE-L"),
        Column(task, Scored.BERT_SCORE, "BERTScore Precision", "BERTScore P"),
        Column(task, Scored.BERT_SCORE, "BERTScore Recall", "BERTScore R"),
        Column(task, Scored.EMBED_COS, "EmbedCos", "EmbedCos", 3),
    )


TABLES = (
    TableLayout(
        number=2,
        title="acceptance and score prediction",
        columns=(
            *(
                Column(BenchTask.ACCEPTANCE, Scored.DECISION, name.capitalize() if name != "F1" else name, name)
                for name in ("accuracy", "precision", "recall", "F1")
            ),
            Column(BenchTask.SCORES, Scored.NUMBERS, "MAE", "MAE, 1 to 10", 3),
            Column(BenchTask.SCORES, Scored.NUMBERS, "MSE", "MSE, 1 to 10", 3),
        ),
        printed=("acceptance", "scores"),
    ),
    TableLayout(3, "review generation", _lay_out_texts(BenchTask.REVIEW), ("review",)),
    TableLayout(4, "rebuttal and discussion, similarity", _lay_out_texts(BenchTask.REBUTTAL), ("rebuttal",)),
    TableLayout(
        number=5,
        title="rebuttal and discussion, judged from 1 to 10",
        columns=tuple(
            Column(BenchTask.REBUTTAL, Scored.JUDGE, aspect.capitalize(), f"{JUDGED}{aspect}", 3)
            for aspect in ("quality", "constructiveness", "accuracy", "completeness", "clarity")
        ),
        printed=("judge",),
    ),
)


@dataclass(frozen=True, slots=True)
class RunsEstimate:
    """A number over several runs.

    Attributes:
        values: The number of each run; empty if one of them does not define it.
        bounds: 95 % interval of their mean over papers; None if it has none.
        papers: Number of papers.
        unscored: Number of answers without a score, in all runs.
        answers: Number of all answers.
    """

    values: tuple[float, ...]
    bounds: Bounds | None
    papers: int
    unscored: int
    answers: int

    @property
    def mean(self) -> float:
        """Mean over the runs."""
        return fmean(self.values)

    @property
    def deviation(self) -> float | None:
        """Standard deviation over the runs (n - 1); None for a single run."""
        return stdev(self.values) if len(self.values) > 1 else None


@dataclass(frozen=True, slots=True)
class MadeTable:
    """One of our tables.

    Attributes:
        rows: Name of a model, then a number for each column; None if there is none.
        notes: Information for readers of these numbers.
    """

    layout: TableLayout
    rows: list[tuple[str, list[RunsEstimate | None]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def estimate_column(column: Column, runs: Sequence[TaskRun]) -> RunsEstimate | None:
    """Return a number over several runs, or None if one of them was not measured in this way."""
    if not all(column.scored in run.outcomes for run in runs):
        return None
    outcomes = [run.outcomes[column.scored] for run in runs]
    measure = next((one for one in select_measures(column.scored, outcomes[0]) if one.name == column.measure), None)
    if measure is None:
        return None
    scored = [[outcome for outcome in of_run if outcome.unscored is None] for of_run in outcomes]
    papers = len({outcome.forum_id for of_run in scored for outcome in of_run})
    answers = sum(map(len, outcomes))
    unscored = answers - sum(map(len, scored))
    try:
        values = tuple(measure.of(of_run) * measure.factor for of_run in scored)
    except UndefinedMetricError:
        return RunsEstimate((), None, papers, unscored, answers)
    return RunsEstimate(values, _estimate_bounds(measure, scored), papers, unscored, answers)


def _estimate_bounds(measure: Measure, scored: Sequence[Sequence[CaseOutcome]]) -> Bounds | None:
    """Return the interval of the mean over runs, from the papers with a scored answer in every run."""
    runs = [group_by_paper(of_run) for of_run in scored]
    papers = sorted(set.intersection(*(set(run) for run in runs)))
    by_run = [[run[paper] for paper in papers] for run in runs]
    try:
        return measure.scale(bound_combination(measure.estimator, by_run, [1 / len(runs)] * len(runs)))
    except UndefinedMetricError:
        return None


def make_tables(models: Sequence[ComparedModel]) -> list[MadeTable]:
    """Return the tables with any measurement, even if no answer has a score."""
    made = []
    for layout in TABLES:
        table = MadeTable(layout)
        for model in models:
            cells = [
                estimate_column(column, model.runs[column.task]) if column.task in model.runs else None
                for column in layout.columns
            ]
            if any(column.task in model.runs for column in layout.columns):
                table.rows.append((model.name, cells))
        if any(cell is not None for _, cells in table.rows for cell in cells):
            table.notes.extend(_list_notes(layout, models))
            made.append(table)
    return made


def _list_notes(layout: TableLayout, models: Sequence[ComparedModel]) -> Iterator[str]:
    """Yield the signatures, the judges, and the obstacles to comparing the rows of a table."""
    for task in dict.fromkeys(column.task for column in layout.columns):
        runs = [run for model in models for run in model.runs.get(task, [])]
        protocols = dict.fromkeys(run.protocol for run in runs)
        for protocol in protocols:
            yield (
                f"{task}: split '{protocol.split}' of the profile '{protocol.profile}', release"
                f" {protocol.release[:12]}, cases {protocol.cases[:12]}; prompts {protocol.prompts}; {protocol.paper}"
            )
        if len(protocols) > 1:
            yield f"{task}: the models were not asked the same questions, so their rows cannot be compared."
        columns = [column for column in layout.columns if column.task is task]
        if any(column.scored is Scored.JUDGE for column in columns):
            yield from dict.fromkeys(f"judge: {run.grader}" for run in runs if run.grader)
        metrics = dict.fromkeys(
            measure.metric
            for run in runs
            for column in columns
            for measure in select_measures(column.scored, run.outcomes.get(column.scored, []))
            if measure.name == column.measure
        )
        for metric in metrics:
            yield from dict.fromkeys(f"{metric}: {run.signatures[metric]}" for run in runs if metric in run.signatures)


def _format_cell(estimate: RunsEstimate | None, decimals: int) -> str:
    """Format a number as `mean ± deviation over runs [interval over papers]`."""
    if estimate is None or not estimate.values:
        return NONE
    parts = [f"{estimate.mean:.{decimals}f}"]
    if estimate.deviation is not None:
        parts.append(f"± {estimate.deviation:.{decimals}f}")
    if estimate.bounds is not None:
        parts.append(f"[{estimate.bounds[0]:.{decimals}f}, {estimate.bounds[1]:.{decimals}f}]")
    return " ".join(parts)


def _count_unscored(cells: Sequence[RunsEstimate | None], columns: Sequence[Column]) -> str:
    """Return the answers without a score, of each task of a table."""
    first: dict[BenchTask, str] = {}
    for cell, column in zip(cells, columns, strict=True):
        if cell is not None:
            first.setdefault(column.task, f"{cell.unscored:,} of {cell.answers:,}")
    return "; ".join(first.values()) or NONE


def _join_printed(parts: Sequence[PrintedRows]) -> list[tuple[str, ...]]:
    """Return printed rows whose columns are side by side in one table."""
    by_model = [{name: tuple(numbers) for name, *numbers in part.rows} for part in parts]
    return [(name, *chain.from_iterable(rows[name] for rows in by_model)) for name in by_model[0]]


ABOVE = (
    "Mean ± standard deviation over runs that differ in their seed, none for a single run [95 % interval of the mean"
    " over papers]. Answers without a score are left out and counted."
)


def lay_out(made: Sequence[MadeTable], notes: Sequence[str]) -> Tables:
    """Return our tables, each followed by the printed one, and the differences between the two.

    The numbers have a line for each run, and one each with the mean over runs and its deviation.
    """
    tables = []
    for table in made:
        layout = table.layout
        headings = [column.heading for column in layout.columns]
        rows = [
            [
                name,
                *(_format_cell(cell, column.decimals) for cell, column in zip(cells, layout.columns, strict=True)),
                _count_unscored(cells, layout.columns),
                str(max((len(cell.values) for cell in cells if cell is not None), default=0)),
            ]
            for name, cells in table.rows
        ]
        printed = _join_printed([getattr(read_printed(), part) for part in layout.printed])
        title, head = f"Table {layout.number}: {layout.title}", ["Model", *headings]
        tables.append(Table(title, [*head, "without a score", "runs"], rows, above=[ABOVE], below=table.notes))
        tables.append(Table(f"{title}, as Re² printed it", head, printed))
    numbers = [
        (table.layout.number, name, column.task, column.heading, *number)
        for table in made
        for name, cells in table.rows
        for cell, column in zip(cells, table.layout.columns, strict=True)
        for number in _list_numbers(cell)
    ]
    return Tables("Tables 2 to 5 of Re²", [*tables, about_printed()] if tables else [], COLUMNS, numbers, notes)


COLUMNS = ("table", "model", "task", "measure", "run", "value", "low", "high", "papers", "unscored", "answers")


def _list_numbers(cell: RunsEstimate | None) -> Iterator[tuple[object, ...]]:
    if cell is None:
        return
    for number, value in enumerate(cell.values, start=1):
        yield number, value, "", "", "", "", ""
    low, high = cell.bounds or (None, None)
    yield "mean", cell.mean if cell.values else "", low, high, cell.papers, cell.unscored, cell.answers
    yield "deviation", cell.deviation, "", "", "", "", ""
