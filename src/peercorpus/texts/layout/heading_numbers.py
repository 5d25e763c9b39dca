"""Track the numbers of headings through a paper, and decide which number may come next."""

import re
from itertools import zip_longest

_MAX_NUMBER_STEP = 2
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}
_STEP = re.compile(r"(?:(?P<roman>X?(?:IX|IV|V?I{0,3}))\.|(?P<letter>[A-Z])\.|(?P<digit>\d{1,2})[.)])\s+(?=\S)")
"""Matches the number of a heading whose levels use different numerals: II. / B. / 3. or 3)."""


class Counting:
    """The heading numbers of a paper so far, and the possible next ones."""

    def __init__(self) -> None:
        self._last: tuple[str, ...] = ()

    @property
    def has_begun(self) -> bool:
        """Whether a number was recorded."""
        return bool(self._last)

    def counts_on(self, number: str) -> bool:
        """Record a number and return True if it may follow the last heading's number; otherwise return False.

        >>> counting = Counting()
        >>> [counting.counts_on(number) for number in ("1", "2", "2.1", "2.3", "7", "3", "A", "A.1")]
        [True, True, True, True, False, True, True, True]
        """
        parts = tuple(number.split("."))
        if not self._may_follow(parts):
            return False
        self.go_on(number)
        return True

    def goes_on_inside(self, number: str) -> bool:
        """Return whether a number is the next one in the section of the last heading, or in an enclosing section.

        >>> counting = Counting()
        >>> counting.go_on("2.1")
        >>> [counting.goes_on_inside(number) for number in ("2.2", "2.1.1", "2.3", "3.1", "3")]
        [True, True, False, False, False]
        """
        *above, new = number.split(".")
        depth = len(above)
        if not above or not new.isdigit() or tuple(above) != self._last[:depth]:
            return False
        return int(new) == (1 if len(self._last) == depth else int(self._last[depth]) + 1)

    def go_on(self, number: str) -> None:
        """Record a number as the last one."""
        self._last = tuple(number.split("."))

    def _may_follow(self, parts: tuple[str, ...]) -> bool:
        last = self._last
        depth = len(parts)
        if not last:
            return parts[0] in {"0", "1", "2", "A"} and all(part in {"0", "1"} for part in parts[1:])
        if depth == 1:
            return _follows(last[0], parts[0]) or (parts[0] == "A" and last[0].isdigit())
        if parts[:-1] != last[: depth - 1]:
            # The parent heading was missed; its first subheading implies it.
            return all(part == "1" for part in parts[1:]) and _follows(last[0], parts[0])
        return parts[-1] in {"0", "1", "2"} if len(last) < depth else _follows(last[depth - 1], parts[-1])


def _follows(last: str, new: str) -> bool:
    return (
        last.isdigit() == new.isdigit() and 0 < _parse_number_part(new) - _parse_number_part(last) <= _MAX_NUMBER_STEP
    )


def _parse_number_part(part: str) -> int:
    return int(part) if part.isdigit() else ord(part[0]) - ord("A") + 1


class MixedCounting:
    """The heading numbers of a paper with Roman numerals for sections, letters for subsections, then digits.

    The classes of the IEEE and the American Physical Society do this; in an appendix of the latter, digits come
    directly below.
    """

    def __init__(self) -> None:
        self._counts = [0, 0, 0]
        self._is_appendix = False
        self._has_letters = False

    def go_on(self, text: str) -> int:
        """Record the number at the start of a heading, and return its level; 0 if that number cannot come next.

        >>> counting = MixedCounting()
        >>> texts = ("A. One", "I. Start", "A. Data", "1) Sources", "B. Models", "D. Marr", "II. Method", "C. Elegans")
        >>> [counting.go_on(text) for text in texts]
        [0, 1, 2, 3, 2, 0, 1, 0]
        """
        step = _STEP.match(text)
        level, count = self._read(step) if step else (0, 0)
        if not level:
            return 0
        self._counts[level - 1 :] = [count, *[0] * (3 - level)]
        self._has_letters = level > 1 and (self._has_letters or not text[0].isdigit())
        return level

    @property
    def has_begun(self) -> bool:
        """Whether a section with a Roman numeral was found."""
        return self._counts[0] > 0

    def begin_appendix(self) -> None:
        """Record that an appendix begins, in which subsections are numbered from the start."""
        self._is_appendix = True
        self._has_letters = False
        self._counts[1:] = [0, 0]

    def _read(self, step: re.Match[str]) -> tuple[int, int]:
        sections, letters, _ = self._counts
        if (roman := step["roman"]) and not self._is_appendix:
            value = read_roman(roman)
            if 0 < value - sections <= _MAX_NUMBER_STEP:
                return 1, value
        if not sections:
            return 0, 0
        letter = step["letter"] or (roman if roman and len(roman) == 1 else None)
        if letter:
            value = ord(letter) - ord("A") + 1
            return (2, value) if value == letters + 1 else (0, 0)
        level = 3 if self._has_letters else 2 if self._is_appendix else 0
        is_next = level and step["digit"] and int(step["digit"]) == self._counts[level - 1] + 1
        return (level, int(step["digit"])) if is_next else (0, 0)


def read_roman(number: str) -> int:
    """Return the value of a Roman numeral up to fifty, in upper or lower case; 0 for an empty one.

    >>> read_roman("XIV"), read_roman("ix")
    (14, 9)
    """
    values = [_ROMAN_VALUES[letter] for letter in number.upper()]
    return sum(-value if value < after else value for value, after in zip_longest(values, values[1:], fillvalue=0))
