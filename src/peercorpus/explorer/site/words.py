"""Read the words of texts as the search of a site does; `static/search.js` has the same rules."""

import re
import unicodedata
from collections.abc import Iterable, Set

MAX_CHARACTERS = 30
"""Longer words are cut."""
_WORD = re.compile(r"[^\W_]+")
_MARKS = re.compile("[\u0300-\u036f]+")
_LONG_NUMBER = re.compile(r"[0-9]{5,}")


def stem(word: str) -> str:
    """Return an English word without the ending of its plural: Harman's S stemmer (1991, doi 10.1002/asi.4630420102).

    >>> [stem(word) for word in ("studies", "kites", "networks", "loss", "bayes", "is")]
    ['study', 'kite', 'network', 'loss', 'baye', 'is']
    """
    if len(word) < 4 or not word.endswith("s"):
        return word
    if word.endswith("ies") and not word.endswith(("aies", "eies")):
        return f"{word[:-3]}y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word if word.endswith(("us", "ss", "es")) else word[:-1]


def words_of(text: str) -> set[str]:
    """Return the words of a text: runs of letters and digits in lower case, without accents and endings of plurals.

    >>> sorted(words_of("Schr\u00f6dinger's K\u0130TES: 2-step, 123456"))
    ['2', 'kite', 's', 'schrodinger', 'step']
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = _MARKS.sub("", text)
    found = {word[:MAX_CHARACTERS] for word in _WORD.findall(text.lower())}
    return {stem(word) for word in found if not _LONG_NUMBER.fullmatch(word)}


def words_by_field(fields: Iterable[str]) -> list[Set[str]]:
    """Return the words of the fields of a paper, the best field first; each word counts where it occurs first."""
    seen: set[str] = set()
    found: list[Set[str]] = []
    for text in fields:
        words = words_of(text) - seen
        seen |= words
        found.append(words)
    return found
