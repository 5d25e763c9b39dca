"""A pytest plugin: marks slow tests as measured; `--record-durations` measures again; `--shuffle` reorders tests.

`tests/durations.json` holds the seconds of each test that takes `RECORDED_S` or more. A test that takes longer than
`SLOW_S` there gets the marker `slow`, which `make test` leaves out, and so do all cases of a parametrised test that
together take longer than `SLOW_TOGETHER_S`. A test that is not in the file counts as fast, and so does one that
`scripts/mutants` names, as `make test` must notice those faults.

In pytest's own report the first test that uses a shared fixture pays for it, so a test would change its lane with the
order. Here the cost of a fixture of a class or a module is split evenly among the tests that used it: it is saved only
where all of them are left out. A fixture of the session is charged to no test, since one test fewer does not save it.
"""

import json
import random
import tomllib
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

DURATIONS = Path(__file__).parents[1] / "durations.json"
MUTANTS = Path(__file__).parents[2] / "scripts" / "mutants" / "mutants.toml"
SLOW_S = 0.3
"""A test that takes longer than this is left to the long lane."""

SLOW_TOGETHER_S = 3.0
"""A parametrised test whose cases together take longer than this is left to the long lane whole."""

RECORDED_S = 0.25
"""Shorter durations are not recorded."""

SAME = 0.3
"""Relative difference below which an earlier measure is kept, as machines are never equally busy."""

SHARED, USED = "shared_seconds", "shared_used"
OF_A_FILE = ("class", "module")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    group = parser.getgroup("lanes")
    group.addoption("--record-durations", action="store_true", help="write what each test took to tests/durations.json")
    group.addoption("--shuffle", type=int, metavar="SEED", help="run files, and the tests of each, in a random order")


def pytest_configure(config: pytest.Config) -> None:
    """Measure if requested: in each process that runs tests, and in the one that collects all reports."""
    if config.getoption("--record-durations"):
        config.pluginmanager.register(FixtureTimes(), "lanes-fixtures")
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(Recorder(), "lanes-recorder")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the slow tests, and begin with the files that take longest, so that no process ends long after another."""
    seconds = read_durations(DURATIONS)
    slow = slow_tests(seconds)
    needed = named_by_mutants(MUTANTS)
    for item in items:
        names = {item.nodeid, function_of(item.nodeid), file_of(item.nodeid)}
        if names & slow and not names & needed:
            item.add_marker("slow")
    seed = config.getoption("--shuffle")
    if seed is not None:
        items[:] = shuffled(items, seed)
    elif hasattr(config, "workerinput"):
        items[:] = longest_file_first(items, seconds)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that need PyTorch if the extra is not installed."""
    if item.get_closest_marker("neural") and find_spec("transformers") is None:
        pytest.skip("needs PyTorch and transformers: the extra 'neural'")


def read_durations(path: Path) -> dict[str, float]:
    """Return the seconds by test; empty if nothing was recorded."""
    return json.loads(path.read_text()) if path.exists() else {}


def named_by_mutants(path: Path) -> set[str]:
    """Return the tests, or files of tests, that must notice a planted fault; empty if there is no list."""
    if not path.exists():
        return set()
    return {test for mutant in tomllib.loads(path.read_text())["mutant"] for test in mutant["tests"]}


def slow_tests(seconds: Mapping[str, float]) -> set[str]:
    """Return the tests, and the parametrised tests as a whole, that take too long.

    >>> sorted(slow_tests({"a": 0.6, "b": 0.3, "c[x]": 0.3, "c[y]": 0.3}))
    ['a']
    >>> "c" in slow_tests({f"c[{case}]": 0.45 for case in range(12)})
    True
    """
    together: defaultdict[str, float] = defaultdict(float)
    for test, test_s in seconds.items():
        together[function_of(test)] += test_s
    slow_functions = {test for test, test_s in together.items() if test_s > SLOW_TOGETHER_S}
    return slow_functions | {test for test, test_s in seconds.items() if test_s > SLOW_S}


def function_of(nodeid: str) -> str:
    """Return the test function of a test, without its case.

    >>> function_of("tests/test_raw.py::test_order[a::b]")
    'tests/test_raw.py::test_order'
    """
    return nodeid.partition("[")[0]


def shuffled(items: Iterable[pytest.Item], seed: int) -> list[pytest.Item]:
    """Return the tests in another order, those of one file still together."""
    order = random.Random(seed)
    by_file = files_of(items)
    for tests in by_file.values():
        order.shuffle(tests)
    groups = list(by_file.values())
    order.shuffle(groups)
    return [item for tests in groups for item in tests]


def longest_file_first(items: Iterable[pytest.Item], seconds: Mapping[str, float]) -> list[pytest.Item]:
    """Return the tests by file, those files first that take longest; the order within a file stays."""
    groups = files_of(items).values()
    ordered = sorted(groups, key=lambda tests: -sum(seconds.get(item.nodeid, 0) for item in tests))
    return [item for tests in ordered for item in tests]


def files_of(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """Return the tests by file, in the order given."""
    found: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        found[file_of(item.nodeid)].append(item)
    return found


def file_of(nodeid: str) -> str:
    """Return the file of a test.

    >>> file_of("tests/test_raw.py::test_order[a::b]")
    'tests/test_raw.py'
    """
    return nodeid.partition("::")[0]


class FixtureTimes:
    """Measures shared fixtures where tests run, and reports them with the tests."""

    def __init__(self) -> None:
        self._inner_s = [0.0]
        """Seconds of fixtures set up inside each one that is being set up, the outermost first."""

        self._done: list[tuple[str, bool, float]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """Time one fixture, without the fixtures it requests."""
        self._inner_s.append(0.0)
        began = perf_counter()
        try:
            return (yield)
        finally:
            took, inner = perf_counter() - began, self._inner_s.pop()
            self._inner_s[-1] += took
            if fixturedef.scope != "function":
                self._done.append((shared_name(fixturedef), fixturedef.scope in OF_A_FILE, took - inner))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: object) -> Generator[None, Any, Any]:
        """Report which shared fixtures were set up for a test, and which it uses."""
        if getattr(call, "when", "") == "setup":
            item.user_properties.append((SHARED, self._done))
            item.user_properties.append((USED, shared_of(item)))
            self._done = []
        return (yield)


def shared_name(fixture: pytest.FixtureDef[Any]) -> str:
    """Return a unique key of a fixture."""
    return f"{fixture.baseid}::{fixture.argname}"


def shared_of(item: pytest.Item) -> list[str]:
    """Return the fixtures of a test that other tests may use as well."""
    known: Mapping[str, Iterable[pytest.FixtureDef[Any]]] = getattr(
        getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}
    )
    return [shared_name(found) for several in known.values() for found in several if found.scope != "function"]


class Recorder:
    """Sums the time of tests, in the process that collects all reports, and records it."""

    def __init__(self) -> None:
        self._own_s: defaultdict[str, float] = defaultdict(float)
        self._shared_s: defaultdict[str, float] = defaultdict(float)
        self._users: defaultdict[str, set[str]] = defaultdict(set)
        self._ran: set[str] = set()
        self._seen: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of a test: its setup, the test itself, or its teardown."""
        self._seen.add(report.nodeid)
        self._own_s[report.nodeid] += report.duration
        if report.when == "call" and not report.skipped:
            self._ran.add(report.nodeid)
        if report.when != "setup":
            return
        told: dict[str, Any] = dict(report.user_properties)
        for name, is_of_a_file, seconds in told[SHARED]:
            self._own_s[report.nodeid] -= seconds
            if is_of_a_file:
                self._shared_s[name] += seconds
        for name in told[USED]:
            self._users[name].add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Merge the new measurements into the recorded ones."""
        measured = {test: self._own_s[test] for test in self._ran}
        for name, seconds in self._shared_s.items():
            users = self._users[name] & self._ran
            for test in users:
                measured[test] += seconds / len(users)
        known = {test: s for test, s in read_durations(DURATIONS).items() if not self._is_gone(test, session.config)}
        write_durations(DURATIONS, merged(known, measured))

    def _is_gone(self, test: str, config: pytest.Config) -> bool:
        """Return whether a test that was measured no longer exists."""
        if not (config.rootpath / file_of(test)).exists():
            return True
        is_part = config.option.keyword or config.option.markexpr or any("::" in named for named in config.args)
        return not is_part and test not in self._seen and file_of(test) in {file_of(seen) for seen in self._seen}


def merged(known: Mapping[str, float], measured: Mapping[str, float]) -> dict[str, float]:
    """Return the durations after a run: tests that did not run, or took about as long as before, keep theirs.

    >>> merged({"a": 10.0, "b": 2.0, "c": 1.0, "d": 6.0}, {"a": 11.0, "b": 3.0, "c": 0.1})
    {'a': 10.0, 'b': 3.0, 'd': 6.0}
    """
    after = dict(known)
    for test, seconds in measured.items():
        if abs(seconds - known.get(test, 0)) > max(RECORDED_S, SAME * known.get(test, 0)):
            after[test] = round(seconds, 1)
    return {test: seconds for test, seconds in sorted(after.items()) if seconds >= RECORDED_S}


def write_durations(path: Path, seconds: Mapping[str, float]) -> None:
    """Write one line per test, so that changes can be merged."""
    path.write_text(json.dumps(seconds, indent=0, ensure_ascii=False) + "\n")
