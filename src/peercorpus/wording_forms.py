"""What `peercorpus forms` says: the forms that are known, or one of them field by field, as tables or as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.census import Census
from peercorpus.forms.declared import Evidence
from peercorpus.forms.form import Question
from peercorpus.forms.known import KnownForm, Origin
from peercorpus.kinds import FieldType
from peercorpus.wording import plural, printable

UNKNOWN = "-"
LONGEST_FIELD = 42
"""A longer name has a line of its own, so that a table fits into 100 columns."""

LONGEST_ID = 46
MARKS = {
    Evidence.RECORD: "seen in recorded notes",
    Evidence.TABLE: "seen in a table made of real reviews",
    Evidence.LIVE_FORM: "copied from the live form",
    Evidence.CODE: "code or settings only",
    Evidence.REMEMBERED: "remembered only",
}
ORIGINS = {
    Origin.INVITATION: "read from OpenReview's own invitation",
    Origin.DECLARED: "declared",
    Origin.INFERRED: "inferred from the reviews themselves; its scales are not known",
}
COLUMNS = 100
LEGEND = f"""\
Known: R {MARKS[Evidence.RECORD]}; r {MARKS[Evidence.TABLE]};
D {MARKS[Evidence.LIVE_FORM]}; C {MARKS[Evidence.CODE]}; K {MARKS[Evidence.REMEMBERED]}. '{UNKNOWN}' is not known.
One form, field by field: peercorpus forms VENUE_ID"""


def scale(question: Question) -> str:
    """The numbers that a question offers, or how many answers in words; a dash where that is not known.

    >>> scale(Question("rating", 1, {1.0: "1", 3.0: "3", 6.0: "6"})), scale(Question("rating", 1, bounds=(1.0, 5.0)))
    ('1, 3, 6', '1 to 5')
    """
    numbers = sorted(question.labels) or list(question.bounds or ())
    if len(numbers) < 2:
        return plural(len(question.answers), "answer") if question.answers else UNKNOWN
    steps = {after - before for before, after in pairwise(numbers)}
    if question.bounds or (len(steps) == 1 and len(numbers) > 2):
        step = 1.0 if question.bounds else steps.pop()
        return f"{numbers[0]:g} to {numbers[-1]:g}" + ("" if step == 1 else f" by {step:g}")
    return ", ".join(f"{number:g}" for number in numbers)


def about(known: KnownForm, question: Question) -> str:
    """What a score or a passage is about; a dash for what is neither."""
    slot = vocabulary.SINGLE_FIELDS.get(question.name.lower())
    if slot or question.type is FieldType.TEXT:
        return slot or known.form.section(question.name).value
    aspect = known.form.aspect(question.name) if question.type is FieldType.SCORE else None
    return aspect.value if aspect else UNKNOWN


def optional(question: Question) -> str:
    """Whether a field may stay empty."""
    return {True: "yes", False: "no", None: UNKNOWN}[question.is_optional]


def marks(known: KnownForm) -> str:
    """How a declared form is known, best first."""
    return " ".join(known.declared.evidence) if known.declared else UNKNOWN


def marks_by_field(known: KnownForm) -> dict[str, str]:
    """How each field of a declared form is known, and its answers where that is worse."""
    found = {}
    for field in known.declared.fields if known.declared else ():
        answers = field.answers.evidence if field.answers else None
        found[field.name] = " ".join(dict.fromkeys(mark.value for mark in (field.evidence, answers) if mark))
    return found


def overall(known: KnownForm) -> str:
    """The scale of the recommendation; a dash where it is not known whether there is one."""
    if known.recommendation:
        return scale(known.recommendation)
    return UNKNOWN if known.asks_rating is None else "none"


def table(forms: Sequence[KnownForm]) -> str:
    """The forms, a line each with the venues they serve below, and what the words mean."""
    rows = [("form", "from", "known", "fields", "recommendation")]
    for known in forms:
        fields = str(len(known.form.questions)) if known.form.questions else UNKNOWN
        rows.append((printable(_name(known), 200), known.origin.value, marks(known), fields, overall(known)))
    head, *lines = _aligned(rows, LONGEST_ID)
    told = (line for known, line in zip(forms, lines, strict=True) for line in (line, *_served(known)))
    return "\n".join([head, *told, "", f"{plural(len(forms), 'form')}.", LEGEND])


def _name(known: KnownForm) -> str:
    return known.declared.id if known.declared else known.form.form_id


def _served(known: KnownForm) -> list[str]:
    """The venues of a form, unless its name tells them."""
    venues = ", ".join(printable(venue_id, 200) for venue_id in known.venue_ids if venue_id not in _name(known))
    return [f"    {line}" for line in _wrapped(venues, COLUMNS - 4)]


def _wrapped(text: str, columns: int) -> list[str]:
    """A text on as many lines as it takes; an id is never broken."""
    return wrap(text, columns, break_long_words=False, break_on_hyphens=False)


def _aligned(rows: Sequence[tuple[str, ...]], longest: int) -> Iterator[str]:
    """Rows in columns; a first cell that is too long has a line of its own."""
    widths = [max(len(cell) for cell in column if len(cell) <= longest) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        rest = "  ".join(f"{cell:<{width}}" for cell, width in zip(others, widths[1:], strict=True))
        begin = f"{first}\n{'':<{widths[0]}}" if len(first) > longest else f"{first:<{widths[0]}}"
        yield f"{begin}  {rest}".rstrip()


def form(known: KnownForm, census: Census | None) -> str:
    """One form, field by field in its order.

    Args:
        known: The form.
        census: How the reviews of a workspace answer it; None where no workspace is asked.
    """
    by_field, questions = marks_by_field(known), known.form.questions.values()
    header = ("field", "type", "answers", "about", "optional", "known", "filled")
    rows = [header]
    for question in questions:
        filled = _share(census.filled.get(question.name, 0), census.reviews) if census else UNKNOWN
        kind = question.type.value if question.type else UNKNOWN
        told = (kind, scale(question), about(known, question), optional(question), by_field.get(question.name, UNKNOWN))
        rows.append((printable(question.name), *told, filled))
    left_out = {name for name, is_told in (("known", by_field), ("filled", census)) if not is_told}
    kept = [number for number, name in enumerate(header) if name not in left_out]
    shown = [tuple(row[number] for number in kept) for row in rows]
    fields = _aligned(shown, LONGEST_FIELD) if len(rows) > 1 else ["No field of it is known."]
    return "\n".join([*_head(known), "", *fields, *_counted(known, census)])


def _share(count: int, of: int) -> str:
    return f"{count:,} ({count / of:.0%})" if of else UNKNOWN


def _head(known: KnownForm) -> Iterator[str]:
    record = known.declared
    yield printable(known.form.form_id, 200)
    yield from _said("from", ORIGINS[known.origin])
    if record is None:
        return
    yield from _said("known", "; ".join(f"{mark.value} {MARKS[mark]}" for mark in record.evidence))
    if not record.is_verified:
        yield from _said("caution", "nothing of it was seen in real reviews: check it before you rely on it")
    yield from _said("venues", ", ".join(known.venue_ids) or "none named")
    for source in record.sources:
        yield from _said("source", source)
    if not record.is_ordered:
        yield from _said("order", "the fields may stand in another order in the form")
    yield from _said("unknown", record.unknown)
    yield from _said("remark", record.remark)


def _said(head: str, text: str | None) -> Iterator[str]:
    """One thing said of a form, on as many lines as it takes."""
    lines = enumerate(_wrapped(text or "", COLUMNS - 12))
    yield from (f"  {head if not number else '':<8}  {line}" for number, line in lines)


def _counted(known: KnownForm, census: Census | None) -> Iterator[str]:
    if census is None:
        return
    yield from ("", f"{plural(census.reviews, 'review')} read with it.")
    others = {name: count for name, count in census.filled.items() if name not in known.form.questions}
    if others:
        yield f"Answered, though the form does not have them: {named(others)}."
    if census.unverified and known.declared and known.declared.is_verified:
        yield f"Known, or their answers, from code or memory only: {named(census.unverified)}."
    if census.unoffered:
        yield f"Answered with what the form does not offer, and so null: {named(census.unoffered)}."


def named(counts: Mapping[str, int]) -> str:
    """Fields, and how many reviews each is counted in."""
    return ", ".join(f"'{printable(name)}' ({count:,})" for name, count in counts.items())


def as_json(known: KnownForm, census: Census | None = None) -> dict[str, Any]:
    """All that is known of a form, for programs; what is not known is null."""
    record, by_field = known.declared, marks_by_field(known)
    return {
        "form_id": known.form.form_id,
        "from": known.origin.value,
        "venue_ids": known.venue_ids,
        "evidence": [mark.value for mark in record.evidence] if record else None,
        "is_verified": record.is_verified if record else None,
        "sources": record.sources if record else [],
        "asks_rating": known.asks_rating,
        "is_ordered": record.is_ordered if record else True,
        "unknown": record.unknown if record else None,
        "remark": record.remark if record else None,
        "fields": [_field_json(known, question, by_field) for question in known.form.questions.values()],
        "census": msgspec.to_builtins(census),
    }


def _field_json(known: KnownForm, question: Question, by_field: dict[str, str]) -> dict[str, Any]:
    subject = about(known, question)
    return {
        "name": question.name,
        "title": question.title,
        "description": question.description,
        "type": question.type,
        "answers": question.answers,
        "numbers": [{"value": value, "label": label} for value, label in sorted(question.labels.items())],
        "bounds": question.bounds,
        "about": None if subject == UNKNOWN else subject,
        "is_optional": question.is_optional,
        "readers": question.readers,
        "evidence": by_field[question.name].split() if question.name in by_field else None,
    }


def json_text(found: Iterable[dict[str, Any]]) -> str:
    """Forms as JSON."""
    return msgspec.json.format(msgspec.json.encode(found)).decode()
