"""Pages as images, and some pages of a PDF as a PDF of their own."""

import io
import struct
import zlib
from collections.abc import Sequence

import pypdfium2 as pdfium

from peercorpus.pdf import open_pdf

POINTS_PER_INCH = 72
MOST_PIXELS = 25_000_000
"""Of one image: a poster is rendered smaller, so that it does not fill the memory."""


def render(page: pdfium.PdfPage, dpi: float) -> pdfium.PdfBitmap:
    """The image of a page, in blue, green and red."""
    width, height = page.get_size()
    pixels = width * height * (dpi / POINTS_PER_INCH) ** 2
    scale = dpi / POINTS_PER_INCH * min(1.0, (MOST_PIXELS / pixels) ** 0.5 if pixels else 1.0)
    return page.render(scale=scale, force_bitmap_format=pdfium.raw.FPDFBitmap_BGR, rev_byteorder=False)


def to_png(bitmap: pdfium.PdfBitmap) -> bytes:
    """The same image as a PNG; the same pixels always give the same bytes."""
    rows = memoryview(bitmap.buffer).cast("B")
    used = 3 * bitmap.width
    lines = []
    for start in range(0, bitmap.stride * bitmap.height, bitmap.stride):
        line = bytearray(rows[start : start + used])
        line[0::3], line[2::3] = line[2::3], line[0::3]
        lines.append(b"\0" + line)
    header = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(lines), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in parts)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def some_pages(pdf: bytes, numbers: Sequence[int]) -> bytes:
    """A PDF of these pages alone, in this order.

    Args:
        pdf: The whole file.
        numbers: Of the pages, from 1.

    Raises:
        UnreadablePdfError: The file cannot be opened.
    """
    written = io.BytesIO()
    with open_pdf(pdf) as document, pdfium.PdfDocument.new() as part:
        part.import_pages(document, [number - 1 for number in numbers])
        part.save(written)
    return written.getvalue()
