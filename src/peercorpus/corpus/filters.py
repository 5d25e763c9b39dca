"""Parse paper filters such as `year>=2023` and apply them to a frame of papers.

Conditions on the same field with `=` are alternatives (`venue=TMLR` or `venue=JLE`); otherwise all conditions must be
met. An unknown value meets no condition, so `year!=2023` leaves out papers without a year.
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
from peercorpus.records.enums import Grade, Status
from peercorpus.wording.suggestions import suggest_name

if TYPE_CHECKING:
    import polars as pl


class Operator(StrEnum):
    """How a paper's value is compared with the value of the condition."""

    IS = "="
    IS_NOT = "!="
    AT_LEAST = ">="
    AT_MOST = "<="
    MORE = ">"
    LESS = "<"


class FieldKind(StrEnum):
    """Kind of value in a field of a paper."""

    WORD = "word"
    WORDS = "words"
    """A list of words; a condition is compared with each of them."""
    NUMBER = "number"
    TRUTH = "truth"


@dataclass(frozen=True, slots=True)
class FilterField:
    """A field that papers can be filtered by.

    Attributes:
        column: The column of a frame of papers that `matching` reads.
        says: Description of the value.
        words: All possible values; empty if any word is possible.
    """

    column: str
    kind: FieldKind
    says: str
    words: tuple[str, ...] = ()


FIELDS: Mapping[str, FilterField] = {
    "venue": FilterField("venue_id", FieldKind.WORD, "OpenReview's id of the venue: `ICLR.cc/2024/Conference`"),
    "conference": FilterField("conference", FieldKind.WORD, "the conference family: `iclr`"),
    "year": FilterField(
        "year",
        FieldKind.NUMBER,
        "the calendar year that the venue names, else of its decision or submission",
    ),
    "track": FilterField("track", FieldKind.WORD, "`main`, or the track or workshop"),
    "status": FilterField("status", FieldKind.WORD, "the outcome for the paper", words=tuple(Status)),
    "grade": FilterField("grade", FieldKind.WORD, "how certain it is which PDF the reviewers read", words=tuple(Grade)),
    "keyword": FilterField("keywords", FieldKind.WORDS, "one of the paper's keywords"),
    "reviews": FilterField("reviews", FieldKind.NUMBER, "its number of public reviews"),
    "rating": FilterField(
        "rating", FieldKind.NUMBER, "the mean of its current overall recommendations, on the venue's scale"
    ),
    "rating_share": FilterField(
        "rating_unit",
        FieldKind.NUMBER,
        "the same mean as a share of the venue's scale: 0 for its worst answer, 1 for its best",
    ),
    "spread_share": FilterField(
        "spread_unit",
        FieldKind.NUMBER,
        "its highest recommendation minus its lowest, as a share of the scale; unknown with fewer than two",
    ),
    "change_share": FilterField(
        "change_unit",
        FieldKind.NUMBER,
        "the mean change of its recommendations, as a share of the scale; unknown if no first one is known",
    ),
    "confidence": FilterField(
        "confidence", FieldKind.NUMBER, "the mean of its reviewers' current confidences, on the venue's scale"
    ),
    "has_rebuttal": FilterField(
        "has_rebuttal", FieldKind.TRUTH, "whether the authors replied to a review, or to all of them"
    ),
    "score_changed": FilterField(
        "score_changed",
        FieldKind.TRUTH,
        "whether a reviewer changed the overall recommendation; unknown if no first one is known",
    ),
}
"""The fields by their names in a condition. Words are compared ignoring case."""

_CONDITION = re.compile(r"\s*([A-Za-z_]+)\s*(!=|>=|<=|=|>|<)(.*)", re.DOTALL)
_TRUTH_VALUES = {"yes": True, "true": True, "no": False, "false": False}
_COMPARISONS = {
    Operator.IS: eq,
    Operator.IS_NOT: ne,
    Operator.AT_LEAST: ge,
    Operator.AT_MOST: le,
    Operator.MORE: gt,
    Operator.LESS: lt,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on a paper; `parse(str(condition))` returns an equal one.

    Attributes:
        name: A key of `FIELDS`.
        value: The value, in lower case if it is a word.
    """

    name: str
    comparison: Operator
    value: str | float | bool

    def __str__(self) -> str:
        value = self.value
        if isinstance(value, bool):
            return f"{self.name}{self.comparison}{'yes' if value else 'no'}"
        return f"{self.name}{self.comparison}{value if isinstance(value, str) else format(value, '.15g')}"


def parse(text: str) -> Condition:
    """Parse one condition.

    >>> parse("year >= 2023"), str(parse("Status=Rejected"))
    (Condition(name='year', comparison=<Operator.AT_LEAST: '>='>, value=2023.0), 'status=rejected')

    Raises:
        PeercorpusError: The text is not a condition, or the field does not have this value or order.
    """
    split = _CONDITION.fullmatch(text)
    if split is None or not split[3].strip():
        raise PeercorpusError(f"'{text}' is not a condition; write a field, a sign and a value, such as 'year>=2023'.")
    name = split[1].lower()
    comparison = Operator(split[2])
    value = split[3].strip()
    field = FIELDS.get(name)
    if field is None:
        raise PeercorpusError(f"Papers have no field '{name}' to filter by; use one of: {', '.join(FIELDS)}.")
    if field.kind is not FieldKind.NUMBER and comparison not in {Operator.IS, Operator.IS_NOT}:
        raise PeercorpusError(
            f"'{text}' compares values that have no order; write '{name}={value}' or '{name}!={value}'."
        )
    return Condition(name, comparison, _parse_value(name, field, value))


def _parse_value(name: str, field: FilterField, text: str) -> str | float | bool:
    word = text.lower()
    if field.words and word not in field.words:
        raise PeercorpusError(f"'{text}' is not a {name}; use one of: {', '.join(field.words)}.")
    if field.kind is FieldKind.TRUTH:
        if word not in _TRUTH_VALUES:
            raise PeercorpusError(f"'{name}' must be yes or no, got '{text}'; write '{name}=yes' or '{name}=no'.")
        return _TRUTH_VALUES[word]
    return _parse_number(name, text) if field.kind is FieldKind.NUMBER else word


def _parse_number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        example = "2024" if name == "year" else "0.5" if name.endswith("_share") else "3"
        raise PeercorpusError(
            f"'{name}' must be compared with a finite number, got '{text}'; write for example '{name}>={example}'."
        )
    return number


def parse_all(texts: Iterable[str]) -> tuple[Condition, ...]:
    """Parse conditions; repeated ones are returned once, in the order of their first appearance.

    Raises:
        PeercorpusError: A text is not a condition.
    """
    return tuple(dict.fromkeys(parse(text) for text in texts))


def check_words(conditions: Iterable[Condition], papers: "pl.DataFrame") -> None:
    """Check that some paper has the word in each condition: a misspelt one would match nothing, or everything.

    The frame has all papers, with the columns that `matching` needs.

    Raises:
        PeercorpusError: No paper has it; the message suggests the nearest word, or lists the existing ones.
    """
    for condition in conditions:
        field = FIELDS[condition.name]
        if field.words or not isinstance(condition.value, str):
            continue
        column = papers[field.column].explode() if field.kind is FieldKind.WORDS else papers[field.column]
        words = {word.strip() for word in column.drop_nulls().unique()}
        if condition.value not in {word.lower() for word in words}:
            raise PeercorpusError(
                f"No paper has the {condition.name} '{condition.value}'; {suggest_name(condition.value, words)}"
            )


def group_alternatives(conditions: Iterable[Condition]) -> list[list[Condition]]:
    """Return groups of conditions; all groups must be met, and a group is met if any of its conditions is."""
    groups: dict[object, list[Condition]] = {}
    for condition in conditions:
        key = condition.name if condition.comparison is Operator.IS else condition
        groups.setdefault(key, []).append(condition)
    return list(groups.values())


def _build_expression(condition: Condition) -> "pl.Expr":
    import polars as pl

    field = FIELDS[condition.name]
    column, value = pl.col(field.column), pl.lit(condition.value)
    if field.kind is FieldKind.WORDS:
        holds = column.list.eval(pl.element().str.strip_chars().str.to_lowercase()).list.contains(value)
        is_known = column.list.len() > 0
        return (holds if condition.comparison is Operator.IS else ~holds) & is_known
    compared = column.str.to_lowercase() if field.kind is FieldKind.WORD else column
    met: pl.Expr = _COMPARISONS[condition.comparison](compared, value)
    return met


def matching(conditions: Iterable[Condition]) -> "pl.Expr":
    """Return an expression that is true for papers that meet the conditions and false for others, never null.

    The frame needs the column (`FilterField.column`) of every condition's field. Without conditions it is true for all
    rows.
    """
    import polars as pl

    groups = [
        reduce(or_, map(_build_expression, group)).fill_null(value=False) for group in group_alternatives(conditions)
    ]
    return reduce(and_, groups, pl.lit(value=True))
