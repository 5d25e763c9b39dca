"""Read the numbers in answers and form options, and map recommendations to a unified scale.

`leading_number` and `read_number` find the number of one answer, `read_scale_options` those of a whole question.
`unified_scale` maps the overall recommendations of different venues to 1 to 10, with the threshold of acceptance
between 5 and 6, like Re² (its words for the ten steps are in `records/re2.py`).

Re² (Daoze/ReviewRebuttal) keeps the number, and therefore calls the accepting "5: Borderline accept" of NeurIPS 2022
"marginally below the acceptance threshold". Here the words of a form decide on which side of the threshold an answer
is.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from peercorpus.forms.directions import find_level, is_level, list_steps

NUMBER = r"[+-]?\d+(?:\.\d+)?"
_JOINED = r"\s*(?:[/&|~,+<>\u00b1\u2013\u2014\u2192-]|to\b|or\b|(?:out\s+)?of\b|and\b)\s*[>/-]?\s*\d"
"""Matches what follows a number that is one of several, or part of one."""
LEADING_NUMBER = re.compile(rf"\s*(?:\((?P<inner>{NUMBER})\)|(?P<bare>{NUMBER}))(?=$|[\s:=\u2013\u2014-])(?!{_JOINED})")
"""`8`, `8: accept`, `3 good`, `4.5 = Borderline Award`, `(3) Accept`, `+1`; not `3rd`, `1) It`, `5/10` or `2-3`."""
BEGINS_WITH_A_NUMBER = re.compile(r"\W*\d")
_FULL_WIDTH = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}
"""Full-width characters of East Asian keyboards → their plain equivalents (Unicode, U+FF01 to U+FF5E)."""
_MINUS = re.compile(r"(?<![^\s(])[\u2012\u2013\u2212](?=\d)")
"""Matches a dash used as the minus sign of a number."""
TRAILING_NUMBER = re.compile(
    rf"(?:[(\[]\s*(?P<inner>{NUMBER})\s*[)\]]|(?:[:=]\s?|\s[\u2013\u2014-]\s)(?P<bare>{NUMBER}))\.?\s*$"
)
"""Matches a number after its label: `Strong accept (9)`, `Strong accept: 9`, `Strong accept - 9`."""
LARGEST_STEP = 100
"""Largest number of any known scale, a confidence in per cent; larger ones are years and the like."""
FRACTION = re.compile(
    r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<sign>/|out\s+of)\s*(?P<whole>\d+)(?=$|[\s:=,;.)\u2013\u2014-])(?!\.\d)"
)
"""Matches a fraction: `6/10`, `6 out of 10`."""
_EARLIER = re.compile(r"\b(?:from|was|were|previously|initially|originally|formerly)\W{1,3}\d+(?:\.\d+)?")
_OTHER_NUMBER = re.compile(r"(?<![\w.%])\d{1,2}(?:\.\d+)?(?![\w%]|\.\d|\s+%)")
"""Matches another number after the first, so that the answer may be either ("3, leaning 4"); not "top 5%", "in
2024"."""
_MARKED_NUMBER = re.compile(rf"\s*(?:\({NUMBER}\)|{NUMBER}(?:\s*[:=\u2013\u2014-]|\s*$))")
"""Matches a number alone, in brackets, or followed by punctuation."""


def leading_number(label: str) -> float | None:
    """Return the number that an answer begins with, or None.

    >>> leading_number("10: strong accept"), leading_number("3 good"), leading_number("Not applicable")
    (10.0, 3.0, None)
    """
    match = LEADING_NUMBER.match(as_plain(label))
    return _as_float(match["inner"] or match["bare"]) if match else None


def as_plain(text: str) -> str:
    """Return a text with plain characters for full-width ones and for a leading minus, each at the same offset.

    >>> as_plain("\uff18\uff1aaccept"), as_plain("\u22122: reject")
    ('8:accept', '-2: reject')
    """
    return text if text.isascii() else _MINUS.sub("-", text.translate(_FULL_WIDTH), count=1)


def label_number(label: str) -> float | None:
    """Return the number at the beginning of an offered answer, or in brackets at its end, or None.

    >>> label_number("Strong Accept (9)"), label_number("3 good"), label_number("Accept (Oral)")
    (9.0, 3.0, None)
    """
    number = leading_number(label)
    return _read_trailing(as_plain(label), is_scale=True) if number is None else number


def _split_trailing(plain: str) -> tuple[str, re.Match[str]] | None:
    """Return the words before a number at the end of an answer, and the match; None if it has no words or two numbers.

    Words without a bracket before the number must say how good the answer is: "Long paper: 8" is not a scale.
    """
    match = TRAILING_NUMBER.search(plain)
    words = plain[: match.start()].strip() if match else ""
    if match is None or not re.search(r"[^\W\d_]", words) or TRAILING_NUMBER.search(words):
        return None
    return None if match["bare"] and find_level(words, of_amount=False) is None else (words, match)


def _read_trailing(plain: str, *, is_scale: bool) -> float | None:
    """Return the number at the end of an answer, or None."""
    found = _split_trailing(plain)
    if found is None or (not is_scale and find_level(found[0], of_amount=False) is None):
        return None
    number = _as_float(found[1]["inner"] or found[1]["bare"])
    return number if number is not None and (is_scale or abs(number) <= LARGEST_STEP) else None


def read_scale_options(options: Iterable[str]) -> dict[float, str]:
    """Return the options of a form by the number they begin with; empty if they are not a scale.

    They are not a scale if one begins with an unreadable number (`5+ years`) or two begin with the same number.

    >>> read_scale_options(["1: bad", "2: good", "Not applicable"])
    {1.0: '1: bad', 2.0: '2: good'}
    >>> read_scale_options(["1 year", "2 years", "3+ years"])
    {}
    """
    scale: dict[float, str] = {}
    for option in options:
        value = label_number(option)
        if value is None and not BEGINS_WITH_A_NUMBER.match(as_plain(option)):
            continue  # "Not applicable" may be offered beside a scale.
        if value is None or value in scale:
            return {}
        scale[value] = option
    return scale


def is_labelled_number(answer: str) -> bool:
    """Return whether an answer is a number with its label, not a sentence that begins with a number.

    Without punctuation, nothing but the level may follow the number.

    >>> is_labelled_number("3 good"), is_labelled_number("3: good"), is_labelled_number("Strong accept (9)")
    (True, True, True)
    >>> is_labelled_number("3 papers are missing, see above."), is_labelled_number("2 unclear figures")
    (False, False)
    """
    plain = as_plain(answer)
    if leading_number(answer) is None:
        return _read_trailing(plain, is_scale=False) is not None
    return _MARKED_NUMBER.match(plain) is not None or is_level(option_words(answer))


LARGEST_EXACT = 2**53
"""Largest whole number up to which floats are exact; a larger one is an answer on no scale."""


def _as_float(number: str | int | float) -> float | None:
    try:
        value = float(number)
    except OverflowError:
        return None
    return value if abs(value) <= LARGEST_EXACT else None


def read_number(
    answer: int | float | str, labels: Mapping[float, str], high: float | None = None, *, is_scale: bool = False
) -> float | None:
    """Return the number of an answer, or None if it has none or may have two.

    Words alone have a number only if exactly one number of the form has that label. A fraction counts if its
    denominator is the highest number of the form; with an unknown form only `6 out of 10` does, as `6/10` may mean 6 or
    10. A number in brackets after words counts if the form is known, or if the words are a verdict.

    >>> read_number("Weak Accept", {3.0: "3: Weak Accept", 1.0: "1: Reject"}), read_number("Accept", {})
    (3.0, None)
    >>> read_number("6/10", {}, 10), read_number("3 out of 5, leaning 4", {}), read_number("Strong accept (9)", {})
    (6.0, None, 9.0)
    """
    if not isinstance(answer, str):
        return _as_float(answer)
    words = answer.strip()
    if not words:
        return None
    plain = as_plain(answer)
    if leading := LEADING_NUMBER.match(plain):
        is_offered = words in labels.values()
        return None if not is_offered and _has_other_number(plain[leading.end() :]) else leading_number(answer)
    if fraction := FRACTION.match(plain):
        return None if _has_other_number(plain[fraction.end() :]) else _read_fraction(fraction, high)
    matching = [value for value, label in labels.items() if words in {label, option_words(label)}]
    if len(matching) == 1:
        return matching[0]
    trailing = _split_trailing(plain)
    is_sure = trailing is not None and not _has_other_number(trailing[0])
    return _read_trailing(plain, is_scale=is_scale or bool(labels)) if is_sure else None


def _has_other_number(rest: str) -> bool:
    return _OTHER_NUMBER.search(_EARLIER.sub("", rest)) is not None


def _read_fraction(fraction: re.Match[str], high: float | None) -> float | None:
    number, whole = float(fraction["number"]), float(fraction["whole"])
    is_whole = fraction["sign"] != "/" if high is None else whole == high
    return number if is_whole and number <= whole else None


def option_words(label: str) -> str:
    """Return the words of an option without the number it begins with.

    >>> option_words("6: Weak Accept"), option_words("3 good"), option_words("4.5 = Borderline Award")
    ('Weak Accept', 'good', 'Borderline Award')
    >>> option_words("Reject")
    'Reject'
    """
    plain = as_plain(label)
    if match := LEADING_NUMBER.match(plain):
        return label[match.end() :].lstrip(" \t:=)\u2013\u2014-\uff1a\uff1d\uff09").strip()
    trailing = _split_trailing(plain)
    return label[: trailing[1].start()].strip() if trailing else label.strip()


WORST = 1.0
LAST_REJECTING = 5.0
FIRST_ACCEPTING = 6.0
BEST = 10.0
VERDICT = re.compile(
    r"(?P<reject>reject|unaccept|below|not good enough|trivial|wrong|resubmit)"
    r"|(?P<accept>accept|above|award|seminal|top \d+%)",
    re.IGNORECASE,
)
"""Words for or against acceptance; the first decides: "Borderline accept: reasons to accept outweigh …"."""
_NEGATED = re.compile(
    r"(?:\b(?:not|no|never|cannot|nor|neither)|n['\u2019]t)\b(?P<words>(?:\W+\w+){0,3}?)\W*$", re.IGNORECASE
)
"""Matches the end of the words before a negated verdict ("should not be accepted")."""
_PLAINLY_NEGATED = frozenset(
    {"be", "been", "to", "a", "an", "the", "yet", "ready", "good", "strong", "enough", "for", "clearly", "recommend"}
)
"""Words allowed between a negation and the verdict that it negates; "no doubt: accept" is not negated."""


@dataclass(frozen=True, slots=True)
class UnifiedScale:
    """Position of each answer of a form on the unified scale; all positions differ, so answers can be restored."""

    places: Mapping[float, float]

    def unify(self, value: float) -> float | None:
        """Return the position of an answer in [1, 10], or None if the form does not offer it."""
        return self.places.get(value)

    def restore(self, place: float) -> float | None:
        """Return the answer at a position, or None if the form has none there."""
        return next((value for value, position in self.places.items() if position == place), None)


def is_accepting(label: str) -> bool | None:
    """Return whether an answer favours acceptance, or None if it is unclear, such as "not reject".

    >>> is_accepting("5: Borderline accept"), is_accepting("5: Marginally below acceptance threshold")
    (True, False)
    """
    verdict = VERDICT.search(label)
    if verdict is None:
        return None
    if negation := _NEGATED.search(re.split(r"[.:;,]", label[: verdict.start()])[-1]):
        is_plain = _PLAINLY_NEGATED.issuperset(negation["words"].lower().split())
        return False if verdict["accept"] and is_plain else None
    return verdict["accept"] is not None


_JUDGED = re.compile(r"\b(?:accept|reject)(?:ed|ance|ion|s)?\b", re.IGNORECASE)


def asks_for_verdict(labels: Iterable[str]) -> bool:
    """Return whether offered answers are verdicts on a paper: some accept it, some reject it, none does neither.

    >>> asks_for_verdict(["Reject", "Borderline", "Accept"]), asks_for_verdict(["Below average", "Above average"])
    (True, False)
    """
    sides = [
        (is_accepting(label) if _JUDGED.search(label) else None, find_level(label, of_amount=False) == 0)
        for label in list_steps(labels)
    ]
    verdicts = {side for side, is_neutral in sides if side is not None or not is_neutral}
    return verdicts == {True, False}


def unified_scale(labels: Mapping[float, str]) -> UnifiedScale | None:
    """Return the unified scale of an overall recommendation, or None if it cannot be mapped.

    Every label must show whether it favours acceptance, and all rejecting numbers must be on one side of the accepting
    ones. A scale within 1 to 10 that already has its threshold between 5 and 6 is unchanged; otherwise each side, of at
    least two numbers, is stretched linearly, so that the best answer is 10 even if the lowest number is the best.
    """
    sides = {value: is_accepting(label) for value, label in labels.items()}
    rejecting = sorted(value for value, accepts in sides.items() if accepts is False)
    accepting = sorted(value for value, accepts in sides.items() if accepts)
    if None in sides.values() or not rejecting or not accepting:
        return None
    if accepting[-1] < rejecting[0]:
        turned = unified_scale({-value: label for value, label in labels.items()})
        return UnifiedScale({-value: place for value, place in turned.places.items()}) if turned else None
    if rejecting[-1] > accepting[0]:
        return None
    in_range = rejecting[0] >= WORST and accepting[-1] <= BEST
    if in_range and rejecting[-1] <= LAST_REJECTING and accepting[0] >= FIRST_ACCEPTING:
        return UnifiedScale({value: value for value in (*rejecting, *accepting)})
    if min(len(rejecting), len(accepting)) < 2:
        return None
    below = {value: _stretch(value, rejecting, WORST, LAST_REJECTING) for value in rejecting}
    above = {value: _stretch(value, accepting, FIRST_ACCEPTING, BEST) for value in accepting}
    return UnifiedScale(below | above)


def _stretch(value: float, side: list[float], low: float, high: float) -> float:
    return low + (value - side[0]) / (side[-1] - side[0]) * (high - low)
