"""A review form, read from OpenReview's own invitation.

API v1 keeps it in `reply.content`; API v2 in `edit.note.content`, or one level deeper in the venue's invitation that
makes one invitation per paper (`edit.invitation.edit.note.content`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.form import Question, ReviewForm
from peercorpus.forms.numbers import read_options
from peercorpus.kinds import FieldType

OFFERED_ONE = ("enum", "value-radio", "value-dropdown", "value-checkbox")
OFFERED_MANY = ("items", "values-checkbox", "values-dropdown")
TYPES = {"boolean": FieldType.FLAG, "integer": None, "float": None, "number": None, "file": None}
"""API v2's types that are no text; a number without a scale may be anything."""
LAST = 1_000
"""The place of a field whose order is not stated."""


def _object(found: Any) -> Mapping[str, Any]:  # noqa: ANN401 -- any JSON
    return found if isinstance(found, dict) else {}


def _text(found: Any) -> str | None:  # noqa: ANN401 -- any JSON
    return found if isinstance(found, str) and found else None


def _is_number(found: object) -> TypeGuard[int | float]:
    return isinstance(found, int | float) and not isinstance(found, bool)


def _options(param: Mapping[str, Any]) -> tuple[Sequence[Any] | None, bool]:
    """The options as the invitation writes them, None where it offers none; and whether several may be chosen."""
    found = next((kind for kind in (*OFFERED_ONE, *OFFERED_MANY) if isinstance(param.get(kind), list)), None)
    is_many = found in OFFERED_MANY or str(param.get("type", "")).endswith("[]")
    return (None if found is None else param[found]), is_many


def _answers(options: Iterable[Any]) -> dict[str, str]:
    """What a note holds for each option, and what the option is called."""
    found: dict[str, str] = {}
    for option in options:
        value = option.get("value") if isinstance(option, dict) else option
        found[str(value)] = str(option.get("description", value) if isinstance(option, dict) else option)
    return found


def _type_of_choice(name: str, answers: Iterable[str], labels: Mapping[float, str]) -> FieldType:
    if len(labels) > 1 or name.lower() in vocabulary.ASPECTS:
        return FieldType.SCORE
    return FieldType.FLAG if is_yes_or_no(answers) else FieldType.CHOICE


def is_yes_or_no(answers: Iterable[str]) -> bool:
    """Whether the answers offered are yes and no, or one box to tick."""
    offered = {answer.lower().rstrip(".") for answer in answers}
    return len(offered) == 1 or offered <= {"yes", "no", "true", "false"}


def _bounds(param: Mapping[str, Any]) -> tuple[float, float] | None:
    low, high = param.get("minimum"), param.get("maximum")
    if _is_number(low) and _is_number(high):
        return float(low), float(high)
    return None


def _is_optional(asked: Mapping[str, Any], param: Mapping[str, Any]) -> bool:
    """API v1 asks for what is `required`, API v2 for all that is not `optional`."""
    return param.get("optional") is True if param is not asked else asked.get("required") is not True


def _question(name: str, asked: Mapping[str, Any]) -> Question:
    wrapped = asked.get("value")
    param = _object(wrapped.get("param")) if isinstance(wrapped, dict) else asked
    options, is_many = _options(param)
    answers = _answers(options or ())
    labels = {} if is_many else {value: answers[answer] for value, answer in read_options(answers).items()}
    order, readers, bounds = asked.get("order"), asked.get("readers"), _bounds(param)
    kind = FieldType.SCORE if bounds else TYPES.get(str(param.get("type")), FieldType.TEXT)
    if options is not None:
        kind = FieldType.LIST if is_many else _type_of_choice(name, answers, labels)
    return Question(
        name,
        order if isinstance(order, int) else LAST,
        labels,
        bounds,
        is_choice=options is not None,
        title=_text(param.get("fieldName")) or _text(asked.get("title")),
        description=_text(asked.get("description")),
        type=kind,
        answers=tuple(answers),
        is_optional=_is_optional(asked, param),
        readers=tuple(map(str, readers)) if isinstance(readers, list) else (),
    )


def _asked(invitation: Mapping[str, Any]) -> Mapping[str, Any] | None:
    edit = _object(invitation.get("edit"))
    inner = _object(_object(edit.get("invitation")).get("edit"))
    for holder in (edit.get("note"), inner.get("note"), invitation.get("reply")):
        content = _object(_object(holder).get("content"))
        if content:
            return content
    return None


def derive_form(invitation: bytes) -> ReviewForm | None:
    """The form of an invitation as received; None where it carries none."""
    found = msgspec.json.decode(invitation)
    asked = _asked(found)
    if asked is None:
        return None
    questions = (_question(name, entry) for name, entry in asked.items() if isinstance(entry, dict))
    return ReviewForm(found["id"], {question.name: question for question in sorted(questions, key=lambda q: q.order)})
