"""Display formulas: the scattered lines of each found, and written as LaTeX from where their glyphs stand."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from peercorpus.texts.layout.blocks import Body
from peercorpus.texts.layout.columns import Columns
from peercorpus.texts.layout.formulas_build import build
from peercorpus.texts.layout.formulas_inline import inline
from peercorpus.texts.layout.formulas_lines import (
    belongs,
    ends_of,
    ends_paragraph,
    has_maths,
    has_words,
    is_formal,
    is_plain_text,
    read_number,
)
from peercorpus.texts.layout.formulas_nodes import LARGE, RELATIONS, Node, large_of, nodes_of
from peercorpus.texts.layout.formulas_prose import whole
from peercorpus.texts.layout.formulas_small import with_bars
from peercorpus.texts.layout.glyphs import Run
from peercorpus.texts.layout.lines import Line
from peercorpus.texts.layout.shapes import Box, Shapes

SIGNS = RELATIONS | frozenset("∑∏∫+−×·/")
MOST = 60
"""Bars of one formula that are looked at."""
THINS = 3000
"""Thin rules of a page that are looked at; a figure has more."""
THIN = 1.3
"""Thickness of the bar of a fraction, in points, at most."""
INDENT = 2.0
"""How far such a line stands off the ends of its column at least, in the size of the body."""
LONE = re.compile(r"\$[^$]{3,}\$[.,;:]?")
"""A line that is one formula."""
CENTRED = 0.15
"""How far the middle of a display is off that of its column at most, in the width of the column."""


@dataclass(slots=True)
class Formula:
    """A display formula.

    Attributes:
        lines: What it was read from.
        latex: Without the dollars and without its number.
        number: As printed, without parentheses; None where it has none.
        sureness: Share of its glyphs that are known and whose place in the structure is clear.
        page: From 0.
    """

    lines: list[Line]
    latex: str
    number: str | None
    sureness: float
    page: int

    @property
    def markdown(self) -> str:
        """As a block of Markdown."""
        number = f" ({self.number})" if self.number else ""
        return f"$${self.latex}$${number}"


def find_formulas(lines: Sequence[Line], bars: Sequence[Box], columns: Columns, body: Body) -> list[Line | Formula]:
    """The lines of a page, with each display formula in place of its lines.

    Args:
        lines: In the order in which they are read.
        bars: The thin rules of the page.
        columns: Of the page.
        body: Of the paper.
    """
    placed = _Bars(bars)
    found: list[Line | Formula] = []
    group: list[Line] = []
    ends = 0.0, 0.0
    for line, following in zip_longest(lines, lines[1:]):
        is_text = is_plain_text(line) or ends_paragraph(line, following, columns, body)
        if not is_text and belongs(line, group, ends, columns, body):
            group.append(line)
            low, high = ends_of(line)
            ends = min(ends[0], low), max(ends[1], high)
            continue
        if group:
            found += _formulas(group, found, line, placed, columns, body)
            group = []
        if not is_text and is_formal(line, columns, body):
            group, ends = [line], ends_of(line)
        else:
            found.append(line)
    found += _formulas(group, found, None, placed, columns, body) if group else ()
    return _with_lone(with_bars(found, bars), columns, body)


def _with_lone(items: Sequence[Line | Formula], columns: Columns, body: Body) -> list[Line | Formula]:
    """What a page holds, with lines that are nothing but one formula, apart from all prose, as displays too."""
    found: list[Line | Formula] = []
    group: list[Line] = []
    for item, following in zip_longest(items, items[1:]):
        before = group[-1] if group else found[-1] if found else None
        if isinstance(item, Line) and _is_lone(item, before, following, bool(group), columns, body):
            group.append(item)
            continue
        found += _written(group, _Bars(()), columns, body) if group else ()
        group = []
        found.append(item)
    return [*found, *(_written(group, _Bars(()), columns, body) if group else ())]


def _is_lone(
    line: Line,
    before: Line | Formula | None,
    after: Line | Formula | None,
    goes_on: bool,
    columns: Columns,
    body: Body,
) -> bool:
    """Whether a line stands off both ends of its column, is one formula, and no prose goes on in it."""
    left, right = columns.of(line)
    apart = INDENT * body.size
    if line.left < left + apart or line.right > right - apart or not has_maths(line) or line.size < 0.9 * body.size:
        return False
    for one in (before, after):
        if not isinstance(one, Line) or (goes_on and one is before):
            continue
        if abs(one.base - line.base) < 0.6 * body.leading and _is_beside([line], one):
            return False
        is_near = abs(one.base - line.base) < 1.5 * body.leading
        if is_near and abs(one.left - line.left) < body.size and not LONE.fullmatch(_said(one)):
            return False
    text = _said(line)
    is_formula = LONE.fullmatch(text) is not None and not RELATIONS.isdisjoint(text)
    return is_formula and not any(_is_step(run, body) for run in line.runs)


def _said(line: Line) -> str:
    return inline(line.runs, line.base, line.size)


def thin_bars(shapes: Shapes) -> list[Box]:
    """The rules of a page that may belong to a fraction or a root; the first ones where there are very many."""
    thin = (box for box in (*shapes.rules, *shapes.strokes) if box.top - box.bottom <= THIN)
    return list(islice((box for box in thin if box.right - box.left >= 2), THINS))


class _Bars:
    """The thin rules of a page, by height."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self._boxes = sorted(boxes, key=lambda box: box.bottom)
        self._heights = [box.bottom for box in self._boxes]

    def within(self, left: float, bottom: float, right: float, top: float) -> list[Box]:
        """Those inside a rectangle."""
        first, last = bisect_left(self._heights, bottom), bisect_right(self._heights, top)
        return [box for box in self._boxes[first:last] if box.left >= left and box.right <= right][:MOST]


def _formulas(
    group: list[Line], before: Sequence[Line | Formula], after: Line | None, bars: _Bars, columns: Columns, body: Body
) -> Sequence[Line | Formula]:
    found = before[-1] if before else None
    last = found if isinstance(found, Line) else None
    first = 0
    if not _is_display(group, last, after, columns, body):
        first = _behind_prose(group, last, body)
        rest = group[first:]
        if not first or any(map(has_words, rest)) or not _is_display(rest, group[first - 1], after, columns, body):
            return group
    return [*group[:first], *_written(group[first:], bars, columns, body)]


def _behind_prose(group: Sequence[Line], before: Line | None, body: Body) -> int:
    """Where in a group the line of prose ends that it begins in; 0 where it begins in none or is nothing else."""
    if before is None or not _is_beside(group[:1], before):
        return 0
    near = [at for at, line in enumerate(group, 1) if abs(line.base - before.base) < 1.2 * body.size]
    return near[-1] if near and near[-1] < len(group) else 0


def _is_display(group: Sequence[Line], before: Line | None, after: Line | None, columns: Columns, body: Body) -> bool:
    """Whether lines of formulas stand by themselves, and say something."""
    if not any(map(has_maths, group)):
        return False
    for beside in (before, after):
        if (
            beside is not None
            and any(abs(line.base - beside.base) < 0.35 * body.size for line in group)
            and _is_beside(group, beside)
        ):
            return False
    runs = [run for line in group for run in line.runs]
    has_number = any(read_number(line, columns, body) for line in group)
    text = "".join(map(_text, runs))
    digits = sum(map(str.isdigit, text))
    if not any(map(str.isalpha, text)) or (not has_number and digits > 8 and digits > 0.4 * len(text)):
        return False
    if has_number:
        return not SIGNS.isdisjoint(text) or len(text) > 3
    if (RELATIONS | LARGE).isdisjoint(text):
        return False
    return (not any(_is_step(run, body) for run in runs) or not LARGE.isdisjoint(text)) and _is_centred(group, columns)


def _text(run: Run) -> str:
    return "".join(node.latex for node in nodes_of(run))


def _is_step(run: Run, body: Body) -> bool:
    """Whether a run has the arrow of an algorithm's step; in a limit it says what is drawn."""
    return run.size > 0.85 * body.size and "←" in _text(run)


def _is_centred(group: Sequence[Line], columns: Columns) -> bool:
    """Whether the middle of a group is about that of its column."""
    left, right = columns.of(max(group, key=lambda line: line.right - line.left))
    middle = (min(line.left for line in group) + max(line.right for line in group)) / 2
    return abs(middle - (left + right) / 2) < CENTRED * (right - left)


def _is_beside(group: Sequence[Line], line: Line) -> bool:
    left, right = min(one.left for one in group), max(one.right for one in group)
    return line.left < right + 60 and line.right > left - 60


def _written(group: list[Line], bars: _Bars, columns: Columns, body: Body) -> Iterator[Formula]:
    """The formulas of a group: one for each number."""
    nodes: list[Node] = []
    numbers: list[tuple[float, str]] = []
    has_table = large_of(run for line in group for run in line.runs)
    for line in group:
        number = read_number(line, columns, body)
        for run in line.runs:
            if number and run is line.runs[-1]:
                numbers.append((run.base, number[1]))
                run = _before(run, number.start())
            nodes += nodes_of(run, has_table) if run.text else ()
    if not nodes:
        return
    left, right = min(node.left for node in nodes), max(node.right for node in nodes)
    bottom, top = min(node.bottom for node in nodes), max(node.top for node in nodes)
    rules = bars.within(left - 3, bottom - 3, right + 3, top + 3)
    rows = build([node for node in nodes if node.latex or node.kind == "unknown"], rules)
    for part, number_ in _parts(rows, numbers):
        glyphs, doubts = sum(row.glyphs for row in part), sum(row.doubts for row in part)
        latex = r" \\ ".join(row.latex for row in part if row.latex)
        if latex:
            yield Formula(group, latex, number_, max(0.0, 1 - doubts / max(1, glyphs)), group[0].page)


def _before(run: Run, end: int) -> Run:
    """The beginning of a run; its right end is an estimate."""
    right = run.left + min(run.right - run.left, 0.5 * run.size * end)
    return Run(
        run.text[:end].rstrip(), run.left, right, run.base, run.size, run.font, run.has_space, False, run.start, run.end
    )


def _parts(rows: Sequence[Node], numbers: Sequence[tuple[float, str]]) -> Iterator[tuple[list[Node], str | None]]:
    """The rows of each number; a number counts for the rows above it."""
    if len(numbers) <= 1:
        yield list(rows), numbers[0][1] if numbers else None
        return
    part: list[Node] = []
    waiting = sorted(numbers, key=lambda number: -number[0])
    for row in rows:
        part.append(row)
        if waiting and waiting[0][0] > row.base - 0.6 * row.size:
            yield part, waiting.pop(0)[1]
            part = []
    if part:
        yield part, waiting[0][1] if waiting else None


__all__ = ["Formula", "find_formulas", "inline", "whole"]
