"""Pages that a viewer turns, such as wide tables on their side, made upright before they are read."""

import ctypes

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

QUARTERS = {90: (0, -1, 1, 0), 180: (-1, 0, 0, -1), 270: (0, 1, -1, 0)}
"""What turns a point clockwise by so many degrees: `a`, `b`, `c` and `d` of its matrix (ISO 32000-1, 8.3.3)."""


def make_upright(document: pdfium.PdfDocument, index: int, more: int = 0) -> pdfium.PdfPage:
    """A page as a viewer shows it, its own rotation made part of its content.

    Args:
        document: The document, which is changed.
        index: Of the page, from 0.
        more: Degrees by which it is turned clockwise beyond that.

    Raises:
        PdfiumError: The page cannot be read.
    """
    page = document[index]
    degrees = (page.get_rotation() + more) % 360
    if degrees not in QUARTERS:
        return page
    left, bottom, right, top = page.get_mediabox()
    width, height = right - left, top - bottom
    a, b, c, d = QUARTERS[degrees]
    # The corner that the turn moves furthest to the left and down becomes the origin again.
    shift_x = width * (a < 0) + height * (c < 0)
    shift_y = width * (b < 0) + height * (d < 0)
    wide, high = (height, width) if degrees != 180 else (width, height)
    matrix = pdfium_c.FS_MATRIX(a, b, c, d, shift_x - a * left - c * bottom, shift_y - b * left - d * bottom)
    clip = pdfium_c.FS_RECTF(0, high, wide, 0)
    pdfium_c.FPDFPage_TransFormWithClip(page.raw, ctypes.byref(matrix), ctypes.byref(clip))
    page.set_rotation(0)
    page.set_mediabox(0, 0, wide, high)
    page.set_cropbox(0, 0, wide, high)
    page.close()
    return document[index]
