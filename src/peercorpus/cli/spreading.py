"""How work is spread: the options that several commands share."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, cast

from cyclopts import Parameter

from peercorpus.cli.app import AtLeastOne

if TYPE_CHECKING:
    from peercorpus.spread import Spread

Executor = Annotated[
    Literal["local", "ray"], Parameter(help="ray: spread the work over a cluster; needs the extra 'ray'.")
]
Address = Annotated[str | None, Parameter(help="Of the Ray cluster (HOST:PORT, or auto).")]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Spreading:
    """What a user may say of how work is spread that needs a tokenizer or a model."""

    executor: Executor = "local"
    address: Address = None
    workers: Annotated[int | None, AtLeastOne, Parameter(help="Processes; one per core, if not named.")] = None

    def settle(self) -> "Spread":
        """What spreads it, without a limit of memory.

        Raises:
            PeercorpusError: It cannot be spread so.
            MissingExtraError: A package is not installed.
        """
        from peercorpus.executors.choose import load_executor

        return cast("Spread", partial(load_executor(self.executor, self.address, heavy=True), workers=self.workers))


HERE = Spreading()
