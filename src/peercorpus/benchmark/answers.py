"""Parse answers strictly; an answer that does not follow the requested format gets a reason instead of a score.

The `write_...` functions produce the same format, for baselines, examples and reference answers.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from peercorpus.benchmark.cases import AskedScore

DECLINES = re.compile(
    r"""\b i(?:'m|\ am)?\ ?
    (?: cannot | can\ ?not | can't | won't | will\ not | (?:must\ |have\ to\ )?decline | unable | not\ able
      | (?:do\ not|don't)\ feel\ comfortable | not\ comfortable
    )\b
    [^.!?\n]{0,30}? \b
    (?: assist | help | comply | engage | requests?
      | (?:provide|write|generate|produce|create|give|make)\b [^.!?\n]{0,30}?
        (?:reviews?|decision|prediction|scores?|assessment|judgement|response|content|answer|rating)
      | (?:review|evaluate|assess|judge|rate|process)\ (?:this|that|the|your)\ (?:paper|submission|manuscript|request)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Matches the words that decline: "I can't assist with that"."""
SENTENCE_END = re.compile(r"[.!?\n]")
REGRETS = re.compile(
    r"""\W*(?:
      (?:i'?m|i\ am)\ (?:very\ |so\ |really\ |truly\ )?sorry | sorry | (?:my\ )?apologies | i\ apologi[sz]e
      | as\ an?\ (?:ai|artificial\ intelligence|(?:large\ )?language\ model) | unfortunately
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Matches the beginning of words that may precede them."""
LONGEST_REGRET = 100
"""Maximum number of characters of a sentence that only expresses regret."""
LONGEST_REFUSAL_WORDS = 100
"""Longer texts contain more than a refusal."""


def is_refusal(text: str) -> bool:
    """Return whether an answer declines the task in words.

    None of the 12,457 reviews of ICLR 2019 and 2020 does.

    >>> is_refusal("I'm sorry, but I can't assist with that."), is_refusal("I cannot recommend acceptance.")
    (True, False)
    """
    if len(text.split()) > LONGEST_REFUSAL_WORDS:
        return False
    plain = text.replace("\u2019", "'")
    declines = DECLINES.search(plain)
    if declines is None:
        return False
    before = (part.strip() for part in SENTENCE_END.split(plain[: declines.start()]))
    return all(len(part) <= LONGEST_REGRET and REGRETS.match(part) for part in before if any(map(str.isalnum, part)))


class Unscored(StrEnum):
    """Why an answer has no score."""

    EMPTY = "empty"
    NO_OBJECT = "no_object"
    """The answer is not a single JSON object, or has text beside it."""
    NO_DECISION = "no_decision"
    NO_NUMBER = "no_number"
    """A requested field is missing or is not a number."""
    OFF_SCALE = "off_scale"
    """A number is outside its scale."""
    OTHER_SCALE = "other_scale"
    """The model uses another scale than the form, and no rule converts one to the other."""
    TWO_ANSWERS = "two_answers"
    """The answer contains two different answers to one question."""
    NO_FORMAT = "no_format"
    """The answer has no part of the format that the model was trained for."""
    CUT_OFF = "cut_off"
    """The answer ends before the format that the model was trained for is complete."""
    REFUSED = "refused"
    """The provider withheld the answer (content filter), or the model declines in words."""


class UnreadableAnswerError(Exception):
    """An answer that does not follow the requested format.

    Attributes:
        reason: Kind of the fault.
    """

    def __init__(self, reason: Unscored, detail: str = "") -> None:
        """Store the reason; `detail` states exactly what is wrong."""
        super().__init__(detail or reason.value)
        self.reason = reason


def check_not_withheld(stop_reason: str) -> None:
    """Check, from the stop reason in inspect_ai, that the provider did not withhold the answer.

    Raises:
        UnreadableAnswerError: A content filter withheld it.
    """
    if stop_reason == "content_filter":
        raise UnreadableAnswerError(Unscored.REFUSED)


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to an `acceptance` case.

    Attributes:
        probability: Probability of acceptance, in [0, 1]; None if the answer states none.
    """

    accept: bool
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class WrittenReview:
    """The answer to a `review` case.

    Attributes:
        text: The review without the score lines at its end.
        scores: Numbers in those lines, by field; may be empty. A field that is given two different numbers is omitted,
            because it is unknown which one is meant.
    """

    text: str
    scores: Mapping[str, float]


FENCED = re.compile(r"```(?:json)?[^\S\n]*+\n(.*?)\n?```", re.DOTALL | re.IGNORECASE)
NUMBER = re.compile(r"[^\w-]*(-?\d+(?:\.\d+)?)(?:\s*/\s*\d+)?\W*?(?:[:(].*)?$")
"""Matches the score after a field's name: alone, over its scale ("7/10"), or before its label ("7: accept")."""
WORDS = {"accept": True, "reject": False}
TOKEN_EDGES = ' "\u0120\u2581'
"""Characters that tokenizers and JSON put around a word: spaces as in vocabularies, and quotation marks."""


def match_decision(token: str) -> str | None:
    """Return the decision that a token begins or that begins it; None if there is none.

    >>> match_decision("\u0120rej"), match_decision("accepted"), match_decision("weak")
    ('reject', 'accept', None)
    """
    text = token.strip(TOKEN_EDGES).lower()
    return next((word for word in WORDS if text and (word.startswith(text) or text.startswith(word))), None)


def refuse_repeated_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        ValueError: A key occurs twice.
    """
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def read_object(text: str) -> dict[str, Any]:
    r"""Return the single JSON object of an answer, which may be in a code fence.

    Raises:
        UnreadableAnswerError: The answer is anything else, or has text beside the object.

    >>> read_object('```json\n{"a": 1}\n```')
    {'a': 1}
    """
    stripped = text.strip().removeprefix("\ufeff")
    if not stripped:
        raise UnreadableAnswerError(Unscored.EMPTY)
    fenced = FENCED.fullmatch(stripped)
    try:
        parsed = json.loads(
            fenced[1] if fenced else stripped, object_pairs_hook=refuse_repeated_keys, parse_constant=str
        )
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswerError(Unscored.NO_OBJECT, f"not one JSON object: {error}") from None
    if not isinstance(parsed, dict):
        raise UnreadableAnswerError(Unscored.NO_OBJECT)
    return parsed


def _read_number(answer: Mapping[str, Any], name: str, low: float, high: float) -> float:
    value = answer.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableAnswerError(Unscored.NO_NUMBER, name)
    if not low <= value <= high:
        raise UnreadableAnswerError(Unscored.OFF_SCALE, f"{name}: {value}")
    return float(value)


def read_decision(text: str) -> Decision:
    """Parse an answer to `acceptance`.

    Raises:
        UnreadableAnswerError: The answer does not follow the requested format.

    >>> read_decision('{"decision": "accept", "probability": 0.7}')
    Decision(accept=True, probability=0.7)
    """
    answer = read_object(text)
    decision = answer.get("decision")
    if not isinstance(decision, str) or decision.strip().lower() not in WORDS:
        raise UnreadableAnswerError(Unscored.NO_DECISION)
    probability = None if answer.get("probability") is None else _read_number(answer, "probability", 0, 1)
    return Decision(WORDS[decision.strip().lower()], probability)


def read_score_answer(text: str, asked: Sequence[AskedScore]) -> dict[str, float]:
    """Parse an answer to `scores`: a number for each requested field; other fields are ignored.

    Raises:
        UnreadableAnswerError: The answer does not follow the requested format.
    """
    answer = read_object(text)
    return {score.field: _read_number(answer, score.field, score.low, score.high) for score in asked}


def _read_score_line(line: str, asked: Mapping[str, AskedScore]) -> tuple[str, float] | None:
    """Return the field and number of a score line, or None for any other line. Field names may contain colons."""
    most_colons = 1 + max((name.count(":") for name in asked), default=0)
    for colon in islice(re.finditer(":", line), most_colons):
        field = asked.get(line[: colon.start()].strip("*_# -").casefold())
        number = NUMBER.match(line, colon.end())
        if field is not None and number is not None and field.low <= float(number[1]) <= field.high:
            return field.field, float(number[1])
    return None


def read_review_answer(text: str, asked: Sequence[AskedScore]) -> WrittenReview:
    """Split an answer to `review` into the prose and the score lines below it, if there are any.

    Args:
        text: The answer.
        asked: Scores that may follow the prose.

    Raises:
        UnreadableAnswerError: There is no prose, or it is a refusal.
    """
    lines = text.strip().split("\n")
    values: dict[str, set[float]] = defaultdict(set)
    asked_by_name = {field_asked.field.casefold(): field_asked for field_asked in asked}
    while lines:
        score = _read_score_line(lines[-1], asked_by_name)
        if lines[-1].strip() and score is None:
            break
        if score is not None:
            values[score[0]].add(score[1])
        lines.pop()
    prose = _check_prose("\n".join(lines))
    return WrittenReview(prose, {name: given.pop() for name, given in values.items() if len(given) == 1})


REASONING_TAG = "(?:think|thinking|thought|reasoning)"
REASONING = re.compile(
    rf"\A\s*+(?:<(?P<tag>{REASONING_TAG})>.*?(?:</(?P=tag)>|\Z)|.*?\n</{REASONING_TAG}>[ \t]*+$)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""Matches the reasoning before an answer. Some chat templates open the tag, so that an answer only closes it."""


def _check_prose(text: str) -> str:
    prose = REASONING.sub("", text, count=1).strip()
    if not prose:
        raise UnreadableAnswerError(Unscored.EMPTY)
    if is_refusal(prose):
        raise UnreadableAnswerError(Unscored.REFUSED)
    return prose


RECOMMENDATION = re.compile(r"\W*recommendation\W+(accept|reject)\W*", re.IGNORECASE)
"""Matches the last line of a meta-review."""


@dataclass(frozen=True, slots=True)
class WrittenMetaReview:
    """The answer to a `meta_review` case.

    Attributes:
        text: The meta-review without its last line, if that is the recommendation.
        accept: The recommendation in that line; None if the answer ends otherwise.
    """

    text: str
    accept: bool | None


def read_meta_review(text: str) -> WrittenMetaReview:
    r"""Split an answer to `meta_review` into the prose and the recommendation below it.

    Raises:
        UnreadableAnswerError: There is no prose.

    >>> read_meta_review("All agree.\n\nRecommendation: accept")
    WrittenMetaReview(text='All agree.', accept=True)
    """
    prose, _, last = text.strip().rpartition("\n")
    recommended = RECOMMENDATION.fullmatch(last.strip())
    if recommended is None:
        return WrittenMetaReview(read_turn(text), None)
    return WrittenMetaReview(read_turn(prose), WORDS[recommended[1].lower()])


def read_turn(text: str) -> str:
    """Parse an answer to `rebuttal`.

    Raises:
        UnreadableAnswerError: The answer is empty, or it is a refusal.
    """
    return _check_prose(text)


def write_decision(decision: Decision) -> str:
    """Format a decision as an answer to `acceptance`."""
    answer = {"decision": "accept" if decision.accept else "reject"}
    return json.dumps(answer if decision.probability is None else answer | {"probability": decision.probability})


def write_scores(scores: Mapping[str, float]) -> str:
    """Format scores as an answer to `scores`, rounded to four decimal places."""
    return json.dumps({name: round(value, 4) for name, value in scores.items()}, ensure_ascii=False)


def write_review(text: str, scores: Mapping[str, float]) -> str:
    """Format a review and its scores as an answer to `review`."""
    return "\n\n".join(filter(None, [text, "\n".join(f"{name}: {value:g}" for name, value in scores.items())]))
