"""Invisible characters do not make a paper fail."""

import pytest

from invented_pdfs import meaning
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

LETTERS = {letter: ord(letter) for letter in "Words"}


@pytest.mark.parametrize("code", [0x200B, 0xAD, 0xFFFE, 0x01, 0x7F], ids=hex)
@pytest.mark.parametrize("place", ["72 700", "72 688", "110 688"], ids=["first", "before", "behind"])
def test_an_empty_text_object_is_skipped(code: int, place: str) -> None:
    shown = f"BT /F 10 Tf 1 0 0 1 {place} Tm (z) Tj 1 0 0 1 72 688 Tm (Words) Tj ET".encode()
    markdown = PdfiumLayout().convert(meaning(shown, {**LETTERS, "z": code})).markdown
    # A soft hyphen counts as a hyphen even if nothing follows it.
    assert markdown.removesuffix("-") == "Words"
