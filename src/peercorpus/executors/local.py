"""Isolated processes on this machine: a file that hangs, crashes or eats memory costs itself and nothing else."""

import atexit
import logging
import multiprocessing
import os
import pickle
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TypeVar

from pebble import ProcessExpired, ProcessPool

from peercorpus.errors import EngineError, MissingExtraError, ModelError, PeercorpusError, StoreError
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

AHEAD, AHEAD_IN_ORDER = 2, 4
"""Items under way for each process, so that none waits for the next item; or for a slow one to be done."""

POOLS = 3
"""Pools that may break one after another, without an item done. Pebble's breaks where a worker dies while none is known
to be at work: one that was ended from outside between two items, or one that crashed before its item was noted."""

LOOK_S = 1.0
"""Seconds without a result, after which it is looked whether any can come."""

STALLED_S = 130.0
"""Seconds beyond an item's own after which nothing is waited for: pebble's workers wait a minute for one that died."""

NO_WORKERS = (
    "The processes that do the work end before they have done any of it; see whether this machine has memory left, "
    "then run the same command again: it goes on."
)

OF_ALL = (EngineError, MissingExtraError, ModelError, StoreError)
"""What is wrong with no single item: it would be the same for every other."""

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
    except Exception as error:
        if _can_travel(error):
            raise
        raise PeercorpusError(f"{type(error).__name__}: {error}") from None
    finally:
        _at_work.clear()


def _can_travel(error: Exception) -> bool:
    """Whether an exception can be told to the process that asked, and says nothing there of the pool."""
    if isinstance(error, BrokenProcessPool):
        return False
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 -- whatever its own class does
        return False
    return True


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
        in_order: bool = False,
    ) -> Iterator[tuple[ItemT, ResultT | Failure]]:
        """Yield every item once; at most two per worker are held at a time, or four in their order.

        Where no number of workers is named, a few items are done by one; a number that is named holds, but none is
        started that would have nothing to do.
        """
        queue = iter(items)
        first = list(islice(queue, max(FEW_ITEMS, workers or 0)))
        if not first:
            return
        wanted = workers or (1 if len(first) < FEW_ITEMS else os.cpu_count() or 1)
        processes = min(wanted, len(first))
        in_flight = processes * (AHEAD_IN_ORDER if in_order else AHEAD)
        waiting, in_vain, cause = chain(first, queue), 0, BrokenProcessPool()
        while in_vain < POOLS:
            running: dict[Future[ResultT], ItemT] = {}
            try:
                with self._pool(processes) as pool:
                    for done in _drain(pool, partial(work, function), waiting, running, timeout_s, in_flight, in_order):
                        yield done
                        in_vain = 0
            except BrokenProcessPool as broken:
                waiting, in_vain, cause = chain(running.values(), waiting), in_vain + 1, broken
                logger.warning("The processes that do the work are replaced: %s", broken)
            else:
                return
        raise PeercorpusError(NO_WORKERS) from cause

    @contextmanager
    def _pool(self, processes: int) -> Iterator[ProcessPool]:
        # Forking a process with threads (pyarrow, polars) can leave a worker with a lock nobody holds.
        context = multiprocessing.get_context("spawn")
        share = machine_bytes() // (processes + 1)
        limit_bytes = None if self.memory_bytes is None else min(self.memory_bytes, share)
        pool = ProcessPool(processes, initializer=begin, initargs=[limit_bytes], context=context)
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
    running: dict[Future[ResultT], ItemT],
    timeout_s: float,
    in_flight: int,
    in_order: bool,
) -> Iterator[tuple[ItemT, ResultT | Failure]]:
    """Yield what is done; where the pool breaks, what is not stands in `running`.

    An item whose process died is tried once more: pebble may take the death of another's process for its own.
    """
    second_tries: set[Future[ResultT]] = set()
    while True:
        for item in islice(queue, in_flight - len(running)):
            running[_scheduled(pool, function, item, timeout_s)] = item
        if not running:
            return
        awaited, began = [next(iter(running))] if in_order else list(running), time.monotonic()
        while not (done := wait(awaited, LOOK_S, FIRST_COMPLETED).done):
            if not pool.active or time.monotonic() - began > timeout_s + STALLED_S:
                raise BrokenProcessPool("Nothing comes back from them.")
        for future in sorted(done, key=_is_broken):
            error = future.exception()
            if isinstance(error, (*OF_ALL, BrokenProcessPool)):
                raise error
            item = running.pop(future)
            if isinstance(error, ProcessExpired) and future not in second_tries:
                again = _scheduled(pool, function, item, timeout_s)
                second_tries.add(again)
                _put_first(running, again, item)
            else:
                yield item, future.result() if error is None else failure_of(error, timeout_s)


def _put_first(running: dict[Future[ResultT], ItemT], future: Future[ResultT], item: ItemT) -> None:
    others = dict(running)
    running.clear()
    running.update({future: item} | others)


def _is_broken(future: Future[ResultT]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _scheduled(
    pool: ProcessPool, function: Callable[[ItemT], ResultT], item: ItemT, timeout_s: float
) -> Future[ResultT]:
    try:
        with _interrupts_held():
            return pool.schedule(function, args=[item], timeout=timeout_s)
    except RuntimeError as broken:
        if pool.active:
            raise
        future: Future[ResultT] = Future()
        future.set_exception(BrokenProcessPool(str(broken)))
        return future
