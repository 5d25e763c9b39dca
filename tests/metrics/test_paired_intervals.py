"""Differences of two runs on the same papers: intervals with the correlation of the runs, and a test."""

from collections.abc import Sequence
from random import Random
from statistics import fmean

import pytest

from peercorpus.errors import PeercorpusError, UndefinedMetricError
from peercorpus.metrics.intervals import pairs
from peercorpus.metrics.intervals.pairs import Estimator, bound_combination, compare_pairs
from peercorpus.metrics.intervals.papers import bound_mean, bound_share, wilson_interval

MEAN: Estimator[float] = Estimator(fmean, None, lambda value: (value, 1))
SHARE: Estimator[float] = Estimator(
    fmean, lambda values, _: bound_share([(value, 1) for value in values]), is_of_counts=True
)


def papers(values: Sequence[float]) -> dict[str, float]:
    return {f"p{number:03}": value for number, value in enumerate(values)}


def runs_of(both: int, first: int, second: int, neither: int) -> tuple[list[float], list[float]]:
    """Two runs, by the numbers of papers on which both, only the first, only the second, or neither is right."""
    return (
        [1.0] * (both + first) + [0.0] * (second + neither),
        [1.0] * both + [0.0] * first + [1.0] * second + [0.0] * neither,
    )


def test_paired_shares_have_newcombes_interval() -> None:
    """Newcombe's example of 36, 12, 2 and 0 papers: 0.0569 to 0.3404 by his method 10, whose phi is negative here."""
    runs = runs_of(36, 12, 2, 0)
    low, high = bound_combination(SHARE, runs, (1, -1)) or (0, 0)
    assert (low, high) == pytest.approx((0.0569, 0.3404), abs=5e-5)


@pytest.mark.parametrize(("cells", "numerator"), [((25, 5, 1, 19), 445), ((20, 12, 9, 9), 47), ((15, 12, 12, 11), 0)])
def test_positive_correlations_are_corrected(cells: tuple[int, int, int, int], numerator: int) -> None:
    """The numerator of phi is ad - bc minus half the papers; 0 if that is negative."""
    runs = runs_of(*cells)
    both, first, second, neither = cells
    shares = (both + first) / 50, (both + second) / 50
    phi = numerator / ((both + first) * (second + neither) * (both + second) * (first + neither)) ** 0.5
    (low1, high1), (low2, high2) = (wilson_interval(50 * share, 50) or (0, 0) for share in shares)
    assert numerator == max(0, both * neither - first * second - 25)
    ends = (shares[0] - low1, high2 - shares[1]), (high1 - shares[0], shares[1] - low2)
    below, above = ((one**2 - 2 * phi * one * other + other**2) ** 0.5 for one, other in ends)
    expected = shares[0] - shares[1] - below, shares[0] - shares[1] + above
    assert bound_combination(SHARE, runs, (1, -1)) == pytest.approx(expected)


def test_means_have_the_bootstrap_t() -> None:
    chance = Random(2)
    worse = [chance.gauss(5, 2) for _ in range(60)]
    better = [value + chance.uniform(0.2, 0.6) for value in worse]
    compared = compare_pairs(papers(better), papers(worse), MEAN)
    gains = [(ours - theirs, 1.0) for ours, theirs in zip(better, worse, strict=True)]
    assert compared.bounds == pytest.approx(bound_mean(gains), rel=1e-9)
    assert compared.bounds is not None
    assert 0.3 < compared.bounds[0] < compared.value < compared.bounds[1] < 0.5
    assert compared.p == 1 / 1001
    back = compare_pairs(papers(worse), papers(better), MEAN)
    assert (back.value, back.p) == (-compared.value, compared.p)


def test_identical_runs_have_no_interval() -> None:
    run = papers([1.0, 5.0, 3.0, 9.0])
    compared = compare_pairs(run, dict(reversed(run.items())), MEAN)
    assert (compared.value, compared.bounds, compared.p) == (0.0, None, 1.0)


@pytest.mark.slow
def test_chance_is_rarely_significant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "RESAMPLES", 200)
    chance, told = Random(8), 0
    for _ in range(300):
        one, other = (papers([chance.gauss(5, 1) for _ in range(40)]) for _ in range(2))
        told += compare_pairs(one, other, MEAN).p <= 0.05
    assert 0.02 <= told / 300 <= 0.09


def test_equal_runs_keep_the_interval() -> None:
    chance = Random(4)
    runs = [[float(chance.random() < 0.6) for _ in range(50)] for _ in range(4)]
    own = bound_combination(SHARE, runs[:1], [1]) or (0, 0)
    assert own == pytest.approx(bound_share([(value, 1) for value in runs[0]]))
    assert bound_combination(SHARE, [runs[0]] * 3, [1 / 3] * 3) == pytest.approx(own, abs=0.01)
    low, high = bound_combination(SHARE, runs, [1 / 4] * 4) or (0, 0)
    assert high - low < 0.7 * (own[1] - own[0])


def test_an_undefined_part_keeps_the_interval() -> None:
    def among_even(values: Sequence[float]) -> float:
        even = [value for value in values if value % 2 == 0]
        if not even:
            raise UndefinedMetricError("none is even")
        return fmean(even)

    estimator: Estimator[float] = Estimator(among_even, lambda _, value: (value - 1, value + 1))
    low, high = bound_combination(estimator, ([2, 1, 3], [4, 1, 3]), (1, -1)) or (0, 0)
    assert (low, high) == pytest.approx((-2 - 2**0.5, -2 + 2**0.5))


def test_runs_on_other_papers_are_not_compared() -> None:
    with pytest.raises(PeercorpusError, match=r"\b1\b.*\b0\b.*p002"):
        compare_pairs(papers([1.0, 2.0, 3.0]), papers([1.0, 2.0]), MEAN)


def test_one_paper_gives_no_difference() -> None:
    with pytest.raises(UndefinedMetricError, match="two papers, got 1"):
        compare_pairs(papers([1.0]), papers([2.0]), MEAN)
