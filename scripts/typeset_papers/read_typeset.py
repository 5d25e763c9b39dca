"""Read the typeset papers with the default engine, with its confidence in each display formula."""

import json
from pathlib import Path

from invented_paper import Truth, make_truth, read_styles
from typeset_scores import ReadFormula, read_displays, score

from peercorpus.pdf.document import open_pdf
from peercorpus.texts.engine import join_pages
from peercorpus.texts.layout.blocks import BlockKind
from peercorpus.texts.layout.margins import LineNumberColumns, remove_headers
from peercorpus.texts.layout.pdfium_layout import EMPTY_PAGE, PdfiumLayout, open_pages, write_pages

KEPT = Path(__file__).parents[2] / "tests" / "texts" / "typeset"


def read_truths() -> dict[str, Truth]:
    """Return the truth of each stored style, by name."""
    sheets = json.loads((KEPT / "sheets.json").read_text(encoding="utf-8"))
    return {name: make_truth(style, **sheets[name]) for name, style in read_styles().items()}


def read_paper_pdf(pdf: bytes) -> tuple[str, list[ReadFormula]]:
    """Return the Markdown of a PDF by the default engine, and its display formulas with their confidence."""
    engine = PdfiumLayout()
    rulers = LineNumberColumns()
    with open_pdf(pdf) as document:
        sheets = [engine.read_sheet(*opened, rulers) if opened else EMPTY_PAGE for opened in open_pages(document)]
    lines = remove_headers([sheet.lines for sheet in sheets], [sheet.height for sheet in sheets])
    blocks, texts = write_pages(lines, sheets)
    formulas = [
        ReadFormula(formula.latex, formula.numbers, block.sureness)
        for block in blocks
        if block.kind is BlockKind.FORMULA
        for formula in read_displays(str(block.markdown))
    ]
    return join_pages(texts, []).markdown, formulas


def read_typeset(name: str) -> tuple[str, list[ReadFormula]]:
    """Return the Markdown and the display formulas of the paper typeset in a style."""
    return read_paper_pdf((KEPT / f"{name}.pdf").read_bytes())


def read_scores(name: str, truth: Truth) -> dict[str, float | None]:
    """Return the scores of the paper in a style."""
    markdown, formulas = read_typeset(name)
    return score(markdown, truth, formulas)
