"""How near predicted scores come: mean errors, on the scale given or in widths of it, and rank correlation."""

from collections.abc import Sequence
from math import fsum
from statistics import correlation

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.samples import check_samples, mid_ranks

Scale = tuple[float, float]
"""The lowest and the highest value that a form offers."""


def mae(predicted: Sequence[float], gold: Sequence[float]) -> float:
    """The mean absolute error on the scale given, 0 or more; scores of different scales are not to be put together.

    Raises:
        UndefinedMetricError: There is no sample.
    """
    check_samples("MAE", predicted, gold)
    return fsum(abs(one - other) for one, other in zip(predicted, gold, strict=True)) / len(gold)


def mse(predicted: Sequence[float], gold: Sequence[float]) -> float:
    """The mean squared error on the scale given, 0 or more.

    Raises:
        UndefinedMetricError: There is no sample.
    """
    check_samples("MSE", predicted, gold)
    return fsum((one - other) ** 2 for one, other in zip(predicted, gold, strict=True)) / len(gold)


def mae_unit(predicted: Sequence[float], gold: Sequence[float], scales: Sequence[Scale]) -> float:
    """The mean absolute error in widths of each sample's scale, 0 or more; in [0, 1] of predictions on the scale.

    Raises:
        UndefinedMetricError: There is no sample.
        ValueError: A scale has no width.
    """
    return mae(normalise(predicted, scales), normalise(gold, scales))


def mse_unit(predicted: Sequence[float], gold: Sequence[float], scales: Sequence[Scale]) -> float:
    """The mean squared error in widths of each sample's scale, 0 or more; in [0, 1] of predictions on the scale.

    Raises:
        UndefinedMetricError: There is no sample.
        ValueError: A scale has no width.
    """
    return mse(normalise(predicted, scales), normalise(gold, scales))


def spearman(predicted: Sequence[float], gold: Sequence[float]) -> float:
    """The correlation of ranks, in [-1, 1]; equal values share the mean of their ranks.

    Raises:
        UndefinedMetricError: There are fewer than two samples, or all predictions or all scores are equal.
    """
    check_samples("Spearman's correlation", predicted, gold)
    if min(len(set(predicted)), len(set(gold))) < 2:
        raise UndefinedMetricError("Spearman's correlation has no value where all predictions or all scores are equal.")
    return correlation(mid_ranks(predicted), mid_ranks(gold))


def normalise(values: Sequence[float], scales: Sequence[Scale]) -> list[float]:
    """Each value on its scale made [0, 1]; a prediction beyond its scale stays beyond.

    >>> normalise([3, 3], [(1, 5), (1, 10)])
    [0.5, 0.2222222222222222]

    Raises:
        ValueError: A scale has no width, or the lengths differ.
    """
    for low, high in scales:
        if not low < high:
            raise ValueError(f"a scale from {low} to {high} has no width")
    return [(value - low) / (high - low) for value, (low, high) in zip(values, scales, strict=True)]
