"""Route pages that the default engine reads badly to a heavier engine: the engine `auto`."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Self

import pypdfium2 as pdfium

from peercorpus.errors import MissingExtraError, UnreadablePdfError
from peercorpus.pdf.document import extract_pages, open_pdf
from peercorpus.pdf.glyphs import Fonts, Glyphs
from peercorpus.pdf.shapes import Shapes, read_shapes
from peercorpus.records.blocks import TextBlock
from peercorpus.records.documents import TextHeading
from peercorpus.records.enums import BlockKind
from peercorpus.texts.engine import (
    DEFAULT_SETTINGS,
    SEPARATOR,
    UNKNOWN,
    Converted,
    Engine,
    EngineSettings,
    join_pages,
    load_engine,
    measure_quality,
)
from peercorpus.texts.page_quality import explain_unreadable, measure_covered_area, read_characters


def split_blocks(converted: Converted) -> list[list[TextBlock]]:
    """Return the blocks of each page, with offsets from the start of the page; without blocks, each page is one."""
    pages: list[list[TextBlock]] = []
    start = 0
    for text in converted.markdown.split(SEPARATOR):
        end = start + len(text)
        if converted.blocks is None:
            pages.append([TextBlock(0, BlockKind.UNDIVIDED, 0, len(text))] if text else [])
        else:
            on_page = (block for block in converted.blocks if start <= block.start <= end)
            pages.append([replace(block, start=block.start - start, end=block.end - start) for block in on_page])
        start = end + len(SEPARATOR)
    return pages


def join_blocks(texts: Iterable[str], pages: Iterable[Sequence[TextBlock]]) -> tuple[TextBlock, ...]:
    """Return the blocks of a whole text, renumbered.

    Args:
        texts: The text of each page.
        pages: The blocks of each page, with offsets from its start.
    """
    joined: list[TextBlock] = []
    start = 0
    for text, blocks in zip(texts, pages, strict=True):
        ids = {block.block_id: number for number, block in enumerate(blocks, len(joined))}
        joined += [
            replace(
                block,
                block_id=ids[block.block_id],
                start=block.start + start,
                end=block.end + start,
                describes=None if block.describes is None else ids.get(block.describes),
            )
            for block in blocks
        ]
        start += len(text) + len(SEPARATOR)
    return tuple(joined)


def renumber_pages(blocks: Iterable[TextBlock], numbers: Mapping[int, int]) -> list[TextBlock]:
    """Return blocks with new page numbers in their boxes, as needed after extracting pages of a file."""
    return [
        replace(block, boxes=tuple(replace(box, page=numbers[box.page]) for box in block.boxes)) for block in blocks
    ]


OWN_VERSION = "1"
DEFAULT = "pdfium-layout"
OCR = "rapidocr"
READS_ALL = frozenset({"docling", "vision"})
"""Heavier engines that read whole files, with formulas as LaTeX; OCR engines read single pages."""

MAX_UNKNOWN_SHARE = 0.02
"""Share of characters representing no letter above which a page is bad; 373 pages of papers had none."""
MIN_MEAN_CHARACTERS = 700
"""Mean characters per page below which every drawn page with fewer is read again; 37 papers had 1,600 or more."""
MIN_PAGE_CHARACTERS = 300
"""Characters below which a page is examined in any file; one page in fifty has fewer, usually with figures."""
MIN_DRAWN_SHARE = 0.2
"""Share of a page under images above which it counts as drawn."""
MIN_SURENESS = 0.5
"""Mean sureness of a file's formulas below which about half of them may be wrong."""
MIN_FORMULAS = 5
"""Minimum number of formulas for that mean to be meaningful."""
MAX_BAD_SHARE = 0.5
"""Share of bad pages above which the whole file is sent, so that the engine sees the common features of its pages."""
MIN_KEPT_SHARE = 0.5
"""Minimum ratio of the heavier engine's readable characters to ours; below it, that engine has lost text."""

EMPTY = "without text"
"""Start of the problem that names empty pages."""

NO_SHAPES = Shapes()
ReasonsByPage = Mapping[int, str]
"""Page number, from 1 → reason for reading the page again."""


class AutoEngine:
    """Reads files with the default engine, and bad pages again with a heavier one; the problems name these pages."""

    name = "auto"
    takes = frozenset({"ocr", "heavier"})
    reads_hard = False

    def __init__(self, settings: EngineSettings = DEFAULT_SETTINGS) -> None:
        """Load the heavier engine; if none is named, OCR if installed.

        Raises:
            MissingExtraError: The named engine is not installed.
            EngineError: The named engine cannot be used.
        """
        self._own = load_engine(DEFAULT, settings)
        self._heavier = _load_heavier(settings)
        parts = [self._own.version, *([self._heavier.name, self._heavier.version] if self._heavier else [])]
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
        self.version = f"{OWN_VERSION}+{self._heavier.name if self._heavier else 'alone'}+{digest}"

    @classmethod
    def with_settings(cls, settings: EngineSettings) -> Self:
        """Create an engine with these settings."""
        return cls(settings)

    @property
    def _reads_all(self) -> bool:
        return self._heavier is not None and self._heavier.name in READS_ALL

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: The file is damaged, encrypted, or not a PDF.
            EngineError: The heavier engine cannot work.
        """
        own = self._own.convert(pdf)
        reasons = find_bad_pages(pdf, own, reads_formulas=self._reads_all)
        if not reasons:
            return own
        if self._heavier is None:
            problems = _describe_reasons(reasons, "would be read by a heavier engine, but none is installed", own.pages)
            return replace(own, problems=(*own.problems, *problems))
        is_whole = self._reads_all and len(reasons) > MAX_BAD_SHARE * own.pages
        asked = list(range(1, own.pages + 1)) if is_whole else sorted(reasons)
        try:
            other = self._heavier.convert(pdf if is_whole else extract_pages(pdf, asked))
        except UnreadablePdfError as error:
            return replace(own, problems=(*own.problems, f"{self._heavier.name} cannot read it: {error}"))
        return _merge(own, other, dict.fromkeys(asked, "most other pages are") | dict(reasons), self._heavier.name)


def _load_heavier(settings: EngineSettings) -> Engine | None:
    if settings.heavier is not None:
        return load_engine(settings.heavier, settings)
    try:
        return load_engine(OCR, settings)
    except MissingExtraError:
        return None


def find_bad_pages(pdf: bytes, converted: Converted, *, reads_formulas: bool) -> ReasonsByPage:
    """Return the pages that a heavier engine should read, with the reasons.

    Args:
        pdf: Content of the file.
        converted: Result of the default engine.
        reads_formulas: Whether the heavier engine reads formulas, so that uncertain ones are a reason.
    """
    pages = converted.markdown.split(SEPARATOR)
    quality = converted.quality
    sureness = quality.formula_sureness if quality and quality.formulas >= MIN_FORMULAS else None
    if reads_formulas and sureness is not None and sureness < MIN_SURENESS:
        return dict.fromkeys(range(1, len(pages) + 1), "unsure formulas")
    look_below = MIN_MEAN_CHARACTERS if converted.characters < MIN_MEAN_CHARACTERS * len(pages) else MIN_PAGE_CHARACTERS
    reasons: dict[int, str] = {}
    with open_pdf(pdf) as document:
        for number, text in enumerate(pages, 1):
            why = explain_unreadable(text, NO_SHAPES, 1.0)
            if len(UNKNOWN.findall(text)) > MAX_UNKNOWN_SHARE * len(text):
                why = "unknown characters"
            elif why is None and len(text) < look_below:
                why = _explain_short(document[number - 1], is_thin=look_below == MIN_MEAN_CHARACTERS)
            if why is not None:
                reasons[number] = why
    return reasons


def _explain_short(page: pdfium.PdfPage, *, is_thin: bool) -> str | None:
    """Return why a page with few characters should be read again; None if nothing else is on it."""
    shapes = read_shapes(page)
    width, height = page.get_size()
    printed = read_characters(Glyphs(page.get_textpage(), Fonts()).runs)
    why = explain_unreadable(printed, shapes, width * height)
    if why is None and is_thin and measure_covered_area(shapes) > MIN_DRAWN_SHARE * width * height:
        return "few characters"
    return why


def _merge(own: Converted, other: Converted, reasons: ReasonsByPage, name: str) -> Converted:
    """Return our pages, with bad ones replaced by the heavier engine's unless that one has lost text."""
    pages = own.markdown.split(SEPARATOR)
    asked = dict(zip(sorted(reasons), other.markdown.split(SEPARATOR), strict=True))
    replaced = {
        number: text
        for number, text in asked.items()
        if _count_readable(text) > MIN_KEPT_SHARE * _count_readable(pages[number - 1])
    }
    lost = [str(number) for number in asked if number not in replaced]
    numbers = sorted(reasons)
    headings = [heading for heading in own.headings if heading.page not in replaced]
    headings += [
        TextHeading(heading.level, heading.title, numbers[heading.page - 1])
        for heading in other.headings
        if numbers[heading.page - 1] in replaced
    ]
    texts = [replaced.get(number, text) for number, text in enumerate(pages, 1)]
    problems = [problem for problem in own.problems if not problem.startswith(EMPTY)]
    problems += _describe_reasons({number: reasons[number] for number in replaced}, f"read by {name}", len(pages))
    empty = [str(number) for number, text in enumerate(texts, 1) if not text]
    problems += [f"{EMPTY}: page {', '.join(empty)}"] if empty else []
    problems += [f"own text, as {name} gives less: page {', '.join(lost)}"] if lost else []
    quality = measure_quality(texts, own.figures)
    if own.quality is not None and len(replaced) < len(pages):
        quality = replace(quality, formulas=own.quality.formulas, formula_sureness=own.quality.formula_sureness)
    return replace(
        join_pages(texts, problems),
        headings=tuple(sorted(headings, key=lambda heading: heading.page)),
        figures=own.figures,
        quality=quality,
        ocr_pages=tuple(numbers[page - 1] for page in other.ocr_pages if numbers[page - 1] in replaced),
        heavier_pages=tuple(sorted(replaced)),
        blocks=_merge_blocks(own, other, numbers, texts, replaced),
    )


def _merge_blocks(
    own: Converted, other: Converted, numbers: Sequence[int], texts: Sequence[str], replaced: Collection[int]
) -> tuple[TextBlock, ...]:
    """Return the blocks of our pages and of the replaced ones; a page of an engine without blocks is one block.

    Args:
        own: Our text.
        other: The text of the heavier engine.
        numbers: The pages that it read, numbered from 1.
        texts: The text of each page.
        replaced: The pages taken from it.
    """
    pages = dict(enumerate(split_blocks(own), 1))
    of_file = dict(enumerate(numbers, 1))
    for number, blocks in zip(numbers, split_blocks(other), strict=True):
        if number in replaced:
            pages[number] = renumber_pages(blocks, of_file)
    return join_blocks(texts, pages.values())


def _count_readable(text: str) -> int:
    return sum(not character.isspace() for character in text) - len(UNKNOWN.findall(text))


def _describe_reasons(reasons: ReasonsByPage, what: str, pages: int) -> list[str]:
    """Return one problem for each reason, with its pages and their share of all pages."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for number, reason in sorted(reasons.items()):
        by_reason[reason].append(str(number))
    share = f"{len(reasons)} of {pages} pages"
    return [f"{what} ({reason}; {share} in all): page {', '.join(numbers)}" for reason, numbers in by_reason.items()]


ENGINE = AutoEngine
