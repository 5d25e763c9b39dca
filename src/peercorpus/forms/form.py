"""Represent a review form and its questions, and read one answer as a `Score`.

`is_score` decides whether a field contains a score; `read_score` reads it. An answer that the form does not offer has
its verbatim label and no value. `find_contradiction` names an answer that the form cannot have offered.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from peercorpus.forms import directions, vocabulary
from peercorpus.forms.scales import (
    UnifiedScale,
    is_labelled_number,
    leading_number,
    option_words,
    read_number,
    unified_scale,
)
from peercorpus.records.enums import Aspect, FieldType, Phase, ScoreSource, SectionKind
from peercorpus.records.scores import Score
from peercorpus.venues.ai_reviews import holds_model_chat


@dataclass(frozen=True, slots=True)
class Question:
    """One field of a form.

    Attributes:
        labels: Label for each offered number; empty if the field offers no numbers.
        bounds: Lowest and highest number if the form names a range instead of single answers.
        is_choice: Whether the form offers answers to choose from.
        title: Heading above the field; None if it has none.
        description: Instructions to the reviewer; None if it has none.
        type: Type of the field; None if unknown.
        answers: The offered answers, verbatim and in order; for an integer with a label, the integer.
        texts: The text that the form shows for an answer that notes hold as a code ("wa": "Weak accept").
        is_optional: Whether the field may be left empty; None if unknown.
        readers: Who may read the answer; empty if everyone who may read the review.
        aspect: Subject of its score, if the form itself states it.
        section: Purpose of its text, if the form itself states it.
        higher_is_better: Whether a higher number, or a later answer in words, is better; if not given, according to the
            answers or otherwise the description; None if unknown.
        offered: The offered numbers, ascending.
        steps: The answers of a scale of words, in the form's order; empty if it offers numbers.
        unified: Position of each number on the unified scale, if they are an overall recommendation.
    """

    name: str
    order: int
    labels: Mapping[float, str] = field(default_factory=dict)
    bounds: tuple[float, float] | None = None
    is_choice: bool = False
    title: str | None = None
    description: str | None = None
    type: FieldType | None = None
    answers: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    is_optional: bool | None = None
    readers: tuple[str, ...] = ()
    aspect: Aspect | None = None
    section: SectionKind | None = None
    higher_is_better: bool | None = None
    offered: tuple[float, ...] = field(init=False)
    steps: tuple[str, ...] = field(init=False)
    unified: UnifiedScale = field(init=False)

    def __post_init__(self) -> None:
        """Sort the numbers and map them to the unified scale once, not for every score."""
        object.__setattr__(self, "offered", tuple(sorted(self.labels)))
        texts = (self.texts.get(answer, answer) for answer in self.answers)
        steps = () if self.has_scale or not self.is_choice else directions.list_steps(texts)
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "unified", unified_scale(self.labels) or UnifiedScale({}))
        if self.higher_is_better is None:
            object.__setattr__(self, "higher_is_better", self._read_direction())

    def _read_direction(self) -> bool | None:
        aspect = self.aspect or vocabulary.aspect_of_field(self.name)
        of_amount = aspect not in {None, Aspect.OTHER}
        words = {value: option_words(label) for value, label in self.labels.items()}
        labels = words or dict(enumerate(self.steps, 1))
        direction = directions.higher_is_better(labels, of_amount=of_amount)
        if direction is not None or not self.has_scale or not self.description:
            return direction
        return directions.described_direction(self.description, of_amount=of_amount)

    @property
    def has_scale(self) -> bool:
        """Return whether it is known which numbers are valid answers."""
        return bool(self.labels) or self.bounds is not None

    def offers(self, value: float) -> bool:
        """Return whether the form offers this number; False if its scale is unknown."""
        if self.labels:
            return value in self.labels
        return self.bounds is not None and self.bounds[0] <= value <= self.bounds[1]


UNASKED = Question("", 0)
"""Placeholder for a field that the form is not known to have."""


@dataclass(frozen=True, slots=True)
class ReviewForm:
    """The questions of one venue's review form, in their order.

    Attributes:
        form_id: The invitation it was read from, `declared:` and a record id, or `inferred:` and the venue id.
        aspects: Aspects of scores that the venue itself states, by field name in lower case.
        shows: Phase of the scores that the venue shows; `INITIAL` if it reverted its reviews to an earlier state.
        read: Cache of `find_score`: most reviews choose from the same few answers.
        copies: Cache of `copy_score`, by the identity of the score, which is stored with the result.
        lowered: The questions by name in lower case, in their order.
        places: Position of each question, from 0, by name in lower case.
        arranged: Cache of `arrange`: most reviews answer the same fields.
    """

    form_id: str
    questions: Mapping[str, Question]
    aspects: Mapping[str, Aspect] = field(default_factory=dict)
    shows: Phase = Phase.FINAL
    read: dict[object, Score | None] = field(init=False, default_factory=dict, repr=False, compare=False)
    copies: dict[tuple[int, Phase, ScoreSource], tuple[Score, Score]] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )

    arranged: dict[tuple[str, ...], tuple[str, ...]] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )
    lowered: Mapping[str, Question] = field(init=False, repr=False, compare=False)
    places: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the questions by lower-case name: notes write EMNLP's `Reasons_to_accept` in several ways."""
        object.__setattr__(self, "lowered", {name.lower(): question for name, question in self.questions.items()})
        object.__setattr__(self, "places", {name: position for position, name in enumerate(self.lowered)})

    def place(self, name: str) -> int:
        """Return the position of a question, from 0; a question that the form lacks comes after the last."""
        return self.places.get(name.lower(), len(self.places))

    def arrange(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return fields in the order of the form, with those that it lacks last."""
        known = self.arranged.get(names)
        if known is None:
            known = tuple(sorted(names, key=self.place))
            if len(self.arranged) < _MAX_CACHED_ANSWERS:
                self.arranged[names] = known
        return known

    def question(self, name: str) -> Question:
        """Return the question of this name, ignoring case, or `UNASKED` if there is none."""
        return self.questions.get(name) or self.lowered.get(name.lower(), UNASKED)

    def aspect(self, name: str) -> Aspect | None:
        """Return the aspect of a score in this field; None if no score is known by this name."""
        key = name.lower()
        aspect = self.aspects.get(key) or self.question(name).aspect or vocabulary.ASPECTS.get(key)
        if aspect is None and (named := vocabulary.phase_of_field(name)):
            aspect = self.aspects.get(named[0]) or self.question(named[0]).aspect
        return aspect or vocabulary.aspect_of_field(name)

    def unify(self, name: str, value: float | None) -> float | None:
        """Return the position of an overall recommendation on the unified scale; None for any other score."""
        if value is None or self.aspect(name) is not Aspect.RECOMMENDATION:
            return None
        return self.question(name).unified.unify(value)

    def section(self, name: str) -> SectionKind:
        """Return the purpose of a text in this field."""
        question = self.question(name)
        known = question.section or vocabulary.SECTIONS.get(name.lower())
        if known is None and holds_model_chat(name, question.title, question.description):
            return SectionKind.MODEL_CHAT
        return known or SectionKind.OTHER


ALWAYS_CHOSEN = frozenset({Aspect.RECOMMENDATION, Aspect.CONFIDENCE})
"""Subjects that no known form asks for in free text under the name of a score."""
_MAX_LABEL_CHARACTERS = 300
"""Length of the longest option text found in a form; a longer answer to an ambiguous field is prose."""
_MAX_CACHED_ANSWERS = 10_000
"""Size of the cache of one form; a form offers about a hundred answers."""


def is_prose(answer: str, question: Question) -> bool:
    """Return whether an answer is too long to be a chosen option and is not offered by the form."""
    return (len(answer) > _MAX_LABEL_CHARACTERS or "\n" in answer.strip()) and answer not in question.answers


def find_score(name: str, answer: object, form: ReviewForm) -> Score | None:
    """Return the score that a field contains, or None; short answers are cached in `form.read`."""
    if isinstance(answer, str):
        question = form.question(name)
        if question.type is FieldType.TEXT or is_prose(answer, question):
            return None
    key = (name, type(answer), answer) if isinstance(answer, str | int | float) else None
    if key in form.read:
        return form.read[key]
    score = read_score(answer, name, form) if is_score(name, answer, form) else None
    is_short = not isinstance(answer, str) or len(answer) <= _MAX_LABEL_CHARACTERS
    if key is not None and is_short and len(form.read) < _MAX_CACHED_ANSWERS:
        form.read[key] = score
    return score


def copy_score(score: Score, form: ReviewForm, phase: Phase, source: ScoreSource) -> Score:
    """Return a score as the one of another phase or source; cached, as copies are slow."""
    known = form.copies.get((id(score), phase, source))
    if known is not None:
        return known[1]
    copy = replace(score, phase=phase, source=source)
    if len(form.copies) < _MAX_CACHED_ANSWERS:
        form.copies[id(score), phase, source] = score, copy
    return copy


def _find_single_answer(answer: object, question: Question) -> int | float | str | None:
    if isinstance(answer, list) and len(answer) == 1 and question.type is not FieldType.LIST:
        answer = answer[0]
    return answer if isinstance(answer, int | float | str) and not isinstance(answer, bool) else None


def is_score(name: str, answer: object, form: ReviewForm) -> bool:
    """Return whether a field is a score: as the form states, or otherwise by name and answer together."""
    question = form.question(name)
    aspect = form.aspect(name)
    is_about_paper = name.lower() not in vocabulary.ADMINISTRATIVE and not vocabulary.is_personal(name)
    chosen = _find_single_answer(answer, question) if is_about_paper else None
    if chosen is None or (isinstance(chosen, str) and is_prose(chosen, question)):
        return False
    if question.type is FieldType.SCORE or question.has_scale:
        return True
    if isinstance(chosen, int | float) or aspect is None:
        return aspect is not None
    return question.is_choice or (question.type is None and _looks_chosen(name, chosen, aspect))


def _looks_chosen(name: str, answer: str, aspect: Aspect) -> bool:
    """Return whether an answer looks chosen: a rating or confidence, a number with its label, or at most two words."""
    is_always_chosen = aspect in ALWAYS_CHOSEN or name.startswith("review_assessment:")
    return is_always_chosen or is_labelled_number(answer) or len(answer.split()) <= 2


def read_score(answer: object, name: str, form: ReviewForm, source: ScoreSource = ScoreSource.NOTE) -> Score:
    """Read an answer such as `8`, `"8: accept, good paper"`, `"3 good"` or `["4 = Conference"]`.

    The value is None if the answer has no number or one that the form does not offer. The label stays verbatim; a bare
    number or another code takes the text of its option.
    """
    question = form.question(name)
    chosen = _find_single_answer(answer, question)
    labels = question.labels
    label = str(answer if chosen is None else chosen)
    offered = question.offered
    low, high = (offered[0], offered[-1]) if offered else question.bounds or (None, None)
    text = question.texts.get(label.strip())
    is_scale = question.type is FieldType.SCORE
    value = None if chosen is None else read_number(chosen, labels, high, is_scale=is_scale)
    value = read_number(text, labels, high) if value is None and text is not None else value
    if value is not None and (question.has_scale or question.answers) and not question.offers(value):
        value = None
    if value is not None and not isinstance(chosen, str):
        label = labels.get(value, label)
    label = text or label
    aspect = form.aspect(name)
    subject, named = (aspect and vocabulary.phase_of_field(name)) or (None, form.shows)
    is_first = source in {ScoreSource.EDIT, ScoreSource.SNAPSHOT}
    return Score(
        aspect=aspect or Aspect.OTHER,
        field=name,
        value=value,
        low=low,
        high=high,
        label=label,
        phase=Phase.INITIAL if is_first else named,
        source=source,
        offered=offered,
        unified=form.unify(name, value),
        higher_is_better=question.higher_is_better,
        rank=_find_rank(label, question.steps),
        answers=question.steps,
        subject=subject,
    )


def _find_rank(label: str, steps: Sequence[str]) -> int | None:
    wanted = label.strip().rstrip(".").casefold()
    return next((place for place, step in enumerate(steps, 1) if step.strip().rstrip(".").casefold() == wanted), None)


_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"a", "an", "the"})


def find_contradiction(name: str, answer: object, form: ReviewForm) -> str | None:
    """Return a description of the answer to a scored question if the form cannot have offered it; None if it can.

    Labels are compared without case, punctuation and articles, and one may be the beginning of the other, as datasets
    may shorten them.
    """
    question = form.question(name)
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return None
    is_scored = question.type is FieldType.SCORE or (question.type is None and question.has_scale)
    if not is_scored or not (question.has_scale or question.answers) or str(answer).strip() == "":
        return None
    if isinstance(answer, str) and (answer in question.answers or is_prose(answer, question)):
        return None
    value = read_number(answer, question.labels)
    if value is None:
        texts = [*question.answers, *question.labels.values()]
        return None if _is_like_one(str(answer), texts) else str(answer)
    if not question.offers(value):
        return str(answer)
    if not isinstance(answer, str) or value not in question.labels:
        return None
    words, own = option_words(answer), option_words(question.labels[value])
    return None if not words or not own or _are_alike(words, own) else answer


def _is_like_one(words: str, offered: list[str]) -> bool:
    """Return whether words match those of an offered answer, or the wording of the form's answers is unknown."""
    texts = [text for text in offered if leading_number(text) is None or option_words(text)]
    return not texts or any(_are_alike(words, option_words(text)) for text in texts)


def _are_alike(one: str, other: str) -> bool:
    first, second = (
        [word for word in _WORD.findall(text.casefold()) if word not in _ARTICLES] for text in (one, other)
    )
    length = min(len(first), len(second))
    return length > 0 and first[:length] == second[:length]
