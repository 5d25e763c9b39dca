"""Stops every command of the pipeline by Ctrl-C at instants spread over its run, and says how each one ended.

`python benchmarks/stopping_commands.py [STOPS [COMMAND...]]`
"""

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from killing import PROGRAM, run_to_end
from killing_commands import Step, list_first_steps, settle_secrets
from kills import read_content
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world

STOPS = 30
"""Stops of each command, at instants spread evenly over its undisturbed run."""

MOST_S = 5.0
"""Longest that a command may take to end, seconds."""

PAPERS = 20
SERVES_S = 3.0
"""Seconds for which the explorer's server is taken to run."""

STOPPED = "Stopped; run the same command again to continue."
MAKES = {"build": "corpus/tables", "publish": "release", "report": "report", "bench": "logs"}
"""What a command makes, which is removed before each run so that there is something to stop."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended after Ctrl-C: its exit code, what it said on stderr, and after how many seconds."""

    code: int
    said: str
    took_s: float

    @property
    def verdict(self) -> str:
        """Whether it ended as it should: `whole` if it had ended by itself before."""
        if self.code == 0:
            return "whole"
        if self.took_s > MOST_S:
            return f"took {self.took_s:.1f} s"
        lines = self.said.strip().splitlines()
        is_one = lines[-1:] == [STOPPED] and "Traceback" not in self.said
        return "stopped" if self.code == 130 and is_one else f"code {self.code}: {self.said[-600:]}"


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
            return Ending(run.returncode, said, 0.0)
        except subprocess.TimeoutExpired:
            began = time.monotonic()
            run.send_signal(signal.SIGINT)
        try:
            _, said = run.communicate(timeout=6 * MOST_S)
        except subprocess.TimeoutExpired:
            run.kill()
            _, said = run.communicate()
        return Ending(run.returncode, said, time.monotonic() - began)


def run_whole(step: Step, folder: Path) -> float:
    """Run a command to its end, and return how many seconds it took."""
    return run_to_end(step.arguments, folder, {})


def read_products(folder: Path) -> dict[str, object]:
    """Return what the commands made: rows and objects of the workspace, and every byte of the release."""
    release = folder / "release"
    files = {str(path.relative_to(release)): path.read_bytes() for path in release.rglob("*") if path.is_file()}
    return {**read_content(folder / "corpus"), **files}


def sweep(step: Step, folder: Path, whole_s: float, stops: int, draw: random.Random) -> Counter[str]:
    """Stop a command at instants spread over its run, each time from the start."""
    verdicts: Counter[str] = Counter()
    for number in range(stops):
        if step.name in MAKES:
            shutil.rmtree(folder / MAKES[step.name], ignore_errors=True)
        verdicts[stop_at(step, folder, whole_s * (number + draw.random()) / stops).verdict] += 1
    return verdicts


def report(scratch: Path, stops: int, names: Sequence[str]) -> None:
    """Sweep all commands, or those named, then finish each and compare what it made with what it made undisturbed.

    Raises:
        SystemExit: A command ended otherwise than in one sentence, or what it made differs.
    """
    draw = random.Random(0)
    publish = Step("publish", ("publish", "--workspace", "corpus", "--out", "release"))
    draws = Step("report", ("report", "--workspace", "corpus", "--out", "report"))
    bench = Step("bench", ("bench", "acceptance", "--release", "release", "--logs", "logs"))
    explore = Step("explore", ("explore", "--workspace", "corpus", "--no-browser", "--port", "0"))
    with serve_simulator(build_world(papers=PAPERS)) as service:
        harvest, build = list_first_steps(service)
        run_whole(harvest, scratch)
    settle_secrets(scratch)
    steps = [build, publish, draws] + [bench] * (not names or bench.name in names)
    took_s = {step.name: run_whole(step, scratch) for step in steps} | {"explore": SERVES_S}
    wanted = read_products(scratch)
    is_bad = False
    for step in [step for step in [*steps, explore] if step.name in names or not names]:
        verdicts = sweep(step, scratch, took_s[step.name], stops, draw)
        print(json.dumps({"command": step.name, "whole_s": round(took_s[step.name], 1), **verdicts}), flush=True)
        is_bad = is_bad or bool(verdicts.keys() - {"whole", "stopped"})
        if step is not explore:
            run_whole(step, scratch)
    differing = sorted(name for name, digest in read_products(scratch).items() if wanted.get(name) != digest)
    print(json.dumps({"differing": differing}), flush=True)
    if is_bad or differing:
        raise SystemExit("A command did not end as it should.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        report(Path(folder), int(sys.argv[1]) if len(sys.argv) > 1 else STOPS, sys.argv[2:])
