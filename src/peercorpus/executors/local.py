"""Isolated processes on this machine: a file that hangs, crashes or eats memory costs itself and nothing else."""

import logging
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import resource_tracker
from typing import TypeVar

from pebble import ProcessExpired, ProcessPool

from peercorpus.errors import PeercorpusError
from peercorpus.spread import Failure, FailureKind

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

FEW_ITEMS = 8
"""Fewer items than this are done sooner by one process than by starting several."""

MEMORY_BYTES = 4 << 30
"""Address space of a worker: far above what a paper needs (0.1 GB), below what brings a machine down."""

logger = logging.getLogger(__name__)


def _limit_memory(limit_bytes: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, hard))


def _failure(error: BaseException, timeout_s: float) -> Failure:
    """What an exception of the pool says about its item.

    A `PeercorpusError` is already a sentence; any other exception is named by its type.
    """
    if isinstance(error, TimeoutError):
        return Failure(FailureKind.TIMEOUT, f"It was stopped after {timeout_s:g} seconds.")
    if isinstance(error, ProcessExpired):
        return Failure(FailureKind.CRASH, f"Its process died (exit code {error.exitcode}).")
    if isinstance(error, PeercorpusError):
        return Failure(FailureKind.ERROR, str(error))
    return Failure(FailureKind.ERROR, f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """A `Spread` over processes of this machine.

    Attributes:
        memory_bytes: Address space of one worker; None means no limit (engines on a GPU need that).
    """

    memory_bytes: int | None = MEMORY_BYTES

    def __call__(
        self,
        function: Callable[[ItemT], ResultT],
        items: Iterable[ItemT],
        *,
        timeout_s: float,
        workers: int | None = None,
    ) -> Iterator[tuple[ItemT, ResultT | Failure]]:
        """Yield every item once, as they are done; at most two per worker are held at a time."""
        queue = iter(items)
        first = list(islice(queue, FEW_ITEMS))
        if not first:
            return
        processes = 1 if len(first) < FEW_ITEMS else workers or os.cpu_count() or 1
        pool = self._pool(processes)
        try:
            yield from _drain(pool, function, chain(first, queue), timeout_s, 2 * processes)
        except BaseException:
            pool.stop()  # type: ignore[no-untyped-call]
            raise
        else:
            pool.close()  # type: ignore[no-untyped-call]
        finally:
            pool.join()

    def _pool(self, processes: int) -> ProcessPool:
        # Forking a process with threads (pyarrow, polars) can leave a worker with a lock nobody holds.
        context = multiprocessing.get_context("spawn")
        if self.memory_bytes is None:
            return ProcessPool(processes, context=context)
        return ProcessPool(processes, initializer=_limit_memory, initargs=[self.memory_bytes], context=context)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Threads and processes started inside never see Ctrl-C: this process alone answers it, and stops them."""
    resource_tracker.ensure_running()  # Where it is not, starting it lets interrupts through again.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _drain(
    pool: ProcessPool,
    function: Callable[[ItemT], ResultT],
    queue: Iterator[ItemT],
    timeout_s: float,
    in_flight: int,
) -> Iterator[tuple[ItemT, ResultT | Failure]]:
    running: dict[Future[ResultT], ItemT] = {}
    while True:
        for item in islice(queue, in_flight - len(running)):
            with _interrupts_held():
                running[pool.schedule(function, args=[item], timeout=timeout_s)] = item
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            item, error = running.pop(future), future.exception()
            yield item, future.result() if error is None else _failure(error, timeout_s)
