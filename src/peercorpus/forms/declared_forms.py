"""Read and validate the review forms declared in `declared/*.toml`.

A declared form is used if OpenReview's own invitation cannot be read. Each record names its sources and states how
every field is known (`Evidence`). `declared_form` finds the record of a venue; `as_review_form` turns it into the
`ReviewForm` with which reviews are read.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any, Literal

import msgspec

from peercorpus.errors import VenuesFileError
from peercorpus.execution.stage import digest_of_data
from peercorpus.forms import vocabulary
from peercorpus.forms.form import Question, ReviewForm
from peercorpus.forms.scales import label_number
from peercorpus.records.enums import Aspect, FieldType, PostKind, SectionKind
from peercorpus.venues.own_venues import OwnVenue
from peercorpus.workspace.workspace import OWN_VENUES

ANSWERS = "answers.toml"
"""File with named sets of answers that several fields offer; every other file contains records."""
_FOLDER = files("peercorpus.forms") / "declared"

Text = Annotated[str, msgspec.Meta(min_length=1)]
YEAR = "{year}"
"""Placeholder for each of a record's `years` in its venue ids."""


class Evidence(StrEnum):
    """Evidence for a fact about a form, best first."""

    RECORD = "R"
    """Seen in recorded notes."""
    TABLE = "r"
    """Seen in a third-party table of real reviews: field and range are real, raw answers were not seen."""
    LIVE_FORM = "D"
    """Copied by a third party from the live form."""
    CODE = "C"
    """Seen only in code or settings."""
    REMEMBERED = "K"
    """General knowledge."""


UNVERIFIED = frozenset({Evidence.CODE, Evidence.REMEMBERED})
"""Evidence too weak to be used silently: every use of a form based on it is reported."""


class AnswerFormat(StrEnum):
    """Format in which a note writes the answer to a score."""

    NUMBER = "number"
    """A JSON number, whose label is only in the invitation."""
    COLON = "number: label"
    SPACE = "number label"
    EQUALS = "number = label"
    WORDS = "words"


_ANSWER_PATTERNS = {
    AnswerFormat.COLON: re.compile(r"\d+: \S.*"),
    AnswerFormat.SPACE: re.compile(r"\d+ \w.*"),
    AnswerFormat.EQUALS: re.compile(r"\d+(\.\d+)?( =.*| ?)"),
    AnswerFormat.WORDS: re.compile(r"[^\d].*"),
}


class OfferedAnswers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The answers that a field offers.

    Attributes:
        offered: Verbatim, in the form's order; plain numbers if their labels are unknown; empty if only the range is
            known.
        low: Lowest number; None if the answers are words.
        high: Highest number; None if the answers are words.
        higher_is_better: Whether a higher number, or a later answer in words, is better, if the answers themselves do
            not show it; None if no source states it.
        evidence: Evidence for the answers; None if it is the same as for the field.
        source: Source of the answers; None if it is among the record's own sources.
    """

    offered: tuple[Text | float, ...] = ()
    low: float | None = None
    high: float | None = None
    higher_is_better: bool | None = None
    evidence: Evidence | None = None
    source: Text | None = None

    @property
    def labels(self) -> dict[float, str]:
        """Return the label of each number, without answers that have no number."""
        return {number: text for text in self._texts if (number := label_number(text)) is not None}

    def as_in_notes(self, written: AnswerFormat | None) -> tuple[str, ...]:
        """Return the content of a note for each answer, in the form's order; words for answers without a number."""
        if written is not AnswerFormat.NUMBER:
            return tuple(self._texts)
        numbers = ((text, label_number(text)) for text in self._texts)
        return tuple(text if number is None else f"{number:g}" for text, number in numbers)

    @property
    def _texts(self) -> list[str]:
        return [answer if isinstance(answer, str) else f"{answer:g}" for answer in self.offered]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return the lowest and highest number, or None if the answers are words."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class DeclaredField(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One field of a form; attributes are None if no source states them.

    Attributes:
        description: The form's instructions to the reviewer, without the listed answers.
        written: Format of the answer in a note; only for scores.
        aspect: Subject of a score, if the vocabulary does not know the field's name.
        section: Purpose of a text, if the vocabulary does not know the field's name.
        evidence: Evidence for the field; the record's best evidence if the file names none.
    """

    name: Text
    type: FieldType
    title: Text | None = None
    description: Text | None = None
    answers: OfferedAnswers | None = None
    written: AnswerFormat | None = None
    optional: bool | None = None
    aspect: Aspect | None = None
    section: SectionKind | None = None
    evidence: Evidence | None = None


class DeclaredReply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another kind of reply at the same venue.

    Attributes:
        invitation: Its invitation id without the venue's id; `<N>` is a number.
        fields: Names of its known fields.
        answers: The answers that each field offers, verbatim, by field.
        evidence: The record's best evidence if the file names none.
    """

    kind: PostKind
    invitation: Text | None = None
    fields: tuple[Text, ...] = ()
    answers: Mapping[str, tuple[Text, ...]] = {}
    evidence: Evidence | None = None
    remark: Text | None = None


class DeclaredForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The review form of one or more venues; attributes are None if no source states them.

    Attributes:
        venues: Ids of the venues; `{year}` stands for each of `years`, `*` for one element of the path.
        api: 1 or 2.
        invitation: Id of the review invitation without the venue's id; `<N>` is a number.
        is_ordered: Whether `fields` is in the form's own order.
        evidence: Evidence for the record, best first.
        unknown: Parts that no source states, in one sentence.
        is_unrated: Whether a source states that the form has no overall rating; if False, one may still be unknown.
        remark: Further information for use of the record.
        fields: Empty if nothing is known of the form.
        replies: The other kinds of reply at the venue, if known.
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
        """Return whether any part was seen in real reviews or copied from a live form."""
        return not UNVERIFIED.issuperset(self.evidence)

    @property
    def unverified_fields(self) -> tuple[str, ...]:
        """Return the fields known, or with answers known, only from code or general knowledge."""
        return tuple(
            field.name
            for field in self.fields
            if {field.evidence, field.answers and field.answers.evidence} & UNVERIFIED
        )

    @property
    def venue_ids(self) -> tuple[str, ...]:
        """Return the ids of `venues` with `{year}` filled in; patterns keep their `*`."""
        return tuple(
            venue.replace(YEAR, str(year)) for venue in self.venues for year in (self.years if YEAR in venue else (0,))
        )


def read_form(raw: dict[str, Any], named_answers: Mapping[str, Any], location: str) -> DeclaredForm:
    """Return one record, with named answers filled in and evidence on every field; a ValueError names `location`."""
    try:
        listed = raw.get("field", [])
        fields = [_fill_in_answers(entry, named_answers) for entry in listed] if isinstance(listed, list) else listed
        form = msgspec.convert(raw | {"field": fields}, DeclaredForm)
    except (msgspec.ValidationError, LookupError) as error:
        raise ValueError(f"{location}: {error}.") from error
    problems = [*_find_form_problems(form)]
    for field in form.fields:
        problems += _find_field_problems(field)
    if problems:
        raise ValueError(f"{location}: {'; '.join(problems)}.")
    best = form.evidence[0]
    return msgspec.structs.replace(
        form,
        fields=tuple(msgspec.structs.replace(field, evidence=field.evidence or best) for field in form.fields),
        replies=tuple(msgspec.structs.replace(reply, evidence=reply.evidence or best) for reply in form.replies),
    )


def _fill_in_answers(entry: object, named_answers: Mapping[str, Any]) -> object:
    answers = entry.get("answers") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(answers, str):
        return entry
    if answers not in named_answers:
        raise LookupError(f"unknown set of answers '{answers}'; expected one of {', '.join(named_answers)}")
    return entry | {"answers": named_answers[answers]}


def _find_form_problems(form: DeclaredForm) -> Iterator[str]:
    names = [field.name.lower() for field in form.fields]
    if len(set(names)) < len(names):
        yield "two fields have the same name"
    if not form.fields and form.unknown is None:
        yield "without fields it must state what is 'unknown'"
    if any(YEAR in venue for venue in form.venues) != bool(form.years):
        yield "'years' and '{year}' in a venue must be given together; add the missing one, or omit both"
    if any("/-/" in venue or venue.strip("/ ") != venue for venue in form.venues):
        yield "a venue must be the id of a group, not of an invitation, without slashes at its ends"
    if list(form.evidence) != sorted(set(form.evidence), key=list(Evidence).index):
        yield "evidence must be listed once each, best first"
    if form.is_unrated:
        rated = (field.name for field in form.fields if _find_aspect(field) is Aspect.RECOMMENDATION)
        yield from (f"'is_unrated' rules out an overall rating, but '{name}' is one" for name in rated)
    for reply in form.replies:
        if stray := set(reply.answers) - set(reply.fields):
            yield f"'{reply.kind}' offers answers to '{min(stray)}', which is not among its fields"


def _find_aspect(field: DeclaredField) -> Aspect | None:
    if field.type is not FieldType.SCORE:
        return None
    return field.aspect or vocabulary.ASPECTS.get(field.name.lower())


def _find_field_problems(field: DeclaredField) -> Iterator[str]:
    is_score = field.type is FieldType.SCORE
    is_text = field.type is FieldType.TEXT
    if (field.written or field.aspect) and not is_score:
        yield f"'{field.name}' has 'written' or 'aspect', which only scores have"
    if field.section and not is_text:
        yield f"'{field.name}' has 'section', which only texts have"
    if field.answers and is_text:
        yield f"'{field.name}' is a text, which cannot offer answers"
    if is_score and _find_aspect(field) is None:
        yield f"'{field.name}' is a score without an 'aspect', and the vocabulary does not know the name"
    if field.answers and is_score:
        yield from (f"'{field.name}' {problem}" for problem in _find_scale_problems(field.answers, field.written))


def _find_scale_problems(answers: OfferedAnswers, written: AnswerFormat | None) -> Iterator[str]:
    numbers = answers.labels
    bounds = answers.bounds
    if (answers.low is None) != (answers.high is None) or (numbers and bounds is None):
        yield "must state both ends of its scale, 'low' and 'high'"
    if not answers.offered and bounds is None:
        yield "must offer answers or a scale"
    if numbers and bounds and (min(numbers), max(numbers)) != bounds:
        yield f"offers {min(numbers):g} to {max(numbers):g} on a scale from {bounds[0]:g} to {bounds[1]:g}"
    texts = [answer for answer in answers.offered if isinstance(answer, str)]
    numbered = [text for text in texts if label_number(text) is not None]
    if len(numbers) != len(answers.offered) - len(texts) + len(numbered):
        yield "offers a number twice"
    pattern = _ANSWER_PATTERNS.get(written) if written else None
    if pattern and not all(pattern.fullmatch(text) for text in (texts if written is AnswerFormat.WORDS else numbered)):
        yield f"offers an answer that is not written as '{written}'"


def read_forms(folder: Traversable) -> tuple[DeclaredForm, ...]:
    """Return the records of every file of a folder; raises ValueError if one is invalid, or two claim a venue or id."""
    named_answers = _named_answers(folder)
    forms: list[DeclaredForm] = []
    claimed: dict[str, str] = {}
    for file in _list_record_files(folder):
        for raw in _read_tables(file):
            form = read_form(raw, named_answers, f"{file.name}: form '{raw.get('id')}'")
            for claim in (f"the id '{form.id}'", *(f"the venue '{venue}'" for venue in form.venue_ids)):
                if claim in claimed:
                    raise ValueError(f"{file.name}: form '{form.id}': {claim} also belongs to '{claimed[claim]}'.")
                claimed[claim] = form.id
            forms.append(form)
    return tuple(forms)


def _named_answers(folder: Traversable) -> Mapping[str, Any]:
    return tomllib.loads((folder / ANSWERS).read_text(encoding="utf-8"))


def _list_record_files(folder: Traversable) -> list[Traversable]:
    record_files = (file for file in folder.iterdir() if file.name.endswith(".toml") and file.name != ANSWERS)
    return sorted(record_files, key=lambda file: file.name)


def _read_tables(file: Traversable) -> list[dict[str, Any]]:
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file.name}: {error}.") from error
    if set(tables) != {"form"} or not isinstance(tables["form"], list):
        raise ValueError(f"{file.name}: expected a list of tables 'form' and nothing else.")
    return tables["form"]


@cache
def declared_forms() -> tuple[DeclaredForm, ...]:
    """Return every record of this package, including those without fields."""
    return read_forms(_FOLDER)


def declared_form(venue_id: str) -> DeclaredForm | None:
    """Return the form declared for a venue, by its id or otherwise the narrowest pattern; None if no field is known."""
    forms = _index_by_venue()
    matching = [pattern for pattern in forms if _matches(pattern, venue_id)]
    form = forms[min(matching, key=lambda pattern: pattern.count("*"))] if matching else None
    return form if form and form.fields else None


@cache
def _index_by_venue() -> dict[str, DeclaredForm]:
    return {venue: form for form in declared_forms() for venue in form.venue_ids}


def _matches(pattern: str, venue_id: str) -> bool:
    expected = pattern.split("/")
    parts = venue_id.split("/")
    return len(expected) == len(parts) and all(e in {"*", part} for e, part in zip(expected, parts, strict=True))


def read_own_form(own: OwnVenue, path: str) -> DeclaredForm | None:
    """Return the form that a user's row declares, or None; raises VenuesFileError if it is not valid.

    The form may name the package's sets of answers; its sources are those of the row if it names none.
    """
    if own.form is None:
        return None
    given = {"sources": [own.source], "is_ordered": False}
    raw = given | dict(own.form) | {"id": f"{OWN_VENUES}:{own.id}", "venues": [own.id]}
    place = f"'{path}', venue '{own.id}'"
    if stray := sorted(own.form.keys() & {"id", "venues", "years"}):
        raise VenuesFileError(f"{place}, unknown key 'form.{stray[0]}': the row itself names its venue; omit the key.")
    try:
        return read_form(raw, _named_answers(_FOLDER), "form")
    except ValueError as error:
        raise VenuesFileError(f"{place}, {_say_key(str(error))}") from None


_CHOICES: Mapping[str, list[str]] = {
    "type": [*FieldType],
    "aspect": [*Aspect],
    "section": [*SectionKind],
    "written": [*AnswerFormat],
    "evidence": [*Evidence],
    "kind": [*PostKind],
}
"""Values to choose from, by the last key."""


def _say_key(problem: str) -> str:
    at = re.search(r" - at `\$\.?(.*)`", problem)
    said = problem.replace(at[0], "") if at else problem
    last = re.sub(r"\[.*?\]", "", at[1]).rpartition(".")[2] if at else ""
    if "Invalid enum value" in said and last in _CHOICES:
        said = f"{said.removesuffix('.')}; expected one of {', '.join(_CHOICES[last])}."
    return f"key '{'.'.join(filter(None, ('form', at[1] if at else '')))}': {said.removeprefix('form: ')}"


def as_review_form(declared: DeclaredForm) -> ReviewForm:
    """Return a record as the form with which reviews are read."""
    questions = {field.name: _as_question(field, order) for order, field in enumerate(declared.fields, start=1)}
    return ReviewForm(f"declared:{declared.id}", questions)


def _as_question(field: DeclaredField, order: int) -> Question:
    answers = field.answers or OfferedAnswers()
    is_score = field.type is FieldType.SCORE
    return Question(
        field.name,
        order,
        labels=answers.labels if is_score else {},
        bounds=answers.bounds if is_score and not answers.labels else None,
        is_choice=field.type is not FieldType.TEXT,
        title=field.title,
        description=field.description,
        type=field.type,
        answers=answers.as_in_notes(field.written),
        is_optional=field.optional,
        aspect=field.aspect,
        higher_is_better=answers.higher_is_better if is_score else None,
        section=field.section,
    )


@cache
def digest() -> str:
    """Return the digest of all declared forms, part of the content keys of the tables that depend on them."""
    texts = (file.read_text(encoding="utf-8") for file in (*_list_record_files(_FOLDER), _FOLDER / ANSWERS))
    return digest_of_data([*map(tomllib.loads, texts)])
