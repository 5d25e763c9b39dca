"""Runs and measures a command: the reported memory excludes that of the process that starts it.

The kernel includes in the peak of a new process what its parent used until then. So a small process of a few
megabytes starts the command and waits for it.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

STARTER = """\
import json, os, sys, time
began = time.perf_counter()
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
took = [status, time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]
with open(sys.argv[1], "w") as file:
    json.dump(took, file)
"""


@dataclass(frozen=True, slots=True)
class Apart:
    """The cost of a command: wall and processor time in seconds, and the peak of its largest process in megabytes."""

    seconds: float
    cpu_s: float
    peak_mb: float


def run_apart(command: Sequence[str], *, quiet: bool = False) -> Apart:
    """Run a command that must succeed.

    Raises:
        SystemExit: It failed.
    """
    output = subprocess.DEVNULL if quiet else None
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "took.json"
        starter = [sys.executable, "-I", "-S", "-c", STARTER, str(written)]
        subprocess.run([*starter, *command], stdout=output, stderr=output, check=True)
        status, *took = json.loads(written.read_text(encoding="utf-8"))
    if status:
        raise SystemExit(f"{' '.join(command)} failed.")
    return Apart(*took)


def own_peak_mb() -> float:
    """Return the most that this process used, in megabytes."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="ascii")) if status.is_file() else None
    if found is not None:
        return int(found[1]) / 1024
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 2**20 if os.uname().sysname == "Darwin" else size / 1024
