"""Find where the sentences of a text end, and recognise what is only intended, wished for or conditional."""

import re
from collections.abc import Iterator

ENDS = re.compile(
    "[.!?][\"'\u201d\u2019)\\]]*((?<=[a-z]{3}[.!?])\\d{1,2}|<sup>[^<\\s]{1,4}</sup>)?(?=\\s)"
    "|\n{2,}|\n(?=[\u2022\u25e6\u25aa*-]\\s)"
)
STOPS = re.compile(r"[.!?\n]")
"""First character of every match of `ENDS`; searching for it first is much faster."""

BEGINS = re.compile("\\s*[\"'\u201c\u2018(\\[]?[^\\W_a-z]")
ABBREVIATIONS = frozenset(
    (
        *("al", "app", "approx", "cf", "ch", "def", "e.g", "eg", "eq", "eqn", "eqs", "fig", "figs", "i.e", "ie", "lem"),
        *("no", "pp", "prop", "ref", "refs", "resp", "sec", "tab", "thm", "vol", "vs", "w.r.t", "dr", "prof", "st"),
        *("a.s", "i.i.d", "s.t"),
    )
)


def find_sentence_ends(text: str) -> Iterator[int]:
    """Yield the offset after each sentence of a text but the last, in order.

    >>> [*find_sentence_ends("See Fig. 1 of it. It works. Why? so")]
    [17, 27]
    """
    for candidate in _find_possible_ends(text):
        start, end = candidate.span()
        if candidate[0].startswith("\n"):
            is_end = not text[end : end + 1].islower() or text[start - 1] in ".!?:"
        else:
            is_end = bool(BEGINS.match(text, end)) and not _is_abbreviated(text, start)
        if is_end:
            yield end


def _find_possible_ends(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `ENDS` that do not overlap."""
    previous_end = 0
    for stop in STOPS.finditer(text):
        match = ENDS.match(text, stop.start()) if stop.start() >= previous_end else None
        if match:
            previous_end = match.end()
            yield match


def _is_abbreviated(text: str, stop: int) -> bool:
    before = text[max(0, stop - 12) : stop].split()
    word = before[-1].strip("([").casefold() if before and text[stop] == "." else ""
    return word in ABBREVIATIONS or (len(word) == 1 and word.isalpha())


INTENDED = re.compile(
    r"['\u2019]d\b(?!\s+(?:like|love)\s+to)|\b(?:would(?!\s+(?:like|love)\s+to)|could|might|may|can|should|open|inclined"
    r"|consider\w*|hope|please|ask\w*|suggest\w*|encourag\w*|whether|why|hesita\w*|reluctan\w*|plan\w*|intend\w*"
    r"|potentially|possibly)\b",
    re.IGNORECASE,
)
"""Matches words before a verb that make it only wished for or considered."""
CONDITION = re.compile(
    r"\b(?:if|unless|once|provided|assuming|conditional|contingent|should the|when the|as long as)\b", re.IGNORECASE
)
"""Matches words that make a clause a condition."""


def is_only_intended(before: str, after: str) -> bool:
    """Return whether a verb is only wished for, considered or conditional, by the words before and after it."""
    return bool(INTENDED.search(before) or CONDITION.search(after))
