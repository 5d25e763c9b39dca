"""How far to believe a judge: does it say the same again, does another agree, do length and place sway it?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import polars as pl

from peercorpus.benchmark.judging.judge import ASPECTS, Place, Verdict
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.krippendorff import alpha
from peercorpus.metrics.regression import spearman

OVERALL = "overall"
"""The mean of the five aspects."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """How far several answers to one question give the same number.

    Attributes:
        questions: Answered at least twice.
        pairs: Two answers to one question each.
        equal: The share of pairs that give the same number.
        difference: The mean absolute difference of a pair, in points of the scale.
        alpha: Krippendorff's α (interval) of answers within questions; None where all numbers are equal.
    """

    questions: int
    pairs: int
    equal: float
    difference: float
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Graders:
    """How far two graders give the same texts the same number.

    Attributes:
        texts: That both judged.
        spearman: The correlation of ranks; None where one grader gives all texts the same.
        alpha: Krippendorff's α (interval); None where all numbers are equal.
        difference: The mean of the second grader's number less the first's, in points of the scale.
    """

    texts: int
    spearman: float | None
    alpha: float | None
    difference: float


@dataclass(frozen=True, slots=True)
class Places:
    """How far the place of a text decides between two.

    Attributes:
        pairs: Asked in both orders.
        flips: The share of pairs whose winner changes when they change places.
        first: The share of answers that prefer the first place; 0.5 where place does not matter.
    """

    pairs: int
    flips: float
    first: float


@dataclass(frozen=True, slots=True)
class Padding:
    """What words that say nothing bring.

    Attributes:
        pairs: The same text without and with padding.
        gain: The mean of the padded text's overall number less the plain one's, in points; above 0 it pays to pad.
        above: The share of pairs in which the padded text stands above the plain one, ties counted half.
    """

    pairs: int
    gain: float
    above: float


def numbers(verdict: Verdict) -> dict[str, float]:
    """A verdict by aspect, with the overall number."""
    return {**verdict.values, OVERALL: verdict.mean}


def _alpha(answers: Sequence[Sequence[float]]) -> float | None:
    rows = [(unit, float(value)) for unit, given in enumerate(answers) for value in given]
    return alpha(pl.DataFrame(rows, schema={"unit": pl.Int64, "value": pl.Float64}, orient="row"))


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's correlation; None where it has no value, as one side is constant or there are fewer than two."""
    try:
        return spearman(one, other)
    except UndefinedMetricError:
        return None


def _by_aspect(verdicts: Sequence[Verdict]) -> dict[str, list[float]]:
    told = [numbers(verdict) for verdict in verdicts]
    return {aspect: [one[aspect] for one in told] for aspect in (*ASPECTS, OVERALL)}


def _repeats(answers: Sequence[Sequence[float]]) -> Repeats:
    pairs = [pair for given in answers for pair in combinations(given, 2)]
    apart = [abs(one - other) for one, other in pairs]
    return Repeats(len(answers), len(pairs), fmean(not each for each in apart), fmean(apart), _alpha(answers))


def repeat_agreement(answers: Sequence[Sequence[Verdict]]) -> dict[str, Repeats]:
    """How far a judge repeats itself, by aspect and overall.

    Args:
        answers: All answers to each question; questions with fewer than two do not count.

    Raises:
        UndefinedMetricError: No question was answered twice.
    """
    twice = [_by_aspect(given) for given in answers if len(given) > 1]
    if not twice:
        raise UndefinedMetricError("Repeat agreement needs a question answered twice; ask with repeats=2 or more.")
    return {aspect: _repeats([one[aspect] for one in twice]) for aspect in (*ASPECTS, OVERALL)}


def grader_agreement(pairs: Sequence[tuple[Verdict, Verdict]]) -> dict[str, Graders]:
    """How far two graders agree on the same texts, by aspect and overall.

    Raises:
        UndefinedMetricError: There is no text that both judged.
    """
    if not pairs:
        raise UndefinedMetricError("Agreement of two graders needs a text that both judged.")
    first, second = (_by_aspect(each) for each in zip(*pairs, strict=True))
    found = {}
    for aspect, ours in first.items():
        theirs = second[aspect]
        difference = fmean(other - one for one, other in zip(ours, theirs, strict=True))
        both = list(zip(ours, theirs, strict=True))
        found[aspect] = Graders(len(pairs), rank_correlation(ours, theirs), _alpha(both), difference)
    return found


def padding(pairs: Sequence[tuple[float, float]]) -> Padding:
    """What padding brings, of the overall numbers of the same text without and with it.

    Raises:
        UndefinedMetricError: There is no pair.
    """
    if not pairs:
        raise UndefinedMetricError("The sensitivity to padding needs a text judged without and with it.")
    gains = [padded - plain for plain, padded in pairs]
    return Padding(len(gains), fmean(gains), fmean((gain >= 0) / 2 + (gain > 0) / 2 for gain in gains))


def places(answers: Sequence[tuple[Place, Place]]) -> Places:
    """How far place decides, of answers to each pair as it stands and with its texts swapped.

    Raises:
        UndefinedMetricError: There is no pair.
    """
    if not answers:
        raise UndefinedMetricError("The sensitivity to place needs a pair that was asked in both orders.")
    flips = fmean(one == other for one, other in answers)
    return Places(len(answers), flips, fmean(place == "A" for both in answers for place in both))
