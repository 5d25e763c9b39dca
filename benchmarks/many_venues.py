"""Measures each command by the number of venues of one paper each, and again with nothing to do.

`python benchmarks/many_venues.py OUT VENUES...` prints a row for each number of venues.
"""

import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain, count, islice
from pathlib import Path

from fill import is_public
from peercorpus.simulator.world.holdings import Json
from peercorpus.simulator.world.world import build_world
from watching import PROGRAM

STEPS = ("import", "build", "build again", "status", "publish", "publish again", "explore", "report", "report again")
VENUE = re.compile(r"(?:\w+\.cc|DALES)/20\d\d/Conference")
VENUES = 44
"""Venues of one simulated world, beside its journal; further ones come from worlds with another seed."""
REPLIES = 3
"""Replies kept of each paper."""


def _of_world(seed: int) -> Iterator[str]:
    """Yield the notes of each venue of a world as lines of JSON, with ids unique to this world."""
    world = build_world(papers=VENUES + 1, seed=seed, number=VENUES + 1)
    notes = [note for held in (world.v1, world.v2) for note in held.notes.values()]
    public = [note for note in notes if is_public(note)]
    by_forum: dict[str, list[Json]] = {}
    for note in public:
        by_forum.setdefault(str(note["forum"]), []).append(note)
    by_venue: dict[str, list[Json]] = {}
    for forum_id, forum in by_forum.items():
        root = next((note for note in forum if note["id"] == forum_id), None)
        found = VENUE.search(json.dumps(root)) if root else None
        if root is not None and found:
            replies = [note for note in forum if note is not root]
            by_venue.setdefault(found[0], [root, *replies[:REPLIES]])
    for of_venue in by_venue.values():
        yield (
            "".join(f"{json.dumps(note)}\n" for note in of_venue)
            .replace(".cc/", f"{seed}.cc/")
            .replace("DALES/", f"DALES{seed}/")
        )


def write_notes(path: Path, venues: int) -> None:
    """Write the public notes of that many venues with one paper each, one note per line."""
    papers = chain.from_iterable(_of_world(seed) for seed in count())
    with path.open("w", encoding="utf-8") as file:
        file.writelines(islice(papers, venues))


def run_timed(command: list[str], log: Path) -> tuple[float, float]:
    """Run a command of peercorpus; return its wall time and the processor time of it and its children, in seconds."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with log.open("wb") as output:
        code = subprocess.run([*PROGRAM, *command], stdout=output, stderr=output, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code not in {0, 1}:  # `status` ends with 1 where a balance does not hold.
        raise SystemExit(f"{' '.join(command)} ended with {code}: see {log}")
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, used_s


def measure(folder: Path, venues: int) -> Iterator[tuple[float, float]]:
    """Yield the cost of each of `STEPS` with that many venues."""
    folder.mkdir(parents=True)
    notes, corpus = folder / "notes.jsonl", str(folder / "corpus")
    write_notes(notes, venues)
    explore = ["explore", "-w", corpus, "--select", "", "--out", str(folder / "papers.jsonl")]
    commands = (
        ["import", str(notes), "-w", corpus],
        *(["build", "-w", corpus],) * 2,
        ["status", "-w", corpus],
        *(["publish", "-w", corpus, "--out", str(folder / "release")],) * 2,
        explore,
        *(["report", "-w", corpus, "--out", str(folder / "report")],) * 2,
    )
    for step, command in zip(STEPS, commands, strict=True):
        yield run_timed(command, folder / f"{step}.log")


def main(out: str, *numbers: str) -> None:
    """Print the table."""
    heads = [f"{step}: {what}" for step in STEPS for what in ("s", "s CPU")]
    print("| venues | " + " | ".join(heads) + " | files | MB |\n|--:|" + "--:|" * (len(heads) + 2))
    for venues in map(int, numbers):
        folder = Path(out) / str(venues)
        cells = [f"{seconds:.1f}" for took in measure(folder, venues) for seconds in took]
        files = [path for path in (folder / "corpus" / "tables").rglob("*") if path.is_file()]
        size_mb = sum(path.stat().st_size for path in files) / 1e6
        print(f"| {venues:,} | " + " | ".join(cells) + f" | {len(files):,} | {size_mb:.1f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
