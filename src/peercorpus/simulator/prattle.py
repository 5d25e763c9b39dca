"""Sentences of invented words, as unequally frequent as real ones: texts as long as one asks that are no copies."""

from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from random import Random

SYLLABLES = tuple(first + last for first in "bdfgklmnprstvz" for last in ("a", "e", "i", "o", "u", "er", "an"))
WORDS = 8_000
OFTENEST = 2.7
"""Added to the rank of a word in Zipf's law, as Mandelbrot did for English."""
FEWEST, MOST = 6, 30
"""Words of a sentence."""


@cache
def _vocabulary() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The words, frequent ones first and short, with their cumulative weights."""
    chance = Random("prattle")
    words = tuple("".join(chance.choices(SYLLABLES, k=1 + min(3, rank // 60))) for rank in range(WORDS))
    return words, tuple(accumulate(1 / (rank + OFTENEST) for rank in range(WORDS)))


def sentences(chance: Random, number: int) -> Iterator[str]:
    """Sentences that have so many words together."""
    words, weights = _vocabulary()
    drawn = chance.choices(words, cum_weights=weights, k=number)
    start = 0
    while start < number:
        end = start + chance.randint(FEWEST, MOST)
        yield " ".join(drawn[start:end]).capitalize() + "."
        start = end
