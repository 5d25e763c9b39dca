"""Kills harvests at random instants: the workspace after the final run must equal an uninterrupted one."""

import hashlib
import random
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from killing import compare, run_to_end, run_until
from peercorpus.pipeline.build import build
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.venues import VENUES
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.pseudonyms import KEY_BYTES, store_key
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import open_workspace

PAPERS = 60
EARLY = 0.2
"""The share of kills that do not wait for a run's first request, and so hit its start."""

START_S = 0.5
"""About how long that start is."""


@dataclass(frozen=True, slots=True)
class Killer:
    """What starts runs and ends them.

    Attributes:
        longest_s: A run is killed at most so long after its first request.
    """

    service: Service
    draw: random.Random
    longest_s: float

    def spares(self, folder: Path) -> bool:
        """Start a harvest and kill it; return whether it had finished before."""
        before, is_early = len(self.service.requests), self.draw.random() < EARLY
        after_s = self.draw.uniform(0, START_S if is_early else self.longest_s)

        def wait(run: subprocess.Popen[bytes]) -> None:
            while not is_early and len(self.service.requests) == before and run.poll() is None:
                time.sleep(0.001)

        return run_until(_harvest(folder.name, self.service), folder.parent, {}, after_s, wait)


def report(scratch: Path, kills: int, seed: int, papers: int) -> None:
    """Kill that many runs, and report for each workspace the number of kills and the differences at the end.

    Args:
        scratch: An empty folder.
        kills: In all, over as many workspaces as it takes.
        seed: Of the instants; how far a run has come by then depends on the machine.
        papers: Of the simulated venues together.

    Raises:
        SystemExit: A workspace differs from the undisturbed one, or a harvest failed.
    """
    verdicts: list[str] = []
    asked = kills
    with serve_simulator(build_world(papers=papers)) as service:
        # It takes several kills to get through one harvest.
        longest_s = run_to_end(_harvest("undisturbed", service), scratch, {}) / 8
        killer = Killer(service, random.Random(seed), longest_s)
        wanted = read_content(scratch / "undisturbed")
        while kills > 0:
            folder, times, is_finished = scratch / f"{kills}-left", 0, False
            while times < kills and not is_finished:
                is_finished = killer.spares(folder)
                times += not is_finished
            if not is_finished:
                run_to_end(_harvest(folder.name, service), scratch, {})
            kills -= times
            verdicts.append(compare(wanted, read_content(folder)))
            print(f"killed {times} times: {verdicts[-1]}", flush=True)
    differing = sum(verdict != "equal" for verdict in verdicts)
    print(f"\n| kills | workspaces | that differ |\n|---:|---:|---:|\n| {asked} | {len(verdicts)} | {differing} |")
    if differing:
        raise SystemExit(f"Not every workspace equals the undisturbed one (seed {seed}, {papers} papers).")


def _harvest(folder: str, service: Service) -> list[str]:
    urls = ["--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2]
    return ["harvest", *(venue.venue_id for venue in VENUES), "--workspace", folder, *urls]


def read_content(folder: Path) -> dict[str, object]:
    """The final content of a workspace: digests of received data, its files, and the rows of its tables."""
    with closing(sqlite3.connect(folder / "raw.db", isolation_level=None)) as database:
        # Each workspace draws a key of its own for the pseudonyms in its tables.
        store_key(database, bytes(KEY_BYTES))
    with open_workspace(folder) as workspace:
        build(workspace, spread=_in_turn)
        raw, tables, venue_ids = workspace.raw, workspace.tables, workspace.raw.venues()
        held: dict[str, object] = {"venues": venue_ids, "files on disk": sorted(_files(folder / "files"))}
        held |= {f"{kind}s of {venue}": raw.digest(kind, venue) for kind in RawKind for venue in venue_ids}
        held |= {f"stored files of {venue}": raw.state.files_digest(venue) for venue in venue_ids}
        for name, record_type in TABLES.items():
            records: Iterator[object] = chain.from_iterable(
                tables.read(record_type, venue_id) for venue_id in tables.venues(name)
            )
            held[f"table {name}"] = sorted(map(repr, records))
    return held


def _in_turn(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    timeout_s: float,  # noqa: ARG001 -- every file of the simulated venues can be read
    workers: int | None = None,  # noqa: ARG001
    in_order: bool = False,  # noqa: ARG001
) -> Iterator[tuple[Any, Any]]:
    """Read files in this process: starting others takes most of the time of a small build."""
    return ((item, function(item)) for item in items)


def _files(folder: Path) -> Iterator[tuple[str, bool]]:
    """The name of every file, including partial ones, and whether its content matches the name."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path.relative_to(folder)), hashlib.sha256(path.read_bytes()).hexdigest() == path.stem
