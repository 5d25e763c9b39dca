"""The number in an answer: read where it leads, never where it stands in a sentence, a range or a fraction."""

import re
from collections.abc import Mapping

LEADING_NUMBER = re.compile(
    r"\s*\(?(-?\d+(?:\.\d+)?)\)?(?=$|[\s:=)\u2013\u2014-])(?!\s*(?:[/\u2013\u2014-]|to\b|or\b|of\b)\s*\d)"
)
"""`8`, `8: accept`, `3 good`, `4.5 = Borderline Award`, `(3) Strong accept`; not `3rd`, `5/10`, `2-3` or `2.5x`."""


def leading_number(label: str) -> float | None:
    """The number an answer begins with; None where none leads.

    >>> leading_number("10: strong accept"), leading_number("3 good"), leading_number("Not applicable")
    (10.0, 3.0, None)
    """
    match = LEADING_NUMBER.match(label)
    return _as_float(match[1]) if match else None


def _as_float(number: str | int | float) -> float | None:
    """A number that no float holds is none of a scale."""
    try:
        return float(number)
    except OverflowError:
        return None


def read_number(answer: int | float | str, labels: Mapping[float, str]) -> float | None:
    """The number of an answer; None where it has none.

    Words alone are a number only where the form calls exactly one of its numbers so.

    >>> read_number("Weak Accept", {3.0: "3: Weak Accept", 1.0: "1: Reject"}), read_number("Accept", {})
    (3.0, None)
    """
    if not isinstance(answer, str):
        return _as_float(answer)
    number = leading_number(answer)
    words = answer.strip()
    if number is not None or not words:
        return number
    called = [value for value, label in labels.items() if words in {label, words_of(label)}]
    return called[0] if len(called) == 1 else None


def words_of(label: str) -> str:
    """What an option is called, less the number it begins with.

    >>> words_of("6: Weak Accept"), words_of("3 good"), words_of("4.5 = Borderline Award"), words_of("Reject")
    ('Weak Accept', 'good', 'Borderline Award', 'Reject')
    """
    match = LEADING_NUMBER.match(label)
    return label[match.end() :].lstrip(" \t:=)\u2013\u2014-").strip() if match else label.strip()
