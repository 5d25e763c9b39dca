"""Measures what the comparison of two versions finds of invented revisions, and what it costs as texts grow.

`PYTHONPATH=tests/support python benchmarks/revising.py`
"""

import time
from collections import Counter

from peercorpus.links.version_diff import find_differences
from revised_papers import CASES, KINDS, render, revise, score

PAPERS = 10
"""Papers of each case, half of them printed as Markdown."""


def measure_case(case: str) -> Counter[tuple[str, str]]:
    """Return what is found of a case, summed over its papers."""
    counts = Counter[tuple[str, str]]()
    for seed in range(PAPERS):
        paper = revise(case, seed, is_markdown=seed % 2 == 0)
        found = find_differences(render(paper.before, paper.old), render(paper.after, paper.new))
        counts += score(paper, ((one.kind.value, one.before, one.after) for one in found.passages))
    return counts


def describe(counts: Counter[tuple[str, str]], kind: str) -> str:
    """Return precision and recall of a kind; a dash where there is nothing to find."""
    hit = counts[kind, "hit"]
    shares = (hit / total if (total := hit + counts[kind, other]) else None for other in ("false", "missed"))
    return " / ".join("-" if share is None else f"{share:.3f}" for share in shares)


def main() -> None:
    """Print precision and recall of each kind, by case and of all."""
    started = time.process_time()
    total = Counter[tuple[str, str]]()
    print("| case |", " | ".join(KINDS), "|\n|---|" + "---:|" * len(KINDS))
    for case in CASES:
        counts = measure_case(case)
        total += counts
        print(f"| {case} |", " | ".join(describe(counts, kind) for kind in KINDS), "|")
    print("| all |", " | ".join(describe(total, kind) for kind in KINDS), "|")
    print(f"{time.process_time() - started:.1f} s")


if __name__ == "__main__":
    main()
