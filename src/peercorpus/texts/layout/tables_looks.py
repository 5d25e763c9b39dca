"""What is a table, and what only looks like one: prose in two columns, programs, lists, figures."""

import re
from collections.abc import Sequence

from peercorpus.texts.layout.shapes import Box
from peercorpus.texts.layout.tables_bands import room
from peercorpus.texts.layout.tables_cells import Row, column_of, crosses
from peercorpus.texts.layout.tables_grid import Grid
from peercorpus.texts.layout.tables_open import NUMBERS
from peercorpus.texts.layout.tables_rules import Frame

WIDE = 330.0
"""Width of two columns of a page, in points, at least."""
FEW_NUMBERS = 0.15
"""Share of the cells of a table of two columns between two rules that hold a digit, at least."""
PROSE_WORDS = 3.5
"""Words between two wide gaps of prose, on average, at least."""
FILLED = 0.58
"""Share of the width of a column that lines of prose fill, at least."""
FEWEST_TIDY = 4
"""Rows of a table without rules and numbers, at least."""
TIDY_WORDS = 3
"""Words of its cells, on average, at most."""
BEGINS = 0.06
"""Distance of the right column of a page from its middle, over the width of the text, at most."""
CROSSING = 0.4
"""Share of the rows of a table that may go over several columns."""
PROGRAM = re.compile(
    r"\d{1,3}:(?:\s|$)|(?:Require|Ensure|Input|Output|Data|Result|Initiali[sz]e)s?:|"
    r"(?:end )?(?:for|while|if|else|repeat|until|return|procedure|function)\b"
)
"""How the lines of a program begin."""
PROGRAM_NAME = re.compile(r"(?:Algorithm|Procedure|Protocol)\s+\d")
"""How its title begins."""
FORMULA_NUMBER = re.compile(r"\((?:[A-Z]\.?)?\d{1,3}[a-z]?\)")
"""The number of a formula at the end of its line."""
MARK = re.compile(r"\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)]|[•\u2013*-]")
"""What stands before an item of a list."""


def is_drawing(box: Box, words: int, strokes: Sequence[Box]) -> bool:
    """Whether more lines are drawn in a box than a table of so many words has."""
    inside = sum(box.holds((one.left + one.right) / 2, (one.top + one.bottom) / 2) for one in strokes)
    return inside > 3 * words


def is_table(grid: Grid, frame: Frame) -> bool:
    """Whether what stands in a frame is a table."""
    rows, gaps = grid.lines, grid.gaps
    if not gaps or len(rows) < 2 or len(grid.rows) < 2:
        return False
    crossing = sum(any(crosses(piece, gaps) for piece in row.pieces) for row in rows)
    if (crossing > CROSSING * len(rows) and crossing > 1) or _is_program(rows):
        return False
    several = sum(len({column_of(piece, gaps) for piece in row.pieces}) > 1 for row in rows)
    if frame.uprights:
        return several > 0
    if _is_listing(grid) or (is_two_columns(rows, frame.box) and not _has_heads(grid, frame)):
        return False
    if frame.is_open:
        return several > 1 and (_digits(rows) >= NUMBERS or _is_tidy(grid))
    if len(frame.heights) > 2:
        return several > 0
    return 2 * several >= max(4, len(rows)) and (len(gaps) > 1 or _digits(rows) >= FEW_NUMBERS)


def _has_heads(grid: Grid, frame: Frame) -> bool:
    """Whether each of several columns has a short head, between two rules."""
    heads = grid.rows[0]
    is_short = sum(text.count(" ") + 1 for text in heads) <= TIDY_WORDS * len(heads)
    return len(frame.heights) > 2 and len(heads) > 2 and all(heads) and is_short


def _is_tidy(grid: Grid) -> bool:
    """Whether all rows are short cells in all columns, far apart: then there need be no numbers."""
    pieces = [piece for row in grid.lines for piece in row.pieces]
    if len(grid.rows) < FEWEST_TIDY or any(crosses(piece, grid.gaps) for piece in pieces):
        return False
    is_short = sum(piece.count for piece in pieces) <= TIDY_WORDS * len(pieces)
    is_whole = all(len({column_of(one, grid.gaps) for one in row.pieces}) > len(grid.gaps) for row in grid.lines)
    rooms = [room(gap, grid.lines) for gap in grid.gaps]
    return is_short and is_whole and min(rooms) >= grid.lines[0].size


def _digits(rows: Sequence[Row]) -> float:
    pieces = [piece for row in rows for piece in row.pieces]
    return sum(any(map(str.isdigit, piece.text)) for piece in pieces) / len(pieces)


def _is_program(rows: Sequence[Row]) -> bool:
    steps = sum(bool(PROGRAM.match(row.pieces[0].text)) for row in rows)
    titles = [row.pieces[0].text for row in (rows[0], rows[-1]) if row is rows[0] or len(row.pieces) == 1]
    return steps >= max(2, 0.3 * len(rows)) or any(map(PROGRAM_NAME.match, titles))


def is_two_columns(rows: Sequence[Row], box: Box) -> bool:
    """Whether the rows are lines of text in the two columns of a page."""
    middle, width = (box.left + box.right) / 2, box.right - box.left
    pieces = [piece for row in rows for piece in row.pieces]
    if width < WIDE or len(rows) < 2 or sum(piece.count for piece in pieces) < PROSE_WORDS * len(pieces):
        return False
    crossing = sum(piece.left < middle - 0.04 * width and piece.right > middle + 0.04 * width for piece in pieces)
    begun = sum(any(0 <= piece.left - middle < BEGINS * width for piece in row.pieces) for row in rows)
    if crossing > 0.2 * len(rows) or 2 * begun < len(rows):
        return False
    return all(_fills(rows, left, left + width / 2) for left in (box.left, middle))


def _fills(rows: Sequence[Row], left: float, right: float) -> bool:
    """Whether pieces fill most of the lines between two ends."""
    lines = [[one for one in row.pieces if left < (one.left + one.right) / 2 <= right] for row in rows]
    filled = [sum(one.right - one.left for one in pieces) for pieces in lines if pieces]
    return sum(filled) >= FILLED * (right - left) * max(1, len(filled))


def _is_listing(grid: Grid) -> bool:
    """Whether the rows are formulas with their numbers, or items with their marks."""
    first, last = ([row[at] for row in grid.rows if row[at]] for at in (0, -1))
    return all(map(FORMULA_NUMBER.fullmatch, last)) or (len(grid.gaps) == 1 and all(map(MARK.fullmatch, first)))
