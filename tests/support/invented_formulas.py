"""Positioned runs of formulas and of the prose around them, without a PDF."""

from collections.abc import Sequence

from peercorpus.pdf.glyphs import TextRun, read_font
from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.blocks import Block, Body, TextLine, read_lines
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.formulas.display import find_formulas
from peercorpus.texts.layout.formulas.inline import inline

BODY = Body(10.0, 12.0)
COLUMNS = PageColumns(((100.0, 500.0),))
TEXT, LETTERS, SIGNS, LARGE, UPRIGHT = "NimbusRomNo9L-Regu", "CMMI10", "CMSY10", "CMEX10", "CMR10"


def run(
    text: str, left: float, font: str = TEXT, base: float = 700.0, size: float = 10.0, gap: bool = False
) -> TextRun:
    """A run as wide as its letters usually are."""
    right = left + 0.5 * size * len(text)
    return TextRun(text, left, right, base, size, read_font(font), gap, False, 0, len(text))


def row(*pieces: tuple[str, str], left: float = 250.0, base: float = 700.0) -> list[TextRun]:
    """Runs side by side on one baseline."""
    runs: list[TextRun] = []
    for text, font in pieces:
        runs.append(run(text, left, font, base, gap=bool(runs) and text[0] == " "))
        runs[-1].text = text.strip()
        left = runs[-1].right
    return runs


def said(*runs: TextRun) -> str:
    return inline(runs, 700.0, 10.0)


def found(runs: Sequence[TextRun], *bars: Box, columns: PageColumns = COLUMNS) -> list[TextLine | Block]:
    return find_formulas(read_lines(runs, 0), list(bars), columns, BODY)


def signs_of(formula: Block) -> str:
    return str(formula.markdown).split("$$")[1]


def latex(runs: Sequence[TextRun], *bars: Box) -> str:
    (formula,) = (one for one in found(runs, *bars) if isinstance(one, Block))
    return signs_of(formula)


def equation(*runs: TextRun) -> list[TextRun]:
    """`y =` before other runs, and a number after them."""
    return [run("y", 230, LETTERS), run("=", 240, UPRIGHT), *runs, run("(7)", 484)]


def in_text(runs: Sequence[TextRun], *bars: Box) -> list[str]:
    """The lines of running text, as Markdown."""
    lines = [one for one in found(runs, *bars) if isinstance(one, TextLine)]
    return [inline(line.runs, line.base, line.size) for line in lines]
