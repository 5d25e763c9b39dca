"""Detect the columns of a page and put its lines in reading order."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from peercorpus.texts.layout.blocks import TextLine

Span = tuple[float, float]
"""Left and right edge, in points."""

MIN_PROSE_CHARACTERS = 25
"""Minimum characters of a line that counts as prose and is used to detect columns."""
_MAX_SIZE_DIFFERENCE = 0.12
"""Maximum difference of a prose line from the body font size, as a share of it."""
_MAX_MATHS_SHARE = 0.25
"""Maximum share of a prose line in maths fonts; formulas may begin and end anywhere."""
_MIN_HALF_PAGE_SHARE = 0.55
"""Minimum share of the long lines that stay in one half of a two-column page."""
_MIN_FLUSH_SHARE = 0.06
"""Minimum share of the lines of a column that begin at its left edge."""
_MAX_HANGING_INDENT_EM = 3.5
"""Maximum hanging indent of the entries of a bibliography, in em."""
_FULL_LINE_QUANTILE = 0.8
"""Quantile of the right edges of the lines that is taken as the right edge of the column."""
_MIN_PROSE_LINES = 10
"""Minimum prose lines of a page whose columns are detected on that page alone."""
_MAX_JUMP_SHARE = 0.12
"""Maximum share of lines that are above their predecessor in the same column; beyond it the page is sorted."""


@dataclass(frozen=True, slots=True)
class PageColumns:
    """The left and right edges of the columns of a page, in points, from left to right; one or two."""

    spans: tuple[Span, ...]

    def of(self, line: TextLine) -> Span:
        """Return the column of a line; the full text width if it spans both."""
        if len(self.spans) == 1:
            return self.spans[0]
        (left, end), (begin, right) = self.spans
        middle = (end + begin) / 2
        if line.left < middle - 10 and line.right > middle + 10:
            return left, right
        return self.spans[0] if (line.left + line.right) / 2 < middle else self.spans[1]

    def number(self, line: TextLine) -> int:
        """Return 0 for a line in the left column, 1 for the right one, and -1 for a line across both."""
        span = self.of(line)
        return self.spans.index(span) if span in self.spans else -1


def find_all_columns(pages: Sequence[Sequence[TextLine]], widths: Sequence[float], size: float) -> list[PageColumns]:
    """Return the columns of each page; a page with little prose gets those of the similar page with the most prose.

    In a single-column paper, a page has two columns only if there are lines on either side.
    """
    prose = [_select_prose_lines(lines, size) for lines in pages]
    all_columns = [
        _detect_columns(long or lines, width, size) for long, lines, width in zip(prose, pages, widths, strict=True)
    ]
    numbers = Counter(
        len(page_columns.spans)
        for page_columns, long in zip(all_columns, prose, strict=True)
        if len(long) >= _MIN_PROSE_LINES
    )
    usual = numbers.most_common(1)[0][0] if numbers else 0
    clear = [
        index
        for index, page_columns in enumerate(all_columns)
        if len(page_columns.spans) == usual and len(prose[index]) >= _MIN_PROSE_LINES
    ]
    for index, long in enumerate(prose):
        if usual == 1 and len(all_columns[index].spans) == 2 and not all(_split_sides(long, widths[index])):
            # Steps of an algorithm and last lines of paragraphs fill only the left half of a page.
            all_columns[index] = PageColumns((_measure_span(long or pages[index], size),))
        alike = [other for other in clear if widths[other] == widths[index]]
        if len(long) < _MIN_PROSE_LINES and alike:
            most = all_columns[max(alike, key=lambda other: len(prose[other]))]
            all_columns[index] = (
                most if usual == 1 or all(most.number(line) >= 0 for line in long) else all_columns[index]
            )
    return all_columns


def _select_prose_lines(lines: Sequence[TextLine], size: float) -> list[TextLine]:
    long = [
        line
        for line in lines
        if line.characters >= MIN_PROSE_CHARACTERS and abs(line.size - size) < _MAX_SIZE_DIFFERENCE * size
    ]
    return [
        line
        for line in long
        if sum([len(run.text) for run in line.runs if run.font.is_maths]) <= _MAX_MATHS_SHARE * line.characters
    ]


def find_columns(lines: Sequence[TextLine], width: float, size: float) -> PageColumns:
    """Detect one or two columns from the edges of long lines."""
    return _detect_columns(_select_prose_lines(lines, size) or lines, width, size)


def _detect_columns(long: Sequence[TextLine], width: float, size: float) -> PageColumns:
    if not long:
        return PageColumns(((0.0, width),))
    sides = _split_sides(long, width)
    if sum(map(len, sides)) >= _MIN_HALF_PAGE_SHARE * len(long) and max(map(len, sides)) >= 3:
        first, second = (_measure_span(side, size) if side else None for side in sides)
        first = first or (width - second[1], width - second[0]) if second else first
        second = second or (width - first[1], width - first[0]) if first else second
        if first and second and second[0] > first[1] - 5:
            return PageColumns((first, second))
    return PageColumns((_measure_span(long, size),))


def _split_sides(lines: Sequence[TextLine], width: float) -> tuple[list[TextLine], list[TextLine]]:
    return [line for line in lines if line.right < width / 2 + 8], [line for line in lines if line.left > width / 2 - 8]


def _measure_span(lines: Sequence[TextLine], size: float) -> Span:
    seen = Counter(round(line.left) for line in lines)
    ((common, most),) = seen.most_common(1)
    enough = max(2, _MIN_FLUSH_SHARE * len(lines))
    hanging = [
        left
        for left, number in seen.items()
        if number >= enough and common - _MAX_HANGING_INDENT_EM * size <= left <= common
    ]
    ends = sorted(line.right for line in lines)
    return float(min(hanging) if most >= enough else common), ends[int(_FULL_LINE_QUANTILE * (len(ends) - 1))]


def reading_order(lines: list[TextLine], columns: PageColumns) -> list[TextLine]:
    """Return lines in reading order: the order of the page content, unless that jumps too often."""
    jumps = sum(
        low.base > high.base + 2 * high.size and columns.number(low) <= max(0, columns.number(high))
        for high, low in pairwise(lines)
    )
    if jumps <= max(3, _MAX_JUMP_SHARE * len(lines)):
        return lines
    ordered: list[TextLine] = []
    band: list[TextLine] = []
    for line in sorted(lines, key=lambda line: -line.base):
        if columns.number(line) < 0:
            ordered += [*_sort_by_column(band, columns), line]
            band = []
        else:
            band.append(line)
    return ordered + _sort_by_column(band, columns)


def _sort_by_column(band: list[TextLine], columns: PageColumns) -> list[TextLine]:
    return sorted(band, key=lambda line: (columns.number(line), -round(line.base), line.left))
