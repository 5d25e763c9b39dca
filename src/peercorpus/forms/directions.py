"""Determine from the words of a scale whether its higher numbers, or its later words, are the better answers.

Each label is placed between bad and good by its first known phrase (`directions.toml`). A scale has a direction only if
these levels rise or fall together with the numbers; otherwise its direction is unknown, not guessed.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations

from peercorpus.execution.stage import digest_of_data

_WORDS = tomllib.loads(files(__package__).joinpath("directions.toml").read_text(encoding="utf-8"))
DIGEST = digest_of_data(_WORDS)
"""Digest of the words, part of the content key of what is read with them."""


def _compile(*sections: str) -> re.Pattern[str]:
    phrases = (phrase for section in sections for group in _WORDS[section].values() for phrase in group)
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(sorted(phrases, key=len, reverse=True))})(?![\w'])")


_LEVELS = {
    re.compile(phrase): float(level)
    for section in ("quality", "amount")
    for level, phrases in _WORDS[section].items()
    for phrase in phrases
}
_QUALITY = _compile("quality")
_QUALITY_OR_AMOUNT = _compile("quality", "amount")
_MODIFIERS = {word: float(factor) for factor, words in _WORDS["modifiers"].items() for word in words}
_NEGATION = re.compile(rf"(?<!\w)(?:{'|'.join(_WORDS['negations']['words'])})(?!\w)")
_NO_ANSWER = frozenset(_WORDS["none"]["answers"])
_TOP = re.compile(r"\b(?P<end>top|best|bottom|worst|lowest)\s+(?P<percent>\d+(?:\.\d+)?)\s*%")
_WORD = re.compile(r"[\w'-]+")
_TOO = re.compile(r"\btoo\s+(?:low|high|short|long|much|little|easy|hard|many|few|broad|narrow|small|large)\b")
"""Matches an answer beyond the best one: such a scale has its best answer in the middle."""
_WORDS_BEFORE = 3
"""Number of words before a phrase within which a negation reverses it ("not at all supported"); our choice."""
_CONCORDANT = 4
"""Number of pairs of labels that must agree on the direction for each pair that contradicts it; our choice."""
_ALONE = {"strong": 1.0, "weak": -1.0, "clear": 1.0, "solid": 1.0, "certain": 1.0, "clearly": 1.0}
"""Modifiers that are phrases themselves if no phrase follows."""


@cache
def _level_of(phrase: str) -> float:
    return next(level for pattern, level in _LEVELS.items() if pattern.fullmatch(phrase))


def find_level(words: str, *, of_amount: bool = True) -> float | None:
    """Return how good an answer is, from about -4 (worst) to 4 (best); None if no word shows it.

    Args:
        words: The words of the answer, without its number.
        of_amount: Whether "high" and "low" count, because more of the rated quality is better.

    >>> find_level("Strong accept"), find_level("Marginally below the threshold"), find_level("Not confident")
    (2.0, -0.5, -1.0)
    """
    lowered = words.lower().replace("\u2019", "'")
    if top := _TOP.search(lowered):
        share = 3 - float(top["percent"]) / 100
        return share if top["end"] in {"top", "best"} else -share
    pattern = _QUALITY_OR_AMOUNT if of_amount else _QUALITY
    match = pattern.search(lowered)
    while match and match[0] in _MODIFIERS:  # "Strong" is a phrase, but in "strong accept" it goes with the next one.
        following = pattern.match(lowered, match.end() + 1)
        if following is None:
            break
        match = following
    return None if match is None else _turn(_level_of(match[0]), lowered[: match.start()])


def is_level(words: str) -> bool:
    """Return whether words state a level and nothing else.

    >>> is_level("weak accept"), is_level("not convincing"), is_level("unclear figures")
    (True, True, False)
    """
    stated = _WORD.findall(words.lower().replace("\u2019", "'"))
    while len(stated) > 1 and (stated[0] in _MODIFIERS or _NEGATION.fullmatch(stated[0])):
        stated = stated[1:]
    phrase = " ".join(stated)
    return phrase in _MODIFIERS or _QUALITY_OR_AMOUNT.fullmatch(phrase) is not None


def _turn(level: float, before: str) -> float:
    earlier = _WORD.findall(re.split(r"[.:;]", before)[-1])[-_WORDS_BEFORE:]
    factor = _MODIFIERS.get(earlier[-1], 1.0) if earlier else 1.0
    if not _NEGATION.search(" ".join(earlier)):
        return level * factor
    return -1.0 if level > 0 else 0.5


def _read_direction(levels: Sequence[tuple[float, float]]) -> bool | None:
    """Return whether levels rise with numbers, given pairs of number and level; None if they neither rise nor fall."""
    rising = falling = 0
    for (first, low), (second, high) in combinations(sorted(levels), 2):
        if first < second and low != high:
            rising += low < high
            falling += low > high
    lowest, highest = (levels and end(levels)[1] for end in (min, max))
    if rising > 0 and rising >= _CONCORDANT * falling and lowest < highest:  # type: ignore[operator]
        return True
    return False if falling > 0 and falling >= _CONCORDANT * rising and lowest > highest else None  # type: ignore[operator]


def higher_is_better(labels: Mapping[float, str], *, of_amount: bool) -> bool | None:
    """Return whether the higher numbers of a scale are better; None if its labels do not show it.

    Args:
        labels: The words for each number, without the number.
        of_amount: Whether "high" and "low" count, because more of the rated quality is better.

    >>> higher_is_better({1: "strong accept", 2: "accept", 3: "reject"}, of_amount=False)
    False
    >>> higher_is_better({1: "one", 2: "two"}, of_amount=True) is None
    True
    """
    if any(_TOO.search(words.lower()) for words in labels.values()):
        return None
    placed = ((value, find_level(words, of_amount=of_amount)) for value, words in labels.items())
    return _read_direction([(value, level) for value, level in placed if level is not None])


def list_steps(answers: Iterable[str]) -> tuple[str, ...]:
    """Return the answers that are steps of a scale of words, in their order; "Not applicable" is not one.

    >>> list_steps(["Good", "Bad", "N/A"])
    ('Good', 'Bad')
    """
    return tuple(answer for answer in answers if answer.strip().lower().rstrip(".") not in _NO_ANSWER)


_NUMBER = r"(?<![\d.])(?P<number>\d{1,2}(?:\.5)?)(?![\d.]*\d)"
_SAID = (
    re.compile(
        rf"{_NUMBER}\s*(?:[:=(\u2013\u2014-]|is|means|being|stands for)\s*(?:the\s+)?(?P<words>[a-z' -]{{3,40}})"
    ),
    re.compile(rf"(?P<words>(?<![a-z])[a-z' -]{{3,30}}?)\s{{0,9}}+[(=]\s*{_NUMBER}\s*\)?"),
)
"""`1 (lowest)`, `5 = excellent`, `10 is best`; `best (10)`."""


def _read_said(text: str) -> Iterator[tuple[float, str]]:
    for pattern in _SAID:
        found = [(float(match["number"]), match["words"]) for match in pattern.finditer(text.lower())]
        if len(found) > 1:
            yield from found
            return


def described_direction(description: str, *, of_amount: bool) -> bool | None:
    """Return whether higher is better according to a question's instructions; None if they do not say.

    >>> described_direction("From 1 (best) to 5 (worst).", of_amount=True)
    False
    """
    return higher_is_better(dict(_read_said(description)), of_amount=of_amount)
