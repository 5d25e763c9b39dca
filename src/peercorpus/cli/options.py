"""What several commands share: options on where work is done and on venues, and a check that an extra is installed."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, cast

from cyclopts import Parameter

from peercorpus.errors import MissingExtraError
from peercorpus.execution.requests import Spreading

if TYPE_CHECKING:
    from peercorpus.execution.executor import Executor

HERE = Spreading()


def open_executor(spreading: Spreading) -> "Executor":
    """Return the executor for work with a tokenizer or a model, without a memory limit for its workers.

    Raises:
        PeercorpusError: The executor does not exist or does not take an address.
        MissingExtraError: The executor's package is not installed.
    """
    from peercorpus.execution.executor import load_executor

    executor = load_executor(spreading.executor, spreading.address, heavy=True)
    return cast("Executor", partial(executor, workers=spreading.workers))


VenueNames = Annotated[
    tuple[str, ...],
    Parameter(
        name="--venue",
        show_default=False,
        help="Only this venue of the workspace: its id, the URL of its page, or a short name such as ICLR2024. May be"
        " repeated.",
    ),
]
"""Venues of a workspace."""


def require_extra(extra: str, *packages: str, load: bool = False) -> None:
    """Check that packages which a command needs later are installed.

    Args:
        extra: The extra that installs them.
        packages: Their import names.
        load: Import them now: a package that threads import on demand may not find enough memory there.

    Raises:
        MissingExtraError: One is not.
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(package, extra)
        if load:
            import_module(package)


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Raise a `MissingExtraError` if a package is missing that the imports inside need.

    Args:
        extra: The extra that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        package = str(missing.name).partition(".")[0]
        if package == "peercorpus":
            raise
        raise MissingExtraError(package, extra) from None
