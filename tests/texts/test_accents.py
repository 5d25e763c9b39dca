"""Accents that old TeX fonts draw separately from their letters, in names."""

import pytest

from invented_pdfs import by_hand
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

GRAVE, ACUTE, CEDILLA, DOTLESS = "\\301", "\\302", "\\313", "\\365"
"""Codes of Helvetica's own encoding; an accent is 3.33 wide at 10 points."""


def said(*pieces: tuple[float, float, str]) -> str:
    """Return the Markdown of pieces of text, each a separate text object at its position."""
    shown = (
        f"1 0 0 1 {left} {base} Tm {text if text[0] == '[' else f'({text})'} {'TJ' if text[0] == '[' else 'Tj'}"
        for left, base, text in pieces
    )
    return PdfiumLayout().convert(by_hand([f"BT /F 10 Tf {' '.join(shown)} ET".encode("latin-1")])).markdown


def test_a_grave_is_an_accent_above_a_letter_and_otherwise_a_quotation_mark() -> None:
    assert said((72, 700, "Lio"), (80.9, 700, GRAVE), (90, 700, "went")) == "Liò went"
    assert said((72, 700, "the"), (88, 700, GRAVE), (91.3, 700, "word here")) == "the `word here"


def test_an_accent_before_its_letter_is_not_combined_with_the_line_above() -> None:
    pieces = (72, 688, "Mart"), (91.7, 688, ACUTE), (92, 688, f"{DOTLESS}n went")
    assert said((72, 700, "A line above"), *pieces) == "A line above Martín went"


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


def test_there_is_no_space_beside_an_accent_if_the_letters_touch() -> None:
    assert said((72, 700, "kovi"), (78.1, 700, ACUTE), (89.78, 700, "c, P."), (140, 700, "A")) == "kóvic, P. A"
    assert said((72, 700, "kovi"), (78.1, 700, ACUTE), (92.7, 700, "and")) == "kóvi and"


def test_two_accents_of_one_run_are_kept() -> None:
    assert said((72, 700, "elo"), (73.1, 700, ACUTE), (80.9, 700, GRAVE)) == "élò"
