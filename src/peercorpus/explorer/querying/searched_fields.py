"""Define which fields of an index are searched, and the terms of a word in them."""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer


def _make_splitter(*, is_stemmed: bool) -> TextAnalyzer:
    """Return an analyser that splits a text like tantivy's own `en_stem` or `default`, which Python cannot call."""
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(40)).filter(Filter.lowercase())
    return (builder.filter(Filter.stemmer("english")) if is_stemmed else builder).build()


IDS = "note_ids"
"""The field with the ids of a paper and of everything public in its forum."""
FOLDED_IDS = "folded_ids"
"""The field with the same ids in lower case."""
VOCABULARY = "vocabulary"
"""The field with every word as it is written, in lower case."""
_PLAIN = _make_splitter(is_stemmed=False)
_STEMMED = _make_splitter(is_stemmed=True)


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, as the index splits it.

    >>> split_words("Self-supervised, again")
    ('self', 'supervised', 'again')
    """
    return tuple(_PLAIN.analyze(text))


def fold(text: str) -> str:
    """Return a text without accents, for names that are typed without them.

    >>> fold("Jürgen Gómez")
    'Jurgen Gomez'
    """
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


@lru_cache(maxsize=50_000)
def _stem(part: str) -> str:
    return next(iter(_STEMMED.analyze(part)), part)


@dataclass(frozen=True, slots=True)
class SearchedFields:
    """The fields that are searched if a query names none.

    Attributes:
        weights: Weight of each field by its name.
        unstemmed: Fields whose words are compared as they are, without accents.
        without_places: Fields that do not record positions of words, so that phrases are not searched for there.
        named: Fields of texts that are searched only if a query names them.
        conditions: Names of conditions that may be typed as names of fields are.
        further: Other fields of the index, which a query may name and which no message suggests.
    """

    weights: Mapping[str, float]
    unstemmed: frozenset[str] = frozenset()
    without_places: frozenset[str] = frozenset()
    named: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    further: tuple[str, ...] = ()

    @property
    def typable(self) -> tuple[str, ...]:
        """The names that people may type before a colon."""
        return (*self.weights, *self.named, *self.conditions)

    @property
    def for_phrases(self) -> Iterator[str]:
        """The fields that phrases are searched for in."""
        return (name for name in self.weights if name not in self.without_places)

    def term(self, name: str, part: str) -> str:
        """Return the term of a field for a word in lower case."""
        if name in self.unstemmed:
            return fold(part)
        return _stem(part)
