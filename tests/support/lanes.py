"""A pytest plugin: the slowest files run first, `--shuffle` reorders tests, and tests without PyTorch are skipped.

`make test` leaves out what is marked `slow`: what took more than 0.3 s, or 3 s with its other cases. From 20 s on, the
marker has the seconds, by which files are ordered, so that no process ends long after another.
"""

import random
from collections import defaultdict
from collections.abc import Iterable
from importlib.util import find_spec

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of this plugin."""
    group = parser.getgroup("lanes")
    group.addoption("--shuffle", type=int, metavar="SEED", help="run files, and the tests of each, in a random order")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle, or begin with the files that take longest."""
    groups = list(_by_file(items).values())
    seed = config.getoption("--shuffle")
    if seed is not None:
        order = random.Random(seed)
        for tests in groups:
            order.shuffle(tests)
        order.shuffle(groups)
    elif hasattr(config, "workerinput"):
        groups.sort(key=lambda tests: -_estimate_s(tests))
    items[:] = [item for tests in groups for item in tests]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that need PyTorch if the extra is not installed."""
    if item.get_closest_marker("neural") and find_spec("transformers") is None:
        pytest.skip("needs PyTorch and transformers: the extra 'models'")


def _by_file(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    found: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        found[item.nodeid.partition("::")[0]].append(item)
    return found


def _estimate_s(tests: Iterable[pytest.Item]) -> float:
    """Return about how long a file takes: what its markers state, each once; 1 s for another slow test, else 20 ms."""
    marked = [item.get_closest_marker("slow") for item in tests]
    stated: dict[int, float] = {id(slow): slow.args[0] for slow in marked if slow is not None and slow.args}
    others = (0.02 if slow is None else 1 for slow in marked if slow is None or not slow.args)
    return sum(stated.values()) + sum(others)
