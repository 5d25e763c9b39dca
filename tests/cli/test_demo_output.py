"""What `demo` prints at its end: a short status, and the commands for a real venue as they can be called."""

import shlex
import subprocess
import sys
from pathlib import Path


def test_the_demo_ends_with_a_short_status_and_runnable_commands(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "peercorpus", "--quiet", "demo", "--papers", "5", "--out", str(tmp_path / "demo")]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={"PATH": "/nowhere", "PYTHONPATH": ":".join(sys.path)}
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert lines[0].split() == ["venue", "papers", "reviews", "proven", "other", "none", "state"]
    assert "All sums agree: no row is lost." in lines
    program = f"{shlex.quote(sys.executable)} -m peercorpus"
    assert lines[-5:-2] == [
        "For a real venue, with an OpenReview account:",
        f"  {program} login",
        f"  {program} harvest ICLR2024 -w corpus --limit 20",
    ]
