"""Read the labels that refer to points: "W2", "(3)", "Question 1", "your second concern"."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from peercorpus.records.enums import SectionKind
from peercorpus.records.points import PointKind

LETTERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("w", "weakness", "weaknesses", "con", "cons"), "w"),
        **dict.fromkeys(("q", "question", "questions"), "q"),
        **dict.fromkeys(("s", "strength", "strengths", "pro"), "s"),
        **dict.fromkeys(("l", "limitation", "limitations"), "l"),
        **dict.fromkeys(("m", "minor"), "m"),
    }
)
"""Words and letters that indicate the list of a number; others ("comment", "point", "R", "A") do not."""

FIELD_LETTERS: Mapping[SectionKind, str] = MappingProxyType(
    {
        SectionKind.WEAKNESSES: "w",
        SectionKind.QUESTIONS: "q",
        SectionKind.STRENGTHS: "s",
        SectionKind.LIMITATIONS: "l",
    }
)
"""Letter of the points of a field, for a number without one."""

KIND_LETTERS: Mapping[PointKind, str] = MappingProxyType(
    {
        PointKind.WEAKNESS: "w",
        PointKind.QUESTION: "q",
        PointKind.STRENGTH: "s",
        PointKind.LIMITATION: "l",
        PointKind.MINOR: "m",
    }
)
"""Letter of the points below a heading of a kind."""

NAME = re.compile(
    r"(?<![\w.])(?P<word>weakness|question|concern|comment|point|issue|limitation|suggestion|remark|strength|minor|con)(?:e?s)?"
    r"(?:\s++(?:point|comment|issue))?\s*+[#(]?\s*+(?P<number>\d{1,2})(?![\w%]|\.\d)"
    r"|(?<![\w.])(?P<letter>[QWRCAPMSL])\s?[-.#]?\s?(?P<numeral>\d{1,2})(?:\.(?P<part>\d{1,2}))?(?!\w|%|\.\d)",
    re.IGNORECASE,
)
BARE = re.compile(r"[\s>*_\-\u2022]*[\[(]?(?P<number>\d{1,2})(?:\.(?P<part>\d{1,2}))?\s*[.):\]](?!\d)")
MORE = re.compile(
    r"\s*(?:,|and|&|/|\+|\u2013|-|to)\s*(?:and\s+)?(?P<letter>[QWRCAPMSL])?(?P<number>\d{1,2})(?![\w%]|\.\d)", re.I
)

MAX_RANGE = 10
"""Number of labels from which a range is read as two separate labels; our choice."""

MAX_DISTANCE = 80
"""Number of characters at the beginning of a passage within which a label counts; our choice."""


@dataclass(frozen=True, slots=True)
class Label:
    """A label: the letter of its list, empty if unknown, its number, and the number of a part of it (0 if none)."""

    letter: str
    number: int
    part: int = 0


def read_label(label: str | None) -> Label | None:
    """Return the label of a point from the reviewer's text; None for letters, and if there is none.

    >>> read_label("W2"), read_label("(3)"), read_label("**Question 1**"), read_label("(a)")
    (Label(letter='w', number=2, part=0), Label(letter='', number=3, part=0), Label(letter='q', number=1, part=0), None)
    """
    if not label:
        return None
    named = next(find_labels(label), None)
    if named is not None:
        return named
    digits = re.search(r"(\d{1,2})(?:\.(\d{1,2}))?", label)
    return Label("", int(digits[1]), int(digits[2] or 0)) if digits else None


def find_labels(words: str) -> Iterator[Label]:
    """Yield the labels that a passage names near its beginning: "Q1 & Q2:", "Regarding weakness 3", "(2)"."""
    bare = BARE.match(words)
    if bare:
        yield Label("", int(bare["number"]), int(bare["part"] or 0))
    end = 0
    for match in NAME.finditer(words, 0, MAX_DISTANCE + 20):
        if match.start() > MAX_DISTANCE:
            return
        if match.start() < end:
            continue
        letter = LETTERS.get((match["word"] or match["letter"]).casefold(), "")
        yield Label(letter, int(match["number"] or match["numeral"]), int(match["part"] or 0))
        more, end = _find_more(words, match, letter)
        yield from more


def _find_more(words: str, first: re.Match[str], letter: str) -> tuple[list[Label], int]:
    """Return the labels that follow a first one in a list or range, and the offset at which they end."""
    found: list[Label] = []
    last, at = int(first["number"] or first["numeral"]), first.end()
    while more := MORE.match(words, at):
        number = int(more["number"])
        is_range = re.search("[\u2013-]|to", more[0].casefold()) is not None
        numbers = range(last + 1, number + 1) if is_range and number - last < MAX_RANGE else (number,)
        own = LETTERS.get((more["letter"] or "").casefold(), letter)
        found.extend(Label(own, each) for each in numbers)
        last, at = number, more.end()
    return found, at
