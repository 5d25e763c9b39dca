"""What every command shares: the app itself, and the options that several commands have."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

app = App(
    name="peercorpus",
    suppress_keyboard_interrupt=False,
    help="The public peer-review record on OpenReview as a corpus that can be trusted.",
)

WorkspaceFolder = Annotated[Path, Parameter(name=["--workspace", "-w"], help="The folder that holds the corpus.")]
AtLeastOne = Parameter(validator=Number(gte=1))
UrlV1 = Annotated[str | None, Parameter(help="Base URL of API v1.", env_var="PEERCORPUS_URL_V1")]
UrlV2 = Annotated[str | None, Parameter(help="Base URL of API v2.", env_var="PEERCORPUS_URL_V2")]
