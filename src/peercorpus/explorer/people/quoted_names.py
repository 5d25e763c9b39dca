"""Widen a phrase in quotation marks that names somebody: an author with initials, a reviewer, a venue.

A phrase is taken literally; but the index has pseudonyms and ids of venues as one word, and names of authors with
accents or initials that nobody should have to know.
"""

import re
from collections.abc import Iterator, Sequence

from peercorpus.explorer.people.author_names import AUTHORS, INITIALS, REVIEWER, name_initial, spell_out
from peercorpus.explorer.querying.searched_fields import SearchedFields, fold, split_words
from peercorpus.explorer.querying.venue_names import VENUE
from peercorpus.explorer.search_index import OpenTexts

_PHRASE = re.compile(r'(?<![^\s(+-])(?:(\w++):)?+"([^"]++)"(?![\w~^*])')
_MAX_PARTS = 6
"""Words of a phrase that may be a name."""


def widen_phrases(opened: OpenTexts, words: str, fields: SearchedFields) -> str:
    """Return a search with each phrase that names somebody as an alternative between all ways to find that.

    Args:
        opened: The index.
        words: The search, in tantivy's query language.
        fields: The fields that are searched.
    """

    def widen(found: re.Match[str]) -> str:
        others = list(_list_others(opened, found[2], found[1], fields))
        return f"({' OR '.join([found[0], *others])})" if others else found[0]

    return _PHRASE.sub(widen, words)


def _list_others(opened: OpenTexts, phrase: str, field: str | None, fields: SearchedFields) -> Iterator[str]:
    """Yield the further queries for a phrase."""
    parts = split_words(phrase)
    if not 1 < len(parts) <= _MAX_PARTS:
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
