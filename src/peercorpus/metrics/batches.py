"""Texts that a model measures a batch at a time: here, or in other processes, each of which loads the model once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from peercorpus.errors import ModelError
from peercorpus.spread import Failure, Spread

AT_A_TIME = 64
"""Texts whose vectors are in memory at a time, with those of their references: of DeBERTa 0.7 GB at four references."""
TIMEOUT_S = 3_600.0
"""Seconds that a batch may take, with loading the model; of DeBERTa it takes minutes on one core."""

Sample = tuple[str, Sequence[str]]
"""A text and its references."""
NumberT = TypeVar("NumberT")


@dataclass(frozen=True, slots=True)
class Measured(Generic[NumberT]):
    """The numbers of a batch.

    Attributes:
        of_each: In the order of the texts.
        cut: Texts, references included, of which the model took the beginning alone.
        model: By which, as `signed` names it.
    """

    of_each: tuple[NumberT, ...]
    cut: frozenset[str]
    model: str


def texts_of(samples: Sequence[Sample]) -> list[str]:
    """The different texts of some samples, references included."""
    return list(dict.fromkeys(text for candidate, references in samples for text in (candidate, *references)))


def measure(
    function: Callable[[Sequence[Sample]], Measured[NumberT]], samples: Sequence[Sample], spread: Spread | None
) -> tuple[tuple[NumberT, ...], float]:
    """The number of each sample, and the share of different texts that were cut.

    Batches are the same wherever they are measured: what else is in a batch changes the last digits.

    Raises:
        ModelError: A batch cannot be measured, or the model is not the same everywhere.
    """
    batches = (samples[first : first + AT_A_TIME] for first in range(0, len(samples), AT_A_TIME))
    parts = [*map(function, batches)] if spread is None else [*_spread(function, batches, spread)]
    models = sorted({part.model for part in parts})
    if len(models) > 1:
        raise ModelError(f"The model is not the same on every machine: {', '.join(models)}; put the same one there.")
    cut = {text for part in parts for text in part.cut}
    return tuple(one for part in parts for one in part.of_each), len(cut) / len(texts_of(samples))


def _spread(
    function: Callable[[Sequence[Sample]], Measured[NumberT]], batches: Iterator[Sequence[Sample]], spread: Spread
) -> Iterator[Measured[NumberT]]:
    for _, found in spread(function, batches, timeout_s=TIMEOUT_S, in_order=True):
        if isinstance(found, Failure):
            raise ModelError(f"Some texts cannot be measured: {found.detail}")
        yield found
