"""What every command shares: the app itself, and the options that several commands have."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from peercorpus.stage import Options
from peercorpus.texts.engine import ENGINES

app = App(
    name="peercorpus",
    suppress_keyboard_interrupt=False,
    help="The public peer-review record on OpenReview as a corpus that can be trusted.",
)

WorkspaceFolder = Annotated[Path, Parameter(name=["--workspace", "-w"], help="The folder that holds the corpus.")]
AtLeastOne = Parameter(validator=Number(gte=1))
DEFAULT_ENGINE = Options().engine
if TYPE_CHECKING:
    EngineName = str
    HeavierName = str
else:
    HeavierName = Literal[*(name for name in ENGINES if name != "auto" and not name.startswith("pdfium"))]
    EngineName = Annotated[Literal[*ENGINES], Parameter(help="What reads the PDFs.")]
Ocr = Annotated[
    Literal["off", "auto"],
    Parameter(help="auto: recognise pages without readable text from their image; needs the extra 'ocr'."),
]
Heavier = Annotated[
    HeavierName | None,
    Parameter(help="What the engine 'auto' reads hard files with; OCR, if none is named.", show_default=False),
]
Models = Annotated[Path | None, Parameter(help="The folder of a heavier engine's models.", show_default=False)]
EngineUrl = Annotated[
    str | None, Parameter(help="Of a vision endpoint; its key is read from PEERCORPUS_VISION_KEY.", show_default=False)
]
EngineModel = Annotated[str | None, Parameter(help="The vision endpoint's model.", show_default=False)]
MostPages = Annotated[int, AtLeastOne, Parameter(help="Pages a run may send to a vision endpoint.")]
Executor = Annotated[
    Literal["local", "ray"], Parameter(help="ray: spread the work over a cluster; needs the extra 'ray'.")
]
Address = Annotated[str | None, Parameter(help="Of the Ray cluster (HOST:PORT, or auto).", show_default=False)]
UrlV1 = Annotated[str | None, Parameter(help="Base URL of API v1.", env_var="PEERCORPUS_URL_V1")]
UrlV2 = Annotated[str | None, Parameter(help="Base URL of API v2.", env_var="PEERCORPUS_URL_V2")]
