"""Spell names of authors and pseudonyms of reviewers as people type them: reversed, with initials, without accents."""

import re
from collections.abc import Iterator, Sequence
from itertools import permutations, takewhile

from peercorpus.explorer.querying.searched_fields import fold, split_words

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
    forms |= dict.fromkeys(filter(None, map(_reverse, list(forms)[:2])))
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
    """Return the word of `INITIALS` for a part of a name and the first letter of another.

    >>> name_initial("ana", "gomez"), name_initial("ana", "gomez", is_all=True)
    ('agomez', 'a1gomez')

    Args:
        first: A first name or its initial.
        part: The other part.
        is_all: Whether the name has the initial only.
    """
    return f"{first[0]}{'1' if is_all else ''}{part}"


def _put_in_order(name: str) -> str:
    """Return a name with the given names first."""
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
    words = [part for part in parts if part not in ROLES and not part.isdecimal() and len(part) > 1]
    whole = "".join(parts)
    numbered = _ROLE.fullmatch(whole)
    words += [whole, f"reviewer{numbered[1]}"] if numbered else [whole] if words else []
    yield from dict.fromkeys(words)
