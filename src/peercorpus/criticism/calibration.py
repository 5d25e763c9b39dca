"""Turn the probability of an attribution into the share of such answers that annotators judged correct."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from peercorpus.records.points import AnswerMethod

Steps = Sequence[tuple[float, float]]
"""Pairs of the lowest probability to which a share applies and that share; ascending in both."""

STEPS: Mapping[AnswerMethod, Steps] = MappingProxyType(
    {
        AnswerMethod.QUOTE: ((0.0, 0.7), (0.89, 0.89), (0.99, 0.97)),
        AnswerMethod.LABEL: ((0.0, 0.6), (0.96, 0.77), (0.998, 0.86)),
        AnswerMethod.ORDER: ((0.0, 0.54), (0.86, 0.6), (0.91, 0.67), (0.98, 0.92)),
        AnswerMethod.SIMILARITY: ((0.0, 0.43), (0.95, 0.76)),
    }
)
"""Isotonic regression (pooling adjacent violators, bins of 30 answers) on the half of DISAPERE's forums on which the
weights were tuned; `benchmarks/run.py points` measures both halves."""


def calibrate(probability: float, method: AnswerMethod, *, is_to_all: bool) -> float:
    """Return the share of answers of this kind that annotators judged correct.

    The measured pairs include no posts to several or all reviewers, so answers in those get the lowest share.

    >>> calibrate(0.95, AnswerMethod.QUOTE, is_to_all=False), calibrate(0.95, AnswerMethod.QUOTE, is_to_all=True)
    (0.89, 0.7)
    """
    steps = STEPS[method]
    index = 1 if is_to_all else bisect_right(steps, probability, key=lambda step: step[0])
    return steps[index - 1][1]
