"""One declared form: what a record may say of a review form, and what it may not."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.numbers import leading_number
from peercorpus.kinds import Aspect, FieldType, PostKind, SectionKind

Text = Annotated[str, msgspec.Meta(min_length=1)]
YEAR = "{year}"


class Evidence(StrEnum):
    """How something about a form is known, best first."""

    RECORD = "R"
    """Seen in recorded notes."""
    TABLE = "r"
    """Seen in a table that others made of real reviews: field and range are real, the raw answer was not seen."""
    LIVE_FORM = "D"
    """Copied from the live form by others."""
    CODE = "C"
    """Code or settings only."""
    REMEMBERED = "K"
    """General knowledge."""


UNVERIFIED = frozenset({Evidence.CODE, Evidence.REMEMBERED})
"""Evidence that must be reported wherever a form that rests on it is used."""


class Written(StrEnum):
    """How a note holds the answer to a score."""

    NUMBER = "number"
    """A JSON number; what it is called stands in the invitation alone."""
    COLON = "number: label"
    SPACE = "number label"
    EQUALS = "number = label"
    WORDS = "words"


_LOOKS = {
    Written.COLON: re.compile(r"\d+: \S.*"),
    Written.SPACE: re.compile(r"\d+ \w.*"),
    Written.EQUALS: re.compile(r"\d+(\.\d+)?( =.*| ?)"),
    Written.WORDS: re.compile(r"[^\d].*"),
}


class Answers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a field offers.

    Attributes:
        offered: The answers verbatim, in the form's order; numbers where what they are called is not known; empty
            where only the range is known.
        low: Lowest number; None where the answers are words.
        high: Highest number; None where the answers are words.
        evidence: How the answers are known; None where just as the field is.
        source: Where they were read; None where in the record's own sources.
    """

    offered: tuple[Text | float, ...] = ()
    low: float | None = None
    high: float | None = None
    evidence: Evidence | None = None
    source: Text | None = None

    @property
    def labels(self) -> dict[float, str]:
        """What each number is called; answers without a number are left out."""
        return {number: text for text in self._texts if (number := leading_number(text)) is not None}

    def held(self, written: Written | None) -> tuple[str, ...]:
        """What a note holds for each answer, in the form's order: the words where an answer has no number."""
        if written is not Written.NUMBER:
            return tuple(self._texts)
        numbers = ((text, leading_number(text)) for text in self._texts)
        return tuple(text if number is None else f"{number:g}" for text, number in numbers)

    @property
    def _texts(self) -> list[str]:
        return [answer if isinstance(answer, str) else f"{answer:g}" for answer in self.offered]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The range; None where the answers are words."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class DeclaredField(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One field of a form; None where a source does not say.

    Attributes:
        description: What the form tells the reviewer, without the answers it lists.
        written: How a note holds the answer; for scores alone.
        aspect: What a score is about, where the vocabulary does not know the name.
        section: What a text is for, where the vocabulary does not know the name.
        evidence: How the field is known; the record's best where the file names none.
    """

    name: Text
    type: FieldType
    title: Text | None = None
    description: Text | None = None
    answers: Answers | None = None
    written: Written | None = None
    optional: bool | None = None
    aspect: Aspect | None = None
    section: SectionKind | None = None
    evidence: Evidence | None = None


class DeclaredReply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another kind of reply at the same venue.

    Attributes:
        invitation: What stands behind the venue's id, `<N>` for a number.
        fields: Names of its fields, where known.
        answers: What a field offers, by field, verbatim.
        evidence: The record's best where the file names none.
    """

    kind: PostKind
    invitation: Text | None = None
    fields: tuple[Text, ...] = ()
    answers: Mapping[str, tuple[Text, ...]] = {}
    evidence: Evidence | None = None
    remark: Text | None = None


class DeclaredForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The review form of a venue, or of several; None where no source says.

    Attributes:
        venues: Ids of the venues; `{year}` stands for each of `years`, `*` for one element of the path.
        api: 1 or 2.
        invitation: The review invitation, behind the venue's id, `<N>` for a number.
        is_ordered: Whether the fields stand in the form's own order.
        evidence: How the record is known, best first.
        unknown: What no source says, in a sentence.
        is_unrated: Whether a source says that it asks for no overall rating; where none does, one may be unknown.
        remark: What else to know before using it.
        fields: Empty where nothing is known of the form.
        replies: What is known of the other replies at the venue.
    """

    id: Text
    venues: tuple[Text, ...] = ()
    years: tuple[int, ...] = ()
    api: Literal[1, 2] | None = None
    invitation: Text | None = None
    is_ordered: bool
    evidence: Annotated[tuple[Evidence, ...], msgspec.Meta(min_length=1)]
    sources: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
    unknown: Text | None = None
    is_unrated: bool = False
    remark: Text | None = None
    fields: tuple[DeclaredField, ...] = msgspec.field(default=(), name="field")
    replies: tuple[DeclaredReply, ...] = msgspec.field(default=(), name="reply")

    @property
    def is_verified(self) -> bool:
        """Whether anything of it was seen in real reviews or copied from the live form."""
        return not UNVERIFIED.issuperset(self.evidence)

    @property
    def unverified_fields(self) -> tuple[str, ...]:
        """The fields known from code or general knowledge only, or whose answers are."""
        return tuple(
            field.name
            for field in self.fields
            if {field.evidence, field.answers and field.answers.evidence} & UNVERIFIED
        )

    @property
    def venue_ids(self) -> tuple[str, ...]:
        """The venues, a year at a time; patterns keep their `*`."""
        return tuple(
            venue.replace(YEAR, str(year)) for venue in self.venues for year in (self.years if YEAR in venue else (0,))
        )


def read_form(raw: dict[str, Any], named: Mapping[str, Any], place: str) -> DeclaredForm:
    """One record, with the named answers in place and evidence on every field and reply.

    Args:
        raw: Its TOML table.
        named: Sets of answers that fields may name.
        place: Where it stands, for the message.

    Raises:
        ValueError: It says what it may not; the message begins with the place.
    """
    try:
        raw_fields = [_with_answers(entry, named) for entry in raw.get("field", [])]
        form = msgspec.convert(raw | {"field": raw_fields}, DeclaredForm)
    except (msgspec.ValidationError, LookupError) as error:
        raise ValueError(f"{place}: {error}.") from error
    if problems := [*_form_problems(form), *(problem for field in form.fields for problem in _field_problems(field))]:
        raise ValueError(f"{place}: {'; '.join(problems)}.")
    best = form.evidence[0]
    return msgspec.structs.replace(
        form,
        fields=tuple(msgspec.structs.replace(field, evidence=field.evidence or best) for field in form.fields),
        replies=tuple(msgspec.structs.replace(reply, evidence=reply.evidence or best) for reply in form.replies),
    )


def _with_answers(entry: dict[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    answers = entry.get("answers")
    if not isinstance(answers, str):
        return entry
    if answers not in named:
        raise LookupError(f"no answers are called '{answers}'")
    return entry | {"answers": named[answers]}


def _form_problems(form: DeclaredForm) -> Iterator[str]:
    names = [field.name.lower() for field in form.fields]
    if len(set(names)) < len(names):
        yield "a field stands twice"
    if not form.fields and form.unknown is None:
        yield "it has no field and does not say what is unknown"
    if any(YEAR in venue for venue in form.venues) != bool(form.years):
        yield "years and '{year}' go together"
    if any("/-/" in venue or venue.strip("/ ") != venue for venue in form.venues):
        yield "that is not the id of a group"
    if list(form.evidence) != sorted(set(form.evidence), key=list(Evidence).index):
        yield "evidence goes best first"
    if form.is_unrated:
        rated = (field.name for field in form.fields if _aspect(field) is Aspect.RECOMMENDATION)
        yield from (f"it asks for no overall rating and has '{name}'" for name in rated)
    for reply in form.replies:
        if stray := set(reply.answers) - set(reply.fields):
            yield f"'{reply.kind}' offers answers to '{min(stray)}', which is none of its fields"


def _aspect(field: DeclaredField) -> Aspect | None:
    if field.type is not FieldType.SCORE:
        return None
    return field.aspect or vocabulary.ASPECTS.get(field.name.lower())


def _field_problems(field: DeclaredField) -> Iterator[str]:
    is_score, is_text = field.type is FieldType.SCORE, field.type is FieldType.TEXT
    if (field.written or field.aspect) and not is_score:
        yield f"'{field.name}' is no score"
    if field.section and not is_text:
        yield f"'{field.name}' is no text"
    if field.answers and is_text:
        yield f"'{field.name}' is a text and offers answers"
    if is_score and _aspect(field) is None:
        yield f"'{field.name}' is a score, and neither it nor the vocabulary says of what"
    if field.answers and is_score:
        yield from (f"'{field.name}' {problem}" for problem in _scale_problems(field.answers, field.written))


def _scale_problems(answers: Answers, written: Written | None) -> Iterator[str]:
    numbers, bounds = answers.labels, answers.bounds
    if (answers.low is None) != (answers.high is None) or (numbers and bounds is None):
        yield "does not say both ends of its scale"
    if not answers.offered and bounds is None:
        yield "offers nothing"
    if numbers and bounds and (min(numbers), max(numbers)) != bounds:
        yield f"offers {min(numbers):g} to {max(numbers):g} on a scale from {bounds[0]:g} to {bounds[1]:g}"
    texts = [answer for answer in answers.offered if isinstance(answer, str)]
    numbered = [text for text in texts if leading_number(text) is not None]
    if len(numbers) != len(answers.offered) - len(texts) + len(numbered):
        yield "offers a number twice"
    look = _LOOKS.get(written) if written else None
    if look and not all(look.fullmatch(text) for text in (texts if written is Written.WORDS else numbered)):
        yield f"offers an answer that is not written as '{written}'"
