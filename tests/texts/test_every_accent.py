"""Every accent that old TeX fonts draw separately from its letter becomes one character with it."""

import pytest

from invented_pdfs import by_hand
from peercorpus.pdf.glyphs import ACCENTS
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

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


def said(*pieces: tuple[float, str]) -> str:
    """Return the Markdown of pieces of text on one line, each starting at a distance in points from the left."""
    shown = " ".join(f"1 0 0 1 {left} 700 Tm ({text}) Tj" for left, text in pieces)
    return PdfiumLayout().convert(by_hand([f"BT /F 10 Tf {shown} ET".encode("latin-1")])).markdown


def test_every_known_accent_is_tested() -> None:
    assert len(WRITTEN) == len(ACCENTS) == 12


@pytest.mark.parametrize("name", WRITTEN)
def test_an_accent_drawn_over_a_letter_is_combined_with_it(name: str) -> None:
    accent, letter, meant = WRITTEN[name]
    assert said((72, f"Mar{letter}"), (88.9, accent), (94.6, "aro went")) == f"Mar{meant}aro went"


@pytest.mark.parametrize("name", [name for name in WRITTEN if name not in {"grave", "cedilla"}])
def test_an_accent_before_its_letter_is_combined_with_it(name: str) -> None:
    accent, letter, meant = WRITTEN[name]
    assert said((72, f"Mar{accent}{letter}aro went")) == f"Mar{meant}aro went"
