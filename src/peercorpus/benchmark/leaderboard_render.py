"""Lay leaderboards out as tables, with the numbers printed in the Re² paper."""

from collections.abc import Iterator, Sequence

from peercorpus.benchmark.baselines.baseline import HUMAN
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.cutoff import SAYS, CutoffTable, Period
from peercorpus.benchmark.estimates import DROPPED, LENIENT, UNINFORMED, Estimate
from peercorpus.benchmark.leaderboard import ALL, FEWEST_WINS, Board, Boards, Ceiling, RunResult
from peercorpus.benchmark.measures import PERCENT, Measure
from peercorpus.benchmark.messages import TokenBudget
from peercorpus.benchmark.re2.printed import about_printed, printed_tables
from peercorpus.benchmark.tables import NONE, Table, Tables
from peercorpus.metrics.intervals.pairs import PAIRED
from peercorpus.metrics.intervals.papers import Bounds
from peercorpus.metrics.registry import METRICS
from peercorpus.release.splits import Split

HEAD = ("model", "prompt", "failures", "n", "papers", "unscored", "papers cut", "answers cut")


FEW_PAPERS = 50
"""Numbers from fewer papers than this are marked."""
JUDGED_BY = "judge: "
ARROWS = {True: " ↑", False: " ↓", None: ""}
"""Arrow for the better direction."""
COLUMNS = (
    *("task", "group", *HEAD, "is_baseline", "measure", "value", "low", "high", "papers_of_it", "signature"),
    *("split", "profile", "release", "cases", "prompts", "paper"),
)


def _format_number(value: float) -> str:
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def _format_cell(estimate: Estimate | None, papers: int) -> str:
    """Format a number with its interval; add `†` if it is from few papers, and n if it does not cover all papers."""
    if estimate is None:
        return NONE
    mark = "†" if estimate.papers < FEW_PAPERS else ""
    scope = "" if estimate.papers == papers else f" (n = {estimate.papers:,})"
    bounds = ""
    if estimate.bounds is not None:
        bounds = f" [{_format_number(estimate.bounds[0])}, {_format_number(estimate.bounds[1])}]"
    return f"{_format_number(estimate.value)}{bounds}{mark}{scope}"


def _format_unscored(row: RunResult) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in sorted(row.unscored.items())) or "0"


def _format_name(row: RunResult) -> str:
    return f"{row.name} (baseline)" if row.is_baseline else row.name


def _format_row(row: RunResult) -> list[str]:
    cells = [
        _format_name(row),
        row.prompt or NONE,
        row.failures or "none",
        f"{row.n:,}",
        f"{row.papers:,}",
        _format_unscored(row),
    ]
    cells += [f"{row.cut_papers:,}", f"{row.cut_answers:,}"]
    return [*cells, *(_format_cell(estimate, row.papers) for estimate in row.cells)]


def _format_heading(measure: Measure) -> str:
    unit = " (%)" if measure.factor == PERCENT else ""
    return f"{measure.name}{unit}{ARROWS[measure.higher_is_better]}"


def _make_title(board: Board) -> str:
    return f"{board.protocol.task}, {board.group}" if board.group else str(board.protocol.task)


def _make_table(board: Board) -> Table:
    protocol = board.protocol
    above = [
        f"Split '{protocol.split}' of the profile '{protocol.profile}'; release {protocol.release[:12]}, cases"
        f" {protocol.cases[:12]}; prompts {protocol.prompts}; {protocol.paper}.",
        "95 % intervals over papers: score intervals of shares, bootstrap-t of means. † marks a number of fewer than"
        f" {FEW_PAPERS} papers; one without an interval has none that could be trusted.",
    ]
    metrics = dict.fromkeys(measure.metric for measure in board.measures)
    above += [METRICS[name].note for name in metrics if name in METRICS and METRICS[name].note]
    if protocol.paper != TokenBudget().says or board.has_controls:
        above.append("Baselines have seen whole papers.")
    unclear = {ceiling.measure for ceiling in board.ceilings if ceiling.venue == ALL and not ceiling.is_clear}
    if unclear:
        above.append(
            "‡ On this measure people score hardly above the floor, so it barely shows who has read the paper."
        )
    if board.not_asked:
        above.append(
            f"Only the first cases were asked (--limit), and {board.not_asked:,} were not: the first ones are"
            " usually from one venue, not a random sample."
        )
    above += [board.pooled] if board.pooled else []
    if board.is_part:
        above.append("Only fields that all of these models give on the scale of the form; some were asked for more.")
    if protocol.split == Split.TRAIN:
        above.append("The baselines have learnt from these same papers, so their results are not meaningful.")
    below = [f"{name}: {'; '.join(used)}" for name, used in board.signatures.items()]
    below += dict.fromkeys(f"{_format_name(row)}: {row.says}" for row in board.rows if row.says)
    below += [f"{name}: {says}" for name, says in board.arms.items()]
    return Table(
        title=_make_title(board),
        above=above,
        keys=_explain_failures(board),
        head=[
            *HEAD,
            *(f"{_format_heading(measure)}{' ‡' if measure.name in unclear else ''}" for measure in board.measures),
        ],
        rows=[_format_row(row) for row in board.rows],
        below=below,
    )


def _explain_failures(board: Board) -> list[str]:
    used = {row.failures for row in board.rows} - {""}
    meanings = {
        DROPPED: "answers without a score do not count.",
        LENIENT: "those whose meaning is clear count, the others do not.",
        UNINFORMED: (
            "they count as answers of someone who read nothing: the majority's decision with a probability of 0.5, the"
            " mean score, an empty text, the lowest marks."
        ),
    }
    listed = [f"Failures {name}: {says}" for name, says in meanings.items() if name in used]
    return [*listed, "Answers that only the grader failed on count in no row."] if listed else []


def _make_difference_tables(board: Board) -> Iterator[Table]:
    """Yield a table for each pair of arms: each model's results in one minus those in the other."""
    for contrast in dict.fromkeys(difference.contrast for difference in board.differences):
        yield Table(
            title=f"{_make_title(board)}: {contrast.title}",
            above=[
                contrast.means,
                f"The same questions, asked of the same model; {PAIRED}. Answers without a score count as"
                " uninformed, except that those on which the grader failed count in neither run.",
            ],
            head=["model", "papers", *(_format_heading(measure) for measure in board.measures)],
            rows=[
                [difference.name, difference.papers, *map(_format_difference, difference.cells)]
                for difference in board.differences
                if difference.contrast == contrast
            ],
        )


def _make_cutoff_table(board: Board, cutoff: CutoffTable) -> Table:
    periods = [period for period in Period if cutoff.papers.get(period) or period in {Period.BEFORE, Period.AFTER}]
    sizes = {period: cutoff.papers.get(period, 0) for period in periods}
    reference = (
        "There is no baseline that learnt from other papers, so it is unknown how much harder later papers are."
        if cutoff.reference is None
        else f"The last column subtracts the change of '{cutoff.reference}' on the same papers: it learnt only from the"
        " train split, so it remembers none of them, and its change shows whether later papers are harder or easier."
    )
    return Table(
        title=f"{_make_title(board)}: before and after {cutoff.day}",
        above=[
            f"{cutoff.day} (UTC) is the end of the model's training data according to the user."
            f" Papers {'; '.join(f'{period} ({sizes[period]:,}): {SAYS[period]}' for period in periods)}.",
            "The change is after minus before, with an interval combined from both, as no paper is in both."
            " Answers without a score count as uninformed, except that those on which only the grader failed do"
            " not count.",
            f"{reference} An interval that contains 0 shows neither that a model remembers papers nor that it does not."
            f" † marks fewer than {FEW_PAPERS} papers, for a change in the smaller group.",
        ],
        head=["measure", "model", *periods, "change", f"change beyond {cutoff.reference or 'a baseline'}"],
        rows=[
            [
                _format_heading(row.measure),
                f"{row.name} (baseline)" if row.is_baseline else row.name,
                *(_format_cell(row.cells[period], sizes[period]) for period in periods),
                _format_change(row.change),
                _format_change(row.beyond),
            ]
            for row in cutoff.rows
        ],
    )


def _format_change(change: Estimate | None) -> str:
    if change is None:
        return NONE
    mark = "†" if change.papers < FEW_PAPERS else ""
    return f"{change.value:+.3f}{_format_bounds(change.bounds)}{mark}"


def _make_ceiling_table(board: Board) -> Table:
    floors = list(dict.fromkeys(name for ceiling in board.ceilings for name in ceiling.floors))
    return Table(
        title=f"{_make_title(board)}: people and floors",
        above=[
            "Each reviewer is left out and measured against the paper's other reviewers, and the floors against the"
            " same, so the numbers are lower than those above where more reviewers count. The gain is that of people"
            " over the best floor, with a 95 % interval over papers; wins are the papers on"
            " which people are better, where most differ. A measure is clearly above its floor if the interval is above"
            f" 0 and people win on {FEWEST_WINS:.0%} of the papers or more. † marks fewer than {FEW_PAPERS} papers."
        ],
        head=["measure", "venue", "papers", HUMAN, *floors, "best floor", "gain", "wins", "clearly above"],
        rows=[_format_ceiling(ceiling, floors) for ceiling in board.ceilings],
    )


def _format_ceiling(ceiling: Ceiling, floors: Sequence[str]) -> list[str]:
    mark = "†" if ceiling.papers < FEW_PAPERS else ""
    return [
        ceiling.measure,
        ceiling.venue,
        f"{ceiling.papers:,}{mark}",
        _format_number(ceiling.human),
        *(_format_number(ceiling.floors[name]) if name in ceiling.floors else NONE for name in floors),
        ceiling.best,
        f"{ceiling.gain:+.3f}{_format_bounds(ceiling.bounds)}",
        NONE if ceiling.wins is None else f"{ceiling.wins:.0%}",
        "yes" if ceiling.is_clear else "no",
    ]


def _format_difference(cell: tuple[Estimate, float] | None) -> str:
    if cell is None:
        return NONE
    estimate, p = cell
    return f"{estimate.value:+.3f}{_format_bounds(estimate.bounds)} p = {p:.3f} (n = {estimate.papers:,})"


def _format_bounds(bounds: Bounds | None) -> str:
    """Format the interval of a difference, after a space; nothing if it has none."""
    return "" if bounds is None else f" [{bounds[0]:+.3f}, {bounds[1]:+.3f}]"


def _list_tables(boards: Boards) -> list[Table]:
    tables = []
    for task in BenchTask:
        ours = [board for board in boards.boards if board.protocol.task is task]
        for board in ours:
            tables.append(_make_table(board))
            tables += _make_difference_tables(board)
            tables += [_make_cutoff_table(board, board.cutoff)] if board.cutoff is not None else []
            tables += [_make_ceiling_table(board)] if board.ceilings else []
        is_judged = any(measure.name.startswith(JUDGED_BY) for board in ours for measure in board.measures)
        tables += printed_tables(task, is_judged=is_judged) if ours else []
    return [*tables, about_printed()] if tables else []


def lay_out(boards: Boards) -> Tables:
    """Return all tables, ours followed by the printed ones of each task, with our numbers one per line."""
    makers = (_csv_lines, _csv_difference_lines, _csv_cutoff_lines)
    numbers = [line for board in boards.boards for make in makers for line in make(board)]
    return Tables("Leaderboard", _list_tables(boards), COLUMNS, numbers, boards.notes)


def _csv_line(
    board: Board, of_row: Sequence[object], name: str, measure: Measure, estimate: Estimate | None
) -> tuple[object, ...]:
    """Return one line: the run, the name of the number, the number, its signature, and the protocol."""
    protocol = board.protocol
    numbers = ("",) * 4 if estimate is None else (estimate.value, *(estimate.bounds or (None, None)), estimate.papers)
    of_board = (protocol.release, protocol.cases, protocol.prompts, protocol.paper)
    signature = "; ".join(board.signatures[measure.name])
    return (
        *(protocol.task, board.group, *of_row, name, *numbers, signature),
        *(protocol.split, protocol.profile, *of_board),
    )


def _csv_lines(board: Board) -> Iterator[tuple[object, ...]]:
    for row in board.rows:
        of_row = (
            *(row.name, row.prompt, row.failures, row.n, row.papers, _format_unscored(row)),
            *(row.cut_papers, row.cut_answers, row.is_baseline),
        )
        for measure, estimate in zip(board.measures, row.cells, strict=True):
            yield _csv_line(board, of_row, measure.name, measure, estimate)


def _csv_difference_lines(board: Board) -> Iterator[tuple[object, ...]]:
    for difference in board.differences:
        of_row = (difference.name, "", UNINFORMED, "", "", "", "", "", False)
        for measure, cell in zip(board.measures, difference.cells, strict=True):
            name = f"{measure.name}, {difference.contrast.title}, papers: {difference.papers}"
            yield _csv_line(board, of_row, name, measure, None if cell is None else cell[0])


def _csv_cutoff_lines(board: Board) -> Iterator[tuple[object, ...]]:
    if board.cutoff is None:
        return
    day = board.cutoff.day
    for row in board.cutoff.rows:
        of_row = (row.name, "", row.failures, "", "", "", "", "", row.is_baseline)
        numbers = {f"{period} {day}": row.cells[period] for period in Period} | {
            f"after minus before {day}": row.change,
            f"after minus before {day}, beyond {board.cutoff.reference}": row.beyond,
        }
        for says, estimate in numbers.items():
            if estimate is not None:
                yield _csv_line(board, of_row, f"{row.measure.name}, {says}", row.measure, estimate)
