"""Run work in isolated processes on this machine, with a time limit per item and a memory limit per process."""

import atexit
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TypeVar

from pebble import ProcessExpired, ProcessPool

from peercorpus.errors import EngineError, MissingExtraError, ModelError, PeercorpusError, StoreError
from peercorpus.execution.executor import Failure, FailureKind, ItemQueue

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_FEW_ITEMS = 8
"""With fewer items, one process finishes sooner than several, which take time to start."""

MEMORY_BYTES = 2 << 30
"""Memory limit of a worker in bytes: a paper takes 0.05 GB, one read by OCR 1 GB."""

_ADDRESS_SPACE_FACTOR = 3
"""Limit of a worker's address space as a multiple of its memory limit; it catches sudden growth."""

_MEMORY_CHECK_S = 0.05
"""Seconds between two checks of a worker's memory."""

_OUT_OF_MEMORY_CODE = 99
"""Exit code of a worker that exceeded its memory limit."""

ITEMS_IN_FLIGHT = 2
"""Items in flight per process, so that no process waits for its next item."""
ITEMS_IN_FLIGHT_IN_ORDER = 4
"""Items in flight per process if results are yielded in order, so that a slow item does not idle the others."""

_MAX_BROKEN_POOLS = 3
"""Number of pools that may break in succession without a finished item. A pool of pebble breaks if a worker dies while
none is known to have an item: killed from outside between two items, or crashed before its item was registered."""

_POLL_S = 1.0
"""Seconds without a result after which the pool is checked."""

_STALLED_S = 130.0
"""Seconds beyond the time limit of an item after which the pool counts as stalled: pebble's workers wait up to a minute
for one that died."""

_NO_WORKERS = (
    "The worker processes end before they finish any item; check that this machine has free memory, then run the"
    " same command again to resume."
)

_NOT_STARTED = (
    "The worker processes cannot be started ({error}); check that /dev/shm exists and is writable, and that no limit"
    " on memory, threads or processes ('ulimit -a') is too low."
)

ERRORS_OF_EVERY_ITEM = (EngineError, MissingExtraError, ModelError, StoreError)
"""Errors that would be the same for every item; they end the work instead of failing one item."""

_STATM = Path("/proc/self/statm")
"""File in which Linux reports the memory pages of a process; on other systems only the address space is limited."""

logger = logging.getLogger(__name__)
_at_work = threading.Event()


def machine_bytes() -> int:
    """Return the physical memory of this machine, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def prepare_worker(limit_bytes: int | None) -> None:
    """Prepare this process as a worker, with a memory limit in bytes or None for no limit."""
    # The pool ends its workers with SIGTERM; Python would report it if the process is already about to end.
    atexit.register(signal.signal, signal.SIGTERM, signal.SIG_DFL)
    if limit_bytes is not None:
        _limit_memory(limit_bytes)


def _limit_memory(limit_bytes: int) -> None:
    """Limit the memory of this process.

    A C library whose allocation fails aborts, which looks like any other crash. So a thread watches the memory and ends
    the process with its own exit code before an allocation fails.
    """
    import resource  # not on Windows, where no limit is set

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    address_bytes = _ADDRESS_SPACE_FACTOR * limit_bytes
    if hard != resource.RLIM_INFINITY:
        address_bytes = min(address_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (address_bytes, hard))
    if _STATM.exists():
        threading.Thread(target=_watch_memory, args=[limit_bytes], daemon=True).start()


def _watch_memory(limit_bytes: int) -> None:
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    with _STATM.open("rb", buffering=0) as statm:
        while _at_work.wait():
            statm.seek(0)
            # Between two items a worker may hold the lock of the queue and must not exit.
            if int(statm.read().split()[1]) * page_bytes > limit_bytes and _at_work.is_set():
                os._exit(_OUT_OF_MEMORY_CODE)
            time.sleep(_MEMORY_CHECK_S)


def run_item(function: Callable[[ItemT], ResultT], item: ItemT) -> ResultT:
    """Apply the function to one item, in a worker.

    Raises:
        PeercorpusError: The function raised an exception that cannot be sent to the parent process.
    """
    _at_work.set()
    try:
        return function(item)
    except Exception as error:
        if _can_travel(error):
            raise
        raise PeercorpusError(f"{type(error).__name__}: {error}") from None
    finally:
        _at_work.clear()


def _can_travel(error: Exception) -> bool:
    """Return whether an exception survives pickling and cannot be mistaken for a broken pool in the parent process."""
    if isinstance(error, BrokenProcessPool):
        return False
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 -- whatever its own class does
        return False
    return True


def to_failure(error: BaseException, timeout_s: float) -> Failure:
    """Return the failure of an item whose future has this exception.

    A `PeercorpusError` already has a sentence for users; any other exception is named by its type.
    """
    if isinstance(error, TimeoutError):
        return Failure(FailureKind.TIMEOUT, f"It was stopped after {timeout_s:g} seconds.")
    if isinstance(error, MemoryError) or (isinstance(error, ProcessExpired) and error.exitcode == _OUT_OF_MEMORY_CODE):
        return Failure(FailureKind.OUT_OF_MEMORY, "It was stopped: it exceeded the memory limit for one file.")
    if isinstance(error, ProcessExpired):
        return Failure(FailureKind.CRASH, f"Its process died (exit code {error.exitcode}).")
    if isinstance(error, PeercorpusError):
        return Failure(FailureKind.ERROR, str(error), getattr(error, "fault", None), error)
    detail = " ".join(f"{type(error).__name__}: {error}".split())
    return Failure(FailureKind.ERROR, detail, error=error if isinstance(error, Exception) else None)


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """An `Executor` that uses processes on this machine.

    Attributes:
        memory_bytes: Memory limit of one worker in bytes, lowered if the machine does not have as much for each; None
            means no limit, which engines on a GPU need.
    """

    memory_bytes: int | None = MEMORY_BYTES

    def __call__(
        self,
        function: Callable[[ItemT], ResultT],
        items: Iterable[ItemT],
        *,
        timeout_s: float,
        workers: int | None = None,
        in_order: bool = False,
    ) -> Iterator[tuple[ItemT, ResultT | Failure]]:
        """Yield every item once, with its result or its failure; arguments as in `Executor`.

        At most two items per worker are in memory at a time, or four with `in_order`. If `workers` is None, a few items
        are processed by a single process. No more processes are started than there are items.

        Raises:
            PeercorpusError: The workers end before they finish any item.
        """
        queue = ItemQueue(items)
        first = queue.take(workers or _FEW_ITEMS)
        if not first:
            return
        queue.put_back(first)
        most_processes = workers or (1 if len(first) < _FEW_ITEMS else os.cpu_count() or 1)
        processes = min(most_processes, len(first))
        in_flight = processes * (ITEMS_IN_FLIGHT_IN_ORDER if in_order else ITEMS_IN_FLIGHT)
        broken_pools = 0
        cause = BrokenProcessPool()
        while broken_pools < _MAX_BROKEN_POOLS:
            running: dict[Future[ResultT], ItemT] = {}
            try:
                with self._open_pool(processes) as pool:
                    for done in _drain(
                        pool, partial(run_item, function), queue, running, timeout_s, in_flight, in_order
                    ):
                        yield done
                        broken_pools = 0
            except BrokenProcessPool as broken:
                queue.put_back(running.values())
                broken_pools += 1
                cause = broken
                logger.warning("The worker processes are replaced: %s", broken)
            else:
                return
        raise PeercorpusError(_NO_WORKERS) from cause

    @contextmanager
    def _open_pool(self, processes: int) -> Iterator[ProcessPool]:
        # Forking a process with threads (pyarrow, polars) can copy a lock that is never released.
        context = multiprocessing.get_context("spawn")
        limit_bytes = None
        if self.memory_bytes is not None and sys.platform != "win32":
            limit_bytes = min(self.memory_bytes, machine_bytes() // (processes + 1))
        pool = ProcessPool(processes, initializer=prepare_worker, initargs=[limit_bytes], context=context)
        try:
            with _hold_interrupts():
                _ = pool.active  # This starts it.
        except (OSError, RuntimeError) as error:
            # Joining a partly started pool would block for ever.
            raise PeercorpusError(_NOT_STARTED.format(error=error)) from error
        try:
            yield pool
        except BaseException:
            pool.stop()  # type: ignore[no-untyped-call]
            raise
        else:
            pool.close()  # type: ignore[no-untyped-call]
        finally:
            pool.join()


@contextmanager
def _hold_interrupts() -> Iterator[None]:
    """Block Ctrl-C for threads and processes started inside: only this process handles it, and stops them."""
    if sys.platform == "win32":  # Signals cannot be blocked there.
        yield
        return
    resource_tracker.ensure_running()  # Starting it later would unblock interrupts.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _drain(
    pool: ProcessPool,
    function: Callable[[ItemT], ResultT],
    queue: ItemQueue[ItemT],
    running: dict[Future[ResultT], ItemT],
    timeout_s: float,
    in_flight: int,
    in_order: bool,
) -> Iterator[tuple[ItemT, ResultT | Failure]]:
    """Yield finished items; if the pool breaks, the unfinished ones are in `running`.

    An item whose process died is tried once more, as pebble may attribute the death of another process to it.
    """
    second_tries: set[Future[ResultT]] = set()
    while True:
        for item in queue.take(in_flight - len(running)):
            running[_schedule(pool, function, item, timeout_s)] = item
        if not running:
            return
        awaited = [next(iter(running))] if in_order else list(running)
        began = time.monotonic()
        while not (done := wait(awaited, _POLL_S, FIRST_COMPLETED).done):
            if not pool.active or time.monotonic() - began > timeout_s + _STALLED_S:
                raise BrokenProcessPool("They return no results.")
        for future in sorted(done, key=lambda future: isinstance(future.exception(), BrokenProcessPool)):
            error = future.exception()
            if isinstance(error, (*ERRORS_OF_EVERY_ITEM, BrokenProcessPool)):
                raise error
            item = running.pop(future)
            if isinstance(error, ProcessExpired) and future not in second_tries:
                again = _schedule(pool, function, item, timeout_s)
                second_tries.add(again)
                # As the first item in order.
                others = dict(running)
                running.clear()
                running.update({again: item} | others)
            else:
                yield item, future.result() if error is None else to_failure(error, timeout_s)


def _schedule(
    pool: ProcessPool, function: Callable[[ItemT], ResultT], item: ItemT, timeout_s: float
) -> Future[ResultT]:
    try:
        with _hold_interrupts():
            return pool.schedule(function, args=[item], timeout=timeout_s)
    except RuntimeError as broken:
        if pool.active:
            raise
        future: Future[ResultT] = Future()
        future.set_exception(BrokenProcessPool(str(broken)))
        return future
