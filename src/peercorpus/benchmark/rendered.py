"""Leaderboards as Markdown, CSV and HTML: the same numbers, with all that is needed to read them right."""

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.cutting import Budget
from peercorpus.benchmark.measures import PERCENT, Measure
from peercorpus.benchmark.published import differences, printed, source
from peercorpus.benchmark.table import Board, Boards, Cell, Row
from peercorpus.publish.csv_cells import as_cell
from peercorpus.publish.splits import Side

HEAD = ("model", "words", "failures", "n", "papers", "unscored", "papers cut", "answers cut")


NONE = "-"
JUDGED_BY = "judge: "
ARROWS = {True: " ↑", False: " ↓", None: ""}
"""Which way is better."""
COLUMNS = (
    *(
        "task",
        "group",
        *HEAD,
        "is_baseline",
        "measure",
        "value",
        "low",
        "high",
        "papers_of_it",
        "draws_without_it",
        "signature",
        "side",
        "profile",
    ),
    *("release", "cases", "prompts", "paper", "few_shot", "led"),
)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table in words: a title, sentences above it, a head, rows, sentences below it."""

    title: str
    above: Sequence[str]
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: Sequence[str]


def _number(value: float) -> str:
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def _cell(one: Cell | None, papers: int) -> str:
    """A number with its interval; `*` where some draws have none, and of how many papers where not of all."""
    if one is None:
        return NONE
    of = "" if one.papers == papers else f" (n = {one.papers:,})"
    if one.low is None or one.high is None:
        return f"{_number(one.value)}{of}"
    return f"{_number(one.value)} [{_number(one.low)}, {_number(one.high)}]{'*' if one.undefined else ''}{of}"


def _unscored(row: Row) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in sorted(row.unscored.items())) or "0"


def _name(row: Row) -> str:
    return f"{row.name} (baseline)" if row.is_baseline else row.name


def _row(row: Row) -> list[str]:
    known = [_name(row), row.words or NONE, row.failures or "none", f"{row.n:,}", f"{row.papers:,}", _unscored(row)]
    known += [f"{row.cut_papers:,}", f"{row.cut_answers:,}"]
    return [*known, *(_cell(one, row.papers) for one in row.cells)]


def _head(measure: Measure) -> str:
    unit = " (%)" if measure.factor == PERCENT else ""
    return f"{measure.name}{unit}{ARROWS[measure.higher_is_better]}"


def _grid(board: Board) -> Grid:
    protocol = board.protocol
    title = f"{protocol.task}, {board.group}" if board.group else str(protocol.task)
    led = ", discussions led by the model" if protocol.led else ""
    above = [
        f"Side '{protocol.side}' of the profile '{protocol.profile}'{led}; release {protocol.release[:12]}, cases"
        f" {protocol.cases[:12]}; prompts {protocol.prompts}; {protocol.paper}; examples: up to {protocol.few_shot}.",
        "95 % intervals by drawing papers anew; * where the number has no value on some draws, which do not count."
        " Answers without a score are left out in one row and counted as wrong in the next, but for those that only the"
        " grader failed on.",
    ]
    if protocol.few_shot or protocol.paper != Budget().says:
        above.append("Baselines have seen whole papers and no examples.")
    if board.is_part:
        above.append("Only fields that all of these models give on the scale of the form; some were asked for more.")
    if protocol.side == Side.TRAIN:
        above.append("The baselines have learnt from these very papers, so nothing is to be read from what they reach.")
    below = [f"{name}: {'; '.join(used)}" for name, used in board.signatures.items()]
    below += dict.fromkeys(f"{_name(row)}: {row.says}" for row in board.rows if row.says)
    return Grid(title, above, [*HEAD, *map(_head, board.measures)], [_row(row) for row in board.rows], below)


def _printed(task: BenchTask, *, is_judged: bool) -> list[Grid]:
    return [
        Grid(
            f"{one.title} (as printed; another protocol)",
            [],
            ["model", *one.columns],
            [[name, *(f"{number:g}" for number in numbers)] for name, numbers in one.rows],
            [],
        )
        for one in printed(task, is_judged=is_judged)
    ]


def grids(boards: Boards) -> list[Grid]:
    """All tables: ours, each task's followed by what was printed elsewhere."""
    found = []
    for task in BenchTask:
        ours = [board for board in boards.boards if board.protocol.task is task]
        found += [_grid(board) for board in ours]
        is_judged = any(one.name.startswith(JUDGED_BY) for board in ours for one in board.measures)
        found += _printed(task, is_judged=is_judged) if ours else []
    if found:
        about = [f"Source: {source()}.", "Not to be compared with ours number by number:"]
        found.append(Grid("About the printed tables", about, [], [], differences()))
    return found


def _bar(cells: Sequence[str]) -> str:
    shown = (html.escape(" ".join(cell.split()), quote=False).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(shown)} |"


def as_markdown(boards: Boards) -> str:
    """All tables as Markdown."""
    lines = ["# Leaderboard"]
    for grid in grids(boards):
        lines += ["", f"## {grid.title}", "", *grid.above, ""]
        lines += [_bar(grid.head), _bar(["---"] * len(grid.head)), *map(_bar, grid.rows), ""] if grid.rows else []
        lines += [f"- {sentence}" for sentence in grid.below]
    if boards.notes:
        lines += ["", "## Not in the tables", "", *(f"- {note}" for note in boards.notes)]
    return "\n".join(lines) + "\n"


def as_csv(boards: Boards) -> str:
    """One line a number of ours, as it was computed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for board in boards.boards:
        protocol = board.protocol
        of_board = (protocol.release, protocol.cases, protocol.prompts, protocol.paper, protocol.few_shot, protocol.led)
        for row in board.rows:
            known = (row.name, row.words, row.failures, row.n, row.papers, _unscored(row))
            cut = (row.cut_papers, row.cut_answers, row.is_baseline)
            for measure, one in zip(board.measures, row.cells, strict=True):
                numbers = ("",) * 5 if one is None else (one.value, one.low, one.high, one.papers, one.undefined)
                signature = "; ".join(board.signatures[measure.name])
                sides = (protocol.side, protocol.profile)
                line = (protocol.task, board.group, *known, *cut, measure.name, *numbers, signature, *sides, *of_board)
                writer.writerow([as_cell(one) if isinstance(one, str) else one for one in line])
    return text.getvalue()


STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;"
    "background:#fff}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.85rem}"
    "th,td{padding:.3rem .6rem;border-bottom:1px solid #ccc;text-align:left;white-space:nowrap}"
    ".wide{overflow-x:auto}li,p{color:#444;overflow-wrap:anywhere}"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#eee}li,p{color:#bbb}th,td{border-color:#444}}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def _html(grid: Grid) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    head, rows = line(grid.head, "th"), "\n".join(line(row, "td") for row in grid.rows)
    above = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in grid.above)
    below = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in grid.below)
    table = (
        f'<div class="wide" tabindex="0"><table><thead>{head}</thead><tbody>\n{rows}\n</tbody></table></div>'
        if grid.rows
        else ""
    )
    return f"<section><h2>{html.escape(grid.title)}</h2>{above}{table}<ul>{below}</ul></section>"


def as_html(boards: Boards) -> str:
    """All tables as one page without script."""
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in boards.notes)
    left_out = f"<section><h2>Not in the tables</h2><ul>{notes}</ul></section>" if notes else ""
    body = "\n".join(map(_html, grids(boards)))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport"'
        f' content="width=device-width,initial-scale=1"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>Leaderboard</title><style>{STYLE}</style></head><body><main><h1>Leaderboard</h1>\n{body}\n{left_out}"
        "</main></body></html>\n"
    )
