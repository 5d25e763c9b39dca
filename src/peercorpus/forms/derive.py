"""A review form, read from OpenReview's own invitation.

API v1 keeps it in `reply.content`; API v2 in `edit.note.content`, or one level deeper in the venue's invitation that
makes one invitation per paper (`edit.invitation.edit.note.content`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.kinds import Aspect

LEADING_NUMBER = re.compile(r"\s*\(?(-?\d+(?:\.\d+)?)\)?(?=$|[\s:=)\u2013\u2014-])")
"""`8`, `8: accept`, `3 good`, `4.5 = Borderline Award`, `(3) Strong accept`; not `3rd`, `5/10` or `2.5x`."""


@dataclass(frozen=True, slots=True)
class Question:
    """One field of a form.

    Attributes:
        labels: What each offered number is called; empty where the field offers no numbers.
        bounds: Lowest and highest number where the form names a range and no single answers.
        is_choice: Whether the form offers answers to choose from.
    """

    name: str
    order: int
    labels: Mapping[float, str] = field(default_factory=dict)
    bounds: tuple[float, float] | None = None
    is_choice: bool = False


@dataclass(frozen=True, slots=True)
class ReviewForm:
    """The questions of one venue's review form, in their order.

    Attributes:
        form_id: The invitation it was read from, or `inferred:<venue_id>`.
        aspects: What the venue itself says some scores are about, by field in lower case.
    """

    form_id: str
    questions: Mapping[str, Question]
    aspects: Mapping[str, Aspect] = field(default_factory=dict)

    def aspect(self, name: str) -> Aspect | None:
        """What a score under this name would be about; None where the name is none of a score."""
        return self.aspects.get(name.lower()) or vocabulary.ASPECTS.get(name.lower())


def leading_number(label: str) -> float | None:
    """The number an answer begins with; None where none leads.

    >>> leading_number("10: strong accept"), leading_number("3 good"), leading_number("Not applicable")
    (10.0, 3.0, None)
    """
    match = LEADING_NUMBER.match(label)
    return float(match[1]) if match else None


def _offered(options: Iterable[Any]) -> dict[float, str]:
    labels: dict[float, str] = {}
    for option in options:
        value = option.get("value") if isinstance(option, dict) else option
        text = option.get("description", value) if isinstance(option, dict) else option
        number = float(value) if isinstance(value, int | float) else leading_number(str(value))
        if number is not None:
            labels[number] = str(text)
    return labels


def _object(found: Any) -> Mapping[str, Any]:  # noqa: ANN401 -- any JSON
    return found if isinstance(found, dict) else {}


def _question(name: str, asked: Mapping[str, Any]) -> Question:
    wrapped = asked.get("value")
    param = _object(wrapped.get("param")) if isinstance(wrapped, dict) else asked
    names = ("enum", "items", "value-radio", "value-dropdown", "values-checkbox", "value-checkbox", "values-dropdown")
    options = next((param[kind] for kind in names if isinstance(param.get(kind), list)), None)
    order = asked.get("order")
    return Question(
        name,
        order if isinstance(order, int) else 1_000,
        _offered(options or ()),
        _bounds(param),
        is_choice=options is not None,
    )


def _bounds(param: Mapping[str, Any]) -> tuple[float, float] | None:
    low, high = param.get("minimum"), param.get("maximum")
    if isinstance(low, int | float) and isinstance(high, int | float):
        return float(low), float(high)
    return None


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
