"""Spell names of authors and pseudonyms of reviewers as people type them: reversed, with initials, without accents."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from peercorpus.explorer.querying.searched_fields import fold, split_words

AUTHORS = "authors"
"""The field with the names of authors."""
REVIEWER = "reviewer"
"""The field with the pseudonyms of reviewers."""
_MAX_PARTS = 8
"""Further parts of a name are not combined with an initial."""
_TWO_LETTERS = str.maketrans(
    {letter: f"{plain}e" for letter, plain in zip("äöüøÄÖÜØ", "aouoAOUO", strict=True)} | {"å": "aa", "Å": "Aa"}
)
"""Letters that people without them on the keyboard may type as two."""
_ROLE = re.compile(r"(?:anon|anonymous)?+reviewers?+(.++)")
_ROLES = frozenset(("reviewer", "reviewers", "anonymous", "anon", "official"))


def list_forms(name: str) -> Iterator[str]:
    """Yield the forms of an author's name that are searched for, in addition to the name itself.

    >>> list(list_forms("Ana María Gómez"))
    ['Ana Maria Gomez', 'Gómez Ana María', 'Gomez Ana Maria']
    >>> list(list_forms("Müller, Eva"))
    ['Eva Müller', 'Eva Muller', 'Eva Mueller', 'Müller Eva', 'Muller Eva']
    """
    forms = dict.fromkeys(_list_ordered(name))
    forms |= dict.fromkeys(filter(None, map(_reverse, list(forms)[:2])))
    forms.pop(name, None)
    yield from forms


def list_initials(name: str) -> Iterator[str]:
    """Yield each later part of an author's name with the initial of each part before it, as one word.

    >>> list(list_initials("Ana María Gómez"))
    ['amaria', 'agomez', 'mgomez']
    """
    for form in dict.fromkeys(map(fold, _list_ordered(name))):
        for first, later in combinations(split_words(form)[:_MAX_PARTS], 2):
            if len(later) > 1:
                yield first[0] + later


def _list_ordered(name: str) -> Iterator[str]:
    """Yield a name with the given names first: as it is, without accents, and with two letters for some."""
    last, comma, first = name.partition(",")
    ordered = " ".join(f"{first} {last}".split()) if comma and first.strip() else name
    yield from (ordered, fold(ordered), fold(ordered.translate(_TWO_LETTERS)))


def _reverse(name: str) -> str | None:
    parts = name.split()
    return " ".join([parts[-1], *parts[:-1]]) if len(parts) > 1 else None


def is_initials(parts: Sequence[str]) -> bool:
    """Return whether a word is one or more initials, such as "A." or "J.-L."."""
    return all(len(part) == 1 and part.isalpha() for part in parts)


def list_pseudonym_words(pseudonym: str) -> Iterator[str]:
    """Yield the words by which the pseudonym of a reviewer is found: its own part, and the whole as one word.

    >>> list(list_pseudonym_words("Reviewer_xY3z")), list(list_pseudonym_words("AnonReviewer2"))
    (['xy3z', 'reviewerxy3z'], ['anonreviewer2', 'reviewer2'])
    """
    parts = split_words(pseudonym)
    words = [part for part in parts if part not in _ROLES and not part.isdecimal() and len(part) > 1]
    whole = "".join(parts)
    numbered = _ROLE.fullmatch(whole)
    words += [whole, f"reviewer{numbered[1]}"] if numbered else [whole] if words else []
    yield from dict.fromkeys(words)
