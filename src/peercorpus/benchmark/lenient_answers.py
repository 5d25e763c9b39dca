"""Read answers that break the requested format but have a clear meaning, and recognise refusals in words.

Tables show lenient readings in a separate row, beside the strict ones.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from peercorpus.benchmark.answers import (
    REASONING_TAG,
    Decision,
    UnreadableAnswerError,
    Unscored,
    refuse_repeated_keys,
)
from peercorpus.benchmark.cases import AskedScore

THINKING = re.compile(rf"<(?P<tag>{REASONING_TAG})>.*?(?:</(?P=tag)>|\Z)", re.DOTALL | re.IGNORECASE)
THOUGHT = re.compile(rf"\A.*</{REASONING_TAG}>", re.DOTALL | re.IGNORECASE)
"""Matches reasoning whose opening mark was in the prompt."""
MOST_OBJECTS = 1000
"""Maximum number of opening braces tried as the beginning of an object, from the end of the answer."""
DECIDED = re.compile(
    r"\W*(?:(?:strong|clear|weak|borderline)\W+)?(accept|reject)(?:ed|ance|ion|s)?\W*(?:\([^()]*\)\W*)?", re.IGNORECASE
)
"""Matches "Accept.", "accepted", "weak reject" and "Accept (poster)", but not "do not accept"."""
NUMBER = re.compile(r"\W*?(-?\d++(?:\.\d++)?)\s*+(?:(%)|/\s*+(\d++(?:\.\d++)?))?\s*+[*_.]*+\s*+(?:[:(].*)?", re.DOTALL)
"""Matches "0.7", "70 %", "7/10" and "7: accept"."""
LINE = re.compile(r"^(?:[^\w\n]|_)*+(?P<name>[^\W\d_][^:=\n]{0,80}?)[*_\"'` ]*+[:=](?P<value>.+)$", re.MULTILINE)
FEWEST_PERCENT = 10
"""Probabilities above this are percentages; those between 1 and this are ambiguous."""


def _drop_thinking(text: str) -> str:
    return THOUGHT.sub("", THINKING.sub("", text)).strip()


def _list_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a text that are in no other object, last first."""
    decoder = json.JSONDecoder(object_pairs_hook=refuse_repeated_keys, parse_constant=str)
    objects: list[tuple[int, int, dict[str, Any]]] = []
    for brace in [found.start() for found in re.finditer(r"\{", text)][-MOST_OBJECTS:]:
        if objects and brace < objects[-1][1]:
            continue
        try:
            parsed, end = decoder.raw_decode(text, brace)
        except (ValueError, RecursionError):
            continue
        objects.append((brace, end, parsed))
    yield from (parsed for _, _, parsed in reversed(objects))


def _to_key(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def _read_values(text: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of the last object that has the first name, otherwise those of lines such as "Decision:
    accept".

    Args:
        text: The answer.
        names: Names of the values; case, spaces and underscores do not matter.

    Raises:
        UnreadableAnswerError: There is neither, or lines have two values for one name.
    """
    spoken = _drop_thinking(text)
    if not spoken:
        raise UnreadableAnswerError(Unscored.EMPTY)
    asked = {_to_key(name): name for name in names}
    for found in _list_objects(spoken):
        values = {asked[_to_key(key)]: value for key, value in found.items() if _to_key(key) in asked}
        if names[0] in values:
            return values
    lines: dict[str, set[str]] = defaultdict(set)
    for line in LINE.finditer(spoken):
        if _to_key(line["name"]) in asked:
            lines[asked[_to_key(line["name"])]].add(line["value"].strip().casefold())
    if any(len(of_name) > 1 for of_name in lines.values()):
        raise UnreadableAnswerError(Unscored.TWO_ANSWERS)
    if names[0] not in lines:
        raise UnreadableAnswerError(Unscored.NO_OBJECT)
    return {name: of_name.pop() for name, of_name in lines.items()}


def _split_number(value: object, name: str) -> tuple[float, str, float | None]:
    """Return a number, its percent sign if any, and its stated maximum if any."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), "", None
    read = NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if read is None:
        raise UnreadableAnswerError(Unscored.NO_NUMBER, name)
    return float(read[1]), read[2] or "", None if read[3] is None else float(read[3])


def _read_probability(value: object) -> float:
    number, percent, out_of = _split_number(value, "probability")
    if out_of:
        number /= out_of
    elif percent or number > FEWEST_PERCENT:
        number /= 100
    if not 0 <= number <= 1:
        raise UnreadableAnswerError(Unscored.OFF_SCALE, f"probability: {value}")
    return number


def read_decision_leniently(text: str) -> Decision:
    """Parse an answer to `acceptance` that is not in the requested format.

    Raises:
        UnreadableAnswerError: Its meaning is not clear.

    >>> read_decision_leniently('I would say: {"Decision": "Accepted.", "probability": "70%"}. Good luck!')
    Decision(accept=True, probability=0.7)
    """
    alone = DECIDED.fullmatch(_drop_thinking(text))
    values = {"decision": alone[1]} if alone else _read_values(text, ("decision", "probability"))
    decision = values["decision"]
    decided = DECIDED.fullmatch(decision) if isinstance(decision, str) else None
    if decided is None:
        raise UnreadableAnswerError(Unscored.NO_DECISION)
    said = values.get("probability")
    return Decision(decided[1].casefold() == "accept", None if said is None else _read_probability(said))


def read_scores_leniently(text: str, asked: Sequence[AskedScore]) -> dict[str, float]:
    """Parse an answer to `scores` that is not in the requested format.

    Raises:
        UnreadableAnswerError: Its meaning is not clear.
    """
    values = _read_values(text, [score.field for score in asked])
    return {score.field: _read_score(values, score) for score in asked}


def _read_score(values: Mapping[str, Any], asked: AskedScore) -> float:
    number, percent, out_of = _split_number(values.get(asked.field), asked.field)
    if percent or out_of not in {None, asked.high} or not asked.low <= number <= asked.high:
        raise UnreadableAnswerError(Unscored.OFF_SCALE, f"{asked.field}: {values[asked.field]}")
    return number
