"""Define the interface of PDF engines, the available engines, and the settings that they support.

An engine is a class with `name`, `version` and `convert(pdf)`; see the protocol `Engine`. `choose_engine` creates the
one named in the options, `convert_file` reads one file with it in any process. `contract.check_engine` tests an engine.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint
from math import fsum
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Protocol, cast
from uuid import uuid4

import msgspec

from peercorpus.errors import EngineError, PeercorpusError
from peercorpus.execution.executor import Executor, Failure, failure_reason, load_executor
from peercorpus.execution.requests import ReadingRequest
from peercorpus.pdf.repair import REPAIRED, read_or_repair, repair
from peercorpus.records.blocks import TextBlock
from peercorpus.records.documents import PAGE_BREAK, TextHeading, TextQuality
from peercorpus.records.enums import Reason
from peercorpus.texts import engines
from peercorpus.texts.plugin_engines import find_added_engines, make_added
from peercorpus.workspace.object_store import Location, read_pdf

KEY_VARIABLE = "PEERCORPUS_VISION_KEY"
"""Environment variable with the key of a vision endpoint, the only place it is read from."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Settings of PDF engines; each engine uses those that concern it.

    Attributes:
        ocr: "off", or "auto" to recognise pages without readable text from their image.
        heavier: Engine to which `auto` sends pages that the default engine reads badly; None means OCR if installed.
        models: Folder with the models of a heavier engine; None leaves it to the library, which may download them.
        url: URL of a vision endpoint, up to and including `/v1`.
        model: Name of the model at that endpoint.
        max_pages: Maximum pages that a run sends to the endpoint.
        answers: File that stores the endpoint's answers and the spending; None keeps them in memory.
        run: Id of the run for which pages and tokens are counted.
        attempts: Maximum number of requests for one page, including the first.
        first_wait_s: Seconds before the second request; the wait doubles each time.
        timeout_s: Time limit for one answer, in seconds.
    """

    ocr: str = "off"
    heavier: str | None = None
    models: Path | None = None
    url: str | None = None
    model: str | None = None
    max_pages: int = 1_000
    answers: Path | None = None
    run: str = ""
    attempts: int = 5
    first_wait_s: float = 1.0
    timeout_s: float = 120.0


DEFAULT_SETTINGS = EngineSettings()


def make_settings(options: ReadingRequest, answers: Path | None = None) -> EngineSettings:
    """Return the engine settings of a build or a conversion.

    Raises:
        EngineError: The engine is `vision` and its address or model is missing.
    """
    if "vision" in {options.engine, options.heavier} and not (options.engine_url and options.engine_model):
        raise EngineError(
            "The vision engine needs --engine-url, the address of an endpoint up to '/v1', and --engine-model."
        )
    models = None if options.models is None else Path(options.models)
    settings = EngineSettings(options.ocr, options.heavier, models)
    if options.engine_url is None and options.engine_model is None:
        return settings
    return replace(
        settings,
        url=options.engine_url,
        model=options.engine_model,
        max_pages=settings.max_pages if options.max_pages is None else options.max_pages,
        answers=answers,
        run=uuid4().hex,
    )


SEPARATOR = PAGE_BREAK
"""Separator between two pages; no page may contain it."""

OPTIONS = ("ocr", "heavier", "models", "engine_url", "engine_model", "max_pages")
"""Options that only some engines support, by their names in `ReadingRequest`."""


class _OwnEngines(Mapping[str, Any]):
    """The engines of this package by name: each is `ENGINE` of its module in `engines`, imported when it is chosen."""

    def __init__(self) -> None:
        self._modules = {found.name.replace("_", "-"): found.name for found in iter_modules(engines.__path__)}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 -- a class with the optional attributes of `Engine`
        return import_module(f"{engines.__name__}.{self._modules[name]}").ENGINE

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


ENGINES: Mapping[str, Any] = _OwnEngines()

UNREAD = "cannot be read"
"""Start of the problem that names unreadable pages."""

RULE = re.compile(r"^(?=[ \t]*---[ \t]*$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Converted:
    """One PDF as Markdown.

    Attributes:
        markdown: Pages joined by `SEPARATOR`.
        pages: Number of pages.
        characters: Characters of all pages without separators; 0 if the file has no text.
        problems: Descriptions of anything the engine could not do.
        headings: Headings in the order of the text; empty if the engine reports none.
        figures: Text inside figures, which is not in the Markdown; one entry for each page with any.
        quality: Measures of the text; None if the engine does not report them.
        ocr_pages: Numbers, from 1, of the pages recognised from their image.
        heavier_pages: Numbers, from 1, of the pages read by `auto`'s heavier engine.
        blocks: The Markdown block by block; None if the engine reports no blocks.
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
    blocks: tuple[TextBlock, ...] | None = None

    def __reduce__(self) -> tuple[Callable[[bytes], "Converted"], tuple[bytes]]:
        """Pickle as MessagePack, because pickling the blocks one by one takes five times as long."""
        return partial(msgspec.msgpack.decode, type=Converted), (msgspec.msgpack.encode(self),)


class Engine(Protocol):
    """Turns PDFs into Markdown.

    An engine is created without arguments in the process that uses it, or by its class method `with_settings` if it has
    one. It may also have `takes`, the names of the supported `OPTIONS` (`auto` supports those of its heavier engine
    too); `is_heavy`, whether it loads models and so needs much more memory; and `reads_hard`, False if `auto` cannot
    use it for files that the default engine reads badly.

    Attributes:
        name: Its name in `ENGINES`, or the name of its entry point.
        version: Changes whenever the same file would yield a different text.
    """

    name: str
    version: str

    def convert(self, pdf: bytes) -> Converted:
        """Read one file; raises UnreadablePdfError if it is damaged, encrypted, or not a PDF."""
        ...


def escape_rules(markdown: str) -> str:
    r"""Return the Markdown with a backslash before each line `---`, which would look like a page separator."""
    return RULE.sub(r"\\", markdown) if "---" in markdown else markdown


def join_pages(pages: Sequence[str], problems: Sequence[str] = ()) -> Converted:
    r"""Join pages into a text that splits into the same pages again; a line `---` inside a page is escaped.

    >>> join_pages(["One.\n\n---\n\nStill one.", "Two."]).markdown.split(SEPARATOR)
    ['One.\n\n\\---\n\nStill one.', 'Two.']
    """
    escaped = list(map(escape_rules, pages))
    return Converted(
        markdown=SEPARATOR.join(escaped), pages=len(pages), characters=sum(map(len, escaped)), problems=tuple(problems)
    )


def without_pages(markdown: str) -> str:
    """Return the Markdown with blank lines in place of page separators."""
    return markdown.replace(SEPARATOR, "\n\n")


UNKNOWN = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0b-\x1f\x7f]")
"""A character that represents no known letter: U+FFFD, private use, control codes."""


def measure_quality(pages: Sequence[str], figures: Sequence[str] = (), sureness: Sequence[float] = ()) -> TextQuality:
    """Measure the quality of a text; `sureness` is the confidence in each displayed formula, on [0, 1]."""
    characters = sum(map(len, pages))
    unknown = sum(len(UNKNOWN.findall(page)) for page in pages)
    return TextQuality(
        unknown_characters=unknown / characters if characters else 0.0,
        empty_pages=sum(not page.strip() for page in pages),
        figure_characters=sum(map(len, figures)),
        formulas=len(sureness),
        formula_sureness=fsum(sureness) / len(sureness)
        if sureness
        else None,  # fsum is the same in every version of Python.
    )


def load_engine(name: str, settings: EngineSettings = DEFAULT_SETTINGS) -> Engine:
    """Create the engine of this name.

    Raises:
        PeercorpusError: There is no engine of this name.
        MissingExtraError: The engine is not installed.
        EngineError: The engine cannot be used with these settings.
    """

    def make(engine: Any) -> Any:  # noqa: ANN401 -- a class of any package
        with_settings = getattr(engine, "with_settings", None)
        return engine() if with_settings is None or settings == DEFAULT_SETTINGS else with_settings(settings)

    if name not in ENGINES:
        return cast(Engine, make_added(_find_added(name), make, OPTIONS))
    return cast(Engine, make(ENGINES[name]))


def _find_added(name: str) -> EntryPoint:
    added = find_added_engines(ENGINES)
    if name not in added:
        names = ", ".join(sorted({*ENGINES, *added}))
        raise PeercorpusError(f"There is no PDF engine '{name}'; choose one of: {names}.")
    return added[name]


@dataclass(frozen=True, slots=True)
class EngineJob:
    """One file to read with one engine; contains the path, not the content, so it is cheap to send to a process."""

    sha256: str
    path: Location
    engine: str
    settings: EngineSettings = DEFAULT_SETTINGS


def convert_file(job: EngineJob) -> Converted:
    """Read one file; a damaged one is repaired and read again if that helps.

    Raises:
        UnreadablePdfError: The file is missing or altered, or the engine cannot read it.
        StoreError: The object store with the file cannot be reached.
    """
    pdf = read_pdf(job.path, job.sha256)
    return _convert(load_engine(job.engine, job.settings), pdf)


_END_BYTES = 1_024
"""A whole file has `%%EOF` within this many bytes of its end (ISO 32000-1, Annex H.3, note 18)."""


def _convert(engine: Engine, pdf: bytes) -> Converted:
    """Read a file, or its repaired form if only that can be read or has more text."""
    converted, repairs = read_or_repair(engine.convert, pdf)
    if not repairs and _may_lack_text(converted, pdf):
        from peercorpus.pdf.document import count_characters

        repaired = repair(pdf)
        if repaired is not None and count_characters(repaired.pdf) > count_characters(pdf):
            converted_again = engine.convert(repaired.pdf)
            lost = converted.pages - converted_again.pages
            left_out = (f"{UNREAD}: {lost} of {converted.pages} pages, which are left out",) if lost > 0 else ()
            converted = converted_again
            repairs = (REPAIRED, *(repaired.problems or left_out))
    return replace(converted, problems=(*repairs, *converted.problems)) if repairs else converted


def _may_lack_text(converted: Converted, pdf: bytes) -> bool:
    """Return whether pages cannot be read, or lack text in a truncated file."""
    is_cut = b"%%EOF" not in pdf[-_END_BYTES:]
    return any(problem.startswith((UNREAD, "without text") if is_cut else UNREAD) for problem in converted.problems)


DEFAULTS = {field.name: field.default for field in fields(ReadingRequest)}


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The engine named in the options; `is_heavy` if it loads models and so may use all available memory."""

    engine: Engine
    settings: EngineSettings
    is_heavy: bool


def choose_engine(options: ReadingRequest, answers: Path | None = None) -> EngineChoice:
    """Create the engine named in the options.

    Raises:
        PeercorpusError: There is no engine of this name, or two packages add one.
        MissingExtraError: The engine is not installed.
        EngineError: The engine does not support an option that is set, or cannot be used with it.
    """
    find_added_engines(ENGINES)  # refuses two engines with the same name, whichever engine is chosen
    if not getattr(ENGINES.get(options.heavier or ""), "reads_hard", True):
        raise EngineError(
            f"'{options.heavier}' cannot be the heavier engine, because it does not read difficult files; name"
            " another with --heavier."
        )
    settings = make_settings(options, answers)
    names = [name for name in (options.engine, options.heavier) if name is not None]
    chosen = [ENGINES[name] if name in ENGINES else load_engine(name, settings) for name in names]
    _require_accepted(options, {option for engine in chosen for option in getattr(engine, "takes", ())})
    is_heavy = any(getattr(engine, "is_heavy", False) for engine in chosen)
    return EngineChoice(load_engine(options.engine, settings), settings, is_heavy)


def _require_accepted(options: ReadingRequest, accepted: set[str]) -> None:
    for option in OPTIONS:
        if option not in accepted and getattr(options, option) != DEFAULTS[option]:
            flag = f"--{option.replace('_', '-')}"
            takers = " or ".join(
                f"'{name}'" for name, engine in ENGINES.items() if option in getattr(engine, "takes", ())
            )
            raise EngineError(
                f"The engine '{options.engine}' does not support {flag}; leave it out, or choose {takers}."
            )


DAMAGE = (REPAIRED, UNREAD)
"""Starts of the problems that report a damaged file."""


def explain_missing_text(result: Converted | Failure) -> tuple[Reason, str] | None:
    """Return why reading a file yielded no text, as reason and sentence; None if it yielded text."""
    if isinstance(result, Failure):
        return failure_reason(result)
    if result.characters == 0 and any(problem.startswith(DAMAGE) for problem in result.problems):
        return Reason.PDF_DAMAGED, f"The PDF is damaged: none of its {result.pages} pages gives text."
    if result.characters == 0:
        return Reason.PDF_WITHOUT_TEXT, f"None of its {result.pages} pages holds text; they may be images."
    return None


def choose_executor(request: ReadingRequest) -> Executor:
    """Return the executor that reads PDFs, after checking its engine and before any file is read.

    Raises:
        EngineError: The engine does not exist, or does not support an option that is set.
        PeercorpusError: The work cannot be distributed as requested, or Pillow was built without WebP.
        MissingExtraError: A package is not installed.
    """
    if request.figures:
        from peercorpus.texts.figures import require_pillow

        require_pillow()
    if request.models is not None and not (str(request.models) and Path(request.models).is_dir()):
        raise EngineError(f"--models must be a folder with the engine's models, got '{request.models}'.")
    chosen = choose_engine(request)
    return load_executor(
        request.executor, request.address, heavy=chosen.is_heavy, counts_here=chosen.settings.url is not None
    )
