"""Read small fractions, roots and underscores in running text from their bars."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import TypeVar

from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.math_fonts import AXIS_EM, is_above_baseline, sign
from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.blocks import MAX_BASELINE_OFFSET_EM, MAX_LINE_GAP_EM, MAX_SCRIPT_GAP_EM, TextLine
from peercorpus.texts.layout.formulas.nodes import LATEX_FONT, MAX_SCRIPT_SIZE_RATIO, nodes_of
from peercorpus.texts.layout.formulas.structure import build_rows

_MAX_BAR_LENGTH_POINTS = 120.0
"""Maximum length of such a bar, in points."""
_MAX_FRACTION_REACH_EM = 1.2
"""Maximum distance of the parts of a fraction from its bar, in em of the line."""
_MIN_NEXT_BAR_DISTANCE_EM = 1.15
"""Minimum distance of the bar of a fraction in the next line, in em of the line."""
_MIN_LINE_DISTANCE_EM = 0.6
"""Minimum distance of the baselines of two lines of text, in em."""
_MAX_OFF_AXIS_EM = 0.12
"""Maximum distance of a fraction bar from the math axis of its line, in em."""
_MAX_PAGE_BARS = 400
"""Maximum short bars of a page; the rest belong to a figure."""
_MAX_LINE_RUNS = 400
"""Maximum runs of a line, and of a fraction or root."""
_MAX_HANGING_OFFSET_EM = 1.6
"""Maximum height of the origin of tall symbols above their line, in em."""
_MAX_TOUCHING_GAP_EM = 0.15
"""Maximum gap that is not a space, in em."""
_MIN_UNDERSCORE_EM = 0.2
"""Minimum length of an underscore, in em."""
_MAX_UNDERSCORE_EM = 0.65
"""Maximum length of an underscore, in em."""


Other = TypeVar("Other")


@dataclass(slots=True)
class _Changes:
    """Changes to the runs of a page, by their ids: runs in a fraction, what is inserted, runs after an underscore."""

    gone: set[int] = field(default_factory=set)
    put: dict[int, list[TextRun]] = field(default_factory=dict)
    behind: set[int] = field(default_factory=set)


class _LinesByHeight:
    def __init__(self, lines: Sequence[TextLine]) -> None:
        self._lines = sorted((line for line in lines if len(line.runs) <= _MAX_LINE_RUNS), key=lambda line: line.base)
        self._bases = [line.base for line in self._lines]

    def lines(self, low: float, high: float) -> list[TextLine]:
        return self._lines[bisect_left(self._bases, low) : bisect_left(self._bases, high)]

    def runs(self, area: Box, own: TextLine | None = None) -> Iterator[TextRun]:
        for line in self.lines(area.bottom - 10, area.top + 10):
            if line.left < area.right and line.right > area.left and not (own and _is_other_line(line, own, area)):
                yield from (run for run in line.runs if area.holds((run.left + run.right) / 2, run.base))


def _is_other_line(line: TextLine, own: TextLine, area: Box) -> bool:
    if abs(line.base - own.base) < _MIN_LINE_DISTANCE_EM * own.size or line.size < MAX_SCRIPT_SIZE_RATIO * own.size:
        return False
    return line.left < area.left - own.size or line.right > area.right + own.size


def join_bars(items: list[TextLine | Other], bars: Sequence[Box]) -> list[TextLine | Other]:
    """Return the items of a page, in reading order, with short bars joined to their text."""
    short = list(islice((bar for bar in bars if bar.right - bar.left <= _MAX_BAR_LENGTH_POINTS), _MAX_PAGE_BARS))
    if not short:
        return items
    changes = _Changes()
    near = _LinesByHeight([item for item in items if isinstance(item, TextLine)])
    for bar in sorted(short, key=lambda bar: bar.left - bar.right):
        _ = (
            _insert_fraction(bar, short, near, changes)
            or _insert_root(bar, short, near, changes)
            or _mark_underscore(bar, near, changes)
        )
    return _apply(items, changes) if changes.gone or changes.behind else items


def _insert_fraction(bar: Box, bars: Sequence[Box], near: _LinesByHeight, changes: _Changes) -> bool:
    y = (bar.bottom + bar.top) / 2
    for line in sorted(near.lines(y - 6, y), key=lambda line: bar.left < line.left):
        size = line.size
        far = MAX_LINE_GAP_EM * line.size
        if abs(y - line.base - AXIS_EM * size) > _MAX_OFF_AXIS_EM * size:
            continue
        if bar.right < line.left - far or bar.left > line.right + far:
            continue
        area = _find_fraction_area(bar, y, size, bars)
        inside = [run for run in near.runs(area, line) if run.left > bar.left - 3 and run.right < bar.right + 3]
        beside = [run for run in line.runs if not any(run is other for other in inside)]
        if beside and _insert(r"\frac{", inside, [bar, *_find_bars_inside(area, bars, bar)], line, changes):
            return True
    return False


def _find_fraction_area(bar: Box, y: float, size: float, bars: Sequence[Box]) -> Box:
    """Return the area of a fraction: at most half way to the bar of a fraction in the next line."""
    low, high = y - _MAX_FRACTION_REACH_EM * size, y + _MAX_FRACTION_REACH_EM * size
    for other in bars:
        off = (other.bottom + other.top) / 2 - y
        if other.left < bar.right and other.right > bar.left and abs(off) > _MIN_NEXT_BAR_DISTANCE_EM * size:
            low, high = (low, min(high, y + off / 2)) if off > 0 else (max(low, y + off / 2), high)
    return Box(bar.left - 1.5, low, bar.right + 1.5, high)


def _insert_root(bar: Box, bars: Sequence[Box], near: _LinesByHeight, changes: _Changes) -> bool:
    for root in near.runs(Box(bar.left - 12, bar.bottom - 14, bar.left + 1, bar.bottom + 3)):
        if len(root.text) > 1 or not (root.text == "√" or sign(root.font.name, root.text).text == "√"):
            continue
        for line in near.lines(bar.bottom - 1.1 * root.size, bar.bottom - 0.3 * root.size):
            if (
                root.size <= MAX_SCRIPT_SIZE_RATIO * line.size
                or not line.left - 1 <= root.left <= line.right + MAX_LINE_GAP_EM * line.size
            ):
                continue
            area = Box(bar.left - 1, line.base - 0.4 * line.size, bar.right + 0.5, bar.bottom)
            inside = [run for run in near.runs(area) if run is not root]
            if _insert(r"\sqrt{", [root, *inside], [bar, *_find_bars_inside(area, bars, bar)], line, changes):
                return True
    return False


def _find_bars_inside(area: Box, bars: Sequence[Box], bar: Box) -> list[Box]:
    return [other for other in bars if other is not bar and area.holds((other.left + other.right) / 2, other.bottom)]


def _insert(begin: str, runs: Sequence[TextRun], bars: Sequence[Box], line: TextLine, changes: _Changes) -> bool:
    if not 2 <= len(runs) <= _MAX_LINE_RUNS or any(id(run) in changes.gone for run in runs):
        return False
    rows = build_rows([node for run in runs for node in nodes_of(run)], bars)
    if len(rows) != 1 or rows[0].doubts or not rows[0].latex.startswith(begin):
        return False
    if abs(rows[0].base - line.base) > MAX_BASELINE_OFFSET_EM * line.size:
        return False
    left, right = min(run.left for run in runs), max(bars[0].right, *(run.right for run in runs))
    start, end = min(run.start for run in runs), max(run.end for run in runs)
    built = TextRun(
        text=rows[0].latex,
        left=left,
        right=right,
        base=line.base,
        size=line.size,
        font=LATEX_FONT,
        has_space=True,
        is_cut=False,
        start=start,
        end=end,
    )
    changes.gone.update(map(id, runs))
    changes.put.setdefault(id(line), []).append(built)
    return True


def _mark_underscore(bar: Box, near: _LinesByHeight, changes: _Changes) -> bool:
    for line in near.lines(bar.bottom - 1, bar.top + 1):
        size = line.size
        if not _MIN_UNDERSCORE_EM * size <= bar.right - bar.left <= _MAX_UNDERSCORE_EM * size:
            continue
        for before, run in pairwise(line.runs):
            ends = abs(before.right - bar.left), abs(run.left - bar.right)
            if max(ends) < _MAX_TOUCHING_GAP_EM * size and not run.font.is_maths and not before.font.is_maths:
                changes.behind.add(id(run))
                return True
    return False


def _apply(items: Sequence[TextLine | Other], changes: _Changes) -> list[TextLine | Other]:
    changed: list[TextLine | Other] = []
    was_touched = False
    for item in items:
        changed_item = _change_line(item, changes) if isinstance(item, TextLine) else item
        if changed_item is None:
            was_touched = True
            continue
        is_touched = changed_item is not item
        before = changed[-1] if changed else None
        if (
            (was_touched or is_touched)
            and isinstance(before, TextLine)
            and isinstance(changed_item, TextLine)
            and _continues(before, changed_item)
        ):
            changed[-1] = _build_line([*before.runs, *changed_item.runs], before)
            is_touched = True
        else:
            changed.append(changed_item)
        was_touched = is_touched
    return changed


def _continues(line: TextLine, following: TextLine) -> bool:
    """Return whether one line continues another: on the same baseline, or with tall symbols that hang next to it."""
    size = max(line.size, following.size)
    gap = following.left - line.right
    if not -MAX_SCRIPT_GAP_EM * size <= gap <= MAX_LINE_GAP_EM * size:
        return False
    hangs = gap < MAX_SCRIPT_GAP_EM * size and all(
        len(run.text) == 1 and is_above_baseline(run.text, run.font.name) for run in following.runs
    )
    return abs(line.base - following.base) <= (_MAX_HANGING_OFFSET_EM if hangs else MAX_BASELINE_OFFSET_EM) * size


def _change_line(line: TextLine, changes: _Changes) -> TextLine | None:
    put = changes.put.get(id(line), [])
    if not put and not any(id(run) in changes.gone or id(run) in changes.behind for run in line.runs):
        return line
    runs = [
        replace(run, text=f"_{run.text}", has_space=False) if id(run) in changes.behind else run
        for run in line.runs
        if id(run) not in changes.gone
    ]
    for built in sorted(put, key=lambda run: run.left):
        index = next((index for index, run in enumerate(runs) if run.left >= built.right - 1), len(runs))
        runs.insert(index, built)
    return _build_line(runs, line) if runs else None


def _build_line(runs: list[TextRun], line: TextLine) -> TextLine:
    """Return a line made of new runs; next to a fraction or root, the gaps determine the spaces."""
    for index, (before, run) in enumerate(pairwise(runs), 1):
        if LATEX_FONT in (before.font, run.font):
            runs[index] = replace(run, has_space=run.left - before.right > _MAX_TOUCHING_GAP_EM * line.size)
    return TextLine(
        runs=runs,
        left=min(run.left for run in runs),
        right=max(run.right for run in runs),
        base=line.base,
        size=line.size,
        page=line.page,
    )
