"""A page's text objects, found with a few calls, match those found by querying each character."""

import ctypes
from itertools import groupby

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
import pytest

from harmful_pages import drawn, mapped, paper
from invented_pdfs import by_hand, lines, typeset
from peercorpus.pdf.pdfium import Span, as_argument, is_leftward, spans

PIECES = b"BT /F 12 Tf 72 700 Td (one) Tj ( t) Tj (w) Tj (o ) Tj 100 0 Td (far) Tj -100 -20 Td ((3) three) Tj (.) Tj ET"
MIXED = b"BT /G 12 Tf 72 700 Td (ab CD) Tj (DC ef) Tj ( gh) Tj 0 -20 Td (plain) Tj ET"
LEFTWARD = by_hand([b"BT /F 12 Tf 72 700 Td (abc d) Tj (ef gh) Tj (, ij k) Tj ET"]).replace(
    b"/Type /Catalog", b"/Type /Catalog /ViewerPreferences << /Direction /R2L >>"
)
FORMULAS = typeset("""
#set page(columns: 2)
#lorem(90) with $x_1 + y^2 = sqrt(z)$, *bold* and _slanted_ words, office ffi.

#lorem(60) $ sum_(i=1)^n (a_i)/(b_i) = integral f(x) dif x $
#table(columns: 3, ..range(12).map(n => [cell #n]))
""")
PDFS = {
    "no text": drawn(b""),
    "one letter": drawn(lines("x")),
    "lines": by_hand([lines("one line", "a", "bc", "a third line"), lines("another page")]),
    "lines in pieces": by_hand([PIECES]),
    "a paper": paper(),
    "formulas": FORMULAS,
    "letters read from right to left": mapped({67: "א", 68: "ב"}, MIXED),
    "a document read from right to left": LEFTWARD,
    "letters without a code": mapped({97: "\x00", 98: "\ufffe", 101: "\ud835"}, MIXED),
    "letters that are line ends": mapped({97: "\r", 98: "\n", 101: "\r\n"}, MIXED),
}


def of_each(textpage: pdfium.PdfTextPage, count: int) -> list[Span]:
    """Return the same by querying every character."""
    owners = [
        ctypes.cast(pdfium_c.FPDFText_GetTextObject(textpage, index), ctypes.c_void_p).value for index in range(count)
    ]
    groups = [[at for at, _ in group] for _, group in groupby(enumerate(owners), lambda one: one[1])]
    return [(group[0], group[-1] + 1, owners[group[0]]) for group in groups]


@pytest.mark.parametrize("name", PDFS)
def test_the_objects_are_those_of_every_character(name: str) -> None:
    with pdfium.PdfDocument(PDFS[name]) as document:
        for page in document:
            textpage = page.get_textpage()
            count = textpage.count_chars()
            text = "".join(chr(pdfium_c.FPDFText_GetUnicode(textpage, index) or 0xFFFD) for index in range(count))
            found = spans(as_argument(textpage), text, is_leftward=is_leftward(textpage, text))
            assert [*found] == of_each(textpage, count)


def test_only_a_document_marked_as_such_is_read_from_right_to_left() -> None:
    with pdfium.PdfDocument(LEFTWARD) as document, pdfium.PdfDocument(PDFS["lines"]) as other:
        assert is_leftward(document[0].get_textpage(), "")
        assert not is_leftward(other[0].get_textpage(), "")
