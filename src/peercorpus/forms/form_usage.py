"""Count how often reviews answer each field of their form, and which answers the form does not offer."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.scales import label_number
from peercorpus.forms.venue_forms import FormOrigin, KnownForm, VenueReader, is_own_form, known_form, read_venue
from peercorpus.records.enums import Aspect
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.workspace import Workspace

_SCORE_COLUMNS = [f"scores.list.element.{name}" for name in ("aspect", "field", "value", "label")]
"""Columns that are read of each score."""
SLOTS = ("title", "final_justification")


@dataclass(frozen=True, slots=True)
class FormUsage:
    """How the public, undeleted reviews read with a form answer it; all counts are numbers of reviews.

    Attributes:
        reviews: All reviews read with the form.
        asks_rating: Whether the form asks for an overall rating; None if unknown.
        without_rating: Reviews whose overall rating is missing or not a number.
        filled: Reviews that answer each field, by the form's own name for it; most frequent first, no zeros.
        unknown: Reviews that answer a field that the form lacks, by field; most frequent first.
        drifting: Reviews that answer at least one field that the form lacks.
        unoffered: Reviews that answer a scale with a value it does not offer, by field; these scores are null.
        unverified: Reviews that answer a field known, or with answers known, only from code or memory in a declared
            form.
        contradicting: Reviews from published records that contradict the declared form and are read without it.
    """

    form_id: str
    reviews: int
    asks_rating: bool | None
    without_rating: int
    filled: Mapping[str, int]
    unknown: Mapping[str, int]
    drifting: int
    unoffered: Mapping[str, int]
    unverified: Mapping[str, int]
    contradicting: int = 0


class _Count:
    """Counter of the answers to one form, updated review by review."""

    def __init__(self, known: KnownForm) -> None:
        self.known = known
        self._form = form = known.form
        self._slots = {slot: _find_field_name(slot, form) for slot in SLOTS}
        self._filled: Counter[str] = Counter()
        self._unoffered: Counter[str] = Counter()
        self._reviews = self._without_rating = self._drifting = self._contradicting = 0
        # An inferred form is made from the answers themselves, so it lacks none of their fields.
        self._asked = set[str]() if known.origin is FormOrigin.INFERRED else set(form.questions)

    def add(self, row: Mapping[str, Any]) -> None:
        answered = {
            *(score["field"] for score in row["scores"]),
            *(section["field"] for section in row["sections"] if section["text"]),
            *(name for name, answer in json.loads(row["extra"]).items() if answer not in ("", [])),
            *(name for slot, name in self._slots.items() if row[slot]),
        }
        named = set(map(self._find_own_name, answered))
        unoffered = {self._find_own_name(score["field"]) for score in row["scores"] if self._is_unoffered(score)}
        self._reviews += 1
        self._contradicting += row["form_conflict"] is not None
        self._without_rating += not any(
            score["aspect"] == Aspect.RECOMMENDATION and score["value"] is not None for score in row["scores"]
        )
        self._filled.update(sorted(named))  # Equally frequent ones are listed in the order of their first answers.
        self._drifting += bool(self._asked and named - self._asked)
        self._unoffered.update(sorted(unoffered))

    def _find_own_name(self, field: str) -> str:
        return self._form.question(field).name or field

    def _is_unoffered(self, score: Mapping[str, Any]) -> bool:
        question = self._form.question(score["field"])
        return score["value"] is None and question.has_scale and not _is_offered(score["label"], question.answers)

    def census(self) -> FormUsage:
        filled = dict(self._filled.most_common())
        doubtful = self.known.declared.unverified_fields if self.known.declared else ()
        return FormUsage(
            form_id=self._form.form_id,
            reviews=self._reviews,
            asks_rating=self.known.asks_rating,
            without_rating=self._without_rating,
            filled=filled,
            unknown={name: count for name, count in filled.items() if self._asked and name not in self._asked},
            drifting=self._drifting,
            unoffered=dict(self._unoffered.most_common()),
            unverified={name: count for name, count in filled.items() if name in doubtful},
            contradicting=self._contradicting,
        )


def _is_offered(label: str, answers: Sequence[str]) -> bool:
    """Return whether an answer without a value is one of those offered; words need only match up to a colon.

    >>> _is_offered("N/A: Doesn't apply", ["N/A", "1: poor"]), _is_offered("7", ["N/A", "1: poor"])
    (True, False)
    """
    words = {_cut_label(answer) for answer in answers if label_number(answer) is None}
    return label in answers or _cut_label(label) in words


def _cut_label(answer: str) -> str:
    return answer.partition(":")[0].strip().rstrip(".").casefold()


def take_censuses(tables: Tables, reader: VenueReader) -> list[tuple[KnownForm, FormUsage]]:
    """Return the usage of each form with which the reviews in the table were read, or would be if there were any."""
    described = (known_form(form, reader.venue_id, reader.declared) for form in reader.forms)
    counts = {entry.form.form_id: _Count(entry) for entry in described}
    plain = ["form_id", "form_conflict", "readers_public", "deleted", "extra", "sections"]
    columns, names = [*plain, *_SCORE_COLUMNS, *SLOTS], [*plain, "scores", *SLOTS]
    for values in tables.rows("2-reviews", reader.venue_id, columns):
        row = dict(zip(names, values, strict=True))
        if row["readers_public"] and not row["deleted"]:
            form_id = row["form_id"]
            if form_id not in counts:
                counts[form_id] = _Count(known_form(reader.form_named(form_id), reader.venue_id, reader.declared))
            counts[form_id].add(row)
    return [(count.known, count.census()) for count in counts.values()]


def read_censuses(workspace: Workspace, venue_id: str) -> list[tuple[KnownForm, FormUsage]]:
    """Return the forms with which a venue's reviews are read, and how the reviews answer them."""
    return take_censuses(workspace.tables, read_venue(workspace, venue_id))


def read_own_usage(workspace: Workspace, venue_id: str) -> list[tuple[KnownForm, FormUsage]]:
    """Return the forms of the user's file with which a venue's built reviews are read, and how these answer them."""
    if venue_id not in workspace.tables.venues("2-reviews"):
        return []
    return [(known, usage) for known, usage in read_censuses(workspace, venue_id) if is_own_form(usage.form_id)]


def _find_field_name(slot: str, form: ReviewForm) -> str:
    """Return the form's name for a field that has its own column, such as the title."""
    return next((name for name in form.questions if vocabulary.SINGLE_FIELDS.get(name.lower()) == slot), slot)
