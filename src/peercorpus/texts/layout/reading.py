"""The default engine: the text layer of a PDF, put together again to the paper it was printed from."""

import gc
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files

import pypdfium2 as pdfium
from pypdfium2.version import PYPDFIUM_INFO

from peercorpus.errors import UnreadablePdfError
from peercorpus.file_records import TextHeading
from peercorpus.pdf import open_pdf
from peercorpus.texts.engine import Converted, join_pages, measure_quality
from peercorpus.texts.layout.asides import with_labels, with_notices_last
from peercorpus.texts.layout.blocks import Block, Body, Kind, measure
from peercorpus.texts.layout.columns import find_all, in_order
from peercorpus.texts.layout.figures import split_figures, split_labels
from peercorpus.texts.layout.formulas import Formula, find_formulas, inline, thin_bars
from peercorpus.texts.layout.glyphs import Fonts, Glyphs
from peercorpus.texts.layout.joining import Joiner
from peercorpus.texts.layout.lines import Line, read_lines
from peercorpus.texts.layout.listings import with_listings
from peercorpus.texts.layout.margins import Rulers, without_headers
from peercorpus.texts.layout.markdown import render
from peercorpus.texts.layout.paragraphs import Paragraphs, rejoin
from peercorpus.texts.layout.shapes import Box, read_shapes
from peercorpus.texts.layout.tables import Table, find_tables
from peercorpus.texts.layout.turning import make_upright

SOURCES = (*files(__package__).iterdir(), files("peercorpus").joinpath("pdf.py"))
DIGEST = hashlib.sha256(b"".join(sorted(one.read_bytes() for one in SOURCES if one.name.endswith(".py")))).hexdigest()
"""Of this engine's own code: another text can come of it only where that is another."""
TITLE = 1.15
"""Size of the title over that of the body, at least."""
MOSTLY = 3
"""How many times as many characters lie on their side as stand upright, on a page that is to be turned."""
FRONT = 12
"""Blocks among which the title is."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page as it was read.

    Attributes:
        lines: In the order of the page's content, without line numbers, tables, and the text of figures.
        width: In points; `height` likewise.
        figures: The text of figures, and what lies on its side.
        tables: In the order of the page's content.
        bars: Thin rules, as fractions and roots have them.
        rules: Every rule, as stand above and below algorithms.
    """

    lines: list[Line]
    width: float
    height: float
    figures: str
    tables: list[Table]
    bars: list[Box]
    rules: Sequence[Box] = ()


NO_SHEET = Sheet([], 0.0, 0.0, "", [], [])


class PdfiumLayout:
    """Reads the layout of a paper from the places and fonts of its characters."""

    name = "pdfium-layout"
    version = f"{DIGEST[:12]}+pypdfium2-{PYPDFIUM_INFO.version}"

    def convert(self, pdf: bytes) -> Converted:
        """Read one file; a page that cannot be read is empty and named among the problems."""
        rulers = Rulers()
        with _without_collector(), open_pdf(pdf) as document:
            return put_together([self.read_sheet(*opened, rulers) if opened else None for opened in _pages(document)])

    def read_sheet(self, page: pdfium.PdfPage, glyphs: Glyphs, index: int, rulers: Rulers) -> Sheet:
        """What is read of one page.

        Args:
            page: The page.
            glyphs: Its characters.
            index: Its number, from 0.
            rulers: Of the document so far.
        """
        shapes = read_shapes(page)
        runs, inside = split_figures(glyphs.runs, shapes)
        runs = rulers.without(runs)
        width, height = page.get_size()
        number = rulers.page_number(runs, index, height)
        tables = find_tables([run for run in runs if run is not number], shapes, glyphs)
        gone = {id(run) for table in tables for run in table.runs}
        lines, labels = split_labels(read_lines([run for run in runs if id(run) not in gone], index), shapes)
        inner = [inline(line.runs, line.base, line.size) for line in (*labels, *read_lines(inside, index))]
        figures = "\n".join([*inner, *glyphs.aside])
        return Sheet(lines, width, height, figures, tables, thin_bars(shapes), shapes.rules)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Without Python's search for cycles, a fortieth of the time: one paper leaves next to none behind."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _pages(document: pdfium.PdfDocument) -> Iterator[tuple[pdfium.PdfPage, Glyphs, int] | None]:
    """The pages one by one, each let go of before the next; None for one that cannot be read."""
    fonts = Fonts()
    for index in range(len(document)):
        try:
            page, glyphs = _open_page(document, index, fonts)
        except pdfium.PdfiumError:
            yield None
            continue
        yield page, glyphs, index
        page.close()


def _open_page(document: pdfium.PdfDocument, index: int, fonts: Fonts) -> tuple[pdfium.PdfPage, Glyphs]:
    """A page and its characters; turned, where most of them lie on their side, as a wide table does."""
    page = make_upright(document, index)
    glyphs = Glyphs(page.get_textpage(), fonts)
    upright = sum([len(run.text) for run in glyphs.runs])
    degrees, lying = max(glyphs.turned.items(), key=lambda item: item[1], default=(0, 0))
    if lying <= MOSTLY * upright:
        return page, glyphs
    page.close()
    page = make_upright(document, index, degrees)
    return page, Glyphs(page.get_textpage(), fonts)


def put_together(sheets: Sequence[Sheet | None]) -> Converted:
    """A paper from its pages; None stands for one that cannot be read.

    Raises:
        UnreadablePdfError: None of them can be.
    """
    if not any(sheets):
        raise UnreadablePdfError("The PDF has no page that can be read.")
    pages = [sheet or NO_SHEET for sheet in sheets]
    blocks, texts = _markdown(without_headers([page.lines for page in pages], [page.height for page in pages]), pages)
    figures = tuple(page.figures for page in pages if page.figures)
    return replace(
        join_pages(texts, _problems(sheets)),
        headings=tuple(
            TextHeading(block.level, str(block.markdown).lstrip("# "), block.page + 1)
            for block in blocks
            if block.kind is Kind.HEADING
        ),
        figures=figures,
        quality=measure_quality(texts, figures, [one.sureness for one in blocks if one.sureness is not None]),
    )


def _markdown(pages: Sequence[list[Line]], sheets: Sequence[Sheet]) -> tuple[list[Block], list[str]]:
    """All blocks, and the Markdown of each page; a paragraph that goes on over its end stands where it begins."""
    body = measure(pages)
    paragraphs = Paragraphs(body)
    joiner = Joiner(line for lines in pages for line in lines)
    all_columns = find_all(pages, [sheet.width for sheet in sheets], body.size)
    for number, (lines, sheet, columns) in enumerate(zip(pages, sheets, all_columns, strict=True)):
        found = find_formulas(in_order(lines, columns), sheet.bars, columns, body)
        items = _with_tables(map(_item, found), sheet.tables, number)
        paragraphs.read(with_listings(items, sheet.rules, columns, body, joiner), columns)
    blocks = with_notices_last(rejoin(with_labels(_with_title(paragraphs.blocks, body)), body), body)
    for block in blocks:
        if block.markdown is None:
            block.markdown = render(block, joiner)
    texts = [
        "\n\n".join(str(block.markdown) for block in blocks if block.page == number) for number in range(len(pages))
    ]
    return blocks, texts


def _item(found: Line | Formula) -> Line | Block:
    if isinstance(found, Line):
        return found
    return Block(Kind.FORMULA, found.page, found.lines, markdown=found.markdown, sureness=found.sureness)


def _with_tables(items: Iterable[Line | Block], tables: Sequence[Table], page: int) -> list[Line | Block]:
    """What a page holds, and its tables, each before what the page's content has after it."""
    found = list(items)
    for table in reversed(tables):
        behind = (at for at, one in enumerate(found) if _start(one) > table.start)
        found.insert(next(behind, len(found)), Block(Kind.TABLE, page, [], markdown=table.markdown))
    return found


def _start(item: Line | Block) -> int:
    """Where it begins in the content of the page; -1 for a table."""
    line = item if isinstance(item, Line) else next(iter(item.lines), None)
    return line.runs[0].start if line is not None else -1


def _with_title(blocks: Sequence[Block], body: Body) -> list[Block]:
    """The same blocks, the largest lines before the first heading made the title."""
    front = []
    for block in blocks[:FRONT]:
        if block.page > 0 or block.kind is Kind.HEADING:
            break
        front.append(block)
    size = max((line.size for block in front for line in block.lines), default=0.0)
    largest = [block for block in front if block.lines and block.lines[0].size > 0.97 * size]
    if size <= TITLE * body.size or not largest:
        return list(blocks)
    after = next((block for block in front[front.index(largest[-1]) + 1 :] if block.lines), None)
    if after is not None and _goes_on_in_capitals(largest[-1].lines[-1], after.lines[0]):
        largest.append(after)
    title = Block(Kind.TITLE, 0, [line for block in largest for line in block.lines])
    rest = [block for block in blocks if not any(block is one for one in largest)]
    return [title, *rest]


def _goes_on_in_capitals(line: Line, after: Line) -> bool:
    """Whether a title in small capitals goes on in a line that has no large one."""
    is_below = 0 < line.base - after.base < 1.6 * line.size and abs(line.left - after.left) < 0.5 * line.size
    return is_below and line.text.isupper() and after.text.isupper() and after.size > 0.7 * line.size


def _problems(sheets: Sequence[Sheet | None]) -> list[str]:
    unread = [number for number, sheet in enumerate(sheets, 1) if sheet is None]
    empty = [number for number, sheet in enumerate(sheets, 1) if sheet is not None and not sheet.lines]
    named = (("cannot be read", unread), ("without text", empty))
    return [f"{what}: page {', '.join(map(str, numbers))}" for what, numbers in named if numbers]
