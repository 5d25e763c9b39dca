"""Separate the cells of columns that are hardly further apart than words, as in LNCS."""

import re
from collections.abc import Sequence
from itertools import takewhile

from peercorpus.texts.layout.tables.cells import MIN_SPACE_EM, CellRow, CellText, Word

_NUMBER = re.compile(r"[-+\u2212]?\d[\d.,]*[%k]?")
_DIGIT = re.compile(r"\d")
_MIN_ROWS = 2
"""Minimum number of rows that must show a column before cells above or below are split."""
_MAX_EDGE_DIFFERENCE_POINTS = 1.0
"""Maximum difference of the edges of two numbers that are aligned, in points."""

Span = tuple[float, float]


def separate_cells(rows: Sequence[CellRow], first_body: int) -> None:
    """Split pieces of the last head, and numbers below it, if each word has a counterpart in the other.

    A row head is split from the numbers after it if another row has a separate number in their first column.

    Args:
        rows: All rows of a table; their pieces are replaced.
        first_body: Index of the first row below the column heads.
    """
    if not 0 < first_body <= len(rows) - _MIN_ROWS:
        return
    head, body = rows[first_body - 1], rows[first_body:]
    words = [_get_span(word) for piece in head.pieces for word in piece.words]
    for row in body:
        row.pieces = [
            part
            for piece in row.pieces
            for part in (_split(piece) if _is_numbers(piece) and _match(piece, words) else [piece])
        ]
    firsts = [(piece.left, piece.right) for row in body for piece in row.pieces if _NUMBER.fullmatch(piece.text)]
    for row in body:
        row.pieces = [part for piece in row.pieces for part in _split_row_head(piece, words, firsts)]
    head.pieces = [
        part for piece in head.pieces for part in (_split(piece) if _is_several_heads(piece, body) else [piece])
    ]


def _is_numbers(piece: CellText) -> bool:
    return len(piece.words) > 1 and all(_NUMBER.fullmatch(word.text) for word in piece.words)


def _split_row_head(piece: CellText, heads: Sequence[Span], numbers: Sequence[Span]) -> list[CellText]:
    """Return a row head and the numbers close after it as separate cells; any other piece unchanged."""
    count = sum(1 for _ in takewhile(_NUMBER.fullmatch, (word.text for word in reversed(piece.words))))
    if not 0 < count < len(piece.words):
        return [piece]
    label, cells = _make_cell(piece.words[:-count]), _make_cell(piece.words[-count:])
    first = cells.words[0]
    is_apart = first.left - label.right > MIN_SPACE_EM * first.size
    is_aligned = any(
        min(abs(first.left - left), abs(first.right - right)) < _MAX_EDGE_DIFFERENCE_POINTS for left, right in numbers
    )
    return [label, *_split(cells)] if is_apart and is_aligned and _match(cells, heads) else [piece]


def _is_several_heads(piece: CellText, body: Sequence[CellRow]) -> bool:
    """Return whether every row below a piece has one number under each of its words."""
    if len(piece.words) < 2:
        return False
    whole = piece.left, piece.right
    below = [[cell for cell in row.pieces if _overlap(whole, (cell.left, cell.right))] for row in body]
    below = [cells for cells in below if cells]
    return len(below) >= _MIN_ROWS and all(
        all(_DIGIT.search(cell.text) for cell in cells) and _match(piece, [(cell.left, cell.right) for cell in cells])
        for cells in below
    )


def _match(piece: CellText, spans: Sequence[Span]) -> bool:
    """Return whether each word of a piece is over or under exactly one of the spans, in order."""
    near = [span for span in spans if _overlap((piece.left, piece.right), span)]
    if len(near) != len(piece.words):
        return False
    return all(
        _overlap(_get_span(word), span) is (place == number)
        for place, word in enumerate(piece.words)
        for number, span in enumerate(near)
    )


def _get_span(word: Word) -> Span:
    return word.left, word.right


def _overlap(first: Span, second: Span) -> bool:
    return min(first[1], second[1]) > max(first[0], second[0])


def _split(piece: CellText) -> list[CellText]:
    return [_make_cell([word]) for word in piece.words]


def _make_cell(words: list[Word]) -> CellText:
    return CellText(words, words[0].left, words[-1].right, words[0].left)
