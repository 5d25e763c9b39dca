"""Every writing command, killed at random moments, ends like an undisturbed one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow(94)

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "run.py"


@pytest.mark.slow
@pytest.mark.fault(
    "kill",
    "every command that writes, with all its processes, by SIGKILL at random instants",
    "the same command continues; tables, raw.db, releases and all other files are those of an undisturbed run",
    times=8,
)
def test_killed_commands_end_as_undisturbed(tmp_path: Path) -> None:
    pytest.importorskip("typst", reason="typst is not installed: pip install 'peercorpus[demo]'")
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed: pip install 'peercorpus[hf]'")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'peercorpus[report]'")
    result = tmp_path / "result.json"
    command = [sys.executable, str(BENCHMARK), "kills-commands", "--papers", "4", "--result", str(result)]
    run = subprocess.run(
        [*command, "--kills-per-command", "1", "--workspaces", "1", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=1_200,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(result.read_text())
    assert (found["workspaces"], found["differing"]) == (1, 0), run.stdout
    # A run may end before its moment comes.
    assert sum(found["kills"].values()) >= 8
    assert len(found["kills"]) > 15
