"""Options that several commands share: where the work is done, and venue ids."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, cast

from cyclopts import Parameter

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
