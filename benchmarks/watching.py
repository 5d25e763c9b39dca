"""Measures a peercorpus command: time, processor, memory and disk, in total and by the stages that it reports."""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

PROGRAM = (sys.executable, "-m", "peercorpus")
EVERY_S = 0.25
PROGRESS = re.compile(r": (\w+)[\w ]* [\d,]+ of [\d,]+")
ALL = "all"
"""The part that means a whole step."""


@dataclass(frozen=True)
class Took:
    """What a part of a step took.

    Attributes:
        part: The stage, where the step has several.
        cpu_s: Of all its processes.
        peak_mb: The most that its processes held together.
        largest_mb: The most that one of them held; pages of files that it maps, which the system takes back where it
            needs them, do not count.
        disk_mb: What the folder held after the whole step; 0 for a part of one.
    """

    step: str
    part: str
    wall_s: float
    cpu_s: float
    peak_mb: float
    largest_mb: float
    disk_mb: float = 0.0


class Watch(threading.Thread):
    """Looks at a process and its children again and again.

    Processor time of a child that has ended counts as far as it was seen last.
    """

    def __init__(self, process: psutil.Process) -> None:
        super().__init__(daemon=True)
        self._process, self._cpu_s = process, dict[int, float]()
        self.peak = self.largest = 0
        self.is_over = False

    @property
    def cpu_s(self) -> float:
        """Of all processes seen so far."""
        return sum(self._cpu_s.values())

    def run(self) -> None:
        """Watch until stopped."""
        while not self.is_over:
            self.look()
            time.sleep(EVERY_S)

    def look(self) -> None:
        """Look once."""
        held = []
        try:
            family = [self._process, *self._process.children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        for one in family:
            try:
                times, memory = one.cpu_times(), one.memory_info()
            except psutil.NoSuchProcess:
                continue
            self._cpu_s[one.pid] = times.user + times.system
            held.append(memory.rss - memory.shared)
        self.peak, self.largest = max(self.peak, sum(held)), max(self.largest, max(held, default=0))


def _part(line: str) -> str | None:
    """The stage that a line of progress is of: `VENUE: STAGE 3 of 8`."""
    found = PROGRESS.search(line)
    return found[1] if found else None


def measured(step: str, command: Sequence[str], log: Path) -> Iterator[Took]:
    """Run a peercorpus command, and return the cost of each part."""
    began = last = time.monotonic()
    parts: dict[str, list[float]] = {}
    with (
        log.open("w", encoding="utf-8") as said,
        subprocess.Popen(
            [*PROGRAM, *command], stdout=said, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        ) as process,
    ):
        watch = Watch(psutil.Process(process.pid))
        watch.start()
        for line in process.stderr or ():
            said.write(line)
            said.flush()
            name = _part(line.strip()) or step
            watch.look()
            took = parts.setdefault(name, [0.0, 0.0, 0.0, 0.0])
            now, before = time.monotonic(), sum(one[1] for one in parts.values())
            took[0] += now - last
            took[1] += watch.cpu_s - before
            took[2], took[3] = max(took[2], watch.peak), max(took[3], watch.largest)
            watch.peak = watch.largest = 0
            last = now
        process.wait()
        watch.is_over = True
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: see {log}")
    took = parts.setdefault(step, [0.0, 0.0, 0.0, 0.0])
    took[0] += time.monotonic() - last
    took[1] += watch.cpu_s - sum(one[1] for one in parts.values())
    took[2], took[3] = max(took[2], watch.peak), max(took[3], watch.largest)
    for name, (wall_s, cpu_s, peak, largest) in parts.items():
        yield Took(step, name, wall_s, cpu_s, peak / 1e6, largest / 1e6)
    peak, largest = (max(one[place] for one in parts.values()) / 1e6 for place in (2, 3))
    yield Took(step, ALL, time.monotonic() - began, watch.cpu_s, peak, largest, size_mb(log.parent))


def noted(folder: Path) -> list[Took]:
    """What the steps took that ended in a folder, in their order."""
    path = folder / "steps.jsonl"
    return [Took(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def run_once(step: str, command: Sequence[str], folder: Path) -> None:
    """Run a command of peercorpus, unless that step is noted in the folder, and note what it took."""
    if step in {one.step for one in noted(folder)}:
        return
    log = folder / f"{step}.log"
    if log.exists():
        print(f"'{step}' was broken off before: what is noted of it is the rest.", file=sys.stderr)
    found = [asdict(one) for one in measured(step, command, log)]
    with (folder / "steps.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in found)


def size_mb(path: Path) -> float:
    """Of all files below a folder."""
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file()) / 1e6
