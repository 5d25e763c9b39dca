"""Where the columns of a page are, which one a line is in, and the order in which lines are read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from peercorpus.texts.layout.lines import Line

Span = tuple[float, float]

LONG = 25
"""Characters of a line that tells of the columns."""
ALIKE = 0.12
"""Difference from the size of the body, over that size, of such a line at most."""
FORMAL = 0.25
"""Share of the characters of such a line in fonts of formulas, at most: formulas begin and end anywhere."""
IN_COLUMNS = 0.55
"""Share of the long lines that stay in one half of the page, where there are two columns."""
FEW = 0.06
"""Share of the lines of a column that begin at its left edge, at least."""
HANGING = 3.5
"""How far, in the size of the font, the first line of an entry hangs out of the others at most."""
FULL = 0.8
"""Share of the lines of a column that end where it does or before."""
TELLING = 10
"""Lines of prose on a page that tells its columns by itself."""
JUMPS = 0.12
"""Share of lines that stand above the one before in the same column, from which on the content is in no order."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a page.

    Attributes:
        spans: Left and right end of each, in points, from left to right; one or two.
    """

    spans: tuple[Span, ...]

    def of(self, line: Line) -> Span:
        """The column a line is in; both together where it goes over both."""
        if len(self.spans) == 1:
            return self.spans[0]
        (left, end), (begin, right) = self.spans
        middle = (end + begin) / 2
        if line.left < middle - 10 and line.right > middle + 10:
            return left, right
        return self.spans[0] if (line.left + line.right) / 2 < middle else self.spans[1]

    def number(self, line: Line) -> int:
        """0 for the left column, 1 for the right one; -1 for a line over both."""
        span = self.of(line)
        return self.spans.index(span) if span in self.spans else -1


def find_all(pages: Sequence[Sequence[Line]], widths: Sequence[float], size: float) -> list[Columns]:
    """The columns of each page; of one with little prose, as where formulas fill it, those of the page with the most.

    Args:
        pages: The lines of each.
        widths: Of the pages, in points.
        size: Of the font of the body, in points.
    """
    prose = [_prose(lines, size) for lines in pages]
    found = [_columns(long or lines, width, size) for long, lines, width in zip(prose, pages, widths, strict=True)]
    numbers = Counter(len(one.spans) for one, long in zip(found, prose, strict=True) if len(long) >= TELLING)
    usual = numbers.most_common(1)[0][0] if numbers else 0
    told = [at for at, one in enumerate(found) if len(one.spans) == usual and len(prose[at]) >= TELLING]
    for at, long in enumerate(prose):
        alike = [one for one in told if widths[one] == widths[at]]
        if len(long) < TELLING and alike:
            most = found[max(alike, key=lambda one: len(prose[one]))]
            found[at] = most if usual == 1 or all(most.number(line) >= 0 for line in long) else found[at]
    return found


def _prose(lines: Sequence[Line], size: float) -> list[Line]:
    """The long lines of the body that are no formula."""
    long = [one for one in lines if one.characters >= LONG and abs(one.size - size) < ALIKE * size]
    return [
        one for one in long if sum([len(run.text) for run in one.runs if run.font.is_maths]) <= FORMAL * one.characters
    ]


def find_columns(lines: Sequence[Line], width: float, size: float) -> Columns:
    """One column or two, by where long lines begin and end.

    Args:
        lines: Of a page.
        width: Of the page, in points.
        size: Of the font of the body, in points.
    """
    return _columns(_prose(lines, size) or lines, width, size)


def _columns(long: Sequence[Line], width: float, size: float) -> Columns:
    if not long:
        return Columns(((0.0, width),))
    sides = ([one for one in long if one.right < width / 2 + 8], [one for one in long if one.left > width / 2 - 8])
    if sum(map(len, sides)) >= IN_COLUMNS * len(long) and max(map(len, sides)) >= 3:
        first, second = (_span(side, size) if side else None for side in sides)
        first = first or (width - second[1], width - second[0]) if second else first
        second = second or (width - first[1], width - first[0]) if first else second
        if first and second and second[0] > first[1] - 5:
            return Columns((first, second))
    return Columns((_span(long, size),))


def _span(lines: Sequence[Line], size: float) -> Span:
    """Where most lines begin, or the entries that hang out of them; and where nearly all have ended."""
    seen = Counter(round(line.left) for line in lines)
    ((common, most),) = seen.most_common(1)
    enough = max(2, FEW * len(lines))
    hanging = [left for left, number in seen.items() if number >= enough and common - HANGING * size <= left <= common]
    ends = sorted(line.right for line in lines)
    return float(min(hanging) if most >= enough else common), ends[int(FULL * (len(ends) - 1))]


def in_order(lines: list[Line], columns: Columns) -> list[Line]:
    """The lines as they are read: as the content has them, unless that jumps about."""
    jumps = sum(
        low.base > high.base + 2 * high.size and columns.number(low) <= max(0, columns.number(high))
        for high, low in pairwise(lines)
    )
    if jumps <= max(3, JUMPS * len(lines)):
        return lines
    ordered: list[Line] = []
    band: list[Line] = []
    for line in sorted(lines, key=lambda line: -line.base):
        if columns.number(line) < 0:
            ordered += [*_by_column(band, columns), line]
            band = []
        else:
            band.append(line)
    return ordered + _by_column(band, columns)


def _by_column(band: list[Line], columns: Columns) -> list[Line]:
    return sorted(band, key=lambda line: (columns.number(line), -round(line.base), line.left))
