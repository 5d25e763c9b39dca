"""Measures lower bounds for the steps of the rehearsal: bare libraries that do a part of them with the same data.

`python benchmarks/rehearsal_floors.py OUT/12882` prints that beside what the steps took in that folder.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpx2
import orjson
import pypdfium2

from flooring import measure_way
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import open_workspace
from rehearsing import VENUE_YEARS, simulated
from watching import noted

Seconds = tuple[float, float]
"""Of the processor, and of the clock."""


def parse_notes(corpus: Path) -> None:
    """Parse all versions of all notes, read from `raw.db`, with orjson."""
    with open_workspace(corpus, write=False) as workspace:
        for venue_id in workspace.raw.venues():
            for found in workspace.raw.versions(RawKind.NOTE, venue_id):
                orjson.loads(found.body)


def read_pages(corpus: Path) -> None:
    """Read the text of every page of every file with pdfium."""
    for path in sorted((corpus / "files").rglob("*")):
        if path.is_file() and path.read_bytes()[:5] == b"%PDF-":
            document = pypdfium2.PdfDocument(path)
            for page in document:
                page.get_textpage().get_text_range()
            document.close()


def list_requests(corpus: Path) -> list[str]:
    """Return the URLs of the requests that brought notes."""
    with open_workspace(corpus, write=False) as workspace:
        found = workspace.raw.select("SELECT DISTINCT source FROM objects WHERE kind = ?", RawKind.NOTE.value)
        return sorted(source for (source,) in found)


def receive(urls: Sequence[str]) -> None:
    """Repeat the same requests, without parsing the responses."""
    with httpx2.Client(timeout=None) as client:
        for url in urls:
            client.get(url).raise_for_status()


def take_time(work: Callable[[], None]) -> Seconds:
    """Return what some work takes in this process."""
    began, used = time.monotonic(), time.process_time()
    work()
    return time.process_time() - used, time.monotonic() - began


def measure_floors(folder: Path, papers: int) -> Iterator[tuple[str, str, list[str], Seconds]]:
    """Yield each floor: what it is, the step and the parts of it that do more than that, and its seconds."""
    corpus = folder / "corpus"
    urls = list_requests(corpus)
    with simulated(papers, VENUE_YEARS, folder):
        yield "httpx2, the same requests", "harvest", ["listing"], take_time(lambda: receive(urls))
    yield "orjson, all notes", "build", ["building"], take_time(lambda: parse_notes(corpus))
    yield "pdfium, all pages", "build", ["inspecting", "reading"], take_time(lambda: read_pages(corpus))
    for way in ("DuckDB", "Polars"):
        cpu_s, took_s, _, _ = measure_way(way, corpus, folder / "floor")
        yield f"{way}, joins and copies", "publish", ["all"], (cpu_s, took_s)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the floors of one size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of the rehearsal; its name is the number of papers")
    folder = parser.parse_args(arguments).folder
    took = {(one.step, one.part): one for one in noted(folder)}
    print("| floor | s CPU | s | the step | s CPU | s | ours by it, s CPU |\n|---|--:|--:|---|--:|--:|--:|")
    for floor, step, parts, (cpu_s, wall_s) in measure_floors(folder, int(folder.name)):
        own = [took[step, part] for part in parts]
        own_cpu_s, own_wall_s = sum(one.cpu_s for one in own), sum(one.wall_s for one in own)
        name = f"{step}: {', '.join(parts)}"
        ratio = f"{own_cpu_s / cpu_s:.1f}"
        print(f"| {floor} | {cpu_s:.1f} | {wall_s:.1f} | {name} | {own_cpu_s:.1f} | {own_wall_s:.1f} | {ratio} |")


if __name__ == "__main__":
    main()
