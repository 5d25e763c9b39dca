"""Items that hang, crash, raise or eat memory cost themselves and nothing else."""

import os
import signal
import time
from collections.abc import Iterator
from itertools import count

import psutil
import pytest

from peercorpus.errors import PeercorpusError
from peercorpus.executors.local import LocalExecutor
from peercorpus.spread import Failure, FailureKind


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
    if item == "eat":
        return str(len(bytearray(8 << 30)))
    return item.upper()


def square(number: int) -> int:
    return number * number


def test_each_item_comes_back_once_with_its_result_or_its_failure() -> None:
    bad = ["crash", "exit", "hang", "raise", "say", "eat"]
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
    assert results["eat"] == Failure(FailureKind.ERROR, "MemoryError: ")


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


def test_an_interrupted_run_leaves_no_process_behind() -> None:
    def interrupted() -> Iterator[str]:
        yield from (f"item {number}" for number in range(10))
        yield "hang"
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(LocalExecutor()(behave, interrupted(), timeout_s=60, workers=2))
    assert time.monotonic() - began < 20
    workers = [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
    assert workers == []
