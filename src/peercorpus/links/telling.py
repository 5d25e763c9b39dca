"""What tells papers apart: words, pairs and runs of words that few of them have; what many have is a way to write."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import compress
from zlib import crc32

PLACES = 1 << 22
"""Places that words are counted in by their hash: so many take 16 MB, however many papers there are."""

FEWEST = 6
"""Papers that may always have the same words: a work may be submitted that often."""

MOST_SHARE = 0.01
"""Share of all papers from which on those that have the same words are too many."""


class Telling:
    """Counts how many papers have the same words; then says which words few have."""

    def __init__(self, papers: Iterable[Iterable[str]] = (), most_share: float = MOST_SHARE) -> None:
        counts, number = array("I", bytes(4 * PLACES)), 0
        for words in papers:
            number += 1
            for place in _places(words):
                counts[place] += 1
        most = max(FEWEST, int(most_share * number))
        self._crowded = frozenset(compress(range(PLACES), map(most.__lt__, counts)))

    def of(self, words: Iterable[str]) -> frozenset[str]:
        """Those that few papers have."""
        every = frozenset(words)
        return every.difference(compress(every, map(self._crowded.__contains__, _places(every))))


def _places(words: Iterable[str]) -> Iterator[int]:
    """Where each is counted. Of a venue's texts these are millions, and each call less is seconds less."""
    return map((PLACES - 1).__and__, map(crc32, map(str.encode, words)))
