"""What a judge is asked, and how strictly its answers are read.

The five aspects, the scale of 1 to 10 and the JSON form are those of Re² (arXiv 2505.07920). Its words we could not
find, so those of the question are ours (`peercorpus.prompts`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from statistics import fmean
from typing import Any, Literal

from peercorpus import prompts
from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored, read_object

LOW, HIGH = 1, 10
"""The scale of each aspect."""

Place = Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer: whole numbers from 1 to 10, the highest the best."""

    quality: int
    constructiveness: int
    accuracy: int
    completeness: int
    clarity: int

    @property
    def values(self) -> dict[str, int]:
        """The numbers by aspect."""
        return asdict(self)

    @property
    def mean(self) -> float:
        """Of the five aspects, each as much as the next, on [1, 10]."""
        return fmean(self.values.values())


ASPECTS = tuple(one.name for one in fields(Verdict))


@dataclass(frozen=True, slots=True)
class Subject:
    """What a candidate is judged beside.

    Attributes:
        references: What people wrote in the same place; at least one, each with words.
        title: Of the paper, where the judge is to know it.
        abstract: Of the paper, where the judge is to know it.
        answered: What the candidate answers, if it is a turn of a conversation.
    """

    references: Sequence[str]
    title: str | None = None
    abstract: str | None = None
    answered: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge is told: by us, and by texts that nobody vouches for."""

    system: str
    user: str


def _mark(texts: Iterable[str]) -> str:
    """What stands in none of the texts, the same whatever their order: so that no text can end its own fence."""
    told = sorted(texts)
    mark = ""
    while not mark or any(mark in text for text in told):
        mark = sha256("\0".join([*told, mark]).encode(errors="surrogatepass")).hexdigest()[:12]
    return mark


def _question(system: str, candidates: Mapping[str, str], beside: Subject) -> Question:
    if not beside.references or not all(text.strip() for text in [*beside.references, *candidates.values()]):
        raise ValueError("a judge needs words to judge, and words of people to judge them by")
    about = "\n\n".join(filter(None, [beside.title, beside.abstract]))
    named = {"PAPER": about, "ANSWERED": beside.answered or ""}
    named |= {f"HUMAN-{number}": text for number, text in enumerate(beside.references, start=1)}
    texts = {name: text for name, text in {**named, **candidates}.items() if text.strip()}
    mark = _mark(texts.values())
    fenced = (f"<{name}-{mark}>\n{text}\n</{name}-{mark}>" for name, text in texts.items())
    return Question(f"{system}\n\n{prompts.FENCED.format(mark=mark)}", "\n\n".join(fenced))


def judge_question(candidate: str, beside: Subject) -> Question:
    """Ask for a verdict on one text.

    Raises:
        ValueError: The candidate or a reference has no words, or there is no reference.
    """
    return _question(prompts.JUDGE, {"CANDIDATE": candidate}, beside)


def pair_question(first: str, second: str, beside: Subject) -> Question:
    """Ask which of two texts is the better one.

    Raises:
        ValueError: A candidate or a reference has no words, or there is no reference.
    """
    return _question(prompts.PAIR, {"CANDIDATE-A": first, "CANDIDATE-B": second}, beside)


def _whole(found: Mapping[str, Any], aspect: str) -> int:
    value = found.get(aspect)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableAnswerError(Unscored.NO_NUMBER, f"no number for '{aspect}'")
    if value not in range(LOW, HIGH + 1):
        raise UnreadableAnswerError(Unscored.OFF_SCALE, f"'{aspect}' is no whole number from {LOW} to {HIGH}")
    return int(value)


def read_verdict(text: str) -> Verdict:
    """A verdict: a whole number from 1 to 10 for each aspect; other fields do not count.

    Raises:
        UnreadableAnswerError: It has not the form asked for.

    >>> read_verdict('{"quality": 7, "constructiveness": 8, "accuracy": 7, "completeness": 6, "clarity": 9}').mean
    7.4
    """
    found = read_object(text)
    return Verdict(**{aspect: _whole(found, aspect) for aspect in ASPECTS})


def read_better(text: str) -> Place:
    """The better one of two texts, by its place.

    Raises:
        UnreadableAnswerError: It has not the form asked for.

    >>> read_better('{"better": "B"}')
    'B'
    """
    better = read_object(text).get("better")
    if better == "A":
        return "A"
    if better == "B":
        return "B"
    raise UnreadableAnswerError(Unscored.NO_DECISION, "'better' is neither A nor B")
