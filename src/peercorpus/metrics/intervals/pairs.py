"""95 % intervals of differences and means of several runs on the same papers, and a test of a difference.

For a mean over answers, the interval is the bootstrap-t of the mean of the papers' own differences. Every other number
has an interval for each run; these are combined by squares with the correlation of the runs, which is Newcombe's method
10 for paired shares. `benchmarks/results/paired-coverage.json` has the simulated coverage of each.

Sources: Newcombe (1998), Improved confidence intervals for the difference between binomial proportions based on paired
data, Statistics in Medicine 17, 2635-2650; Zou and Donner (2008), Construction of confidence limits about effect
measures, Statistics in Medicine 27, 1693-1702, for other numbers than shares.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import inf, sqrt
from random import Random
from statistics import fmean
from typing import Generic, TypeVar

from peercorpus.errors import PeercorpusError, UndefinedMetricError
from peercorpus.metrics.intervals.bootstrap import NumberOf, check_papers
from peercorpus.metrics.intervals.papers import RESAMPLES, Bounds, bound_mean, combine_bounds

Group = TypeVar("Group")
PAIRED = "95 % intervals over papers, and p-values of a randomisation test that swaps the two answers to a paper"
"""Heading of differences."""
MOST_PARTS = 500
"""Number of parts of the papers for estimating how two runs vary together: Kott (2001), The delete-a-group
jackknife."""
ROUNDING = 1e-12
"""Differences below this are rounding errors of equal numbers."""


@dataclass(frozen=True, slots=True)
class Estimator(Generic[Group]):
    """A number over papers, and how its interval is computed.

    Attributes:
        of: Computes the number from what belongs to each paper.
        bounds: Computes its own interval from the same groups and the number; returns None if no interval can be
            trusted.
        sums: For a mean over answers, returns the sum and the count of a paper's values; None for other numbers.
        limits: For a mean, the lowest and highest possible value.
        is_of_counts: Whether it is computed from counts of answers, as shares are.
    """

    of: NumberOf[Group]
    bounds: Callable[[Sequence[Group], float], Bounds | None] | None
    sums: Callable[[Group], tuple[float, float]] | None = None
    limits: Bounds = (-inf, inf)
    is_of_counts: bool = False


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The difference of two runs on the same papers, the first minus the second.

    Attributes:
        first: Number of the first run.
        second: Number of the second run.
        papers: Number of papers.
        bounds: 95 % interval of the difference; None if no interval can be trusted, or the runs differ on no paper.
        p: Two-sided p-value of a difference this large arising by chance, in (0, 1].
    """

    first: float
    second: float
    papers: int
    bounds: Bounds | None
    p: float

    @property
    def value(self) -> float:
        """The difference."""
        return self.first - self.second


def compare_pairs(
    first: Mapping[str, Group], second: Mapping[str, Group], estimator: Estimator[Group]
) -> PairedDifference:
    """Return the difference of two runs on the same papers, with its interval and p-value.

    Args:
        first: What belongs to each paper in the first run, by paper id; the order is irrelevant.
        second: The same for the second run.
        estimator: The number to compare.

    Raises:
        PeercorpusError: The runs are not on the same papers.
        UndefinedMetricError: There are fewer than two papers, or the number is undefined on them.
    """
    _check_same(first.keys(), second.keys())
    papers = sorted(first)
    check_papers(papers)
    runs = [[run[paper] for paper in papers] for run in (first, second)]
    ours, theirs = map(estimator.of, runs)
    return PairedDifference(
        first=ours,
        second=theirs,
        papers=len(papers),
        bounds=bound_combination(estimator, runs, (1, -1)),
        p=_test_by_swapping(estimator.of, runs, ours - theirs),
    )


def bound_combination(
    estimator: Estimator[Group], runs: Sequence[Sequence[Group]], weights: Sequence[float]
) -> Bounds | None:
    """Return the interval of a weighted sum of one number over several runs; None if there is none.

    Args:
        estimator: The number.
        runs: What belongs to each paper in each run, the papers in the same order.
        weights: One weight per run: 1 and -1 for a difference, one over the number of runs for their mean.
    """
    combined = _combine_sums(estimator, runs, weights)
    if combined is not None:
        lowest = sum(weight * estimator.limits[weight < 0] for weight in weights)
        highest = sum(weight * estimator.limits[weight > 0] for weight in weights)
        return bound_mean(combined, (lowest, highest))
    if estimator.bounds is None:
        return None
    values = [estimator.of(run) for run in runs]
    bounds = [estimator.bounds(run, value) for run, value in zip(runs, values, strict=True)]
    known = [ends for ends in bounds if ends is not None]
    if len(known) < len(runs):
        return None
    return combine_bounds(values, known, weights, _correlate(estimator, runs))


def _combine_sums(
    estimator: Estimator[Group], runs: Sequence[Sequence[Group]], weights: Sequence[float]
) -> list[tuple[float, float]] | None:
    """Return the weighted sum of each paper's values; None if it is not a mean, or the runs have different answers."""
    if estimator.sums is None:
        return None
    combined = []
    for of_paper in zip(*(map(estimator.sums, run) for run in runs), strict=True):
        counts = {count for _, count in of_paper}
        if len(counts) > 1:
            return None
        (count,) = counts
        if count:
            combined.append((sum(weight * part for weight, (part, _) in zip(weights, of_paper, strict=True)), count))
    return combined


def _correlate(estimator: Estimator[Group], runs: Sequence[Sequence[Group]]) -> list[list[float]]:
    """Return the correlation of the number between each two runs, by leaving out parts of the papers in turn."""
    number = estimator.of
    papers = len(runs[0])
    parts = min(papers, MOST_PARTS)
    left: list[list[float]] = []
    for part in range(parts):
        try:
            left.append([number([group for at, group in enumerate(run) if at % parts != part]) for run in runs])
        except UndefinedMetricError:
            continue
    centred = [[value - fmean(values) for value in values] for values in zip(*left, strict=True)] or [[] for _ in runs]
    corrects = estimator.is_of_counts and parts == papers
    return [
        [
            1.0 if row == column else _find_cosine(centred[row], centred[column], corrects=corrects)
            for column in range(len(runs))
        ]
        for row in range(len(runs))
    ]


def _find_cosine(one: Sequence[float], other: Sequence[float], *, corrects: bool) -> float:
    """Return the cosine of two vectors; 0 if either is null, since it is then unknown how they vary together.

    Args:
        one: Contribution of each paper to the number of one run.
        other: The same for the other run.
        corrects: Whether to reduce a positive cosine by half a paper that both runs get right: Newcombe's continuity
            correction (method 10).
    """
    lengths = sqrt(sum(value * value for value in one) * sum(value * value for value in other))
    if lengths <= ROUNDING**2:
        return 0.0
    product = sum(map(float.__mul__, one, other))
    if corrects and product > 0:
        product = max(0.0, product - (max(one) - min(one)) * (max(other) - min(other)) / 2)
    return product / lengths


def _test_by_swapping(number: NumberOf[Group], runs: Sequence[Sequence[Group]], difference: float) -> float:
    """Return the p-value of approximate randomisation: the runs of each paper are swapped by chance.

    Source: Noreen (1989), Computer-Intensive Methods for Testing Hypotheses; for metrics of texts Riezler and Maxwell
    (2005), On Some Pitfalls in Automatic Evaluation and Significance Testing for MT.
    """
    chance = Random(0)
    as_far = drawn = 0
    for _ in range(RESAMPLES):
        swaps = chance.getrandbits(len(runs[0]))
        pairs = [pair[::-1] if swaps >> at & 1 else pair for at, pair in enumerate(zip(*runs, strict=True))]
        try:
            ours, theirs = (number(run) for run in zip(*pairs, strict=True))
        except UndefinedMetricError:
            continue
        drawn += 1
        as_far += abs(ours - theirs) >= abs(difference) - ROUNDING
    return (as_far + 1) / (drawn + 1)


def _check_same(first: Set[str], second: Set[str]) -> None:
    if first != second:
        only_first = sorted(first - second)
        only_second = sorted(second - first)
        raise PeercorpusError(
            f"Two runs can only be compared on the same papers: {len(only_first)} are only in the first run and"
            f" {len(only_second)} only in the second, such as {(only_first or only_second)[0]}; run both on the same"
            " selection."
        )
