"""Recognise the words on a page image, and give them sizes, fonts and lines as in a text layer."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import pypdfium2 as pdfium

from peercorpus.pdf.document import render_page
from peercorpus.pdf.glyphs import TextRun, read_font
from peercorpus.texts.external_package import read_package_version
from peercorpus.texts.layout.blocks import TextLine

DPI = 150
"""Resolution of page images. rapidocr finds 2 to 4 % more words than at 100; 200 is worse, because it scales images
down."""

SIZE_PER_BOX_HEIGHT = 0.82
"""Font size over the height of a recognised box; measured on pages set by Typst."""
MIDDLE_ABOVE_BASELINE = 0.35
"""Height of a box's middle above the baseline, over the font size; measured on pages set by Typst."""
USUAL_SIZES = (0.9, 1.19)
"""Range of sizes over the usual one that count as usual: a line with a raised letter is a sixth taller."""
MIN_BOX_CHARACTERS = 4
"""Minimum characters of a box for its width and strokes to be meaningful."""
MIN_BOLD_STROKE = 1.2
"""Ratio of stroke width to the usual one above which letters are bold: bold has 1.3 to 1.4, others 1.05."""
MIN_LARGE_STROKE = 0.92
"""Ratio of stroke width to the one expected for a size below which a box is tall for another reason."""
MAX_BASELINE_DIFFERENCE = 0.4
"""Maximum difference of baselines of two boxes in one line, over the font size."""

MAX_GAP = 1.1
"""Maximum gap between two boxes in one line, over the font size."""

PLAIN = read_font("")
HEAVY = replace(PLAIN, is_bold=True)
HYPHENATED = re.compile(r"(?<=[a-z])[-\u00ad\u2010]$")


@dataclass(frozen=True, slots=True)
class WordRow:
    """Adjacent words recognised on a page.

    Attributes:
        left: Left end as a share of the page's width, from its left edge; `right` likewise.
        top: Upper end as a share of the page's height, from its upper edge; `bottom` likewise.
        stroke: Mean width of its strokes in pixels; 0 if unknown.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    stroke: float = 0.0


class Recogniser(Protocol):
    """Recognises the words on an image.

    Attributes:
        version: Its name and version, part of the version of the engine that uses it.
    """

    version: str

    def read(self, image: pdfium.PdfBitmap) -> list[WordRow]:
        """Return the lines on an image from top to bottom."""
        ...


def recognise(page: pdfium.PdfPage, recogniser: Recogniser) -> list[TextRun]:
    """Recognise the words of a page from its image."""
    width, height = page.get_size()
    image = render_page(page, DPI)
    return to_runs(_measure_strokes(recogniser.read(image), image), width, height)


def _measure_strokes(rows: Sequence[WordRow], image: pdfium.PdfBitmap) -> list[WordRow]:
    """Add the stroke width: the darkness of a box divided by its number of transitions to dark from left to right."""
    import numpy

    ink = 1 - image.to_numpy().mean(axis=2) / 255
    measured = []
    for row in rows:
        pixel_rows = slice(int(row.top * image.height), int(row.bottom * image.height) + 1)
        box = ink[pixel_rows, int(row.left * image.width) : int(row.right * image.width) + 1]
        turns = float(numpy.abs(numpy.diff(box, axis=1)).sum()) / 2
        measured.append(replace(row, stroke=float(box.sum()) / turns if turns else 0.0))
    return measured


@dataclass(frozen=True, slots=True)
class _Usual:
    """Medians over the characters of a page: height of box and width in points, width of strokes in pixels."""

    height: float
    width: float
    stroke: float

    def size(self, row: WordRow, height: float, width: float) -> float:
        """Return the size relative to the usual one: maths makes a box only taller, bold only wider, size does both."""
        tall = (row.bottom - row.top) * height / self.height
        wide = (
            (row.right - row.left) * width / len(row.text) / self.width if len(row.text) >= MIN_BOX_CHARACTERS else tall
        )
        size = min(tall, wide) if min(tall, wide) > 1 else max(tall, wide)
        smallest, largest = USUAL_SIZES
        if smallest <= size <= largest or min(tall, wide) <= 1 <= max(tall, wide):
            return 1.0
        # A larger font has wider strokes too; a line with tall symbols does not.
        return 1.0 if size > 1 and row.stroke < MIN_LARGE_STROKE * size * self.stroke else size


def to_runs(rows: Iterable[WordRow], width: float, height: float) -> list[TextRun]:
    """Convert recognised words to runs as in a text layer; sizes that differ by chance are made equal.

    Args:
        rows: Words recognised on the page.
        width: Width of the page in points.
        height: Height of the page in points.
    """
    boxes = [replace(row, text=row.text.strip()) for row in rows if row.text.strip() and row.bottom > row.top]
    usual = _Usual(
        _weighted_median([((row.bottom - row.top) * height, len(row.text)) for row in boxes]),
        _weighted_median([((row.right - row.left) * width / len(row.text), len(row.text)) for row in boxes]),
        _weighted_median([(row.stroke, len(row.text)) for row in boxes]),
    )
    runs = []
    start = 0
    for row in boxes:
        end = start + len(row.text)
        relative = usual.size(row, height, width)
        is_bold = len(row.text) >= MIN_BOX_CHARACTERS and row.stroke > MIN_BOLD_STROKE * relative * usual.stroke > 0
        is_cut = HYPHENATED.search(row.text) is not None
        size = round(2 * SIZE_PER_BOX_HEIGHT * usual.height * relative) / 2
        base = height * (1 - (row.top + row.bottom) / 2) - MIDDLE_ABOVE_BASELINE * size
        runs.append(
            TextRun(
                text=row.text[:-1] if is_cut else row.text,
                left=row.left * width,
                right=row.right * width,
                base=base,
                size=size,
                font=HEAVY if is_bold else PLAIN,
                has_space=True,
                is_cut=is_cut,
                start=start,
                end=end,
            )
        )
        start = end
    return runs


def _weighted_median(values: Sequence[tuple[float, int]]) -> float:
    """Return the median of values, each weighted by its count; 1 if there are none."""
    half = sum(count for _, count in values) / 2
    passed = 0
    for value, count in sorted(values):
        passed += count
        if passed >= half:
            return value
    return 1.0


def join_lines(runs: Sequence[TextRun], page: int) -> list[TextLine]:
    """Join recognised runs into lines, from top to bottom; boxes of two columns are not joined.

    Args:
        runs: Recognised runs of the page.
        page: Page number, from 0.
    """
    lines: list[TextLine] = []
    for row in _group_rows(runs):
        lines.append(_make_line(row[0], page))
        for before, run in pairwise(row):
            if run.left - before.right > MAX_GAP * max(run.size, before.size):
                lines.append(_make_line(run, page))
            else:
                last = lines[-1]
                last.runs.append(run)
                last.right = max(last.right, run.right)
                last.size = max(last.size, run.size)
    return lines


def _make_line(run: TextRun, page: int) -> TextLine:
    return TextLine(runs=[run], left=run.left, right=run.right, base=run.base, size=run.size, page=page)


def _group_rows(runs: Sequence[TextRun]) -> list[list[TextRun]]:
    """Group runs by baseline: rows from top to bottom, the runs of each from left to right."""
    rows: list[list[TextRun]] = []
    for run in sorted(runs, key=lambda run: -run.base):
        if rows and rows[-1][0].base - run.base <= MAX_BASELINE_DIFFERENCE * max(run.size, rows[-1][0].size):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [sorted(row, key=lambda run: run.left) for row in rows]


class RapidOcr:
    """Recognises words with rapidocr on the CPU, including Greek letters.

    Attributes:
        version: Version of the package, which includes its models.
    """

    def __init__(self) -> None:
        """Check that rapidocr is installed; its models are loaded for the first page.

        Raises:
            MissingExtraError: rapidocr or onnxruntime is not installed.
        """
        self.version = f"rapidocr-{read_package_version('rapidocr', 'ocr')}"
        read_package_version("onnxruntime", "ocr")
        self._model: Any = None

    def read(self, image: pdfium.PdfBitmap) -> list[WordRow]:
        """Return the lines on an image; uses one thread, because other files are read concurrently."""
        if self._model is None:
            from rapidocr import RapidOCR

            threads = {"EngineConfig.onnxruntime.intra_op_num_threads": 1}
            self._model = RapidOCR(params=threads | {"Global.use_cls": False, "Global.log_level": "error"})
        output = self._model(image.to_numpy())
        if output.boxes is None:
            return []
        return [_to_row(str(text), box, image) for box, text in zip(output.boxes, output.txts, strict=True)]


def _to_row(text: str, box: Sequence[Sequence[float]], image: pdfium.PdfBitmap) -> WordRow:
    """Return an upright box, given the corners of a box clockwise from the upper left."""
    across = [float(x) for x, _ in box]
    down = [float(y) for _, y in box]
    middle = sum(down) / 4
    height = (down[3] + down[2] - down[0] - down[1]) / 2
    top, bottom = middle - height / 2, middle + height / 2
    return WordRow(
        text=text,
        left=min(across) / image.width,
        top=top / image.height,
        right=max(across) / image.width,
        bottom=bottom / image.height,
    )
