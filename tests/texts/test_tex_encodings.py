"""Symbols of fonts without a Unicode table: every code of seven TeX encodings, as written by pdfTeX.

`tex/` has the PDF, its source, and the characters of the same glyphs in pdfTeX's own Unicode tables.
"""

import json
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from peercorpus.pdf.glyphs import Fonts, Glyphs, TextRun
from peercorpus.pdf.math_fonts import decode, font_encoding, normalise_sign, sign
from peercorpus.pdf.shapes import Shapes
from peercorpus.texts.page_quality import explain_unreadable

FOLDER = Path(__file__).parent / "tex"
EXPECTED: dict[str, list[str]] = json.loads((FOLDER / "encodings.json").read_text(encoding="utf-8"))
CAPITALS = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵", strict=True))
DOUBLE_STRUCK = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZk", "𝔸𝔹ℂ𝔻𝔼𝔽𝔾ℍ𝕀𝕁𝕂𝕃𝕄ℕ𝕆ℙℚℝ𝕊𝕋𝕌𝕍𝕎𝕏𝕐ℤ𝕜", strict=True))
BETTER: dict[str, dict[int, str]] = {
    "CMMI10": {0x2C: "↩", 0x2D: "↪", 0x7F: "⁀"},
    "CMSY10": {0x37: "↦"},
    "SFRM1000": {0x17: "\u200c", 0x18: "\ufffd"},
    "MSAM10": {
        0x05: "·",
        0x06: "◇",
        0x07: "⧫",
        0x08: "↻",
        0x09: "↺",
        0x12: "⇇",
        0x13: "⇉",
        0x24: "≗",
        0x39: "╌",
        0x46: "★",
        0x4B: "→",
        0x4C: "←",
        0x6E: "⋘",
        0x6F: "⋙",
        0x7F: "⊝",
    },
    "MSBM10": {
        0x0A: "≰",
        0x0B: "≱",
        0x0E: "⋠",
        0x0F: "⋡",
        0x12: "⋦",
        0x13: "⋧",
        0x14: "≰",
        0x15: "≱",
        0x1E: "╱",
        0x1F: "╲",
        0x22: "⊈",
        0x23: "⊉",
        0x26: "⫋",
        0x27: "⫌",
        0x2E: "∤",
        0x2F: "∦",
        0x5B: "\u0302",
        0x5C: "\u0302",
        0x5D: "\u0303",
        0x5E: "\u0303",
        0x60: "Ⅎ",
        0x6A: "ℷ",
        0x70: "∣",
        0x71: "∥",
        0x76: "⪸",
        0x77: "⪷",
        0x7A: "Ϝ",
        0x7B: "ϰ",
    },
}
"""Codes that pdfTeX's tables lack or misname (the arrows ⇇ are called `dblarrowleft`, which Adobe's list takes for ⇔),
or write as two characters where one is usual.
"""
MISSING = {"MSBM10": {0x5F, 0x62, 0x63, 0x64, 0x65}}
"""Codes without a glyph."""
OMX = (
    "()[]⌊⌋⌈⌉{}⟨⟩∣∥/∖()()[]⌊⌋⌈⌉{}⟨⟩/∖()[]⌊⌋⌈⌉{}⟨⟩/∖/∖⎛⎞⎡⎤⎣⎦⎢⎥⎧⎫⎩⎭⎨⎬⎪⎪⎝⎠⎜⎟⟨⟩⨆⨆∮∮⨀⨀⨁⨁⨂⨂∑∏∫⋃⋂⨄⋀⋁∑∏∫⋃⋂⨄⋀⋁∐∐"
    "\u0302\u0302\u0302\u0303\u0303\u0303[]⌊⌋⌈⌉{}√√√√√∣∣∥↑↓⏞⏞⏟⏟⇑⇓"
)
"""Large symbols, which pdfTeX's tables lack."""
SAME = str.maketrans({"♦": "♢", "♥": "♡", "∆": "Δ", "\u2126": "Ω"})
"""Filled and hollow suits, which have one name, and Greek letters, which have two codes."""


def read_expected(font: str) -> list[str]:
    """Return the character of each glyph of a font, in code order."""
    if font == "CMEX10":
        return list(OMX)
    alphabet = {"CMSY10": CAPITALS, "MSBM10": DOUBLE_STRUCK}.get(font, {})
    codes = [code for code in range(128) if code not in MISSING.get(font, set())]
    meanings = [BETTER.get(font, {}).get(code) or text for code, text in zip(codes, EXPECTED[font], strict=True)]
    if font_encoding(font):
        meanings = ["".join(map(normalise_sign, alphabet.get(text, text))) for text in meanings]
    return [text.translate(SAME) for text in meanings if text]


@pytest.fixture(scope="module")
def runs_by_font() -> dict[str, list[TextRun]]:
    """The glyphs of each font, in code order."""
    fonts = Fonts()
    runs_by_font = {}
    with pdfium.PdfDocument(FOLDER / "encodings.pdf") as pdf:
        for page in pdf:
            runs = [run for run in Glyphs(page.get_textpage(), fonts).runs if run.font.name != "CMTT10"]
            runs_by_font[runs[0].font.name] = runs
    return runs_by_font


@pytest.mark.parametrize("font", EXPECTED)
def test_every_code_of_an_encoding_is_read(font: str, runs_by_font: dict[str, list[TextRun]]) -> None:
    read = [
        "".join(sign(font, letter).text for letter in run.text) if run.font.is_maths else run.text
        for run in runs_by_font[font]
    ]
    assert [text.translate(SAME) for text in read] == read_expected(font)


@pytest.mark.parametrize(
    ("font", "letter", "symbol"),
    [
        ("stmary10", "J", "⟦"),
        ("txsyc", ",", "≠"),
        ("txsya", "B", "▷"),
        ("txsyb", "R", "ℝ"),
        ("wasy10", "A", "\ufffd"),
        ("Symbol", "a", "α"),
        ("SymbolMT", "\xb3", "≥"),
        ("CMSSQ8", "\x05", "\ufffd"),
        ("CMSSQ8", "a", "a"),
    ],
)
def test_other_symbol_fonts_are_read_by_their_codes(font: str, letter: str, symbol: str) -> None:
    assert sign(font, decode(font, letter)).text == symbol


@pytest.mark.parametrize(
    ("font", "letter", "symbol"),
    [("LASY10", "✄", "▷"), ("esint10", "¸", "∮"), ("Symbol", "\uf0b7", "•"), ("SymbolMT", "\uf061", "α")],
)
def test_symbols_with_names_of_something_else_are_read(font: str, letter: str, symbol: str) -> None:
    assert sign(font, letter).text == symbol


@pytest.mark.fault(
    "input",
    "a PDF whose fonts name no character of their glyphs",
    "the page is recognised from its image, and the problems say so",
)
def test_glyphs_without_characters_are_recognised() -> None:
    assert explain_unreadable("\ufffd" * 30 + "abc" * 20, Shapes(), 1.0) == "unknown characters"
