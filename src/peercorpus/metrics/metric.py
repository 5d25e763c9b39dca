"""Define what a metric is, and check the inputs of metric functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from peercorpus.errors import UndefinedMetricError
from peercorpus.models.local_models import model_signature, package_signature


class Takes(StrEnum):
    """Arguments that the function of a metric takes, in order."""

    TEXT = "candidate, references"
    TEXTS = "candidates, references_of_each"
    REVIEWS = "candidate reviews, other reviews of each paper"
    REPLIES = "texts, the review that each is about"
    DECISIONS = "predicted, gold"
    PROBABILITIES = "probabilities, gold"
    NUMBERS = "predicted numbers, gold"
    NUMBERS_ON_SCALES = "predicted numbers, gold, scales"


@dataclass(frozen=True, slots=True)
class Metric:
    """The definition of a metric.

    Attributes:
        name: Name in the registry and in tables.
        function: Computes the number; raises `UndefinedMetricError` if there is none.
        takes: Arguments of the function.
        settings: All settings that affect its numbers, such as `rougeL|f1|stem:yes|refs:max`.
        packages: Distributions whose version may affect its numbers.
        low: The lowest possible number; None if there is no lower bound.
        high: The highest possible number; None if there is no upper bound.
        higher_is_better: False if lower numbers are better.
        extra: The extra that installs its packages; None if it needs none.
        model: Folder or Hub name of the model that it uses; None if it uses none.
        note: What readers of a table with it must know, as shown above the table; empty if nothing.
    """

    name: str
    function: Callable[..., float]
    takes: Takes
    settings: str
    packages: tuple[str, ...] = ()
    low: float | None = 0.0
    high: float | None = 1.0
    higher_is_better: bool = True
    extra: str | None = None
    model: str | None = None
    note: str = ""

    @property
    def signature(self) -> str:
        """Settings and versions needed to reproduce a number.

        Raises:
            MissingExtraError: A package that it needs is not installed.
            ModelError: Its model is given as a folder that does not contain a model.
        """
        model = f"|model:{model_signature(self.model)}" if self.model else ""
        return f"{self.settings}{model}|{package_signature(*self.packages, 'peercorpus')}"

    @property
    def best(self) -> float:
        """The number of a perfect prediction.

        Raises:
            ValueError: The metric has no bound in the better direction.
        """
        best = self.high if self.higher_is_better else self.low
        if best is None:
            raise ValueError(f"'{self.name}' has no best number, because it has no bound in the better direction")
        return best


def check_samples(metric: str, *columns: Sequence[object]) -> None:
    """Check that columns are not empty and of equal length, and that their floats are finite.

    Raises:
        UndefinedMetricError: There is no sample.
        ValueError: The lengths differ, or a number is infinite or NaN.
    """
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError(f"{metric} needs columns of equal length, got lengths {sorted(lengths)}")
    if lengths == {0}:
        raise UndefinedMetricError(f"{metric} is undefined without samples; give at least one.")
    for column in columns:
        if wrong := [value for value in column if isinstance(value, float) and not isfinite(value)]:
            raise ValueError(f"{metric} needs finite numbers, got {wrong[0]}")


def mid_ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value, from 1; equal values share the mean of their ranks.

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
        for index in order[first:after]:
            ranks[index] = (first + 1 + after) / 2
        first = after
    return ranks


def check_references(metric: str, references: Sequence[str]) -> None:
    """Check that references are a list of texts and not empty.

    Raises:
        UndefinedMetricError: There is no reference.
        TypeError: A single string was passed, whose characters would be taken as references.
    """
    if isinstance(references, str):
        raise TypeError(f"{metric} needs a list of references, got a single text; put it into a list")
    if not references:
        raise UndefinedMetricError(f"{metric} is undefined without a reference; give at least one for each text.")


def with_references(
    metric: str, candidates: Sequence[str], references_of_each: Sequence[Sequence[str]]
) -> list[tuple[str, Sequence[str]]]:
    """Return each text with its references.

    Raises:
        UndefinedMetricError: There is no text, or a text has no reference.
        TypeError: The references of a text are a single string.
    """
    samples = list(zip(candidates, references_of_each, strict=True))
    if not samples:
        raise UndefinedMetricError(f"{metric} is undefined without a text; give at least one.")
    for _, references in samples:
        check_references(metric, references)
    return samples
