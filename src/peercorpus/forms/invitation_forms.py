"""Derive a review form from OpenReview's invitation, or infer one from the reviews.

`derive_form` reads invitations of either API. `infer_form` is the last resort, for venues whose invitation is not shown
and for which no form is declared.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import msgspec

from peercorpus.forms import directions, vocabulary
from peercorpus.forms.form import UNASKED, Question, ReviewForm, is_prose
from peercorpus.forms.scales import label_number, option_words, read_scale_options
from peercorpus.records.enums import FieldType

_SINGLE_CHOICE_KEYS = ("enum", "value-radio", "value-dropdown", "value-checkbox")
_MULTIPLE_CHOICE_KEYS = ("items", "values-checkbox", "values-dropdown")
_API_2_TYPES = {"boolean": FieldType.FLAG, "integer": None, "float": None, "number": None, "file": None}
"""Types of API v2 other than text; None for numbers, as one without a scale may mean anything."""
_LAST_POSITION = 1_000
"""Position of a field whose invitation states no order."""


def _as_object(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 -- any JSON
    return value if isinstance(value, dict) else {}


def _as_text(value: Any) -> str | None:  # noqa: ANN401 -- any JSON
    return value if isinstance(value, str) and value else None


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read_options(param: Mapping[str, Any]) -> tuple[Sequence[Any] | None, bool]:
    """Return the options as the invitation writes them (None if it has none) and whether several may be chosen."""
    key = next(
        (kind for kind in (*_SINGLE_CHOICE_KEYS, *_MULTIPLE_CHOICE_KEYS) if isinstance(param.get(kind), list)), None
    )
    is_many = key in _MULTIPLE_CHOICE_KEYS or str(param.get("type", "")).endswith("[]")
    return (None if key is None else param[key]), is_many


def _read_answers(options: Iterable[Any]) -> dict[str, str]:
    """Return the label of each option by its content in a note."""
    labels: dict[str, str] = {}
    for option in options:
        value = option.get("value") if isinstance(option, dict) else option
        labels[str(value)] = str(option.get("description", value) if isinstance(option, dict) else option)
    return labels


def is_yes_or_no(answers: Iterable[str]) -> bool:
    """Return whether the answers are yes and no, or a single box to tick."""
    offered = {answer.lower().rstrip(".") for answer in answers}
    return len(offered) == 1 or offered <= {"yes", "no", "true", "false"}


def _read_question(name: str, asked: Mapping[str, Any]) -> Question:
    wrapped = asked.get("value")
    param = _as_object(wrapped.get("param")) if isinstance(wrapped, dict) else asked
    options, is_many = _read_options(param)
    answers = _read_answers(options or ())
    labels = {} if is_many else {value: answers[answer] for value, answer in read_scale_options(answers).items()}
    order = asked.get("order")
    readers = asked.get("readers")
    low, high = param.get("minimum"), param.get("maximum")
    bounds = (float(low), float(high)) if _is_number(low) and _is_number(high) else None
    kind = FieldType.SCORE if bounds else _API_2_TYPES.get(str(param.get("type")), FieldType.TEXT)
    if options is not None:
        if is_many:
            kind = FieldType.LIST
        elif len(labels) > 1 or name.lower() in vocabulary.ASPECTS:
            kind = FieldType.SCORE
        else:
            kind = FieldType.FLAG if is_yes_or_no(answers) else FieldType.CHOICE
    # A field may be left empty on API v1 unless it is `required`, and on API v2 if it is `optional`.
    is_optional = asked.get("required") is not True if param is asked else param.get("optional") is True
    return Question(
        name=name,
        order=order if isinstance(order, int) else _LAST_POSITION,
        labels=labels,
        bounds=bounds,
        is_choice=options is not None,
        title=_as_text(param.get("fieldName")) or _as_text(asked.get("title")),
        description=_as_text(asked.get("description")),
        type=kind,
        answers=tuple(answers),
        is_optional=is_optional,
        readers=tuple(map(str, readers)) if isinstance(readers, list) else (),
    )


def _find_content(invitation: Mapping[str, Any]) -> Mapping[str, Any] | None:
    edit = _as_object(invitation.get("edit"))
    inner = _as_object(_as_object(edit.get("invitation")).get("edit"))
    for holder in (edit.get("note"), inner.get("note"), invitation.get("reply")):
        content = _as_object(_as_object(holder).get("content"))
        if content:
            return content
    return None


def derive_form(invitation: bytes) -> ReviewForm | None:
    """Return the form of an invitation as received, or None if it contains none."""
    body = msgspec.json.decode(invitation)
    content = _find_content(body)
    if content is None:
        return None
    questions = (_read_question(name, entry) for name, entry in content.items() if isinstance(entry, dict))
    return ReviewForm(body["id"], {question.name: question for question in sorted(questions, key=lambda q: q.order)})


_MIN_ANSWERS = 8
"""Fewest answers from which the options of a field are inferred."""
_MAX_OPTIONS = 24
"""Most distinct answers of a field with options; the longest known scale has 10."""


@dataclass(slots=True)
class FieldAnswers:
    """Statistics of the answers to one field; only a few answers are stored.

    Attributes:
        distinct: Distinct texts and numbers, up to one more than `_MAX_OPTIONS`.
        is_written: Whether an answer is too long to be a chosen option.
    """

    count: int = 0
    lists: int = 0
    flags: int = 0
    leading_numbers: int = 0
    is_written: bool = False
    distinct: set[str] = field(default_factory=set)

    def add(self, answer: object) -> None:
        """Count one more answer."""
        self.count += 1
        self.lists += isinstance(answer, list)
        self.flags += isinstance(answer, bool)
        if isinstance(answer, bool) or not isinstance(answer, int | float | str):
            return
        text = str(answer)
        self.is_written = self.is_written or is_prose(text, UNASKED)
        if self.is_written:
            return
        self.leading_numbers += label_number(text) is not None
        if len(self.distinct) <= _MAX_OPTIONS:
            self.distinct.add(text)

    @property
    def higher_is_better(self) -> bool | None:
        """Return whether higher numbers among the answers seen are better; None if their labels do not show it."""
        if self.type is not FieldType.SCORE:
            return None
        labels = {number: option_words(text) for text in self.distinct if (number := label_number(text)) is not None}
        return directions.higher_is_better(labels, of_amount=False)

    @property
    def type(self) -> FieldType | None:
        """Return the type of the field, or None if there are too few answers to determine it."""
        if self.lists or self.flags:
            return FieldType.LIST if self.lists else FieldType.FLAG
        if self.is_written or len(self.distinct) > _MAX_OPTIONS:
            return FieldType.TEXT
        if self.count < _MIN_ANSWERS:
            return None
        if len(self.distinct) * 2 > self.count:
            return FieldType.TEXT
        if self.leading_numbers == self.count:
            return FieldType.SCORE
        return FieldType.FLAG if is_yes_or_no(self.distinct) else FieldType.CHOICE


def infer_form(venue_id: str, reviews: Iterable[Mapping[str, Any]]) -> ReviewForm:
    """Infer the form that a venue's reviews answer; from few reviews, only the names of its fields.

    Args:
        venue_id: The venue.
        reviews: The fields of each public review.
    """
    seen: dict[str, FieldAnswers] = {}
    for fields in reviews:
        for name, answer in fields.items():
            seen.setdefault(name, FieldAnswers()).add(answer)
    chosen = {FieldType.FLAG, FieldType.LIST, FieldType.CHOICE}
    return ReviewForm(
        f"inferred:{venue_id}",
        {
            name: Question(
                name,
                order,
                type=answers.type,
                is_choice=answers.type in chosen,
                higher_is_better=answers.higher_is_better,
            )
            for order, (name, answers) in enumerate(seen.items(), 1)
        },
    )
