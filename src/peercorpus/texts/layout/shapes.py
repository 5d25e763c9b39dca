"""What is drawn on a page besides its text: rules, figures, images."""

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import islice, repeat
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from peercorpus.texts.layout.pdfium_calls import function

MOST_OBJECTS = 40_000
"""Objects of a page that are looked at; what comes behind them draws a figure."""

THIN = 2.5
"""Height of a rule, in points, at most."""

SHORT = 8.0
"""Length of a rule, in points, at least."""

DEEPEST = 3
"""Forms inside one another that are looked into, at most."""

MOST_LARGE = 3
"""Forms that may be the page itself, the largest ones, at most."""

PAGE_TEXTS = 0.6
"""Share of a page's text objects inside a form, from which on the form may be the page itself."""

PAGE_AREA = 0.5
"""Share of the page's area, from which on it is the page itself; figures cover less."""

PART_AREA = 0.2
"""The same where all other text stands in the margins, as the last page of a paper has it."""

MARGIN = 0.085
"""Height of the margins at the top and at the bottom, over that of the page."""

Matrix = tuple[float, float, float, float, float, float]
"""As PDF has it: x becomes a x + c y + e, and y becomes b x + d y + f."""


class Box(NamedTuple):
    """A rectangle, in points from the lower left corner of the page."""

    left: float
    bottom: float
    right: float
    top: float

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies inside."""
        return self.left <= x <= self.right and self.bottom <= y <= self.top


@dataclass(slots=True)
class Shapes:
    """What is drawn.

    Attributes:
        rules: Horizontal lines.
        uprights: Vertical lines.
        forms: What was included as a whole, as figures are.
        images: Pictures made of pixels.
        strokes: Every other path.
        texts: The text objects that stand on the page itself, by their handle; None where there are too many objects.
    """

    rules: list[Box] = field(default_factory=list)
    uprights: list[Box] = field(default_factory=list)
    forms: list[Box] = field(default_factory=list)
    images: list[Box] = field(default_factory=list)
    strokes: list[Box] = field(default_factory=list)
    texts: set[int] | None = None


class _Matrix(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_float) for name in "abcdef")


TEXT, PATH = pdfium_c.FPDF_PAGEOBJ_TEXT, pdfium_c.FPDF_PAGEOBJ_PATH
IMAGE, FORM = pdfium_c.FPDF_PAGEOBJ_IMAGE, pdfium_c.FPDF_PAGEOBJ_FORM
"""Kinds of objects."""

PLAIN = 1.0, 0.0, 0.0, 1.0, 0.0, 0.0
"""The matrix that leaves everything where it is."""

_page_count, _form_count = function("FPDFPage_CountObjects", "i", "p"), function("FPDFFormObj_CountObjects", "i", "p")
_page_at, _form_at = function("FPDFPage_GetObject", "p", "pi"), function("FPDFFormObj_GetObject", "p", "pu")
_kind = function("FPDFPageObj_GetType", "i", "p")
_bounds = function("FPDFPageObj_GetBounds", "i", "ppppp")
_matrix = function("FPDFPageObj_GetMatrix", "i", "pp")


def read_shapes(page: pdfium.PdfPage) -> Shapes:
    """Everything drawn on a page, text left out; a form that holds the page itself counts as the page."""
    handle = ctypes.cast(page.raw, ctypes.c_void_p).value
    found = Shapes()
    reader = _Reader(found, *page.get_size())
    count = _page_count(handle)
    reader.read(islice(map(_page_at, repeat(handle), range(count)), MOST_OBJECTS), PLAIN)
    found.texts = reader.texts if reader.left > 0 else None
    return found


class _Reader:
    """Reads the objects of one page, and of the forms that hold the page itself."""

    def __init__(self, found: Shapes, width: float, height: float) -> None:
        self.texts: set[int] = set()
        self.left = MOST_OBJECTS
        self._found = found
        self._width = width
        self._height = height
        self._edges = [ctypes.c_float() for _ in range(4)]
        self._places = [ctypes.addressof(edge) for edge in self._edges]

    def read(self, objects: Iterable[int], matrix: Matrix, depth: int = 0) -> None:
        """Sort the objects of the page or of a form.

        Args:
            objects: Their handles.
            matrix: From where they stand to the page.
            depth: Of the form.
        """
        forms: list[tuple[int, Box]] = []
        texts: list[int] = []
        for one in objects:
            self.left -= 1
            kind = _kind(one)
            if kind == TEXT:
                texts.append(one)
                continue
            box = self._box(one, matrix)
            if box is None:
                continue
            if kind == FORM:
                forms.append((one, box))
            elif kind == IMAGE:
                self._found.images.append(box)
            elif kind == PATH:
                _sort_path(box, self._found)
        self.texts.update(texts)
        large = {form for form, _ in nlargest(MOST_LARGE, forms, key=lambda one: _area(one[1]))}
        for form, box in forms:
            count = max(0, _form_count(form)) if depth < DEEPEST and form in large else 0
            if 0 < count <= self.left and self._is_page(form, box, texts, matrix):
                self.read(map(_form_at, repeat(form), range(count)), _product(_matrix_of(form), matrix), depth + 1)
            else:
                self._found.forms.append(box)

    def _box(self, one: int, matrix: Matrix) -> Box | None:
        if not _bounds(one, *self._places):
            return None
        left, bottom, right, top = self._edges
        box = Box(left.value, bottom.value, right.value, top.value)
        return box if matrix is PLAIN else _moved(box, matrix)

    def _is_page(self, form: int, box: Box, beside: Sequence[int], matrix: Matrix) -> bool:
        """Whether a form is no figure but the page itself, but for what stands in its margins."""
        share = _area(box) / (self._width * self._height or 1)
        if share < PART_AREA or (1 - PAGE_TEXTS) * _texts(form) <= PAGE_TEXTS * len(beside):
            return False
        margin = MARGIN * self._height
        body = Box(box.left, margin, box.right, self._height - margin)
        others = (self._box(one, matrix) for one in beside) if share < PAGE_AREA else ()
        return not any(one and body.holds((one.left + one.right) / 2, (one.bottom + one.top) / 2) for one in others)


def _area(box: Box) -> float:
    return (box.right - box.left) * (box.top - box.bottom)


def _texts(form: int, depth: int = DEEPEST) -> int:
    """How many text objects a form holds; where it holds a form only, how many that does."""
    count = min(max(0, _form_count(form)), MOST_OBJECTS)
    kinds = [_kind(_form_at(form, index)) for index in range(count)]
    if kinds == [FORM] and depth > 0:
        return _texts(_form_at(form, 0), depth - 1)
    return kinds.count(TEXT)


def _matrix_of(form: int) -> Matrix:
    matrix = _Matrix()
    if not _matrix(form, ctypes.addressof(matrix)):
        return PLAIN
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _product(first: Matrix, then: Matrix) -> Matrix:
    """One matrix for two, the first of which is nearer to what it moves."""
    (a, b, c, d, e, f), (p, q, r, s, t, u) = first, then
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def _moved(box: Box, matrix: Matrix) -> Box:
    a, b, c, d, e, f = matrix
    corners = [(x, y) for x in (box.left, box.right) for y in (box.bottom, box.top)]
    across, up = [a * x + c * y + e for x, y in corners], [b * x + d * y + f for x, y in corners]
    return Box(min(across), min(up), max(across), max(up))


def _sort_path(box: Box, found: Shapes) -> None:
    width, height = box.right - box.left, box.top - box.bottom
    if height <= THIN and width >= SHORT:
        found.rules.append(box)
    elif width <= THIN and height >= SHORT:
        found.uprights.append(box)
    else:
        found.strokes.append(box)
