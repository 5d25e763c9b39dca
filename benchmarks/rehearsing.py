"""Rehearses the whole corpus on this machine: each step in processes of its own, with time, processor, memory and disk.

What a finished step took stands in `steps.jsonl`; the same call goes on behind it.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

PAPERS = 51_529
VENUE_YEARS = 22
"""Of ReviewBench, whose 196,099 reviews are 3.8 a paper; the simulator writes 3.7."""
PORT = 4800
URLS = ("--url-v1", f"http://127.0.0.1:{PORT}", "--url-v2", f"http://127.0.0.1:{PORT + 1}")
READY_S = 900
EVERY_S = 0.25


@dataclass(frozen=True)
class Took:
    """What a part of a step took.

    Attributes:
        part: The stage, where the step has several.
        cpu_s: Of all its processes.
        peak_mb: The most that its processes held together, pages they share counted for each.
        largest_mb: The most that one of them held.
    """

    step: str
    part: str
    wall_s: float
    cpu_s: float
    peak_mb: float
    largest_mb: float


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
        """Look until told that it is over."""
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
                times, memory = one.cpu_times(), one.memory_info().rss
            except psutil.NoSuchProcess:
                continue
            self._cpu_s[one.pid] = times.user + times.system
            held.append(memory)
        self.peak, self.largest = max(self.peak, sum(held)), max(self.largest, max(held, default=0))


def _part(line: str) -> str | None:
    """The stage that a line of progress is of: `VENUE: STAGE 3 of 8`."""
    words = line.partition(": ")[2].split(" ")
    return words[0] if len(words) > 3 and words[-2] == "of" else None


def measured(step: str, command: Sequence[str], log: Path) -> Iterator[Took]:
    """Run a command of peercorpus, and tell what each part of it took."""
    began = last = time.monotonic()
    parts: dict[str, list[float]] = {}
    with (
        log.open("w", encoding="utf-8") as said,
        subprocess.Popen(
            [sys.executable, "-m", "peercorpus", *command], stdout=said, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        watch = Watch(psutil.Process(process.pid))
        watch.start()
        for line in process.stderr or ():
            said.write(line)
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
    rest = [time.monotonic() - last, watch.cpu_s - sum(one[1] for one in parts.values()), watch.peak, watch.largest]
    parts[step] = [a + b for a, b in zip(parts[step], rest, strict=True)] if step in parts else rest
    for name, (wall_s, cpu_s, peak, largest) in parts.items():
        yield Took(step, name, wall_s, cpu_s, peak / 1e6, largest / 1e6)
    yield Took(step, "all", time.monotonic() - began, watch.cpu_s, 0, 0)


@contextmanager
def simulated(papers: int, folder: Path) -> Iterator[list[str]]:
    """The service, with the venues that it has."""
    told = ["simulate", "--papers", str(papers), "--venue-years", str(VENUE_YEARS), "--large", "--port", str(PORT)]
    with (folder / "simulator.log").open("w") as log:
        process = subprocess.Popen([sys.executable, "-m", "peercorpus", *told], stdout=log, stderr=log)
    try:
        until = time.monotonic() + READY_S
        while "Harvest it" not in (folder / "simulator.log").read_text():
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"The simulator did not start: see {folder / 'simulator.log'}")
            time.sleep(0.5)
        text = (folder / "simulator.log").read_text()
        yield text.partition("Venues: ")[2].partition("\n")[0].split(", ")
    finally:
        process.terminate()
        process.wait()


def _size_mb(path: Path) -> float:
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file()) / 1e6


def _steps(folder: Path) -> Mapping[str, Sequence[str]]:
    corpus, release = str(folder / "corpus"), str(folder / "release")
    return {
        "build": ["build", "-w", corpus],
        "publish": ["publish", "-w", corpus, "--out", release, "--splits", "re2"],
        "verify": ["verify", release],
        "report": ["report", "-w", corpus, "--out", str(folder / "report")],
        "index": ["explore", "-w", corpus, "--select", "", "--out", str(folder / "papers.csv")],
    }


def rehearse(folder: Path, papers: int) -> None:
    """All steps at one size, and what each took."""
    folder.mkdir(parents=True, exist_ok=True)
    done_path = folder / "steps.jsonl"
    lines = done_path.read_text().splitlines() if done_path.exists() else []
    done = {json.loads(line)["step"] for line in lines}

    def run(step: str, command: Sequence[str]) -> None:
        found = [asdict(one) for one in measured(step, command, folder / f"{step}.log")]
        with done_path.open("a") as file:
            file.writelines(json.dumps(one) + "\n" for one in found)

    if "harvest" not in done:
        with simulated(papers, folder) as venues:
            run("harvest", ["harvest", *venues, "-w", str(folder / "corpus"), *URLS])
    for step, command in _steps(folder).items():
        if step not in done:
            run(step, command)
    told = [json.loads(line) for line in done_path.read_text().splitlines()]
    print(f"\n{papers:,} papers of {VENUE_YEARS} venue-years\n")
    print("| step | part | s | s CPU | peak MB | largest process MB |\n|---|---|--:|--:|--:|--:|")
    for one in told:
        print(
            f"| {one['step']} | {one['part']} | {one['wall_s']:,.0f} | {one['cpu_s']:,.0f} | {one['peak_mb']:,.0f}"
            f" | {one['largest_mb']:,.0f} |"
        )
    for name in ("corpus", "release", "report"):
        print(f"\n{name}: {_size_mb(folder / name):,.0f} MB on disk", end="")
    print()


if __name__ == "__main__":
    rehearse(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else PAPERS)
