"""Lanes: a test is slow if it was measured to be, whatever the order in which its fixtures were set up."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent / "support" / "lanes.py"
CONFIGURED = "[pytest]\npythonpath = tests/support\naddopts = -p lanes -v\nmarkers =\n  slow: measured\n"
SHARING = """
import time
import pytest

@pytest.fixture(scope="session")
def of_the_run():
    time.sleep(1)

@pytest.fixture(scope="module")
def of_the_file(of_the_run):
    time.sleep(1.6)

def test_first(of_the_file): ...
def test_second(of_the_file): ...
def test_of_its_own(): time.sleep(0.7)
def test_quick(): ...
@pytest.mark.skip
def test_skipped(): ...
"""
MANY = "import pytest\n\n@pytest.mark.parametrize('n', range(9))\ndef test_n(n): ...\n"

Tests = Callable[..., list[str]]


@pytest.fixture
def tests(tmp_path: Path) -> Tests:
    """Runs pytest with the plugin in a separate repository, and returns the tests that ran, in order."""
    (tmp_path / "pytest.ini").write_text(CONFIGURED)
    (tmp_path / "tests" / "support").mkdir(parents=True)
    shutil.copy(PLUGIN, tmp_path / "tests" / "support")

    def run(*options: str) -> list[str]:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "tests"]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return [line.split(" PASSED")[0] for line in ended.stdout.splitlines() if " PASSED" in line]

    return run


@pytest.fixture
def durations(tmp_path: Path) -> Path:
    return tmp_path / "tests" / "durations.json"


@pytest.mark.parametrize("parallel", [(), ("-n", "2")])
def test_the_time_of_a_fixture_is_shared_by_its_tests(
    tests: Tests, tmp_path: Path, durations: Path, parallel: tuple[str, ...]
) -> None:
    (tmp_path / "tests" / "test_shared.py").write_text(SHARING)
    durations.write_text(json.dumps({"tests/test_shared.py::test_skipped": 9.0, "tests/test_gone.py::test_x": 5.0}))
    tests("--record-durations", "--dist", "loadfile", *parallel)
    measured = {name.partition("::")[2]: seconds for name, seconds in json.loads(durations.read_text()).items()}
    assert sorted(measured) == ["test_first", "test_of_its_own", "test_second", "test_skipped"]
    assert measured["test_first"] == measured["test_second"]
    assert 0.8 <= measured["test_first"] < 1.6
    assert measured["test_skipped"] == 9.0


def test_a_test_that_exceeds_the_limit_is_slow(tests: Tests, tmp_path: Path, durations: Path) -> None:
    (tmp_path / "tests" / "test_many.py").write_text(MANY)
    durations.write_text(json.dumps({"tests/test_many.py::test_n[3]": 0.4, "tests/test_many.py::test_n[4]": 0.3}))
    quick = [f"tests/test_many.py::test_n[{n}]" for n in range(9) if n != 3]
    assert tests("-m", "not slow") == quick


def test_a_test_of_a_mutant_is_always_in_the_quick_lane(tests: Tests, tmp_path: Path, durations: Path) -> None:
    (tmp_path / "tests" / "test_many.py").write_text(f"{MANY}\ndef test_other(): ...\n")
    durations.write_text(json.dumps({f"tests/test_many.py::test_n[{n}]": 9.0 for n in range(9)}))
    assert tests("-m", "not slow") == ["tests/test_many.py::test_other"]
    mutants = tmp_path / "scripts" / "mutants" / "mutants.toml"
    mutants.parent.mkdir(parents=True)
    mutants.write_text('[[mutant]]\ntests = ["tests/test_many.py::test_n"]\n')
    assert len(tests("-m", "not slow")) == 10


def test_a_test_whose_cases_together_exceed_the_limit_is_slow(tests: Tests, tmp_path: Path, durations: Path) -> None:
    (tmp_path / "tests" / "test_many.py").write_text(
        MANY.replace("range(9)", "range(11)") + "\ndef test_other(): ...\n"
    )
    durations.write_text(json.dumps({f"tests/test_many.py::test_n[{n}]": 0.29 for n in range(11)}))
    assert tests("-m", "not slow") == ["tests/test_many.py::test_other"]


def test_a_seed_gives_a_fixed_order_that_keeps_files_together(tests: Tests, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / "tests" / f"test_{name}.py").write_text(MANY)
    shuffled = tests("--shuffle", "7")
    assert shuffled == tests("--shuffle", "7")
    assert sorted(shuffled) == tests()
    assert shuffled != tests()
    files = [name.partition("::")[0] for name in shuffled]
    assert len([file for file, after in pairwise(files) if file != after]) == 2
