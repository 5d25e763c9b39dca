"""How PDFs are read: the options that `convert` and `build` share."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import AtLeastOne
from peercorpus.cli.spreading import Address, Executor
from peercorpus.errors import EngineError
from peercorpus.stage import Options
from peercorpus.texts.engine import ENGINES, NOT_HEAVIER

if TYPE_CHECKING:
    from peercorpus.spread import Spread

ENGINE_HELP = f"What reads the PDFs: {', '.join(ENGINES)}; or an engine that another package adds."
HEAVIER_HELP = (
    f"What the engine 'auto' reads hard files with: {', '.join(name for name in ENGINES if name not in NOT_HEAVIER)};"
    " OCR, if none is named."
)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a user may say of how PDFs are read."""

    engine: Annotated[str, Parameter(help=ENGINE_HELP)] = Options().engine
    ocr: Annotated[
        Literal["off", "auto"],
        Parameter(help="auto: recognise pages without readable text from their image; needs the extra 'ocr'."),
    ] = "off"
    heavier: Annotated[str | None, Parameter(help=HEAVIER_HELP)] = None
    models: Annotated[str | None, Parameter(help="The folder of a heavier engine's models.")] = None
    engine_url: Annotated[
        str | None, Parameter(help="Of a vision endpoint; its key is read from PEERCORPUS_VISION_KEY.")
    ] = None
    engine_model: Annotated[str | None, Parameter(help="The vision endpoint's model.")] = None
    most_pages: Annotated[
        int | None, AtLeastOne, Parameter(help="Pages a run may send to a vision endpoint; 1,000, if not named.")
    ] = None
    most_tokens: Annotated[
        int | None, AtLeastOne, Parameter(help="Tokens a run may use there; no limit, if not named.")
    ] = None
    executor: Executor = "local"
    address: Address = None
    workers: Annotated[
        int | None, AtLeastOne, Parameter(help="Processes that read PDFs; one per core, if not named.")
    ] = None
    pdf_timeout_s: Annotated[float, Parameter(validator=Number(gt=0), help="Seconds a single PDF may take.")] = 60.0

    def settle(self, *, retry: bool = False) -> "tuple[Options, Spread]":
        """What is to be done and how it is spread; whatever cannot be is refused here, before any file is looked at.

        Raises:
            PeercorpusError: There is no such engine; it does not take an option that is set; or it cannot be spread so.
            MissingExtraError: A package is not installed.
        """
        from peercorpus.executors.choose import load_executor
        from peercorpus.texts.choose import choose_engine

        if self.models is not None and not (self.models and Path(self.models).is_dir()):
            raise EngineError(f"'{self.models}' is no folder; name the one that holds the engine's models.")
        options = Options(
            engine=self.engine,
            ocr=self.ocr,
            heavier=self.heavier,
            models=Path(self.models) if self.models else None,
            engine_url=self.engine_url,
            engine_model=self.engine_model,
            most_pages=self.most_pages,
            most_tokens=self.most_tokens,
            workers=self.workers,
            pdf_timeout_s=self.pdf_timeout_s,
            retry=retry,
        )
        chosen = choose_engine(options)
        counts_here = chosen.settings.url is not None
        return options, load_executor(self.executor, self.address, heavy=chosen.is_heavy, counts_here=counts_here)


DEFAULT_READING = Reading()
