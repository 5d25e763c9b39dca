"""A PDF opened with pdfium: its pages as plain text, and what it says of itself.

The text is in the order of the content stream; nothing is joined, nothing removed.
"""

import re

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from peercorpus.errors import UnreadablePdfError

HEADER_BYTES = 1_024
"""A PDF begins with `%PDF-` within so many bytes (ISO 32000, implementation notes); a failed download does not."""

REASONS = {
    pdfium_c.FPDF_ERR_FORMAT: "The PDF is damaged.",
    pdfium_c.FPDF_ERR_PASSWORD: "The PDF is encrypted with a password.",
    pdfium_c.FPDF_ERR_SECURITY: "The PDF is encrypted in a way pdfium does not support.",
}

# Fonts of TeX without a Unicode table give their ligatures as control codes (OT1: 0x0B-0x0F, T1: 0x1B-0x1F).
LIGATURES = {0x0B: "ff", 0x0C: "fi", 0x0E: "ffi", 0x0F: "ffl", 0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi"}
# pdfium gives a hyphen at the end of a line as U+FFFE (or 0x02) and leaves out the end of the line.
HYPHENS = {0xFFFE: "-\n", 0x02: "-\n", 0xAD: "-"}
CHARACTERS = LIGATURES | {0x1F: "ffl"} | HYPHENS
NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def clean_text(text: str) -> str:
    r"""Text of a page as pdfium gives it → plain characters and line feeds.

    >>> clean_text("repre\ufffesent \x0crst\r\nsecond\x00")
    'repre-\nsent first\nsecond'
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").translate(CHARACTERS)
    return NOT_TEXT.sub("", lines).strip()


def open_pdf(pdf: bytes) -> pdfium.PdfDocument:
    """Open one file.

    Raises:
        UnreadablePdfError: It is empty, broken, encrypted, or no PDF.
    """
    if b"%PDF-" not in pdf[:HEADER_BYTES]:
        raise UnreadablePdfError("The file is empty." if not pdf else "The file is not a PDF.")
    try:
        return pdfium.PdfDocument(pdf)
    except pdfium.PdfiumError as error:
        raise UnreadablePdfError(REASONS.get(error.err_code, "pdfium cannot open the PDF.")) from None


def page_text(document: pdfium.PdfDocument, index: int) -> str | None:
    """The text of a page, counted from 0; None where the page cannot be read."""
    try:
        text: str = document[index].get_textpage().get_text_range()
    except pdfium.PdfiumError:
        return None
    return clean_text(text)


def stated(document: pdfium.PdfDocument, key: str) -> str | None:
    """What the file's own metadata say under a key ("CreationDate", "Producer"), on one line; None for nothing."""
    try:
        value: str = document.get_metadata_value(key)
    except UnicodeDecodeError:
        return None
    return " ".join(clean_text(value).split()) or None
