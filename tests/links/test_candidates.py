"""Similar papers are candidates, the same in every process; a large group of equal papers costs little."""

import subprocess
import sys
from io import BytesIO
from itertools import combinations

import pytest

from peercorpus.links.candidates import ABSTRACTS, TITLES, find_candidates

SCRIPT = """
from io import BytesIO
from peercorpus.links.candidates import ABSTRACTS, find_candidates
papers = [frozenset(f"word {n}" for n in range(20 * i, 20 * i + 60)) for i in range(40)]
print(sorted(find_candidates(papers, ABSTRACTS, [""] * 40, BytesIO())))
"""


def some(start: int, count: int) -> frozenset[str]:
    return frozenset(f"word {number}" for number in range(start, start + count))


def test_similar_papers_are_candidates_and_others_are_not() -> None:
    tokens = [some(0, 100), some(1_000, 100), some(30, 100), frozenset[str](), some(0, 100), frozenset[str]()]
    assert find_candidates(tokens, ABSTRACTS, [""] * 6, BytesIO()) == {(0, 2), (0, 4), (2, 4)}


def test_titles_of_half_the_same_words_are_mostly_found() -> None:
    tokens = [one for number in range(100) for one in (some(100 * number, 6), some(100 * number + 2, 6))]
    pairs = {(2 * number, 2 * number + 1) for number in range(100)}
    found = find_candidates(tokens, TITLES, [""] * 200, BytesIO())
    assert found <= pairs
    assert len(found) > 60


@pytest.mark.slow
def test_the_same_candidates_come_out_in_every_process() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    assert outputs[0].count("(") >= 39


def test_in_a_large_group_each_paper_is_paired_with_its_neighbours() -> None:
    count = 200
    order = [f"{number % 100:03}" for number in range(count)]
    found = find_candidates([some(0, 10)] * count, TITLES, order, BytesIO())
    assert len(found) <= count * 3
    assert {(number, number + 100) for number in range(100)} <= found
    few = find_candidates([some(0, 10)] * 50, TITLES, order, BytesIO())
    assert few == set(combinations(range(50), 2))
