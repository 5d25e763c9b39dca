"""Read pages from their images with RapidOCR: all of them, or those that the default engine cannot read."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pypdfium2 as pdfium

from peercorpus.pdf.glyphs import Glyphs, TextRun
from peercorpus.pdf.shapes import read_shapes
from peercorpus.texts.engine import Converted
from peercorpus.texts.layout.blocks import TextLine
from peercorpus.texts.layout.columns import PageColumns, find_columns
from peercorpus.texts.layout.margins import LineNumberColumns
from peercorpus.texts.layout.pdfium_layout import PageContent, PdfiumLayout
from peercorpus.texts.ocr import RapidOcr, Recogniser, join_lines, recognise
from peercorpus.texts.page_quality import explain_unreadable, read_characters

OWN_VERSION = 1
"""Raised by hand whenever the same recognised words yield a different text; 1 is omitted in the engine's version."""
WORD = re.compile(r"[^\W\d_]{3,}")
MIN_RECOGNISED_WORDS = 20
"""Minimum words recognised on a page of text; with fewer, they may be the labels of a figure that fills the page."""


class Recognised(Glyphs):
    """Glyphs of a page, replaced by words recognised on its image.

    Attributes:
        runs: Recognised words in reading order.
    """

    def __init__(self, page: pdfium.PdfPage, recogniser: Recogniser) -> None:
        lines = join_lines(recognise(page, recogniser), 0)
        sizes = sorted(line.size for line in lines)
        columns = find_columns(lines, page.get_size()[0], sizes[len(sizes) // 2] if sizes else 10.0)
        self.aside = []
        self.turned = Counter()
        self.runs = [run for line in by_column(lines, columns) for run in line.runs]

    def words(self, run: TextRun) -> Iterator[tuple[str, float, float]]:
        """Yield the words of a run with their left and right ends, as if all letters had the same width."""
        width = (run.right - run.left) / len(run.text)
        start = 0
        for word in run.text.split():
            start = run.text.index(word, start)
            yield word, run.left + start * width, run.left + (start + len(word)) * width
            start += len(word)


def by_column(lines: Sequence[TextLine], columns: PageColumns) -> list[TextLine]:
    """Return lines in reading order: column by column between lines that span both."""
    ordered: list[TextLine] = []
    sides: tuple[list[TextLine], list[TextLine]] = ([], [])
    for line in lines:
        number = columns.number(line) if len(columns.spans) > 1 else 0
        if number < 0:
            ordered += [*sides[0], *sides[1], line]
            sides = ([], [])
        else:
            sides[number].append(line)
    return [*ordered, *sides[0], *sides[1]]


class LayoutWithOcr(PdfiumLayout):
    """The default engine with OCR for the pages that need it."""

    def __init__(self, recogniser: Recogniser | None = None) -> None:
        """Store the recogniser; None means `rapidocr`.

        Raises:
            MissingExtraError: The default recogniser is not installed.
        """
        self._recogniser = recogniser or RapidOcr()
        own = [str(OWN_VERSION)] if OWN_VERSION > 1 else []
        self.version = "+".join([PdfiumLayout.version, self._recogniser.version, *own])
        self._reasons: dict[int, str] = {}

    def convert(self, pdf: bytes) -> Converted:
        """Read one file; the problems list which pages were recognised, and why."""
        self._reasons = {}
        converted = super().convert(pdf)
        reasons = self._reasons
        recognised = [
            f"recognised ({reason}): page {', '.join(str(page) for page, why in reasons.items() if why == reason)}"
            for reason in sorted(set(reasons.values()))
        ]
        return replace(converted, problems=(*converted.problems, *recognised), ocr_pages=tuple(sorted(reasons)))

    def read_sheet(self, page: pdfium.PdfPage, glyphs: Glyphs, index: int, rulers: LineNumberColumns) -> PageContent:
        """Read one page from its text layer, or from its image if that is needed and yields enough words."""
        why = self.why(page, glyphs)
        if why is not None:
            recognised = Recognised(page, self._recogniser)
            if sum(len(WORD.findall(run.text)) for run in recognised.runs) >= MIN_RECOGNISED_WORDS:
                self._reasons[index + 1] = why
                glyphs = recognised
        return super().read_sheet(page, glyphs, index, rulers)

    def why(self, page: pdfium.PdfPage, glyphs: Glyphs) -> str | None:
        """Return why a page must be recognised; None if its text layer is usable."""
        width, height = page.get_size()
        return explain_unreadable(read_characters(glyphs.runs), read_shapes(page), width * height)


class OcrEngine(LayoutWithOcr):
    """Reads every page from its image, for files whose text layer is wrong in an undetectable way."""

    name = "rapidocr"

    def why(self, page: pdfium.PdfPage, glyphs: Glyphs) -> str | None:  # noqa: ARG002
        """Return the reason "every page"."""
        return "every page"


ENGINE = OcrEngine
