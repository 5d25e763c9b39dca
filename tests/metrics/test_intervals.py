"""Intervals over papers and comparisons of two runs."""

from collections.abc import Sequence
from itertools import chain
from random import Random
from statistics import fmean

import numpy as np
import pytest

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.intervals import bootstrap as bootstrapping
from peercorpus.metrics.intervals.bootstrap import bootstrap
from peercorpus.metrics.prediction import auroc
from peercorpus.metrics.text_overlap import add_counts, count_bleu


def mean(groups: Sequence[list[float]]) -> float:
    """Return the mean of all values of all papers."""
    return fmean(chain.from_iterable(groups))


def papers(values: Sequence[list[float]]) -> dict[str, list[float]]:
    return {f"p{place:03}": each for place, each in enumerate(values)}


def test_the_ends_are_the_percentiles_of_the_resamples() -> None:
    groups = papers([[float(place), place + 0.5] for place in range(20)])
    seen: list[float] = []

    def watched(chosen: Sequence[list[float]]) -> float:
        assert len(chosen) == 20
        seen.append(mean(chosen))
        return seen[-1]

    found = bootstrap(groups, watched)
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(seen[1:], [2.5, 97.5])))
    assert (found.value, found.papers, found.resamples) == (seen[0], 20, 1000)
    assert len(set(seen)) > 100


@pytest.mark.slow
def test_an_interval_covers_the_true_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrapping, "RESAMPLES", 200)
    chance, held = Random(11), 0
    for _ in range(300):
        groups = []
        for _ in range(40):
            of_paper = chance.gauss(5, 1)
            groups.append([of_paper + chance.gauss(0, 0.3) for _ in range(4)])
        found = bootstrap(papers(groups), mean)
        held += found.low <= 5 <= found.high
    assert 0.90 <= held / 300 <= 0.98


def test_reviews_of_one_paper_are_drawn_together() -> None:
    chance = Random(5)
    alike = [[value] * 4 for value in (chance.gauss(5, 1) for _ in range(50))]
    alone = [[value] for value in chain.from_iterable(alike)]
    by_papers, by_reviews = (bootstrap(papers(groups), mean) for groups in (alike, alone))
    assert by_papers.high - by_papers.low > 1.6 * (by_reviews.high - by_reviews.low)


def test_the_order_of_papers_does_not_matter() -> None:
    groups = papers([[1.0], [5.0, 2.0], [3.0], [9.0]])
    turned = dict(reversed(groups.items()))
    assert bootstrap(groups, mean) == bootstrap(turned, mean)


def test_resamples_without_a_value_are_counted() -> None:
    gold = {"a": True, "b": False, "c": False}

    def statistic(chosen: Sequence[str]) -> float:
        return auroc([0.5] * len(chosen), [gold[each] for each in chosen])

    found = bootstrap({name: name for name in gold}, statistic)
    # A draw of three has both classes with a chance of 1 - (1 + 8) / 27.
    assert 260 <= found.undefined <= 410
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_a_metric_without_a_value_has_no_interval() -> None:
    def statistic(chosen: Sequence[bool]) -> float:
        return auroc([0.5] * len(chosen), chosen)

    with pytest.raises(UndefinedMetricError, match="one decision"):
        bootstrap({"a": True, "b": True}, statistic)
    with pytest.raises(UndefinedMetricError, match="two"):
        bootstrap({"a": [1.0]}, mean)
    with pytest.raises(UndefinedMetricError, match="two"):
        bootstrap({}, mean)


def test_few_defined_resamples_give_no_interval() -> None:
    def statistic(chosen: Sequence[str]) -> float:
        if len(set(chosen)) < len(chosen):
            raise UndefinedMetricError("not all are there")
        return 1.0

    with pytest.raises(UndefinedMetricError, match="0 of 1000"):
        bootstrap({letter: letter for letter in "abcdefghijklmnopqrstuvwxyz"}, statistic)


def test_bleu_of_resamples_comes_from_sums() -> None:
    texts = {letter: count_bleu(f"{letter} b c d e f", ["a b c d e g"]) for letter in "axyz"}
    found = bootstrap(texts, lambda chosen: add_counts(chosen).bleu())
    assert found.low < found.value < found.high
