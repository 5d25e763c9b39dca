"""Numbers that no option can have: each is refused in one sentence that names the option, before anything is done."""

from pathlib import Path

import pytest

from commands import Run, assert_refused

NOT_FINITE = ("nan", "inf", "-inf")
REFUSED = [
    *(("build", "--pdf-timeout-s", number) for number in (*NOT_FINITE, "0", "-1")),
    *(("build", "--workers", number) for number in ("nan", "0", "-1", "1.5")),
    *(("harvest", "--limit", number) for number in ("nan", "0", "-1")),
    *(("sql", "--time-limit-s", number) for number in (*NOT_FINITE, "0", "-1")),
    *(("bench", "--temperature", number) for number in (*NOT_FINITE, "-1")),
    *(("finetune", "--min-confidence", number) for number in (*NOT_FINITE, "-1", "2")),
]
ARGUMENTS = {
    "build": ["build"],
    "harvest": ["harvest", "ICLR2024"],
    "sql": ["sql", "SELECT 1"],
    "audit": ["audit", "leaks", "."],
    "bench": ["bench", "--release", ".", "--model", "x/y"],
    "finetune": ["finetune", "--release", ".", "--model", "m", "--task", "review", "--out", "o"],
}


@pytest.mark.parametrize(("command", "option", "number"), REFUSED)
def test_a_number_that_an_option_cannot_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, command: str, option: str, number: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run(*ARGUMENTS[command], f"{option}={number}"), option)
    assert list(tmp_path.iterdir()) == []
