"""Items that hang, crash, raise or exhaust memory fail alone and harm nothing else."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psutil
import pytest

from peercorpus.errors import PdfFault, PeercorpusError, UnreadablePdfError
from peercorpus.execution.executor import Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor


def assert_failed(result: object, kind: FailureKind, named: str, fault: PdfFault | None = None) -> None:
    """Assert that an item failed in the given way, and that its one-sentence error names something."""
    assert isinstance(result, Failure)
    assert (result.kind, result.fault) == (kind, fault)
    assert named in result.detail
    assert "\n" not in result.detail


def behave(item: str) -> str:
    """Carry out the item's instruction."""
    if item == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if item == "exit":
        os._exit(3)
    if item == "hang":
        time.sleep(60)
    if item == "raise":
        raise ValueError("no such thing")
    if item == "say":
        raise PeercorpusError("One sentence.")
    if item == "fill":
        held = [bytes(1 << 20).replace(b"\0", b"x") for _ in range(1 << 14)]
        return str(len(held))
    if item == "lose":
        raise UnreadablePdfError("Another.", PdfFault.ENCRYPTED)
    if item == "eat":
        return str(len(bytearray(8 << 30)))
    return item.upper()


def measure(size: int) -> int:
    return len(b"x" * size)


def square(number: int) -> int:
    return number * number


@pytest.mark.slow
def test_each_item_is_returned_once() -> None:
    bad = ["crash", "exit", "hang", "raise", "say", "lose", "eat"]
    good = [f"item {number}" for number in range(20)]
    items = [*good[:7], *bad, *good[7:]]
    found = list(LocalExecutor()(behave, items, timeout_s=3.5, workers=2))
    assert sorted(item for item, _ in found) == sorted(items)
    results = dict(found)
    assert [results[item] for item in good] == [item.upper() for item in good]
    assert_failed(results["crash"], FailureKind.CRASH, "-11")
    assert_failed(results["exit"], FailureKind.CRASH, "exit code 3")
    assert_failed(results["hang"], FailureKind.TIMEOUT, "3.5 seconds")
    assert_failed(results["raise"], FailureKind.ERROR, "ValueError: no such thing")
    assert_failed(results["say"], FailureKind.ERROR, "One sentence.")
    assert_failed(results["lose"], FailureKind.ERROR, "Another.", PdfFault.ENCRYPTED)
    assert_failed(results["eat"], FailureKind.OUT_OF_MEMORY, "memory")


@pytest.mark.slow
def test_greedy_worker_is_stopped() -> None:
    found = dict(LocalExecutor(100 << 20)(behave, ["fill", "item"], timeout_s=30))
    assert_failed(found.pop("fill"), FailureKind.OUT_OF_MEMORY, "memory")
    assert found == {"item": "ITEM"}


@pytest.mark.slow
def test_unlimited_worker_uses_its_memory() -> None:
    found = dict(LocalExecutor(None)(measure, [200 << 20], timeout_s=30))
    assert found == {200 << 20: 200 << 20}
    small = dict(LocalExecutor(50 << 20)(measure, [200 << 20], timeout_s=30))
    assert list(small) == [200 << 20]
    assert_failed(small[200 << 20], FailureKind.OUT_OF_MEMORY, "memory")


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 8, 30])
def test_any_number_of_items_is_done(number: int) -> None:
    found = dict(LocalExecutor()(square, range(number), timeout_s=20, workers=2))
    assert found == {item: item * item for item in range(number)}


def end_afterwards(number: int) -> int:
    """Process the item; 0.3 seconds later the process dies as if killed from outside."""
    threading.Timer(0.3, os._exit, [1]).start()
    return number


@pytest.mark.slow
@pytest.mark.parametrize("in_order", [False, True])
def test_dead_workers_are_replaced(in_order: bool) -> None:
    def slowly() -> Iterator[int]:
        for number in range(14):
            if number >= 10:
                time.sleep(0.5)
            yield number

    found = list(LocalExecutor()(end_afterwards, slowly(), timeout_s=20, workers=2, in_order=in_order))
    assert sorted(item for item, _ in found) == list(range(14))
    assert [item for item, _ in found] == list(range(14)) or not in_order
    # An item that was running when its process died because of an earlier one reports this.
    assert all(result == item or isinstance(result, Failure) for item, result in found)
    assert any(result == item for item, result in found)


@pytest.mark.slow
@pytest.mark.fault("machine", "all worker processes die", "their work is done by others", times=2)
@pytest.mark.parametrize("in_order", [False, True])
def test_killed_idle_workers_lose_nothing(in_order: bool) -> None:
    outcomes = LocalExecutor()(square, range(40), timeout_s=20, workers=2, in_order=in_order)
    found = [next(outcomes) for _ in range(5)]
    time.sleep(0.5)
    killed = workers()
    assert killed
    for worker in killed:
        os.kill(worker, signal.SIGKILL)
    time.sleep(0.5)
    found += outcomes
    assert [item for item, _ in (found if in_order else sorted(found))] == list(range(40))
    assert all(result == item * item for item, result in found)


def die_the_first_time(folder: str) -> str:
    done = Path(folder, "tried")
    if done.exists():
        return "done"
    done.touch()
    os._exit(1)


@pytest.mark.slow
@pytest.mark.fault("machine", "a worker process dies on a file", "the file is tried once more", times=2)
@pytest.mark.parametrize("in_order", [False, True])
def test_item_is_tried_once_more(tmp_path: Path, in_order: bool) -> None:
    folders = [tmp_path / str(number) for number in range(12)]
    for folder in folders:
        folder.mkdir()
        if folder.name not in {"3", "4", "11"}:
            (folder / "tried").touch()
    items = list(map(str, folders))
    found = list(LocalExecutor()(die_the_first_time, items, timeout_s=20, workers=2, in_order=in_order))
    assert dict(found) == dict.fromkeys(items, "done")
    assert [item for item, _ in found] == items or not in_order


class HardToTellError(Exception):
    """An error that cannot be rebuilt from its arguments, as in some libraries."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


def fail_in_a_way(item: int) -> int:
    if item == 5:
        raise HardToTellError("this", "that")
    if item == 7:
        raise BrokenProcessPool("A pool of its own.")
    return item


@pytest.mark.slow
def test_unpicklable_exception_fails_its_item() -> None:
    found = dict(LocalExecutor()(fail_in_a_way, range(20), timeout_s=20, workers=2))
    assert found.pop(5) == Failure(FailureKind.ERROR, "HardToTellError: this and that")
    assert found.pop(7) == Failure(FailureKind.ERROR, "BrokenProcessPool: A pool of its own.")
    assert found == {item: item for item in range(20) if item not in {5, 7}}


class Unopened:
    """A result that the calling process cannot unpickle."""

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return int, ("no number",)


def give_unopened(item: int) -> object:
    return Unopened() if item == 5 else item


# One of pebble's threads ends with it.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("in_order", [False, True])
def test_unreadable_result_ends_the_work(in_order: bool) -> None:
    with pytest.raises(PeercorpusError, match="command again"):
        list(LocalExecutor()(give_unopened, range(20), timeout_s=20, workers=2, in_order=in_order))


@pytest.mark.slow
def test_no_worker_stops_the_work() -> None:
    with pytest.raises(PeercorpusError, match="command again"):
        list(LocalExecutor(1)(square, range(3), timeout_s=20))


@pytest.mark.slow
def test_items_are_taken_few_at_once() -> None:
    taken = 0

    def endless() -> Iterator[int]:
        nonlocal taken
        for number in count():
            taken += 1
            yield number

    outcomes = LocalExecutor()(square, endless(), timeout_s=20, workers=2)
    for done in range(1, 20):
        next(outcomes)
        assert taken <= max(8, done + 4)
    outcomes.close()  # type: ignore[attr-defined]


def wait_and_double(twentieths: int) -> int:
    time.sleep(twentieths / 20)
    return 2 * twentieths


@pytest.mark.slow
def test_items_come_in_order_on_request() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for twentieths in [0, 20, *[0] * 40]:
            taken.append(twentieths)
            yield twentieths

    outcomes = LocalExecutor()(wait_and_double, items(), timeout_s=20, workers=2, in_order=True)
    found = [next(outcomes), next(outcomes)]
    assert len(taken) <= 2 + 2 * 4
    found.extend(outcomes)
    assert found == [(0, 0), (20, 40), *[(0, 0)] * 40]


@dataclass(frozen=True, slots=True)
class Meeting:
    """An item that finishes once the given number of processes have begun one; each records its process id."""

    number: int
    folder: Path
    processes: int


def meet(item: Meeting) -> int:
    (item.folder / str(os.getpid())).touch()
    until = time.monotonic() + 15
    while len(list(item.folder.iterdir())) < item.processes and time.monotonic() < until:
        time.sleep(0.02)
    return os.getpid()


@pytest.mark.slow
@pytest.mark.parametrize(("items", "number", "processes"), [(4, 2, 2), (3, 8, 3), (4, None, 1)])
def test_stated_number_of_workers_is_used(items: int, number: int | None, processes: int, tmp_path: Path) -> None:
    meetings = [Meeting(one, tmp_path, processes) for one in range(items)]
    found = dict(LocalExecutor()(meet, meetings, timeout_s=20, workers=number))
    assert len(set(found.values())) == processes


def workers() -> set[int]:
    """Return the worker processes of this one."""
    # Looked up in this way, a dying process does not interfere.
    found = [one.info for one in psutil.process_iter(["pid", "ppid", "cmdline"])]
    ours = [one for one in found if one["ppid"] == os.getpid()]
    return {one["pid"] for one in ours if "spawn_main" in " ".join(one["cmdline"] or [])}


def test_interrupted_run_leaves_no_process() -> None:
    def interrupted() -> Iterator[str]:
        yield from (f"item {number}" for number in range(10))
        yield "hang"
        raise KeyboardInterrupt

    before, began = workers(), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(LocalExecutor()(behave, interrupted(), timeout_s=60, workers=2))
    assert time.monotonic() - began < 20
    assert workers() - before == set()


@pytest.mark.fault("machine", "no /dev/shm, so that no process can be started", "one sentence that names it")
def test_missing_shared_memory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("_multiprocessing.SemLock", refuse)
    with pytest.raises(PeercorpusError, match="/dev/shm"):
        list(LocalExecutor()(square, [1, 2], timeout_s=5))


@pytest.mark.fault("machine", "a limit below what the worker processes need", "one sentence that names the limit")
def test_missing_thread_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("pebble.pool.process.launch_thread", refuse)
    with pytest.raises(PeercorpusError, match="ulimit"):
        list(LocalExecutor()(square, [1, 2], timeout_s=5))
