"""Run work on the machines of a Ray cluster, with the same limits per item and process as on this machine.

A worker of Ray does each item in a separate process (`do_item`), with the limits that Ray does not enforce.
"""

import logging
import multiprocessing
import os
import secrets
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pebble import ProcessPool

from peercorpus.errors import MissingExtraError, PeercorpusError, TryLaterError
from peercorpus.execution.code_version import package_versions
from peercorpus.execution.executor import Failure, FailureKind, ItemQueue
from peercorpus.execution.local_processes import (
    ERRORS_OF_EVERY_ITEM,
    ITEMS_IN_FLIGHT,
    ITEMS_IN_FLIGHT_IN_ORDER,
    MEMORY_BYTES,
    machine_bytes,
    prepare_worker,
    run_item,
    to_failure,
)

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

LOOKED_S = 5.0
"""Seconds between two checks of the cluster's size, as machines come and go."""

ANSWER_S = 10.0
"""Seconds within which the head of a cluster must accept a connection."""

SILENCE_S = 20.0
"""Seconds that the head may be unreachable during work; after 60 s Ray itself ends this process."""

TOKENS = frozenset({"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"})
"""Environment variables from which Ray reads the token of a cluster."""

NEWS_S = 60.0
"""Seconds between log messages while no item finishes."""

_PARENT_CHECK_S = 1.0
"""Seconds between two checks by a process that its worker still exists."""

_pools: dict[tuple[int | None, str | None], ProcessPool] = {}
"""The pool of one process, by its memory limit and the GPUs it sees; never more than one entry."""

logger = logging.getLogger(__name__)


def connect(address: str | None) -> Any:  # noqa: ANN401 -- ray is an extra, and has no types
    """Return the package `ray`, connected to a cluster until this process ends.

    Args:
        address: `HOST:PORT` of the head, or "auto" on a machine of the cluster; None means RAY_ADDRESS or, without it,
            a new cluster of this machine only.

    Raises:
        MissingExtraError: Ray is not installed.
        PeercorpusError: No cluster answers at the address.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if TOKENS & os.environ.keys():
        # Without this mode Ray does not send the token to clusters started elsewhere.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "cluster") from None
    if not ray.is_initialized():
        where = address or os.environ.get("RAY_ADDRESS") or "local"
        alone = {"include_dashboard": False} if where == "local" else {}
        logging.getLogger("ray").setLevel(logging.ERROR)
        if where == "local":
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        _require_answer(ray, where)
        try:
            with _keep_sigterm():
                ray.init(where, log_to_driver=False, logging_level=logging.ERROR, **alone)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise TryLaterError(
                f"No Ray cluster of this version answers at '{where}' ({type(error).__name__});"
                " check that its head is running, and that the address is its HOST:PORT."
            ) from error
    return ray


@contextmanager
def _keep_sigterm() -> Iterator[None]:
    """Restore this process's handler of SIGTERM after Ray has started.

    Ray installs its own, which prints a stack trace and ends the process with another exit code. Only the main thread
    can restore the handler.
    """
    before = signal.getsignal(signal.SIGTERM)
    was_signalled = False
    try:
        yield
    except SystemExit as ended:
        # Ray installs its handler long before it has finished starting.
        was_signalled = ended.code == signal.SIGTERM
        raise
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)
            if was_signalled:
                signal.raise_signal(signal.SIGTERM)


def _require_answer(ray: Any, where: str) -> None:  # noqa: ANN401
    """Check that the head answers: if it does not, Ray itself waits for minutes and then ends this process."""
    host, colon, port = where.rpartition(":")
    if not colon or "/" in where or not port.isdigit():
        return
    host = ray.util.get_node_ip_address() if host in {"localhost", "127.0.0.1"} else host.strip("[]")
    silence = _check_silence(host, int(port))
    if silence is not None:
        raise TryLaterError(
            f"No Ray cluster answers at '{where}' ({silence}); check that its head is running and that this is"
            " its HOST:PORT."
        )


def _check_silence(host: str, port: int) -> str | None:
    """Return why nothing answers at an address; None if something does."""
    try:
        socket.create_connection((host, port), timeout=ANSWER_S).close()
    except (OSError, OverflowError) as error:
        return str(error)
    return None


@dataclass(slots=True, eq=False)
class _Task:
    """An item in flight."""

    item: Any
    losses: int = 0


@dataclass(frozen=True, slots=True)
class RayExecutor:
    """An `Executor` that uses the machines of a Ray cluster.

    If an item has a `path` on this machine, the file is sent along, so no shared disk is needed. An item with the
    location of an object in a store is sent unchanged, and the machine that processes it reads the object.

    Attributes:
        address: `HOST:PORT` of the cluster's head; see `connect`.
        memory_bytes: Memory limit of one process in bytes; None means no limit.
        gpus: Number of GPUs per item, or the share of one.
        brings_files: Whether files are sent along; False if all machines see the same folders.
        retries: Number of times an item is given to another worker after one died while processing it.
    """

    address: str | None = None
    memory_bytes: int | None = MEMORY_BYTES
    gpus: float = 0.0
    brings_files: bool = True
    retries: int = 3

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

        At most two items per core of the cluster are in flight at a time, or four with `in_order`. If the caller stops
        early, items in flight are completed and their results discarded. They are not cancelled: Ray 2.60 sometimes
        aborts this process if a task completes while it is being cancelled (`Tried to complete task that was not
        pending`).

        Raises:
            PeercorpusError: The cluster does not answer, or one of its machines cannot do the work.
            MissingExtraError: Ray is not installed.
        """
        queue = ItemQueue(items)
        first = queue.take(1)
        if not first:
            return
        queue.put_back(first)
        ray = connect(self.address)
        head = _Head(ray)
        room = _Room(
            ray=ray, head=head, workers=workers, ahead=ITEMS_IN_FLIGHT_IN_ORDER if in_order else ITEMS_IN_FLIGHT
        )
        give = self._make_giver(ray, function, timeout_s)
        running = dict[_Task, Any]()
        while True:
            for task in map(_Task, queue.take(room.size() - len(running))):
                running[task] = give(task)
            if not running:
                return
            for task in _wait_for_done(ray, head, running, in_order):
                loss, result = _fetch(ray, running[task])
                if loss is not None:
                    head.require()
                if loss is not None and task.losses < self.retries:
                    task.losses += 1
                    running[task] = give(task)
                else:
                    del running[task]
                    yield task.item, result if loss is None else loss

    def _make_giver(self, ray: Any, function: Callable[[Any], Any], timeout_s: float) -> Callable[[_Task], Any]:  # noqa: ANN401
        # With `max_calls` other than 0, a GPU task ends its worker and so unloads its models.
        remote = ray.remote(num_cpus=1, num_gpus=self.gpus, max_retries=0, max_calls=0)(do_item)

        def give(task: _Task) -> Any:  # noqa: ANN401
            content = _read_content(task.item) if self.brings_files else None
            return remote.remote(function, task.item, content, (timeout_s, self.memory_bytes), package_versions())

        return give


class _Head:
    """The head of the cluster.

    It is contacted regularly while work is in flight: if it died, every call to Ray would block until Ray ends this
    process.
    """

    def __init__(self, ray: Any) -> None:  # noqa: ANN401
        self._address = str(ray.get_runtime_context().gcs_address)

    def require(self) -> None:
        """Wait until the head answers.

        Raises:
            PeercorpusError: It has not answered for `SILENCE_S` seconds.
        """
        host, _, port = self._address.rpartition(":")
        began = time.monotonic()
        while (silence := _check_silence(host.strip("[]"), int(port))) is not None:
            if time.monotonic() - began >= SILENCE_S:
                raise TryLaterError(
                    f"The head of the Ray cluster at '{self._address}' died ({silence}); restart the cluster and run"
                    " the same command again, which resumes where it stopped."
                )
            time.sleep(1.0)


class _Room:
    """Determines how many items may be in flight."""

    def __init__(self, ray: Any, head: _Head, workers: int | None, ahead: int) -> None:  # noqa: ANN401
        self._ray = ray
        self._head = head
        self._workers = workers
        self._ahead = ahead
        self._seen = 0
        self._looked = -LOOKED_S

    def size(self) -> int:
        """Return how many items may be in flight, by the number of requested workers or else of the cluster's cores."""
        if self._workers is not None:
            return self._workers * (self._ahead // ITEMS_IN_FLIGHT)
        if time.monotonic() - self._looked >= LOOKED_S:
            self._head.require()
            self._seen = int(self._ray.cluster_resources().get("CPU", 0))
            self._looked = time.monotonic()
        return max(1, self._ahead * self._seen)


def _wait_for_done(ray: Any, head: _Head, running: dict[_Task, Any], in_order: bool) -> list[_Task]:  # noqa: ANN401
    """Wait for items and return those that are done, at least one; with `in_order` the first item only."""
    waited_s = 0.0
    tasks = {ref: task for task, ref in running.items()}
    refs = [next(iter(tasks))] if in_order else [*tasks]
    while not ray.wait(refs, num_returns=1, timeout=LOOKED_S)[0]:
        head.require()
        waited_s += LOOKED_S
        if waited_s % NEWS_S == 0:
            cores = ray.cluster_resources().get("CPU", 0)
            logger.warning(
                "nothing was done in %g s; the cluster has %g cores, %d items wait", waited_s, cores, len(running)
            )
    done, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
    return [tasks[ref] for ref in done]


def _fetch(ray: Any, ref: Any) -> tuple[Failure | None, Any]:  # noqa: ANN401
    """Return the failure of an item whose worker died and None, or None and the item's result."""
    try:
        return None, ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, PeercorpusError):
            raise error.cause from None
        if isinstance(error.cause, ImportError | ray.exceptions.RaySystemError):
            raise PeercorpusError(
                f"A machine of the cluster cannot start the work ({' '.join(str(error.cause).split())[:200]});"
                " install the same packages there as on this machine."
            ) from None
        if not isinstance(error.cause, ray.exceptions.RayError):
            raise
        return _report_lost(error.cause), None
    except ray.exceptions.OutOfMemoryError:
        detail = "It was stopped: its machine ran out of memory."
        return Failure(FailureKind.OUT_OF_MEMORY, detail), None
    except ray.exceptions.RayError as error:
        return _report_lost(error), None


def _report_lost(error: Exception) -> Failure:
    name = type(error).__name__
    logger.info("an item was lost with its worker: %s", name)
    return Failure(FailureKind.CRASH, f"Its worker or its machine died each time it was tried ({name}).")


def _read_content(item: object) -> bytes | None:
    """Return the bytes of the file at an item's `path`; None if it has no path or the file cannot be read."""
    path = getattr(item, "path", None)
    try:
        return path.read_bytes() if isinstance(path, Path) else None
    except OSError:
        return None


def do_item(
    function: Callable[[ItemT], ResultT],
    item: ItemT,
    content: bytes | None,
    limits: tuple[float, int | None],
    wanted: Mapping[str, str],
) -> ResultT | Failure:
    """Apply the function to one item, in the separate process of this worker.

    `content` has the bytes of the file at the item's `path`; None if the item can be used unchanged. The limits are the
    time in seconds, and the memory in bytes or None; `wanted` are the versions of packages on the machine that started
    the work.

    Raises:
        PeercorpusError: This machine has other versions, or cannot work on any item.
    """
    timeout_s, memory_bytes = limits
    _require_same(wanted)
    pool = _get_pool(memory_bytes)
    with _bring(item, content) as here:
        future = pool.schedule(run_item, args=[function, here], timeout=timeout_s) if pool.active else None
        error = BrokenProcessPool() if future is None else future.exception()
    if future is None or isinstance(error, BrokenProcessPool):
        # The machine may be dying. This is not the item's fault: end the worker, so that Ray uses another one.
        os._exit(1)
    if isinstance(error, ERRORS_OF_EVERY_ITEM):
        raise error
    return future.result() if error is None else to_failure(error, timeout_s)


def _require_same(needed: Mapping[str, str]) -> None:
    """Check that packages have the same versions here, as results of two versions must not be mixed in one table.

    Packages that are not installed here are ignored: code that needs them raises its own error.
    """
    here = package_versions()
    for name, version in needed.items():
        if here.get(name, version) != version:
            raise PeercorpusError(
                f"The machine '{os.uname().nodename}' of the cluster has {name} {here[name]}, but {version} is"
                " needed; install the same versions on every machine."
            )


@contextmanager
def _bring(item: ItemT, content: bytes | None) -> Iterator[ItemT]:
    """Yield the item; if the content of its file was sent along, with the path of a temporary copy."""
    if content is None or not is_dataclass(item):
        yield item
        return
    with tempfile.TemporaryDirectory(prefix="peercorpus-") as folder:
        path = Path(folder, "file.pdf")
        path.write_bytes(content)
        yield replace(item, path=path)  # type: ignore[type-var]


def _get_pool(memory_bytes: int | None) -> ProcessPool:
    """Return the pool of one process for this worker; a pool with another limit or other GPUs is replaced."""
    key = (memory_bytes, os.environ.get("CUDA_VISIBLE_DEVICES"))
    if key not in _pools:
        while _pools:
            _, old = _pools.popitem()
            old.stop()  # type: ignore[no-untyped-call]
            old.join()
        share = machine_bytes() // ((os.cpu_count() or 1) + 1)
        limit_bytes = None if memory_bytes is None else min(memory_bytes, share)
        context = multiprocessing.get_context("spawn")
        _pools[key] = ProcessPool(1, initializer=_begin_beside, initargs=[limit_bytes, os.getpid()], context=context)
    return _pools[key]


def _begin_beside(limit_bytes: int | None, worker: int) -> None:
    """Prepare the process as a worker that ends when the Ray worker ends, for whatever reason."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare_worker(limit_bytes)
    threading.Thread(target=_end_with, args=[worker], daemon=True).start()


def _end_with(worker: int) -> None:
    while os.getppid() == worker:
        time.sleep(_PARENT_CHECK_S)
    os._exit(1)
