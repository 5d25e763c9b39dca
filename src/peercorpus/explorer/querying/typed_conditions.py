"""Read the conditions that are typed among the words of a search: `decision:rejected`, `year:>=2024`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from peercorpus.corpus.filters import FIELDS, Condition, FieldKind, Operator, parse
from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import Status

INDEX_FIELDS = {"reviews": "reviews_count", "keywords": "keyword"}
"""Columns of `corpus.filters` that have another name in the index."""
_OTHER_NAMES = {"decision": "status", "outcome": "status", "version": "grade"}
"""Names by which the page calls fields of `corpus.filters`."""
_OF_TEXTS = frozenset(("venue", "reviews"))
"""Fields of `corpus.filters` whose names are those of texts that are searched."""
CONDITIONS = (*_OTHER_NAMES, *(name for name in FIELDS if name not in _OF_TEXTS))
"""Names of conditions that may be typed before a colon."""
STATUS_WORDS = {
    Status.ACCEPTED: ("accepted", "accept", "accepts", "acceptance"),
    Status.REJECTED: ("rejected", "reject", "rejects", "rejection"),
    Status.WITHDRAWN: ("withdrawn", "withdraw", "withdrew", "withdrawal"),
    Status.DESK_REJECTED: ("desk rejected", "desk reject", "desk rejects", "desk rejection"),
    Status.UNDER_REVIEW: ("under review", "undecided", "pending"),
    Status.UNKNOWN: ("unknown",),
}
"""Words that people use for an outcome, the one that a paper has first."""
_STATUSES = {word: status for status, words in STATUS_WORDS.items() for word in words}
_QUOTED = re.compile(r'("[^"]*+"?+)')
_MAY_BE = re.compile("[:<>=]")
_SPACED = re.compile(r"(?<![^\s+-])([A-Za-z_]++):\s++(?=(\S*+))")
_WITHOUT_COLON = re.compile(r"(?<![^\s(+-])([A-Za-z_]++)\s*+([<>]=?+|=)\s*+(?=[^\s<>=])")
_COMBINED = re.compile(r"[()\[\]{}^~\\]|(?:^|\s)(?:AND|OR|NOT|IN)(?:\s|$)")
"""Signs with which a condition is a part of an expression that tantivy evaluates."""
_TOKEN = re.compile(r'(?:[^\s"]++|"[^"]*+"?+)++')
_TYPED = re.compile(r"([+-]?+)([A-Za-z_]++):(?=\S)(.*+)", re.DOTALL)
_TYPED_ANYWHERE = re.compile(r'"[^"]*+"?+|(?<![^\s(+-])([A-Za-z_]++):("[^"]*+"|[^\s()"]++)')
_VALUE = re.compile(r'([<>]=?+|=)?+"?+([^"]*+)"?+')
_INVERTED = {
    Operator.IS: Operator.IS_NOT,
    Operator.AT_LEAST: Operator.LESS,
    Operator.AT_MOST: Operator.MORE,
    Operator.MORE: Operator.AT_MOST,
    Operator.LESS: Operator.AT_LEAST,
}


@dataclass(frozen=True, slots=True)
class TypedConditions:
    """A search, divided into words and conditions.

    Attributes:
        words: The words without the conditions; with those that are part of an expression, as the index names them.
        conditions: Conditions that every paper must meet, combined as in `corpus.filters`.
        hints: Parts that were interpreted differently from what was typed, one sentence each.
        written: The conditions as they were typed.
    """

    words: str
    conditions: tuple[Condition, ...] = ()
    hints: Sequence[str] = ()
    written: Sequence[str] = ()


def read_conditions(words: str) -> TypedConditions:
    """Divide a search into words and conditions; the colon may be left out before a sign: `year>=2023`.

    >>> read = read_conditions("kites decision:Reject year:>=2023")
    >>> read.words, [str(condition) for condition in read.conditions]
    ('kites', ['status=rejected', 'year>=2023'])
    >>> read_conditions("kites OR decision:Reject").words
    'kites OR status:"rejected"'
    """
    if not _MAY_BE.search(words):
        return TypedConditions(words)
    words = _close_spaces(words)
    hints: list[str] = []
    if _COMBINED.search(_QUOTED.sub('""', words)):
        return TypedConditions(_TYPED_ANYWHERE.sub(lambda found: _write_term(found, hints), words), (), hints)
    left: list[str] = []
    written: list[str] = []
    conditions: dict[Condition, None] = {}
    for token in _TOKEN.findall(words):
        typed = _TYPED.fullmatch(token)
        if typed is None or typed[2].lower() not in CONDITIONS:
            left.append(token)
            continue
        condition = _read_condition(typed[2], typed[3], hints)
        if condition is None:
            left.append(typed[3])
        else:
            conditions[_invert(condition) if typed[1] == "-" else condition] = None
            written.append(token)
    return TypedConditions(" ".join(left), tuple(conditions), hints, written)


def _close_spaces(words: str) -> str:
    """Return words without the spaces between the name of a condition and its value, and with a colon behind the name.

    A field that may have any word as its value keeps them: titles begin like that, as in "Track: main results".
    """

    def add_colon(found: re.Match[str]) -> str:
        return f"{found[1]}:{found[2]}" if found[1].lower() in CONDITIONS else found[0]

    parts = _QUOTED.split(words)
    parts[::2] = [_WITHOUT_COLON.sub(add_colon, part) for part in parts[::2]]
    parts[::2] = [
        _SPACED.sub(lambda found: f"{found[1]}:" if _is_condition(found[1], found[2]) else found[0], part)
        for part in parts[::2]
    ]
    return "".join(parts)


def _is_condition(name: str, written: str) -> bool:
    """Return whether what follows a name is the value of this condition; `written` is empty before a quote."""
    if name.lower() not in CONDITIONS:
        return False
    field = FIELDS[_OTHER_NAMES.get(name.lower(), name.lower())]
    return not written or bool(field.words) or field.kind in {FieldKind.NUMBER, FieldKind.TRUTH}


def _read_condition(name: str, written: str, hints: list[str]) -> Condition | None:
    """Return a condition; None if it has no such value, and a hint says so."""
    typed, name = name.lower(), _OTHER_NAMES.get(name.lower(), name.lower())
    found = _VALUE.fullmatch(written)
    sign, value = (found[1] or "=", found[2].strip()) if found else ("=", written)
    try:
        return parse(f"{name}{sign}{_read_value(name, value)}")
    except PeercorpusError as error:
        said = str(error).replace(f"is not a {name};", f"is not a {typed};")
        hints.append(f"{said} '{value}' was searched for in all fields.")
        return None


def _read_value(name: str, value: str) -> str:
    """Return a value as `corpus.filters` spells it: outcomes in any form, and several words joined by "_"."""
    if not FIELDS[name].words:
        return value
    plain = " ".join(value.lower().replace("_", " ").replace("-", " ").split())
    is_outcome = name == "status" and plain in _STATUSES
    return _STATUSES[plain].value if is_outcome else plain.replace(" ", "_") or value


def _invert(condition: Condition) -> Condition:
    return Condition(condition.name, _INVERTED[condition.comparison], condition.value)


def _write_term(found: re.Match[str], hints: list[str]) -> str:
    """Return a condition within an expression, as tantivy understands it."""
    name = (found[1] or "").lower()
    if name not in CONDITIONS or found[2][0] in "[{":
        return found[0]
    condition = _read_condition(name, found[2], hints)
    if condition is None:
        return found[2]
    field = FIELDS[condition.name]
    column = INDEX_FIELDS.get(field.column, field.column)
    if field.kind is FieldKind.NUMBER:
        sign = "" if condition.comparison is Operator.IS else condition.comparison.value
        return f"{column}:{sign}{condition.value:.15g}"
    value = str(condition.value).lower()
    return f'{column}:"{value}"'
