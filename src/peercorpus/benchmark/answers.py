"""What a model answered, read strictly: one form of answer a task, and a reason where it is another."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from peercorpus.benchmark.cases import AskedScore


class Unscored(StrEnum):
    """Why an answer has no score."""

    EMPTY = "empty"
    NO_OBJECT = "no_object"
    """It is not one JSON object, or has words beside it."""
    NO_DECISION = "no_decision"
    NO_NUMBER = "no_number"
    """A field that was asked for is missing, or holds no number."""
    OFF_SCALE = "off_scale"
    """A number lies outside its scale."""
    OTHER_SCALE = "other_scale"
    """The model gives the number on another scale than the form asks for, and no rule leads from one to the other."""
    TWO_ANSWERS = "two_answers"
    """It answers one question twice, and not alike."""
    NO_FORMAT = "no_format"
    """It has nothing of the format that the model has been trained for."""
    CUT_OFF = "cut_off"
    """It ends before the format that the model has been trained for does."""
    REFUSED = "refused"
    """The provider let nothing through."""


class UnreadableAnswerError(Exception):
    """An answer that has not the form asked for.

    Attributes:
        reason: What is wrong with it.
    """

    def __init__(self, reason: Unscored, detail: str = "") -> None:
        """Take the reason, and what exactly is wrong."""
        super().__init__(detail or reason.value)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer to `acceptance`.

    Attributes:
        probability: That it is accepted, on [0, 1]; None where the answer has none.
    """

    accept: bool
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class WrittenReview:
    """An answer to `review`.

    Attributes:
        text: The review without the lines of scores at its end.
        scores: What those lines say, by field; empty where there are none.
    """

    text: str
    scores: Mapping[str, float]


FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n?```", re.DOTALL | re.IGNORECASE)
NUMBER = re.compile(r"[^\w-]*(-?\d+(?:\.\d+)?)(?:\s*/\s*\d+)?\W*?(?:[:(].*)?$")
"""A score at the beginning of a line's end: the number alone, over its scale, or before its label."""
WORDS = {"accept": True, "reject": False}


def _pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def read_object(text: str) -> dict[str, Any]:
    r"""The one JSON object that an answer is, alone or in a code fence.

    Raises:
        UnreadableAnswerError: It is something else, or has words beside it.

    >>> read_object('```json\n{"a": 1}\n```')
    {'a': 1}
    """
    stripped = text.strip().removeprefix("\ufeff")
    if not stripped:
        raise UnreadableAnswerError(Unscored.EMPTY)
    fenced = FENCED.fullmatch(stripped)
    try:
        found = json.loads(fenced[1] if fenced else stripped, object_pairs_hook=_pairs, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswerError(Unscored.NO_OBJECT, f"not one JSON object: {error}") from None
    if not isinstance(found, dict):
        raise UnreadableAnswerError(Unscored.NO_OBJECT)
    return found


def _number(found: Mapping[str, Any], name: str, low: float, high: float) -> float:
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableAnswerError(Unscored.NO_NUMBER, name)
    if not low <= value <= high:
        raise UnreadableAnswerError(Unscored.OFF_SCALE, f"{name}: {value}")
    return float(value)


def read_decision(text: str) -> Decision:
    """An answer to `acceptance`.

    Raises:
        UnreadableAnswerError: It has not the form asked for.

    >>> read_decision('{"decision": "accept", "probability": 0.7}')
    Decision(accept=True, probability=0.7)
    """
    found = read_object(text)
    decision = found.get("decision")
    if not isinstance(decision, str) or decision.strip().lower() not in WORDS:
        raise UnreadableAnswerError(Unscored.NO_DECISION)
    probability = None if found.get("probability") is None else _number(found, "probability", 0, 1)
    return Decision(WORDS[decision.strip().lower()], probability)


def read_scores(text: str, asked: Sequence[AskedScore]) -> dict[str, float]:
    """An answer to `scores`: a number for every field asked for; other fields do not count.

    Raises:
        UnreadableAnswerError: It has not the form asked for.
    """
    found = read_object(text)
    return {one.field: _number(found, one.field, one.low, one.high) for one in asked}


def _score_line(line: str, asked: Mapping[str, AskedScore]) -> tuple[str, float] | None:
    """A field and the number that a line gives it; None where it is another line. Names of fields may hold colons."""
    for colon in re.finditer(":", line):
        one, number = asked.get(line[: colon.start()].strip("*_# -").casefold()), NUMBER.match(line, colon.end())
        if one is not None and number is not None and one.low <= float(number[1]) <= one.high:
            return one.field, float(number[1])
    return None


def read_review(text: str, asked: Sequence[AskedScore]) -> WrittenReview:
    r"""An answer to `review`: the prose, then scores, one a line, as far as there are any.

    Raises:
        UnreadableAnswerError: It has no prose.
    """
    lines, scores = text.strip().split("\n"), dict[str, float]()
    of_name = {one.field.casefold(): one for one in asked}
    while lines:
        said = _score_line(lines[-1], of_name)
        if lines[-1].strip() and said is None:
            break
        if said is not None:
            scores.setdefault(*said)
        lines.pop()
    prose = "\n".join(lines).strip()
    if not prose:
        raise UnreadableAnswerError(Unscored.EMPTY)
    return WrittenReview(prose, scores)


def read_turn(text: str) -> str:
    """An answer to `rebuttal`.

    Raises:
        UnreadableAnswerError: It has no words.
    """
    if not text.strip():
        raise UnreadableAnswerError(Unscored.EMPTY)
    return text.strip()


def write_decision(decision: Decision) -> str:
    """A decision in the form asked for."""
    told = {"decision": "accept" if decision.accept else "reject"}
    return json.dumps(told if decision.probability is None else told | {"probability": decision.probability})


def write_scores(scores: Mapping[str, float]) -> str:
    """Scores in the form asked for."""
    return json.dumps({name: round(value, 4) for name, value in scores.items()}, ensure_ascii=False)


def write_review(text: str, scores: Mapping[str, float]) -> str:
    """A review in the form asked for."""
    return "\n\n".join(filter(None, [text, "\n".join(f"{name}: {value:g}" for name, value in scores.items())]))
