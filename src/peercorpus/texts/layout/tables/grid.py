"""Build the grid of cells of a table and write it as Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from peercorpus.pdf.shapes import Box
from peercorpus.records.blocks import TableCell
from peercorpus.texts.layout.tables.cells import (
    MIN_SPACE_EM,
    CellRow,
    CellText,
    Word,
    column_of,
    crosses,
    find_gaps,
    read_cell_rows,
)
from peercorpus.texts.layout.tables.frames import Frame
from peercorpus.texts.layout.tables.ruled_rows import (
    MIN_LINE_STEP_EM,
    MIN_LONG_TEXT_WORDS,
    Band,
    band_gaps,
    is_ruled,
    split_by_space,
    without_chances,
)
from peercorpus.texts.layout.tables.spans import begin_groups, begin_titles, heads_over

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


_MIN_FULL_LINES = 3
"""Minimum number of lines without an empty cell that count as rows rather than heads."""
_CELL_PADDING_POINTS = 6.0
"""Distance of the text of a cell from the end of the rule over its column, in points."""
_MAX_CELL_LEADING_EM = 1.35
"""Maximum distance of two lines of one cell, in em."""
_MAX_HEAD_LINES = 5
"""Maximum number of lines of column heads that are joined."""
_MAX_RULE_LINE_PAIRS = 20_000
"""Maximum product of the numbers of rules and lines for searching heads across several columns."""
_VALUE = re.compile(
    r"[-\u2212\u2013+<>≤≥~≈±$↑↓*†‡(\[]*\d[\d.,%\u00d7xX·±()\[\]/:\u2212\u2013\-+*†‡^\s eE^kKMBGs]*$|"
    r"[-\u2013—\u2212✓✗✔✘\u00d7√]$"
)
"""Matches a cell with a value and no words."""


HeadLine = Sequence[tuple[range, CellText]]
"""A line of the column heads: each cell with the columns that it spans."""


@dataclass(slots=True)
class CellGrid:
    """The cells of a table, row by row; `lines` are its baselines, those of the column heads and of each other row."""

    rows: list[list[str]]
    lines: list[CellRow]
    gaps: list[float]
    heads: list[HeadLine]
    body: list[Band]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        head, *body = ([escape(text) for text in row] for row in self.rows)
        return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body))

    def cells(self) -> list[TableCell]:
        """Return the non-empty cells; heads over other heads have separate rows."""
        cells: list[TableCell] = []
        head_rows = list(_group_head_lines(self.heads))
        for number, lines in enumerate(head_rows):
            parts_by_place: dict[range, list[str]] = {}
            for columns, piece in (cell for line in lines for cell in line):
                parts_by_place.setdefault(columns, []).append(piece.text)
            cells += [
                TableCell(number, columns.start, 1, len(columns), is_head=True, text=_join_parts(parts))
                for columns, parts in sorted(parts_by_place.items(), key=lambda item: item[0].start)
            ]
        rows = self.rows[1:] if head_rows else self.rows
        for number, (texts, band) in enumerate(zip(rows, self.body, strict=True), len(head_rows)):
            spans = _find_spans(band, self.gaps)
            cells += [
                TableCell(number, column, *spans.get(column, (1, 1)), is_head=False, text=text)
                for column, text in enumerate(texts)
                if text
            ]
        return cells


def escape(text: str) -> str:
    """Escape the text of a cell so that it cannot end the cell."""
    return text.replace("|", "\\|")


def read_grid(words: Sequence[Word], frame: Frame) -> CellGrid | None:
    """Return the cells formed by the words in a frame; None if there are none."""
    height = frame.box.top - frame.box.bottom
    uprights = sorted({round(upright.left, 1) for upright in frame.uprights if upright.top - upright.bottom > 0})
    lines = read_cell_rows(words, uprights if height > 0 else [])
    # The body begins below the second rule.
    first_body = sum(line.base > frame.heights[1] for line in lines) if len(frame.heights) > 2 else 1
    separate_cells(lines, max(1, first_body))
    _set_starts(lines, frame.rules)
    gaps = _find_column_gaps(lines, first_body, frame)
    bands: list[Band] = list(_split_bands(lines, frame))
    bands_and_gaps = _find_row_bands(bands, frame)
    is_ruled_off = bands_and_gaps is not None
    bands, gaps = bands_and_gaps or (bands, gaps)
    if not gaps:
        return None
    begin_titles(lines, gaps)
    if len(bands) > 2 and _continues_heads(bands[1], gaps):
        bands = [[*bands[0], *bands[1]], *bands[2:]]
    heads = _read_heads(bands, gaps, frame.rules)
    row_bands = bands[1:] if heads else bands
    is_grid = len(frame.uprights) > 1 and len(bands) > 3 and not any(_is_stacked(band, gaps, 1) for band in row_bands)
    if not (is_grid or is_ruled_off):
        row_bands = [row for band in row_bands for row in _split_rows(band, frame, gaps)]
    rows = [_join_heads(heads, gaps)] if heads else []
    rows += [_join_lines(band, gaps) for band in row_bands]
    return CellGrid(rows, lines, gaps, heads, row_bands) if rows else None


def _find_column_gaps(lines: Sequence[CellRow], first_body: int, frame: Frame) -> list[float]:
    gaps = find_gaps(lines, first_body)
    if len(frame.heights) < 3 or not 0 < first_body < len(lines):
        return gaps
    heads, body = lines[:first_body], lines[first_body:]
    joined_heads = CellRow(heads[0].base, heads[0].size, [piece for line in heads for piece in line.pieces])
    return without_chances(gaps, [joined_heads, *body], [heads, *([line] for line in body)])


def _find_row_bands(bands: Sequence[Band], frame: Frame) -> tuple[list[Band], list[float]] | None:
    parted = split_by_space(bands)
    for candidate in (bands, parted) if frame.uprights else (parted, bands):
        gaps = band_gaps(candidate)
        if is_ruled(candidate, gaps) and not any(_is_stacked(band, gaps, 1) for band in candidate[1:]):
            return list(candidate), gaps
    return None


def _set_starts(lines: Sequence[CellRow], rules: Sequence[Box]) -> None:
    if len(rules) * len(lines) > _MAX_RULE_LINE_PAIRS:
        return
    for line in lines:
        below = [rule for rule in rules if 0 < line.base - rule.top < 1.2 * line.size]
        for rule in below:
            over = [piece for piece in line.pieces if rule.left < (piece.left + piece.right) / 2 < rule.right]
            if len(over) == 1:
                over[0].start = min(over[0].left, rule.left + _CELL_PADDING_POINTS)


def _split_bands(lines: Sequence[CellRow], frame: Frame) -> Iterable[list[CellRow]]:
    edges = frame.heights[1:]
    band: list[CellRow] = []
    passed = 0
    for line in lines:
        is_behind = False
        while passed < len(edges) and line.base < edges[passed] - 0.5:
            passed += 1
            is_behind = True
        if is_behind and band:
            yield band
            band = []
        band.append(line)
    if band:
        yield band


def _read_heads(bands: Sequence[Band], gaps: Sequence[float], rules: Sequence[Box]) -> list[HeadLine]:
    if len(bands) < 2 or len(bands[0]) > _MAX_HEAD_LINES or _is_stacked(bands[0], gaps):
        return []
    full_lines = sum(len(_group_by_column(line, gaps)) > len(gaps) for line in bands[0])
    if full_lines >= _MIN_FULL_LINES:
        return []
    return list(heads_over(bands[0], [line for band in bands[1:] for line in band], gaps, rules))


def _join_heads(heads: Sequence[HeadLine], gaps: Sequence[float]) -> list[str]:
    parts_by_column: list[list[str]] = [[] for _ in range(len(gaps) + 1)]
    for line in heads:
        own: dict[int, list[str]] = {}
        for columns, piece in line:
            for number in columns:
                own.setdefault(number, []).append(piece.text)
        for number, texts in own.items():
            parts_by_column[number].append(" ".join(texts))
    return [_join_parts(parts) for parts in parts_by_column]


def _group_head_lines(heads: Sequence[HeadLine]) -> Iterator[list[HeadLine]]:
    for _, lines in groupby(heads, key=lambda line: any(len(columns) > 1 for columns, _ in line)):
        yield list(lines)


def _find_spans(band: Band, gaps: Sequence[float]) -> dict[int, tuple[int, int]]:
    """Return the row and column spans of the cells in a row, by column; a single cell may span several columns."""
    pieces = [piece for line in band for piece in line.pieces]
    spans = {column_of(piece, gaps): (piece.row_span, 1) for piece in pieces if piece.row_span > 1}
    if len(pieces) == 1 and crosses(pieces[0], gaps):
        first = column_of(pieces[0], gaps)
        last = sum(gap < pieces[0].right for gap in gaps)
        spans[first] = (1, max(1, last - first + 1))
    return spans


def _continues_heads(band: Band, gaps: Sequence[float]) -> bool:
    columns = _group_by_column(band[0], gaps)
    return len(band) == 1 and len(columns) > 1 and 0 not in columns and not any(map(_is_value, columns.values()))


def _group_by_column(line: CellRow, gaps: Sequence[float]) -> dict[int, list[CellText]]:
    pieces: dict[int, list[CellText]] = {}
    for piece in line.pieces:
        pieces.setdefault(column_of(piece, gaps), []).append(piece)
    return pieces


def _join_lines(lines: Sequence[CellRow], gaps: Sequence[float]) -> list[str]:
    parts_by_column: list[list[str]] = [[] for _ in range(len(gaps) + 1)]
    for line in lines:
        for number, pieces in _group_by_column(line, gaps).items():
            parts_by_column[number].append(" ".join(piece.text for piece in pieces))
    return [_join_parts(parts) for parts in parts_by_column]


def _join_parts(parts: Sequence[str]) -> str:
    text = ""
    for part in parts:
        if text.endswith("-") and text[-2:-1].isalpha() and part[:1].isalnum():
            text = (text[:-1] if part[0].islower() else text) + part
        else:
            text = f"{text} {part}" if text else part
    return text


def _is_stacked(lines: Sequence[CellRow], gaps: Sequence[float], least: int = 2) -> bool:
    seen: dict[int, int] = {}
    for line in lines:
        for number, pieces in _group_by_column(line, gaps).items():
            if _is_value(pieces):
                seen[number] = seen.get(number, 0) + 1
    return sum(count > 1 for count in seen.values()) >= min(least, len(gaps))


def _split_rows(band: Band, frame: Frame, gaps: Sequence[float]) -> list[Band]:
    if _is_one_row(band, gaps):
        return [band]
    groups: list[list[CellRow]] = []
    for line in band:
        if groups and _continues_row(groups[-1], line, frame, gaps):
            groups[-1].append(line)
        else:
            groups.append([line])
    return list(begin_groups(groups, gaps))


def _is_one_row(band: Sequence[CellRow], gaps: Sequence[float]) -> bool:
    lines = [_group_by_column(line, gaps) for line in band]
    if len(lines) < 3 or 2 * sum(len(columns) > 1 for columns in lines) > len(lines):
        return False
    if not any(piece.count >= MIN_LONG_TEXT_WORDS for line in band for piece in line.pieces):
        return False
    own = [[index for index, columns in enumerate(lines) if number in columns] for number in range(len(gaps) + 1)]
    filled = sorted((places for places in own if places), key=len)
    return len(filled) > 1 and all(places[-1] - places[0] < len(places) for places in filled[:-1])


def _continues_row(group: Sequence[CellRow], line: CellRow, frame: Frame, gaps: Sequence[float]) -> bool:
    above = group[-1]
    step = above.base - line.base
    columns, before = _group_by_column(line, gaps), _group_by_column(above, gaps)
    common = columns.keys() & before.keys()
    if any(_is_value(columns[number]) and _is_value(before[number]) for number in common):
        return False
    if step < MIN_LINE_STEP_EM * line.size:
        far = [other for other in group if other.base - line.base >= MIN_LINE_STEP_EM * line.size]
        is_apart = any(columns.keys() & _group_by_column(other, gaps).keys() for other in far)
        return not _is_stacked([*group, line], gaps) and (not is_apart or _continues_row(far, line, frame, gaps))
    if step > _MAX_CELL_LEADING_EM * line.size or any(line.base < rule.top < above.base for rule in frame.rules):
        return False
    if (
        not common
        or common not in (columns.keys(), before.keys())
        or any(crosses(other, gaps) for other in line.pieces)
    ):
        return False
    new = columns.keys() - before.keys()
    if any(new & _group_by_column(other, gaps).keys() for other in group):
        return False
    if len(columns) >= len(before) and not all(
        sum(other.count for other in before[column]) >= MIN_LONG_TEXT_WORDS for column in common
    ):
        return False
    return all(_is_full(number, columns[number], before[number], frame, gaps) for number in common)


def _is_value(pieces: Sequence[CellText]) -> bool:
    return all(_VALUE.match(piece.text) for piece in pieces)


def _is_full(
    number: int, pieces: Sequence[CellText], above: Sequence[CellText], frame: Frame, gaps: Sequence[float]
) -> bool:
    edge = gaps[number] if number < len(gaps) else frame.box.right
    word = pieces[0].words[0]
    return above[-1].right + (word.right - word.left) + 0.3 * word.size > edge - 0.6 * word.size
