"""Find the tables of a page, and reject text that only looks like one."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from peercorpus.pdf.glyphs import Glyphs, TextRun
from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.records.blocks import TableCell
from peercorpus.texts.layout.tables.cells import CellRow, CellText, Word, column_of, crosses, read_cell_rows
from peercorpus.texts.layout.tables.frames import (
    MAX_RULES,
    MIN_OPEN_NUMBER_SHARE,
    Frame,
    RunsByHeight,
    TablePage,
    extend,
    find_frames,
    find_open_frames,
)
from peercorpus.texts.layout.tables.grid import CellGrid, read_grid
from peercorpus.texts.layout.tables.ruled_rows import room

_MIN_TWO_COLUMN_WIDTH_POINTS = 330.0
"""Minimum width of the text of a two-column page, in points."""
_MIN_RULED_NUMBER_SHARE = 0.15
"""Minimum share of cells with a digit in a two-column table between two rules."""
_MIN_PROSE_WORDS = 3.5
"""Minimum average number of words between two wide gaps in prose."""
_MIN_FILLED_SHARE = 0.58
"""Minimum share of the column width that lines of prose fill."""
_MIN_TIDY_ROWS = 4
_MAX_TIDY_WORDS = 3
_MAX_COLUMN_START_SHARE = 0.06
"""Maximum distance of the right column of a page from its middle, as a share of the text width."""
_MAX_CROSSING_SHARE = 0.4
"""Maximum share of the rows of a table with a cell across several columns."""
_PROGRAM_LINE = re.compile(
    r"\d{1,3}:(?:\s|$)|(?:Require|Ensure|Input|Output|Data|Result|Initiali[sz]e)s?:|"
    r"(?:\d{1,3} )?(?:end )?(?:for|foreach|while|if|else|repeat|until|return|procedure|function)\b"
)
_PROGRAM_TITLE = re.compile(r"(?:Algorithm|Procedure|Protocol)\s+\d")
_FORMULA_NUMBER = re.compile(r"\((?:[A-Z]\.?)?\d{1,3}[a-z]?\)")
"""Number of a formula at the end of its line."""
_ITEM_MARK = re.compile(r"\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)]|[•\u2013*-]")


def is_drawing(box: Box, words: int, strokes: Sequence[Box]) -> bool:
    """Return whether a box contains more drawn lines than a table with this many words would."""
    inside = sum(box.holds((stroke.left + stroke.right) / 2, (stroke.top + stroke.bottom) / 2) for stroke in strokes)
    return inside > 3 * words


def is_table(grid: CellGrid, frame: Frame) -> bool:
    """Return whether the content of a frame is a table."""
    rows = grid.lines
    gaps = grid.gaps
    if not gaps or len(rows) < 2 or len(grid.rows) < 2:
        return False
    crossing = sum(any(crosses(piece, gaps) for piece in row.pieces) for row in rows)
    if (crossing > _MAX_CROSSING_SHARE * len(rows) and crossing > 1) or _is_program(rows):
        return False
    several = sum(len({column_of(piece, gaps) for piece in row.pieces}) > 1 for row in rows)
    if frame.uprights:
        return several > 0
    if _is_listing(grid) or (is_two_columns(rows, frame.box) and not _has_heads(grid, frame)):
        return False
    if frame.is_open:
        return several > 1 and (_measure_number_share(rows) >= MIN_OPEN_NUMBER_SHARE or _is_tidy(grid))
    if len(frame.heights) > 2:
        return several > 0
    return 2 * several >= max(4, len(rows)) and (
        len(gaps) > 1 or _measure_number_share(rows) >= _MIN_RULED_NUMBER_SHARE
    )


def _has_heads(grid: CellGrid, frame: Frame) -> bool:
    heads = grid.rows[0]
    is_short = sum(text.count(" ") + 1 for text in heads) <= _MAX_TIDY_WORDS * len(heads)
    return len(frame.heights) > 2 and len(heads) > 2 and all(heads) and is_short


def _is_tidy(grid: CellGrid) -> bool:
    pieces = [piece for row in grid.lines for piece in row.pieces]
    if len(grid.rows) < _MIN_TIDY_ROWS or any(crosses(piece, grid.gaps) for piece in pieces):
        return False
    is_short = sum(piece.count for piece in pieces) <= _MAX_TIDY_WORDS * len(pieces)
    is_whole = all(len({column_of(other, grid.gaps) for other in row.pieces}) > len(grid.gaps) for row in grid.lines)
    rooms = [room(gap, grid.lines) for gap in grid.gaps]
    return is_short and is_whole and min(rooms) >= grid.lines[0].size


def _measure_number_share(rows: Sequence[CellRow]) -> float:
    pieces = [piece for row in rows for piece in row.pieces]
    return sum(any(map(str.isdigit, piece.text)) for piece in pieces) / len(pieces)


def _holds_numbers(piece: CellText) -> bool:
    return 2 * sum(word.text[-1].isdigit() for word in piece.words) > len(piece.words)


def _is_program(rows: Sequence[CellRow]) -> bool:
    steps = sum(bool(_PROGRAM_LINE.match(" ".join(piece.text for piece in row.pieces[:2]))) for row in rows)
    titles = [row.pieces[0].text for row in (rows[0], rows[-1]) if row is rows[0] or len(row.pieces) == 1]
    return steps >= max(2, 0.3 * len(rows)) or any(map(_PROGRAM_TITLE.match, titles))


def is_two_columns(rows: Sequence[CellRow], box: Box) -> bool:
    """Return whether the rows are lines of text in the two columns of a page."""
    middle = (box.left + box.right) / 2
    width = box.right - box.left
    pieces = [piece for row in rows for piece in row.pieces]
    if (
        width < _MIN_TWO_COLUMN_WIDTH_POINTS
        or len(rows) < 2
        or sum(piece.count for piece in pieces) < _MIN_PROSE_WORDS * len(pieces)
    ):
        return False
    crossing = sum(piece.left < middle - 0.04 * width and piece.right > middle + 0.04 * width for piece in pieces)
    begun = sum(any(0 <= piece.left - middle < _MAX_COLUMN_START_SHARE * width for piece in row.pieces) for row in rows)
    # The lines of two columns need not be level, so a row may have text in only one of them.
    right = sum(any((piece.left + piece.right) / 2 > middle for piece in row.pieces) for row in rows)
    if crossing > 0.2 * len(rows) or begun < 2 or 3 * begun < right:
        return False
    return all(_fills(rows, left, left + width / 2) for left in (box.left, middle))


def _fills(rows: Sequence[CellRow], left: float, right: float) -> bool:
    lines = [[piece for piece in row.pieces if left < (piece.left + piece.right) / 2 <= right] for row in rows]
    filled = [sum(piece.right - piece.left for piece in pieces) for pieces in lines if pieces]
    return sum(filled) >= _MIN_FILLED_SHARE * (right - left) * max(1, len(filled))


def _is_listing(grid: CellGrid) -> bool:
    first, last = ([row[column] for row in grid.rows if row[column]] for column in (0, -1))
    return all(map(_FORMULA_NUMBER.fullmatch, last)) or (len(grid.gaps) == 1 and all(map(_ITEM_MARK.fullmatch, first)))


_CAPTION = re.compile(r"(?:Supplementary |Extended Data )?(?:Table|TABLE|Tab\.|Figure|FIGURE|Fig\.|Listing)(?:\b|\s)")
_NUMBERED_CAPTION = re.compile(
    rf"{_CAPTION.pattern}\s*(?:[A-Z]{{1,2}}[.-]?)?(?:\d[\d.]*\d|\d|[IVX]+)[a-z]?\s*(?:$|[.:|(\u2013\u2014])"
)
"""Numbered start of a caption, as opposed to a reference at the start of a sentence."""
_MAX_PAGE_RUNS = 20_000
"""Maximum number of runs on a page that is searched for tables."""
_MAX_TABLE_WORDS = 4_000
_MAX_PAGE_WORDS = 40_000
"""Maximum number of words read on a page, including repeated ones."""
_MAX_CAPTIONS = 100
_MAX_STROKES = 5_000
"""Maximum paths of a page that are used to recognise drawings."""
_ROOT_HANG_EM = 0.75
"""Distance that a root sign, used as a tick mark, hangs below its baseline, in em."""
_MIN_CHARACTER_WIDTH_EM = 0.4


@dataclass(slots=True)
class Table:
    """A table in Markdown, its place, runs and cells, and the index of its first character in the page content."""

    markdown: str
    box: Box
    runs: list[TextRun]
    start: int
    cells: Sequence[TableCell]


def find_tables(runs: Sequence[TextRun], shapes: Shapes, glyphs: Glyphs) -> list[Table]:
    """Find the tables of a page, in the order of its content."""
    captions = list(islice(_find_captions(runs), _MAX_CAPTIONS)) if len(runs) <= _MAX_PAGE_RUNS else []
    if len(runs) > _MAX_PAGE_RUNS or (not captions and len(shapes.rules) < 2):
        return []
    rules, uprights = ([] if len(lines) > MAX_RULES else lines for lines in (shapes.rules, shapes.uprights))
    page = TablePage(runs=runs, shelf=RunsByHeight(runs), captions=captions, rules=rules, uprights=uprights)
    reader = _Reader(glyphs, page, shapes.strokes[:_MAX_STROKES])
    tables: list[Table] = []
    for frame in find_frames(rules, uprights, page.shelf, captions, reader.is_prose):
        reader.add(frame, tables)
    for frames in find_open_frames(page, [table.box for table in tables], reader.words):
        any(reader.add(frame, tables) for frame in frames)
    return sorted(tables, key=lambda table: table.start)


def _find_captions(runs: Sequence[TextRun]) -> Iterator[TextRun]:
    for number, run in enumerate(runs):
        if _CAPTION.match(run.text):
            line = [other for other in runs[number : number + 4] if abs(other.base - run.base) < 1]
            text = "".join(f" {other.text}" if other.has_space else other.text for other in line).strip()
            is_bold = run.font.is_bold and not line[-1].font.is_bold
            if _NUMBERED_CAPTION.match(text) or (is_bold and _NUMBERED_CAPTION.match(run.text)):
                yield run


def _overlap(first: Box, second: Box) -> bool:
    width = min(first.right, second.right) - max(first.left, second.left)
    return width > 2 and min(first.top, second.top) - max(first.bottom, second.bottom) > 2


class _Reader:
    def __init__(self, glyphs: Glyphs, page: TablePage, strokes: Sequence[Box]) -> None:
        self._glyphs = glyphs
        self._page = page
        self._strokes = strokes
        self._left = _MAX_PAGE_WORDS
        self._known: dict[int, list[Word]] = {}

    def add(self, frame: Frame, tables: list[Table]) -> bool:
        if any(_overlap(frame.box, table.box) for table in tables):
            return False
        table = self.read(frame)
        if table:
            tables.append(table)
        return table is not None

    def words(self, runs: Sequence[TextRun]) -> list[Word]:
        words: list[Word] = []
        self._left -= len(runs)
        for run in runs if self._left >= 0 else ():
            known = self._known.get(run.start)
            if known is None:
                known = self._known[run.start] = list(self._read_words(run))
            words += known
            last = words[-1] if run.is_cut and words else None
            # The hyphen belongs to a word that ends at, or just before, the end of the run.
            if last is not None and abs(last.base - run.base) < 1 and last.right > run.left - 0.3 * run.size:
                words[-1] = last._replace(text=f"{last.text}-", right=max(last.right, run.right))
            if len(words) > _MAX_TABLE_WORDS:
                self._left -= _MAX_TABLE_WORDS
                return []
        self._left -= max(0, len(words) - len(runs))
        return words

    def _read_words(self, run: TextRun) -> Iterator[Word]:
        base = run.base - _ROOT_HANG_EM * run.size if run.text == "√" and run.font.is_maths else run.base
        is_spaced = False
        for text, left, right in self._glyphs.words(run):
            if text:
                yield Word(text, left, right, base, run.size, is_spaced)
            is_spaced = True

    def is_prose(self, box: Box, runs: Sequence[TextRun]) -> bool:
        width = box.right - box.left
        long = [(len(run.text) * _MIN_CHARACTER_WIDTH_EM * run.size, run.right - run.left) for run in runs]
        filled = sum(text for text, extent in long if text > 0.3 * extent)
        lines = len({round(run.base / 4) for run in runs})
        if not filled or filled < 0.3 * width * lines:
            return False
        words = self.words(runs)
        uprights = [
            upright.left for upright in self._page.uprights if upright.bottom < box.top and upright.top > box.bottom
        ]
        uprights = sorted(x for x in uprights if box.left <= x <= box.right)
        rows = read_cell_rows(words, uprights) if words else []
        full_rows = sum(
            len(row.pieces) == 1
            and row.pieces[0].right - row.pieces[0].left > 0.85 * width
            and not _holds_numbers(row.pieces[0])
            for row in rows
        )
        return (full_rows > 0 and full_rows >= 0.25 * len(rows)) or (not uprights and is_two_columns(rows, box))

    def read(self, frame: Frame) -> Table | None:
        grid = self._read_grid(frame)
        if grid is None or not ((len(grid.lines) == 1 and not frame.is_open) or is_table(grid, frame)):
            return None
        if not frame.is_open:
            wider = extend(frame, grid.lines, grid.gaps, self._page, self.words)
            if wider is not frame:
                frame = wider
                grid = self._read_grid(wider)
                if grid is None or not is_table(grid, frame):
                    return None
        if len(grid.lines) == 1:
            return None
        runs = self._page.shelf.within(frame.box)
        return Table(
            markdown=grid.markdown(),
            box=frame.box,
            runs=runs,
            start=min(run.start for run in runs),
            cells=grid.cells(),
        )

    def _read_grid(self, frame: Frame) -> CellGrid | None:
        runs = self._page.shelf.within(frame.box)
        words = self.words(runs) if len(runs) > 1 else []
        if len(words) < 2 or is_drawing(frame.box, len(words), self._strokes):
            return None
        return read_grid(words, frame)
