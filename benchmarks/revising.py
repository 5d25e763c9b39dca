"""Measures what the comparison of two versions finds of invented revisions, and what it costs as texts grow.

`PYTHONPATH=tests/support python benchmarks/revising.py`
"""

import time
from collections import Counter
from collections.abc import Callable
from random import Random

from peercorpus.links.version_diff import find_differences
from revised_papers import CASES, KINDS, edit, render, renumber, revise, score, write_paper

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


def write_revised(sections: int) -> tuple[str, str]:
    """Return both versions of a paper of as many sections as named, each of twelve paragraphs."""
    paper = write_paper(Random(1), sections, size=12)
    renumber(paper)
    edit(paper)
    return render(paper.before, paper.old), render(paper.after, paper.new)


def write_alike(size: int, letter: str) -> str:
    """Return sentences of which each differs from the same one under another letter by a word."""
    return " ".join(f"We see a{place} b{place} c{place} {letter}{place} of them." for place in range(size))


GROWING: dict[str, tuple[Callable[[int], tuple[str, str]], int]] = {
    "a paper, revised": (write_revised, 40),
    "one sentence over and over": (
        lambda size: ("We do it all. " * size, "We do it all. " * (size - 1) + "No."),
        5_000,
    ),
    "two sentences in turn": (
        lambda size: ("We do all. It is all done. " * size, "It is all done. " * size),
        2_500,
    ),
    "one sentence": (lambda size: ("word " * size, "word " * (size - 1) + "end"), 40_000),
    "sections of one heading": (
        lambda size: ("Funding\nWe do it all here now.\n" * size, "Funding\nWe do it there all now.\n" * size),
        6_000,
    ),
    "sentences that are all alike": (lambda size: (write_alike(size, "d"), write_alike(size, "e")), 6_000),
}
"""Texts that grow, and the size to begin with."""


def measure_growth() -> None:
    """Print the time that texts take, and that ones of twice the length take: the best of three rounds."""
    print("\n| texts | characters | s | of twice the length | ratio |\n|---|---:|---:|---:|---:|")
    for name, (write, size) in GROWING.items():
        seconds = []
        for factor in (1, 2):
            earlier, later = write(factor * size)
            rounds = []
            for _ in range(3):
                started = time.process_time()
                find_differences(earlier, later)
                rounds.append(time.process_time() - started)
            seconds.append(min(rounds))
        once, twice = seconds
        length = len(write(size)[0])
        print(f"| {name} | {length:,} | {once:.3f} | {twice:.3f} | {twice / once:.2f} |")


def main() -> None:
    """Print precision and recall of each kind, by case and of all, and what the comparison costs."""
    total = Counter[tuple[str, str]]()
    print("| case |", " | ".join(KINDS), "|\n|---|" + "---:|" * len(KINDS))
    for case in CASES:
        counts = measure_case(case)
        total += counts
        print(f"| {case} |", " | ".join(describe(counts, kind) for kind in KINDS), "|")
    print("| all |", " | ".join(describe(total, kind) for kind in KINDS), "|")
    measure_growth()


if __name__ == "__main__":
    main()
