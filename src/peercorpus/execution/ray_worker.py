"""Process one item in a Ray worker, in a separate process with the limits that Ray does not enforce."""

import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import TypeVar

from pebble import ProcessPool

from peercorpus.errors import PeercorpusError
from peercorpus.execution.code_version import package_versions
from peercorpus.execution.executor import Failure
from peercorpus.execution.local_processes import (
    ERRORS_OF_EVERY_ITEM,
    machine_bytes,
    prepare_worker,
    run_item,
    to_failure,
)

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_PARENT_CHECK_S = 1.0
"""Seconds between two checks by a process that its worker still exists."""

_pools: dict[tuple[int | None, str | None], ProcessPool] = {}
"""The pool of one process, by its memory limit and the GPUs it sees; never more than one entry."""


def do_item(
    function: Callable[[ItemT], ResultT],
    item: ItemT,
    content: bytes | None,
    limits: tuple[float, int | None],
    wanted: Mapping[str, str],
) -> ResultT | Failure:
    """Apply the function to one item, in the separate process of this worker.

    Args:
        function: The function.
        item: The item.
        content: Bytes of the file at the item's `path`; None if the item can be used unchanged.
        limits: Time limit in seconds, and memory limit in bytes or None.
        wanted: Versions of packages on the machine that started the work.

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

    Raises:
        PeercorpusError: A package has another version.
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
