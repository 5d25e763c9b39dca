"""How tests run a command, and what a refusal looks like."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from peercorpus.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

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


def assert_refused(ended: Ended, sentence: str) -> None:
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("peercorpus: ")
    assert ended.err.count("\n") == 1
    assert ended.err.endswith("\n")
    assert sentence in ended.err
