"""Texts of `forms`: the list of review forms, one form field by field, and both as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.declared_forms import Evidence
from peercorpus.forms.form import Question
from peercorpus.forms.form_usage import FieldReading, FormUsage
from peercorpus.forms.venue_forms import FormOrigin, KnownForm, is_own_form
from peercorpus.records.enums import FieldType
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.untrusted_text import escape_controls
from peercorpus.workspace.workspace import OWN_VENUES

UNKNOWN = "-"
_FIELD_COLUMNS = 42
"""A longer field name gets a line of its own, so that the table fits into 100 columns."""
_ID_COLUMNS = 46
"""A longer form id gets a line of its own, for the same reason."""
MARKS = {
    Evidence.RECORD: "seen in recorded notes",
    Evidence.TABLE: "seen in a table made of real reviews",
    Evidence.LIVE_FORM: "copied from the live form",
    Evidence.CODE: "code or settings only",
    Evidence.REMEMBERED: "remembered only",
}
ORIGINS = {
    FormOrigin.INVITATION: "read from OpenReview's own invitation",
    FormOrigin.DECLARED: "declared",
    FormOrigin.INFERRED: "inferred from the reviews themselves; its scales are unknown",
}
OWN = f"declared in {OWN_VENUES} of the workspace"
COLUMNS = 100
LEGEND = f"""\
Known: R {MARKS[Evidence.RECORD]}; r {MARKS[Evidence.TABLE]};
D {MARKS[Evidence.LIVE_FORM]}; C {MARKS[Evidence.CODE]}; K {MARKS[Evidence.REMEMBERED]}. '{UNKNOWN}': unknown.
One form, field by field: peercorpus forms VENUE_ID"""


def scale(question: Question) -> str:
    """Return the numbers that a question offers, or how many answers in words; a dash if that is unknown.

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


def aspect_label(known_form: KnownForm, question: Question) -> str:
    """Return what a score or a passage is about; a dash for other fields."""
    slot = vocabulary.SINGLE_FIELDS.get(question.name.lower())
    if slot or question.type is FieldType.TEXT:
        return slot or known_form.form.section(question.name).value
    aspect = known_form.form.aspect(question.name) if question.type is FieldType.SCORE else None
    return aspect.value if aspect else UNKNOWN


def optional(question: Question) -> str:
    """Return "yes" if a field may stay empty, "no" if not, a dash if that is unknown."""
    return {True: "yes", False: "no", None: UNKNOWN}[question.is_optional]


def marks(known_form: KnownForm) -> str:
    """Return the evidence for a declared form, best first; a dash for other forms."""
    return " ".join(known_form.declared.evidence) if known_form.declared else UNKNOWN


def marks_by_field(known_form: KnownForm) -> dict[str, str]:
    """Return the evidence for each field of a declared form, followed by that for its answers if it differs."""
    marks_of_fields = {}
    for field in known_form.declared.fields if known_form.declared else ():
        answers = field.answers.evidence if field.answers else None
        marks_of_fields[field.name] = " ".join(dict.fromkeys(mark.value for mark in (field.evidence, answers) if mark))
    return marks_of_fields


def overall(known_form: KnownForm) -> str:
    """Return the scale of the recommendation, "none" if the form has none, a dash if that is unknown."""
    if known_form.recommendation:
        return scale(known_form.recommendation)
    return UNKNOWN if known_form.asks_rating is None else "none"


def forms_table(forms: Sequence[KnownForm]) -> str:
    """Return the forms, one line each followed by its venues, with a legend."""
    rows = [("form", "from", "known", "fields", "recommendation")]
    for known_form in forms:
        fields = str(len(known_form.form.questions)) if known_form.form.questions else UNKNOWN
        rows.append(
            (
                escape_controls(_name(known_form), 200),
                known_form.origin.value,
                marks(known_form),
                fields,
                overall(known_form),
            )
        )
    head, *lines = _align(rows, _ID_COLUMNS)
    blocks: list[str] = []
    for known_form, row in zip(forms, lines, strict=True):
        # A venue that the form's name contains is not listed again.
        others = (
            escape_controls(venue_id, 200) for venue_id in known_form.venue_ids if venue_id not in _name(known_form)
        )
        blocks += [row, *(f"    {line}" for line in _wrap(", ".join(others), COLUMNS - 4))]
    return "\n".join([head, *blocks, "", f"{plural(len(forms), 'form')}.", LEGEND])


def _name(known_form: KnownForm) -> str:
    return known_form.declared.id if known_form.declared else known_form.form.form_id


def _wrap(text: str, columns: int) -> list[str]:
    """Wrap a text; ids are never broken."""
    return wrap(text, columns, break_long_words=False, break_on_hyphens=False)


def _align(rows: Sequence[tuple[str, ...]], longest: int) -> Iterator[str]:
    """Yield rows in columns; a first cell longer than `longest` gets a line of its own."""
    widths = [max(len(cell) for cell in column if len(cell) <= longest) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = "  ".join(f"{cell:<{width}}" for cell, width in zip(others, widths[1:], strict=True))
        begin = f"{first}\n{'':<{widths[0]}}" if len(first) > longest else f"{first:<{widths[0]}}"
        yield f"{begin}  {cells}".rstrip()


def form(known_form: KnownForm, census: FormUsage | None) -> str:
    """Return one form, field by field in the form's order.

    Args:
        known_form: The form.
        census: How the reviews of a workspace answer it; None if no workspace is used.
    """
    by_field = marks_by_field(known_form)
    questions = known_form.form.questions.values()
    header = ("field", "type", "answers", "about", "optional", "known", "filled")
    rows = [header]
    for question in questions:
        filled = UNKNOWN
        if census and census.reviews:
            count = census.filled.get(question.name, 0)
            filled = f"{count:,} ({count / census.reviews:.0%})"
        kind = question.type.value if question.type else UNKNOWN
        cells = (
            kind,
            scale(question),
            aspect_label(known_form, question),
            optional(question),
            by_field.get(question.name, UNKNOWN),
        )
        rows.append((escape_controls(question.name), *cells, filled))
    left_out = {name for name, content in (("known", by_field), ("filled", census)) if not content}
    kept = [number for number, name in enumerate(header) if name not in left_out]
    shown = [tuple(row[number] for number in kept) for row in rows]
    fields = _align(shown, _FIELD_COLUMNS) if len(rows) > 1 else ["Its fields are unknown."]
    return "\n".join([*_head(known_form), "", *fields, *_usage_lines(known_form, census)])


def _head(known_form: KnownForm) -> Iterator[str]:
    record = known_form.declared
    yield escape_controls(known_form.form.form_id, 200)
    yield from _item("from", OWN if is_own_form(known_form.form.form_id) else ORIGINS[known_form.origin])
    if record is None:
        return
    yield from _item("known", "; ".join(f"{mark.value} {MARKS[mark]}" for mark in record.evidence))
    if not record.is_verified:
        yield from _item("caution", "it was never seen in real reviews: check it before you rely on it")
    yield from _item("venues", ", ".join(known_form.venue_ids) or "none named")
    for source in record.sources:
        yield from _item("source", source)
    if not record.is_ordered:
        yield from _item("order", "the order of the fields is not known")
    yield from _item("unknown", record.unknown)
    yield from _item("remark", record.remark)


def _item(head: str, text: str | None) -> Iterator[str]:
    """Yield one item of the head of a form, wrapped; nothing if the text is empty."""
    lines = enumerate(_wrap(text or "", COLUMNS - 12))
    yield from (f"  {head if not number else '':<8}  {line}" for number, line in lines)


def _usage_lines(known_form: KnownForm, census: FormUsage | None) -> Iterator[str]:
    if census is None:
        return
    yield from ("", f"{plural(census.reviews, 'review')} read with it.")
    others = {name: count for name, count in census.filled.items() if name not in known_form.form.questions}
    if others:
        yield f"Answered although the form does not have them: {field_counts(others)}."
    if census.unverified and known_form.declared and known_form.declared.is_verified:
        yield f"Fields, or their answers, known from code or memory only: {field_counts(census.unverified)}."
    if census.unoffered:
        yield f"Answered with something the form does not offer, and therefore null: {field_counts(census.unoffered)}."


def readings(compared: Sequence[FieldReading]) -> str:
    """Return how each field is read without the user's file and with it, each with the number of reviews."""
    rows = [("field", f"without {OWN_VENUES}", "with it")]
    rows += [
        (escape_controls(one.name), _counted(one.without), _counted(one.own))
        for one in compared
        if one.without != one.own
    ]
    if len(rows) == 1:
        return f"{OWN_VENUES} does not change how the public reviews here are read."
    same = len(compared) - len(rows) + 1
    lines = [f"How {OWN_VENUES} changes how public reviews are read:", "", *_align(rows, _FIELD_COLUMNS)]
    return "\n".join([*lines, *([f"{plural(same, 'other field')} read as before."] if same else [])])


def _counted(what: Mapping[str, int]) -> str:
    return "; ".join(f"{kind} ({number:,})" for kind, number in what.items()) or UNKNOWN


def field_counts(counts: Mapping[str, int]) -> str:
    """Return fields with the number of reviews of each."""
    return ", ".join(f"'{escape_controls(name)}' ({count:,})" for name, count in counts.items())


def form_to_dict(known_form: KnownForm, census: FormUsage | None = None) -> dict[str, Any]:
    """Return everything known about a form, for JSON; unknown values are null."""
    record = known_form.declared
    by_field = marks_by_field(known_form)
    return {
        "form_id": known_form.form.form_id,
        "from": known_form.origin.value,
        "is_own": is_own_form(known_form.form.form_id),
        "venue_ids": known_form.venue_ids,
        "evidence": [mark.value for mark in record.evidence] if record else None,
        "is_verified": record.is_verified if record else None,
        "sources": record.sources if record else [],
        "asks_rating": known_form.asks_rating,
        "is_ordered": record.is_ordered if record else True,
        "unknown": record.unknown if record else None,
        "remark": record.remark if record else None,
        "fields": [_field_json(known_form, question, by_field) for question in known_form.form.questions.values()],
        "census": msgspec.to_builtins(census),
    }


def _field_json(known_form: KnownForm, question: Question, by_field: dict[str, str]) -> dict[str, Any]:
    subject = aspect_label(known_form, question)
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


def forms_to_json(forms: Iterable[dict[str, Any]]) -> str:
    """Return forms as JSON."""
    return msgspec.json.format(msgspec.json.encode(forms)).decode()
