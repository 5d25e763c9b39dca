"""A run that is killed in its middle and started again asks nothing twice but what was under way."""

import csv
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from invented_bench import right_answers
from model_endpoint import Reply, StandIn, completion, serving
from peercorpus.benchmark.logs import read_runs
from peercorpus.benchmark.table import make_boards

AT_A_TIME = 2
CASES = 8 + 16
KILLED_AFTER = 13
"""Questions: of two tasks, neither of which is done by then."""


class Slow:
    """Knows what is right, takes its time, wakes who waits for a number of questions, and then waits itself."""

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


def start(release: Path, logs: Path, stand: StandIn) -> subprocess.Popen[str]:
    options = ["--release", str(release), "--logs", str(logs), "--model", "openai-api/local/x", "--no-baselines"]
    options += ["--max-connections", str(AT_A_TIME), "--resamples", "5"]
    command = [sys.executable, "-m", "peercorpus", "bench", "acceptance", "rebuttal", *options]
    known = os.environ | {"LOCAL_API_KEY": "a-key", "LOCAL_BASE_URL": stand.url}
    # A session of its own, so that whatever it starts ends with it.
    return subprocess.Popen(
        command, env=known, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    return out


def table(logs: Path) -> list[dict[str, str]]:
    with (logs / "leaderboard.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("quietly")
def test_a_killed_run_goes_on(bench_data: Path, tmp_path: Path) -> None:
    slow = Slow(bench_data)
    with serving(rule=slow) as stand:
        process = start(bench_data, tmp_path / "killed", stand)
        assert slow.has_enough.wait(60)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        slow.goes_on.set()
        broken = make_boards(read_runs(tmp_path / "killed"), 2)
        assert broken.boards == []
        assert broken.notes
        assert all("it broke off; run the same again" in note for note in broken.notes)
        finish(start(bench_data, tmp_path / "killed", stand))
        asked = len(slow.asked)
        finish(start(bench_data, tmp_path / "whole", stand))
    assert len(slow.asked) - asked == CASES
    assert CASES <= asked <= CASES + AT_A_TIME
    assert len(set(slow.asked[:asked])) == CASES
    assert table(tmp_path / "killed") == table(tmp_path / "whole")
    assert {(row["task"], row["n"]) for row in table(tmp_path / "killed")} == {("acceptance", "8"), ("rebuttal", "16")}


def test_an_interrupted_run_says_so(bench_data: Path, tmp_path: Path) -> None:
    slow = Slow(bench_data)
    with serving(rule=slow) as stand:
        process = start(bench_data, tmp_path, stand)
        assert slow.has_enough.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        slow.goes_on.set()
    assert process.returncode == 130, out + err
    assert err.endswith("Stopped; run the same command again to go on.\n")
    assert out == ""
