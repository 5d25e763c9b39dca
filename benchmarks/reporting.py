"""Measures the report on tables that `publishing.py fill FOLDER PAPERS` wrote: `reporting.py FOLDER`."""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from publishing import change_venue


def measure_report(folder: Path, *options: str) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and peak megabytes of `peercorpus report` in a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "peercorpus", "report", "-w", str(folder), "--out", f"{scratch}/out", *options]
        began = time.perf_counter()
        child = os.posix_spawn(sys.executable, command, os.environ)
        _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed.")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(folder: Path) -> None:
    """Print the table; kept counts are removed first, and a venue of the workspace is changed."""
    shutil.rmtree(folder / "report", ignore_errors=True)
    print("| report of | s | s of processor time | peak MB |\n|---|---:|---:|---:|")
    where = ("--where", "conference=iclr")
    for what, options in (("from nothing", ()), ("nothing changed", ()), ("a venue changed", ()), ("a part", where)):
        if what == "a venue changed":
            change_venue(folder, 3)
        seconds, used_s, peak = measure_report(folder, *options)
        print(f"| {what} | {seconds:.0f} | {used_s:.0f} | {peak:,.0f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
