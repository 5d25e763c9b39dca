"""Find the names of authors that a search has with initials, or that the corpus has with initials.

"A. Gomez" finds Ana Gómez, and "Ana Gomez" finds A. Gomez, but after those whose first name it is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tantivy import Query

from peercorpus.explorer.people.author_names import AUTHORS, INITIALS, is_initials, name_initial, spell_out
from peercorpus.explorer.querying.combined_queries import require_all, require_any
from peercorpus.explorer.querying.searched_fields import SearchedFields, fold
from peercorpus.explorer.search_index import OpenTexts

NEAR = 3
"""Words before and after a first name among which a part of the surname is looked for."""
_RUN = re.compile(r"\W*([A-Z]{2,3})\W*")
"""Initials that are typed as one word."""


@dataclass(frozen=True, slots=True)
class FoundName:
    """Documents that have a word of a search as the first name of an author.

    Attributes:
        query: Query for them.
        documents: Their number, counted by name; 0 if there are none.
        is_initials: Whether the word is initials.
        is_sure: Whether it is nothing else, as an article would be.
    """

    query: Query
    documents: int
    is_initials: bool = False
    is_sure: bool = False


class NameReader:
    """Finds, among the words of a search, first names and initials of authors whose surname is beside them."""

    def __init__(self, opened: OpenTexts, fields: SearchedFields) -> None:
        self._opened = opened
        self._fields = fields

    def read(self, parts: Mapping[str, tuple[str, ...]]) -> dict[str, FoundName]:
        """Return the words that are found as first names, by the word.

        Args:
            parts: The words as they were typed, each with its parts in lower case.
        """
        if AUTHORS not in self._fields.weights or len(parts) < 2:
            return {}
        tokens = list(parts)
        found = {token: self._read_word(place, tokens, parts) for place, token in enumerate(tokens)}
        are_names = all(map(self._is_name, parts.values()))
        return {
            token: replace(name, is_sure=name.is_initials and (are_names or token.endswith(".")))
            for token, name in found.items()
            if name is not None
        }

    def _is_name(self, parts: tuple[str, ...]) -> bool:
        """Return whether a word is initials, or a name that an author has."""
        long = [part for part in parts if len(part) > 1]
        return is_initials(parts) or all(any(self._count(AUTHORS, spelt) for spelt in spell_out(part)) for part in long)

    def _read_word(self, place: int, tokens: Sequence[str], parts: Mapping[str, tuple[str, ...]]) -> FoundName | None:
        token = tokens[place]
        if token.endswith("*"):
            return None
        if is_initials(parts[token]):
            sides = (tokens[place + 1 :], tokens[:place][::-1])
            names = [next((parts[each] for each in side if not is_initials(parts[each])), ()) for side in sides]
            return self._find_initials(token, parts[token], [list(_list_parts([name])) for name in names])
        near = [*tokens[max(0, place - NEAR) : place], *tokens[place + 1 : place + 1 + NEAR]]
        names_near = list(_list_parts(parts[each] for each in near if not each.endswith("*")))
        found = list(self._find_abbreviated(parts[token][0], names_near))
        run = _RUN.fullmatch(token)
        if run is not None:
            of_letters = (self._find_letters(run[1].lower(), [part]) for part in names_near)
            found += [(each.query, each.documents) for each in of_letters if each is not None]
        queries = [query for query, _ in found]
        return FoundName(require_any(queries), sum(number for _, number in found)) if found else None

    def _find_initials(self, written: str, letters: Sequence[str], names: Sequence[Sequence[str]]) -> FoundName | None:
        """Return the name whose initials stand before or after it; None if the word may be another one.

        An initial with a full stop beside the name of an author is nothing else, even if no author has both.
        """
        for name in filter(None, names):
            found = self._find_letters(letters, name)
            if found is not None:
                return FoundName(found.query, found.documents, is_initials=True)
        is_sure = len(letters) == 1 and written.endswith(".")
        if is_sure and any(self._count(AUTHORS, part) for name in names for part in name):
            return FoundName(Query.empty_query(), 0, is_initials=True)
        return None

    def _find_letters(self, letters: Sequence[str], name: Sequence[str]) -> FoundName | None:
        """Return the documents with all letters as initials of a part of a name; None if one of them is none."""
        known = [[name_initial(fold(letter), part) for part in name] for letter in letters]
        known = [[word for word in words if self._count(INITIALS, word)] for words in known]
        if not all(known):
            return None
        weight = self._fields.weights[AUTHORS]
        query = require_all([require_any([self._make_query(word, weight) for word in words]) for words in known])
        return FoundName(query, min(sum(self._count(INITIALS, word) for word in words) for words in known))

    def _find_abbreviated(self, first: str, names: Sequence[str]) -> Iterator[tuple[Query, int]]:
        """Yield a query, and the number of its documents, for each name that the corpus has with the initial only."""
        if len(first) < 2:
            return
        for part in names:
            word = name_initial(fold(first), part, is_all=True)
            if number := self._count(INITIALS, word):
                yield self._make_query(word, 1.0), number

    def _count(self, field: str, word: str) -> int:
        return self._opened.searcher.doc_freq(field, word)

    def _make_query(self, word: str, weight: float) -> Query:
        return Query.boost_query(Query.term_query(self._opened.schema, INITIALS, word, "basic"), weight)


def _list_parts(words: Iterator[tuple[str, ...]] | Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield the parts of words that may be those of a surname, as the index has them."""
    for parts in words:
        yield from (spelt for part in parts if len(part) > 1 for spelt in spell_out(part))
