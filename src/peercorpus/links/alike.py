"""How alike two papers are, and from where on they are one work; `docs/benchmarks.md` says what these rules find."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import filterfalse, pairwise

from peercorpus.links.plain import plain_words
from peercorpus.links.telling import Telling

SMALL_WORDS = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how", "in", "into"),
        *("is", "it", "its", "of", "on", "or", "over", "per", "that", "the", "their", "to", "under", "using", "via"),
        *("we", "what", "when", "where", "which", "why", "with", "without"),
    )
)
ORDINALS = frozenset(
    (
        *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
        *("one", "two", "three", "four", "five", "first", "second", "third", "fourth", "fifth"),
    )
)

RUN = 5
"""Words of a passage by which texts are compared."""

FEWEST_RUNS = 300
"""A text of fewer such passages is none to compare by."""

FEWEST_PAIRS = 15
"""Pairs of words that few papers have, from which an abstract tells papers apart."""

NAMES, FEW_NAMES = 3, 2
"""Words of a title from which two of the same may be one work; and of those that few have, for a look at the text."""

SAME_TEXT, SOME_TEXT = 0.35, 0.15
SAME_ABSTRACT, LIKE_ABSTRACT, SOME_ABSTRACT, TRACE_OF_ABSTRACT = 0.5, 0.4, 0.2, 0.1
SAME_TITLE, LIKE_TITLE, SOME_TITLE = 0.8, 0.6, 0.2

REFERENCES = re.compile(r"^[#* \t\d.]*(?:references|bibliography)[*\s:]*$", re.IGNORECASE | re.MULTILINE)
CHECKLIST = re.compile(
    r"^[#* \t\d.]*(?:[A-Z][. ]+)?(?:neurips paper |paper )?checklist[*\s:]*$", re.IGNORECASE | re.MULTILINE
)
HEADING = re.compile(r"^#{1,6}\s+\S", re.MULTILINE)

BY_TEXT = "the texts have a third of their passages in common"
BY_SOME_TEXT = "the texts have passages in common, and title or abstract are alike"
BY_ABSTRACT = "no text of both is held; the abstracts are nearly the same"
BY_BOTH = "no text of both is held; titles and abstracts are alike"
BY_TITLE = "no text of both is held; the titles are the same, and the abstracts have more in common than by chance"


@dataclass(frozen=True, slots=True)
class Head:
    """Title and abstract of a paper, by their words.

    Attributes:
        title: In order; empty where there is none.
        abstract: The same, with a space between them.
    """

    title: tuple[str, ...]
    abstract: str

    @property
    def has_words(self) -> bool:
        """Whether there is anything to compare it by."""
        return bool(self.title or self.abstract)

    @property
    def names(self) -> frozenset[str]:
        """The words of the title, without small ones; of a title of small words all."""
        return frozenset(self.title) - SMALL_WORDS or frozenset(self.title)


def head_of(title: str | None, abstract: str | None) -> Head:
    """Title and abstract as they are compared."""
    return Head(tuple(plain_words(title or "")), " ".join(plain_words(abstract or "")))


def pairs_of(words: str) -> frozenset[str]:
    """Pairs of adjacent words; of a single one, it alone.

    >>> sorted(pairs_of("we sort we"))
    ['sort we', 'we sort']
    """
    parts = words.split()
    return frozenset(map(" ".join, pairwise(parts))) or frozenset(parts)


def share(one: Set[str], other: Set[str]) -> float | None:
    """What two sets have in common, of what one of them has; None where one is empty."""
    if not one or not other:
        return None
    both = len(one & other)
    return both / (len(one) + len(other) - both)


def runs_of(text: str) -> frozenset[str]:
    """Runs of five words of a text, its references, its checklist and numbers left out."""
    words = [*filterfalse(str.isdigit, plain_words(_body(text)))]
    return frozenset(map(" ".join, zip(*(words[start:] for start in range(RUN)), strict=False)))


def _body(text: str) -> str:
    parts, start = [], 0
    checklist = CHECKLIST.search(text)
    end = checklist.start() if checklist else len(text)
    while found := REFERENCES.search(text, start, end):
        parts.append(text[start : found.start()])
        behind = HEADING.search(text, found.end(), end)
        start = behind.start() if behind else end
    return "".join([*parts, text[start:end]])


def text_share(one: Set[str], other: Set[str]) -> float | None:
    """The runs that two texts have in common, of those of the one with fewer; None where one has too few."""
    fewest = min(len(one), len(other))
    return len(one & other) / fewest if fewest >= FEWEST_RUNS else None


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two papers are, each on [0, 1]; None where one has no such thing.

    Attributes:
        are_parts: Whether the titles are alike and count on: "Part I" and "Part II", "Report 2023" and "Report 2024".
        is_telling: Whether both abstracts say enough that few papers say.
        is_named: Whether the titles have words in common that few papers have.
        is_same_title: Whether the titles are the same, and not too short.
        is_same_abstract: Whether the abstracts are the same.
    """

    title: float | None
    abstract: float | None
    text: float | None
    are_parts: bool
    is_telling: bool
    is_named: bool
    is_same_title: bool
    is_same_abstract: bool

    def may_be_one(self) -> bool:
        """Whether it is worth reading the texts."""
        by_abstract = self.is_telling and (self.abstract or 0.0) >= TRACE_OF_ABSTRACT
        return by_abstract or self._has_same_title() or (self.is_same_title and self.is_same_abstract)

    def _has_same_title(self) -> bool:
        return self.is_named and (self.title or 0.0) >= SAME_TITLE

    def rule(self) -> str | None:
        """The rule by which they are one work, in words; None where none says so.

        A title alone never does. Where both texts are held they decide.
        """
        title, abstract = self.title or 0.0, (self.abstract or 0.0) if self.is_telling else 0.0
        if self.text is not None:
            is_alike = not self.are_parts and (abstract >= SOME_ABSTRACT or self._has_same_title())
            if self.text >= SAME_TEXT:
                return BY_TEXT
            return BY_SOME_TEXT if self.text >= SOME_TEXT and is_alike else None
        return None if self.are_parts else self._by_heads(title, abstract)

    def _by_heads(self, title: float, abstract: float) -> str | None:
        if abstract >= SAME_ABSTRACT:
            return BY_ABSTRACT
        if abstract >= LIKE_ABSTRACT and title >= SOME_TITLE:
            return BY_BOTH
        if abstract >= SOME_ABSTRACT and title >= LIKE_TITLE:
            return BY_BOTH
        if self.is_same_title and (abstract >= TRACE_OF_ABSTRACT or self.is_same_abstract):
            return BY_TITLE
        return None


class Compared:
    """Titles and abstracts of papers, of which those words count that few of them have."""

    def __init__(self, heads: Sequence[Head]) -> None:
        self._names = Telling(head.names for head in heads)
        self._pairs = Telling(pairs_of(head.abstract) for head in heads)
        self.pairs = lru_cache(maxsize=4_096)(self._telling_pairs)

    def names(self, head: Head) -> frozenset[str]:
        """The words of a title that few have; none where they are too few to tell papers apart."""
        names = self._names.of(head.names)
        return names if len(names) >= FEW_NAMES else frozenset()

    def _telling_pairs(self, head: Head) -> frozenset[str]:
        """The pairs of words of an abstract that few have."""
        return self._pairs.of(pairs_of(head.abstract))

    def likeness(self, one: Head, other: Head) -> Likeness:
        """How alike two papers are by title and abstract."""
        left, right = ([word for word in head.title if not _counts(word)] for head in (one, other))
        numbers = [[word for word in head.title if _counts(word)] for head in (one, other)]
        pairs = self.pairs(one), self.pairs(other)
        return Likeness(
            share(frozenset(one.title), frozenset(other.title)),
            share(*pairs),
            None,
            are_parts=numbers[0] != numbers[1] and (share(set(left), set(right)) or 0.0) >= LIKE_TITLE,
            is_telling=min(map(len, pairs)) >= FEWEST_PAIRS,
            is_named=len(self.names(one) & self.names(other)) >= FEW_NAMES,
            is_same_title=one.title == other.title and len(one.names - SMALL_WORDS) >= NAMES,
            is_same_abstract=bool(one.abstract) and one.abstract == other.abstract,
        )


def _counts(word: str) -> bool:
    return word.isdigit() or word in ORDINALS
