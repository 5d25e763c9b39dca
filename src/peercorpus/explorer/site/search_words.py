"""Read the words of texts as the explorer's search does; `static/words.js` has the same rules for what is typed."""

import re
import unicodedata
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.explorer.index_documents import FIELDS_SEARCHED
from peercorpus.explorer.querying.names import ROLES, list_forms, list_initial_pairs, list_pseudonym_words
from peercorpus.explorer.querying.searched_fields import LETTERS, split_words
from peercorpus.wording.untrusted_text import redact_people

_LETTERS = str.maketrans(dict(LETTERS))
_MARKS = re.compile("[\u0300-\u036f]+")
_HYPHENS = frozenset("-\u2010\u2011")
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]++(?:[-\u2010\u2011][^\W_]++)+")
_MAX_COMPOUND_CHARACTERS = 40
_SPELT = re.compile(r"[a-z]{4,20}")
"""Words that can be suggested for a misspelt one."""


def fold(text: str) -> str:
    """Return a text without accents, strokes and ligatures.

    >>> fold("Schr\u00f6dinger's e\ufb03cient"), fold("\u0141ukasz")
    ("Schrodinger's efficient", 'Lukasz')
    """
    return text if text.isascii() else _MARKS.sub("", unicodedata.normalize("NFKD", text)).translate(_LETTERS)


@cache
def stem(word: str) -> str:
    """Return the stem of a word in lower case: the second version of Porter's stemmer, as the explorer has it.

    >>> [stem(word) for word in ("transformers", "trained", "kites")]
    ['transform', 'train', 'kite']
    """
    return FIELDS_SEARCHED.term("title", word)


def split(text: str) -> Sequence[str]:
    """Return the words of a text, in lower case and without accents.

    >>> split("Self-supervised K\u0130TES, \u00e9tude")
    ('self', 'supervised', 'kites', 'etude')
    """
    return split_words(fold(text))


@dataclass(frozen=True, slots=True)
class PaperWords:
    """The words by which a paper is found.

    Attributes:
        fields: Stems by field, the best field first; each is in the first field that has it.
        compounds: For each word that is written with hyphens, by the stem of the whole, the stems of its first part:
            several if it is written with hyphens in several places.
        solid: The stems of those that are also written without hyphens.
    """

    fields: Sequence[Set[str]]
    compounds: Mapping[str, Set[str]]
    solid: Set[str]
    spelt: Set[str]


def read_words(fields: Sequence[str], more: Sequence[Set[str]]) -> PaperWords:
    """Return the words of the fields of a paper, the best field first; `more` has stems to be added for each.

    A word with hyphens counts as its parts, and as the word that its parts make when they are joined.
    """
    seen: set[str] = set()
    found: list[Set[str]] = []
    compounds: dict[str, set[str]] = {}
    solid: set[str] = set()
    spelt: set[str] = set()
    for text, added in zip(map(fold, fields), more, strict=True):
        words = set(split_words(text))
        written = set(map(stem, words))
        joined = set(filter(None, map(_join, _find_compounds(text))))
        stems = {*written, *(whole for whole, _ in joined), *added} - seen
        seen |= stems
        found.append(stems)
        for whole, first in joined:
            if whole not in added:
                compounds.setdefault(whole, set()).add(first)
        solid |= written
        spelt |= words
    return PaperWords(found, compounds, solid & compounds.keys(), set(filter(_SPELT.fullmatch, spelt)))


def _find_compounds(text: str) -> set[str]:
    """Return the words of a text that are written with hyphens."""
    pieces = {piece for piece in text.split() if not _HYPHENS.isdisjoint(piece)}
    found = {compound for piece in pieces for compound in _COMPOUND.findall(piece)}
    return {compound for compound in found if len(compound) <= _MAX_COMPOUND_CHARACTERS}


def _join(compound: str) -> tuple[str, str] | None:
    """Return the stem of a compound that is written as one word, and that of its first part; None if it has no words.

    >>> _join("Self-supervised")
    ('selfsupervis', 'self')
    """
    parts = split_words(compound)
    return (stem("".join(parts)), stem(parts[0])) if parts else None


def list_author_words(name: str) -> set[str]:
    """Return the stems of all forms of an author's name, and its parts with initials.

    `gomez.a` is the part of a name beside one that begins with "a"; with another full stop, one that is "A." only. The
    file of the part has it, so that a search for both loads nothing more.

    >>> sorted(list_author_words("A. Gomez"))
    ['a', 'gomez', 'gomez.a', 'gomez.a.']
    """
    name = unicodedata.normalize("NFC", redact_people(name))
    found = {stem(part) for form in (name, *list_forms(name)) for part in split(form)}
    for letter, part, is_all in list_initial_pairs(name):
        found.add(f"{stem(part)}.{letter}{'.' if is_all else ''}")
    return found


def list_people(forum: PublicForum) -> tuple[set[str], set[str]]:
    """Return the words for the authors of a paper, and those for its reviewers."""
    authors = {word for name in filter(None, forum.paper.authors) for word in list_author_words(name)}
    reviewers = {word for review in forum.reviews for word in list_reviewer_words(redact_people(review.reviewer))}
    return authors, reviewers


def list_reviewer_words(pseudonym: str) -> set[str]:
    """Return the words for the pseudonym of a reviewer: its own part with two full stops, or the whole.

    >>> list_reviewer_words("Reviewer_xY3z"), sorted(list_reviewer_words("AnonReviewer2"))
    ({'xy3z..'}, ['anonreviewer2', 'reviewer2'])
    """
    own = [part for part in split(pseudonym) if part not in ROLES and not part.isdecimal() and len(part) > 1]
    if own and not ROLES.isdisjoint(split(pseudonym)):
        return {f"{stem(part)}.." for part in own}
    return {stem(part) for word in list_pseudonym_words(pseudonym) for part in split(word)}
