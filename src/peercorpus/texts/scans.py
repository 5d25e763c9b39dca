"""The default engine with its eyes open: pages whose text cannot be read are recognised from their image."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pypdfium2 as pdfium

from peercorpus.texts.engine import Converted
from peercorpus.texts.layout.columns import Columns, find_columns
from peercorpus.texts.layout.glyphs import Glyphs, Run
from peercorpus.texts.layout.lines import Line
from peercorpus.texts.layout.margins import Rulers
from peercorpus.texts.layout.reading import PdfiumLayout, Sheet
from peercorpus.texts.layout.shapes import read_shapes
from peercorpus.texts.ocr import Recogniser, join_lines, recognise
from peercorpus.texts.unreadable import why_unreadable
from peercorpus.texts.with_rapidocr import RapidOcr

WORD = re.compile(r"[^\W\d_]{3,}")
FEWEST_WORDS = 20
"""Words of an image that make it a page of text; the labels of a figure that fills a page are no text of the paper."""


class Recognised(Glyphs):
    """What was recognised on a page, in place of its characters.

    Attributes:
        runs: In the order in which they are read.
    """

    def __init__(self, page: pdfium.PdfPage, recogniser: Recogniser) -> None:
        lines = join_lines(recognise(page, recogniser), 0)
        sizes = sorted(line.size for line in lines)
        columns = find_columns(lines, page.get_size()[0], sizes[len(sizes) // 2] if sizes else 10.0)
        self.aside, self.turned = [], Counter()
        self.runs = [run for line in by_column(lines, columns) for run in line.runs]

    def words(self, run: Run) -> Iterator[tuple[str, float, float]]:
        """The words of a run, each with its left and right end, as if all letters were of one width."""
        width, at = (run.right - run.left) / len(run.text), 0
        for word in run.text.split():
            at = run.text.index(word, at)
            yield word, run.left + at * width, run.left + (at + len(word)) * width
            at += len(word)


def by_column(lines: Sequence[Line], columns: Columns) -> list[Line]:
    """Lines from top to bottom, column by column between the lines that go over both."""
    ordered: list[Line] = []
    sides: tuple[list[Line], list[Line]] = ([], [])
    for line in lines:
        number = columns.number(line) if len(columns.spans) > 1 else 0
        if number < 0:
            ordered += [*sides[0], *sides[1], line]
            sides = ([], [])
        else:
            sides[number].append(line)
    return [*ordered, *sides[0], *sides[1]]


class LayoutWithOcr(PdfiumLayout):
    """The default engine, with OCR for the pages that need it."""

    def __init__(self, recogniser: Recogniser | None = None) -> None:
        """Take what recognises words; None takes `rapidocr`.

        Raises:
            MissingExtraError: It is not installed.
        """
        self._recogniser = recogniser or RapidOcr()
        self.version = f"{PdfiumLayout.version}+{self._recogniser.version}"
        self._reasons: dict[int, str] = {}

    def convert(self, pdf: bytes) -> Converted:
        """Read one file; which pages were recognised, and why, is told among the problems."""
        self._reasons = {}
        converted = super().convert(pdf)
        problems = (*converted.problems, *_told(self._reasons))
        return replace(converted, problems=problems, ocr_pages=tuple(sorted(self._reasons)))

    def read_sheet(self, page: pdfium.PdfPage, glyphs: Glyphs, index: int, rulers: Rulers) -> Sheet:
        """What is read of one page: of its text layer, or of its image."""
        why = self.why(page, glyphs)
        if why is not None:
            recognised = Recognised(page, self._recogniser)
            if sum(len(WORD.findall(run.text)) for run in recognised.runs) >= FEWEST_WORDS:
                self._reasons[index + 1] = why
                glyphs = recognised
        return super().read_sheet(page, glyphs, index, rulers)

    def why(self, page: pdfium.PdfPage, glyphs: Glyphs) -> str | None:
        """Why a page is to be recognised; None where its text will do."""
        width, height = page.get_size()
        return why_unreadable(" ".join(run.text for run in glyphs.runs), read_shapes(page), width * height)


class EveryPage(LayoutWithOcr):
    """Reads every page from its image, for files whose text layer is wrong in a way that nobody can tell."""

    name = "rapidocr"

    def why(self, page: pdfium.PdfPage, glyphs: Glyphs) -> str | None:  # noqa: ARG002
        """Every page is."""
        return "every page"


def _told(reasons: dict[int, str]) -> list[str]:
    """Which pages were recognised, by reason."""
    return [
        f"recognised ({reason}): page {', '.join(str(number) for number, why in reasons.items() if why == reason)}"
        for reason in sorted(set(reasons.values()))
    ]
