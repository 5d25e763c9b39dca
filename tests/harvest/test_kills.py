"""Harvests killed at random moments end like an undisturbed one, file for file and row for row."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow(21)

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "run.py"


@pytest.mark.fault("kill", "a harvest, by SIGKILL at random instants", "the same command continues", times=8)
def test_killed_harvests_reach_the_state_of_an_uninterrupted_one(tmp_path: Path) -> None:
    kills = 8
    command = [sys.executable, str(BENCHMARK), "kills", str(kills), "--papers", "5", "--out", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    killed = [line for line in run.stdout.splitlines() if line.startswith("killed")]
    assert sum(int(line.split()[1]) for line in killed) == kills, run.stdout
    assert all(line.endswith("equal") for line in killed), run.stdout
