"""Suggest a word of the index for one that it does not have."""

from collections.abc import Iterable, Sequence
from itertools import islice
from string import ascii_lowercase

from rapidfuzz import process
from rapidfuzz.distance import OSA

from peercorpus.explorer.querying.searched_fields import VOCABULARY, fold
from peercorpus.explorer.querying.words import Word
from peercorpus.explorer.search_index import OpenTexts

_MIN_LETTERS = 4
"""Shorter words are not corrected."""
_MANY_LETTERS = 7
"""A word of at least this many letters may differ by two edits, a shorter one by one."""
_MAX_WORDS = 4
"""Words of one search that are corrected."""
_MAX_BEGINNINGS = 300
"""Beginnings of words that are looked up for a word that differs by two edits."""
_MAX_LISTED = 40
"""Words of each beginning that are compared, the most frequent first."""
_RARE = 3
"""A word in at most this many documents may be misspelt too, if"""
_MORE_FREQUENT = 30
"""one that differs by one edit is in this many times as many."""


def suggest_words(opened: OpenTexts, words: Sequence[Word]) -> str | None:
    """Return the words with those that the index lacks, or hardly has, replaced by the nearest that it has.

    None if no word is replaced. Nearness is the number of letters that are inserted, left out, replaced, or swapped
    with the next (optimal string alignment); of equally near words the most frequent is taken.
    """
    better: dict[str, str] = {}
    for word in words:
        if len(word.parts) == 1 and word.documents <= _RARE and len(better) < _MAX_WORDS:
            suggested = _find_nearest(opened, fold(word.parts[0]), word.documents)
            if suggested is not None:
                better[word.written] = suggested
    return " ".join(better.get(word.written, word.written) for word in words) if better else None


def _find_nearest(opened: OpenTexts, part: str, documents: int) -> str | None:
    if len(part) < _MIN_LETTERS or not part.isalpha():
        return None
    most = 2 if len(part) >= _MANY_LETTERS and not documents else 1
    frequencies = dict(_list_near(opened, part, most))
    frequencies.pop(part, None)
    near = process.extract(part, list(frequencies), scorer=OSA.distance, score_cutoff=most, limit=None)
    least = _MORE_FREQUENT * documents
    ranked = [(distance, -frequencies[word], word) for word, distance, _ in near if frequencies[word] >= least]
    return min(ranked)[2] if ranked else None


def _list_near(opened: OpenTexts, part: str, most: int) -> Iterable[tuple[str, int]]:
    """Yield words that may be near, with the number of documents of each.

    Every word that differs by one edit is looked up. One that differs by two is found if at most one of them is in the
    first half of the word, and if it is frequent among those that begin like it: so few words are compared however many
    the corpus has.
    """
    for word in _edit_once(part):
        if frequency := opened.searcher.doc_freq(VOCABULARY, word):
            yield word, frequency
    if most < 2:
        return
    half = (len(part) + 1) // 2
    shortened = (part[:place] + part[place + 1 : half + 1] for place in range(half))
    edited = (word for word in _edit_once(part[:half]) if len(word) >= half)
    for beginning in islice(dict.fromkeys([part[:half], *shortened, *edited]), _MAX_BEGINNINGS):
        for word, frequency in opened.searcher.terms_with_prefix(VOCABULARY, beginning, limit=_MAX_LISTED):
            if abs(len(word) - len(part)) <= most and word.isalpha():
                yield word, frequency


def _edit_once(part: str) -> Iterable[str]:
    """Yield the words that differ from one by a letter left out, swapped with the next, replaced or inserted."""
    for place in range(len(part) + 1):
        before, after = part[:place], part[place:]
        yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in ascii_lowercase:
            yield before + letter + after[1:]
            yield before + letter + after
