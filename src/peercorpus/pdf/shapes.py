"""Find the rules, figures and images drawn on a page."""

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import islice, repeat
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from peercorpus.pdf.pdfium import as_argument, load_function, load_unchecked_function

_MAX_PAGE_OBJECTS = 40_000
"""Maximum number of page objects that are read; on a page with more, the rest belongs to a figure."""

_MAX_RULE_THICKNESS_POINTS = 2.5

_MIN_RULE_LENGTH_POINTS = 8.0

_MAX_FORM_DEPTH = 3
"""Maximum nesting of form XObjects that are read."""

_MAX_PAGE_FORMS = 3
"""Number of forms, from the largest, that are tested for containing the page itself."""

_MIN_PAGE_FORM_TEXT_SHARE = 0.6
"""Minimum share of a page's text objects in a form that contains the page itself."""

_MIN_PAGE_FORM_AREA_SHARE = 0.5
"""Minimum share of the page area of a form that contains the page itself; figures cover less."""

_MIN_PARTIAL_PAGE_AREA_SHARE = 0.2
"""The same share if all other text is in the margins, as on the last page of a paper."""

_MARGIN_SHARE = 0.085
"""Height of the top and of the bottom margin, as a share of the page height."""

Matrix = tuple[float, float, float, float, float, float]
"""A PDF transformation matrix: x becomes a·x + c·y + e, and y becomes b·x + d·y + f."""


class Box(NamedTuple):
    """A rectangle, in points from the lower left corner of the page."""

    left: float
    bottom: float
    right: float
    top: float

    def holds(self, x: float, y: float) -> bool:
        """Return whether a point lies inside."""
        return self.left <= x <= self.right and self.bottom <= y <= self.top


@dataclass(slots=True)
class Shapes:
    """The shapes drawn on a page; `texts` are handles of text objects outside forms, None if there are too many
    objects.
    """

    rules: list[Box] = field(default_factory=list)
    uprights: list[Box] = field(default_factory=list)
    forms: list[Box] = field(default_factory=list)
    images: list[Box] = field(default_factory=list)
    strokes: list[Box] = field(default_factory=list)
    texts: set[int] | None = None


class _Matrix(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_float) for name in "abcdef")


TEXT = pdfium_c.FPDF_PAGEOBJ_TEXT
PATH = pdfium_c.FPDF_PAGEOBJ_PATH
IMAGE = pdfium_c.FPDF_PAGEOBJ_IMAGE
FORM = pdfium_c.FPDF_PAGEOBJ_FORM
"""pdfium's number for each kind of page object."""

_IDENTITY = 1.0, 0.0, 0.0, 1.0, 0.0, 0.0

_page_count = load_unchecked_function("FPDFPage_CountObjects", "i")
_form_count = load_function("FPDFFormObj_CountObjects", "i", "p")
_page_at = load_unchecked_function("FPDFPage_GetObject", "p")
_form_at = load_function("FPDFFormObj_GetObject", "p", "pu")
_kind = load_function("FPDFPageObj_GetType", "i", "p")
_bounds = load_function("FPDFPageObj_GetBounds", "i", "ppppp")
_matrix = load_function("FPDFPageObj_GetMatrix", "i", "pp")


def read_shapes(page: pdfium.PdfPage) -> Shapes:
    """Return all shapes drawn on a page, without text; a form that contains the page itself is read as the page."""
    handle = as_argument(page)
    shapes = Shapes()
    reader = _Reader(shapes, *page.get_size())
    count = _page_count(handle)
    reader.read(islice(map(_page_at, repeat(handle), range(count)), _MAX_PAGE_OBJECTS), _IDENTITY)
    shapes.texts = reader.texts if reader.left > 0 else None
    return shapes


class _Reader:
    def __init__(self, shapes: Shapes, width: float, height: float) -> None:
        self.texts: set[int] = set()
        self.left = _MAX_PAGE_OBJECTS
        self._shapes = shapes
        self._width = width
        self._height = height
        self._edges = [ctypes.c_float() for _ in range(4)]
        self._places = [ctypes.addressof(edge) for edge in self._edges]

    def read(self, objects: Iterable[int], matrix: Matrix, depth: int = 0) -> None:
        """Sort the objects of the page or of a form by kind."""
        forms: list[tuple[int, Box]] = []
        handles = list(objects)
        self.left -= len(handles)
        kinds = [*map(_kind, handles)]
        texts = [handle for handle, kind in zip(handles, kinds, strict=True) if kind == TEXT]
        for page_object, kind in zip(handles, kinds, strict=True):
            if kind == TEXT:
                continue
            box = self._read_box(page_object, matrix)
            if box is None:
                continue
            if kind == FORM:
                forms.append((page_object, box))
            elif kind == IMAGE:
                self._shapes.images.append(box)
            elif kind == PATH:
                _sort_path(box, self._shapes)
        self.texts.update(texts)
        large = {form for form, _ in nlargest(_MAX_PAGE_FORMS, forms, key=lambda form: _compute_area(form[1]))}
        for form, box in forms:
            count = max(0, _form_count(form)) if depth < _MAX_FORM_DEPTH and form in large else 0
            if 0 < count <= self.left and self._is_page(form, box, texts, matrix):
                self.read(map(_form_at, repeat(form), range(count)), _multiply(_read_matrix(form), matrix), depth + 1)
            else:
                self._shapes.forms.append(box)

    def _read_box(self, page_object: int, matrix: Matrix) -> Box | None:
        if not _bounds(page_object, *self._places):
            return None
        left, bottom, right, top = self._edges
        box = Box(left.value, bottom.value, right.value, top.value)
        return box if matrix is _IDENTITY else _transform(box, matrix)

    def _is_page(self, form: int, box: Box, beside: Sequence[int], matrix: Matrix) -> bool:
        """Return whether a form contains the page itself, apart from text in the margins, and is not a figure."""
        share = _compute_area(box) / (self._width * self._height or 1)
        if share < _MIN_PARTIAL_PAGE_AREA_SHARE or (1 - _MIN_PAGE_FORM_TEXT_SHARE) * _count_texts(
            form
        ) <= _MIN_PAGE_FORM_TEXT_SHARE * len(beside):
            return False
        margin = _MARGIN_SHARE * self._height
        body = Box(box.left, margin, box.right, self._height - margin)
        others = (
            (self._read_box(other_box, matrix) for other_box in beside) if share < _MIN_PAGE_FORM_AREA_SHARE else ()
        )
        return not any(
            other_box and body.holds((other_box.left + other_box.right) / 2, (other_box.bottom + other_box.top) / 2)
            for other_box in others
        )


def _compute_area(box: Box) -> float:
    return (box.right - box.left) * (box.top - box.bottom)


def _count_texts(form: int, depth: int = _MAX_FORM_DEPTH) -> int:
    count = min(max(0, _form_count(form)), _MAX_PAGE_OBJECTS)
    kinds = [_kind(_form_at(form, index)) for index in range(count)]
    if kinds == [FORM] and depth > 0:
        return _count_texts(_form_at(form, 0), depth - 1)
    return kinds.count(TEXT)


def _read_matrix(form: int) -> Matrix:
    matrix = _Matrix()
    if not _matrix(form, ctypes.addressof(matrix)):
        return _IDENTITY
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _multiply(first: Matrix, then: Matrix) -> Matrix:
    (a, b, c, d, e, f) = first
    (p, q, r, s, t, u) = then
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def _transform(box: Box, matrix: Matrix) -> Box:
    a, b, c, d, e, f = matrix
    corners = [(x, y) for x in (box.left, box.right) for y in (box.bottom, box.top)]
    xs = [a * x + c * y + e for x, y in corners]
    ys = [b * x + d * y + f for x, y in corners]
    return Box(min(xs), min(ys), max(xs), max(ys))


def _sort_path(box: Box, shapes: Shapes) -> None:
    width, height = box.right - box.left, box.top - box.bottom
    if height <= _MAX_RULE_THICKNESS_POINTS and width >= _MIN_RULE_LENGTH_POINTS:
        shapes.rules.append(box)
    elif width <= _MAX_RULE_THICKNESS_POINTS and height >= _MIN_RULE_LENGTH_POINTS:
        shapes.uprights.append(box)
    else:
        shapes.strokes.append(box)
