"""Build the tables of a workspace from Python, as `peercorpus build` does."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from peercorpus.api.arguments import (
    list_venues,
    make_receivers,
    naming_parameters,
    read_optional_path,
    read_path,
    read_venues,
    refuse_unknown,
    require_one_of,
    require_positive,
    require_positive_whole,
    require_text,
)
from peercorpus.errors import EngineError
from peercorpus.execution.waits import PDF_TIMEOUT_S
from peercorpus.records.structured_text import StructuredText
from peercorpus.texts.text_json import read_pair

if TYPE_CHECKING:
    from peercorpus.execution.executor import Executor
    from peercorpus.execution.stage import Options
    from peercorpus.pipeline.build_venues import StepResult
    from peercorpus.pipeline.losses import SourceLoss


@dataclass(frozen=True, slots=True)
class BuildResult:
    """Result of a build, and the state of the tables after it.

    Attributes:
        folder: Folder of the workspace.
        steps: Every step, with whether it was already up to date.
        papers: Rows of the table of papers, of all venues of the workspace.
        reviews: Rows of the table of reviews.
        conversations: Rows of the table of conversations.
        losses: Sources most of whose records were set aside, with the reasons.
    """

    folder: Path
    steps: tuple["StepResult", ...]
    papers: int
    reviews: int
    conversations: int
    losses: tuple["SourceLoss", ...]


class BuildOptions(TypedDict, total=False):
    """Further keyword arguments of `peercorpus.build`.

    Attributes:
        heavier: With the engine "auto": engine for pages that the default engine reads badly; None means OCR.
        models: Folder with the models of a heavier engine; None leaves the choice to its library.
        engine_url: With the engine "vision": URL of the endpoint, up to `/v1`. Its key is read from the environment
            variable PEERCORPUS_VISION_KEY.
        engine_model: Name of the model at the endpoint.
        max_pages: Maximum number of pages to send there in one run, 1 or more; None means 1,000.
        executor: "local", the default, for processes on this machine; "ray" for a cluster.
        address: Address of the Ray cluster: "HOST:PORT" of its head, or "auto" on one of its machines; None means
            RAY_ADDRESS, or without it a cluster of this machine alone.
    """

    heavier: str | None
    models: str | Path | None
    engine_url: str | None
    engine_model: str | None
    max_pages: int | None
    executor: Literal["local", "ray"]
    address: str | None


def build(
    folder: str | Path,
    venue_ids: str | Iterable[str] = (),
    *,
    engine: str = "pdfium-layout",
    ocr: Literal["off", "auto"] = "off",
    figures: bool = False,
    points: bool = False,
    retry: bool = False,
    workers: int | None = None,
    pdf_timeout_s: float = PDF_TIMEOUT_S,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[BuildOptions],
) -> BuildResult:
    """Bring a workspace's tables up to date, as `peercorpus build` does; only what changed is rebuilt.

    Notes and PDFs are read in worker processes: a script must call this under `if __name__ == "__main__":`.

    Args:
        folder: Folder of the workspace.
        venue_ids: Venues to build; empty means all.
        engine: Engine that reads the PDFs; `peercorpus build --help` lists them.
        ocr: "auto" reads pages without readable text by OCR.
        figures: Whether to cut figures and tables out of the PDFs.
        points: Whether to split reviews into single criticisms.
        retry: Whether to read PDFs again that took too long or crashed the reader.
        workers: Number of processes, 1 or more; None means one per core.
        pdf_timeout_s: Time limit for a single PDF, in seconds.
        progress: Receives lines on how far each step is, such as `print`; None shows nothing.
        options: Settings of single engines (`heavier`, `models`, `engine_url`, `engine_model`, `max_pages`) and of the
            cluster (`executor`, `address`), see `api.build.BuildOptions`.

    Raises:
        WorkspaceError: The folder is not a workspace.
        TableError: A venue is not in the workspace.
        EngineError: The engine does not exist, or does not take an option that is set.
        MissingExtraError: A package is not installed.
        PeercorpusError: An argument is not valid, or `venues.toml` or `reminders.tsv` of the workspace is not.

    Example:
        >>> result = peercorpus.build("corpus")
        >>> result.papers, result.reviews, all(step.was_finished for step in result.steps)
        (12, 29, True)
    """
    from peercorpus.execution.stage import Options

    require_positive(workers=workers, pdf_timeout_s=pdf_timeout_s)
    require_one_of("ocr", ocr, ("off", "auto"))
    chosen = Options(engine=engine, ocr=ocr, retry=retry, workers=workers, pdf_timeout_s=pdf_timeout_s)
    chosen, spread = _settle(replace(chosen, figures=figures, points=points), options)
    return _build(folder, list_venues(venue_ids), chosen, spread, progress)


def _settle(chosen: "Options", options: BuildOptions) -> "tuple[Options, Executor]":
    """Return all options of a build, and its executor. Everything is checked here, before any file is read.

    Raises:
        TypeError: There is no such option.
        EngineError: The engine does not exist, or does not take an option that is set.
        PeercorpusError: A value is not valid, or the work cannot be distributed as requested.
        MissingExtraError: A package is not installed.
    """
    from peercorpus.texts.engine import choose_executor
    from peercorpus.texts.figures import require_pillow

    refuse_unknown("build", options, BuildOptions)
    require_text(**{name: options.get(name) for name in ("heavier", "engine_url", "engine_model", "address")})
    require_positive_whole(max_pages=options.get("max_pages"))
    chosen = replace(
        chosen,
        heavier=options.get("heavier"),
        models=_read_models(options.get("models")),
        engine_url=options.get("engine_url"),
        engine_model=options.get("engine_model"),
        max_pages=options.get("max_pages"),
    )
    executor = options.get("executor", "local")
    require_one_of("executor", executor, ("local", "ray"))
    with naming_parameters():
        spread = choose_executor(chosen, executor, options.get("address"))
    if chosen.figures:
        require_pillow()
    return chosen, spread


def _read_models(models: str | Path | None) -> Path | None:
    folder = read_optional_path(models, "models")
    if folder is not None and not folder.is_dir():
        raise EngineError(f"models must be a folder with the engine's models, got '{models}'.")
    return folder


def _build(
    folder: str | Path,
    venue_ids: list[str],
    options: "Options",
    spread: "Executor",
    progress: Callable[[str], None] | None,
) -> BuildResult:
    from peercorpus.pipeline.build import build as run_build
    from peercorpus.pipeline.losses import read_losses
    from peercorpus.workspace.workspace import open_workspace

    path = read_path(folder, "folder")
    with open_workspace(path) as opened:
        venue_ids = read_venues(venue_ids, opened.venues())
        steps = run_build(opened, venue_ids, options, make_receivers(progress)[1], spread)
        held = opened.venues()
        losses = read_losses(opened, venue_ids or held)
        papers, reviews, conversations = (
            sum(opened.tables.count(name, venue_id) for venue_id in held)
            for name in ("1-papers", "2-reviews", "6-conversations")
        )
    return BuildResult(path, tuple(steps), papers, reviews, conversations, tuple(losses))


def open_text(path: str | Path) -> StructuredText:
    """Open a text written by `peercorpus convert`, with its blocks and the references in its sentences.

    Args:
        path: `NAME.json` or `NAME.md`.

    Raises:
        PeercorpusError: The pair of files is not there or not whole, or has no blocks.

    Example:
        >>> text = peercorpus.open_text("texts/paper.json")
        >>> [block.kind.value for block in text.blocks[:2]]
        ['page_header', 'title']
    """
    return read_pair(read_path(path, "path", "file"))
