"""Running commands in tests, and checking refusals."""

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from peercorpus.cli.main import main


@dataclass(frozen=True)
class Ended:
    """The result of a command."""

    code: int | str | None
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process."""

    def run_here(*arguments: str | Path) -> Ended:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        return Ended(ended.value.code, *capsys.readouterr())

    return run_here


def run_command(*arguments: str | Path) -> Ended:
    """Run a command in this process outside any test: for fixtures that several tests share."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err, pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return Ended(ended.value.code, out.getvalue(), err.getvalue())


def succeed(*arguments: str | Path) -> None:
    """Run a command in this process, for fixtures that outlive one test."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert ended.value.code == 0


def assert_refused(ended: Ended, *named: str, code: int = 2) -> None:
    """Assert that a command exited with a code and one line on stderr that names all of these."""
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.startswith("peercorpus: ")
    assert ended.err.count("\n") == 1
    assert ended.err.endswith("\n")
    assert [part for part in named if part not in ended.err] == []
