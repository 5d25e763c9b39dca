"""Measures the report on tables that `publishing.py fill FOLDER PAPERS` wrote: `reporting.py FOLDER`."""

import os
import sys
import tempfile
import time
from pathlib import Path


def measure_report(folder: Path, *options: str) -> tuple[float, float]:
    """Minutes and peak megabytes of `peercorpus report` in a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "peercorpus", "report", "-w", str(folder), "--out", f"{scratch}/out", *options]
        began = time.perf_counter()
        child = os.posix_spawn(sys.executable, command, os.environ)
        _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed.")
    return (time.perf_counter() - began) / 60, usage.ru_maxrss / 1024


if __name__ == "__main__":
    print("| report of | minutes | peak MB |\n|---|---:|---:|")
    for what, options in (("all papers", ()), ("one conference", ("--where", "conference=iclr"))):
        minutes, peak = measure_report(Path(sys.argv[1]), *options)
        print(f"| {what} | {minutes:.1f} | {peak:,.0f} |", flush=True)
