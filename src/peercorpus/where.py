"""Which papers are asked for: simple conditions such as `year>=2023`, what they mean, and how they are read from text.

A condition chooses papers; whatever belongs to a paper goes with it. A paper of which a value is not known meets no
condition on it, `!=` included. Of several conditions `name=value` with one name any may hold; all others must hold.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import TYPE_CHECKING

from peercorpus.errors import PeercorpusError
from peercorpus.kinds import Grade, Status

if TYPE_CHECKING:
    import polars as pl


class Comparison(StrEnum):
    """How a paper's value stands to the one named."""

    IS = "="
    IS_NOT = "!="
    AT_LEAST = ">="
    AT_MOST = "<="
    MORE = ">"
    LESS = "<"


class FieldKind(StrEnum):
    """What a field of a paper holds."""

    WORD = "word"
    WORDS = "words"
    """A list; a condition asks whether one of them is the word."""
    NUMBER = "number"
    TRUTH = "truth"


@dataclass(frozen=True, slots=True)
class Field:
    """What can be asked of a paper.

    Attributes:
        column: Its name in a frame of papers that `matching` is used on.
        says: What the value is.
        words: All that it may be; empty where that is open.
    """

    column: str
    kind: FieldKind
    says: str
    words: tuple[str, ...] = ()


FIELDS: Mapping[str, Field] = {
    "venue": Field("venue_id", FieldKind.WORD, "OpenReview's id of the venue: `ICLR.cc/2024/Conference`"),
    "conference": Field("conference", FieldKind.WORD, "the conference family: `iclr`"),
    "year": Field("year", FieldKind.NUMBER, "the calendar year that the venue names"),
    "track": Field("track", FieldKind.WORD, "`main`, or the track or workshop"),
    "status": Field("status", FieldKind.WORD, "what became of the paper", tuple(Status)),
    "grade": Field("grade", FieldKind.WORD, "how sure it is which PDF the reviewers read", tuple(Grade)),
    "keyword": Field("keywords", FieldKind.WORDS, "one of the paper's keywords"),
    "reviews": Field("reviews", FieldKind.NUMBER, "how many public reviews it has"),
    "rating": Field(
        "rating", FieldKind.NUMBER, "the mean of its overall recommendations as they stand now, on the venue's scale"
    ),
    "confidence": Field(
        "confidence", FieldKind.NUMBER, "the mean of its reviewers' confidences as they stand now, on the venue's scale"
    ),
    "has_rebuttal": Field("has_rebuttal", FieldKind.TRUTH, "whether the authors answered a review, or all of them"),
    "score_changed": Field(
        "score_changed",
        FieldKind.TRUTH,
        "whether a reviewer changed the overall recommendation; not known where no first one is",
    ),
}
"""By their names in a condition. Words are compared without regard to capitals."""

_SPLIT = re.compile(r"\s*([A-Za-z_]+)\s*(!=|>=|<=|=|>|<)(.*)", re.DOTALL)
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
_ASKS = {
    Comparison.IS: eq,
    Comparison.IS_NOT: ne,
    Comparison.AT_LEAST: ge,
    Comparison.AT_MOST: le,
    Comparison.MORE: gt,
    Comparison.LESS: lt,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on a paper; `str()` gives it as it can be read again.

    Attributes:
        name: A key of `FIELDS`.
        value: In small letters where it is a word.
    """

    name: str
    comparison: Comparison
    value: str | float | bool

    def __str__(self) -> str:
        value = self.value
        if isinstance(value, bool):
            return f"{self.name}{self.comparison}{'yes' if value else 'no'}"
        return f"{self.name}{self.comparison}{value if isinstance(value, str) else format(value, '.15g')}"


def parse(text: str) -> Condition:
    """Read one condition.

    >>> parse("year >= 2023"), str(parse("Status=Rejected"))
    (Condition(name='year', comparison=<Comparison.AT_LEAST: '>='>, value=2023.0), 'status=rejected')

    Raises:
        PeercorpusError: It is none.
    """
    found = _SPLIT.fullmatch(text)
    if found is None or not found[3].strip():
        raise PeercorpusError(f"'{text}' is no condition; write a name, a sign and a value, such as 'year>=2023'.")
    name, comparison, value = found[1].lower(), Comparison(found[2]), found[3].strip()
    field = FIELDS.get(name)
    if field is None:
        raise PeercorpusError(f"Papers cannot be chosen by '{name}', only by: {', '.join(FIELDS)}.")
    if field.kind is not FieldKind.NUMBER and comparison not in {Comparison.IS, Comparison.IS_NOT}:
        raise PeercorpusError(f"'{text}' has no order to compare by; write '{name}={value}' or '{name}!={value}'.")
    return Condition(name, comparison, _value(name, field, value))


def _value(name: str, field: Field, text: str) -> str | float | bool:
    word = text.lower()
    if field.words and word not in field.words:
        raise PeercorpusError(f"'{text}' is no {name}; it is one of: {', '.join(field.words)}.")
    if field.kind is FieldKind.TRUTH:
        if word not in _TRUTHS:
            raise PeercorpusError(f"'{text}' does not answer '{name}'; write '{name}=yes' or '{name}=no'.")
        return _TRUTHS[word]
    return _number(name, text) if field.kind is FieldKind.NUMBER else word


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise PeercorpusError(f"'{text}' is no number; write one behind '{name}', such as '{name}>=6'.")
    return number


def parse_all(texts: Iterable[str]) -> tuple[Condition, ...]:
    """Read conditions, each once, in the order given.

    Raises:
        PeercorpusError: One of them is none.
    """
    return tuple(dict.fromkeys(parse(text) for text in texts))


def _alternatives(conditions: Iterable[Condition]) -> list[list[Condition]]:
    """Groups all of which must hold, each if any of its conditions does."""
    groups: dict[object, list[Condition]] = {}
    for condition in conditions:
        key = condition.name if condition.comparison is Comparison.IS else condition
        groups.setdefault(key, []).append(condition)
    return list(groups.values())


def _expression(condition: Condition) -> "pl.Expr":
    import polars as pl

    field = FIELDS[condition.name]
    column, value = pl.col(field.column), pl.lit(condition.value)
    if field.kind is FieldKind.WORDS:
        holds = column.list.eval(pl.element().str.strip_chars().str.to_lowercase()).list.contains(value)
        known = column.list.len() > 0
        return (holds if condition.comparison is Comparison.IS else ~holds) & known
    compared = column.str.to_lowercase() if field.kind is FieldKind.WORD else column
    met: pl.Expr = _ASKS[condition.comparison](compared, value)
    return met


def matching(conditions: Iterable[Condition]) -> "pl.Expr":
    """Whether a row of a frame of papers meets the conditions: true or false, never null.

    The frame needs the column (`Field.column`) of every condition's field. Without conditions all rows do.
    """
    import polars as pl

    groups = [reduce(or_, map(_expression, group)).fill_null(value=False) for group in _alternatives(conditions)]
    return reduce(and_, groups, pl.lit(value=True))
