"""What a metric is: its function, its range, which way is better, and the signature beside its numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from peercorpus.metrics.local_models import signed
from peercorpus.metrics.packages import pinned


class Takes(StrEnum):
    """What the function of a metric is given, in this order."""

    TEXT = "candidate, references"
    TEXTS = "candidates, references_of_each"
    DECISIONS = "predicted, gold"
    PROBABILITIES = "probabilities, gold"
    NUMBERS = "predicted numbers, gold"
    NUMBERS_ON_SCALES = "predicted numbers, gold, scales"


@dataclass(frozen=True, slots=True)
class Metric:
    """The one definition of a metric.

    Attributes:
        name: As in the registry and in tables.
        function: Gives the number of what it takes; where there is none it raises `UndefinedMetricError`.
        takes: What the function is given.
        settings: All that changes its numbers, as `rougeL|f1|stem:yes|refs:max`.
        packages: Distributions whose version can change its numbers.
        low: The lowest number it can give; None if there is none.
        high: The highest; None if there is none.
        higher_is_better: Whether the highest is the best one.
        extra: The extra that brings its packages; None where it needs none.
        model: The folder or name of the model it asks; None where it asks none.
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

    @property
    def signature(self) -> str:
        """All that is needed to get the same number again: settings, and versions of what computes it.

        Raises:
            MissingExtraError: A package it needs is not installed.
            ModelError: Its model is written as a folder, and is none.
        """
        model = f"|model:{signed(self.model)}" if self.model else ""
        return f"{self.settings}{model}|{pinned(*self.packages, 'peercorpus')}"

    @property
    def best(self) -> float:
        """The number of a perfect prediction."""
        best = self.high if self.higher_is_better else self.low
        if best is None:
            raise ValueError(f"'{self.name}' has no best number")
        return best
