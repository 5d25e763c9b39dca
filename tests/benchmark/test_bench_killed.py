"""A run that is killed halfway and restarted repeats only the questions that were under way."""

import csv
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import Run
from invented_bench import right_answers
from model_endpoint import Reply, completion, serving
from peercorpus.benchmark.leaderboard import make_boards
from peercorpus.benchmark.logs import read_runs

pytestmark = pytest.mark.slow(21)

SAMPLES_PER_BATCH = 2
CASES = 8 + 16
KILLED_AFTER = 13
"""Number of questions, from two tasks, neither of which is finished by then."""


class Slow:
    """Knows the right answers, answers slowly, signals when a number of questions is reached, and then waits itself."""

    def __init__(self, release: Path) -> None:
        self._known, self._lock = right_answers(release), threading.Lock()
        self.asked: list[tuple[tuple[str, str], ...]] = []
        self.has_enough, self.goes_on = threading.Event(), threading.Event()

    def __call__(self, body: dict[str, Any]) -> Reply:
        told = tuple((one["role"], one["content"]) for one in body["messages"])
        with self._lock:
            self.asked.append(told)
            if len(self.asked) == KILLED_AFTER:
                self.has_enough.set()
        time.sleep(0.1)
        if self.has_enough.is_set():
            self.goes_on.wait(60)
        return completion(self._known[told])


def bench(release: Path, logs: Path) -> list[str]:
    # No other test uses the name: inspect_ai caches a model with its address for the lifetime of the process.
    options = ["--release", str(release), "--logs", str(logs), "--model", "openai-api/local/killed", "--no-baselines"]
    return [
        "bench",
        "acceptance",
        "rebuttal",
        *options,
        "--max-connections",
        str(SAMPLES_PER_BATCH),
    ]


@pytest.fixture
def slow(bench_data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """Return a model at the address named by the environment."""
    slow = Slow(bench_data)
    with serving(rule=slow) as stand:
        monkeypatch.setenv("LOCAL_API_KEY", "a-key")
        monkeypatch.setenv("LOCAL_BASE_URL", stand.url)
        yield slow
        slow.goes_on.set()


def start(release: Path, logs: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "peercorpus", *bench(release, logs)]
    # A separate session, so that everything it starts ends with it.
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def table(logs: Path) -> list[dict[str, str]]:
    with (logs / "leaderboard.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.fault("kill", "a benchmark, by SIGKILL", "the same command goes on")
@pytest.mark.usefixtures("quietly")
def test_a_killed_run_resumes(run: Run, slow: Slow, bench_data: Path, tmp_path: Path) -> None:
    process = start(bench_data, tmp_path / "killed")
    assert slow.has_enough.wait(120)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    slow.goes_on.set()
    broken = make_boards(read_runs(tmp_path / "killed"))
    assert broken.boards == []
    assert broken.notes
    assert all("again" in note for note in broken.notes)
    assert run(*bench(bench_data, tmp_path / "killed")).code == 0
    asked = len(slow.asked)
    assert run(*bench(bench_data, tmp_path / "whole")).code == 0
    assert len(slow.asked) - asked == CASES
    assert CASES <= asked <= CASES + SAMPLES_PER_BATCH
    assert len(set(slow.asked[:asked])) == CASES
    assert table(tmp_path / "killed") == table(tmp_path / "whole")
    assert {(row["task"], row["n"]) for row in table(tmp_path / "killed")} == {("acceptance", "8"), ("rebuttal", "16")}


def test_an_interrupted_run_is_reported(slow: Slow, bench_data: Path, tmp_path: Path) -> None:
    process = start(bench_data, tmp_path)
    assert slow.has_enough.wait(120)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert " again" in err.splitlines()[-1]
    assert out == ""
