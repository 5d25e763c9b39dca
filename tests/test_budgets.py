"""`scripts/check_budgets.py` names what breaks a budget, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "check_budgets.py"
MODULE = '"""Reads forms."""\n'
LONG_FUNCTION = "def read() -> int:\n" + "    x = 1\n" * 59 + "    return x\n"


def check(repository: Path) -> tuple[int, str]:
    """The exit status and the output for a repository."""
    run = subprocess.run([sys.executable, str(SCRIPT), str(repository)], capture_output=True, text=True)
    assert run.stderr == ""
    return run.returncode, run.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("ignored/\n")
    return tmp_path


def write(repository: Path, name: str, text: str) -> None:
    """Add a file to the repository."""
    path = repository / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("src/forms.py", MODULE + "x = 1\n" * 400, "401 lines"),
        ("src/forms.py", MODULE + LONG_FUNCTION, "'read' has 61 lines"),
        ("src/forms.py", "x = 1\n", "no summary"),
        ("src/forms.py", '"""Reads forms\nand more."""\n', "no summary"),
        ("src/forms/__init__.py", "", "no summary"),
        ("src/utils.py", MODULE, "'utils.py' says nothing"),
        ("src/_helpers.py", MODULE, "'_helpers.py' says nothing"),
        ("docs/base.md", "Text.\n", "'base.md' says nothing"),
        ("docs/notes.md", "It lies in /" + "work/main.\n", "holds on one machine only"),
        ("pip.conf", "index" + "-url = https://example.org\n", "holds on one machine only"),
        ("tests/forms.py", "def test_a_form_is_read() -> None: ...\n", "'test_a_form_is_read' never runs"),
    ],
)
def test_what_breaks_a_budget_is_named(repository: Path, name: str, text: str, problem: str) -> None:
    write(repository, name, text)
    status, output = check(repository)
    assert status == 1
    assert output.startswith(f"{name}:")
    assert problem in output
    assert output.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/forms.py", MODULE + "x = 1\n" * 399),
        ("src/forms.py", MODULE + LONG_FUNCTION.replace("    x = 1\n", "", 1)),
        ("src/forms.py", '"""Reads forms.\n\nAnd more.\n"""\n'),
        ("tests/test_forms.py", "def test_a_form_is_read() -> None: ...\n"),
        ("tests/conftest.py", "def write() -> None: ...\n"),
        ("docs/notes.md", "The work/life of a review.\n"),
        ("docs/picture.png", "\0/" + "work/main"),
        ("ignored/utils.py", "x = 1\n"),
    ],
)
def test_what_keeps_the_budgets_is_not_named(repository: Path, name: str, text: str) -> None:
    write(repository, name, text)
    assert check(repository) == (0, "Budgets kept.\n")
