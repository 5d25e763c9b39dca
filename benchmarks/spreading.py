"""Measures the gain of a second worker in `build`: large venues, and many venues of one paper, without PDFs.

`python benchmarks/spreading.py OUT PAPERS VENUES` prints a row for each corpus and number of workers. On a machine with
other work, wall time says little; so the time on two idle cores is computed from processor times: that of
this process alone, plus half of that of parallel work.
"""

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from fill import fill
from many_venues import write_notes
from peercorpus.execution.progress import Progress
from peercorpus.execution.requests import BuildRequest
from peercorpus.pipeline.build import build
from peercorpus.pipeline.build_venues import SPREAD
from peercorpus.workspace.workspace import open_workspace
from watching import PROGRAM


class Phases:
    """Processor time of this process before, while and after workers build the tables, in seconds."""

    def __init__(self) -> None:
        self.first_s: float | None = None
        self.last_s: float | None = None

    def show(self, progress: Progress) -> None:
        """Take the time at the first and the last news of the workers."""
        if progress.what == SPREAD:
            self.last_s = time.process_time()
            self.first_s = self.last_s if self.first_s is None else self.first_s


def measure(folder: Path, workers: int) -> tuple[float, float, float]:
    """Build a workspace in this process and workers; return wall, processor and ideal time, in seconds.

    The start of the interpreter and its imports count, as they do for a user.
    """
    phases = Phases()
    began = time.monotonic() - time.process_time()
    with open_workspace(folder) as workspace:
        opened_s = time.process_time()
        build(workspace, options=BuildRequest(workers=workers), progress=phases.show)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    of_workers_s = used.ru_utime + used.ru_stime
    total_s = time.process_time() + of_workers_s
    if phases.last_s is None:
        return time.monotonic() - began, total_s, total_s
    alone_s = opened_s + time.process_time() - phases.last_s
    return time.monotonic() - began, total_s, alone_s + (total_s - alone_s) / workers


def main(out: str, papers: str, venues: str) -> None:
    """Print the table."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    fill(folder / "papers", int(papers))
    write_notes(folder / "notes.jsonl", int(venues))
    filled = [*PROGRAM, "import", str(folder / "notes.jsonl"), "-w", str(folder / "venues")]
    subprocess.run(filled, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print("| corpus | workers | s | s CPU | s on idle cores | times one |\n|---|--:|--:|--:|--:|--:|")
    for name, what in (("papers", f"{int(papers):,} papers of five venues"), ("venues", f"{int(venues):,} venues")):
        before_s = 0.0
        for workers in (1, 2):
            shutil.rmtree(folder / "corpus", ignore_errors=True)
            shutil.copytree(folder / name, folder / "corpus")
            command = [sys.executable, __file__, "--measure", str(folder / "corpus"), str(workers)]
            line = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=os.environ).stdout
            wall_s, used_s, ideal_s = map(float, line.split())
            before_s = before_s or ideal_s
            cells = f"{wall_s:.1f} | {used_s:.1f} | {ideal_s:.1f} | {before_s / ideal_s:.2f}"
            print(f"| {what} | {workers} | {cells} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--measure":
        print(*measure(Path(sys.argv[2]), int(sys.argv[3])))
    else:
        main(*sys.argv[1:])
