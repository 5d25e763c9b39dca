"""Call pdfium quickly, split page text into text objects, and turn pages upright.

pypdfium2 wraps pdfium with ctypes pointers, whose type checks cost more than most calls. The functions here pass
plain integers as handles instead, or arguments created once for many calls.
"""

import ctypes
import re
from collections.abc import Callable, Iterator
from itertools import repeat, takewhile
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

_C_TYPES = {"i": ctypes.c_int, "p": ctypes.c_void_p, "d": ctypes.c_double, "n": ctypes.c_size_t, "u": ctypes.c_uint}
"""C type for each letter of a signature passed to `load_function`."""


def load_function(name: str, result: str, arguments: str) -> Callable[..., Any]:
    """Return a pdfium function that takes plain numbers, because ctypes' pointer checks take longer than the call.

    Its result and arguments are letters of `_C_TYPES`.
    """
    kinds = [_C_TYPES[letter] for letter in (result, *arguments)]
    return ctypes.PYFUNCTYPE(*kinds)(_find_address(name))


def load_unchecked_function(name: str, result: str | None = None) -> Callable[..., Any]:
    """Return a pdfium function whose arguments are not converted, so that a call takes half the time.

    Nothing checks them: they must be 32-bit integers, or created by `as_argument` or `ctypes.byref`.
    """
    return ctypes.PYFUNCTYPE(_C_TYPES[result] if result else None)(_find_address(name))


def _find_address(name: str) -> int:
    return ctypes.cast(getattr(pdfium_c, name), ctypes.c_void_p).value or 0


Argument = Any
"""An argument for functions of `load_unchecked_function`; ctypes has no public name for its type."""


def as_argument(page: pdfium.PdfPage | pdfium.PdfTextPage) -> Argument:
    """Return a page or a text page as an argument, valid until it is closed."""
    return ctypes.byref(page.raw.contents)


_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\ufffd]")
"""Letters that pdfium reads from right to left, and U+FFFD, which replaces a character without a code."""

Span = tuple[int, int, int | None]
"""First character of a text object, the index after its last one, and its handle; None for characters that pdfium
inserted.
"""
Known = tuple[int, int | None]
"""A character index and the handle of its text object."""

get_text_object = load_unchecked_function("FPDFText_GetTextObject", "p")
_preference = load_function("FPDF_VIEWERREF_GetName", "n", "pppn")


def spans(page: Argument, text: str, *, is_leftward: bool = False) -> Iterator[Span]:
    """Yield the text objects of a page and the inserted characters between them, in text order."""
    if not text:
        return iter(())
    points = range(len(text)) if is_leftward else _find_line_ends(text)
    handles = [*map(get_text_object, repeat(page), points)]
    starts = [0]
    owners = handles[:1]
    for low, high, before, handle in zip(points, points[1:], handles, handles[1:], strict=False):
        if handle == before is not None:
            continue
        if high - low > 1:
            _add_boundaries(page, (low, before), (high, handle), starts, owners)
        elif handle != before:
            starts.append(high)
            owners.append(handle)
    return zip(starts, [*starts[1:], len(text)], owners, strict=True)


def _find_line_ends(text: str) -> list[int]:
    points = [0]
    for line in text.split("\r\n"):
        behind = points[-1] + len(line)
        points += (behind - 1, behind, behind + 1, behind + 2) if len(line) > 1 else range(points[-1] + 1, behind + 3)
    return [*takewhile(len(text).__gt__, points)]


def _add_boundaries(page: Argument, first: Known, last: Known, starts: list[int], owners: list[int | None]) -> None:
    """Add the start and owner of each object that begins after `first`, up to `last`, by bisection."""
    (low, before) = first
    (high, handle) = last
    waiting: list[Known] = []
    while True:
        if handle is None or handle != before:
            if high - low > 1:
                waiting.append((high, handle))
                high = (low + high) // 2
                handle = get_text_object(page, high)
                continue
            if handle != before:
                starts.append(high)
                owners.append(handle)
        if not waiting:
            return
        low, before = high, handle
        high, handle = waiting.pop()


def is_leftward(textpage: pdfium.PdfTextPage, characters: str) -> bool:
    """Return whether pdfium reads some of a page from right to left.

    It does so if the page has letters of such a script, or its document declares it (ISO 32000-1, 12.2).
    """
    if _RIGHT_TO_LEFT.search(characters):
        return True
    document = ctypes.cast(textpage.page.pdf.raw, ctypes.c_void_p).value
    buffer = ctypes.create_string_buffer(4)
    return _preference(document, b"Direction", buffer, len(buffer)) > 0 and buffer.value == b"R2L"


_ROTATIONS = {90: (0, -1, 1, 0), 180: (-1, 0, 0, -1), 270: (0, 1, -1, 0)}
"""Matrix elements a, b, c and d for a clockwise rotation by these degrees (ISO 32000-1, 8.3.3)."""


def make_upright(document: pdfium.PdfDocument, index: int, more: int = 0) -> pdfium.PdfPage:
    """Return a page as a viewer shows it, its own rotation, and `more` degrees clockwise, applied to its content."""
    page = document[index]
    degrees = (page.get_rotation() + more) % 360
    if degrees not in _ROTATIONS:
        return page
    left, bottom, right, top = page.get_mediabox()
    width, height = right - left, top - bottom
    a, b, c, d = _ROTATIONS[degrees]
    # After the rotation, the lower left corner becomes the origin again.
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
