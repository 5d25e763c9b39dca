"""`scripts/check_budgets.py` names what breaks a budget, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "check_budgets.py"
MODULE = '"""Reads forms."""\n'
LONG_FUNCTION = "def read() -> int:\n" + "    x = 1\n" * 59 + "    return x\n"


def check(repository: Path, *options: str) -> tuple[int, str]:
    """The exit status and the output for a repository."""
    run = subprocess.run([sys.executable, str(SCRIPT), str(repository), *options], capture_output=True, text=True)
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
        ("src/forms.py", MODULE + "x = 1\n" * 600, "601 lines"),
        ("src/forms.py", MODULE + LONG_FUNCTION, "'read' has 61 lines"),
        ("src/forms.py", "x = 1\n", "no summary"),
        ("src/forms.py", '"""Reads forms\nand more."""\n', "no summary"),
        ("src/forms/__init__.py", "", "no summary"),
        ("src/utils.py", MODULE, "'utils.py' describes nothing"),
        ("src/_helpers.py", MODULE, "'_helpers.py' describes nothing"),
        ("docs/base.md", "Text.\n", "'base.md' describes nothing"),
        ("docs/notes.md", "It lies in /" + "work/main.\n", "exists on one machine only"),
        ("pip.conf", "index" + "-url = https://example.org\n", "exists on one machine only"),
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


def released(repository: Path, version: str = "0.2.0", cited: str = "0.2.0", day: str = "2027-01-31") -> None:
    """Write the files that state a release."""
    write(repository, "CHANGELOG.md", "## [Unreleased]\n\n## [0.2.0] - 2027-01-31\n\n## [0.1.0] - 2026-11-22\n")
    write(repository, "pyproject.toml", f'[project]\nversion = "{version}"\n')
    write(repository, "CITATION.cff", f"version: {cited}\ndate-released: {day}\n")


def test_one_version_is_told_everywhere(repository: Path) -> None:
    released(repository)
    assert check(repository) == (0, "Budgets kept.\n")
    assert check(repository, "--tag", "v0.2.0") == (0, "Budgets kept.\n")


@pytest.mark.parametrize(
    ("told", "where"),
    [
        ({"version": "0.1.0"}, "pyproject.toml:1: "),
        ({"cited": "0.1.0"}, "CITATION.cff:1: "),
        ({"day": "2026-11-22"}, "CITATION.cff:1: "),
    ],
)
def test_another_version_or_day_is_named(repository: Path, told: dict[str, str], where: str) -> None:
    released(repository, **told)
    status, output = check(repository)
    assert (status, output.count("\n")) == (1, 1)
    assert output.startswith(where)
    assert "0.2.0" in output


def test_a_tag_of_another_version_is_named(repository: Path) -> None:
    released(repository)
    status, output = check(repository, "--tag", "v0.1.0")
    assert status == 1
    assert output.startswith("tag v0.1.0:1: ")


def test_a_change_log_without_a_release_is_named(repository: Path) -> None:
    write(repository, "CHANGELOG.md", "## [Unreleased]\n")
    status, output = check(repository)
    assert status == 1
    assert output.startswith("CHANGELOG.md:1: ")


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
