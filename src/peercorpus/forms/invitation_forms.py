"""Derive a review form from OpenReview's invitation, or infer one from the reviews.

`derive_form` reads invitations of either API. `infer_form` is the last resort, for venues whose invitation is not shown
and for which no form is declared.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import msgspec

from peercorpus.forms import directions, vocabulary
from peercorpus.forms.form import ALWAYS_CHOSEN, UNASKED, Question, ReviewForm, is_prose
from peercorpus.forms.scales import (
    LARGEST_STEP,
    asks_for_verdict,
    is_labelled_number,
    label_number,
    option_words,
    read_scale_options,
)
from peercorpus.records.enums import Aspect, FieldType

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
    key = next(
        (kind for kind in (*_SINGLE_CHOICE_KEYS, *_MULTIPLE_CHOICE_KEYS) if isinstance(param.get(kind), list)), None
    )
    is_many = key in _MULTIPLE_CHOICE_KEYS or str(param.get("type", "")).endswith("[]")
    return (None if key is None else param[key]), is_many


def _read_answers(options: Iterable[Any]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for option in options:
        value = option.get("value") if isinstance(option, dict) else option
        labels[str(value)] = str(option.get("description", value) if isinstance(option, dict) else option)
    return labels


def is_yes_or_no(answers: Iterable[str]) -> bool:
    """Return whether the answers are yes and no, or a single box to tick."""
    offered = {answer.lower().rstrip(".") for answer in answers}
    return len(offered) == 1 or offered <= {"yes", "no", "true", "false"}


def _read_question(name: str, stated: Mapping[str, Any]) -> Question:
    wrapped = stated.get("value")
    param = _as_object(wrapped.get("param")) if isinstance(wrapped, dict) else stated
    options, is_many = _read_options(param)
    answers = _read_answers(options or ())
    numbered = read_scale_options(answers)
    labels = {value: answers[answer] for value, answer in numbered.items()} or read_scale_options(answers.values())
    labels = {} if is_many else labels
    order = stated.get("order")
    readers = stated.get("readers")
    low, high = param.get("minimum"), param.get("maximum")
    bounds = (float(low), float(high)) if _is_number(low) and _is_number(high) else None
    kind = FieldType.SCORE if bounds else _API_2_TYPES.get(str(param.get("type")), FieldType.TEXT)
    if options is not None:
        if is_many:
            kind = FieldType.LIST
        elif len(labels) > 1 or asks_for_verdict(answers.values()) or vocabulary.aspect_of_field(name):
            kind = FieldType.SCORE
        else:
            kind = FieldType.FLAG if is_yes_or_no(answers) else FieldType.CHOICE
    # A field may be left empty on API v1 unless it is `required`, and on API v2 if it is `optional`.
    is_optional = stated.get("required") is not True if param is stated else param.get("optional") is True
    return Question(
        name=name,
        order=order if isinstance(order, int) else _LAST_POSITION,
        labels=labels,
        bounds=bounds,
        is_choice=options is not None,
        title=_as_text(param.get("fieldName")) or _as_text(stated.get("title")),
        description=_as_text(stated.get("description")),
        type=kind,
        answers=tuple(answers),
        texts={}
        if is_many
        else {value: text for value, text in answers.items() if text != value and " " not in value.strip()},
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
    body = _as_object(msgspec.json.decode(invitation))
    content = _find_content(body)
    if content is None or not isinstance(body.get("id"), str):
        return None
    questions = (_read_question(name, entry) for name, entry in content.items() if isinstance(entry, dict))
    in_order = _find_recommendation(sorted(questions, key=lambda question: question.order))
    return ReviewForm(body["id"], {question.name: question for question in in_order})


def _find_recommendation(questions: Sequence[Question]) -> Sequence[Question]:
    """Return the questions; without a named recommendation, the first that offers verdicts on the paper is one."""
    scores = [question for question in questions if question.type is FieldType.SCORE]
    known = {vocabulary.aspect_of_field(question.name): question for question in scores}
    first = next((question for question in scores if _offers_verdicts(question)), None)
    if Aspect.RECOMMENDATION in known or first is None:
        return questions
    return [replace(one, aspect=Aspect.RECOMMENDATION) if one is first else one for one in questions]


def _offers_verdicts(question: Question) -> bool:
    is_named = vocabulary.aspect_of_field(question.name) is not None
    return not is_named and asks_for_verdict(question.steps or question.labels.values())


_MIN_ANSWERS = 8
"""Fewest answers from which the options of a field without a score's name or numbers are inferred."""
_MAX_OPTIONS = 24
"""Most distinct answers of a field with options; the longest known scale has 10."""
_BARE_STEP = 10
"""Largest number without words that is a step of an unnamed scale, unless it is repeated."""
_MAX_WORDS = 3
"""Most words of an answer that need not be a sentence; our choice."""
_PROSE_SHARE = 0.25
"""Share of sentences from which a field is text, although its name may be a score's; our choice."""


@dataclass(slots=True)
class FieldAnswers:
    """Statistics of the answers to one field; only a few answers are stored.

    Attributes:
        name: The field.
        aspect: Subject of its score, if its name is known as a score's.
        written: Number of answers too long to be a chosen option.
        sentences: Number of others that have no number and more than a few words.
        numbered: Number of answers that begin with a number or end with it.
        labelled: Number of those that look like a step of a scale even on their own.
        distinct: Distinct texts and numbers, up to one more than `_MAX_OPTIONS`.
        wordings: Distinct words of each number.
    """

    name: str
    aspect: Aspect | None
    count: int = 0
    lists: int = 0
    flags: int = 0
    written: int = 0
    sentences: int = 0
    numbered: int = 0
    labelled: int = 0
    distinct: set[str] = field(default_factory=set)
    wordings: dict[float, set[str]] = field(default_factory=dict)

    def add(self, answer: object) -> None:
        """Count one more answer; an empty one counts as none."""
        if answer is None or (isinstance(answer, str) and not answer.strip()):
            return
        self.count += 1
        self.lists += isinstance(answer, list)
        self.flags += isinstance(answer, bool)
        if isinstance(answer, bool) or not isinstance(answer, int | float | str):
            return
        text = str(answer).strip()
        if is_prose(text, UNASKED):
            self.written += 1
            return
        number = label_number(text)
        self.sentences += number is None and len(text.split()) > _MAX_WORDS
        if len(self.distinct) <= _MAX_OPTIONS:
            self.distinct.add(text)
        if number is not None:
            self.numbered += 1
            self.labelled += is_labelled_number(text)
            if number in self.wordings or len(self.wordings) <= 2 * LARGEST_STEP:
                self.wordings.setdefault(number, set()).add(option_words(text).casefold().rstrip("."))

    @property
    def higher_is_better(self) -> bool | None:
        """Return whether higher numbers among the answers seen are better; None if their labels do not show it."""
        if self.type is not FieldType.SCORE:
            return None
        labels = {number: option_words(text) for text in self.distinct if (number := label_number(text)) is not None}
        return directions.higher_is_better(labels, of_amount=self.aspect not in {None, Aspect.OTHER})

    @property
    def type(self) -> FieldType | None:
        """Return the type of the field, or None if it depends on the single answer: too few show it."""
        if self.lists or self.flags:
            return FieldType.LIST if self.lists else FieldType.FLAG
        if self._is_scale:
            return FieldType.SCORE
        if self._is_prose:
            return FieldType.TEXT
        if self.count < _MIN_ANSWERS or not self._is_repeated:
            return None
        return FieldType.FLAG if is_yes_or_no(self.distinct) else FieldType.CHOICE

    @property
    def _is_repeated(self) -> bool:
        return len(self.distinct) <= _MAX_OPTIONS and len(self.distinct) * 2 <= self.count

    @property
    def _is_scale(self) -> bool:
        """Return whether the answers are numbers of a scale, with or without words.

        Under the name of a score, most answers must be such numbers; under any other name, all.
        """
        if self.aspect in ALWAYS_CHOSEN:
            return self.numbered * 2 > self.count
        if self.aspect is not None and self.labelled * 2 > self.count:
            return self._is_repeated or not self._has_two_wordings
        return self.numbered > 0 and self.numbered == self.count and self._is_unnamed_scale()

    def _is_unnamed_scale(self) -> bool:
        """Return whether numbers under an unknown name are a scale, and not amounts, years or beginnings of remarks."""
        words = {words for wordings in self.wordings.values() for words in wordings}
        is_section = self.name.lower() in vocabulary.SECTIONS or self.name.lower() in vocabulary.PROSE
        if vocabulary.is_count(self.name) or max(map(abs, self.wordings)) > LARGEST_STEP:
            return False
        if words == {""}:
            is_step = all(abs(number) <= _BARE_STEP and (number * 2).is_integer() for number in self.wordings)
            return self._is_repeated or (is_step and not is_section)
        shows_level = [directions.find_level(text, of_amount=True) is not None for text in words]
        if len(self.wordings) > _MAX_OPTIONS or (self.labelled < self.count and sum(shows_level) * 2 < len(words)):
            return False  # "2 typos", "3 figures".
        if self._is_repeated and self.count >= _MIN_ANSWERS:
            return True
        is_consistent = not self._has_two_wordings and min(len(self.wordings), len(words)) > 1
        is_stated = all(map(directions.is_level, words - {""})) or asks_for_verdict(words)
        return not is_section and (is_stated or (is_consistent and len(self.distinct) < self.labelled == self.count))

    @property
    def _has_two_wordings(self) -> bool:
        """Return whether a number stands before different words, as in remarks and numbered lists."""
        return any(len(words - {""}) > 1 for words in self.wordings.values())

    @property
    def _is_prose(self) -> bool:
        """Return whether the answers were written, not chosen; under a score's name, their majority or sentences."""
        if self.aspect in ALWAYS_CHOSEN:
            is_never_repeated = self.count >= _MIN_ANSWERS and len(self.distinct) >= min(self.count, _MAX_OPTIONS + 1)
            return self.written * 2 > self.count or (is_never_repeated and self.sentences * 2 > self.count)
        is_varied = self.count >= _MIN_ANSWERS and not self._is_repeated
        if self.aspect is not None:
            return self.written > 0 or (is_varied and self.sentences > self.count * _PROSE_SHARE)
        return self.written > 0 or len(self.distinct) > _MAX_OPTIONS or is_varied


def infer_form(
    venue_id: str, reviews: Iterable[Mapping[str, Any]], aspects: Mapping[str, Aspect] | None = None
) -> ReviewForm:
    """Infer the form that a venue's reviews answer; from few reviews, little but its fields and numbers."""
    seen: dict[str, FieldAnswers] = {}
    named = ReviewForm("", {}, aspects=aspects or {})
    for fields in reviews:
        for name, answer in fields.items():
            if name not in seen:
                seen[name] = FieldAnswers(name, named.aspect(name))
            seen[name].add(answer)
    return ReviewForm(
        f"inferred:{venue_id}",
        {name: _as_question(answers, order) for order, (name, answers) in enumerate(seen.items(), 1)},
    )


def _as_question(answers: FieldAnswers, order: int) -> Question:
    is_choice = answers.type in {FieldType.FLAG, FieldType.LIST, FieldType.CHOICE}
    rules = answers.aspect is None and answers.type is FieldType.CHOICE and asks_for_verdict(answers.distinct)
    return Question(
        answers.name,
        order,
        type=answers.type,
        is_choice=is_choice,
        aspect=Aspect.RECOMMENDATION if rules else None,
        higher_is_better=answers.higher_is_better,
    )
