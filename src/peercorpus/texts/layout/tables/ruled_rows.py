"""Read tables whose rows are separated by rules or by space, so that cells may have several lines."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from operator import attrgetter
from statistics import mean

from peercorpus.texts.layout.tables.cells import CellRow, CellText, column_of, crosses, find_gaps, lines_over

_MIN_BANDS = 3
"""Minimum number of bands in such a table, including the heads."""
_MIN_FULL_SHARE = 0.75
"""Minimum share of full lines in wrapped cells, excluding the last line of each."""
_MIN_ALL_WRAPPED_FULL_SHARE = 0.8
"""The same if no row is a single line."""
_MAX_CHANCE_GAPS = 12
"""Maximum wide spaces that look like a column boundary."""
_MAX_CHANCE_RATIO = 2
"""Maximum ratio of rows with text after a wide space to lines across it, if the space is not a boundary."""
_SPACE_WIDTH_EM = 0.25
_MAX_FULL_LINE_GAP_EM = 0.3
"""Maximum distance of the end of a full line from the end of the longest, in em."""
MIN_LONG_TEXT_WORDS = 5
"""Minimum words in a line of a long text."""
_MIN_WRAPPED_WORDS = 1.75
"""Minimum average number of words in a wrapped line if several cells of a row are wrapped."""
_MIN_RAGGED_HEIGHTS = 3
"""Number of different cell heights (in lines) of one row above which its cells are wrapped."""
_MIN_ROW_STEP_RATIO = 1.12
"""Minimum distance of two rows, relative to that of two lines of a cell."""
MIN_LINE_STEP_EM = 0.75
"""Distance of two lines, in em, below which they belong to one row."""

Band = Sequence[CellRow]
"""The lines between two rules."""
Cell = list[list[CellText]]
"""The text of one column between two rules, line by line."""


def cells_of(band: Band, gaps: Sequence[float]) -> dict[int, Cell]:
    """Return the cells between two rules, by column."""
    cells: dict[int, Cell] = {}
    for line in band:
        own: dict[int, list[CellText]] = {}
        for piece in line.pieces:
            own.setdefault(column_of(piece, gaps), []).append(piece)
        for number, pieces in own.items():
            cells.setdefault(number, []).append(pieces)
    return cells


def band_gaps(bands: Sequence[Band]) -> list[float]:
    """Return the column boundaries: positions that no line of a band covers; empty if there are too few bands."""
    if len(bands) < _MIN_BANDS:
        return []
    rows = [_merge_lines(band) for band in bands]
    return without_chances(find_gaps(rows, 1), rows, bands)


def without_chances(gaps: list[float], rows: Sequence[CellRow], bands: Sequence[Band]) -> list[float]:
    """Return the column boundaries without wide spaces of justified cells; empty if there are too many of these.

    Such a space occurs in a single line of a cell: lines of that cell in other bands cross it.
    """
    for _ in range(_MAX_CHANCE_GAPS):
        chance_index = _find_chance_gap(gaps, rows, bands)
        if chance_index is None:
            return gaps
        gaps.remove(
            min(
                gaps[chance_index : chance_index + 2],
                key=lambda gap: (-lines_over(gap, chain.from_iterable(bands)), room(gap, rows)),
            )
        )
    return []


def _find_chance_gap(gaps: Sequence[float], rows: Sequence[CellRow], bands: Sequence[Band]) -> int | None:
    behind = Counter(index for row in rows[1:] for index in {column_of(piece, gaps) for piece in row.pieces})
    over = Counter(
        index for band in bands[1:] for index in {index for line in band for index in _find_crossed_gaps(line, gaps)}
    )
    heads = {column_of(piece, gaps) for piece in rows[0].pieces}
    candidates = (
        index
        for index in range(len(gaps))
        if index + 1 not in heads and behind[index + 1] <= max(1, _MAX_CHANCE_RATIO * over[index])
    )
    return next(candidates, None)


def _find_crossed_gaps(line: CellRow, gaps: Sequence[float]) -> Iterator[int]:
    for piece in line.pieces:
        yield from range(bisect_right(gaps, piece.left + 1), bisect_left(gaps, piece.right - 1))


def room(gap: float, rows: Sequence[CellRow]) -> float:
    """Return the width of the gap between two columns, in points."""
    pieces = [piece for row in rows for piece in row.pieces if not crosses(piece, [gap])]
    lefts = [piece.left for piece in pieces if piece.left > gap]
    return min(lefts, default=gap) - max((piece.right for piece in pieces if piece.left <= gap), default=gap)


def split_by_space(bands: Sequence[Band]) -> list[Band]:
    """Return the bands, split where two lines are further apart than lines of a cell."""
    steps = [above.base - below.base for band in bands for above, below in pairwise(band)]
    leading = min((step for step in steps if step >= MIN_LINE_STEP_EM * bands[0][0].size), default=0.0)
    parted: list[Band] = []
    for band in bands:
        wide = [
            number
            for number, (upper, lower) in enumerate(pairwise(band), 1)
            if upper.base - lower.base > _MIN_ROW_STEP_RATIO * leading
        ]
        parted += [band[first:behind] for first, behind in pairwise((0, *wide, len(band)))]
    return parted


def _merge_lines(band: Band) -> CellRow:
    pieces: list[CellText] = []
    for piece in sorted((piece for line in band for piece in line.pieces), key=attrgetter("left")):
        last = pieces[-1] if pieces else None
        if last and piece.left < last.right:
            last.right = max(last.right, piece.right)
        else:
            pieces.append(CellText(words=piece.words, left=piece.left, right=piece.right, start=piece.start))
    return CellRow(band[0].base, band[0].size, pieces)


def is_ruled(bands: Sequence[Band], gaps: Sequence[float]) -> bool:
    """Return whether each band is one row: wrapped lines are full, and some cell is shorter than others."""
    if len(bands) < _MIN_BANDS or not gaps:
        return False
    wrapped = [cells_of(band, gaps) for band in bands[1:] if len(band) > 1]
    if not wrapped:
        return False
    several = [(number, cell) for cells in wrapped for number, cell in cells.items() if len(cell) > 1]
    if not several:
        return False
    widths = _measure_column_widths(bands, gaps)
    full = [is_full for number, cell in several for is_full in _check_full_lines(cell, widths.get(number, 0.0))]
    if sum(full) < (_MIN_FULL_SHARE if len(wrapped) < len(bands) - 1 else _MIN_ALL_WRAPPED_FULL_SHARE) * len(full):
        return False
    is_cut = any(pieces[-1].text.endswith("-") for _, cell in several for pieces in cell[:-1])
    words = [_count_mean_words(cell) for _, cell in several]
    is_wordy = len(words) == len(wrapped) or mean(words) >= _MIN_WRAPPED_WORDS
    is_ragged = any(len({len(cell) for cell in cells.values()}) >= _MIN_RAGGED_HEIGHTS for cells in wrapped)
    return is_cut or (all(map(_is_uneven, wrapped)) and (is_wordy or is_ragged))


def _is_uneven(cells: dict[int, Cell]) -> bool:
    return len({len(cell) for cell in cells.values()}) > 1 or all(
        _count_mean_words(cell) >= MIN_LONG_TEXT_WORDS for cell in cells.values()
    )


def _count_mean_words(cell: Cell) -> float:
    return sum(piece.count for pieces in cell[:-1] for piece in pieces) / max(1, len(cell) - 1)


def _measure_column_widths(bands: Sequence[Band], gaps: Sequence[float]) -> dict[int, float]:
    ends: dict[int, tuple[float, float]] = {}
    for band in bands:
        for number, cell in cells_of(band, gaps).items():
            for piece in (part for parts in cell for part in parts if not crosses(part, gaps)):
                left, right = ends.get(number, (piece.left, piece.right))
                ends[number] = min(left, piece.left), max(right, piece.right)
    return {number: right - left for number, (left, right) in ends.items()}


def _check_full_lines(cell: Cell, width: float) -> Iterator[bool]:
    for above, below in pairwise(cell):
        word = below[0].words[0]
        extent = above[-1].right - above[0].left + (word.right - word.left)
        yield (
            above[-1].text.endswith("-")
            or extent + _SPACE_WIDTH_EM * word.size > width - _MAX_FULL_LINE_GAP_EM * word.size
        )
