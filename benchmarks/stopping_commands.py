"""Stops the commands of the pipeline by Ctrl-C at instants distributed over their runs, and reports how each ended.

`python benchmarks/stopping_commands.py [--stops N] [--result FILE] [COMMAND...]`
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from os import cpu_count, getloadavg
from pathlib import Path

from killing import PROGRAM, run_to_end
from killing_commands import Step, list_first_steps, settle_secrets
from kills import read_content
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world

STOPS = 30
"""Stops of each command, at instants spread evenly over its undisturbed run."""

EARLY_S = 0.3
LATE_S = 0.3
EDGE_STOPS = 10
"""Further stops in the first seconds of a run, and as many in its last ones."""

MOST_S = 5.0
"""Longest that a command may take to end, in seconds of a machine that has nothing else to do."""

START_S = 0.2
"""Seconds in which an interrupt may still meet Python itself, before a line of ours has run."""

PAPERS = 12
SERVES_S = 3.0
"""Seconds for which the explorer's server is taken to run."""

STOPPED = "Stopped; run the same command again to continue."


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended after Ctrl-C: its exit code, what it said on stderr, and the seconds before and after.

    Attributes:
        slowness: Processes that waited for each core then, at least 1.
    """

    code: int
    said: str
    after_s: float
    took_s: float
    slowness: float

    @property
    def verdict(self) -> str:
        """Whether it ended as it should: `whole` if it had ended by itself before."""
        if self.took_s > MOST_S * self.slowness:
            return f"took {self.took_s:.1f} s, code {self.code}"
        if self.code == 0:
            return "whole"
        if (
            self.after_s < START_S * self.slowness
            and self.code in {1, -signal.SIGINT}
            and "peercorpus/cli/" not in self.said
        ):
            return "before its start"
        lines = self.said.strip().splitlines()
        is_one = lines[-1:] == [STOPPED] and "Traceback" not in self.said
        return "stopped" if self.code == 130 and is_one else f"code {self.code}: {self.said[-600:]}"


PUBLISH = Step("publish", ("publish", "--workspace", "corpus", "--out", "release"))
REPORT = Step("report", ("report", "--workspace", "corpus", "--out", "report"))
EXPLORE = Step("explore", ("explore", "--workspace", "corpus", "--no-browser", "--port", "0"))
BENCH = Step("bench", ("bench", "acceptance", "--release", "release", "--logs", "logs"))
MAKES = {
    "build": "corpus/tables",
    "publish": "release",
    "report": "report",
    "bench": "logs",
    "explore": "corpus/explorer",
}
"""What a command makes, which is removed before each run so that there is something to stop."""

WHOLE_OR_ABSENT = ("release", "report", "logs/leaderboard.csv")
"""What other programs read: it is there whole, or not at all."""


def stop_at(step: Step, folder: Path, after_s: float) -> Ending:
    """Start a command and send it SIGINT after some seconds."""
    with subprocess.Popen(
        [*PROGRAM, *step.arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as run:
        try:
            _, said = run.communicate(timeout=after_s)
            return Ending(run.returncode, said, after_s, 0.0, 1.0)
        except subprocess.TimeoutExpired:
            began = time.monotonic()
            run.send_signal(signal.SIGINT)
        try:
            _, said = run.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            run.kill()
            _, said = run.communicate()
        return Ending(
            run.returncode, said, after_s, time.monotonic() - began, max(1.0, getloadavg()[0] / (cpu_count() or 1))
        )


def read_files(path: Path) -> dict[str, bytes]:
    """Return the bytes of a file, or of every file of a folder, by name; empty if there is none."""
    paths = [path] if path.is_file() else sorted(path.rglob("*"))
    return {str(inner.relative_to(path.parent)): inner.read_bytes() for inner in paths if inner.is_file()}


def read_products(folder: Path) -> dict[str, object]:
    """Return what the commands made: rows and objects of the workspace, and every file that other programs read."""
    products: dict[str, object] = {**read_content(folder / "corpus")}
    for name in WHOLE_OR_ABSENT:
        products |= read_files(folder / name)
    return products


def draw_instants(whole_s: float, stops: int, draw: random.Random) -> Iterator[float]:
    """Yield instants spread over a run of so many seconds, then more in its beginning and at its end."""
    for start_s, length_s, count in (
        (0, whole_s, stops),
        (0, EARLY_S, EDGE_STOPS),
        (max(0, whole_s - LATE_S), 2 * LATE_S, EDGE_STOPS),
    ):
        for number in range(count):
            yield start_s + length_s * (number + draw.random()) / count


def sweep(step: Step, folder: Path, whole_s: float, stops: int, draw: random.Random) -> Counter[str]:
    """Stop a command at instants spread over its run, each time from the start, and count how it ended."""
    product = MAKES[step.name]
    wanted = {name: read_files(folder / name) for name in WHOLE_OR_ABSENT}
    verdicts: Counter[str] = Counter()
    for after_s in draw_instants(whole_s, stops, draw):
        shutil.rmtree(folder / product, ignore_errors=True)
        verdicts[stop_at(step, folder, after_s).verdict] += 1
        for name, files in wanted.items():
            if name.startswith(product) and read_files(folder / name) not in ({}, files):
                verdicts[f"left half of '{name}'"] += 1
    if step is not EXPLORE:
        run_to_end(step.arguments, folder, {})
    return verdicts


def report(scratch: Path, stops: int, names: list[str], result: Path | None) -> None:
    """Sweep all commands, or those named, then finish each and compare what it made with what it made undisturbed.

    Raises:
        SystemExit: A command ended otherwise than in one sentence, or what it made differs.
    """
    draw = random.Random(0)
    with serve_simulator(build_world(papers=PAPERS)) as service:
        harvest, build = list_first_steps(service)
        run_to_end(harvest.arguments, scratch, {})
    settle_secrets(scratch)
    steps = [build, PUBLISH, REPORT, BENCH]
    took_s = {step.name: run_to_end(step.arguments, scratch, {}) for step in steps} | {"explore": SERVES_S}
    wanted = read_products(scratch)
    found: list[dict[str, object]] = []
    is_bad = False
    for step in [step for step in [*steps, EXPLORE] if step.name in names or not names]:
        verdicts = sweep(step, scratch, took_s[step.name], stops, draw)
        found.append({"command": step.name, "whole_s": round(took_s[step.name], 1), **verdicts})
        print(json.dumps(found[-1]), flush=True)
        is_bad = is_bad or bool(verdicts.keys() - {"whole", "stopped", "before its start"})
    products = read_products(scratch)
    differing = sorted(name for name in wanted.keys() | products.keys() if wanted.get(name) != products.get(name))
    print(json.dumps({"differing": differing}), flush=True)
    if result is not None:
        result.write_text(json.dumps({"commands": found, "differing": differing}, indent=1) + "\n", encoding="utf-8")
    if is_bad or differing:
        raise SystemExit("A command did not end as it should.")


def main() -> None:
    """Read the arguments and sweep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", choices=[*MAKES, []], help="all if none is named")
    parser.add_argument("--stops", type=int, default=STOPS, help="spread over the run of each command")
    parser.add_argument("--result", type=Path, help="the JSON file to write")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report(Path(folder), asked.stops, asked.commands, asked.result)


if __name__ == "__main__":
    main()
