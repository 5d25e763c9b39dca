"""Determine whether two papers have authors in common, and which words of a title are distinctive."""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence, Set

ACCENT = re.compile(r"\\(?:[`'^\"~=.]|[cHkruvdbt](?=[\s{]))\s*\{?\\?([A-Za-z])\}?")
"""Matches an accented letter in LaTeX: `\\'e`, `\\"{o}`, `\\v{s}`."""

SYMBOL = re.compile(r"\\(ss|ae|oe|aa|o|l|i|j)(?![A-Za-z])\s?(?:\{\})?", re.IGNORECASE)
"""Matches a special letter in LaTeX: `\\ss`, `\\o{}`."""

COMMAND = re.compile(r"\\[A-Za-z]+\*?")
TAG = re.compile(r"</?[A-Za-z][^<>]{0,40}>")
HYPHENATED = re.compile(r"[-\u00ad\u2010\u2011](?<=[^\W\d_].)\s*\n\s*(?=[^\W\d_])")
"""Matches the break inside a word that is hyphenated at the end of a line."""

LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "\u0131": "i"})
COMBINING = re.compile("[\u0300-\u036f]+")
WORD = re.compile(r"[^\W_]+")


def plain_words(text: str) -> list[str]:
    r"""Return the words of a text in order, in lower case and without accents, markup and punctuation.

    Hyphens and dashes separate words, except for hyphenation at the end of a line.

    >>> plain_words("Poincar\\'e Maps \u2014 \\emph{Na\u00efve} $k$-NN &amp; Stra\u00dfe"), plain_words("$\\to$ !")
    (['poincare', 'maps', 'naive', 'k', 'nn', 'strasse'], ['to'])
    """
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = COMMAND.sub(_replace_command, SYMBOL.sub(r"\1", ACCENT.sub(r"\1", text)))
    if "<" in text:
        text = TAG.sub(" ", text)
    text = HYPHENATED.sub("", text)
    if not text.isascii():
        text = COMBINING.sub("", unicodedata.normalize("NFKD", text)).casefold().translate(LETTERS)
    return WORD.findall(text.lower())


def _replace_command(command: re.Match[str]) -> str:
    r"""Return the name of a command that is a symbol (`\alpha`), and a space for one that formats braces (`\emph{`)."""
    return " " if command.string[command.end() : command.end() + 1] == "{" else f" {command[0][1:].rstrip('*')} "


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
