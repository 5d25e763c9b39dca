"""Find people by their names: authors in any order, with initials or without accents, reviewers by their pseudonyms."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, takewhile

from tantivy import Query

from peercorpus.explorer.querying.searched_fields import (
    OpenTexts,
    SearchedFields,
    fold,
    require_all,
    require_any,
    split_words,
)
from peercorpus.explorer.querying.venue_names import VENUE

AUTHORS = "authors"
"""The field with the names of authors."""
INITIALS = "initials"
"""The field with the parts of these names, each behind the initial of another part: `agomez`, `a1gomez`."""
REVIEWER = "reviewer"
"""The field with the pseudonyms of reviewers."""
_MAX_PARTS = 8
"""Further parts of a name are not combined with an initial."""
_TWO_LETTERS = str.maketrans(
    {letter: f"{plain}e" for letter, plain in zip("äöüøÄÖÜØ", "aouoAOUO", strict=True)} | {"å": "aa", "Å": "Aa"}
)
"""Letters that people without them on the keyboard may type as two."""
_PARTICLES = frozenset(
    (
        *("al", "ben", "bin", "da", "dal", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "el", "ibn"),
        *("la", "le", "mac", "mc", "o", "saint", "san", "st", "ten", "ter", "van", "von", "zu", "zum", "zur"),
    )
)
"""Words within a surname, which some people write as one with the next word."""
_RUN = re.compile(r"\b[B-DF-HJ-NP-TV-Z]{2,3}\b")
"""Initials that are written as one word: without a vowel, as "LI" and "MA" are names."""
_ROLE = re.compile(r"(?:anonymous|anon|official)?+reviewers?+(.++)")
ROLES = frozenset(("reviewer", "reviewers", "anonymous", "anon", "official"))
"""Words of pseudonyms that name nobody."""


def list_forms(name: str) -> Iterator[str]:
    """Yield the forms of an author's name that are searched for, in addition to the name itself.

    >>> list(list_forms("Ana María Gómez"))
    ['Ana Maria Gomez', 'Gómez Ana María', 'Gomez Ana Maria', 'anamaria']
    >>> list(list_forms("Müller, Eva"))
    ['Eva Müller', 'Eva Muller', 'Eva Mueller', 'Müller Eva', 'Muller Eva']
    """
    forms = dict.fromkeys(_list_ordered(name))
    parted = (form.split() for form in list(forms)[:2])
    forms |= dict.fromkeys(" ".join([parts[-1], *parts[:-1]]) for parts in parted if len(parts) > 1)
    forms |= dict.fromkeys(list_joined(name))
    forms.pop(name, None)
    yield from forms


def list_joined(name: str) -> Iterator[str]:
    """Yield parts of an author's name that some people write as one word: first names, and particles with the surname.

    >>> list(list_joined("Xiao-Ming Li")), list(list_joined("Laurens van der Maaten")), list(list_joined("Jo O'Neil"))
    (['xiaoming'], ['vandermaaten'], ['oneil'])
    """
    words = [split_words(word) for word in fold(_put_in_order(name)).split()]
    words = [word for word in words if any(len(part) > 1 for part in word)]
    yield from ("".join(word) for word in words if len(word) > 1)
    given = ["".join(word) for word in words[:-1] if not _PARTICLES.issuperset(word)]
    if len(given) == 2:
        yield "".join(given)
    particles = [*takewhile(_PARTICLES.issuperset, reversed(words[:-1]))][::-1]
    if particles:
        yield "".join(part for word in (*particles, words[-1]) for part in word)


def list_initials(name: str) -> Iterator[str]:
    """Yield the parts of an author's name, each behind the initial of one before it.

    Where the name itself has the initial only, as in "A. Gomez", another word stands between them a second time, so
    that "Ana Gomez" may mean it.

    >>> list(list_initials("Ana María Gómez"))
    ['amaria', 'agomez', 'mgomez']
    >>> list(list_initials("A. Gomez")), list(list_initials("Gomez A"))
    (['agomez', 'a1gomez'], ['agomez', 'a1gomez'])
    """
    for letter, part, is_all in list_initial_pairs(name):
        yield name_initial(letter, part, is_all=is_all)


def list_initial_pairs(name: str) -> Iterator[tuple[str, str, bool]]:
    """Yield each initial and the part behind it, and a second time, with `True`, where the name has it only.

    >>> list(list_initial_pairs("A. Gomez"))
    [('a', 'gomez', False), ('a', 'gomez', True)]
    """
    found: dict[tuple[str, str, bool], None] = {}
    for form in dict.fromkeys(map(fold, _list_ordered(name))):
        parts = split_words(_RUN.sub(lambda run: " ".join(run[0]), form))[:_MAX_PARTS]
        parts += tuple(word for word in list_joined(name) if parts and word.endswith(parts[-1]))
        for (place, first), (other, part) in permutations(enumerate(parts), 2):
            if len(part) > 1 and (place < other or len(first) == 1):
                found |= dict.fromkeys(
                    (first[0], part, is_all) for is_all in (False, True) if len(first) == 1 or not is_all
                )
    yield from found


def name_initial(first: str, part: str, *, is_all: bool = False) -> str:
    """Return the word of `INITIALS` for a part of a name and an initial; `is_all` if a name has no more.

    >>> name_initial("ana", "gomez"), name_initial("ana", "gomez", is_all=True)
    ('agomez', 'a1gomez')
    """
    return f"{first[0]}{'1' if is_all else ''}{part}"


def _put_in_order(name: str) -> str:
    last, comma, first = name.partition(",")
    return " ".join(f"{first} {last}".split()) if comma and first.strip() else name


def _list_ordered(name: str) -> Iterator[str]:
    """Yield a name with the given names first: as it is, without accents, and with two letters for some."""
    ordered = _put_in_order(name)
    yield from (ordered, fold(ordered), fold(ordered.translate(_TWO_LETTERS)))


def spell_out(part: str) -> tuple[str, ...]:
    """Return a part of a name without accents, and with two letters for some, if that is another word.

    >>> spell_out("müller"), spell_out("gómez")
    (('muller', 'mueller'), ('gomez',))
    """
    return tuple(dict.fromkeys((fold(part), fold(part.translate(_TWO_LETTERS)))))


def is_initials(parts: Sequence[str]) -> bool:
    """Return whether a word is one or more initials, such as "A." or "J.-L."."""
    return all(len(part) == 1 and part.isalpha() for part in parts)


def list_pseudonym_words(pseudonym: str) -> Iterator[str]:
    """Yield the words by which the pseudonym of a reviewer is found: its own part, and the whole as one word.

    >>> list(list_pseudonym_words("Reviewer_xY3z")), list(list_pseudonym_words("AnonReviewer2"))
    (['xy3z', 'reviewerxy3z'], ['anonreviewer2', 'reviewer2'])
    """
    parts = split_words(pseudonym)
    words = [part for part in parts if part not in ROLES and not part.isdecimal() and len(part) > 1]
    whole = "".join(parts)
    numbered = _ROLE.fullmatch(whole)
    words += [whole, f"reviewer{numbered[1]}"] if numbered else [whole] if words else []
    yield from dict.fromkeys(words)


_MAX_PHRASE_PARTS = 6
"""Words of a phrase that may be a name."""


def list_other_forms(opened: OpenTexts, phrase: str, field: str | None, fields: SearchedFields) -> Iterator[str]:
    """Yield the queries for a phrase in quotation marks that names somebody: an author, a reviewer, a venue.

    A phrase is taken literally; but the index has pseudonyms and ids of venues as one word, and names of authors with
    accents or initials that nobody should have to know. `field` is named before it; None if none is.
    """
    parts = split_words(phrase)
    if not 1 < len(parts) <= _MAX_PHRASE_PARTS:
        return
    whole = "".join(parts)
    for place in (VENUE, REVIEWER):
        if field in (None, place) and place in fields.weights and opened.searcher.doc_freq(place, whole):
            yield f"{place}:{whole}"
    if field in (None, AUTHORS) and AUTHORS in fields.weights:
        spelt = {split_words(form) for form in spell_out(phrase)} - {parts}
        yield from sorted(f'{AUTHORS}:"{" ".join(form)}"' for form in spelt)
        name = _find_name(opened, parts)
        if name is not None:
            yield name


def _find_name(opened: OpenTexts, parts: Sequence[str]) -> str | None:
    """Return the query for authors of a name with initials in it, or in the corpus; None if there are none."""
    clauses = [list(_list_clauses(opened, place, parts)) for place in range(len(parts))]
    if not all(clauses) or not any(clause.startswith(INITIALS) for options in clauses for clause in options):
        return None
    return f"({' AND '.join(f'({alternatives})' for alternatives in map(' OR '.join, clauses))})"


def _list_clauses(opened: OpenTexts, place: int, parts: Sequence[str]) -> Iterator[str]:
    """Yield the ways in which an author may have one part of a name."""
    part = parts[place]
    others = [spelt for other in (*parts[:place], *parts[place + 1 :]) if len(other) > 1 for spelt in spell_out(other)]
    if len(part) > 1:
        yield from (f"{AUTHORS}:{spelt}" for spelt in spell_out(part) if opened.searcher.doc_freq(AUTHORS, spelt))
    for other in others:
        word = name_initial(fold(part), other, is_all=len(part) > 1)
        if opened.searcher.doc_freq(INITIALS, word):
            yield f"{INITIALS}:{word}"


NEAR = 3
"""Words before and after a first name among which a part of the surname is looked for."""
_TYPED_RUN = re.compile(r"\W*([A-Z]{2,3})\W*")
"""Initials that are typed as one word."""


@dataclass(frozen=True, slots=True)
class FoundName:
    """Documents that have a word of a search as the first name of an author.

    Attributes:
        documents: Their number, counted by name; 0 if there are none.
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
        """Return the words that are found as first names, by the word; `parts` are in lower case."""
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
        run = _TYPED_RUN.fullmatch(token)
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
