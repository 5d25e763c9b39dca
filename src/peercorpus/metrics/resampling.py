"""How sure a number is: intervals by drawing papers anew, and the difference of two runs on the same papers.

Papers are drawn, with all that belongs to each, as reviews of one paper are not independent. Source: the percentile
bootstrap of clusters, Davison and Hinkley (1997), Bootstrap Methods and their Application, chapters 3.8 and 5.3.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from random import Random
from statistics import fmean, quantiles
from typing import TypeVar

from peercorpus.errors import PeercorpusError, UndefinedMetricError

Group = TypeVar("Group")
NumberOf = Callable[[Sequence[Group]], float]
"""A number of some papers, each given by what belongs to it; raises `UndefinedMetricError` where they have none."""

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its 95 % interval.

    Attributes:
        value: Of the papers as they are.
        low: 2.5 % of the resamples lie below.
        high: 2.5 % of the resamples lie above.
        papers: How many were drawn from.
        resamples: How many times papers were drawn.
        undefined: Resamples on which the number has no value; the interval is of the others.
    """

    value: float
    low: float
    high: float
    papers: int
    resamples: int
    undefined: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two runs on the same papers, the first less the second.

    Attributes:
        first: The number of the first run.
        second: The number of the second.
        difference: With its interval, of papers drawn for both at once.
        p: How often chance alone brings a difference as large, two-sided, in (0, 1].
    """

    first: float
    second: float
    difference: Interval
    p: float


def bootstrap(
    groups: Mapping[str, Group], statistic: NumberOf[Group], resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """A number with its 95 % percentile interval over papers.

    Args:
        groups: What belongs to each paper, by its id; their order does not matter.
        statistic: The number, of any selection of papers; one drawn twice comes twice.
        resamples: How many selections are drawn.
        seed: Of the drawing.

    Raises:
        UndefinedMetricError: There are fewer than two papers, the number has no value on them, or on too few resamples.
    """
    papers = sorted(groups)
    _check_papers(papers)
    value = statistic([groups[paper] for paper in papers])
    drawn, undefined = _resample([groups[paper] for paper in papers], statistic, resamples, seed)
    return _interval(value, drawn, len(papers), undefined)


def paired(
    first: Mapping[str, Group],
    second: Mapping[str, Group],
    statistic: NumberOf[Group],
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """The difference of two runs on the same papers, with its interval and p.

    p is the share of resamples whose difference is as far from their mean as the difference found is from none, the
    found one counted among them. Source: Riezler and Maxwell (2005), On Some Pitfalls in Automatic Evaluation and
    Significance Testing for MT; so does sacrebleu's paired bootstrap.

    Raises:
        PeercorpusError: The runs are not on the same papers.
        UndefinedMetricError: As for `bootstrap`.
    """
    papers = sorted(first)
    _check_same(first.keys(), second.keys())
    _check_papers(papers)
    pairs = [(first[paper], second[paper]) for paper in papers]

    def both(chosen: Sequence[tuple[Group, Group]]) -> tuple[float, float]:
        return statistic([one for one, _ in chosen]), statistic([other for _, other in chosen])

    def less(chosen: Sequence[tuple[Group, Group]]) -> float:
        one, other = both(chosen)
        return one - other

    ours, theirs = both(pairs)
    drawn, undefined = _resample(pairs, less, resamples, seed)
    found = _interval(ours - theirs, drawn, len(papers), undefined)
    centre = fmean(drawn)
    as_far = sum(abs(each - centre) >= abs(found.value) for each in drawn)
    return Difference(ours, theirs, found, (as_far + 1) / (len(drawn) + 1))


def _resample(
    groups: Sequence[Group], statistic: NumberOf[Group], resamples: int, seed: int
) -> tuple[list[float], int]:
    """The number on each selection on which it has a value, and how many have none."""
    chance = Random(seed)
    drawn = []
    for _ in range(resamples):
        chosen = chance.choices(groups, k=len(groups))
        try:
            drawn.append(statistic(chosen))
        except UndefinedMetricError:
            continue
    return drawn, resamples - len(drawn)


def _interval(value: float, drawn: Sequence[float], papers: int, undefined: int) -> Interval:
    if len(drawn) < 2:
        raise UndefinedMetricError(
            f"No interval: the number has a value on {len(drawn)} of {len(drawn) + undefined} resamples; give more."
        )
    cuts = quantiles(drawn, n=40, method="inclusive")
    return Interval(value, cuts[0], cuts[-1], papers, len(drawn) + undefined, undefined)


def _check_papers(papers: Sequence[str]) -> None:
    if len(papers) < 2:
        raise UndefinedMetricError(f"An interval over papers needs at least two; there are {len(papers)}.")


def _check_same(first: Set[str], second: Set[str]) -> None:
    if first != second:
        only_first, only_second = sorted(first - second), sorted(second - first)
        raise PeercorpusError(
            f"Two runs can be compared on the same papers only: {len(only_first)} are in the first alone,"
            f" {len(only_second)} in the second alone, as {(only_first or only_second)[0]}; run both on one selection."
        )
