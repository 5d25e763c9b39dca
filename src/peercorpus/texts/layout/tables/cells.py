"""Group the words of a table into rows, columns and cells."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from statistics import median
from typing import NamedTuple

_MIN_CELL_GAP_EM = 0.5
MIN_SPACE_EM = 0.13
_MAX_BASELINE_OFFSET_EM = 0.3
"""Maximum distance of two baselines that count as one, in em."""
_MAX_SCRIPT_SIZE_RATIO = 0.8
"""Maximum font size of a superscript or subscript, relative to the table."""
_MAX_SCRIPT_OFFSET_EM = 0.65
"""Maximum distance of a superscript or subscript from the baseline, in em."""
_MAX_COLUMNS = 60
_MAX_CROSSING_SHARE = 0.34
"""Maximum share of rows with text across the gap between two columns."""
_MAX_OVERHANG_SHARE = 0.15
"""Maximum share of a piece that may extend into the column before."""
_EXPONENT = re.compile(r"[-\u2212]?\d{1,4}")
"""Text that is an exponent if it is raised."""
_DEVIATION = re.compile(r"[-\u2212+±↑↓(]*\d[\d.]*[%)]*")
"""Small text after a number that belongs to it, such as a deviation."""
_JOINING_SIGN = re.compile(r"[±∓\u00d7/\u2013]|\+/-|\(?±.*")
"""Signs that join two numbers across a gap of up to one em."""


class Word(NamedTuple):
    """A word and its place, in points; `is_spaced` if it follows another word of the same run."""

    text: str
    left: float
    right: float
    base: float
    size: float
    is_spaced: bool


@dataclass(slots=True)
class CellText:
    """Words of a row without a wide gap, usually a cell; `start` is the left edge of the rule below it, or `left`."""

    words: list[Word]
    left: float
    right: float
    start: float
    row_span: int = 1

    @property
    def count(self) -> int:
        """Number of words as a reader counts them: a number may consist of several runs."""
        return self.text.count(" ") + 1

    @property
    def text(self) -> str:
        """Text of all words, with spaces."""
        if len(self.words) == 1:
            return self.words[0].text
        size, base = max((word.size, word.base) for word in self.words)
        joined = self.words[0].text
        for number, (before, word) in enumerate(pairwise(self.words), 1):
            if word.is_spaced or word.left - before.right > MIN_SPACE_EM * max(before.size, word.size):
                joined += " "
            elif word.size <= _MAX_SCRIPT_SIZE_RATIO * before.size and before.text[-1].isalnum():
                joined += _choose_separator(before, self.words[number:], base + 0.1 * size)
            joined += word.text
        return joined


def _choose_separator(before: Word, behind: Sequence[Word], height: float) -> str:
    """Return the separator between a number and smaller text: "^" for an exponent, " " for a deviation, else ""."""
    first = behind[0]
    script = "".join(word.text for word in takewhile(lambda word: word.size <= first.size * 1.01, behind[:3]))
    if _EXPONENT.fullmatch(script) and first.base > height:
        return "^"
    return " " if before.text[-1].isdigit() and _DEVIATION.fullmatch(script) else ""


@dataclass(slots=True)
class CellRow:
    """Text on one baseline."""

    base: float
    size: float
    pieces: list[CellText]


def read_cell_rows(words: Sequence[Word], uprights: Sequence[float]) -> list[CellRow]:
    """Return the rows of a table from top to bottom; no piece crosses a vertical line in `uprights`."""
    size = median(word.size for word in words)
    baselines: list[list[Word]] = []
    for word in sorted(
        (word for word in words if word.size > _MAX_SCRIPT_SIZE_RATIO * size), key=lambda word: -word.base
    ):
        if not baselines or baselines[-1][0].base - word.base > _MAX_BASELINE_OFFSET_EM * size:
            baselines.append([])
        baselines[-1].append(word)
    _add_scripts([word for word in words if word.size <= _MAX_SCRIPT_SIZE_RATIO * size], baselines, size)
    return [CellRow(row[0].base, size, _split_into_pieces(row, uprights)) for row in baselines]


def _add_scripts(scripts: Sequence[Word], baselines: list[list[Word]], size: float) -> None:
    heights = [-row[0].base for row in baselines]
    alone: list[Word] = []
    for script in scripts:
        index = bisect_left(heights, -script.base)
        off = {
            number: abs(heights[number] + script.base) for number in (index - 1, index) if 0 <= number < len(heights)
        }
        near = [number for number, far in off.items() if far <= _MAX_SCRIPT_OFFSET_EM * size]
        if near:
            beside = {
                number: min(abs(script.left - word.right) for word in baselines[number]) <= size for number in near
            }
            baselines[min(near, key=lambda number: (not beside[number], off[number]))].append(script)
        else:
            alone.append(script)
    rows: list[list[Word]] = []
    for word in sorted(alone, key=lambda word: -word.base):
        if not rows or rows[-1][0].base - word.base > _MAX_BASELINE_OFFSET_EM * word.size:
            rows.append([])
        rows[-1].append(word)
    baselines += rows
    baselines.sort(key=lambda row: -row[0].base)


def _split_into_pieces(words: list[Word], uprights: Sequence[float]) -> list[CellText]:
    pieces: list[CellText] = []
    for word in sorted(words, key=lambda word: word.left):
        last = pieces[-1] if pieces else None
        if last and not _begins_cell(last, word, uprights):
            last.words.append(word)
            last.right = max(last.right, word.right)
        else:
            pieces.append(CellText(words=[word], left=word.left, right=word.right, start=word.left))
    return pieces


def _begins_cell(piece: CellText, word: Word, uprights: Sequence[float]) -> bool:
    before = piece.words[-1]
    gap = word.left - piece.right
    size = max(before.size, word.size)
    index = bisect_left(uprights, piece.right - 1)
    if index < len(uprights) and uprights[index] <= word.left + 1:
        return True
    is_wide = gap > _MIN_CELL_GAP_EM * size
    if is_wide is (gap > 2 * _MIN_CELL_GAP_EM * size):
        return is_wide
    is_glued = (_JOINING_SIGN.fullmatch(word.text) and not before.text[-1].isalpha() and before.text[-1] != "-") or (
        _JOINING_SIGN.fullmatch(before.text) and not word.text[0].isalpha()
    )
    return is_wide is not bool(is_glued)


def find_gaps(rows: Sequence[CellRow], first_body: int) -> list[float]:
    """Return the boundaries between columns, in points; `first_body` is the first row below the column heads."""
    several = [row for row in rows if len(row.pieces) > 1]
    gaps = _find_hollows([piece for row in several for piece in row.pieces], _MAX_CROSSING_SHARE * len(several))
    if len(gaps) >= _MAX_COLUMNS:
        return []
    body = rows[first_body:] if len(rows) - first_body > 1 else rows
    return _drop_empty_columns(gaps, body, rows)


def _find_hollows(pieces: Iterable[CellText], most: float) -> list[float]:
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


def _drop_empty_columns(gaps: list[float], body: Sequence[CellRow], rows: Sequence[CellRow]) -> list[float]:
    row_counts = [0] * (len(gaps) + 1)
    for row in body:
        for number in {column_of(piece, gaps) for piece in row.pieces}:
            row_counts[number] += 1
    least = 1 if len(body) < 6 else 2
    kept: list[float] = []
    number = 0
    while number < len(gaps):
        if row_counts[number + 1] < least and number + 1 < len(gaps):
            heads = [] if row_counts[number + 1] else rows
            own = [
                piece
                for row in heads
                for piece in row.pieces
                if column_of(piece, gaps) == number + 1 and piece.left + piece.right < 2 * gaps[number + 1]
            ]
            middle = median((piece.left + piece.right) / 2 for piece in own) if own else 0.0
            kept.append(middle or min(gaps[number : number + 2], key=lambda gap: lines_over(gap, body)))
            number += 2
        else:
            kept.append(gaps[number])
            number += 1
    if kept and row_counts[0] < 1 and not any(column_of(piece, gaps) == 0 for row in rows for piece in row.pieces):
        kept.pop(0)
    return kept


def lines_over(gap: float, rows: Iterable[CellRow]) -> int:
    """Return the number of pieces that cross a position."""
    return sum(crosses(piece, [gap]) for row in rows for piece in row.pieces)


def column_of(piece: CellText, gaps: Sequence[float]) -> int:
    """Return the first column of a piece: that of its left edge, unless it hardly extends into it."""
    number = bisect_left(gaps, piece.start)
    if piece.start < piece.left:
        return number
    reach = piece.left + _MAX_OVERHANG_SHARE * (piece.right - piece.left)
    while number < len(gaps) and gaps[number] < reach:
        number += 1
    return number


def crosses(piece: CellText, gaps: Sequence[float]) -> bool:
    """Return whether a piece crosses a boundary of columns (`gaps`, from left to right)."""
    index = bisect_right(gaps, piece.left + 1)
    return index < len(gaps) and gaps[index] < piece.right - 1
