"""The order of tests: the files that take longest first, or shuffled with those of a file together."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent / "support" / "lanes.py"
CONFIGURED = "[pytest]\npythonpath = tests/support\naddopts = -p lanes -v\nmarkers =\n  slow: is slow\n"
MANY = "import pytest\n\n@pytest.mark.parametrize('n', range(9))\ndef test_n(n): ...\n"
Tests = Callable[..., list[str]]

pytestmark = pytest.mark.slow


@pytest.fixture
def tests(tmp_path: Path) -> Tests:
    """Runs pytest with the plugin in a separate repository, and returns the files of the tests that ran, in order."""
    (tmp_path / "pytest.ini").write_text(CONFIGURED)
    (tmp_path / "tests" / "support").mkdir(parents=True)
    shutil.copy(PLUGIN, tmp_path / "tests" / "support")

    def run(*options: str) -> list[str]:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "tests"]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return [line for line in ended.stdout.splitlines() if " PASSED" in line]

    return run


def test_the_file_that_takes_longest_is_first(tests: Tests, tmp_path: Path) -> None:
    (tmp_path / "tests" / "test_a.py").write_text(MANY)
    (tmp_path / "tests" / "test_b.py").write_text(f"{MANY}pytestmark = pytest.mark.slow\n")
    (tmp_path / "tests" / "test_c.py").write_text(f"{MANY}pytestmark = pytest.mark.slow(40)\n")
    ran = tests("-n", "1", "--dist", "loadfile", "--no-loadscope-reorder")
    assert [line.partition("test_")[2][0] for line in ran] == [*"c" * 9, *"b" * 9, *"a" * 9]


def test_a_seed_gives_a_fixed_order_that_keeps_files_together(tests: Tests, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / "tests" / f"test_{name}.py").write_text(MANY)
    shuffled = [line.split(" PASSED")[0] for line in tests("--shuffle", "7")]
    assert shuffled == [line.split(" PASSED")[0] for line in tests("--shuffle", "7")]
    assert len(shuffled) == 27
    files = [name.partition("::")[0] for name in shuffled]
    assert len([file for file, after in pairwise(files) if file != after]) == 2
