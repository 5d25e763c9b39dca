"""Invented pages: positioned words and rules, without a PDF; and PDFs whose pages are forms."""

import io
from collections.abc import Iterator

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from peercorpus.pdf.glyphs import Glyphs, TextRun, read_font
from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.texts.layout.tables.find_tables import Table, find_tables

SERIF = read_font("Times")
WIDTH = 0.5
"""Width of a character, relative to the font size."""
Cells = dict[int, str]
"""The cells of a row, by their left edges in points."""


class InventedPage(Glyphs):
    """A page made of runs."""

    def __init__(self) -> None:
        self.runs = []
        self.shapes = Shapes()
        self._places: dict[int, list[tuple[str, float, float]]] = {}

    def words(self, run: TextRun) -> Iterator[tuple[str, float, float]]:
        yield from self._places[id(run)]

    def say(self, text: str, left: int, base: float, size: float = 10) -> TextRun:
        """A run of words with usual spaces."""
        return self.spread({left: text}, base, size)

    def spread(self, cells: Cells, base: float, size: float = 10) -> TextRun:
        """One run of several cells, as TeX sets a row."""
        words = []
        for left, text in cells.items():
            at = float(left)
            for word in text.split():
                words.append((word, at, at + WIDTH * size * len(word)))
                at += WIDTH * size * (len(word) + 0.5)
        text = " ".join(cells.values())
        start = sum(len(run.text) for run in self.runs)
        run = TextRun(text, words[0][1], words[-1][2], base, size, SERIF, True, False, start, start + len(text))
        self._places[id(run)] = words
        self.runs.append(run)
        return run

    def cut(self, text: str, left: int, base: float) -> TextRun:
        """A run that ends with a hyphen which divides a word at the end of its line."""
        run = self.say(text, left, base)
        run.is_cut = True
        return run

    def rows(self, top: float, *rows: Cells, step: float = 12) -> None:
        """Rows one below another, a run for each cell."""
        for number, cells in enumerate(rows):
            for left, text in cells.items():
                self.say(text, left, top - number * step)

    def rule(self, height: float, left: float = 95, right: float = 350) -> None:
        self.shapes.rules.append(Box(left, height, right, height + 0.5))

    def upright(self, x: float, bottom: float, top: float) -> None:
        self.shapes.uprights.append(Box(x, bottom, x + 0.4, top))

    def tables(self) -> list[Table]:
        return find_tables(self.runs, self.shapes, self)

    def cells(self) -> list[list[str]]:
        """The cells of the only table, row by row."""
        (table,) = self.tables()
        lines = table.markdown.split("\n")
        assert set(lines.pop(1)) == set("| -")
        return [[cell.strip() for cell in line.strip("|").replace("\\|", "¦").split("|")] for line in lines]


def in_forms(pdf: bytes, scale: float = 1.0, below: tuple[float, float] = (0.0, 0.0)) -> bytes:
    """The same pages, each put into a form, as proceedings are bound.

    Args:
        pdf: What to bind.
        scale: Size of the form on the page.
        below: Position of its lower left corner, in points.
    """
    bound = io.BytesIO()
    with pdfium.PdfDocument(pdf) as source, pdfium.PdfDocument.new() as made:
        for index in range(len(source)):
            inner = pdfium_c.FPDF_NewXObjectFromPage(made.raw, source.raw, index)
            form = pdfium_c.FPDF_NewFormObjectFromXObject(inner)
            pdfium_c.FPDFPageObj_SetMatrix(form, pdfium_c.FS_MATRIX(scale, 0, 0, scale, *below))
            page = made.new_page(*source[index].get_size())
            pdfium_c.FPDFPage_InsertObject(page.raw, form)
            pdfium_c.FPDFPage_GenerateContent(page.raw)
            pdfium_c.FPDF_CloseXObject(inner)
        made.save(bound)
    return bound.getvalue()
