"""Rehearses the whole corpus on this machine, at three sizes: what each step and stage takes, as a table and a plot.

Each step runs in separate processes. `steps.jsonl` records the cost of finished ones; the same call resumes.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from peercorpus.cli.simulate import simulating
from peercorpus.simulator.server.service import Service, serve_forever, serve_simulator
from peercorpus.simulator.world.world import build_world, find_venues_with_papers
from watching import ALL, Took, noted, run_once

PAPERS = 51_529
SIZES = (PAPERS // 16, PAPERS // 4, PAPERS)
VENUE_YEARS = 22
"""Of ReviewBench, whose 196,099 reviews are 3.8 a paper; the simulator writes 3.9."""
PORT = 4800
URLS = ("--url-v1", f"http://127.0.0.1:{PORT}", "--url-v2", f"http://127.0.0.1:{PORT + 1}")
READY_S = 900
LIMIT_MB = 1_000
LEAST_S = 1.0
"""Of processor time at the largest size: shorter parts are not shown."""


def serve(papers: int, venue_years: int) -> None:
    """Serve long papers, 64 of which share a text, until the process ends."""
    world = build_world(papers, number=venue_years, is_large=True, papers_per_file=64)
    venue_ids = find_venues_with_papers(world)

    def tell(service: Service) -> None:
        print(simulating(service, world, venue_ids, (), asks=False, mfa=False), flush=True)

    serve_forever(serve_simulator(world, PORT), tell)


@contextmanager
def simulated(papers: int, venue_years: int, folder: Path) -> Iterator[list[str]]:
    """The service, with the venues that it has."""
    told = f"from rehearsing import serve; serve({papers}, {venue_years})"
    said = folder / "simulator.log"
    with said.open("w", encoding="utf-8") as log:
        process = subprocess.Popen([sys.executable, "-c", told], cwd=Path(__file__).parent, stdout=log, stderr=log)
    try:
        until = time.monotonic() + READY_S
        while "Harvest it" not in said.read_text(encoding="utf-8"):
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"The simulator did not start: see {said}")
            time.sleep(0.5)
        yield said.read_text(encoding="utf-8").partition("Venues: ")[2].partition("\n")[0].split(", ")
    finally:
        process.terminate()
        process.wait()


def _steps(folder: Path) -> Mapping[str, Sequence[str]]:
    corpus, release = str(folder / "corpus"), str(folder / "release")
    return {
        "build": ["build", "-w", corpus],
        "publish": ["publish", "-w", corpus, "--out", release, "--splits", "re2"],
        "verify": ["verify", release],
        "report": ["report", "-w", corpus, "--out", str(folder / "report")],
        "index": ["explore", "-w", corpus, "--select", "", "--out", str(folder / "papers.csv")],
    }


def rehearse(folder: Path, papers: int) -> list[Took]:
    """All steps at one size, and what each took."""
    folder.mkdir(parents=True, exist_ok=True)
    if not noted(folder):
        with simulated(papers, VENUE_YEARS, folder) as venues:
            run_once("harvest", ["harvest", *venues, "-w", str(folder / "corpus"), *URLS], folder)
    for step, command in _steps(folder).items():
        run_once(step, command, folder)
    return noted(folder)


def tell(found: Mapping[int, Sequence[Took]]) -> None:
    """Print what each part took, by size."""
    sizes = sorted(found)
    by_part = {papers: {(one.step, one.part): one for one in found[papers]} for papers in sizes}
    heads = [f"{papers:,}: {what}" for papers in sizes for what in ("s", "s CPU", "MB", "MB on disk")]
    print("| step | part | " + " | ".join(heads) + " |\n|---|---|" + "--:|" * len(heads))
    for part in by_part[sizes[-1]]:
        if by_part[sizes[-1]][part].cpu_s < LEAST_S and part[1] != ALL:
            continue
        cells = [_cells(by_part[papers].get(part)) for papers in sizes]
        print(f"| {part[0]} | {part[1]} | " + " | ".join(cells) + " |")
    wholes = [[one for one in found[papers] if one.part == ALL] for papers in sizes]
    sums = [(sum(one.wall_s for one in steps), sum(one.cpu_s for one in steps)) for steps in wholes]
    print("| all steps | | " + " | ".join(f"{wall_s:,.0f} | {cpu_s:,.0f} | | " for wall_s, cpu_s in sums) + " |")


def _cells(one: Took | None) -> str:
    if one is None:
        return " | | | "
    return f"{one.wall_s:,.0f} | {one.cpu_s:,.0f} | {one.largest_mb:,.0f} | {one.disk_mb:,.0f}"


def draw(found: Mapping[int, Sequence[Took]], path: Path) -> None:
    """Draw processor time and memory of each step against the number of papers."""
    import matplotlib.pyplot as plt

    sizes = sorted(found)
    figure, (times, memory) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    wholes = {papers: {one.step: one for one in found[papers] if one.part == ALL} for papers in sizes}
    for step in wholes[sizes[-1]]:
        times.plot(sizes, [wholes[papers][step].cpu_s for papers in sizes], marker="o", label=step)
        memory.plot(sizes, [wholes[papers][step].largest_mb for papers in sizes], marker="o", label=step)
    times.plot(sizes, [papers / 100 for papers in sizes], color="grey", linestyle=":", label="in proportion")
    memory.axhline(LIMIT_MB, color="grey", linestyle=":", label="limit")
    whats = (times, "processor time, s", "upper left"), (memory, "memory of the largest process, MB", "center left")
    for axes, what, place in whats:
        axes.set(xscale="log", xlabel="papers", ylabel=what)
        axes.set_xticks(sizes, [f"{papers:,}" for papers in sizes])
        axes.set_xticks([], minor=True)
        axes.legend(fontsize="small", loc=place)
    times.set_yscale("log")
    memory.set_ylim(bottom=0)
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    """Rehearse at each size, then tell and draw what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="a folder of its own, with some 10 GB of room for all sizes")
    parser.add_argument("papers", type=int, nargs="*", default=SIZES, help="the sizes")
    asked = parser.parse_args(arguments)
    found = {papers: rehearse(asked.out / str(papers), papers) for papers in asked.papers}
    tell(found)
    draw(found, asked.out / "rehearsal.png")


if __name__ == "__main__":
    main()
