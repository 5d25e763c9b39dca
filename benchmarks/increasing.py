"""Measures the cost of a change: a venue added, one harvested again after changes, another PDF engine.

`python benchmarks/increasing.py OUT PAPERS` works on the workspace that `rehearsing.py OUT PAPERS` made.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from peercorpus.simulator.server.changes import edit_rating, post_reply
from peercorpus.simulator.server.index import values_of
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import Json, World
from peercorpus.simulator.world.venues import venue_years
from peercorpus.simulator.world.world import build_world
from rehearsing import VENUE_YEARS
from watching import ALL, noted, run_once

CHANGED = 0.01
"""Of a venue's papers: each gets a comment, and one of its reviewers changes the rating."""
VENUE = "Borealis.cc/2024/Conference"
OTHER_ENGINE = "pdfium-text"


class Case(NamedTuple):
    """What changed, and the commands that bring everything up to date again."""

    name: str
    commands: Sequence[Sequence[str]]


def _of(world: World, venue_id: str, invitation: str) -> Iterator[Json]:
    """The notes of a venue on API v2 that were posted by such an invitation."""
    for note in world.v2.notes.values():
        names = values_of(note, "invitations")
        if any(one.startswith(f"{venue_id}/") and one.endswith(f"/-/{invitation}") for one in names):
            yield note


def change(world: World) -> int:
    """Change one paper in a hundred of the venue; how many were changed."""
    now_ms = int(time.time() * 1000)
    reviews = {str(review["forum"]): review for review in _of(world, VENUE, "Official_Review")}
    chosen = list(islice(reviews.values(), max(1, int(CHANGED * len(reviews)))))
    for review in chosen:
        post_reply(world, str(review["forum"]), "We have one more result.", now_ms)
        edit_rating(world, str(review["id"]), 6, now_ms)
    return len(chosen)


def _update(corpus: str, release: str) -> list[list[str]]:
    return [["build", "-w", corpus], ["publish", "-w", corpus, "--out", release, "--splits", "re2"]]


def _harvest(corpus: str, venue_id: str, urls: tuple[str, str]) -> list[str]:
    return ["harvest", venue_id, "-w", corpus, "--url-v1", urls[0], "--url-v2", urls[1]]


def _run(case: Case, folder: Path) -> None:
    for command in case.commands:
        run_once(f"{case.name}: {command[0]}", command, folder)


def measure(folder: Path, papers: int) -> None:
    """Make each change, and run what brings the workspace up to date."""
    corpus, release = str(folder / "corpus"), str(folder / "release")
    update = _update(corpus, release)
    _run(Case("nothing changed", update), folder)
    added = venue_years(VENUE_YEARS + 1)[-1].venue_id
    with serve_simulator(
        build_world(papers // VENUE_YEARS, venues=[added], is_large=True, papers_per_file=64)
    ) as service:
        urls = service.base_url_v1, service.base_url_v2
        _run(Case("a venue added", [_harvest(corpus, added, urls), *update]), folder)
    world = build_world(papers, number=VENUE_YEARS, is_large=True, papers_per_file=64)
    with serve_simulator(world) as service:
        urls = service.base_url_v1, service.base_url_v2
        _run(Case("a venue asked again", [_harvest(corpus, VENUE, urls), *update]), folder)
        changed = change(world)
        service.reindex()
        asked = len(service.requests)
        _run(Case("papers changed", [_harvest(corpus, VENUE, urls), *update]), folder)
        print(f"{changed} papers of {VENUE} were changed; {len(service.requests) - asked} requests.\n")
    other = ["build", "-w", corpus, "--engine", OTHER_ENGINE]
    _run(Case("another engine", [other, update[1]]), folder)


def tell(folder: Path) -> None:
    """Print the cost of each change, compared with the whole."""
    found = [one for one in noted(folder) if one.part == ALL]
    whole = {one.step: one.cpu_s for one in found}
    print("| change | step | s | s CPU | of the whole | MB |\n|---|---|--:|--:|--:|--:|")
    for one in found:
        name, _, step = one.step.partition(": ")
        if step:
            share = one.cpu_s / whole[step]
            print(f"| {name} | {step} | {one.wall_s:,.0f} | {one.cpu_s:,.0f} | {share:.1%} | {one.largest_mb:,.0f} |")


if __name__ == "__main__":
    measure(Path(sys.argv[1]) / sys.argv[2], int(sys.argv[2]))
    tell(Path(sys.argv[1]) / sys.argv[2])
