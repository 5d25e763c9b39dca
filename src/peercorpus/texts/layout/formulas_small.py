"""What has a thin bar inside running text: small fractions, roots, and the underscores that old fonts draw as rules."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import TypeVar

from peercorpus.texts.layout.formulas_build import build
from peercorpus.texts.layout.formulas_nodes import BUILT, SCRIPT, nodes_of
from peercorpus.texts.layout.formulas_symbols import AXIS, sign, stands_over
from peercorpus.texts.layout.glyphs import Run
from peercorpus.texts.layout.lines import BESIDE, SAME, WIDE, Line
from peercorpus.texts.layout.shapes import Box

LONGEST = 120.0
"""Length of such a bar, in points, at most."""
REACH = 1.2
"""How far a fraction goes up and down from its bar, in the size of the line, at most."""
NEXT = 1.15
"""How far the bar of a fraction in the next line is, in the size of the line, at least."""
APART = 0.6
"""Distance of the baselines of two lines of text, in the size of one, at least."""
OFF_AXIS = 0.12
"""How far a bar is off the axis of its line, in the size of the line, at most."""
MOST_BARS = 400
"""Short bars of a page that are looked at; a figure has more."""
MOST_RUNS = 400
"""Runs of a line that is looked at."""
HANGING = 1.6
"""How far above a line tall signs beside it begin, in the size of the line, at most."""
TOUCHING = 0.15
"""A gap without a space, in the size of the font, at most."""
UNDERSCORE = (0.2, 0.65)
"""Length of an underscore, in the size of the font, at least and at most."""


Other = TypeVar("Other")


@dataclass(slots=True)
class _Changes:
    """What becomes of the runs of a page, by their identity.

    Attributes:
        gone: Runs that are part of something built.
        put: What was built for a line.
        behind: Runs behind an underscore.
    """

    gone: set[int] = field(default_factory=set)
    put: dict[int, list[Run]] = field(default_factory=dict)
    behind: set[int] = field(default_factory=set)


class _Near:
    """The lines of a page, by their height."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = sorted((line for line in lines if len(line.runs) <= MOST_RUNS), key=lambda line: line.base)
        self._bases = [line.base for line in self._lines]

    def lines(self, low: float, high: float) -> list[Line]:
        """Those whose baseline is between two heights."""
        return self._lines[bisect_left(self._bases, low) : bisect_left(self._bases, high)]

    def runs(self, area: Box, own: Line | None = None) -> Iterator[Run]:
        """Those whose middle, and whose baseline, is inside an area; none of a line of text but one's own."""
        for line in self.lines(area.bottom - 10, area.top + 10):
            if line.left < area.right and line.right > area.left and not (own and _is_other(line, own, area)):
                yield from (run for run in line.runs if area.holds((run.left + run.right) / 2, run.base))


def _is_other(line: Line, own: Line, area: Box) -> bool:
    """Whether a line is of the text above or below, and goes beyond an area."""
    if abs(line.base - own.base) < APART * own.size or line.size < SCRIPT * own.size:
        return False
    return line.left < area.left - own.size or line.right > area.right + own.size


def with_bars(items: list[Line | Other], bars: Sequence[Box]) -> list[Line | Other]:
    """What a page holds, with what its short bars belong to put together in the lines.

    Args:
        items: Lines, and what is no line, in the order in which they are read.
        bars: Its thin rules.
    """
    short = list(islice((bar for bar in bars if bar.right - bar.left <= LONGEST), MOST_BARS))
    if not short:
        return items
    changes, near = _Changes(), _Near([one for one in items if isinstance(one, Line)])
    for bar in sorted(short, key=lambda bar: bar.left - bar.right):
        _ = _fraction(bar, short, near, changes) or _root(bar, short, near, changes) or _underscore(bar, near, changes)
    return _changed(items, changes) if changes.gone or changes.behind else items


def _fraction(bar: Box, bars: Sequence[Box], near: _Near, changes: _Changes) -> bool:
    """Put a fraction into the line on whose axis a bar lies; False where it is none."""
    y = (bar.bottom + bar.top) / 2
    for line in sorted(near.lines(y - 6, y), key=lambda line: bar.left < line.left):
        size, far = line.size, WIDE * line.size
        if abs(y - line.base - AXIS * size) > OFF_AXIS * size:
            continue
        if bar.right < line.left - far or bar.left > line.right + far:
            continue
        area = _area(bar, y, size, bars)
        found = [run for run in near.runs(area, line) if run.left > bar.left - 3 and run.right < bar.right + 3]
        beside = [run for run in line.runs if not any(run is one for one in found)]
        if beside and _put(r"\frac{", found, [bar, *_inside(area, bars, bar)], line, changes):
            return True
    return False


def _area(bar: Box, y: float, size: float, bars: Sequence[Box]) -> Box:
    """Where the parts of a fraction are: half the way to the bar of one in the next line, at most."""
    low, high = y - REACH * size, y + REACH * size
    for one in bars:
        off = (one.bottom + one.top) / 2 - y
        if one.left < bar.right and one.right > bar.left and abs(off) > NEXT * size:
            low, high = (low, min(high, y + off / 2)) if off > 0 else (max(low, y + off / 2), high)
    return Box(bar.left - 1.5, low, bar.right + 1.5, high)


def _root(bar: Box, bars: Sequence[Box], near: _Near, changes: _Changes) -> bool:
    """Put a root into the line it stands in; False where a bar is of none."""
    for root in near.runs(Box(bar.left - 12, bar.bottom - 14, bar.left + 1, bar.bottom + 3)):
        if len(root.text) > 1 or not (root.text == "√" or sign(root.font.name, root.text).text == "√"):
            continue
        for line in near.lines(bar.bottom - 1.1 * root.size, bar.bottom - 0.3 * root.size):
            if root.size <= SCRIPT * line.size or not line.left - 1 <= root.left <= line.right + WIDE * line.size:
                continue
            area = Box(bar.left - 1, line.base - 0.4 * line.size, bar.right + 0.5, bar.bottom)
            found = [run for run in near.runs(area) if run is not root]
            if _put(r"\sqrt{", [root, *found], [bar, *_inside(area, bars, bar)], line, changes):
                return True
    return False


def _inside(area: Box, bars: Sequence[Box], bar: Box) -> list[Box]:
    """The other bars in an area."""
    return [one for one in bars if one is not bar and area.holds((one.left + one.right) / 2, one.bottom)]


def _put(begin: str, found: Sequence[Run], bars: Sequence[Box], line: Line, changes: _Changes) -> bool:
    """Put what runs and bars make into a line, where it is one piece and begins as it should."""
    if not 2 <= len(found) <= MOST_RUNS or any(id(run) in changes.gone for run in found):
        return False
    rows = build([node for run in found for node in nodes_of(run)], bars)
    if len(rows) != 1 or rows[0].doubts or not rows[0].latex.startswith(begin):
        return False
    if abs(rows[0].base - line.base) > SAME * line.size:
        return False
    left, right = min(run.left for run in found), max(bars[0].right, *(run.right for run in found))
    start, end = min(run.start for run in found), max(run.end for run in found)
    built = Run(rows[0].latex, left, right, line.base, line.size, BUILT, True, False, start, end)
    changes.gone.update(map(id, found))
    changes.put.setdefault(id(line), []).append(built)
    return True


def _underscore(bar: Box, near: _Near, changes: _Changes) -> bool:
    """Mark the word behind a rule that fills, at the foot of a line, the gap between two words."""
    for line in near.lines(bar.bottom - 1, bar.top + 1):
        size = line.size
        if not UNDERSCORE[0] * size <= bar.right - bar.left <= UNDERSCORE[1] * size:
            continue
        for before, run in pairwise(line.runs):
            ends = abs(before.right - bar.left), abs(run.left - bar.right)
            if max(ends) < TOUCHING * size and not run.font.is_maths and not before.font.is_maths:
                changes.behind.add(id(run))
                return True
    return False


def _changed(items: Sequence[Line | Other], changes: _Changes) -> list[Line | Other]:
    """The lines with their changes; the halves of a line that a fraction divided are one again."""
    changed: list[Line | Other] = []
    was_touched = False
    for item in items:
        one = _with_changes(item, changes) if isinstance(item, Line) else item
        if one is None:
            was_touched = True
            continue
        is_touched, before = one is not item, changed[-1] if changed else None
        if (was_touched or is_touched) and isinstance(before, Line) and isinstance(one, Line) and _is_same(before, one):
            changed[-1], is_touched = _line([*before.runs, *one.runs], before), True
        else:
            changed.append(one)
        was_touched = is_touched
    return changed


def _is_same(line: Line, following: Line) -> bool:
    """Whether one line goes on with another: on the same baseline, or with tall signs that hang beside it."""
    size, gap = max(line.size, following.size), following.left - line.right
    if not -BESIDE * size <= gap <= WIDE * size:
        return False
    hangs = gap < BESIDE * size and all(
        len(run.text) == 1 and stands_over(run.text, run.font.name) for run in following.runs
    )
    return abs(line.base - following.base) <= (HANGING if hangs else SAME) * size


def _with_changes(line: Line, changes: _Changes) -> Line | None:
    """A line with its changes: the same one where it has none, None where nothing is left of it."""
    put = changes.put.get(id(line), [])
    if not put and not any(id(run) in changes.gone or id(run) in changes.behind for run in line.runs):
        return line
    runs = [_behind(run) if id(run) in changes.behind else run for run in line.runs if id(run) not in changes.gone]
    for one in sorted(put, key=lambda run: run.left):
        at = next((at for at, run in enumerate(runs) if run.left >= one.right - 1), len(runs))
        runs.insert(at, one)
    return _line(runs, line) if runs else None


def _behind(run: Run) -> Run:
    return replace(run, text=f"_{run.text}", has_space=False)


def _line(runs: list[Run], line: Line) -> Line:
    """A line of other runs; beside what was built, the gaps tell where there is a space."""
    for at, (before, run) in enumerate(pairwise(runs), 1):
        if BUILT in (before.font, run.font):
            runs[at] = replace(run, has_space=run.left - before.right > TOUCHING * line.size)
    return Line(runs, min(run.left for run in runs), max(run.right for run in runs), line.base, line.size, line.page)
