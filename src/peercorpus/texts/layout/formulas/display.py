"""Find display formulas and write them as LaTeX, with Unicode signs in the Markdown."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest

from peercorpus.latex.maths import write_with_commands
from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.texts.layout.blocks import Block, BlockKind, Body, TextLine
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.formulas.detection import (
    baseline_range,
    belongs,
    ends_paragraph,
    find_equation_number,
    has_maths,
    has_words,
    is_formal,
    is_plain_text,
    split_leading_number,
)
from peercorpus.texts.layout.formulas.doubts import measure_sureness
from peercorpus.texts.layout.formulas.inline import inline
from peercorpus.texts.layout.formulas.inline_bars import join_bars
from peercorpus.texts.layout.formulas.nodes import (
    LARGE_OPERATORS,
    RELATIONS,
    FormulaNode,
    has_mapped_symbols,
    nodes_of,
    read_signs,
)
from peercorpus.texts.layout.formulas.structure import build_rows

_SIGNS = RELATIONS | frozenset("∑∏∫+−×·/")
_MAX_FORMULA_BARS = 60
_MAX_PAGE_BARS = 3000
"""Maximum thin rules of a page; the rest belong to a figure."""
_MAX_BAR_THICKNESS_POINTS = 1.3
_MIN_DISPLAY_INDENT_EM = 2.0
"""Minimum distance of a single-formula line from both edges of its column, in em of the body."""
_LONE_FORMULA = re.compile(r"\$[^$]{3,}\$[.,;:]?")
_MAX_OFF_CENTRE_SHARE = 0.15
"""Maximum distance of the centre of a display from that of its column, as a share of the column width."""


class _Page:
    """The thin rules of a page, sorted by height, and whether its font of large symbols has a Unicode table."""

    def __init__(self, boxes: Sequence[Box], *, has_table: bool) -> None:
        self.has_table = has_table
        self._boxes = sorted(boxes, key=lambda box: box.bottom)
        self._heights = [box.bottom for box in self._boxes]

    def within(self, left: float, bottom: float, right: float, top: float) -> list[Box]:
        first, last = bisect_left(self._heights, bottom), bisect_right(self._heights, top)
        return [box for box in self._boxes[first:last] if box.left >= left and box.right <= right][:_MAX_FORMULA_BARS]


def find_formulas(
    lines: Sequence[TextLine], bars: Sequence[Box], columns: PageColumns, body: Body
) -> list[TextLine | Block]:
    """Return the lines of a page with each display formula in place of its lines; `bars` are its thin rules."""
    page = _Page(bars, has_table=has_mapped_symbols(run for line in lines for run in line.runs))
    items: list[TextLine | Block] = []
    group: list[TextLine] = []
    ends = 0.0, 0.0
    for line, following in zip_longest(lines, lines[1:]):
        is_text = is_plain_text(line) or ends_paragraph(line, following, columns, body)
        if not is_text and belongs(line, group, ends, columns, body):
            group.append(line)
            low, high = baseline_range(line)
            ends = min(ends[0], low), max(ends[1], high)
            continue
        if group:
            items += _read_group(group, items, line, page, columns, body)
            group = []
        if not is_text and is_formal(line, columns, body):
            group = [line]
            ends = baseline_range(line)
        else:
            items.append(line)
    items += _read_group(group, items, None, page, columns, body) if group else ()
    return _find_lone(join_bars(items, bars), _Page((), has_table=page.has_table), columns, body)


def _find_lone(
    items: Sequence[TextLine | Block], page: _Page, columns: PageColumns, body: Body
) -> list[TextLine | Block]:
    result: list[TextLine | Block] = []
    group: list[TextLine] = []
    for item, following in zip_longest(items, items[1:]):
        before = group[-1] if group else result[-1] if result else None
        if isinstance(item, TextLine) and _is_lone(item, before, following, bool(group), columns, body):
            group.append(item)
            continue
        result += _write_formulas(group, page, columns, body) if group else ()
        group = []
        result.append(item)
    return [*result, *(_write_formulas(group, page, columns, body) if group else ())]


def _is_lone(
    line: TextLine,
    before: TextLine | Block | None,
    after: TextLine | Block | None,
    goes_on: bool,
    columns: PageColumns,
    body: Body,
) -> bool:
    """Return whether a line is indented on both sides, is a single formula, and does not continue prose."""
    left, right = columns.of(line)
    apart = _MIN_DISPLAY_INDENT_EM * body.size
    if line.left < left + apart or line.right > right - apart or not has_maths(line) or line.size < 0.9 * body.size:
        return False
    for neighbour in (before, after):
        if not isinstance(neighbour, TextLine) or (goes_on and neighbour is before):
            continue
        if abs(neighbour.base - line.base) < 0.6 * body.leading and _is_beside([line], neighbour):
            return False
        is_near = abs(neighbour.base - line.base) < 1.5 * body.leading
        if (
            is_near
            and abs(neighbour.left - line.left) < body.size
            and not _LONE_FORMULA.fullmatch(_write_line(neighbour))
        ):
            return False
    text = _write_line(line)
    is_formula = _LONE_FORMULA.fullmatch(text) is not None and not RELATIONS.isdisjoint(text)
    return is_formula and not any(_is_step(run, read_signs(run), body) for run in line.runs)


def _write_line(line: TextLine) -> str:
    return inline(line.runs, line.base, line.size)


def thin_bars(shapes: Shapes) -> list[Box]:
    """Return the rules of a page that may belong to a fraction or a root, up to a limit."""
    thin = (box for box in (*shapes.rules, *shapes.strokes) if box.top - box.bottom <= _MAX_BAR_THICKNESS_POINTS)
    return list(islice((box for box in thin if box.right - box.left >= 2), _MAX_PAGE_BARS))


def _read_group(
    group: list[TextLine],
    before: Sequence[TextLine | Block],
    after: TextLine | None,
    page: _Page,
    columns: PageColumns,
    body: Body,
) -> Sequence[TextLine | Block]:
    previous = before[-1] if before else None
    last = previous if isinstance(previous, TextLine) else None
    first = 0
    if not _is_display(group, last, after, columns, body):
        first = _count_prose_lines(group, last, body)
        formula_lines = group[first:]
        if (
            not first
            or any(map(has_words, formula_lines))
            or not _is_display(formula_lines, group[first - 1], after, columns, body)
        ):
            return group
    return [*group[:first], *_write_formulas(group[first:], page, columns, body)]


def _count_prose_lines(group: Sequence[TextLine], before: TextLine | None, body: Body) -> int:
    if before is None or not _is_beside(group[:1], before):
        return 0
    counts = [count for count, line in enumerate(group, 1) if abs(line.base - before.base) < 1.2 * body.size]
    return counts[-1] if counts and counts[-1] < len(group) else 0


def _is_display(
    group: Sequence[TextLine], before: TextLine | None, after: TextLine | None, columns: PageColumns, body: Body
) -> bool:
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
    has_number = any(
        find_equation_number(line, columns, body) or split_leading_number(line, columns, body) for line in group
    )
    texts = [*map(read_signs, runs)]
    text = "".join(texts)
    # Digits of a table are as large as its text; digits of indices are not.
    digits = sum(sum(map(str.isdigit, run.text)) for run in runs if run.size > 0.85 * body.size)
    if not any(map(str.isalpha, text)) or (not has_number and digits > 8 and digits > 0.4 * len(text)):
        return False
    if has_number:
        return not _SIGNS.isdisjoint(text) or len(text) > 3
    if (RELATIONS | LARGE_OPERATORS).isdisjoint(text):
        return False
    has_step = "←" in text and any(_is_step(*pair, body) for pair in zip(runs, texts, strict=True))
    return (not has_step or not LARGE_OPERATORS.isdisjoint(text)) and _is_centred(group, columns)


def _is_step(run: TextRun, text: str, body: Body) -> bool:
    """Return whether a run has the assignment arrow of an algorithm; in a limit the arrow means something else."""
    return run.size > 0.85 * body.size and "←" in text


def _is_centred(group: Sequence[TextLine], columns: PageColumns) -> bool:
    left, right = columns.of(max(group, key=lambda line: line.right - line.left))
    first, last = min(line.left for line in group), max(line.right for line in group)
    is_too_wide = first >= left - 1 and last > right + 1
    return is_too_wide or abs((first + last - left - right) / 2) < _MAX_OFF_CENTRE_SHARE * (right - left)


def _is_beside(group: Sequence[TextLine], line: TextLine) -> bool:
    left, right = min(other.left for other in group), max(other.right for other in group)
    return line.left < right + 60 and line.right > left - 60


def _write_formulas(group: list[TextLine], page: _Page, columns: PageColumns, body: Body) -> Iterator[Block]:
    nodes: list[FormulaNode] = []
    numbers: list[tuple[float, str]] = []
    for printed in group:
        number = find_equation_number(printed, columns, body)
        leading = None if number else split_leading_number(printed, columns, body)
        line = leading[1] if leading else printed
        numbers += [(line.base, leading[0])] if leading else []
        for run in line.runs:
            if number and run is line.runs[-1]:
                numbers.append((run.base, number[1]))
                # The right edge of the text before the number is an estimate.
                right = run.left + min(run.right - run.left, 0.5 * run.size * number.start())
                run = replace(run, text=run.text[: number.start()].rstrip(), right=right, is_cut=False)
            nodes += nodes_of(run, page.has_table) if run.text else ()
    if not nodes:
        return
    left, right = min(node.left for node in nodes), max(node.right for node in nodes)
    bottom, top = min(node.bottom for node in nodes), max(node.top for node in nodes)
    rules = page.within(left - 3, bottom - 3, right + 3, top + 3)
    rows = build_rows([node for node in nodes if node.latex or node.kind == "unknown"], rules)
    # The letters and symbols of a font without a name are unknown.
    nameless = sum(not run.font.name for line in group for run in line.runs)
    for part, equation_number in _split_by_number(rows, numbers):
        glyphs = sum(row.glyphs for row in part)
        doubts = sum(row.doubts for row in part) + nameless
        signs = r" \\ ".join(row.latex for row in part if row.latex)
        if signs:
            yield Block(
                BlockKind.FORMULA,
                group[0].page,
                group,
                markdown=f"$${signs}$$ ({equation_number})" if equation_number else f"$${signs}$$",
                sureness=measure_sureness(glyphs, doubts),
                box=Box(
                    min(row.left for row in part),
                    min(row.bottom for row in part),
                    max(row.right for row in part),
                    max(row.top for row in part),
                ),
                number=equation_number,
                latex=write_with_commands(signs),
            )


def _split_by_number(
    rows: Sequence[FormulaNode], numbers: Sequence[tuple[float, str]]
) -> Iterator[tuple[list[FormulaNode], str | None]]:
    """Yield the rows of each number; a number applies to the rows up to its own."""
    if len(numbers) <= 1:
        yield list(rows), numbers[0][1] if numbers else None
        return
    part: list[FormulaNode] = []
    waiting = sorted(numbers, key=lambda number: -number[0])
    for row in rows:
        part.append(row)
        if waiting and waiting[0][0] > row.base - 0.6 * row.size:
            yield part, waiting.pop(0)[1]
            part = []
    if part:
        yield part, waiting[0][1] if waiting else None
