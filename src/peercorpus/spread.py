"""How a function is spread over many items in isolated processes; what comes back where one of them fails.

Stages that do heavy work per file are given a `Spread`; `executors` holds those that exist.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

from peercorpus.errors import PdfFault

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class FailureKind(StrEnum):
    """How an item failed."""

    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    CRASH = "crash"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Failure:
    """What comes back for an item whose function did not return.

    Attributes:
        kind: It took too long, or too much memory, or its process died, or it raised.
        detail: One sentence for a person.
        fault: What is wrong with the file, where the function says so itself.
    """

    kind: FailureKind
    detail: str
    fault: PdfFault | None = None


class Spread(Protocol):
    """Applies a function to every item, each in a process that may die without harm to the others."""

    def __call__(
        self,
        function: Callable[[ItemT], ResultT],
        items: Iterable[ItemT],
        *,
        timeout_s: float,
        workers: int | None = None,
        in_order: bool = False,
    ) -> Iterator[tuple[ItemT, ResultT | Failure]]:
        """Yield every item once, with its result or its failure.

        Args:
            function: Importable by name in another process, as its items and results are picklable. Where a process
                dies it is called again for the same item, so it must give the same and change nothing.
            items: Taken a few at a time, never all at once.
            timeout_s: Seconds one item may take.
            workers: Processes at a time; None means one per core.
            in_order: Whether they come in the order of the items, instead of that in which they are done; no more of
                them wait for a slow one than are held anyway.
        """
        ...
