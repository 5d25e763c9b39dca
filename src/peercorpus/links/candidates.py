"""Papers whose titles or abstracts may be alike, without comparing each with each: MinHash, and bands of it.

Two papers are candidates where a whole band of their signatures is equal, and the signatures say that they are alike.
Signatures are the same in every run and on every machine, and so are the candidates.
"""

import operator
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import TypeVar

from rensa import RMinHash

SEED = 1
WORD_BYTES = array("I").itemsize
CHUNK = 1_000
"""Papers whose signatures are made at once."""

CROWD = 50
"""Papers that agree in a band from which on each is compared with a few alone."""

NEIGHBOURS = 3
"""How many: those that follow it by title, and then by abstract."""

Tokens = Collection[str]
Pair = tuple[int, int]
"""The places of two papers, the smaller first."""
KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Banding:
    """How signatures are made and cut.

    Attributes:
        rows: Numbers that must agree in a band.
        bands: How many bands a signature has.
        least: The least share of equal numbers in two signatures that are alike.
    """

    rows: int
    bands: int
    least: float

    @property
    def numbers(self) -> int:
        """Numbers of a signature."""
        return self.rows * self.bands


TITLES = Banding(rows=4, bands=32, least=0.35)
ABSTRACTS = Banding(rows=3, bands=85, least=0.07)


def find_candidates(tokens: Iterable[Tokens], banding: Banding, order: Sequence[str]) -> set[Pair]:
    """The pairs that may be alike.

    Args:
        tokens: What each paper is compared by; one without any is alike to none.
        banding: How.
        order: By what papers are sorted of which very many agree.
    """
    signatures = dict(_signatures(tokens, banding))
    width = WORD_BYTES * banding.rows
    found: set[Pair] = set()
    for start in range(0, width * banding.bands, width):
        bands = [signature[start : start + width] for signature in signatures.values()]
        for crowd in _crowds(zip(signatures, bands, strict=True), Counter(bands)):
            for pair in _pairs(crowd, order):
                if pair not in found and _share(signatures[pair[0]], signatures[pair[1]]) >= banding.least:
                    found.add(pair)
    return found


def find_same(keys: Iterable[str], order: Sequence[str]) -> set[Pair]:
    """The pairs of papers with the same key; an empty one is the same as none."""
    held = [(place, key) for place, key in enumerate(keys) if key]
    crowds = _crowds(held, Counter(key for _, key in held))
    return {pair for crowd in crowds for pair in _pairs(crowd, order)}


def _crowds(keys: Iterable[tuple[int, KeyT]], counts: Mapping[KeyT, int]) -> Collection[list[int]]:
    """The places that have a key in common: most have one of their own, and are in no crowd."""
    crowds: dict[KeyT, list[int]] = defaultdict(list)
    for place, key in keys:
        if counts[key] > 1:
            crowds[key].append(place)
    return crowds.values()


def _signatures(tokens: Iterable[Tokens], banding: Banding) -> Iterator[tuple[int, bytes]]:
    own = ((place, some) for place, some in enumerate(tokens) if some)
    while chunk := list(islice(own, CHUNK)):
        rows = RMinHash.digests_from_token_sets([list(some) for _, some in chunk], banding.numbers, SEED)
        yield from ((place, array("I", row).tobytes()) for (place, _), row in zip(chunk, rows, strict=True))


def _pairs(crowd: Sequence[int], order: Sequence[str]) -> Iterator[Pair]:
    if len(crowd) <= CROWD:
        yield from combinations(crowd, 2)
        return
    ordered = sorted(crowd, key=lambda place: order[place])
    for index, one in enumerate(ordered):
        for other in ordered[index + 1 : index + 1 + NEIGHBOURS]:
            yield min(one, other), max(one, other)


def _share(one: bytes, other: bytes) -> float:
    """The share of equal numbers, which comes near to what the sets have in common."""
    left, right = memoryview(one).cast("I"), memoryview(other).cast("I")
    equal: int = sum(map(operator.eq, left, right))
    return equal / len(left)
