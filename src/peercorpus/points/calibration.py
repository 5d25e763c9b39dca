"""Turn the probability of an attribution into the share of such answers that people called right."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from peercorpus.records.points import AnswerMethod

Steps = Sequence[tuple[float, float]]
"""Probability from which a share holds, with the share; ascending in both."""

STEPS: Mapping[AnswerMethod, Steps] = MappingProxyType(
    {
        AnswerMethod.QUOTE: ((0.0, 0.73), (0.83, 0.85), (0.93, 0.94), (0.99, 0.98)),
        AnswerMethod.LABEL: ((0.0, 0.4), (0.92, 0.58), (0.995, 0.79)),
        AnswerMethod.ORDER: ((0.0, 0.5), (0.86, 0.63), (0.9, 0.72), (0.99, 0.9)),
        AnswerMethod.SIMILARITY: ((0.0, 0.33), (0.65, 0.5), (0.82, 0.65), (0.99, 0.85)),
    }
)
"""Isotonic regression (pooling adjacent violators, bins of 30 answers) on the half of DISAPERE's forums on which the
weights were tuned; `benchmarks/run.py points` measures both halves."""


def calibrate(probability: float, method: AnswerMethod, *, is_to_all: bool) -> float:
    """Return the share of answers of this kind that people called right.

    Posts to several or all reviewers are not in the measured pairs, so their answers get the lowest share.

    >>> calibrate(0.95, AnswerMethod.QUOTE, is_to_all=False), calibrate(0.95, AnswerMethod.QUOTE, is_to_all=True)
    (0.94, 0.73)
    """
    steps = STEPS[method]
    index = 1 if is_to_all else bisect_right(steps, probability, key=lambda step: step[0])
    return steps[max(index, 1) - 1][1]
