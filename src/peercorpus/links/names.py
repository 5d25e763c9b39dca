"""Determine whether two papers have authors in common, and which words of a title are distinctive."""

from collections.abc import Iterable, Sequence, Set

from peercorpus.links.plain_words import plain_words

Author = frozenset[str]
"""Ways to write one name: all its words in any order, and surname with initial."""

ANONYMOUS = frozenset({"anonymous", "anon", "blind", "hidden", "redacted"})
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "phd", "dr", "prof"})

GENERIC_WORDS = frozenset(
    (
        *("abstract", "anonymous", "appendix", "author", "authors", "camera", "comment", "comments", "conference"),
        *("decision", "draft", "extended", "final", "full", "introduction", "invited", "keynote", "letter", "long"),
        *("manuscript", "material", "materials", "meta", "my", "new", "our", "paper", "papers", "please", "poster"),
        *("preprint", "proceedings", "project", "proposal", "ready", "rebuttal", "reply", "report", "response"),
        *("resubmission", "review", "reviewer", "reviewers", "reviews", "revised", "revision", "s", "short", "some"),
        *("submission", "submissions", "submitted", "supplement", "supplementary", "supplemental", "talk", "test"),
        *("this", "title", "track", "tutorial", "untitled", "version", "withdrawal", "withdrawn", "workshop", "your"),
    )
)
"""Words that do not make a distinctive title: "Response to the reviewers' comments", "Extended abstract",
"Untitled"."""

SAME_AUTHORS = 0.5
"""Smallest share of the shorter author list in common for the same authors: people join and leave."""


def read_authors(names: Iterable[str]) -> tuple[Author, ...]:
    """Return the authors of a paper in a form in which accents, order and initials do not matter.

    >>> read_authors(["Müller, Anna", "Anonymous"]) == read_authors(["anna muller"])
    True
    """
    return tuple(author for name in names if (author := _read_author(name)))


def _read_author(name: str) -> Author:
    surname, comma, first = name.partition(",")
    words = plain_words(f"{first} {surname}" if comma else name)
    words = [word for word in words if word not in SUFFIXES] or words
    if not words or not ANONYMOUS.isdisjoint(words):
        return frozenset()
    whole = " ".join(sorted(words))
    return frozenset({whole, f"{words[-1]}, {words[0][:1]}"} if len(words) > 1 else {whole})


def shared_authors(one: Sequence[Author], other: Sequence[Author]) -> float | None:
    """Return the share of the shorter list of authors that is in the longer one, in [0, 1]; None if a list is empty."""
    shorter, longer = sorted((one, other), key=len)
    if not shorter:
        return None
    names = frozenset[str]().union(*longer)
    return sum(not author.isdisjoint(names) for author in shorter) / len(shorter)


def find_telling_words(words: Iterable[str], small: Set[str]) -> frozenset[str]:
    """Return the words that distinguish one title from another.

    Numbers, the words in `small` and `GENERIC_WORDS`, which occur in titles of any paper or post, are left out.
    """
    return frozenset(word for word in {*words} - small - GENERIC_WORDS if not word.isdigit())
