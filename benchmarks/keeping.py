"""Measures publishing again after changes: none, a venue added, changed or left out, a paper removed.

`python benchmarks/keeping.py DIR PAPERS [LAYOUT]` fills `DIR/corpus` with papers of 22 venues, and prints a row for
each change: time of the whole process beside that of a release from nothing, and how many files of the two differ.
"""

import filecmp
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from peercorpus.corpus.takedown import SALT
from peercorpus.release.dated_releases import is_up_to_date
from peercorpus.release.kept_parts import PARTS
from peercorpus.release.publish import publish_release
from peercorpus.release.request import ReleaseLayout, ReleaseRequest
from peercorpus.workspace.workspace import open_workspace
from publishing import Words, begin, fill_venue

VENUES = [
    f"{name}/{year}/Conference" for name in ("ICLR.cc", "ICML.cc", "NeurIPS.cc", "EMNLP") for year in range(2018, 2024)
][:22]
"""As many as ReviewBench has: one is 4.5 % of them."""
ADDED, CHANGED, REMOVED = VENUES[12], VENUES[3], VENUES[20]
Took = tuple[float, float]
"""Seconds, and seconds of processor time."""


def publish(corpus: Path, out: Path, layout: str, *venue_ids: str) -> None:
    """Publish as the command does, which looks first whether anything changed."""
    request = ReleaseRequest(layout=ReleaseLayout(layout))
    with open_workspace(corpus) as workspace:
        if not is_up_to_date(out, workspace, request, venue_ids):
            publish_release(workspace, out, request, venue_ids or None)


def _fill(corpus: Path, papers: int, *places: int, seed: int = 0) -> None:
    words = Words()
    with open_workspace(corpus, create=True) as workspace:
        begin(workspace, VENUES[0])
        (corpus / SALT).write_bytes(bytes(32))  # The same in a copy, so that hashes of ids are equal.
        for place in places:
            numbers = range(place + seed * len(VENUES) * papers, papers + seed * len(VENUES) * papers, len(VENUES))
            fill_venue(workspace, VENUES[place], numbers, words)


def _run(corpus: Path, out: Path, layout: str, *venue_ids: str) -> Took:
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, __file__, "publish", corpus, out, layout, *venue_ids], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, used


def _bare(corpus: Path) -> Path:
    """A copy of a workspace without records of releases; of its files publishing writes only splits."""
    bare = corpus.with_name("bare")
    shutil.rmtree(bare, ignore_errors=True)
    shutil.copytree(corpus, bare, ignore=shutil.ignore_patterns(PARTS, "published.jsonl", "releases"))
    return bare


def _differing(left: Path, right: Path) -> int:
    names = {path.relative_to(one) for one in (left, right) for path in one.rglob("*") if path.is_file()}
    return len(names) - len(filecmp.cmpfiles(left, right, sorted(map(str, names)), shallow=False)[0])


def _changes(corpus: Path, papers: int) -> Iterator[tuple[str, Callable[[], object], list[str]]]:
    first = [place for place in range(len(VENUES)) if VENUES[place] != ADDED]
    takedown, one = corpus / "takedown.txt", VENUES.index(CHANGED)
    gone = hashlib.sha256(b"7").hexdigest()[:10]
    yield "whole, of 21 venues", partial(_fill, corpus, papers, *first), []
    yield "nothing", lambda: None, []
    yield "a venue added", partial(_fill, corpus, papers, VENUES.index(ADDED)), []
    yield "a venue's tables changed", partial(_fill, corpus, papers, one, seed=1), []
    yield "a paper taken down", partial(takedown.write_text, f"{gone}\n", encoding="utf-8"), []
    yield "a venue left out", lambda: None, [venue_id for venue_id in VENUES if venue_id != REMOVED]


def measure(folder: Path, papers: int, layout: str = "peercorpus") -> None:
    """Print the table."""
    corpus, out = folder / "corpus", folder / "release"
    heads = ("what changed", "s", "s CPU", "from nothing: s", "from nothing: s CPU", "share", "files that differ")
    print(f"| {' | '.join(heads)} |\n|---|{'--:|' * (len(heads) - 1)}", flush=True)
    for name, change, venue_ids in _changes(corpus, papers):
        change()
        bare, fresh = _bare(corpus), folder / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        took, took_cpu = _run(corpus, out, layout, *venue_ids)
        whole, whole_cpu = _run(bare, fresh, layout, *venue_ids)
        figures = f"{took:.1f} | {took_cpu:.2f} | {whole:.1f} | {whole_cpu:.2f} | {took_cpu / whole_cpu:.1%}"
        print(f"| {name} | {figures} | {_differing(out, fresh)} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "publish":
        publish(Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
    else:
        os.environ.setdefault("PYTHONHASHSEED", "0")
        measure(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
