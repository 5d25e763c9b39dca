"""`auto`: the default engine for every file, and a heavier one for the pages that it reads badly, and for no others."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Self

import pypdfium2 as pdfium

from peercorpus.errors import MissingExtraError, UnreadablePdfError
from peercorpus.file_records import TextHeading
from peercorpus.pdf import open_pdf
from peercorpus.texts.engine import (
    SEPARATOR,
    UNKNOWN,
    Converted,
    Engine,
    join_pages,
    load_engine,
    measure_quality,
)
from peercorpus.texts.layout.glyphs import Fonts, Glyphs
from peercorpus.texts.layout.shapes import Shapes, read_shapes
from peercorpus.texts.page_images import some_pages
from peercorpus.texts.settings import DEFAULT_SETTINGS, EngineSettings
from peercorpus.texts.unreadable import covered, why_unreadable

OWN_VERSION = "1"
DEFAULT, OCR = "pdfium-layout", "rapidocr"
READS_ALL = frozenset({"docling", "marker", "mineru", "vision"})
"""Heavier engines that read whole files, with formulas as LaTeX; OCR is for single pages."""

MOST_UNKNOWN = 0.02
"""Share of a page's characters that stand for no letter; 373 pages of papers with a text layer had none."""
THIN = 700
"""Mean characters of a page, below which each drawn page with less is read again: 37 papers had 1,600 and more."""
SHORT = 300
"""Characters of a page below which it is looked at in any file; one in fifty has less, and is a page of figures."""
DRAWN = 0.2
"""Share of a page under images from which on it counts as drawn."""
LEAST_SURENESS = 0.5
"""Mean sureness of a file's formulas, below which half of their signs may be in the wrong place."""
FEWEST_FORMULAS = 5
"""Formulas that make such a mean worth something."""
MOST_PAGES = 0.5
"""Share of bad pages from which on the whole file is sent: what is common to its pages then tells more than ours do."""
LEAST_KEPT = 0.5
"""Readable characters that the heavier engine must give, over ours; with less it has lost something."""

EMPTY = "without text"
"""How engines name the problem of empty pages."""

NOTHING_DRAWN = Shapes()
Reasons = Mapping[int, str]
"""Why pages are read again, by their number, from 1."""


class Router:
    """Sends what the default engine reads badly to another one, and says which share that was."""

    name = "auto"

    def __init__(self, settings: EngineSettings = DEFAULT_SETTINGS) -> None:
        """Take the heavier engine; where none is named, OCR if it is installed.

        Raises:
            MissingExtraError: The engine that is named is not installed.
            EngineError: It cannot be used.
        """
        self._own, self._heavier = load_engine(DEFAULT, settings), _heavier(settings)
        parts = [self._own.version, *([self._heavier.name, self._heavier.version] if self._heavier else [])]
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
        self.version = f"{OWN_VERSION}+{self._heavier.name if self._heavier else 'alone'}+{digest}"

    @classmethod
    def with_settings(cls, settings: EngineSettings) -> Self:
        """The same, with another heavier engine."""
        return cls(settings)

    @property
    def _reads_all(self) -> bool:
        return self._heavier is not None and self._heavier.name in READS_ALL

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: It is broken, encrypted, or no PDF.
            EngineError: The heavier engine cannot work.
        """
        own = self._own.convert(pdf)
        reasons = find_bad_pages(pdf, own, reads_formulas=self._reads_all)
        if not reasons:
            return own
        if self._heavier is None:
            told = _told(reasons, "would be read by a heavier engine, but none is installed", own.pages)
            return replace(own, problems=(*own.problems, *told))
        whole = self._reads_all and len(reasons) > MOST_PAGES * own.pages
        asked = list(range(1, own.pages + 1)) if whole else sorted(reasons)
        try:
            other = self._heavier.convert(pdf if whole else some_pages(pdf, asked))
        except UnreadablePdfError as error:
            return replace(own, problems=(*own.problems, f"{self._heavier.name} cannot read it: {error}"))
        return _merged(own, other, dict.fromkeys(asked, "most other pages are") | dict(reasons), self._heavier.name)


def _heavier(settings: EngineSettings) -> Engine | None:
    if settings.heavier is not None:
        return load_engine(settings.heavier, settings)
    try:
        return load_engine(OCR, settings)
    except MissingExtraError:
        return None


def find_bad_pages(pdf: bytes, converted: Converted, *, reads_formulas: bool) -> Reasons:
    """The pages that are worth a heavier engine, and why.

    Args:
        pdf: The file.
        converted: What the default engine made of it.
        reads_formulas: Whether the heavier engine is worth it for formulas.
    """
    pages, quality = converted.markdown.split(SEPARATOR), converted.quality
    sureness = quality.formula_sureness if quality and quality.formulas >= FEWEST_FORMULAS else None
    if reads_formulas and sureness is not None and sureness < LEAST_SURENESS:
        return dict.fromkeys(range(1, len(pages) + 1), "unsure formulas")
    look_below = THIN if converted.characters < THIN * len(pages) else SHORT
    found: dict[int, str] = {}
    with open_pdf(pdf) as document:
        for number, text in enumerate(pages, 1):
            why = why_unreadable(text, NOTHING_DRAWN, 1.0)
            if len(UNKNOWN.findall(text)) > MOST_UNKNOWN * len(text):
                why = "unknown characters"
            elif why is None and len(text) < look_below:
                why = _why_short(document[number - 1], is_thin=look_below == THIN)
            if why is not None:
                found[number] = why
    return found


def _why_short(page: pdfium.PdfPage, *, is_thin: bool) -> str | None:
    """Why a page of few characters is worth a heavier engine; None where there is no more on it."""
    shapes = read_shapes(page)
    width, height = page.get_size()
    printed = " ".join(run.text for run in Glyphs(page.get_textpage(), Fonts()).runs)
    why = why_unreadable(printed, shapes, width * height)
    if why is None and is_thin and covered(shapes) > DRAWN * width * height:
        return "few characters"
    return why


def _merged(own: Converted, other: Converted, reasons: Reasons, name: str) -> Converted:
    """Our pages, with those of another engine in place of the bad ones, unless it has lost too much of them."""
    pages = own.markdown.split(SEPARATOR)
    asked = dict(zip(sorted(reasons), other.markdown.split(SEPARATOR), strict=True))
    taken = {
        number: text for number, text in asked.items() if _readable(text) > LEAST_KEPT * _readable(pages[number - 1])
    }
    lost = [str(number) for number in asked if number not in taken]
    numbers = sorted(reasons)
    headings = [heading for heading in own.headings if heading.page not in taken]
    headings += [
        TextHeading(heading.level, heading.title, numbers[heading.page - 1])
        for heading in other.headings
        if numbers[heading.page - 1] in taken
    ]
    texts = [taken.get(number, text) for number, text in enumerate(pages, 1)]
    problems = [problem for problem in own.problems if not problem.startswith(EMPTY)]
    problems += _told({number: reasons[number] for number in taken}, f"read by {name}", len(pages))
    empty = [str(number) for number, text in enumerate(texts, 1) if not text]
    problems += [f"{EMPTY}: page {', '.join(empty)}"] if empty else []
    problems += [f"own text, as {name} gives less: page {', '.join(lost)}"] if lost else []
    quality = measure_quality(texts, own.figures)
    if own.quality is not None and len(taken) < len(pages):
        quality = replace(quality, formulas=own.quality.formulas, formula_sureness=own.quality.formula_sureness)
    return replace(
        join_pages(texts, problems),
        headings=tuple(sorted(headings, key=lambda heading: heading.page)),
        figures=own.figures,
        quality=quality,
        ocr_pages=tuple(numbers[page - 1] for page in other.ocr_pages if numbers[page - 1] in taken),
        heavier_pages=tuple(sorted(taken)),
    )


def _readable(text: str) -> int:
    return sum(not sign.isspace() for sign in text) - len(UNKNOWN.findall(text))


def _told(reasons: Reasons, what: str, pages: int) -> list[str]:
    """Which pages, by reason, and the share that they are together."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for number, reason in sorted(reasons.items()):
        by_reason[reason].append(str(number))
    share = f"{len(reasons)} of {pages} pages"
    return [f"{what} ({reason}; {share} in all): page {', '.join(found)}" for reason, found in by_reason.items()]
