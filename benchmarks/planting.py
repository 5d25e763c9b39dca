"""Measures how often the interval of the share of a model's texts contains a share planted in reviews.

`PYTHONPATH=tests/support python benchmarks/planting.py [PLANTINGS]`
"""

import gzip
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean

from peercorpus.metrics.marked_share import estimate_share
from planted_shares import GREAT_RATIO, LEAST_RATIO, Held, planted, planted_in, sampled

RECORDED = Path(__file__).parents[2] / "shared" / "data" / "raw-v1-content-iclr2019-2020"
SHARES = (0.0, 0.1, 0.3)
HEAD = (
    "| papers | words of a model, times people's | share planted | intervals that hold it | mean estimate |"
    " lower bounds at or below it | mean lower bound |\n|---:|---:|---:|---:|---:|---:|---:|"
)


def print_row(papers: int, ratio: float, share: float, plantings: int, plant: Callable[..., Held]) -> None:
    """Plant a share that many times and print the results."""
    made = [plant(seed=seed, share=share, ratio=ratio, papers=papers) for seed in range(plantings)]
    held = fmean(holds for holds, _, _ in made)
    below = fmean(bound <= share for _, bound, _ in made)
    estimate, bound = fmean(each[2] for each in made), fmean(each[1] for each in made)
    cells = (f"{100 * share:.0f} %", f"{100 * held:.1f} %", f"{100 * estimate:.1f} %", f"{100 * below:.1f} %")
    print(f"| {papers} | {ratio:g} | {' | '.join(cells)} | {100 * bound:.1f} % |", flush=True)


def read_recorded(year: int) -> Mapping[str, list[str]]:
    """The recorded reviews of ICLR of a year, by paper."""
    papers = defaultdict(list)
    with gzip.open(RECORDED / f"iclr{year}_review_content.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            papers[row["forum"]].append(row["content"]["review"])
    return papers


def measure_recorded(plantings: int) -> None:
    """The recorded reviews alone, each year beside the other, and with shares planted in those of 2020."""
    years = {year: read_recorded(year) for year in (2019, 2020)}
    samples = {}
    began = time.process_time()
    for year, papers in years.items():
        samples[year] = sampled((name, text) for name, texts in papers.items() for text in texts)
    seconds = time.process_time() - began
    texts = sum(len(each) for papers in years.values() for each in papers.values())
    print(f"\n{texts:,} recorded reviews counted in {seconds:.1f} s CPU, {texts / seconds:,.0f} a second\n")
    print("| reviews of | texts | papers | compared with | lower bound |\n|---|---:|---:|---|---:|")
    for year, other in ((2019, 2020), (2020, 2019)):
        found = estimate_share(samples[year], samples[other])
        numbers = f"{100 * found.value:.2f} % ({100 * found.low:.2f} to {100 * found.high:.2f} %)"
        print(f"| ICLR {year} | {samples[year].size:,} | {samples[year].papers:,} | ICLR {other} | {numbers} |")
    print(f"\n{HEAD}")
    for share in SHARES:
        print_row(200, LEAST_RATIO, share, plantings, partial(planted_in, years[2019], years[2020]))


def measure_invented(plantings: int) -> None:
    """Invented reviews, by the size of the population and by how a model differs from people."""
    print(HEAD)
    for papers in (50, 100):
        for ratio in (LEAST_RATIO, GREAT_RATIO):
            for share in SHARES:
                print_row(papers, ratio, share, plantings, planted)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    measure_invented(count)
    if RECORDED.is_dir():
        measure_recorded(count)
