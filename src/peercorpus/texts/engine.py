"""What a PDF engine is, and which there are.

A worker process imports this module and one engine; it therefore imports nothing heavy.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import EntryPoint
from types import MappingProxyType
from typing import Any, Protocol, cast

from peercorpus.errors import PdfFault, PeercorpusError, UnreadablePdfError
from peercorpus.file_records import TextHeading, TextQuality
from peercorpus.pdf import REPAIRED, count_readable_pages, read_or_repair, repair
from peercorpus.records import PAGE_BREAK
from peercorpus.store import Place, read_file
from peercorpus.texts.added import added_engines, make_added
from peercorpus.texts.settings import DEFAULT_SETTINGS, EngineSettings

SEPARATOR = PAGE_BREAK
"""What stands between two pages; no page may contain it."""

ENGINES: Mapping[str, str] = MappingProxyType(
    {
        "pdfium-layout": "peercorpus.texts.layout.reading:PdfiumLayout",
        "pdfium-text": "peercorpus.texts.pdfium_text:PdfiumText",
        "auto": "peercorpus.texts.router:Router",
        "rapidocr": "peercorpus.texts.scans:EveryPage",
        "docling": "peercorpus.texts.with_docling:Docling",
        "marker": "peercorpus.texts.with_marker:Marker",
        "mineru": "peercorpus.texts.with_mineru:Mineru",
        "nemotron": "peercorpus.texts.with_nemotron:Nemotron",
        "vision": "peercorpus.texts.vision:Vision",
    }
)
"""Name → where the class is; imported only when it is chosen."""

HEAVY = frozenset({"docling", "marker", "mineru", "nemotron"})
"""Those that load models, and need more memory than a paper does."""

NOT_HEAVIER = frozenset({"auto", "pdfium-layout", "pdfium-text"})
"""Those that `auto` cannot send hard files to."""

OPTIONS = ("ocr", "heavier", "models", "engine_url", "engine_model", "most_pages", "most_tokens")
"""What only some engines take, by its name in `stage.Options`."""

TAKES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "pdfium-layout": frozenset({"ocr"}),
        "auto": frozenset({"ocr", "heavier"}),
        "docling": frozenset({"models"}),
        "nemotron": frozenset({"models"}),
        "vision": frozenset({"engine_url", "engine_model", "most_pages", "most_tokens"}),
    }
)
"""Name → the options it takes; `auto` takes those of its heavier engine as well, engines not named here take none."""

WITH_OCR: Mapping[str, str] = MappingProxyType({"pdfium-layout": "peercorpus.texts.scans:LayoutWithOcr"})
"""The same, where pages without readable text are to be recognised from their image."""

UNREAD = "cannot be read"
"""How the problem begins that names pages which cannot be read."""

RULE = re.compile(r"^(?=[ \t]*---[ \t]*$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Converted:
    """One PDF as Markdown.

    Attributes:
        markdown: Pages joined by `SEPARATOR`.
        pages: Number of pages.
        characters: Characters of all pages, separators not counted; 0 where the file holds no text.
        problems: What the engine could not do, in words.
        headings: In the order of the text; empty where the engine tells none.
        figures: The text inside figures, one entry for each page that has any; it is not in the Markdown.
        quality: None where the engine does not tell it.
        ocr_pages: Pages whose text was recognised from their image, from 1.
        heavier_pages: Pages that a router had read by a heavier engine, from 1.
    """

    markdown: str
    pages: int
    characters: int
    problems: tuple[str, ...]
    headings: tuple[TextHeading, ...] = ()
    figures: tuple[str, ...] = ()
    quality: TextQuality | None = None
    ocr_pages: tuple[int, ...] = ()
    heavier_pages: tuple[int, ...] = ()


class Engine(Protocol):
    """Turns one PDF into Markdown; made without arguments, in the process that uses it.

    One of another package may also have `takes`, the names of `OPTIONS` that it takes, and `is_heavy`, whether it loads
    models.

    Attributes:
        name: The name in `ENGINES`, or of its entry point.
        version: Changes whenever the same file would give another text.
    """

    name: str
    version: str

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: It is broken, encrypted, or no PDF.
        """
        ...


def join_pages(pages: Sequence[str], problems: Sequence[str] = ()) -> Converted:
    r"""Pages as one text that splits into the same pages again: a line that is a rule is escaped.

    >>> join_pages(["One.\n\n---\n\nStill one.", "Two."]).markdown.split(SEPARATOR)
    ['One.\n\n\\---\n\nStill one.', 'Two.']
    """
    escaped = [RULE.sub(r"\\", page) for page in pages]
    return Converted(SEPARATOR.join(escaped), len(pages), sum(map(len, escaped)), tuple(problems))


def without_pages(markdown: str) -> str:
    """The same text as one page."""
    return markdown.replace(SEPARATOR, "\n\n")


UNKNOWN = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0b-\x1f\x7f]")
"""What stands for no known letter: U+FFFD, private use, control codes."""


def measure_quality(pages: Sequence[str], figures: Sequence[str] = (), sureness: Sequence[float] = ()) -> TextQuality:
    """The quality of a text.

    Args:
        pages: The text of each.
        figures: The text inside figures.
        sureness: Of each displayed formula, on [0, 1].
    """
    characters = sum(map(len, pages))
    unknown = sum(len(UNKNOWN.findall(page)) for page in pages)
    return TextQuality(
        unknown_characters=unknown / characters if characters else 0.0,
        empty_pages=sum(not page.strip() for page in pages),
        figure_characters=sum(map(len, figures)),
        formulas=len(sureness),
        formula_sureness=sum(sureness) / len(sureness) if sureness else None,
    )


def load_engine(name: str, settings: EngineSettings = DEFAULT_SETTINGS) -> Engine:
    """Make the engine of this name.

    Args:
        name: One of `ENGINES`, or of an engine that another package adds.
        settings: Given to an engine that has a class method `with_settings`.

    Raises:
        PeercorpusError: There is none.
        MissingExtraError: It is not installed.
        EngineError: It cannot be used with these settings.
    """

    def make(engine: Any) -> Any:  # noqa: ANN401 -- a class of whatever package
        with_settings = getattr(engine, "with_settings", None)
        return engine() if with_settings is None or settings == DEFAULT_SETTINGS else with_settings(settings)

    if name not in ENGINES:
        return cast(Engine, make_added(_added(name), make, OPTIONS))
    where = WITH_OCR.get(name, ENGINES[name]) if settings.ocr == "auto" else ENGINES[name]
    module, _, attribute = where.partition(":")
    return cast(Engine, make(getattr(import_module(module), attribute)))


def _added(name: str) -> EntryPoint:
    added = added_engines(ENGINES)
    if name not in added:
        known = ", ".join(sorted({*ENGINES, *added}))
        raise PeercorpusError(f"There is no PDF engine '{name}'; choose one of: {known}.")
    return added[name]


@dataclass(frozen=True, slots=True)
class Job:
    """One file to read with one engine; small enough to send to another process."""

    sha256: str
    path: Place
    engine: str
    settings: EngineSettings = DEFAULT_SETTINGS


def convert_file(job: Job) -> Converted:
    """Read one file, in whatever process this is called; a damaged one has a second chance.

    Raises:
        UnreadablePdfError: The file is not there, or the engine cannot read it.
        StoreError: The store that holds it is out of order.
    """
    try:
        pdf = read_file(job.path)
    except OSError as error:
        raise UnreadablePdfError(f"The file cannot be opened: {error.strerror}.", PdfFault.NOT_HERE) from None
    return _convert(load_engine(job.engine, job.settings), pdf)


def _convert(engine: Engine, pdf: bytes) -> Converted:
    """The text of one file; of the file put together anew, where only that can be read, or more pages of it."""
    converted, repairs = read_or_repair(engine.convert, pdf)
    if not repairs and any(problem.startswith(UNREAD) for problem in converted.problems):
        whole = repair(pdf)
        if whole is not None and count_readable_pages(whole) > count_readable_pages(pdf):
            again = engine.convert(whole)
            lost = converted.pages - again.pages
            left_out = (f"{UNREAD}: {lost} of {converted.pages} pages, which are left out",) if lost > 0 else ()
            converted, repairs = again, (REPAIRED, *left_out)
    return replace(converted, problems=(*repairs, *converted.problems)) if repairs else converted
