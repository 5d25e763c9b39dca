"""Convert papers with the default engine: layout analysis on top of pdfium.

Each page is read into lines, tables and figure text (`PageContent`); `assemble` then removes running headers, finds
formulas, listings, headings and paragraphs across pages, and writes Markdown.
"""

import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby

import pypdfium2 as pdfium

from peercorpus.errors import UnreadablePdfError
from peercorpus.pdf.document import open_pdf
from peercorpus.pdf.glyphs import Fonts, Glyphs, TextRun
from peercorpus.pdf.pdfium import make_upright
from peercorpus.pdf.shapes import Box, read_shapes
from peercorpus.records.blocks import TextBlock
from peercorpus.records.documents import TextHeading
from peercorpus.texts.engine import Converted, join_pages, measure_quality
from peercorpus.texts.layout.blocks import Block, BlockKind, Body, TextLine, measure_page, read_lines
from peercorpus.texts.layout.columns import find_all_columns, reading_order
from peercorpus.texts.layout.drawings import split_drawings
from peercorpus.texts.layout.figures import move_labels_behind_captions, move_notices_last, split_figures, split_labels
from peercorpus.texts.layout.formulas.detection import join_broken
from peercorpus.texts.layout.formulas.display import find_formulas, thin_bars
from peercorpus.texts.layout.formulas.inline import inline
from peercorpus.texts.layout.hyphenation import Dehyphenator
from peercorpus.texts.layout.listings import replace_listings, replace_plain_listings
from peercorpus.texts.layout.margins import LineNumberColumns, remove_headers
from peercorpus.texts.layout.paragraphs import BULLET, Paragraphs, rejoin
from peercorpus.texts.layout.references import find_unheaded_references
from peercorpus.texts.layout.tables.find_tables import Table, find_tables
from peercorpus.texts.layout.text_blocks import describe_blocks, make_headers
from peercorpus.texts.layout.version import ENGINE_VERSION, NAME

_MAX_HEADING_MARKS = 6
_MARKDOWN_START = re.compile(r"[#>|]|[-+*] ")
"""Start of a text that Markdown would read as a heading, a quotation, a table or a list."""
_RUN_IN_ENDS = (".", ":", "?")
"""Endings of a run-in heading at the start of a paragraph."""
_RUN_IN_END = re.compile(r"[.:?](?!\w)")
"""The same at the start of the text after it."""
_MIN_RUN_IN_CHARACTERS = 3
_MAX_RUN_IN_CHARACTERS = 120


def _join_lines(lines: Sequence[TextLine], joiner: Dehyphenator) -> str:
    text = ""
    is_cut = False
    for number, line in enumerate(lines):
        markdown = inline(line.runs, line.base, line.size)
        text = joiner.join(text, markdown, is_cut=is_cut) if number else markdown
        is_cut = line.is_cut
    return join_broken(text) + ("-" if is_cut else "")


def _write_paragraph(lines: Sequence[TextLine], joiner: Dehyphenator) -> str:
    first = lines[0]
    end = _count_run_in_runs(first.runs) if first.runs[0].font.is_bold else 0
    if not end:
        return _join_lines(lines, joiner)
    head = join_broken(inline(first.runs[:end], first.base, first.size))
    lines_behind = [replace(first, runs=first.runs[end:], _text=None)] if end < len(first.runs) else []
    text = _join_lines([*lines_behind, *lines[1:]], joiner)
    mark = re.match(r"[.:?]", text) if head[-1] not in _RUN_IN_ENDS else None
    if mark:
        head = head + mark[0]
        text = text[1:].lstrip()
    return f"**{head}** {text}"


def _count_run_in_runs(runs: Sequence[TextRun]) -> int:
    end = next((number for number, run in enumerate(runs) if not run.font.is_bold), len(runs))
    text = "".join(run.text for run in runs[:end])
    after = runs[end].text if end < len(runs) else ""
    is_in_word = end < len(runs) and not runs[end].has_space and after[:1].isalnum()
    is_ended = (text.endswith(_RUN_IN_ENDS) and not is_in_word) or _RUN_IN_END.match(after)
    is_more = len(after) > 1 or end + 1 < len(runs)
    return (
        end
        if is_ended
        and is_more
        and _MIN_RUN_IN_CHARACTERS <= len(text) <= _MAX_RUN_IN_CHARACTERS
        and any(map(str.isalpha, text))
        else 0
    )


def block_markdown(block: Block, joiner: Dehyphenator) -> str:
    """Return the Markdown of one block."""
    if block.markdown is not None:
        return block.markdown
    text = (
        _join_lines(block.lines, joiner)
        if block.kind is not BlockKind.PARAGRAPH
        else _write_paragraph(block.lines, joiner)
    )
    if block.kind is BlockKind.TITLE:
        return f"# {text}"
    if block.kind is BlockKind.HEADING:
        return f"{'#' * min(_MAX_HEADING_MARKS, block.level + 1)} {text}"
    if block.kind is BlockKind.ITEM:
        return f"- {BULLET.sub('', text, count=1)}" if BULLET.match(text) else text
    return f"\\{text}" if _MARKDOWN_START.match(text) else text


_MIN_TITLE_SIZE_RATIO = 1.15
_MIN_TURNED_RATIO = 3
"""Minimum ratio of rotated to upright characters on a rotated page."""
_FRONT_BLOCKS = 12
"""Number of blocks that are searched for the title."""


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of one page before it is assembled.

    Attributes:
        lines: In the order of the page content, without line numbers, tables and figure text.
        width: Page width, in points.
        height: Page height, in points.
        figures: Text of figures, and rotated text.
        tables: In the order of the page content.
        bars: Thin rules, such as those of fractions and roots.
        rules: All horizontal rules, such as those above and below algorithms.
        labels: Lines of labels in and above figures, which are not part of `lines`.
    """

    lines: list[TextLine]
    width: float
    height: float
    figures: str
    tables: list[Table]
    bars: list[Box]
    rules: Sequence[Box] = ()
    labels: Sequence[TextLine] = ()


EMPTY_PAGE = PageContent(lines=[], width=0.0, height=0.0, figures="", tables=[], bars=[])


class PdfiumLayout:
    """Engine that reads the layout of a paper from the positions and fonts of its glyphs."""

    name = NAME
    version = ENGINE_VERSION

    def convert(self, pdf: bytes) -> Converted:
        """Convert one file; a page that cannot be read is left empty and named in the problems."""
        rulers = LineNumberColumns()
        with without_garbage_collection(), open_pdf(pdf) as document:
            return assemble([self.read_sheet(*opened, rulers) if opened else None for opened in open_pages(document)])

    def read_sheet(self, page: pdfium.PdfPage, glyphs: Glyphs, index: int, rulers: LineNumberColumns) -> PageContent:
        """Read one page."""
        shapes = read_shapes(page)
        runs, inside = split_figures(glyphs.runs, shapes)
        runs = rulers.without(runs)
        width, height = page.get_size()
        number = rulers.page_number(runs, index, height)
        tables = find_tables([run for run in runs if run is not number], shapes, glyphs)
        gone = {id(run) for table in tables for run in table.runs}
        lines, labels = split_labels(read_lines([run for run in runs if id(run) not in gone], index), shapes)
        lines, drawn = split_drawings(lines, shapes, [table.box for table in tables])
        labels += drawn
        inner = [inline(line.runs, line.base, line.size) for line in (*labels, *read_lines(inside, index))]
        figures = "\n".join([*inner, *glyphs.aside])
        return PageContent(
            lines=lines,
            width=width,
            height=height,
            figures=figures,
            tables=tables,
            bars=thin_bars(shapes),
            rules=shapes.rules,
            labels=labels,
        )


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Suspend garbage collection, which takes 2.5 % of the time; converting a paper creates hardly any cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def open_pages(document: pdfium.PdfDocument) -> Iterator[tuple[pdfium.PdfPage, Glyphs, int] | None]:
    """Yield the pages, each closed before the next is opened; None for a page that cannot be read."""
    fonts = Fonts()
    for index in range(len(document)):
        try:
            page, glyphs = open_page(document, index, fonts)
        except pdfium.PdfiumError:
            yield None
            continue
        yield page, glyphs, index
        page.close()


def open_page(document: pdfium.PdfDocument, index: int, fonts: Fonts) -> tuple[pdfium.PdfPage, Glyphs]:
    """Open a page and read its glyphs; rotate it if most of them are rotated, like those of a wide table."""
    page = make_upright(document, index)
    glyphs = Glyphs(page.get_textpage(), fonts)
    upright = sum([len(run.text) for run in glyphs.runs])
    degrees, lying = max(glyphs.turned.items(), key=lambda item: item[1], default=(0, 0))
    if lying <= _MIN_TURNED_RATIO * upright:
        return page, glyphs
    page.close()
    page = make_upright(document, index, degrees)
    return page, Glyphs(page.get_textpage(), fonts)


def assemble(sheets: Sequence[PageContent | None]) -> Converted:
    """Build the text of a paper from its pages, None for an unreadable one; raises UnreadablePdfError if all are."""
    if not any(sheets):
        raise UnreadablePdfError("The PDF has no page that can be read.")
    pages = [sheet or EMPTY_PAGE for sheet in sheets]
    kept = remove_headers([page.lines for page in pages], [page.height for page in pages])
    blocks, texts = write_pages(kept, pages)
    figures = tuple(page.figures for page in pages if page.figures)
    unread = [str(number) for number, sheet in enumerate(sheets, 1) if sheet is None]
    empty = [str(number) for number, sheet in enumerate(sheets, 1) if sheet is not None and not sheet.lines]
    problems = [
        f"{what}: page {', '.join(numbers)}"
        for what, numbers in (("cannot be read", unread), ("without text", empty))
        if numbers
    ]
    return replace(
        join_pages(texts, problems),
        headings=tuple(
            TextHeading(block.level, str(block.markdown).lstrip("# "), block.page + 1)
            for block in blocks
            if block.kind is BlockKind.HEADING
        ),
        figures=figures,
        quality=measure_quality(texts, figures, [item.sureness for item in blocks if item.sureness is not None]),
        blocks=tuple(describe_blocks(blocks, list(map(_find_headers, pages, kept)))),
    )


def _find_headers(page: PageContent, kept: Sequence[TextLine]) -> list[TextBlock]:
    left = set(map(id, kept))
    return make_headers([line for line in page.lines if id(line) not in left], page.height)


def write_pages(pages: Sequence[list[TextLine]], sheets: Sequence[PageContent]) -> tuple[list[Block], list[str]]:
    """Return all blocks, and the Markdown of each page; a paragraph across pages belongs to its first page."""
    body = measure_page(pages)
    joiner = Dehyphenator(line for lines in pages for line in lines)
    all_columns = find_all_columns(pages, [sheet.width for sheet in sheets], body.size)
    items_by_page: list[list[TextLine | Block]] = []
    for number, (lines, sheet, columns) in enumerate(zip(pages, sheets, all_columns, strict=True)):
        items: list[TextLine | Block] = []
        ordered = replace_plain_listings(reading_order(lines, columns), sheet.rules, columns, body, joiner)
        for _, group in groupby(ordered, type):
            part = [*group]
            plain = [item for item in part if isinstance(item, TextLine)]
            items += find_formulas(plain, sheet.bars, columns, body) if plain else part
        items = _insert_tables(items, sheet.tables, number)
        items_by_page.append(replace_listings(items, sheet.rules, columns, body, joiner))
    paragraphs = Paragraphs(body, find_unheaded_references(items_by_page, all_columns))
    for items, columns in zip(items_by_page, all_columns, strict=True):
        paragraphs.read(items, columns)
    blocks = move_notices_last(rejoin(move_labels_behind_captions(_mark_title(paragraphs.blocks, body)), body), body)
    for block in blocks:
        if block.markdown is None:
            block.markdown = block_markdown(block, joiner)
    texts = [
        "\n\n".join(str(block.markdown) for block in blocks if block.page == number) for number in range(len(pages))
    ]
    return blocks, texts


def _insert_tables(items: Iterable[TextLine | Block], tables: Sequence[Table], page: int) -> list[TextLine | Block]:
    inserted = list(items)
    for table in reversed(tables):
        behind = (
            index
            for index, item in enumerate(inserted)
            for line in ([item] if isinstance(item, TextLine) else item.lines[:1])
            if line.runs[0].start > table.start
        )
        block = Block(BlockKind.TABLE, page, [], markdown=table.markdown, box=table.box, cells=table.cells)
        inserted.insert(next(behind, len(inserted)), block)
    return inserted


def _mark_title(blocks: Sequence[Block], body: Body) -> list[Block]:
    front = []
    for block in blocks[:_FRONT_BLOCKS]:
        if block.page > 0 or block.kind is BlockKind.HEADING:
            break
        front.append(block)
    size = max((line.size for block in front for line in block.lines), default=0.0)
    largest = [block for block in front if block.lines and block.lines[0].size > 0.97 * size]
    if size <= _MIN_TITLE_SIZE_RATIO * body.size or not largest:
        return list(blocks)
    after = next((block for block in front[front.index(largest[-1]) + 1 :] if block.lines), None)
    if after is not None and _continues_in_capitals(largest[-1].lines[-1], after.lines[0]):
        largest.append(after)
    title = Block(BlockKind.TITLE, 0, [line for block in largest for line in block.lines])
    others = [block for block in blocks if not any(block is other for other in largest)]
    return [title, *others]


def _continues_in_capitals(line: TextLine, after: TextLine) -> bool:
    is_below = 0 < line.base - after.base < 1.6 * line.size and abs(line.left - after.left) < 0.5 * line.size
    return is_below and line.text.isupper() and after.text.isupper() and after.size > 0.7 * line.size
