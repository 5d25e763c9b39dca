"""Shares planted in recorded reviews of ICLR 2020, with those of ICLR 2019 to compare with; and nothing planted."""

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest

from peercorpus.metrics.marked_share import Sample, estimate_share, list_passages, marker_lists, marker_words
from planted_shares import LEAST_RATIO, planted_in, sampled

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "raw-v1-content-iclr2019-2020"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def recorded() -> dict[int, dict[str, list[str]]]:
    """The reviews of each year by paper."""
    years: dict[int, dict[str, list[str]]] = {}
    for year in (2019, 2020):
        papers = defaultdict(list)
        with gzip.open(FOLDER / f"iclr{year}_review_content.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                papers[row["forum"]].append(row["content"]["review"])
        years[year] = papers
    return years


@pytest.fixture(scope="module")
def samples(recorded: dict[int, dict[str, list[str]]]) -> dict[int, Sample]:
    return {
        year: sampled((name, text) for name, texts in papers.items() for text in texts)
        for year, papers in recorded.items()
    }


def test_reviews_before_chatbots_come_out_near_0(samples: dict[int, Sample]) -> None:
    """Each year against the other one."""
    for year, other in ((2019, 2020), (2020, 2019)):
        found = estimate_share(samples[year], samples[other])
        assert found.low <= 0 <= found.high
        assert found.high < 0.01


def test_the_interval_contains_a_planted_share(recorded: dict[int, dict[str, list[str]]]) -> None:
    for share in (0.0, 0.1, 0.3):
        made = [
            planted_in(recorded[2019], recorded[2020], seed, share, LEAST_RATIO, resamples=200) for seed in range(20)
        ]
        assert sum(holds for holds, _, _ in made) >= 16
        assert sum(bound <= share for _, bound, _ in made) >= 18


def test_excluded_words_are_those_frequent_in_reviews(recorded: dict[int, dict[str, list[str]]]) -> None:
    """A list counts a word if at most one in a thousand passages of these reviews contains it."""
    texts = [text for papers in recorded.values() for each in papers.values() for text in each]
    rare = {word for each in marker_lists() for word in each.frequent} | marker_words()
    held = dict.fromkeys(rare, 0)
    passages = 0
    for text in texts:
        for passage in list_passages(text):
            passages += 1
            for word in rare.intersection(passage):
                held[word] += 1
    assert {word for word, count in held.items() if count <= passages / 1000} == marker_words()
