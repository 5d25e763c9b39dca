"""Define which fields of an index are searched, and the terms of a word in them."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tantivy import Filter, Index, Occur, Query, Schema, Searcher, TextAnalyzer, TextAnalyzerBuilder, Tokenizer


def _make_splitter(*filters: Filter) -> TextAnalyzer:
    """Return an analyser that splits a text into words in lower case, as tantivy's own `default`, and filters them."""
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(40)).filter(Filter.lowercase())
    for each in filters:
        builder = builder.filter(each)
    return builder.build()


STEMS = "stems"
"""The tokenizer of texts that are searched by their stems, without accents."""
WRITTEN = "written"
"""The tokenizer of words as they are written, without accents."""
IDS = "note_ids"
"""The field with the ids of a paper and of everything public in its forum."""
FOLDED_IDS = "folded_ids"
"""The field with the same ids in lower case."""
VOCABULARY = "vocabulary"
"""The field with every word in lower case, without accents, except those of the papers' own texts."""
LETTERS: Mapping[str, str] = (
    dict(zip("øłđðħØŁĐÐĦ\u0131", "olddhOLDDHi", strict=True))
    | {"þ": "th", "ß": "ss", "æ": "ae", "œ": "oe"}
    | {"Þ": "Th", "ẞ": "Ss", "Æ": "Ae", "Œ": "Oe"}
)
"""Letters with a stroke, and ligatures, that Unicode does not decompose."""
_LETTERS = str.maketrans(dict(LETTERS))
_PLAIN = _make_splitter()
_WRITTEN = _make_splitter(Filter.ascii_fold())
_STEMMED = _make_splitter(Filter.ascii_fold(), Filter.stemmer("english"))


def add_tokenizers(index: Index) -> Index:
    """Return an index that can read and write fields with the tokenizers `STEMS` and `WRITTEN`."""
    index.register_tokenizer(STEMS, _STEMMED)
    index.register_tokenizer(WRITTEN, _WRITTEN)
    return index


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, as the index splits it.

    >>> split_words("Self-supervised, again")
    ('self', 'supervised', 'again')
    """
    return tuple(_PLAIN.analyze(text))


def fold(text: str) -> str:
    """Return a text without accents, for words that are typed without them.

    >>> fold("Jürgen Gómez"), fold("Łukasz Sørensen")
    ('Jurgen Gomez', 'Lukasz Sorensen')
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text).translate(_LETTERS)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


@dataclass(frozen=True, slots=True)
class OpenTexts:
    """Texts that are ready to be searched."""

    index: Index
    searcher: Searcher

    @property
    def schema(self) -> Schema:
        """The fields of the index."""
        return self.index.schema


@lru_cache(maxsize=50_000)
def _stem(part: str) -> str:
    return next(iter(_STEMMED.analyze(part)), part)


@dataclass(frozen=True, slots=True)
class SearchedFields:
    """The fields that are searched if a query names none.

    Attributes:
        weights: Weight of each field by its name.
        unstemmed: Fields whose words are compared whole; in the others, stems are. Accents count in none.
        vocabularies: Fields with words as they are written, which are searched by the beginning of a word.
        named: Fields of texts that are searched only if a query names them.
        conditions: Names of conditions that may be typed as names of fields are.
        further: Other fields of the index, which a query may name and which no message suggests.
    """

    weights: Mapping[str, float]
    unstemmed: frozenset[str] = frozenset()
    vocabularies: tuple[str, ...] = (VOCABULARY,)
    named: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    further: tuple[str, ...] = ()

    @property
    def typable(self) -> tuple[str, ...]:
        """The names that people may type before a colon."""
        return (*self.weights, *self.named, *self.conditions)

    def term(self, name: str, part: str) -> str:
        """Return the term of a field for a word in lower case."""
        if name in self.unstemmed:
            return fold(part)
        return _stem(part)


def require_all(queries: Sequence[Query]) -> Query:
    """Return the query for documents that all of these find; there is at least one."""
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Must, query) for query in queries])


def require_any(queries: Sequence[Query]) -> Query:
    """Return the query for documents that any of these finds."""
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])
