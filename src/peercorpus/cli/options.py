"""Options that several commands share: PDF engine, executor, figures, venue ids."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.console import AtLeastOne, finite
from peercorpus.errors import EngineError
from peercorpus.execution.stage import Options
from peercorpus.execution.waits import PDF_TIMEOUT_S
from peercorpus.texts.engine import ENGINES, NOT_HEAVIER

if TYPE_CHECKING:
    from peercorpus.execution.executor import Executor

ExecutorName = Annotated[
    Literal["local", "ray"], Parameter(help="local: processes on this machine; ray: a cluster (needs the extra 'ray').")
]
Address = Annotated[str | None, Parameter(help="Address of the Ray cluster: HOST:PORT, or auto.")]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Spreading:
    """How work that needs a tokenizer or a model is distributed over processes or machines."""

    executor: ExecutorName = "local"
    address: Address = None
    workers: Annotated[int | None, AtLeastOne, Parameter(help="Number of processes. Default: one per core.")] = None

    def settle(self) -> "Executor":
        """Return the executor, without a memory limit for its workers.

        Raises:
            PeercorpusError: The executor does not exist or does not take an address.
            MissingExtraError: The executor's package is not installed.
        """
        from peercorpus.execution.executor import load_executor

        return cast("Executor", partial(load_executor(self.executor, self.address, heavy=True), workers=self.workers))


HERE = Spreading()

WorstGrade = Literal[
    "exact",
    "exact_attachment",
    "unrevised",
    "only_before_review",
    "unrevised_likely",
    "before_first_review",
    "stated",
    "unstated",
]
"""Worst grade of a text to accept; up to `only_before_review` they prove that it is what the reviewers read."""

ENGINE_HELP = f"Engine that reads the PDFs: {', '.join(ENGINES)}, or one that another package adds."
HEAVIER_HELP = (
    "With --engine auto: engine for pages that the default engine reads badly:"
    f" {', '.join(name for name in ENGINES if name not in NOT_HEAVIER)}. Default: OCR."
)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """How PDFs are read: engine, OCR, limits, and how the work is distributed."""

    engine: Annotated[str, Parameter(help=ENGINE_HELP)] = Options().engine
    ocr: Annotated[
        Literal["off", "auto"],
        Parameter(help="auto: use OCR for pages without readable text (needs the extra 'ocr')."),
    ] = "off"
    heavier: Annotated[str | None, Parameter(help=HEAVIER_HELP)] = None
    models: Annotated[str | None, Parameter(help="Folder with the models of a heavier engine.")] = None
    engine_url: Annotated[
        str | None, Parameter(help="URL of a vision endpoint. Its key is read from PEERCORPUS_VISION_KEY.")
    ] = None
    engine_model: Annotated[str | None, Parameter(help="Name of the model at the vision endpoint.")] = None
    max_pages: Annotated[
        int | None,
        AtLeastOne,
        Parameter(help="Maximum number of pages to send to a vision endpoint in one run. Default: 1,000."),
    ] = None
    executor: ExecutorName = "local"
    address: Address = None
    workers: Annotated[
        int | None, AtLeastOne, Parameter(help="Number of processes that read notes and PDFs. Default: one per core.")
    ] = None
    pdf_timeout_s: Annotated[
        float, finite(Number(gt=0)), Parameter(help="Time limit for a single PDF, in seconds.")
    ] = PDF_TIMEOUT_S

    def settle(self, *, figures: bool = False, retry: bool = False) -> "tuple[Options, Executor]":
        """Return the build options and the executor. Everything is checked here, before any file is read.

        Raises:
            EngineError: The engine does not exist, or does not take an option that is set.
            PeercorpusError: The work cannot be distributed as requested, or Pillow was built without WebP.
            MissingExtraError: A package is not installed.
        """
        from peercorpus.texts.engine import choose_executor

        if figures:
            from peercorpus.texts.figures import require_pillow

            require_pillow()

        if self.models is not None and not (self.models and Path(self.models).is_dir()):
            raise EngineError(f"--models must be a folder with the engine's models, got '{self.models}'.")
        options = Options(
            engine=self.engine,
            ocr=self.ocr,
            heavier=self.heavier,
            models=Path(self.models) if self.models else None,
            engine_url=self.engine_url,
            engine_model=self.engine_model,
            max_pages=self.max_pages,
            workers=self.workers,
            pdf_timeout_s=self.pdf_timeout_s,
            figures=figures,
            retry=retry,
        )
        return options, choose_executor(options, self.executor, self.address)


DEFAULT_READING = EngineOptions()


Figures = Annotated[bool, Parameter(negative=(), help="Cut figures and tables out of the PDFs as images.")]


VenueNames = Annotated[
    tuple[str, ...],
    Parameter(
        name="--venue",
        negative=(),
        show_default=False,
        help="Only this venue of the workspace: its id, the URL of its page, or a short name such as ICLR2024. May be"
        " repeated.",
    ),
]
"""Venues of a workspace."""


def read_venue_ids(names: Iterable[str], held: Iterable[str] = ()) -> list[str]:
    """Return the ids of venues by whatever names them, each once; see `venues.short_names`.

    Args:
        names: Ids, URLs of their pages, or short names.
        held: Venues of the workspace, which take precedence for short names.

    Raises:
        VenueNotFoundError: A short name names no venue, or several.
    """
    from peercorpus.venues.short_names import read_venue_id

    held = list(held)
    return list(dict.fromkeys(read_venue_id(name, held) for name in names))
