"""Items that hang, crash, raise or eat memory cost themselves and nothing else."""

import os
import signal
import time
from collections.abc import Iterator
from itertools import count

import psutil
import pytest

from peercorpus.errors import PdfFault, PeercorpusError, UnreadablePdfError
from peercorpus.executors.local import LocalExecutor
from peercorpus.spread import Failure, FailureKind

TOO_MUCH = "It was stopped: it took more memory than one file may take."


def behave(item: str) -> str:
    """Do what the item says."""
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


def test_each_item_comes_back_once_with_its_result_or_its_failure() -> None:
    bad = ["crash", "exit", "hang", "raise", "say", "lose", "eat"]
    good = [f"item {number}" for number in range(20)]
    items = [*good[:7], *bad, *good[7:]]
    found = list(LocalExecutor()(behave, items, timeout_s=1.5, workers=2))
    assert sorted(item for item, _ in found) == sorted(items)
    results = dict(found)
    assert [results[item] for item in good] == [item.upper() for item in good]
    assert results["crash"] == Failure(FailureKind.CRASH, "Its process died (exit code -11).")
    assert results["exit"] == Failure(FailureKind.CRASH, "Its process died (exit code 3).")
    assert results["hang"] == Failure(FailureKind.TIMEOUT, "It was stopped after 1.5 seconds.")
    assert results["raise"] == Failure(FailureKind.ERROR, "ValueError: no such thing")
    assert results["say"] == Failure(FailureKind.ERROR, "One sentence.")
    assert results["lose"] == Failure(FailureKind.ERROR, "Another.", PdfFault.ENCRYPTED)
    assert results["eat"] == Failure(FailureKind.OUT_OF_MEMORY, TOO_MUCH)


@pytest.mark.parametrize("limit_bytes", [100 << 20, 300 << 20])
def test_a_worker_that_holds_too_much_is_stopped_and_the_next_item_is_done(limit_bytes: int) -> None:
    found = dict(LocalExecutor(limit_bytes)(behave, ["fill", "item"], timeout_s=30))
    assert found == {"fill": Failure(FailureKind.OUT_OF_MEMORY, TOO_MUCH), "item": "ITEM"}


def test_without_a_limit_a_worker_holds_what_it_needs() -> None:
    found = dict(LocalExecutor(None)(measure, [200 << 20], timeout_s=30))
    assert found == {200 << 20: 200 << 20}
    small = dict(LocalExecutor(50 << 20)(measure, [200 << 20], timeout_s=30))
    assert small == {200 << 20: Failure(FailureKind.OUT_OF_MEMORY, TOO_MUCH)}


@pytest.mark.parametrize("number", [0, 1, 7, 8, 30])
def test_any_number_of_items_is_done(number: int) -> None:
    found = dict(LocalExecutor()(square, range(number), timeout_s=20, workers=2))
    assert found == {item: item * item for item in range(number)}


def test_items_are_taken_a_few_at_a_time() -> None:
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


def process(_: int) -> int:
    time.sleep(0.5)
    return os.getpid()


@pytest.mark.parametrize(("items", "number", "processes"), [(4, 2, 2), (3, 8, 3), (4, None, 1)])
def test_a_number_of_workers_that_is_named_holds_for_a_few_items_too(
    items: int, number: int | None, processes: int
) -> None:
    found = dict(LocalExecutor()(process, range(items), timeout_s=20, workers=number))
    assert len(set(found.values())) == processes


def workers() -> set[int]:
    """The processes that work for this one."""
    return {child.pid for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())}


def test_an_interrupted_run_leaves_no_process_behind() -> None:
    def interrupted() -> Iterator[str]:
        yield from (f"item {number}" for number in range(10))
        yield "hang"
        raise KeyboardInterrupt

    before, began = workers(), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(LocalExecutor()(behave, interrupted(), timeout_s=60, workers=2))
    assert time.monotonic() - began < 20
    assert workers() - before == set()
