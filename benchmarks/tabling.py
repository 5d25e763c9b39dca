"""Measures what is made of simulated papers: the speed of the passes, and the memory of `build` and `publish`.

Every measurement runs in separate processes, so that their memory is not mixed up.
"""

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import orjson

from apart import run_apart
from peercorpus.conversations.build import STAGE as BUILD_CONVERSATIONS
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.forms.normalise import STAGE as NORMALISE
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace

SIZES = (1_000, 20_000)
SPEED_PAPERS = 4_000
ROUNDS = 3
KEY = "0" * 64
SCRIPTS = {name: str(Path(__file__).with_name(f"{name}.py")) for name in ("fill", "reading", "linking")}


def measure_speed(folder: Path) -> None:
    """Notes a second, in one process, each pass right after the other, the best of some rounds."""
    in_a_process("fill", str(folder), str(SPEED_PAPERS))
    with open_workspace(folder) as workspace:
        bodies = [
            found.body for venue in workspace.raw.venues() for found in workspace.raw.versions(RawKind.NOTE, venue)
        ]
        passes: dict[str, Callable[[], None]] = {
            "orjson, of text in memory": lambda: _parse(bodies),
            "orjson, of text read from raw.db": lambda: _parse_from_raw(workspace),
            "papers, reviews and posts": lambda: _run(workspace, normalise=True, converse=False),
            "papers, reviews, posts and conversations": lambda: _run(workspace, normalise=True, converse=True),
        }
        seconds = {name: min(timed(work) for _ in range(ROUNDS)) for name, work in passes.items()}
    size = sum(map(len, bodies))
    print(f"\n{len(bodies):,} notes of {SPEED_PAPERS:,} papers, {size / 1e6:.1f} MB of JSON\n")
    print("| pass | s CPU | notes/s | of the parse in memory | of the parse from raw.db |\n|---|---:|---:|---:|---:|")
    in_memory, from_raw = (seconds[name] for name in list(seconds)[:2])
    for name, took in seconds.items():
        ratios = f"{in_memory / took:.3f} | {from_raw / took:.3f}"
        print(f"| {name} | {took:.2f} | {len(bodies) / took:,.0f} | {ratios} |")


def timed(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    began = time.process_time()
    work()
    return time.process_time() - began


def _parse(bodies: Iterable[bytes]) -> None:
    for body in bodies:
        orjson.loads(body)


def _parse_from_raw(workspace: Workspace) -> None:
    for venue_id in workspace.raw.venues():
        _parse(found.body for found in workspace.raw.versions(RawKind.NOTE, venue_id))


def _run(workspace: Workspace, *, normalise: bool, converse: bool) -> None:
    for venue_id in workspace.raw.venues():
        if normalise:
            NORMALISE.run(workspace, venue_id, BuildRequest(), KEY, no_report)
        if converse:
            BUILD_CONVERSATIONS.run(workspace, venue_id, BuildRequest(), KEY, no_report)


def measure_memory(scratch: Path) -> None:
    """Peak resident memory of `peercorpus build` and `publish`, each in a separate process."""
    print("| papers | build: s | build: peak MB | publish: s | publish: peak MB |\n|---:|---:|---:|---:|---:|")
    for papers in SIZES:
        folder = scratch / f"memory-{papers}"
        in_a_process("fill", str(folder), str(papers))
        build = in_a_process("peercorpus", "build", "--workspace", str(folder))
        out = scratch / f"release-{papers}"
        publish = in_a_process("peercorpus", "publish", "--workspace", str(folder), "--out", str(out))
        print(f"| {papers:,} | {build[0]:.0f} | {build[1]:.0f} | {publish[0]:.0f} | {publish[1]:.0f} |", flush=True)


def in_a_process(what: str, *arguments: str) -> tuple[float, float]:
    """Seconds and peak megabytes of a command that must succeed."""
    head = [sys.executable, SCRIPTS[what]] if what in SCRIPTS else [sys.executable, "-m", what]
    took = run_apart([*head, *arguments], quiet=True)
    return took.seconds, took.peak_mb
