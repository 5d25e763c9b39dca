"""Printing to standard output, progress lines, and parameters that most commands share."""

import logging
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from cyclopts import Parameter, Token
from cyclopts.validators import Number

from peercorpus.cli.reporting import is_quiet, is_verbose
from peercorpus.cli.streams import discard, print_notice
from peercorpus.errors import PeercorpusError
from peercorpus.workspace.hub_datasets import SCHEME
from peercorpus.workspace.object_store import local_path

if TYPE_CHECKING:
    from peercorpus.execution.progress import Progress

_log = logging.getLogger("peercorpus.progress")


def convert_path(_: object, tokens: Sequence[Token]) -> Path:
    """Return the path; refuse an empty one, which would silently mean the current folder."""
    (token,) = tokens
    if not token.value.strip():
        raise PeercorpusError(f"{token.keyword or 'An argument'} is empty; name a folder, or '.' for the current one.")
    return local_path(token.value)


def convert_release(kind: object, tokens: Sequence[Token]) -> Path:
    """Return the folder of a release, or the name of a dataset on the Hugging Face Hub unchanged."""
    (token,) = tokens
    return Path(token.value) if token.value.startswith(SCHEME) else convert_path(kind, tokens)


Named = Parameter(converter=convert_path)
"""A path that must not be empty."""
NamedRelease = Parameter(converter=convert_release)
"""A folder or `hf:owner/name@revision`."""
WORKSPACE_VARIABLE = "PEERCORPUS_WORKSPACE"
"""Names the workspace of a command that needs one, unless the command line does."""
WorkspaceFolder = Annotated[
    Path,
    Parameter(
        name=["--workspace", "-w"],
        help="Folder of the workspace.",
        converter=convert_path,
        env_var=WORKSPACE_VARIABLE,
    ),
]
"""The workspace of a command that needs one, as an option, or as an argument if the command is about it."""
WorkspaceOrRelease = Annotated[WorkspaceFolder, Parameter(help="Folder of a workspace or of a release.")]
OptionalWorkspace = Annotated[
    Path | None,
    Parameter(name=["--workspace", "-w"], converter=convert_path),
]
"""The workspace of a command that does something else without one, so that only the command line may name it."""


def require_outside(target: Path, source: Path, option: str) -> None:
    """Check that output is not written into the workspace or release that is read.

    Raises:
        PeercorpusError: It does.
    """
    if target.resolve() == source.resolve():
        kind = "workspace" if (source / "raw.db").is_file() else "release"
        raise PeercorpusError(f"'{target}' is the {kind} itself, which is only read; name another place with {option}.")
    if target.resolve().is_relative_to(source.resolve()):
        raise PeercorpusError(f"'{target}' is inside '{source}', which is only read; name another place with {option}.")


AtLeastOne = Parameter(validator=Number(gte=1))


def _require_finite(_: object, value: object) -> None:
    """Refuse nan, which is within all bounds, and infinity."""
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("Must be a finite number.")


def finite(bounds: Number) -> Parameter:
    """Return the validation of a number that need not be whole."""
    return Parameter(validator=(_require_finite, bounds))


UrlV1 = Annotated[str | None, Parameter(help="Base URL of API v1.", env_var="PEERCORPUS_URL_V1")]
UrlV2 = Annotated[str | None, Parameter(help="Base URL of API v2.", env_var="PEERCORPUS_URL_V2")]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """URLs of OpenReview, and the token for it."""

    url_v1: UrlV1 = None
    url_v2: UrlV2 = None
    token_file: Annotated[Path | None, Parameter(help="File with a token, which nobody else may read (mode 0600).")] = (
        None
    )


OPENREVIEW = Connection()


def say(text: str) -> None:
    """Print a result to standard output; the command goes on if its reader, such as `head`, is gone.

    Raises:
        OSError: It cannot be written for another reason, such as a full disk.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        discard(sys.stdout)


class ProgressLines:
    """Progress on standard error: on a terminal one line that is rewritten, otherwise an occasional line."""

    def __init__(self) -> None:
        # Lines of a log between them would be written over.
        self._is_terminal = sys.stderr.isatty() and not is_verbose()
        self._last_at = time.monotonic()
        self._width = 0
        self._says_wait_at = float("inf")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_line()

    def _end_line(self) -> None:
        if self._width:
            print_notice("")
        self._width = 0

    def say(self, sentence: str) -> None:
        """Print a sentence about the progress on its own line."""
        _log.info("%s", sentence)
        if not is_quiet():
            self._end_line()
            print_notice(sentence)

    def warn(self, sentence: str) -> None:
        """Print a sentence that the user should know even where progress is not shown."""
        _log.info("%s", sentence)
        self._end_line()
        print_notice(sentence)

    def wait(self, sentence: str) -> None:
        """Print why the run is waiting: at once on a terminal, otherwise after 60 s and then every 10 minutes."""
        if is_quiet():
            return
        now = time.monotonic()
        self._says_wait_at = min(self._says_wait_at, now + 60)
        if self._is_terminal or now >= self._says_wait_at:
            self._says_wait_at = now + 600
            self._show(sentence)

    def show(self, progress: "Progress") -> None:
        """Show the progress of a step: every 0.1 s on a terminal, otherwise every 10 s, and at its end."""
        from peercorpus.cli.text import formatting

        self._says_wait_at = float("inf")
        is_over = progress.done == progress.total
        if is_over:
            _log.info("%s", formatting.progress_line(progress))
        if is_quiet():
            return
        patience_s = 0.1 if self._is_terminal else 10
        if is_over or time.monotonic() - self._last_at >= patience_s:
            self._show(formatting.progress_line(progress))

    def _show(self, line: str) -> None:
        self._last_at = time.monotonic()
        if not self._is_terminal:
            print_notice(line)
            return
        print_notice(f"\r{line:<{self._width}}", end="")
        self._width = len(line)
