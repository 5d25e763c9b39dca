"""Starts and kills commands, and compares two finished workspaces."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from os import environ, killpg
from pathlib import Path
from signal import SIGKILL

PROGRAM = (sys.executable, "-m", "peercorpus")

LONGEST_S = 600.0
"""A run that nobody kills has ended by then, or hangs."""


def run_to_end(arguments: Sequence[str], folder: Path, settings: Mapping[str, str]) -> float:
    """Run a command in a folder and return the seconds that it took.

    Args:
        arguments: Of `peercorpus`.
        folder: The working directory.
        settings: Environment variables besides those of this process.

    Raises:
        SystemExit: It failed or did not end.
    """
    began = time.monotonic()
    if not run_until(arguments, folder, settings, LONGEST_S):
        raise SystemExit(f"{arguments[0]} in {folder.name} did not end in {LONGEST_S:.0f} s")
    return time.monotonic() - began


def run_until(
    arguments: Sequence[str],
    folder: Path,
    settings: Mapping[str, str],
    after_s: float,
    wait: Callable[[subprocess.Popen[bytes]], None] = lambda _: None,
) -> bool:
    """Start a command and kill it with all its processes after some seconds; return whether it ended before.

    Args:
        arguments: Of `peercorpus`.
        folder: The working directory.
        settings: Environment variables besides those of this process.
        after_s: Seconds until it is killed.
        wait: Returns when these seconds begin.

    Raises:
        SystemExit: It failed.
    """
    command = [*PROGRAM, *arguments]
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    run = subprocess.Popen(
        command, cwd=folder, env=environ | settings, stdin=null, stdout=null, stderr=pipe, start_new_session=True
    )
    try:
        wait(run)
        _, said = run.communicate(timeout=after_s)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            killpg(run.pid, SIGKILL)
        _, said = run.communicate()
    if run.returncode not in {0, -SIGKILL}:
        raise SystemExit(f"{arguments[0]} in {folder.name} ended with {run.returncode}: {said.decode()}")
    return run.returncode == 0


def compare(wanted: Mapping[str, object], found: Mapping[str, object]) -> str:
    """Return what differs, in words."""
    names = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    return f"differs in {', '.join(names)}" if names else "equal"
