"""Rows, columns and cells from the words of a table."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from statistics import median
from typing import NamedTuple

GAP = 0.5
"""A gap between two words, in the size of the font, from which on they are in two cells."""
SPACE = 0.13
"""A gap, in the size of the font, from which on it is a space."""
SAME = 0.3
"""Difference of two baselines, in the size of the font, up to which they are one."""
SCRIPT = 0.8
"""Size of what is raised or lowered over the size of the table's font, at most."""
RAISED = 0.65
"""How far, in the size of the font, it is off its baseline at most."""
MOST_COLUMNS = 60
"""Columns of a table, at most."""
CROSSED = 0.34
"""Share of the rows that may go over the gap between two columns."""
END = 0.15
"""Share of a piece that may stick out into the column before."""
POWER = re.compile(r"[-\u2212]?\d{1,4}")
"""What is a power, where it is raised."""
DEVIATION = re.compile(r"[-\u2212+±↑↓(]*\d[\d.]*[%)]*")
"""What stands small behind a number and belongs to it."""
GLUE = re.compile(r"[±∓\u00d7/\u2013]|\+/-|\(?±.*")
"""Signs that hold two numbers together over a gap of up to one size of the font."""


class Word(NamedTuple):
    """A word, where it stands.

    Attributes:
        left: In points, as are `right`, `base` and `size`.
        is_spaced: Whether it follows another word of the same run.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    is_spaced: bool


@dataclass(slots=True)
class Piece:
    """Words of a row without a wide gap between them: most often a cell.

    Attributes:
        start: Left end of the rule drawn below it, where one is; else its own, as `left`.
    """

    words: list[Word]
    left: float
    right: float
    start: float

    @property
    def count(self) -> int:
        """Words as a reader counts them: a number may be several runs."""
        return self.text.count(" ") + 1

    @property
    def text(self) -> str:
        """All words, with a space where there is one."""
        if len(self.words) == 1:
            return self.words[0].text
        size, base = max((word.size, word.base) for word in self.words)
        said = self.words[0].text
        for number, (before, word) in enumerate(pairwise(self.words), 1):
            if word.is_spaced or word.left - before.right > SPACE * max(before.size, word.size):
                said += " "
            elif word.size <= SCRIPT * before.size and before.text[-1].isalnum():
                said += _sign(before, self.words[number:], base + 0.1 * size)
            said += word.text
        return said


def _sign(before: Word, behind: Sequence[Word], height: float) -> str:
    """What parts a number from a smaller one at its end: the sign of a power, or a space where it is a deviation."""
    first = behind[0]
    script = "".join(word.text for word in takewhile(lambda word: word.size <= first.size * 1.01, behind[:3]))
    if POWER.fullmatch(script) and first.base > height:
        return "^"
    return " " if before.text[-1].isdigit() and DEVIATION.fullmatch(script) else ""


@dataclass(slots=True)
class Row:
    """What stands on one baseline."""

    base: float
    size: float
    pieces: list[Piece]


def read_rows(words: Sequence[Word], uprights: Sequence[float]) -> list[Row]:
    """The rows of a table from top to bottom; a piece never goes over a vertical line, given from left to right."""
    size = median(word.size for word in words)
    baselines: list[list[Word]] = []
    for word in sorted((word for word in words if word.size > SCRIPT * size), key=lambda word: -word.base):
        if not baselines or baselines[-1][0].base - word.base > SAME * size:
            baselines.append([])
        baselines[-1].append(word)
    _add_scripts([word for word in words if word.size <= SCRIPT * size], baselines, size)
    return [Row(row[0].base, size, _pieces(row, uprights)) for row in baselines]


def _add_scripts(scripts: Sequence[Word], baselines: list[list[Word]], size: float) -> None:
    """Put what is raised or lowered to the word it stands at; what stands alone is a row of its own."""
    heights = [-row[0].base for row in baselines]
    alone: list[Word] = []
    for script in scripts:
        at = bisect_left(heights, -script.base)
        off = {number: abs(heights[number] + script.base) for number in (at - 1, at) if 0 <= number < len(heights)}
        near = [number for number, far in off.items() if far <= RAISED * size]
        if near:
            beside = {number: _gap(script, baselines[number]) <= size for number in near}
            baselines[min(near, key=lambda number: (not beside[number], off[number]))].append(script)
        else:
            alone.append(script)
    rows: list[list[Word]] = []
    for word in sorted(alone, key=lambda word: -word.base):
        if not rows or rows[-1][0].base - word.base > SAME * word.size:
            rows.append([])
        rows[-1].append(word)
    baselines += rows
    baselines.sort(key=lambda row: -row[0].base)


def _gap(word: Word, row: Sequence[Word]) -> float:
    return min(abs(word.left - one.right) for one in row)


def _pieces(words: list[Word], uprights: Sequence[float]) -> list[Piece]:
    pieces: list[Piece] = []
    for word in sorted(words, key=lambda word: word.left):
        last = pieces[-1] if pieces else None
        if last and not _is_apart(last, word, uprights):
            last.words.append(word)
            last.right = max(last.right, word.right)
        else:
            pieces.append(Piece([word], word.left, word.right, word.left))
    return pieces


def _is_apart(piece: Piece, word: Word, uprights: Sequence[float]) -> bool:
    before = piece.words[-1]
    gap, size = word.left - piece.right, max(before.size, word.size)
    at = bisect_left(uprights, piece.right - 1)
    if at < len(uprights) and uprights[at] <= word.left + 1:
        return True
    is_wide = gap > GAP * size
    if is_wide is (gap > 2 * GAP * size):
        return is_wide
    is_glued = (GLUE.fullmatch(word.text) and not before.text[-1].isalpha() and before.text[-1] != "-") or (
        GLUE.fullmatch(before.text) and not word.text[0].isalpha()
    )
    return is_wide is not bool(is_glued)


def find_gaps(rows: Sequence[Row], first_body: int) -> list[float]:
    """Where one column ends and the next begins, in points, from left to right.

    Args:
        rows: All rows.
        first_body: The first one below the heads of the columns.
    """
    several = [row for row in rows if len(row.pieces) > 1]
    gaps = _hollows([piece for row in several for piece in row.pieces], CROSSED * len(several))
    if len(gaps) >= MOST_COLUMNS:
        return []
    body = rows[first_body:] if len(rows) - first_body > 1 else rows
    return _with_support(gaps, body, rows)


def _hollows(pieces: Iterable[Piece], most: float) -> list[float]:
    """The middles of the intervals over which fewer pieces go than to the left and to the right of them."""
    ends = sorted(edge for piece in pieces for edge in ((piece.left, 1), (piece.right, -1)))
    steps: list[tuple[float, float, int]] = []
    level = 0
    for (left, step), (right, _) in pairwise(ends):
        level += step
        if right - left < 0.1:
            continue
        if steps and steps[-1][2] == level:
            steps[-1] = steps[-1][0], right, level
        else:
            steps.append((left, right, level))
    return [
        (here[0] + here[1]) / 2
        for before, here, after in zip(steps, steps[1:], steps[2:], strict=False)
        if before[2] > here[2] < after[2] and here[2] <= most
    ]


def _with_support(gaps: list[float], body: Sequence[Row], rows: Sequence[Row]) -> list[float]:
    """Without columns in which nothing stands but part of a heading over several columns."""
    held = [0] * (len(gaps) + 1)
    for row in body:
        for number in {column_of(piece, gaps) for piece in row.pieces}:
            held[number] += 1
    least = 1 if len(body) < 6 else 2
    kept: list[float] = []
    number = 0
    while number < len(gaps):
        if held[number + 1] < least and number + 1 < len(gaps):
            heads = [] if held[number + 1] else rows
            own = [piece for row in heads for piece in row.pieces if column_of(piece, gaps) == number + 1]
            middle = median((piece.left + piece.right) / 2 for piece in own) if own else 0.0
            kept.append(middle or min(gaps[number : number + 2], key=lambda gap: lines_over(gap, body)))
            number += 2
        else:
            kept.append(gaps[number])
            number += 1
    if kept and held[0] < 1 and not any(column_of(piece, gaps) == 0 for row in rows for piece in row.pieces):
        kept.pop(0)
    return kept


def lines_over(gap: float, rows: Iterable[Row]) -> int:
    """How many pieces go over a place."""
    return sum(crosses(piece, [gap]) for row in rows for piece in row.pieces)


def column_of(piece: Piece, gaps: Sequence[float]) -> int:
    """The first column a piece is in: the one at its left end, unless hardly more than its end is there."""
    number = bisect_left(gaps, piece.start)
    if piece.start < piece.left:
        return number
    reach = piece.left + END * (piece.right - piece.left)
    while number < len(gaps) and gaps[number] < reach:
        number += 1
    return number


def crosses(piece: Piece, gaps: Sequence[float]) -> bool:
    """Whether a piece goes over the end of a column; they are given from left to right."""
    at = bisect_right(gaps, piece.left + 1)
    return at < len(gaps) and gaps[at] < piece.right - 1
