"""The words by which a site finds the authors and reviewers of a paper, as the explorer finds them."""

import unicodedata

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.explorer.people.author_names import ROLES, list_forms, list_initial_pairs, list_pseudonym_words
from peercorpus.explorer.site.search_words import split, stem
from peercorpus.records.untrusted_text import redact_people


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
