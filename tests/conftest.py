"""What several folders of tests share."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commands import run
from simulated_store import bucket, served

__all__ = ["bucket", "demo_folder", "run", "served"]

# A shell that starts the tests in the background has them ignore Ctrl-C, and so all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `peercorpus demo` leaves behind, made once: a workspace in `corpus` and a dataset in `release`.

    Tests only read it; one that changes anything copies it first.
    """
    folder = tmp_path_factory.mktemp("session") / "demo"
    command = [sys.executable, "-m", "peercorpus", "demo", "--out", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    assert run.returncode == 0, f"peercorpus demo failed:\n{run.stdout}\n{run.stderr}"
    return folder


@pytest.fixture(autouse=True)
def _signed_out(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nobody is signed in, whoever runs the tests."""
    for name in ("TOKEN", "USER", "PASSWORD", "MFA_CODE"):
        monkeypatch.delenv(f"PEERCORPUS_{name}", raising=False)
    monkeypatch.setenv("PEERCORPUS_CONFIG", str(tmp_path_factory.getbasetemp() / "nobody"))
