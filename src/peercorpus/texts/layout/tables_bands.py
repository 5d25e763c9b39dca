"""Tables with a rule between any two rows: what stands between two rules is one row, however many lines it has."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from operator import attrgetter
from statistics import mean

from peercorpus.texts.layout.tables_cells import Piece, Row, column_of, crosses, find_gaps, lines_over

FEWEST_BANDS = 3
"""Bands of such a table, the one of its heads among them, at least."""
FULL = 0.75
"""Share of the lines of wrapped cells, the last of each left out, that have no place for one word more, at least."""
ALL_FULL = 0.8
"""The same where no row is a single line."""
MOST_CHANCES = 12
"""Wide spaces that look like the end of a column, at most."""
OFTEN = 2
"""Rows with something behind a wide space, over the lines that go over it, at most."""
SPACE = 0.25
"""Width of a space, in the size of the font, at least."""
SLACK = 0.3
"""How far a full line may end before the others, in the size of the font."""
LONG = 5
"""Words of a line of a long text, at least."""
FEW_WORDS = 1.75
"""Words of a line that goes on below, on average, at least, where several cells of a row are wrapped."""
RAGGED = 3
"""Different numbers of lines of the cells of one row, from which on they are wrapped."""
STEP = 1.12
"""Distance of two rows over that of two lines of a cell, at least."""
CLOSE = 0.75
"""Distance of two lines, in the size of the font, below which they are of one row."""

Band = Sequence[Row]
"""The lines between two rules."""
Cell = list[list[Piece]]
"""What stands in one column between two rules, line by line."""


def cells_of(band: Band, gaps: Sequence[float]) -> dict[int, Cell]:
    """The cells between two rules, by their column."""
    cells: dict[int, Cell] = {}
    for line in band:
        own: dict[int, list[Piece]] = {}
        for piece in line.pieces:
            own.setdefault(column_of(piece, gaps), []).append(piece)
        for number, pieces in own.items():
            cells.setdefault(number, []).append(pieces)
    return cells


def band_gaps(bands: Sequence[Band]) -> list[float]:
    """Where columns end, from what no line of a band covers; none where there are too few bands."""
    if len(bands) < FEWEST_BANDS:
        return []
    rows = [_covered(band) for band in bands]
    return without_chances(find_gaps(rows, 1), rows, bands)


def without_chances(gaps: list[float], rows: Sequence[Row], bands: Sequence[Band]) -> list[float]:
    """The same ends of columns without wide spaces of justified cells; none where there are too many of these.

    Such a space is in the only line of a cell that is that long: then lines of that cell in other bands go over it, and
    not many more bands have something behind it.

    Args:
        gaps: Where columns end, and where a wide space looks like it.
        rows: The heads, and what stands below them.
        bands: The lines of each of the rows.
    """
    for _ in range(MOST_CHANCES):
        at = _chance(gaps, rows, bands)
        if at is None:
            return gaps
        gaps.remove(
            min(gaps[at : at + 2], key=lambda gap: (-lines_over(gap, chain.from_iterable(bands)), room(gap, rows)))
        )
    return []


def _chance(gaps: Sequence[float], rows: Sequence[Row], bands: Sequence[Band]) -> int | None:
    """The number of a gap behind which is no column."""
    behind = Counter(at for row in rows[1:] for at in {column_of(piece, gaps) for piece in row.pieces})
    over = Counter(at for band in bands[1:] for at in {at for line in band for at in _crossed(line, gaps)})
    heads = {column_of(piece, gaps) for piece in rows[0].pieces}
    some = (at for at in range(len(gaps)) if at + 1 not in heads and behind[at + 1] <= max(1, OFTEN * over[at]))
    return next(some, None)


def _crossed(line: Row, gaps: Sequence[float]) -> Iterator[int]:
    """The numbers of the gaps that something in a line goes over."""
    for piece in line.pieces:
        yield from range(bisect_right(gaps, piece.left + 1), bisect_left(gaps, piece.right - 1))


def room(gap: float, rows: Sequence[Row]) -> float:
    """How wide the gap between two columns is."""
    pieces = [piece for row in rows for piece in row.pieces if not crosses(piece, [gap])]
    lefts = [piece.left for piece in pieces if piece.left > gap]
    return min(lefts, default=gap) - max((piece.right for piece in pieces if piece.left <= gap), default=gap)


def by_space(bands: Sequence[Band]) -> list[Band]:
    """The same bands, parted where two lines are further from each other than lines of a cell are."""
    steps = [above.base - below.base for band in bands for above, below in pairwise(band)]
    leading = min((step for step in steps if step >= CLOSE * bands[0][0].size), default=0.0)
    parted: list[Band] = []
    for band in bands:
        wide = [number for number, (one, two) in enumerate(pairwise(band), 1) if one.base - two.base > STEP * leading]
        parted += [band[first:behind] for first, behind in pairwise((0, *wide, len(band)))]
    return parted


def _covered(band: Band) -> Row:
    """All lines of a band as one, what overlaps as one piece."""
    pieces: list[Piece] = []
    for piece in sorted((piece for line in band for piece in line.pieces), key=attrgetter("left")):
        last = pieces[-1] if pieces else None
        if last and piece.left < last.right:
            last.right = max(last.right, piece.right)
        else:
            pieces.append(Piece(piece.words, piece.left, piece.right, piece.start))
    return Row(band[0].base, band[0].size, pieces)


def is_ruled(bands: Sequence[Band], gaps: Sequence[float]) -> bool:
    """Whether each band is one row: all its lines but the last of each cell are full, and some cell is shorter."""
    if len(bands) < FEWEST_BANDS or not gaps:
        return False
    wrapped = [cells_of(band, gaps) for band in bands[1:] if len(band) > 1]
    if not wrapped:
        return False
    several = [(number, cell) for cells in wrapped for number, cell in cells.items() if len(cell) > 1]
    if not several:
        return False
    widths = _widths(bands, gaps)
    full = [one for number, cell in several for one in _full(cell, widths.get(number, 0.0))]
    if sum(full) < (FULL if len(wrapped) < len(bands) - 1 else ALL_FULL) * len(full):
        return False
    is_cut = any(pieces[-1].text.endswith("-") for _, cell in several for pieces in cell[:-1])
    words = [_words(cell) for _, cell in several]
    is_wordy = len(words) == len(wrapped) or mean(words) >= FEW_WORDS
    is_ragged = any(len({len(cell) for cell in cells.values()}) >= RAGGED for cells in wrapped)
    return is_cut or (all(map(_is_uneven, wrapped)) and (is_wordy or is_ragged))


def _is_uneven(cells: dict[int, Cell]) -> bool:
    """Whether a row has a cell of fewer lines than another, or long text in all of them."""
    return len({len(cell) for cell in cells.values()}) > 1 or all(_words(cell) >= LONG for cell in cells.values())


def _words(cell: Cell) -> float:
    """Words of the lines of a cell, without the last, on average."""
    return sum(piece.count for pieces in cell[:-1] for piece in pieces) / max(1, len(cell) - 1)


def _widths(bands: Sequence[Band], gaps: Sequence[float]) -> dict[int, float]:
    """How wide the text in each column is."""
    ends: dict[int, tuple[float, float]] = {}
    for band in bands:
        for number, cell in cells_of(band, gaps).items():
            for piece in (one for pieces in cell for one in pieces if not crosses(one, gaps)):
                left, right = ends.get(number, (piece.left, piece.right))
                ends[number] = min(left, piece.left), max(right, piece.right)
    return {number: right - left for number, (left, right) in ends.items()}


def _full(cell: Cell, width: float) -> Iterator[bool]:
    """Whether each line has no place for the first word of the line below."""
    for above, below in pairwise(cell):
        word = below[0].words[0]
        extent = above[-1].right - above[0].left + (word.right - word.left)
        yield above[-1].text.endswith("-") or extent + SPACE * word.size > width - SLACK * word.size
