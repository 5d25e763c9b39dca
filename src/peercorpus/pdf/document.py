"""Open PDFs, and read the text and the image of a page."""

import io
import re
import struct
import zlib
from collections.abc import Sequence

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from peercorpus.errors import PdfFault, UnreadablePdfError
from peercorpus.pdf.rebuild import ENCRYPT_ENTRY

_HEADER_BYTES = 1_024
"""The `%PDF-` marker must begin within this many bytes (ISO 32000, implementation notes); a failed download lacks it.
"""

_ENCRYPTION_MESSAGES = {
    pdfium_c.FPDF_ERR_PASSWORD: "The PDF is encrypted with a password.",
    pdfium_c.FPDF_ERR_SECURITY: "The PDF is encrypted in a way pdfium does not support.",
}
"""Message for each pdfium error code that reports encryption."""

# TeX fonts without a Unicode table encode ligatures as control codes (OT1: 0x0B-0x0F, T1: 0x1B-0x1F).
_TEX_LIGATURES = {0x0B: "ff", 0x0C: "fi", 0x0E: "ffi", 0x0F: "ffl", 0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi"}
# pdfium returns a hyphen at the end of a line as U+FFFE (or 0x02) and omits the line break.
_LINE_END_HYPHENS = {0xFFFE: "-\n", 0x02: "-\n", 0xAD: "-"}
_CHARACTER_REPLACEMENTS = _TEX_LIGATURES | {0x1F: "ffl"} | _LINE_END_HYPHENS
_NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def clean_text(text: str) -> str:
    r"""Return page text from pdfium as plain characters and line feeds.

    >>> clean_text("repre\ufffesent \x0crst\r\nsecond\x00")
    'repre-\nsent first\nsecond'
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CHARACTER_REPLACEMENTS)
    return _NOT_TEXT.sub("", lines).strip()


def open_pdf(pdf: bytes) -> pdfium.PdfDocument:
    """Open a PDF; raises UnreadablePdfError if it is empty, damaged, encrypted or not a PDF."""
    if b"%PDF-" not in pdf[:_HEADER_BYTES]:
        raise UnreadablePdfError("The file is empty." if not pdf else "The file is not a PDF.", PdfFault.NOT_A_PDF)
    try:
        return pdfium.PdfDocument(pdf)
    except pdfium.PdfiumError as error:
        # pdfium reports a missing password also for many files that are merely damaged.
        if error.err_code in _ENCRYPTION_MESSAGES and ENCRYPT_ENTRY.search(pdf):
            raise UnreadablePdfError(_ENCRYPTION_MESSAGES[error.err_code], PdfFault.ENCRYPTED) from None
        raise UnreadablePdfError("The PDF is damaged.") from None


def count_characters(pdf: bytes) -> int:
    """Return how many characters of text pdfium can read; 0 if it cannot open the file."""
    try:
        with open_pdf(pdf) as document:
            return sum(len(page_text(document, index) or "") for index in range(len(document)))
    except UnreadablePdfError:
        return 0


def page_text(document: pdfium.PdfDocument, index: int) -> str | None:
    """Return the text of a page, counted from 0; None if the page cannot be read."""
    try:
        text: str = document[index].get_textpage().get_text_range()
    except pdfium.PdfiumError:
        return None
    return clean_text(text)


def metadata_value(document: pdfium.PdfDocument, key: str) -> str | None:
    """Return a metadata value ("CreationDate", "Producer") on one line; None if it is missing or empty."""
    try:
        value: str = document.get_metadata_value(key)
    except UnicodeDecodeError:
        return None
    return " ".join(clean_text(value).split()) or None


_POINTS_PER_INCH = 72
"""Size of a point, the unit of PDF coordinates."""
_MAX_IMAGE_PIXELS = 25_000_000
"""Largest page image; a poster is rendered at a lower resolution so that it does not exhaust memory."""


def render_page(page: pdfium.PdfPage, dpi: float) -> pdfium.PdfBitmap:
    """Render a page as an image with blue, green and red channels."""
    width, height = page.get_size()
    pixels = width * height * (dpi / _POINTS_PER_INCH) ** 2
    scale = dpi / _POINTS_PER_INCH * min(1.0, (_MAX_IMAGE_PIXELS / pixels) ** 0.5 if pixels else 1.0)
    return page.render(scale=scale, force_bitmap_format=pdfium.raw.FPDFBitmap_BGR, rev_byteorder=False)


def to_png(bitmap: pdfium.PdfBitmap) -> bytes:
    """Encode an image as PNG; equal pixels always give equal bytes."""
    rows = memoryview(bitmap.buffer).cast("B")
    used = 3 * bitmap.width
    lines = []
    for start in range(0, bitmap.stride * bitmap.height, bitmap.stride):
        line = bytearray(rows[start : start + used])
        line[0::3], line[2::3] = line[2::3], line[0::3]
        lines.append(b"\0" + line)
    header = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, 8, 2, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n"
    for kind, body in ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(lines), 6)), (b"IEND", b"")):
        png += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return png


def extract_pages(pdf: bytes, numbers: Sequence[int]) -> bytes:
    """Return a PDF with only these pages, numbered from 1, in this order."""
    written = io.BytesIO()
    with open_pdf(pdf) as document, pdfium.PdfDocument.new() as part:
        part.import_pages(document, [number - 1 for number in numbers])
        part.save(written)
    return written.getvalue()
