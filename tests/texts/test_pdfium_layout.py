"""Reading a page through pdfium: accents, scripts, forms, rotation and hidden objects."""

import ctypes
import os
import re
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harmful_pages import drawn, mapped, paper
from invented_pages import in_forms
from invented_pdfs import by_hand, lines, meaning
from invented_pdfs import typeset as set_pages
from peercorpus.pdf.pdfium import Span, as_argument, is_leftward, spans
from peercorpus.pdf.shapes import Shapes, read_shapes
from peercorpus.pdf.writing_direction import reorder_text
from peercorpus.simulator.world.papers import Draft, Manuscript, read_handwritten
from peercorpus.simulator.world.pdfs import PageStyle, typeset
from peercorpus.texts.engine import SEPARATOR, Converted, without_pages
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

GOLDEN = Path(__file__).parents[1] / "golden" / "markdown"
RULED, TWO_COLUMNS = PageStyle("Kites 2024", 1, True, False), PageStyle("Kites 2024", 2, True, False)
CASES = {
    "submitted": (RULED, Draft.SUBMISSION),
    "published": (RULED, Draft.CAMERA_READY),
    "submitted-in-two-columns": (TWO_COLUMNS, Draft.SUBMISSION),
    "published-in-two-columns": (TWO_COLUMNS, Draft.CAMERA_READY),
}


@pytest.fixture(scope="module")
def manuscript() -> Manuscript:
    return read_handwritten("Aurora.cc/2020/Conference")[0].manuscript


@pytest.fixture(scope="module")
def read(manuscript: Manuscript) -> dict[str, Converted]:
    return {name: PdfiumLayout().convert(typeset(manuscript, *case)) for name, case in CASES.items()}


@pytest.mark.parametrize("case", CASES)
def test_the_markdown_equals_the_reviewed_one(read: dict[str, Converted], case: str) -> None:
    """Set UPDATE_GOLDEN=1 to rewrite the files; then compare them with the pages."""
    path = GOLDEN / f"{case}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(read[case].markdown + "\n")
    assert read[case].markdown + "\n" == path.read_text()


@pytest.mark.parametrize("case", CASES)
def test_every_heading_has_its_level_and_page(read: dict[str, Converted], manuscript: Manuscript, case: str) -> None:
    found = read[case]
    version = CASES[case][1]
    titles = [passage.heading for passage in manuscript.passages if passage.since <= version]
    assert [one.title.split(" ", 1)[-1] for one in found.headings] == ["Abstract", *titles, "References"]
    assert {one.level for one in found.headings} == {1}
    pages = found.markdown.split(SEPARATOR)
    assert all(f"## {one.title}" in pages[one.page - 1] for one in found.headings)


@pytest.mark.parametrize("case", CASES)
def test_only_page_furniture_is_removed(read: dict[str, Converted], manuscript: Manuscript, case: str) -> None:
    text = read[case].markdown
    assert text.startswith(f"# {manuscript.title}\n")
    assert "conference paper at" not in text
    assert manuscript.abstract in without_pages(text)
    assert all(entry in text.split("\n\n") for entry in manuscript.references)
    assert f"| {' | '.join(manuscript.table[0])} |" in text
    quality = read[case].quality
    assert quality is not None
    assert (quality.unknown_characters, quality.empty_pages, quality.formulas) == (0.0, 0, 1)


UPRIGHT = {90: "0 1 -1 0", 180: "-1 0 0 -1", 270: "0 -1 1 0"}


@pytest.mark.parametrize("degrees", UPRIGHT)
def test_a_rotated_page_is_read_as_displayed(degrees: int) -> None:
    content = f"BT /F 12 Tf {UPRIGHT[degrees]} 300 300 Tm (One line) Tj 0 -14 Td (and another.) Tj ET"
    pdf = by_hand([content.encode()]).replace(b"/MediaBox", b"/Rotate %d /MediaBox" % degrees)
    assert PdfiumLayout().convert(pdf).markdown == "One line and another."


def test_sideways_text_is_rotated() -> None:
    lying = b"BT /F 12 Tf 0 1 -1 0 300 300 Tm (Lying on its side) Tj ET"
    assert PdfiumLayout().convert(by_hand([lying])).markdown == "Lying on its side"
    found = PdfiumLayout().convert(by_hand([lines("A line that stands upright and is long enough") + b" " + lying]))
    assert found.markdown == "A line that stands upright and is long enough"
    assert found.figures == ("Lying on its side",)


def test_small_capitals_continue_a_title() -> None:
    first = (
        b"BT /F 17 Tf 72 700 Td (A) Tj /F 13 Tf (TITLE IN SMALL CAPITALS THAT IS LONG) Tj 0 -19 Td (AND GOES ON) Tj ET "
    )
    body = [f"BT /F 10 Tf 72 {600 - 12 * n} Td (A line of the body that is long enough, {n}.) Tj ET " for n in range(9)]
    found = PdfiumLayout().convert(by_hand([first + "".join(body).encode()]))
    assert found.markdown.startswith("# ATITLE IN SMALL CAPITALS THAT IS LONG AND GOES ON\n")


GRAVE, ACUTE, CEDILLA, DOTLESS = "\\301", "\\302", "\\313", "\\365"
"""Codes of Helvetica's own encoding; an accent is 3.33 wide at 10 points."""


def said(*pieces: tuple[float, float, str]) -> str:
    """Return the Markdown of pieces of text, each a separate text object at its position."""
    shown = (
        f"1 0 0 1 {left} {base} Tm {text if text[0] == '[' else f'({text})'} {'TJ' if text[0] == '[' else 'Tj'}"
        for left, base, text in pieces
    )
    return PdfiumLayout().convert(by_hand([f"BT /F 10 Tf {' '.join(shown)} ET".encode("latin-1")])).markdown


def test_a_grave_is_accent_or_quotation_mark() -> None:
    assert said((72, 700, "Lio"), (80.9, 700, GRAVE), (90, 700, "went")) == "Liò went"
    assert said((72, 700, "the"), (88, 700, GRAVE), (91.3, 700, "word here")) == "the `word here"


@pytest.mark.parametrize(
    ("shown", "meant"),
    [
        (f"[(Franc) 417 ({CEDILLA}) -84 (ois)]", "François"),
        (f"[(C) 528 ({CEDILLA}) -195 (aglar)]", "Çaglar"),
        (f"[(Bari) -84 ({CEDILLA}) 417 (sci)]", "Barişci"),
    ],
)
def test_a_cedilla_is_combined_with_its_letter(shown: str, meant: str) -> None:
    assert said((72, 700, shown)) == meant


WRITTEN = {
    "grave": ("\\301", "e", "è"),
    "acute": ("\\302", "e", "é"),
    "circumflex": ("\\303", "o", "ô"),
    "tilde": ("\\304", "n", "ñ"),
    "macron": ("\\305", "u", "ū"),
    "breve": ("\\306", "g", "ğ"),
    "dot above": ("\\307", "z", "ż"),
    "diaeresis": ("\\310", "u", "ü"),
    "ring": ("\\312", "u", "ů"),
    "cedilla": ("\\313", "s", "ş"),
    "double acute": ("\\315", "o", "ő"),
    "caron": ("\\317", "c", "č"),
}
"""The code of each accent in Helvetica's own encoding, a letter, and both as one character."""


@pytest.mark.parametrize("name", WRITTEN)
def test_an_accent_over_a_letter_is_combined(name: str) -> None:
    accent, letter, meant = WRITTEN[name]
    assert said((72, 700, f"Mar{letter}"), (88.9, 700, accent), (94.6, 700, "aro went")) == f"Mar{meant}aro went"


@pytest.mark.parametrize("name", [name for name in WRITTEN if name not in {"grave", "cedilla"}])
def test_an_accent_before_its_letter_is_combined(name: str) -> None:
    accent, letter, meant = WRITTEN[name]
    assert said((72, 700, f"Mar{accent}{letter}aro went")) == f"Mar{meant}aro went"


LETTERS = {letter: ord(letter) for letter in "Words"}


@pytest.mark.parametrize("code", [0x200B, 0xAD, 0xFFFE, 0x01, 0x7F], ids=hex)
@pytest.mark.parametrize("place", ["72 700", "72 688", "110 688"], ids=["first", "before", "behind"])
def test_an_empty_text_object_is_skipped(code: int, place: str) -> None:
    shown = f"BT /F 10 Tf 1 0 0 1 {place} Tm (z) Tj 1 0 0 1 72 688 Tm (Words) Tj ET".encode()
    markdown = PdfiumLayout().convert(meaning(shown, {**LETTERS, "z": code})).markdown
    # A soft hyphen counts as a hyphen even if nothing follows it.
    assert markdown.removesuffix("-") == "Words"


SHEET = set_pages("""
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


def test_a_page_as_a_form_is_read() -> None:
    bound = in_forms(in_forms(SHEET))
    assert PdfiumLayout().convert(bound).markdown == PdfiumLayout().convert(SHEET).markdown
    assert replace(shapes(bound), texts=set()) == replace(shapes(SHEET), texts=set())


def test_a_figures_rules_are_its_own() -> None:
    figure = shapes(in_forms(SHEET, 0.3, (100.0, 400.0)))
    assert (figure.rules, len(figure.forms), figure.texts) == ([], 1, set())


SCRIPTS = Path(__file__).parent / "scripts"
_COMMAND = re.compile(r"\\\w+(?:\{(?P<inner>[^}]*)\})?|[{}$]")


def source_paragraphs(name: str) -> list[str]:
    """The paragraphs of a source, as plain text."""
    body = (SCRIPTS / f"{name}.tex").read_text(encoding="utf-8").split("\\begin{document}")[1]
    lines = (line for line in body.split("\\end{document}")[0].splitlines() if not line.startswith("\\"))
    return [plain for line in lines if (plain := _COMMAND.sub(lambda found: found["inner"] or "", line).strip())]


def read_paragraphs(name: str) -> str:
    markdown = PdfiumLayout().convert((SCRIPTS / f"{name}.pdf").read_bytes()).markdown
    return markdown.replace("$", "").replace("*", "")


@pytest.mark.parametrize("name", ["arabic", "chinese", "mixed"])
def test_other_scripts_are_read_as_written(name: str) -> None:
    written = source_paragraphs(name)
    assert len(written) >= 1
    read = read_paragraphs(name)
    assert [paragraph for paragraph in written if re.sub(r" +", " ", paragraph) not in read] == []


ARABIC = ("مراجعة", "الأقران", "العلمي", "كيف")
ENGLISH = ("peer", "review", "of", "papers")


def reverse_stretches(words: list[str], kind: tuple[str, ...]) -> list[str]:
    """Return the words with each run of one kind reversed, as Unicode's bidirectional algorithm places them."""
    placed: list[str] = []
    stretch: list[str] = []
    for word in words:
        if word in kind:
            stretch.insert(0, word)
        else:
            placed += [*stretch, word]
            stretch = []
    return placed + stretch


@given(st.lists(st.sampled_from(ARABIC + ENGLISH), min_size=1, max_size=9), st.booleans())
def test_words_of_both_directions_are_in_reading_order(words: list[str], is_rightward: bool) -> None:
    from_left = reverse_stretches(words, ARABIC) if is_rightward else reverse_stretches(words, ENGLISH)[::-1]
    was_rightward = sum(word in ARABIC for word in words) < sum(word in ENGLISH for word in words)
    given_by_pdfium = " ".join(from_left if was_rightward else from_left[::-1])
    assert reorder_text(given_by_pdfium, was_rightward=was_rightward, is_rightward=is_rightward) == " ".join(words)


PIECES = b"BT /F 12 Tf 72 700 Td (one) Tj ( t) Tj (w) Tj (o ) Tj 100 0 Td (far) Tj -100 -20 Td ((3) three) Tj (.) Tj ET"
MIXED = b"BT /G 12 Tf 72 700 Td (ab CD) Tj (DC ef) Tj ( gh) Tj 0 -20 Td (plain) Tj ET"
LEFTWARD = by_hand([b"BT /F 12 Tf 72 700 Td (abc d) Tj (ef gh) Tj (, ij k) Tj ET"]).replace(
    b"/Type /Catalog", b"/Type /Catalog /ViewerPreferences << /Direction /R2L >>"
)
FORMULAS = set_pages("""
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


def test_only_marked_documents_read_leftwards() -> None:
    with pdfium.PdfDocument(LEFTWARD) as document, pdfium.PdfDocument(PDFS["lines"]) as other:
        assert is_leftward(document[0].get_textpage(), "")
        assert not is_leftward(other[0].get_textpage(), "")
