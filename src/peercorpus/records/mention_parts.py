"""Shared parts of the searches for mentions: lists and ranges of numbers, and works cited beside a number."""

import re
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from peercorpus.records.enums import MentionKind

DASH = r"[-\u2013\u2014]"
AND = r"\s?(?:,\s?(?:and\s|or\s)?|and\s|or\s|&\s?)"
TO = rf"\s?(?:{DASH}\s?|to\s|through\s)"
DIGITS = re.compile(r"\d+")
_RANGE = re.compile(TO)
_MAX_RANGE = 50
"""Maximum difference of the ends of a range whose numbers are listed one by one."""
_MAX_RANGE_DIGITS = 4
"""Maximum number of digits of the ends of such a range."""
_OTHER_WORK = re.compile(r"\)?\s*(?:of|in|from|by)\s+(?:the\s+\w+\s+(?:of|by)\s+)?[(\[]?")
"""Matches the text between a number and the work that it belongs to."""
_BEHIND_OTHER_WORK = re.compile(r",\s*(?:see\s+)?$")
_MAX_BEHIND_CHARACTERS = 10
"""Maximum length of that text."""


class Found(NamedTuple):
    """A mention within its block, before it is resolved.

    Attributes:
        targets: The blocks that it may refer to.
    """

    kind: MentionKind
    start: int
    end: int
    number: str
    targets: Sequence[int]


def split_list(numbers: str, offset: int, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Yield each number of a list with its offsets; those inside a range have the offsets of the whole range."""
    before: re.Match[str] | None = None
    for match in pattern.finditer(numbers):
        if before is not None and _RANGE.fullmatch(numbers[before.end() : match.start()]):
            low, high = (re.sub(r"[()]", "", found[0]) for found in (before, match))
            is_short = max(len(low), len(high)) <= _MAX_RANGE_DIGITS and low.isdecimal() and high.isdecimal()
            if is_short and int(high) - int(low) <= _MAX_RANGE:
                inside = range(int(low) + 1, int(high))
                yield from ((offset + before.start(), offset + match.end(), str(number)) for number in inside)
        yield offset + match.start(), offset + match.end(), match[0]
        before = match


def is_before_work(text: str, end: int, begins: Set[int]) -> bool:
    """Return whether a number that ends at an offset belongs to a work cited after it, as in "Theorem 2 of [3]"."""
    between = _OTHER_WORK.match(text, end)
    return between is not None and between.end() in begins


def is_behind_work(text: str, start: int, ends: Set[int]) -> bool:
    """Return whether a number belongs to a work cited right before it, as in "(Smith, 2020, Section 2)"."""
    between = _BEHIND_OTHER_WORK.search(text, max(0, start - _MAX_BEHIND_CHARACTERS), start)
    return between is not None and between.start() in ends
