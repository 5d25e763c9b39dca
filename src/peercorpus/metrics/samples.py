"""What metrics over samples share: something to measure, numbers that are numbers, and ranks."""

from collections.abc import Sequence
from math import isfinite

from peercorpus.errors import UndefinedMetricError


def check_samples(metric: str, *columns: Sequence[object]) -> None:
    """Refuse columns that are empty or of unequal length, and numbers that are none.

    Raises:
        UndefinedMetricError: There is no sample.
        ValueError: Their lengths differ, or a number is infinite or NaN.
    """
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError(f"{metric} was given columns of {sorted(lengths)} samples")
    if lengths == {0}:
        raise UndefinedMetricError(f"{metric} has no value over no sample; give at least one that was answered.")
    for column in columns:
        if wrong := [value for value in column if isinstance(value, float) and not isfinite(value)]:
            raise ValueError(f"{metric} was given {wrong[0]}, which is no number")


def mid_ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 1; equal values share the mean of their ranks.

    >>> mid_ranks([10, 30, 20, 20])
    [1.0, 4.0, 2.5, 2.5]
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    first = 0
    while first < len(order):
        after = first + 1
        while after < len(order) and values[order[after]] == values[order[first]]:
            after += 1
        for place in order[first:after]:
            ranks[place] = (first + 1 + after) / 2
        first = after
    return ranks


def check_references(metric: str, references: Sequence[str]) -> None:
    """Refuse no reference at all, and one text where a list of texts is wanted.

    Raises:
        UndefinedMetricError: There is none.
        TypeError: It is one text, whose letters would be the references.
    """
    if isinstance(references, str):
        raise TypeError(f"{metric} takes a list of references; put the one text into a list")
    if not references:
        raise UndefinedMetricError(f"{metric} has no value without a reference; give at least one for each text.")


def with_references(
    metric: str, candidates: Sequence[str], references_of_each: Sequence[Sequence[str]]
) -> list[tuple[str, Sequence[str]]]:
    """Each text with its references.

    Raises:
        UndefinedMetricError: There is no text, or a text has no reference.
        TypeError: The references of a text are one text.
    """
    samples = list(zip(candidates, references_of_each, strict=True))
    if not samples:
        raise UndefinedMetricError(f"{metric} has no value without a text; give at least one.")
    for _, references in samples:
        check_references(metric, references)
    return samples
