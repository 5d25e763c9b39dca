"""Intervals that are valid with few papers: no number is certain just because all answers are right."""

from math import sqrt
from random import Random
from statistics import fmean

import pytest
from scipy.stats import binom

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.intervals.papers import (
    bound_auroc,
    bound_balanced,
    bound_bleu,
    bound_brier,
    bound_correlation,
    bound_f1,
    bound_mcc,
    bound_mean,
    bound_share,
    wilson_interval,
)
from peercorpus.metrics.text_overlap import add_counts, count_bleu, subtract_counts


@pytest.mark.parametrize("papers", [20, 30, 50, 200])
def test_the_interval_of_a_share_contains_it(papers: int) -> None:
    """The coverage, summed over all outcomes; the percentile bootstrap reached 58 % with 30 papers."""
    held = 0.0
    for right in range(papers + 1):
        low, high = bound_share([(1, 1)] * right + [(0, 1)] * (papers - right)) or (0, 0)
        held += binom.pmf(right, papers, 0.97) if low <= 0.97 <= high else 0
    assert 0.93 <= held <= 0.99


def test_answers_about_one_paper_that_agree_count_once() -> None:
    alike = [(4, 4)] * 15 + [(0, 4)] * 5
    low, high = bound_share(alike) or (0, 0)
    once_low, once_high = wilson_interval(15, 20) or (0, 0)
    assert (low, high) == pytest.approx((once_low, once_high), abs=0.01)
    assert bound_share([(4, 4)] * 20) == wilson_interval(20, 20)
    # Answers that differ within a paper as much as between papers count individually.
    assert bound_share([(2, 4)] * 20) == wilson_interval(40, 80)


def test_f1_follows_from_a_share() -> None:
    low, high = bound_f1([(1, 1)] * 6 + [(0, 1)] * 4) or (0, 0)
    share = wilson_interval(6, 10) or (0, 0)
    assert (low, high) == (2 * share[0] / (1 + share[0]), 2 * share[1] / (1 + share[1]))
    assert low < 2 * 6 / (2 * 6 + 4) < high


def test_balanced_accuracy_needs_both_classes_and_is_not_certain() -> None:
    assert bound_balanced([(1, 1)] * 9, []) is None
    low, high = bound_balanced([(1, 1)] * 9, [(1, 1)] * 11) or (0, 0)
    assert 0.8 < low < 0.9
    assert high == 1


def test_a_correlation_of_1_has_an_interval() -> None:
    perfect = [(1, 0, 0, 0)] * 8 + [(0, 0, 0, 1)] * 12
    low, high = bound_mcc(1.0, perfect)
    assert 0.4 < low < 0.9
    assert high == 1
    # Doubling the answers about the same papers adds no information.
    assert bound_mcc(1.0, [(2, 0, 0, 0)] * 8 + [(0, 0, 0, 2)] * 12) == pytest.approx((low, high))


@pytest.mark.slow
def test_large_squared_errors_are_covered() -> None:
    """One answer in forty is clearly wrong: most draws of 20 papers contain none."""
    chance = Random(9)
    truth = (39 * 0.01 + 0.81) / 40
    held, held_by_t = 0, 0
    for _ in range(300):
        papers = [(0.81 if chance.random() < 1 / 40 else 0.02 * chance.random(), 1) for _ in range(20)]
        low, high = bound_brier(papers) or (1, 0)
        held += low <= truth <= high
        low, high = bound_mean(papers, (0, 1)) or (1, 0)
        held_by_t += low <= truth <= high
    assert held / 300 >= 0.93 > 0.7 > held_by_t / 300
    assert bound_brier([(0.2, 1)]) is None


def test_a_papers_answers_count_as_one() -> None:
    one = [(0.1 * (k % 5), 1.0) for k in range(20)]
    assert bound_brier([(3 * part, 3.0) for part, _ in one]) == pytest.approx(bound_brier(one))


def test_the_published_example_of_an_area() -> None:
    """Newcombe (2006), part 1: the area .8 of 10 and 20 has about the interval .60 to .92 by method 5."""
    low, high = bound_auroc(0.8, 10, 20)
    assert (low, high) == pytest.approx((0.60, 0.915), abs=0.02)
    assert bound_auroc(1.0, 5, 15)[0] < 0.9
    assert bound_auroc(1.0, 5, 15)[1] == 1
    assert bound_auroc(0.0, 5, 15)[1] == pytest.approx(1 - bound_auroc(1.0, 5, 15)[0])


def test_a_rank_correlation_of_four_papers_has_no_interval() -> None:
    assert bound_correlation(0.5, 4) is None
    low, high = bound_correlation(1.0, 20) or (0, 0)
    assert 0.7 < low < 0.95
    assert high == 1


def test_a_mean_of_equal_values_has_no_interval() -> None:
    assert bound_mean([(0.3, 1)] * 20) is None
    assert bound_mean([(0.3 * k, k) for k in range(1, 20)]) is None
    assert bound_mean([(0.3, 1)]) is None


def test_a_mean_of_few_papers_has_students_interval() -> None:
    assert bound_mean([(4, 1), (6, 1), (8, 1)]) == pytest.approx(
        (6 - 4.302653 * 2 / sqrt(3), 6 + 4.302653 * 2 / sqrt(3))
    )


def test_a_skewed_mean_is_covered() -> None:
    chance = Random(3)
    held = 0
    for _ in range(400):
        low, high = bound_mean([(chance.gauss(0.3, 1.1) ** 2, 1) for _ in range(20)]) or (0, 0)
        held += low <= 0.3**2 + 1.1**2 <= high
    assert 0.91 <= held / 400 <= 0.98


def test_reviews_of_one_paper_vary_together() -> None:
    chance = Random(5)
    values = [chance.gauss(5, 1) for _ in range(50)]
    alike = bound_mean([(4 * value, 4) for value in values]) or (0, 0)
    assert alike == pytest.approx(bound_mean([(value, 1) for value in values]))
    assert alike[0] < fmean(values) < alike[1]


def test_bleu_has_an_interval_by_leaving_out_each_paper() -> None:
    counts = [count_bleu(f"{letter} b c d e f g h", [f"a b c d e {letter} g"]) for letter in "axyzbcuv"]
    bleu = add_counts(counts).bleu()
    low, high = bound_bleu(counts) or (0, 0)
    assert low < bleu < high
    assert add_counts([subtract_counts(add_counts(counts), counts[0]), counts[0]]) == add_counts(counts)
    assert bound_bleu(counts[:1]) is None
    assert bound_bleu([counts[0]] * 5) is None
    assert bound_bleu([count_bleu("x y", ["a b"])] * 5) is None


def test_no_paper_is_an_error_and_not_0() -> None:
    with pytest.raises(UndefinedMetricError):
        bound_bleu([])
