"""Words recognised from the image of a page, as the runs and lines that a text layer gives.

So the layout is read by the same code. An image has no fonts: boxes tell their size, the width of strokes tells bold.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import pypdfium2 as pdfium

from peercorpus.texts.layout.glyphs import Run, read_font
from peercorpus.texts.layout.lines import Line
from peercorpus.texts.page_images import render

DPI = 150
"""With rapidocr it finds 2 to 4 % more words than 100; 200 finds fewer: images above 2,000 pixels are scaled down."""

SIZE_OF_BOX = 0.82
"""Size of the font over the height of a recognised box, and """
MIDDLE = 0.35
"""how high the middle of a box is above the baseline, over the size; both measured on pages set by Typst."""
SMALLER, LARGER = 0.9, 1.19
"""Size over the usual one, between which a size is the usual one: a line with a raised letter is taller by a sixth."""
ENOUGH = 4
"""Characters of a box whose width and strokes tell something."""
BOLD = 1.2
"""Width of strokes over the usual one at that size, from which on letters are bold: bold has 1.3 to 1.4, other 1.05."""
THINNER = 0.92
"""Width of strokes over that which the size lets expect, below which a box is tall for another reason than its size."""
SAME_LINE, NEAR = 0.4, 1.1
"""Difference of baselines, and gap, in the size of the font, up to which two boxes make one line."""
PLAIN = read_font("")
HEAVY = replace(PLAIN, is_bold=True)
HYPHENATED = re.compile(r"(?<=[a-z])[-\u00ad\u2010]$")


@dataclass(frozen=True, slots=True)
class Seen:
    """Words recognised side by side.

    Attributes:
        left: Share of the page's width from its left edge; `right` likewise.
        top: Share of the page's height from its upper edge; `bottom` likewise.
        stroke: Mean width of its strokes, in pixels; 0 where it is not known.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    stroke: float = 0.0


class Recogniser(Protocol):
    """Finds the words on an image.

    Attributes:
        version: Its name and version; part of the version of the engine that uses it.
    """

    version: str

    def read(self, image: pdfium.PdfBitmap) -> list[Seen]:
        """The lines of an image, from top to bottom."""
        ...


def recognise(page: pdfium.PdfPage, recogniser: Recogniser) -> list[Run]:
    """The words of a page, from its image."""
    width, height = page.get_size()
    image = render(page, DPI)
    return to_runs(_with_strokes(recogniser.read(image), image), width, height)


def _with_strokes(seen: Sequence[Seen], image: pdfium.PdfBitmap) -> list[Seen]:
    """The same, with the width of strokes: how dark a box is, over how often it turns dark from left to right."""
    import numpy

    ink = 1 - image.to_numpy().mean(axis=2) / 255
    measured = []
    for one in seen:
        rows = slice(int(one.top * image.height), int(one.bottom * image.height) + 1)
        box = ink[rows, int(one.left * image.width) : int(one.right * image.width) + 1]
        turns = float(numpy.abs(numpy.diff(box, axis=1)).sum()) / 2
        measured.append(replace(one, stroke=float(box.sum()) / turns if turns else 0.0))
    return measured


@dataclass(frozen=True, slots=True)
class _Usual:
    """What most characters of a page have: height of their box and their own width, in points; strokes, in pixels."""

    height: float
    width: float
    stroke: float

    def size(self, one: Seen, height: float, width: float) -> float:
        """Size over the usual one, by height and width: maths makes a box tall, bold makes it wide, size does both."""
        tall = (one.bottom - one.top) * height / self.height
        wide = (one.right - one.left) * width / len(one.text) / self.width if len(one.text) >= ENOUGH else tall
        size = min(tall, wide) if min(tall, wide) > 1 else max(tall, wide)
        if SMALLER <= size <= LARGER or min(tall, wide) <= 1 <= max(tall, wide):
            return 1.0
        # The strokes of a larger font are wider too, those of a line with tall signs are not.
        return 1.0 if size > 1 and one.stroke < THINNER * size * self.stroke else size


def to_runs(seen: Iterable[Seen], width: float, height: float) -> list[Run]:
    """What was recognised on a page, as its text layer would give it; sizes that differ by chance are made one.

    Args:
        seen: Of the page.
        width: Of the page, in points.
        height: Likewise.
    """
    boxes = [replace(one, text=one.text.strip()) for one in seen if one.text.strip() and one.bottom > one.top]
    usual = _Usual(
        _middle([((one.bottom - one.top) * height, len(one.text)) for one in boxes]),
        _middle([((one.right - one.left) * width / len(one.text), len(one.text)) for one in boxes]),
        _middle([(one.stroke, len(one.text)) for one in boxes]),
    )
    runs, start = [], 0
    for one in boxes:
        relative, end = usual.size(one, height, width), start + len(one.text)
        is_bold = len(one.text) >= ENOUGH and one.stroke > BOLD * relative * usual.stroke > 0
        is_cut = HYPHENATED.search(one.text) is not None
        size = round(2 * SIZE_OF_BOX * usual.height * relative) / 2
        base = height * (1 - (one.top + one.bottom) / 2) - MIDDLE * size
        text, font = one.text[:-1] if is_cut else one.text, HEAVY if is_bold else PLAIN
        runs.append(Run(text, one.left * width, one.right * width, base, size, font, True, is_cut, start, end))
        start = end
    return runs


def _middle(values: Sequence[tuple[float, int]]) -> float:
    """The value in the middle, each counted as often as it has characters."""
    half, passed = sum(count for _, count in values) / 2, 0
    for value, count in sorted(values):
        passed += count
        if passed >= half:
            return value
    return 1.0


def join_lines(runs: Sequence[Run], page: int) -> list[Line]:
    """The lines of recognised runs, from top to bottom; boxes of two columns stay apart.

    Args:
        runs: Of the page.
        page: Its number, from 0.
    """
    lines: list[Line] = []
    for row in _rows(runs):
        lines.append(_line(row[0], page))
        for before, run in pairwise(row):
            if run.left - before.right > NEAR * max(run.size, before.size):
                lines.append(_line(run, page))
            else:
                last = lines[-1]
                last.runs.append(run)
                last.right, last.size = max(last.right, run.right), max(last.size, run.size)
    return lines


def _line(run: Run, page: int) -> Line:
    return Line([run], run.left, run.right, run.base, run.size, page)


def _rows(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs on one baseline, each row from left to right, the rows from top to bottom."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: -run.base):
        if rows and rows[-1][0].base - run.base <= SAME_LINE * max(run.size, rows[-1][0].size):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [sorted(row, key=lambda run: run.left) for row in rows]
