"""The number in an answer: read where it leads, never where it stands in a sentence, a range or a fraction."""

import re
from collections.abc import Iterable, Mapping

NUMBER = r"[+-]?\d+(?:\.\d+)?"
_JOINED = r"\s*(?:[/&|~,+<>\u00b1\u2013\u2014\u2192-]|to\b|or\b|of\b|and\b)\s*[>/-]?\s*\d"
"""Behind a number: it is one of several, or a part of one."""
LEADING_NUMBER = re.compile(rf"\s*(?:\((?P<inner>{NUMBER})\)|(?P<bare>{NUMBER}))(?=$|[\s:=\u2013\u2014-])(?!{_JOINED})")
"""`8`, `8: accept`, `3 good`, `4.5 = Borderline Award`, `(3) Accept`, `+1`; not `3rd`, `1) It`, `5/10` or `2-3`."""
BEGINS_WITH_A_NUMBER = re.compile(r"[\s(+-]*\d")
SHORT_LABEL = re.compile(rf"\s*\(?{NUMBER}\)?(?:\s*[:=\u2013\u2014-]|\s+(?:[^\s.!?]+(?:\s+|$)){{1,3}}$|\s*$)")
"""A number alone, with a mark behind it, or with three words at the most: none of them begins a sentence."""


def leading_number(label: str) -> float | None:
    """The number an answer begins with; None where none leads.

    >>> leading_number("10: strong accept"), leading_number("3 good"), leading_number("Not applicable")
    (10.0, 3.0, None)
    """
    match = LEADING_NUMBER.match(label)
    return _as_float(match["inner"] or match["bare"]) if match else None


def read_options(options: Iterable[str]) -> dict[float, str]:
    """The numbers that the options of a form begin with, and the options; empty where they are no scale.

    They are none where one begins with a number that is not read (`5+ years`), or two with the same.

    >>> read_options(["1: bad", "2: good", "Not applicable"]), read_options(["1 year", "2 years", "3+ years"])
    ({1.0: '1: bad', 2.0: '2: good'}, {})
    """
    numbered = [option for option in options if BEGINS_WITH_A_NUMBER.match(option)]
    found = {leading_number(option): option for option in numbered}
    return (
        {}
        if None in found or len(found) < len(numbered)
        else {value: found[value] for value in found if value is not None}
    )


def is_labelled_number(answer: str) -> bool:
    """Whether an answer is a number with what it is called, and no sentence that begins with one.

    >>> is_labelled_number("3 good"), is_labelled_number("3 papers are missing, see above.")
    (True, False)
    """
    return leading_number(answer) is not None and SHORT_LABEL.match(answer) is not None


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
