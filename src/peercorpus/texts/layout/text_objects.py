"""Which characters of a page belong to one text object, with a call of pdfium for a few of them.

The characters of one object stand together in pdfium's order, so that two of one object have none of another between
them. Only where something is read from right to left does pdfium change the order (`CPDF_TextPage::CloseTempLine`).
"""

import ctypes
import re
from collections.abc import Iterator
from itertools import repeat, takewhile

import pypdfium2 as pdfium

from peercorpus.texts.layout.pdfium_calls import function

NEW_LINE = re.compile("\r\n")
LEFTWARD = re.compile("[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\ufffd]")
"""Letters read from right to left, in pdfium's tables, and what stands for a character without a code."""

Span = tuple[int, int, int | None]
"""The first character of an object, what is behind its last one, and its handle; None for what pdfium put in."""
Known = tuple[int, int | None]
"""A character, and the handle of its object."""

_object = function("FPDFText_GetTextObject", "p", "pi")
_preference = function("FPDF_VIEWERREF_GetName", "n", "pppn")


def spans(page: int, text: str, *, is_leftward: bool = False) -> Iterator[Span]:
    """The text objects of a page and what stands between them, in the order of its characters.

    Args:
        page: The handle of its text.
        text: A character for each that pdfium counts.
        is_leftward: Whether its document is read from right to left.
    """
    if not text:
        return iter(())
    points = range(len(text)) if is_leftward or LEFTWARD.search(text) else _ends_of_lines(text)
    handles = [*map(_object, repeat(page), points)]
    starts, owners = [0], handles[:1]
    for low, high, before, handle in zip(points, points[1:], handles, handles[1:], strict=False):
        if handle is None or handle != before:
            _divide(page, (low, before), (high, handle), starts, owners)
    return zip(starts, [*starts[1:], len(text)], owners, strict=True)


def _ends_of_lines(text: str) -> list[int]:
    """The first and the last character of each line and of the line end between two, in their order."""
    points = [0]
    for line in text.split("\r\n"):
        behind = points[-1] + len(line)
        points += (behind - 1, behind, behind + 1, behind + 2) if len(line) > 1 else range(points[-1] + 1, behind + 3)
    return [*takewhile(len(text).__gt__, points)]


def _divide(page: int, first: Known, last: Known, starts: list[int], owners: list[int | None]) -> None:
    """Add where another object begins behind one character and up to another: halved until it is found."""
    (low, before), (high, handle) = first, last
    waiting: list[Known] = []
    while True:
        if handle is None or handle != before:
            if high - low > 1:
                waiting.append((high, handle))
                high = (low + high) // 2
                handle = _object(page, high)
                continue
            if handle != before:
                starts.append(high)
                owners.append(handle)
        if not waiting:
            return
        low, before = high, handle
        high, handle = waiting.pop()


def is_leftward(textpage: pdfium.PdfTextPage) -> bool:
    """Whether the document of a page says that it is read from right to left (ISO 32000-1, 12.2)."""
    document = ctypes.cast(textpage.page.pdf.raw, ctypes.c_void_p).value
    buffer = ctypes.create_string_buffer(4)
    return _preference(document, b"Direction", buffer, len(buffer)) > 0 and buffer.value == b"R2L"
