"""What every command shares: the app itself, and the options that several commands have."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter, Token
from cyclopts.validators import Number

from peercorpus.errors import PeercorpusError

app = App(
    name="peercorpus",
    suppress_keyboard_interrupt=False,
    help="The public peer-review record on OpenReview as a corpus that can be trusted.",
)


def _named(_: object, tokens: Sequence[Token]) -> Path:
    """A path that is named; an empty one would be the current folder."""
    (token,) = tokens
    if not token.value.strip():
        raise PeercorpusError(f"{token.keyword or 'An empty argument'} names no folder; for the current one, say '.'.")
    return Path(token.value)


Named = Parameter(converter=_named)
WorkspaceFolder = Annotated[
    Path, Parameter(name=["--workspace", "-w"], help="The folder that holds the corpus.", converter=_named)
]
AtLeastOne = Parameter(validator=Number(gte=1))
UrlV1 = Annotated[str | None, Parameter(help="Base URL of API v1.", env_var="PEERCORPUS_URL_V1")]
UrlV2 = Annotated[str | None, Parameter(help="Base URL of API v2.", env_var="PEERCORPUS_URL_V2")]
