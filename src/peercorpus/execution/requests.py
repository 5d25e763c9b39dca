"""The requests for work on a workspace: what a harvest fetches, how PDFs are read, what a build makes, and where."""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal

from peercorpus.errors import PeercorpusError

RATE_LIMIT_WAIT_S = 7200.0
"""Longest single wait for OpenReview's rate limit, in seconds: its limits are by the hour."""
PDF_TIMEOUT_S = 60.0
"""Time limit for a single PDF, in seconds."""
STATEMENT_TIMEOUT_S = 60.0
"""Seconds after which an SQL statement is stopped whose whole result is asked for."""


def require_positive(option: str, number: float | None) -> None:
    """Require a finite number above 0, or None.

    Raises:
        PeercorpusError: It is something else.
    """
    if number is not None and not (isfinite(number) and number > 0):
        raise PeercorpusError(f"{option} must be a finite number, more than 0, got {number:g}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreading:
    """How work is distributed over processes or machines.

    Attributes:
        executor: local: processes on this machine; ray: a cluster (needs the extra 'cluster').
        address: Address of the Ray cluster: HOST:PORT, or auto. Default: RAY_ADDRESS, or without it a cluster of this
            machine alone.
        workers: Number of processes. Default: one per core. No row depends on it.

    Raises:
        PeercorpusError: A number is not positive.
    """

    executor: Literal["local", "ray"] = "local"
    address: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        require_positive("--workers", self.workers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRequest(Spreading):
    """How PDFs are read: engine, OCR, limits, and how the work is distributed.

    Attributes:
        engine: Engine that reads the PDFs: one of those in docs/engines.md, or one that another package adds.
        ocr: auto: use OCR for pages without readable text (needs the extra 'ocr').
        heavier: With --engine auto: engine for pages that the default engine reads badly. Default: OCR.
        models: Folder with the models of a heavier engine. Default: the choice of its library.
        engine_url: URL of a vision endpoint, up to '/v1'. Its key is read from PEERCORPUS_VISION_KEY.
        engine_model: Name of the model at the vision endpoint.
        max_pages: Maximum number of pages to send to a vision endpoint in one run. Default: 1,000.
        pdf_timeout_s: Time limit for a single PDF, in seconds.
        figures: Cut figures and tables out of the PDFs as images.
    """

    engine: str = "pdfium-layout"
    ocr: Literal["off", "auto"] = "off"
    heavier: str | None = None
    models: str | Path | None = None
    engine_url: str | None = None
    engine_model: str | None = None
    max_pages: int | None = None
    pdf_timeout_s: float = PDF_TIMEOUT_S
    figures: bool = False

    def __post_init__(self) -> None:
        Spreading.__post_init__(self)  # `super()` needs a class that slots=True has replaced.
        require_positive("--max-pages", self.max_pages)
        require_positive("--pdf-timeout-s", self.pdf_timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest(ReadingRequest):
    """What a build makes: the options of `peercorpus build`, and keyword arguments of `build` in Python.

    Stages that name a field have it in their content key. Figures and points are in none: they only determine whether
    their stages run.

    Attributes:
        points: Split reviews into single criticisms, each with the passages of the rebuttal that answer it, what the
            reviewer said then, and what changed in the paper: the table 9-points. Later builds keep it up to date only
            with this option.
        retry: Read PDFs again that took too long, crashed the reader or were missing, and repeat comparisons that
            failed.
    """

    points: bool = False
    retry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a harvest would fetch, and keyword arguments of `plan_harvest` in Python.

    Attributes:
        scope: Also harvest all venues of a published dataset, which 'peercorpus recipe' lists.
        limit: Only the first N submissions of each venue, list by list in the order of their ids.
        no_files: Leave out the PDFs.

    Raises:
        PeercorpusError: The limit is not positive.
    """

    scope: Literal["reviewbench", "re2"] | None = None
    limit: int | None = None
    no_files: bool = False

    def __post_init__(self) -> None:
        require_positive("--limit", self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class HarvestRequest(PlanRequest):
    """What a harvest fetches: the options of `peercorpus harvest`, and keyword arguments of `harvest` in Python.

    Attributes:
        refresh: List everything again, and retry files that were refused.
        share_budget: Continue although another harvest or another machine uses the same account, and share its request
            budget.
    """

    refresh: bool = False
    share_budget: bool = False


EVERYTHING = HarvestRequest()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedEngine(BuildRequest):
    """A request with the engine that a venue's texts state, so that it need not be loaded to name its version.

    Attributes:
        engine_version: Version of the engine.
    """

    engine_version: str
