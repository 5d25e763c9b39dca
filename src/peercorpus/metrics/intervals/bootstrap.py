"""Percentile bootstrap over papers, for numbers without an interval of their own.

A paper is drawn together with everything that belongs to it, because reviews of one paper are not independent. Source:
the percentile bootstrap of clusters, Davison and Hinkley (1997), Bootstrap Methods and their Application, chapters 3.8
and 5.3.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import quantiles
from typing import TypeVar

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.intervals.papers import RESAMPLES

Group = TypeVar("Group")
NumberOf = Callable[[Sequence[Group]], float]
"""Computes a number from the groups of some papers; raises `UndefinedMetricError` if it is undefined on them."""


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


def bootstrap(groups: Mapping[str, Group], statistic: NumberOf[Group]) -> Interval:
    """Return a number with its 95 % percentile interval over papers.

    Args:
        groups: What belongs to each paper, by paper id; the order is irrelevant.
        statistic: Computes the number; a paper that is drawn twice is passed twice.

    Raises:
        UndefinedMetricError: There are fewer than two papers, or the number is undefined on them or on too many
            resamples.
    """
    papers = sorted(groups)
    check_papers(papers)
    value = statistic([groups[paper] for paper in papers])
    chance = Random(0)
    drawn = []
    for _ in range(RESAMPLES):
        chosen = chance.choices([groups[paper] for paper in papers], k=len(papers))
        try:
            drawn.append(statistic(chosen))
        except UndefinedMetricError:
            continue
    if len(drawn) < 2:
        raise UndefinedMetricError(
            f"No interval: the number is defined on {len(drawn)} of {RESAMPLES} resamples; give more papers."
        )
    cuts = quantiles(drawn, n=40, method="inclusive")
    return Interval(
        value=value,
        low=cuts[0],
        high=cuts[-1],
        papers=len(papers),
        resamples=RESAMPLES,
        undefined=RESAMPLES - len(drawn),
    )


def check_papers(papers: Sequence[str]) -> None:
    if len(papers) < 2:
        raise UndefinedMetricError(f"An interval needs at least two papers, got {len(papers)}.")
