"""A page embedded as a form, as in proceedings, is read like any other; a figure embedded as one is not."""

from dataclasses import replace

import pypdfium2 as pdfium
import pytest

from invented_pages import in_forms
from invented_pdfs import typeset
from peercorpus.pdf.shapes import Shapes, read_shapes
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

SHEET = typeset("""
#set page(width: 612pt, height: 792pt)
#figure(
  table(columns: 3, stroke: (x: none, y: 0.4pt), ..range(30).map(n => [cell #n])),
  caption: [What we measured.],
)
#lorem(150)
""")


def shapes(pdf: bytes) -> Shapes:
    with pdfium.PdfDocument(pdf) as document:
        return read_shapes(document[0])


def test_a_page_that_is_a_form_is_read_like_any_other() -> None:
    bound = in_forms(in_forms(SHEET))
    assert PdfiumLayout().convert(bound).markdown == PdfiumLayout().convert(SHEET).markdown
    assert replace(shapes(bound), texts=set()) == replace(shapes(SHEET), texts=set())


def test_a_form_may_be_smaller_than_its_page() -> None:
    scaled = shapes(in_forms(SHEET, 0.9, (30.0, 40.0)))
    for was, now in zip(shapes(SHEET).rules, scaled.rules, strict=True):
        assert now == pytest.approx([0.9 * at + add for at, add in zip(was, (30, 40, 30, 40), strict=True)], abs=0.01)


def test_the_rules_of_a_figure_are_not_those_of_the_page() -> None:
    figure = shapes(in_forms(SHEET, 0.3, (100.0, 400.0)))
    assert (figure.rules, len(figure.forms), figure.texts) == ([], 1, set())
