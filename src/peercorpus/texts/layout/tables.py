"""Tables of a page as Markdown, found by their rules or, without rules, by their captions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from peercorpus.texts.layout.glyphs import Glyphs, Run
from peercorpus.texts.layout.shapes import Box, Shapes
from peercorpus.texts.layout.tables_cells import Word, read_rows
from peercorpus.texts.layout.tables_grid import Grid, read_grid
from peercorpus.texts.layout.tables_looks import is_drawing, is_table, is_two_columns
from peercorpus.texts.layout.tables_open import Page, extended, find_open_frames
from peercorpus.texts.layout.tables_rules import MOST_RULES, Frame, Shelf, find_frames

CAPTION = re.compile(r"(?:Supplementary |Extended Data )?(?:Table|TABLE|Tab\.|Figure|FIGURE|Fig\.|Listing)(?:\b|\s)")
NUMBERED = re.compile(
    rf"{CAPTION.pattern}\s*(?:[A-Z]{{1,2}}[.-]?)?(?:\d[\d.]*\d|\d|[IVX]+)[a-z]?\s*(?:$|[.:|(\u2013\u2014])"
)
"""The number of a table or figure at the beginning of its caption, unlike one at the beginning of a sentence."""
MOST_RUNS = 20_000
"""Runs of a page beyond which no table is looked for."""
MOST_WORDS = 4_000
"""Words of a table at most."""
MOST_READ = 40_000
"""Words of a page that are read, at most; one that is read twice counts twice."""
MOST_CAPTIONS = 100
"""Captions of a page, at most."""
MOST_STROKES = 5_000
"""Paths of a page that tell of drawings, at most."""
HANGS = 0.75
"""How far the sign of a root hangs from its baseline, in the size of its font; it stands for a tick."""
CHARACTER = 0.4
"""Width of a character, in the size of the font, at least, on average."""


@dataclass(slots=True)
class Table:
    """A table.

    Attributes:
        markdown: With pipes, its first row above a row of dashes.
        runs: What it says, as the page has it.
        start: Its first character, in the order of the page's content.
    """

    markdown: str
    box: Box
    runs: list[Run]
    start: int


def find_tables(runs: Sequence[Run], shapes: Shapes, glyphs: Glyphs) -> list[Table]:
    """The tables of a page, in the order of its content.

    Args:
        runs: The text of the page without line numbers and without what stands in figures.
        shapes: What is drawn on it.
        glyphs: Where words stand.
    """
    captions = list(islice(_captions(runs), MOST_CAPTIONS)) if len(runs) <= MOST_RUNS else []
    if len(runs) > MOST_RUNS or (not captions and len(shapes.rules) < 2):
        return []
    rules, uprights = ([] if len(some) > MOST_RULES else some for some in (shapes.rules, shapes.uprights))
    page = Page(runs, Shelf(runs), captions, rules, uprights)
    reader = _Reader(glyphs, page, shapes.strokes[:MOST_STROKES])
    found: list[Table] = []
    for frame in find_frames(rules, uprights, page.shelf, captions, reader.is_prose):
        reader.add(frame, found)
    for frames in find_open_frames(page, [table.box for table in found], reader.words):
        any(reader.add(frame, found) for frame in frames)
    return sorted(found, key=lambda table: table.start)


def _captions(runs: Sequence[Run]) -> Iterator[Run]:
    """The runs that begin a caption."""
    for number, run in enumerate(runs):
        if CAPTION.match(run.text):
            line = [one for one in runs[number : number + 4] if abs(one.base - run.base) < 1]
            said = "".join(f" {one.text}" if one.has_space else one.text for one in line).strip()
            is_bold = run.font.is_bold and not line[-1].font.is_bold
            if NUMBERED.match(said) or (is_bold and NUMBERED.match(run.text)):
                yield run


def _is_end(word: Word, run: Run) -> bool:
    """Whether a word ends where a run does, or just before the run."""
    return abs(word.base - run.base) < 1 and word.right > run.left - 0.3 * run.size


def _overlap(one: Box, other: Box) -> bool:
    width = min(one.right, other.right) - max(one.left, other.left)
    return width > 2 and min(one.top, other.top) - max(one.bottom, other.bottom) > 2


class _Reader:
    """Reads tables from the frames of one page."""

    def __init__(self, glyphs: Glyphs, page: Page, strokes: Sequence[Box]) -> None:
        self._glyphs = glyphs
        self._page = page
        self._strokes = strokes
        self._left = MOST_READ

    def add(self, frame: Frame, found: list[Table]) -> bool:
        """Put the table in a frame to those found, unless it overlaps with one."""
        if any(_overlap(frame.box, table.box) for table in found):
            return False
        table = self.read(frame)
        if table:
            found.append(table)
        return table is not None

    def words(self, runs: Sequence[Run]) -> list[Word]:
        """The words of runs; none where there are too many."""
        words: list[Word] = []
        self._left -= len(runs)
        for run in runs if self._left >= 0 else ():
            is_first = True
            base = run.base - HANGS * run.size if run.text == "√" and run.font.is_maths else run.base
            for text, left, right in self._glyphs.words(run):
                if text:
                    words.append(Word(text, left, right, base, run.size, not is_first))
                is_first = False
            if run.is_cut and words and _is_end(words[-1], run):
                words[-1] = words[-1]._replace(text=f"{words[-1].text}-", right=max(words[-1].right, run.right))
            if len(words) > MOST_WORDS:
                self._left -= MOST_WORDS
                return []
        self._left -= max(0, len(words) - len(runs))
        return words

    def is_prose(self, box: Box, runs: Sequence[Run]) -> bool:
        """Whether what stands in a box are lines from its left to its right end."""
        width = box.right - box.left
        long = [(len(run.text) * CHARACTER * run.size, run.right - run.left) for run in runs]
        filled = sum(text for text, extent in long if text > 0.3 * extent)
        lines = len({round(run.base / 4) for run in runs})
        if not filled or filled < 0.3 * width * lines:
            return False
        words = self.words(runs)
        uprights = [one.left for one in self._page.uprights if one.bottom < box.top and one.top > box.bottom]
        uprights = sorted(x for x in uprights if box.left <= x <= box.right)
        rows = read_rows(words, uprights) if words else []
        whole = sum(len(row.pieces) == 1 and row.pieces[0].right - row.pieces[0].left > 0.85 * width for row in rows)
        return (whole > 0 and whole >= 0.25 * len(rows)) or (not uprights and is_two_columns(rows, box))

    def read(self, frame: Frame) -> Table | None:
        """The table in a frame; None where something else stands there."""
        grid = self._grid(frame)
        if grid is None or not ((len(grid.lines) == 1 and not frame.is_open) or is_table(grid, frame)):
            return None
        if not frame.is_open:
            wider = extended(frame, grid.lines, grid.gaps, self._page, self.words)
            if wider is not frame:
                frame, grid = wider, self._grid(wider)
                if grid is None or not is_table(grid, frame):
                    return None
        if len(grid.lines) == 1:
            return None
        runs = self._page.shelf.within(frame.box)
        return Table(grid.markdown(), frame.box, runs, min(run.start for run in runs))

    def _grid(self, frame: Frame) -> Grid | None:
        runs = self._page.shelf.within(frame.box)
        words = self.words(runs) if len(runs) > 1 else []
        if len(words) < 2 or is_drawing(frame.box, len(words), self._strokes):
            return None
        return read_grid(words, frame)
