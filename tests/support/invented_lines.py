"""Positioned lines of text, without a PDF."""

from peercorpus.pdf.glyphs import Font, TextRun, read_font
from peercorpus.texts.layout.blocks import Block, Body, TextLine
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.paragraphs import Paragraphs

SERIF, BOLD = read_font("Times-Roman"), read_font("Times-Bold")
BODY = Body(10.0, 12.0)
LEFT, RIGHT = 100.0, 400.0
ONE_COLUMN = PageColumns(((LEFT, RIGHT),))
TOP = 700.0


def run(
    text: str, left: float = LEFT, base: float = TOP, size: float = 10.0, font: Font = SERIF, **more: object
) -> TextRun:
    """A run half the size of its font wide for each character."""
    right = left + 0.5 * size * len(text)
    known = {"has_space": True, "is_cut": False, "start": 0, "end": len(text)} | more
    return TextRun(text, left, right, base, size, font, **known)  # type: ignore[arg-type]


def line(
    text: str,
    base: float = TOP,
    *,
    left: float = LEFT,
    right: float | None = None,
    size: float = 10.0,
    font: Font = SERIF,
    page: int = 0,
    is_cut: bool = False,
) -> TextLine:
    """A line of one run, as wide as its column unless `right` is given."""
    end = RIGHT if right is None else right
    return TextLine([run(text, left, base, size, font, is_cut=is_cut)], left, end, base, size, page)


def stacked(*lines: TextLine, step: float = 12.0) -> list[TextLine]:
    """The same lines one below another, at a given distance."""
    for number, one in enumerate(lines):
        one.base = TOP - number * step
        for part in one.runs:
            part.base = one.base
    return list(lines)


def blocks(*items: TextLine | Block) -> list[Block]:
    """Return the paragraphs made from the lines of one page."""
    paragraphs = Paragraphs(BODY)
    paragraphs.read(items, ONE_COLUMN)
    return paragraphs.blocks
