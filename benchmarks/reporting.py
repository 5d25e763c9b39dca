"""Measures the report on tables that `publishing.py fill FOLDER PAPERS` wrote: `reporting.py FOLDER`."""

import shutil
import sys
import tempfile
from pathlib import Path

from apart import run_apart
from publishing import change_venue


def measure_report(folder: Path, *options: str) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and peak megabytes of `peercorpus report` in a separate process."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "peercorpus", "report", "-w", str(folder), "--out", f"{scratch}/out", *options]
        took = run_apart(command)
    return took.seconds, took.cpu_s, took.peak_mb


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
