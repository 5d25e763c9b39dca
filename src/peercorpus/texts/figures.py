"""Cut the figures and tables of one PDF out of its pages as WebP images, within limits of size and number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING

import pypdfium2 as pdfium
from pypdfium2.version import PYPDFIUM_INFO

from peercorpus.errors import PeercorpusError, UnreadablePdfError
from peercorpus.pdf.document import open_pdf
from peercorpus.pdf.glyphs import Fonts, Glyphs
from peercorpus.pdf.repair import read_or_repair
from peercorpus.pdf.shapes import Box, read_shapes
from peercorpus.texts.layout.blocks import measure_page
from peercorpus.texts.layout.columns import find_all_columns
from peercorpus.texts.layout.figures import split_figures
from peercorpus.texts.layout.margins import LineNumberColumns, remove_headers
from peercorpus.texts.layout.pdfium_layout import (
    EMPTY_PAGE,
    PageContent,
    PdfiumLayout,
    open_page,
    open_pages,
    without_garbage_collection,
    write_pages,
)
from peercorpus.texts.layout.regions import EMPTY, PageDrawing, Region, enclose, find_regions, gather_drawn
from peercorpus.workspace.object_store import Location, read_pdf

if TYPE_CHECKING:
    from PIL.Image import Image

VERSION = 1
"""Raised whenever the same file yields different figures."""
IMAGE_FORMAT = "webp"
_QUALITY = 85
"""WebP quality; letters of 6 points stay sharp at 150 dpi."""
_EFFORT = 4
"""WebP effort, from 0 to 6; more takes twice the time for 2 % fewer bytes."""
_MARGIN_POINTS = 2.0
"""White space left around a figure, in points."""
_MIN_INK = 10
"""Darkness from which a pixel is not paper, from 0 to 255."""
_SHRINK = 0.75
"""Factor by which an image with too many bytes is repeatedly reduced."""
_MIN_SIDE_PIXELS = 64
"""Minimum longer side of a reduced image, in pixels."""
_POINTS_PER_INCH = 72


@dataclass(frozen=True, slots=True)
class FigureLimits:
    """Limits: pixels per inch, pixels of the longer side, bytes of an image, and images of one file in its order."""

    dpi: int = 150
    most_pixels: int = 1_024
    most_bytes: int = 300_000
    max_figures: int = 50


LIMITS = FigureLimits()
"""Limits of the images of a workspace, and of a folder of texts."""


@dataclass(frozen=True, slots=True)
class FigureJob:
    """One file to cut figures out of; contains the path, not the content, so it is cheap to send to a process."""

    sha256: str
    path: Location


@dataclass(frozen=True, slots=True)
class CutFigure:
    """A caption, its box trimmed to what is visible, and the image of its figure; None if there is a `problem`."""

    region: Region
    image: bytes | None = None
    width_px: int | None = None
    height_px: int | None = None
    problem: str | None = None


def require_pillow() -> str:
    """Return the versions of Pillow and libwebp, which decide the bytes of an image; needs WebP."""
    from PIL import __version__, features

    webp = features.version("webp")
    if webp is None:
        raise PeercorpusError(
            "Pillow was built without WebP; install it from its wheel: pip install --force-reinstall pillow."
        )
    return f"pillow-{__version__}+webp-{webp}"


def name_maker() -> str:
    """Return everything besides the bytes of a file that determines its images, as text: code, libraries and limits."""
    sizes = f"{LIMITS.dpi}dpi+{LIMITS.most_pixels}px+{LIMITS.most_bytes}B+{LIMITS.max_figures}"
    return f"{VERSION}+pypdfium2-{PYPDFIUM_INFO.version}+{require_pillow()}+{sizes}"


def cut_file(job: FigureJob) -> list[CutFigure]:
    """Return every caption of a figure or table in a file, in the order of the text, with images within the limits."""
    pdf = read_pdf(job.path, job.sha256)
    return read_or_repair(cut_figures, pdf)[0]


def cut_figures(pdf: bytes, limits: FigureLimits = LIMITS) -> list[CutFigure]:
    """Return the result of `cut_file` for a PDF in memory."""
    with without_garbage_collection(), open_pdf(pdf) as document:
        regions = read_regions(document)
        with_box = [number for number, region in enumerate(regions) if region.box is not None]
        chosen = set(with_box[: limits.max_figures])
        pages = _OpenPages(document)
        return [
            _cut(pages, region, limits) if number in chosen else _explain(region, limits)
            for number, region in enumerate(regions)
        ]


def _explain(region: Region, limits: FigureLimits) -> CutFigure:
    if region.box is None:
        return CutFigure(region, problem="Nothing is drawn next to the caption.")
    return CutFigure(region, problem=f"The file has more than {limits.max_figures} figures and tables.")


def read_regions(document: pdfium.PdfDocument) -> list[Region]:
    """Return the captions of a document with the places of their figures."""
    engine, rulers = PdfiumLayout(), LineNumberColumns()
    sheets: list[PageContent] = []
    drawings: list[PageDrawing] = []
    for opened in open_pages(document):
        sheet, drawing = EMPTY_PAGE, EMPTY
        if opened is not None:
            page, glyphs, index = opened
            sheet = engine.read_sheet(page, glyphs, index, rulers)
            drawing = _read_drawing(page, glyphs, sheet)
        sheets.append(sheet)
        drawings.append(drawing)
    if all(sheet is EMPTY_PAGE for sheet in sheets):
        raise UnreadablePdfError("The PDF has no page that can be read.")
    pages = remove_headers([sheet.lines for sheet in sheets], [sheet.height for sheet in sheets])
    blocks, _ = write_pages(pages, sheets)
    columns = find_all_columns(pages, [sheet.width for sheet in sheets], measure_page(pages).size)
    return find_regions(blocks, drawings, columns)


def _read_drawing(page: pdfium.PdfPage, glyphs: Glyphs, sheet: PageContent) -> PageDrawing:
    shapes = read_shapes(page)
    _, inside = split_figures(glyphs.runs, shapes)
    return PageDrawing(
        width=sheet.width,
        height=sheet.height,
        drawn=gather_drawn(shapes),
        tables=[table.box for table in sheet.tables],
        words=enclose([*inside, *(run for line in sheet.labels for run in line.runs)]),
        lines=sheet.lines,
    )


class _OpenPages:
    def __init__(self, document: pdfium.PdfDocument) -> None:
        self._document = document
        self._fonts = Fonts()
        self._index = -1
        self._page: pdfium.PdfPage | None = None

    def get(self, index: int) -> pdfium.PdfPage:
        if self._page is None or index != self._index:
            if self._page is not None:
                self._page.close()
            self._page, _ = open_page(self._document, index, self._fonts)
            self._index = index
        return self._page


def _cut(pages: _OpenPages, region: Region, limits: FigureLimits) -> CutFigure:
    assert region.box is not None
    try:
        page = pages.get(region.page)
        box = _trim(page, region.box, limits)
    except (pdfium.PdfiumError, ValueError):  # pypdfium2 raises ValueError if a crop is empty
        return CutFigure(region, problem="The page cannot be drawn.")
    if box is None:
        return CutFigure(replace(region, box=None), problem="Nothing visible is next to the caption.")
    trimmed = replace(region, box=box)
    for image in _draw_smaller_and_smaller(page, box, limits):
        content = _encode(image)
        if len(content) <= limits.most_bytes:
            return CutFigure(trimmed, content, *image.size)
    return CutFigure(trimmed, problem=f"The image has more than {limits.most_bytes:,} bytes at any legible size.")


def _choose_scale(box: Box, limits: FigureLimits) -> float:
    longer = max(box.right - box.left, box.top - box.bottom)
    return min(limits.dpi / _POINTS_PER_INCH, limits.most_pixels / longer)


def _draw(page: pdfium.PdfPage, box: Box, scale: float) -> "Image":
    width, height = page.get_size()
    edges = (max(0.0, box.left), max(0.0, box.bottom), max(0.0, width - box.right), max(0.0, height - box.top))
    bitmap = page.render(scale=scale, crop=edges, force_bitmap_format=pdfium.raw.FPDFBitmap_BGR)
    image: Image = bitmap.to_pil().convert("RGB")
    bitmap.close()
    return image


def _trim(page: pdfium.PdfPage, box: Box, limits: FigureLimits) -> Box | None:
    image = _draw(page, box, _choose_scale(box, limits) / 2)
    ink = image.convert("L").point(lambda light: 255 if light < 255 - _MIN_INK else 0).getbbox()
    if ink is None:
        return None
    points = (box.right - box.left) / image.width, (box.top - box.bottom) / image.height
    return Box(
        max(box.left, box.left + ink[0] * points[0] - _MARGIN_POINTS),
        max(box.bottom, box.top - ink[3] * points[1] - _MARGIN_POINTS),
        min(box.right, box.left + ink[2] * points[0] + _MARGIN_POINTS),
        min(box.top, box.top - ink[1] * points[1] + _MARGIN_POINTS),
    )


def _draw_smaller_and_smaller(page: pdfium.PdfPage, box: Box, limits: FigureLimits) -> "Iterator[Image]":
    scale = _choose_scale(box, limits)
    longer = max(box.right - box.left, box.top - box.bottom)
    yield _draw(page, box, scale)
    while scale * _SHRINK * longer >= _MIN_SIDE_PIXELS:
        scale *= _SHRINK
        yield _draw(page, box, scale)


def _encode(image: "Image") -> bytes:
    written = BytesIO()
    image.save(written, "WEBP", quality=_QUALITY, method=_EFFORT)
    return written.getvalue()


def join_box(box: Box | None) -> Sequence[float | None]:
    """Return the edges of a box in the format of the table of figures: left, bottom, right, top, to 0.1 points."""
    return (None,) * 4 if box is None else [round(edge, 1) for edge in box]
