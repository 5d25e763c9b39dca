"""Isolated processes on the machines of a Ray cluster: what a machine that dies was doing is done by another.

Ray limits neither the time nor the memory of a task. So each of its workers keeps one process beside it, with the
limits that a process of `executors.local` has, and gives it one item at a time. Ray only places the items and says what
was lost; how often an item is tried again is decided here, so that each comes back exactly once.
"""

import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from peercorpus.errors import MissingExtraError, PeercorpusError
from peercorpus.executors.local import AHEAD, AHEAD_IN_ORDER, MEMORY_BYTES
from peercorpus.executors.node import do_item, versions
from peercorpus.spread import Failure, FailureKind

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

LOOKED_S = 5.0
"""Seconds from one look at the size of the cluster to the next: machines come and go."""

ANSWER_S = 10.0
"""Seconds in which the head of a cluster must answer."""

SILENCE_S = 20.0
"""Seconds that the head may be silent while it is in use; after 60 Ray itself ends this process."""

TOKENS = frozenset({"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"})
"""Where Ray is told the token of a cluster."""

NEWS_S = 60.0
"""Seconds without any result after which the log says so."""

logger = logging.getLogger(__name__)


def connect(address: str | None) -> Any:  # noqa: ANN401 -- ray is an extra, and has no types
    """The package `ray`, connected to a cluster; it stays so until this process ends, as its workers do.

    Args:
        address: `HOST:PORT` of the head, or "auto" on a machine of the cluster; None means what RAY_ADDRESS says, or
            else a cluster of this machine alone, started here.

    Raises:
        MissingExtraError: Ray is not installed.
        PeercorpusError: No cluster answers there.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if TOKENS & os.environ.keys():
        # Without it Ray shows the token to no cluster that was not started here.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "ray") from None
    if not ray.is_initialized():
        where = address or os.environ.get("RAY_ADDRESS") or "local"
        alone = {"include_dashboard": False} if where == "local" else {}
        logging.getLogger("ray").setLevel(logging.ERROR)
        if where == "local":
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        _require_answer(ray, where)
        try:
            with _sigterm_kept():
                ray.init(where, log_to_driver=False, logging_level=logging.ERROR, **alone)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise PeercorpusError(
                f"No Ray cluster of this version answers at '{where}' ({type(error).__name__});"
                " see that its head runs, and that the address is its HOST:PORT."
            ) from error
    return ray


@contextmanager
def _sigterm_kept() -> Iterator[None]:
    """Ray would answer SIGTERM itself, with a trace of its own functions, and end this process with another code.

    Only the main thread can undo that.
    """
    before = signal.getsignal(signal.SIGTERM)
    came = False
    try:
        yield
    except SystemExit as ended:
        # Ray's own answer is there long before it has started.
        came = ended.code == signal.SIGTERM
        raise
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)
            if came:
                signal.raise_signal(signal.SIGTERM)


def _require_answer(ray: Any, where: str) -> None:  # noqa: ANN401
    """Ray itself waits for minutes, and ends this process at last, where nothing answers."""
    host, colon, port = where.rpartition(":")
    if not colon or "/" in where or not port.isdigit():
        return
    host = ray.util.get_node_ip_address() if host in {"localhost", "127.0.0.1"} else host.strip("[]")
    silence = _silence(host, int(port))
    if silence is not None:
        raise PeercorpusError(
            f"No Ray cluster answers at '{where}' ({silence}); see that its head runs, and that this is its HOST:PORT."
        )


def _silence(host: str, port: int) -> str | None:
    """Why nothing answers there; None where something does."""
    try:
        socket.create_connection((host, port), timeout=ANSWER_S).close()
    except (OSError, OverflowError) as error:
        return str(error)
    return None


@dataclass(slots=True, eq=False)
class _Task:
    """An item under way; `losses` is how often a worker died with it."""

    item: Any
    losses: int = 0


@dataclass(frozen=True, slots=True)
class RayExecutor:
    """A `Spread` over the machines of a Ray cluster.

    An item with a `path` brings the file along, where that is a path of this machine: no shared disk is needed. One
    with the address of an object in a store is sent as it is, and read from there by the machine that does the work.

    Attributes:
        address: `HOST:PORT` of the cluster's head; see `connect`.
        memory_bytes: Memory that one process may hold; None means no limit.
        gpus: GPUs, or the share of one, that an item takes.
        brings_files: False where every machine sees the same folders.
        retries: How often an item is given to another worker after one died with it.
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
        """Yield every item once; at most two per core of the cluster are held at a time, or four in their order.

        Where the caller stops early and its process goes on, items under way are done to their end and nobody sees the
        results. `ray.cancel` would end them, and now and then this process too: Ray 2.60 aborts where a task is done in
        the moment it is cancelled (`Tried to complete task that was not pending`).
        """
        tasks = map(_Task, items)
        first = next(tasks, None)
        if first is None:
            return
        ray = connect(self.address)
        queue, head = chain([first], tasks), _Head(ray)
        room = _Room(ray, head, workers, AHEAD_IN_ORDER if in_order else AHEAD)
        give, running = self._giving(ray, function, timeout_s), dict[_Task, Any]()
        while True:
            for task in islice(queue, max(0, room.size() - len(running))):
                running[task] = give(task)
            if not running:
                return
            for task in _done(ray, head, running, in_order):
                loss, result = _fetch(ray, running[task])
                if loss is not None:
                    head.require()
                if loss is not None and task.losses < self.retries:
                    task.losses += 1
                    running[task] = give(task)
                else:
                    del running[task]
                    yield task.item, result if loss is None else loss

    def _giving(self, ray: Any, function: Callable[[Any], Any], timeout_s: float) -> Callable[[_Task], Any]:  # noqa: ANN401
        """What gives an item to some worker."""
        # GPU tasks would end their worker, and with it the models it has loaded, were `max_calls` not 0.
        remote = ray.remote(num_cpus=1, num_gpus=self.gpus, max_retries=0, max_calls=0)(do_item)

        def give(task: _Task) -> Any:  # noqa: ANN401
            content = _content(task.item) if self.brings_files else None
            return remote.remote(function, task.item, content, (timeout_s, self.memory_bytes), versions())

        return give


class _Head:
    """The head of a cluster in use: where it is dead, whatever asks it waits, until Ray ends this process."""

    def __init__(self, ray: Any) -> None:  # noqa: ANN401
        self._address = str(ray.get_runtime_context().gcs_address)

    def require(self) -> None:
        """See that it answers, or does so soon.

        Raises:
            PeercorpusError: It does not.
        """
        host, _, port = self._address.rpartition(":")
        began = time.monotonic()
        while (silence := _silence(host.strip("[]"), int(port))) is not None:
            if time.monotonic() - began >= SILENCE_S:
                raise PeercorpusError(
                    f"The head of the Ray cluster at '{self._address}' died ({silence}); start the cluster, then this"
                    " command again: it goes on."
                )
            time.sleep(1.0)


class _Room:
    """How many items may be under way."""

    def __init__(self, ray: Any, head: _Head, workers: int | None, ahead: int) -> None:  # noqa: ANN401
        self._ray, self._head, self._workers, self._ahead = ray, head, workers, ahead
        self._seen, self._looked = 0, -LOOKED_S

    def size(self) -> int:
        """As many as were asked for, more where a slow one holds up the others; else so many for each core."""
        if self._workers is not None:
            return self._workers * (self._ahead // AHEAD)
        if time.monotonic() - self._looked >= LOOKED_S:
            self._head.require()
            self._seen = int(self._ray.cluster_resources().get("CPU", 0))
            self._looked = time.monotonic()
        return max(1, self._ahead * self._seen)


def _done(ray: Any, head: _Head, running: dict[_Task, Any], in_order: bool) -> list[_Task]:  # noqa: ANN401
    """Those that are done, at least one; in their order the first alone."""
    waited_s, tasks = 0.0, {ref: task for task, ref in running.items()}
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
    """What became of an item: its loss, with its worker, or its result.

    Raises:
        PeercorpusError: A machine of the cluster cannot do the work at all.
    """
    try:
        return None, ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, PeercorpusError):
            raise error.cause from None
        if isinstance(error.cause, ImportError | ray.exceptions.RaySystemError):
            raise PeercorpusError(
                f"A machine of the cluster cannot begin the work ({' '.join(str(error.cause).split())[:200]});"
                " install there what is installed here."
            ) from None
        if not isinstance(error.cause, ray.exceptions.RayError):
            raise
        return _lost(error.cause), None
    except ray.exceptions.OutOfMemoryError:
        detail = "It was stopped: its machine had no memory left."
        return Failure(FailureKind.OUT_OF_MEMORY, detail), None
    except ray.exceptions.RayError as error:
        return _lost(error), None


def _lost(error: Exception) -> Failure:
    name = type(error).__name__
    logger.info("an item was lost with its worker: %s", name)
    return Failure(FailureKind.CRASH, f"Its worker or its machine died each time it was tried ({name}).")


def _content(item: object) -> bytes | None:
    """The bytes of the file an item names on this machine; None where it names none, or the file cannot be read."""
    path = getattr(item, "path", None)
    try:
        return path.read_bytes() if isinstance(path, Path) else None
    except OSError:
        return None
