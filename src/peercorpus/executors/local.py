"""Isolated processes on this machine: a file that hangs, crashes or eats memory costs itself and nothing else."""

import atexit
import logging
import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TypeVar

from pebble import ProcessExpired, ProcessPool

from peercorpus.errors import EngineError, MissingExtraError, ModelError, PeercorpusError
from peercorpus.spread import Failure, FailureKind

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

FEW_ITEMS = 8
"""Fewer items than this are done sooner by one process than by starting several."""

MEMORY_BYTES = 2 << 30
"""Most memory of a worker: a paper takes 0.05 GB, one whose pages are recognised from their images 1 GB."""

ADDRESSES = 3
"""Address space of a worker, over its memory: it stops what grows faster than it is watched."""

WATCHED_S = 0.05
"""Seconds from one look at a worker's memory to the next."""

OUT_OF_MEMORY = 99
"""Exit code of a worker that held too much."""

HELD = Path("/proc/self/statm")
"""Where Linux tells how many pages of memory a process holds; elsewhere the address space alone is limited."""

logger = logging.getLogger(__name__)
_at_work = threading.Event()


def machine_bytes() -> int:
    """Memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def begin(limit_bytes: int | None) -> None:
    """Make this process a worker."""
    # The pool ends its workers with a signal, of which Python complains where it is about to end itself.
    atexit.register(signal.signal, signal.SIGTERM, signal.SIG_DFL)
    if limit_bytes is not None:
        _limit_memory(limit_bytes)


def _limit_memory(limit_bytes: int) -> None:
    """Limit what this process holds.

    What the kernel refuses to a library written in C makes it abort, which looks like any other crash. So a thread
    looks at the memory held, and ends the process with a code of its own before the kernel refuses anything.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    addresses = ADDRESSES * limit_bytes
    if hard != resource.RLIM_INFINITY:
        addresses = min(addresses, hard)
    resource.setrlimit(resource.RLIMIT_AS, (addresses, hard))
    if HELD.exists():
        threading.Thread(target=_watch_memory, args=[limit_bytes], daemon=True).start()


def _watch_memory(limit_bytes: int) -> None:
    page_bytes = resource.getpagesize()
    with HELD.open("rb", buffering=0) as held:
        while _at_work.wait():
            held.seek(0)
            # Between two items a worker may hold the lock of the queue, and must not end.
            if int(held.read().split()[1]) * page_bytes > limit_bytes and _at_work.is_set():
                os._exit(OUT_OF_MEMORY)
            time.sleep(WATCHED_S)


def work(function: Callable[[ItemT], ResultT], item: ItemT) -> ResultT:
    """Do one item, in a worker."""
    _at_work.set()
    try:
        return function(item)
    finally:
        _at_work.clear()


def failure_of(error: BaseException, timeout_s: float) -> Failure:
    """What an exception of the pool says about its item.

    A `PeercorpusError` is already a sentence; any other exception is named by its type.
    """
    if isinstance(error, TimeoutError):
        return Failure(FailureKind.TIMEOUT, f"It was stopped after {timeout_s:g} seconds.")
    if isinstance(error, MemoryError) or (isinstance(error, ProcessExpired) and error.exitcode == OUT_OF_MEMORY):
        return Failure(FailureKind.OUT_OF_MEMORY, "It was stopped: it took more memory than one file may take.")
    if isinstance(error, ProcessExpired):
        return Failure(FailureKind.CRASH, f"Its process died (exit code {error.exitcode}).")
    if isinstance(error, PeercorpusError):
        return Failure(FailureKind.ERROR, str(error), getattr(error, "fault", None))
    return Failure(FailureKind.ERROR, " ".join(f"{type(error).__name__}: {error}".split()))


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """A `Spread` over processes of this machine.

    Attributes:
        memory_bytes: Memory that one worker may hold, less where the machine has not so much for each; None means no
            limit (engines on a GPU need that).
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
        """Yield every item once, as they are done; at most two per worker are held at a time.

        Where no number of workers is named, a few items are done by one; a number that is named holds, but none is
        started that would have nothing to do.
        """
        queue = iter(items)
        first = list(islice(queue, max(FEW_ITEMS, workers or 0)))
        if not first:
            return
        wanted = workers or (1 if len(first) < FEW_ITEMS else os.cpu_count() or 1)
        processes = min(wanted, len(first))
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
        share = machine_bytes() // (processes + 1)
        limit_bytes = None if self.memory_bytes is None else min(self.memory_bytes, share)
        return ProcessPool(processes, initializer=begin, initargs=[limit_bytes], context=context)


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
                running[pool.schedule(work, args=[function, item], timeout=timeout_s)] = item
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            item, error = running.pop(future), future.exception()
            if isinstance(error, EngineError | MissingExtraError | ModelError):
                # Not of this file: it would be the same for every other.
                raise error
            yield item, future.result() if error is None else failure_of(error, timeout_s)
