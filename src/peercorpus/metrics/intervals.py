"""Confidence intervals: bootstrap over papers, and proportions (Wilson, Newcombe).

A paper is drawn together with everything that belongs to it, because reviews of one paper are not independent. Source:
the percentile bootstrap of clusters, Davison and Hinkley (1997), Bootstrap Methods and their Application, chapters 3.8
and 5.3.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from statistics import quantiles
from typing import TypeVar

from peercorpus.errors import UndefinedMetricError

Group = TypeVar("Group")
NumberOf = Callable[[Sequence[Group]], float]
"""Computes a number from the groups of some papers; raises `UndefinedMetricError` if it is undefined on them."""

RESAMPLES = 1000
"""Default number of bootstrap resamples."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its 95 % interval.

    Attributes:
        value: The number computed from the papers themselves.
        low: 2.5 % quantile of the resamples.
        high: 97.5 % quantile of the resamples.
        papers: Number of papers.
        resamples: Number of resamples drawn.
        undefined: Resamples on which the number is undefined; the interval is computed from the others.
    """

    value: float
    low: float
    high: float
    papers: int
    resamples: int
    undefined: int


def bootstrap(
    groups: Mapping[str, Group], statistic: NumberOf[Group], resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return a number with its 95 % percentile interval over papers.

    Args:
        groups: What belongs to each paper, by paper id; the order is irrelevant.
        statistic: Computes the number; a paper that is drawn twice is passed twice.
        resamples: Number of resamples.
        seed: Seed of the random draws.

    Raises:
        UndefinedMetricError: There are fewer than two papers, or the number is undefined on them or on too many
            resamples.
    """
    papers = sorted(groups)
    check_papers(papers)
    value = statistic([groups[paper] for paper in papers])
    drawn, undefined = _resample([groups[paper] for paper in papers], statistic, resamples, seed)
    return _make_interval(value, drawn, len(papers), undefined)


def _resample(
    groups: Sequence[Group], statistic: NumberOf[Group], resamples: int, seed: int
) -> tuple[list[float], int]:
    """Return the number on each resample where it is defined, and the count of resamples where it is not."""
    chance = Random(seed)
    drawn = []
    for _ in range(resamples):
        chosen = chance.choices(groups, k=len(groups))
        try:
            drawn.append(statistic(chosen))
        except UndefinedMetricError:
            continue
    return drawn, resamples - len(drawn)


def _make_interval(value: float, drawn: Sequence[float], papers: int, undefined: int) -> Interval:
    if len(drawn) < 2:
        raise UndefinedMetricError(
            f"No interval: the number is defined on {len(drawn)} of {len(drawn) + undefined} resamples; give more"
            " papers."
        )
    cuts = quantiles(drawn, n=40, method="inclusive")
    return Interval(
        value=value, low=cuts[0], high=cuts[-1], papers=papers, resamples=len(drawn) + undefined, undefined=undefined
    )


def check_papers(papers: Sequence[str]) -> None:
    if len(papers) < 2:
        raise UndefinedMetricError(f"An interval needs at least two papers, got {len(papers)}.")


Z = 1.959963984540054
"""Quantile of the normal distribution for a two-sided 95 % interval."""


Bounds = tuple[float, float]
"""Lower and upper bound."""


def wilson_interval(part: float, whole: float) -> Bounds | None:
    """Return the 95 % score interval of a share, in [0, 1], or None if `whole` is 0; no continuity correction.

    Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference. Journal of the American
    Statistical Association 22 (1927), pp. 209-212.

    Args:
        part: Number of those that have the property. Fractions are allowed: values in [0, 1] never vary more than zeros
            and ones with the same mean, so the interval is then too wide rather than too narrow.
        whole: Total number.

    >>> [round(bound, 3) for bound in wilson_interval(8, 10)]
    [0.49, 0.943]
    """
    if not whole:
        return None
    share = part / whole
    middle = (share + Z * Z / (2 * whole)) / (1 + Z * Z / whole)
    half = Z / (1 + Z * Z / whole) * sqrt(share * (1 - share) / whole + Z * Z / (4 * whole * whole))
    return max(0.0, middle - half), min(1.0, middle + half)


def subtract_bounds(first: float, first_bounds: Bounds, second: float, second_bounds: Bounds) -> Bounds:
    """Return the 95 % interval of the first number minus the second, computed on different papers.

    Source: Zou and Donner (2008), Construction of confidence limits about effect measures, Statistics in Medicine 27,
    1693-1702; for two shares it is Newcombe's interval.

    >>> [round(bound, 3) for bound in subtract_bounds(0.8, (0.7, 0.9), 0.5, (0.4, 0.6))]
    [0.159, 0.441]
    """
    low = sqrt((first - first_bounds[0]) ** 2 + (second_bounds[1] - second) ** 2)
    high = sqrt((first_bounds[1] - first) ** 2 + (second - second_bounds[0]) ** 2)
    return first - second - low, first - second + high


@dataclass(frozen=True, slots=True)
class Proportion:
    """A count among a number of papers.

    Attributes:
        count: Papers that have a property.
        of: Papers examined.
    """

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """The proportion, in [0, 1]; None if no paper was examined.

        >>> Proportion(1, 4).value, Proportion(0, 0).value
        (0.25, None)
        """
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> Bounds | None:
        """The 95 % score interval, in [0, 1]; None if no paper was examined.

        >>> [round(end, 4) for end in Proportion(81, 263).interval]
        [0.2553, 0.3662]
        """
        return wilson_interval(self.count, self.of)


@dataclass(frozen=True, slots=True)
class ProportionDifference:
    """The difference of two proportions, the first minus the second."""

    first: Proportion
    second: Proportion

    @property
    def value(self) -> float | None:
        """The difference, in [-1, 1]; None if either proportion covers no paper."""
        first = self.first.value
        second = self.second.value
        return None if first is None or second is None else first - second

    @property
    def interval(self) -> Bounds | None:
        """The 95 % interval, in [-1, 1]; None if either proportion covers no paper.

        Source: R. G. Newcombe, Interval estimation for the difference between independent proportions: comparison of
        eleven methods. Statistics in Medicine 17 (1998), pp. 873-890, method 10 and its table II.

        >>> [round(end, 4) for end in ProportionDifference(Proportion(56, 70), Proportion(48, 80)).interval]
        [0.0524, 0.3339]
        """
        first_bounds = self.first.interval
        second_bounds = self.second.interval
        if first_bounds is None or second_bounds is None:
            return None
        return subtract_bounds(self.first.value or 0.0, first_bounds, self.second.value or 0.0, second_bounds)

    @property
    def leans(self) -> int:
        """1 or -1 if the interval excludes 0 and the first proportion is the larger or the smaller one; else 0."""
        interval = self.interval
        if interval is None:
            return 0
        return int(interval[0] > 0) - int(interval[1] < 0)
