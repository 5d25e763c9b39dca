"""What a machine of a cluster does: one item at a time, in a process beside each worker of the cluster's own.

That process has the limits of one of this machine's own, ends when its worker does, and is used again for other items.
"""

import multiprocessing
import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from pebble import ProcessPool

from peercorpus.code_version import code_version
from peercorpus.errors import PeercorpusError
from peercorpus.executors.local import OF_ALL, begin, failure_of, machine_bytes, work
from peercorpus.spread import Failure
from peercorpus.texts.added import packages

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

PARENT_S = 1.0
"""Seconds from one look of a process whether its worker is still there to the next."""

_beside: dict[tuple[int | None, str | None], ProcessPool] = {}
"""The pool of one process, by its limit and the GPU it sees; never more than one."""


@cache
def versions() -> Mapping[str, str]:
    """What results depend on: this package's code, and the version of each package it names or that adds engines."""
    found = {"peercorpus": code_version()}
    for requirement in _required():
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        try:
            found.setdefault(name, metadata.version(name))
        except metadata.PackageNotFoundError:
            continue
    return {**found, **packages()}


def _required() -> list[str]:
    """What the package names, tools of development aside; nothing where it runs without being installed."""
    try:
        named = metadata.requires("peercorpus") or []
    except metadata.PackageNotFoundError:
        return []
    return [each for each in named if not re.search(r"""extra\s*==\s*["']dev["']""", each)]


def do_item(
    function: Callable[[ItemT], ResultT],
    item: ItemT,
    content: bytes | None,
    limits: tuple[float, int | None],
    wanted: Mapping[str, str],
) -> ResultT | Failure:
    """Do one item in the process beside this worker.

    Args:
        function: What to do.
        item: With what.
        content: Of the file that the item names; None where it can be read here as well.
        limits: The seconds and the bytes of memory it may take.
        wanted: The versions of packages with which the rest of the work is done.

    Raises:
        PeercorpusError: This machine has other versions, or cannot do any item.
    """
    timeout_s, memory_bytes = limits
    _require_same(wanted)
    pool = _pool(memory_bytes)
    with _at_hand(item, content) as here:
        future = pool.schedule(work, args=[function, here], timeout=timeout_s) if pool.active else None
        error = BrokenProcessPool() if future is None else future.exception()
    if future is None or isinstance(error, BrokenProcessPool):
        # As when its machine is dying. It says nothing of the item, which Ray now gives to another worker.
        os._exit(1)
    if isinstance(error, OF_ALL):
        raise error
    return future.result() if error is None else failure_of(error, timeout_s)


def _require_same(wanted: Mapping[str, str]) -> None:
    """Else one table would hold texts of two versions of an engine under the name of one.

    A package that is not here is no matter of versions: what needs it says so itself.
    """
    here = versions()
    for name, version in wanted.items():
        if here.get(name, version) != version:
            raise PeercorpusError(
                f"The machine '{os.uname().nodename}' of the cluster has {name} {here[name]}, where {version} is"
                " needed; install the same versions on every machine."
            )


@contextmanager
def _at_hand(item: ItemT, content: bytes | None) -> Iterator[ItemT]:
    """The item, with the path of a copy of its file where the file was brought along."""
    if content is None or not is_dataclass(item):
        yield item
        return
    with tempfile.TemporaryDirectory(prefix="peercorpus-") as folder:
        path = Path(folder, "file.pdf")
        path.write_bytes(content)
        yield replace(item, path=path)  # type: ignore[type-var]


def _pool(memory_bytes: int | None) -> ProcessPool:
    """The pool of one process beside this worker; one with another limit or another GPU takes its place."""
    key = (memory_bytes, os.environ.get("CUDA_VISIBLE_DEVICES"))
    if key not in _beside:
        while _beside:
            _, old = _beside.popitem()
            old.stop()  # type: ignore[no-untyped-call]
            old.join()
        share = machine_bytes() // ((os.cpu_count() or 1) + 1)
        limit_bytes = None if memory_bytes is None else min(memory_bytes, share)
        context = multiprocessing.get_context("spawn")
        _beside[key] = ProcessPool(1, initializer=_begin_beside, initargs=[limit_bytes, os.getpid()], context=context)
    return _beside[key]


def _begin_beside(limit_bytes: int | None, worker: int) -> None:
    """Make this process one that ends when its worker does, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    begin(limit_bytes)
    threading.Thread(target=_end_with, args=[worker], daemon=True).start()


def _end_with(worker: int) -> None:
    while os.getppid() == worker:
        time.sleep(PARENT_S)
    os._exit(1)
