"""The phrases of a paper's beginning and end, and which of all phrases are worth trying, in bounded memory.

A phrase is one to four words in a row. What may name a person is none: a word that the corpus hardly ever writes in
lower case stands in no phrase, but for the few of `CAPITALISED`; addresses and links are cut out before.
"""

import re
from array import array
from collections.abc import Iterator
from functools import lru_cache
from zlib import crc32

HEAD_CHARACTERS = 3_000
TAIL_CHARACTERS = 3_000
MOST_WORDS = 4
CELLS = 1 << 22
"""Of the table that counts phrases by their checksum: 16 MiB; phrases that share a cell are counted together."""
MOST_PHRASES = 10_000
"""Cells whose phrases are tried."""
FEWEST_ROWS = 3
"""Rows that must have a phrase, and rows that must lack it."""
LOWER_SHARE = 0.1
"""Of the rows that have a word: how many must write it in lower case, so that it is no name."""

CAPITALISED = frozenset(
    {
        *("abstract", "introduction", "acknowledgement", "acknowledgements", "acknowledgment", "acknowledgments"),
        *("references", "appendix", "anonymous", "published", "proceedings", "conference", "copyright", "preprint"),
        *("iclr", "icml", "neurips", "nips", "aaai", "acl", "emnlp", "naacl", "eacl", "cvpr", "iccv", "eccv"),
        *("aistats", "uai", "colt", "tmlr", "ieee", "acm", "arxiv"),
    }
)
ADDRESSES_CHARACTERS = 400
ADDRESSES = re.compile(
    rf"\{{[^{{}}]{{0,{ADDRESSES_CHARACTERS}}}\}}\s?@\s?\S*|(?<!\S)\([^()]{{0,{ADDRESSES_CHARACTERS}}}\)\s?@\s?\S*"
    r"|(?<!\S)\S*\s?@\s?\S*"
)
"""One address, or several as in `{ada, bob}@kites.example`."""
LINK = re.compile(r"~\w+|(?:https?://|www\.|github\.com/|gitlab\.com/|orcid\.org/)\S*", re.IGNORECASE)
WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
YEAR = re.compile(r"(?:19|20)\d\d")


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _cleaned(text: str, start: int, end: int) -> str:
    """A part of a text without addresses, accounts and links; those that reach over its edges are seen too."""
    first = max(0, start - ADDRESSES_CHARACTERS)
    part = LINK.sub(_blank, ADDRESSES.sub(_blank, text[first : end + ADDRESSES_CHARACTERS]))
    return part[start - first : end - first]


def edges(text: str) -> list[str]:
    """The beginning and the end of a text, cleaned; they never overlap."""
    end = min(HEAD_CHARACTERS, len(text))
    parts = (0, end), (max(end, len(text) - TAIL_CHARACTERS), len(text))
    return [_cleaned(text, *part) for part in parts if part[0] < part[1]]


def _words(part: str) -> list[str]:
    """The words of a part; a number that is no year is none, such as those in the margin for reviewers."""
    return [word for word in WORD.findall(part) if not word.isdigit() or YEAR.fullmatch(word)]


def _phrases(words: list[str]) -> Iterator[str]:
    lowered = [word.lower() for word in words]
    yield from lowered
    for length in range(2, MOST_WORDS + 1):
        yield from map(" ".join, zip(*(lowered[start:] for start in range(length)), strict=False))


def phrases_of(text: str) -> set[str]:
    """The phrases of the beginning and the end of a text.

    >>> sorted(phrases_of("Anonymous authors 017"))
    ['anonymous', 'anonymous authors', 'authors']
    """
    return _of_parts([_words(part) for part in edges(text)])


def _of_parts(parts: list[list[str]]) -> set[str]:
    return {phrase for words in parts for phrase in _phrases(words)}


def _in_lower_case(parts: list[list[str]]) -> set[str]:
    return {word for words in parts for word in words if word.islower() or YEAR.fullmatch(word)}


def _cell(phrase: str) -> int:
    return crc32(phrase.encode("utf-8", "surrogatepass")) & (CELLS - 1)


class PhraseCounter:
    """How many rows have each phrase, counted by checksum: the same whatever order the rows come in."""

    def __init__(self) -> None:
        self._counts = array("I", bytes(4 * CELLS))
        self._lower = array("I", bytes(4 * CELLS))

    def add(self, text: str) -> None:
        """Count the phrases of one row."""
        parts = [_words(part) for part in edges(text)]
        for phrase in _of_parts(parts):
            self._counts[_cell(phrase)] += 1
        for word in _in_lower_case(parts):
            self._lower[_cell(word)] += 1

    def choose(self, rows: int, fewest: int) -> "Chosen":
        """What to try: phrases that so many rows have and so many lack, those nearest to half of the rows first.

        The decisions have no say in it, so that chance has the same choice.
        """
        fewest = max(FEWEST_ROWS, fewest)
        cells = [cell for cell, count in enumerate(self._counts) if fewest <= count <= rows - fewest]
        cells.sort(key=lambda cell: (abs(2 * self._counts[cell] - rows), cell))
        return Chosen(cells[:MOST_PHRASES], len(cells), self._counts, self._lower)


class Chosen:
    """The phrases to try, known by their checksums.

    Attributes:
        left_out: Checksums of as many rows that are not tried, as there are too many.
    """

    def __init__(self, cells: list[int], found: int, counts: "array[int]", lower: "array[int]") -> None:
        self.left_out = found - len(cells)
        self._allowed = bytearray(CELLS)
        for cell in cells:
            self._allowed[cell] = 1
        self._counts, self._lower = counts, lower
        self._is_ordinary = lru_cache(maxsize=100_000)(self._ordinary)

    def _ordinary(self, word: str) -> bool:
        cell = _cell(word)
        return word in CAPITALISED or self._lower[cell] > LOWER_SHARE * self._counts[cell]

    def of(self, text: str) -> Iterator[str]:
        """The phrases of a text that are tried."""
        for phrase in phrases_of(text):
            if self._allowed[_cell(phrase)] and all(map(self._is_ordinary, phrase.split(" "))):
                yield phrase
