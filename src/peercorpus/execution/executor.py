"""Define the interface of executors, which run a function on many items in worker processes, and load one by name.

If the function times out, runs out of memory, crashes or raises on an item, the result is a `Failure`; for files,
`REASONS` gives the reason for which each is then set aside.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar, cast

from peercorpus.errors import MissingExtraError, PdfFault, PeercorpusError
from peercorpus.execution.stage import ProgressCallback
from peercorpus.records.enums import Reason

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
    """The result of an item whose function did not return.

    Attributes:
        detail: The reason in one sentence.
        fault: What is wrong with the file, if the function reported it; otherwise None.
        error: The exception that the function raised, for callers whose items must not fail; None if its process ended.
    """

    kind: FailureKind
    detail: str
    fault: PdfFault | None = None
    error: Exception | None = field(default=None, compare=False, repr=False)


class ItemQueue(Generic[ItemT]):
    """The items that wait for workers.

    After the iterator ends it is tried again, because each result may make further items possible.
    """

    def __init__(self, items: Iterable[ItemT]) -> None:
        self._items = iter(items)
        self._first: list[ItemT] = []

    def take(self, most: int) -> list[ItemT]:
        """Return the next items, at most as many as requested."""
        taken, self._first = self._first[: max(0, most)], self._first[max(0, most) :]
        return [*taken, *islice(self._items, max(0, most - len(taken)))]

    def put_back(self, items: Iterable[ItemT]) -> None:
        """Put items back at the front of the queue."""
        self._first = [*items, *self._first]


class Executor(Protocol):
    """Applies a function to items in worker processes; a process that dies does not affect other items."""

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
            function: Called for each item. It must be importable by name in another process; items and results must be
                picklable. If a process dies it is called again for the same item, so it must have no side effects.
            items: Consumed a few at a time, never all at once. After the iterator ends it is tried again after each
                result, as long as any item is in flight.
            timeout_s: Time limit for one item, in seconds.
            workers: Number of processes; None means one per core.
            in_order: Yield in the order of the items instead of the order of completion. The number of results that
                wait for a slow item is bounded.
        """
        ...


OutcomeT = TypeVar("OutcomeT")

REASONS: dict[PdfFault | FailureKind, Reason] = {
    PdfFault.NOT_HERE: Reason.FILE_MISSING,
    PdfFault.ALTERED: Reason.FILE_ALTERED,
    PdfFault.NOT_A_PDF: Reason.NOT_A_PDF,
    PdfFault.ENCRYPTED: Reason.PDF_ENCRYPTED,
    PdfFault.DAMAGED: Reason.PDF_DAMAGED,
    FailureKind.TIMEOUT: Reason.PDF_TIMEOUT,
    FailureKind.OUT_OF_MEMORY: Reason.PDF_OUT_OF_MEMORY,
    FailureKind.CRASH: Reason.PDF_CRASHED,
    FailureKind.ERROR: Reason.PDF_CRASHED,
}
"""Fault of a file, or how reading it failed → reason for which it is set aside."""
FILE_MISSING = (
    Reason.FILE_MISSING,
    "The file is not in the workspace; 'peercorpus harvest' fetches it again, then 'build --retry'.",
)
"""Reason and detail for setting aside a file that was fetched but is no longer in the workspace."""

TRANSIENT_REASONS = frozenset(
    {
        Reason.PDF_TIMEOUT,
        Reason.PDF_OUT_OF_MEMORY,
        Reason.PDF_CRASHED,
        Reason.FILE_MISSING,
        Reason.FILE_ALTERED,
    }
)
"""Reasons that may not apply in another run; `peercorpus build --retry` tries these files again."""


def failure_reason(failure: Failure) -> tuple[Reason, str]:
    """Return the reason and the detail for setting aside a file that could not be read."""
    return REASONS[failure.fault or failure.kind], failure.detail


def in_batches(outcomes: Iterator[OutcomeT], size: int) -> Iterator[list[OutcomeT]]:
    """Yield outcomes in lists of `size`; the last list may be shorter.

    >>> list(in_batches(iter("abc"), 2))
    [['a', 'b'], ['c']]
    """
    while batch := list(islice(outcomes, size)):
        yield batch


def report_progress(outcomes: Iterator[OutcomeT], total: int, report: ProgressCallback) -> Iterator[OutcomeT]:
    """Yield the outcomes unchanged, and report the progress before each."""
    for done, outcome in enumerate(outcomes, 1):
        report(done, total)
        yield outcome


EXECUTORS: Mapping[str, str] = MappingProxyType(
    {
        "local": "peercorpus.execution.local_processes:LocalExecutor",
        "ray": "peercorpus.execution.ray_cluster:RayExecutor",
    }
)
"""Name of an executor → its class, as `module:attribute`."""

REMOTE_EXECUTORS = frozenset({"ray"})
"""Executors that run on other machines and take an address."""


def load_executor(name: str, address: str | None = None, *, heavy: bool = False, counts_here: bool = False) -> Executor:
    """Create an executor by name.

    Args:
        name: One of `EXECUTORS`.
        address: Address of its cluster; None means the executor's own default.
        heavy: Whether workers have no memory limit, which engines with models need.
        counts_here: Whether the work counts against a budget in a file on this machine, as it does with an engine that
            uses an endpoint.

    Raises:
        PeercorpusError: The name is unknown; an address was given for an executor of this machine; or work with a local
            budget would run on other machines, each of which would spend the whole budget.
        MissingExtraError: The executor's package is not installed.
    """
    if name not in EXECUTORS:
        raise PeercorpusError(f"Unknown executor '{name}'; choose one of: {', '.join(sorted(EXECUTORS))}.")
    if address is not None and name not in REMOTE_EXECUTORS:
        raise PeercorpusError(f"The executor '{name}' runs on this machine; omit --address, or choose 'ray'.")
    if counts_here and name in REMOTE_EXECUTORS:
        raise PeercorpusError(
            "The budget for a vision endpoint is counted on this machine; omit --executor. The endpoint does the"
            " slow work in any case."
        )
    if name in REMOTE_EXECUTORS and find_spec(name) is None:
        raise MissingExtraError(name, "cluster")
    module, _, attribute = EXECUTORS[name].partition(":")
    executor_class = getattr(import_module(module), attribute)
    limits = {"memory_bytes": None} if heavy else {}
    return cast(Executor, executor_class(address, **limits) if name in REMOTE_EXECUTORS else executor_class(**limits))
