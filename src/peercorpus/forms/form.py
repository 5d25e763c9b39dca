"""A review form: its questions in their order, what may be answered, and what each answer is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from peercorpus.forms import vocabulary
from peercorpus.forms.unified import UnifiedScale, unified_scale
from peercorpus.kinds import Aspect, FieldType, Phase, SectionKind
from peercorpus.records import Score


@dataclass(frozen=True, slots=True)
class Question:
    """One field of a form.

    Attributes:
        labels: What each offered number is called; empty where the field offers no numbers.
        bounds: Lowest and highest number where the form names a range and no single answers.
        is_choice: Whether the form offers answers to choose from.
        title: The heading above the field, where it has one.
        description: What the reviewer is told of it.
        type: What it asks for; None where that is not known.
        answers: The answers offered, verbatim and in their order; of an integer with a label, the integer.
        is_optional: Whether it may stay empty; None where that is not known.
        readers: Who may read the answer, where not everyone who may read the review.
        aspect: What its score is about, where the form says so itself.
        section: What its passage is for, where the form says so itself.
        offered: The numbers offered, ascending.
        unified: Where each of them lies on the unified scale, if they are an overall recommendation.
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
    is_optional: bool | None = None
    readers: tuple[str, ...] = ()
    aspect: Aspect | None = None
    section: SectionKind | None = None
    offered: tuple[float, ...] = field(init=False)
    unified: UnifiedScale = field(init=False)

    def __post_init__(self) -> None:
        """Sort and place the numbers once, for every score."""
        object.__setattr__(self, "offered", tuple(sorted(self.labels)))
        object.__setattr__(self, "unified", unified_scale(self.labels) or UnifiedScale({}))

    @property
    def has_scale(self) -> bool:
        """Whether it is known which numbers may be answered."""
        return bool(self.labels) or self.bounds is not None

    def offers(self, value: float) -> bool:
        """Whether the form offers this number; false where its scale is not known."""
        if self.labels:
            return value in self.labels
        return self.bounds is not None and self.bounds[0] <= value <= self.bounds[1]


UNASKED = Question("", 0)
"""Stands for a field the form is not known to have."""


@dataclass(frozen=True, slots=True)
class ReviewForm:
    """The questions of one venue's review form, in their order.

    Attributes:
        form_id: The invitation it was read from, `declared:` and its record, or `inferred:` and the venue.
        aspects: What the venue itself says some scores are about, by field in lower case.
        shows: When the scores held that the venue shows: at first, where it put its reviews back to how they stood.
        lowered: The questions by name in lower case, in their order; `places`, which of them each is.
        read: Answers read so far, as `forms/scores.py` keeps them: the same few are chosen in every review.
    """

    form_id: str
    questions: Mapping[str, Question]
    aspects: Mapping[str, Aspect] = field(default_factory=dict)
    shows: Phase = Phase.FINAL
    read: dict[object, Score | None] = field(init=False, default_factory=dict, repr=False, compare=False)

    lowered: Mapping[str, Question] = field(init=False, repr=False, compare=False)
    places: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the questions in lower case, once: notes write EMNLP's `Reasons_to_accept` in several ways."""
        object.__setattr__(self, "lowered", {name.lower(): asked for name, asked in self.questions.items()})
        object.__setattr__(self, "places", {name: place for place, name in enumerate(self.lowered)})

    def place(self, name: str) -> int:
        """Which question of the form this is, from 0; behind the last where the form does not have it."""
        return self.places.get(name.lower(), len(self.places))

    def question(self, name: str) -> Question:
        """The question of this name, in whatever case, or one that nothing is known of."""
        return self.questions.get(name) or self.lowered.get(name.lower(), UNASKED)

    def aspect(self, name: str) -> Aspect | None:
        """What a score under this name would be about; None where the name is none of a score."""
        key = name.lower()
        return self.aspects.get(key) or self.question(name).aspect or vocabulary.ASPECTS.get(key)

    def unify(self, name: str, value: float | None) -> float | None:
        """The place of an overall recommendation on the unified scale; None for any other score."""
        if value is None or self.aspect(name) is not Aspect.RECOMMENDATION:
            return None
        return self.question(name).unified.unify(value)

    def section(self, name: str) -> SectionKind:
        """What a passage under this name is for."""
        return self.question(name).section or vocabulary.SECTIONS.get(name.lower(), SectionKind.OTHER)
