"""How a venue's reviews answer its form: how often each field was filled, and what came that the form has not."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.known import KnownForm, Origin, known_form, origin_named
from peercorpus.forms.venue import VenueReader, read_venue
from peercorpus.tables import Tables
from peercorpus.workspace import Workspace

OF_SCORES = [f"scores.list.element.{name}" for name in ("field", "value", "label")]
"""What is read of each score."""
SLOTS = ("title", "final_justification")


@dataclass(frozen=True, slots=True)
class Census:
    """How reviews answer a form.

    Attributes:
        form_id: The form.
        reviews: Those read with it, public and not deleted.
        filled: How many of them answer each field, of those that any answers.
        unknown: How many answer a field that the form does not have, by field, the most frequent first.
        drifting: How many answer at least one such field.
        unoffered: How many answer a scale with what it does not offer, by field: these scores are null.
    """

    form_id: str
    reviews: int
    filled: Mapping[str, int]
    unknown: Mapping[str, int]
    drifting: int
    unoffered: Mapping[str, int]


class _Count:
    """Counts the answers to one form, a review at a time."""

    def __init__(self, form: ReviewForm) -> None:
        self.form = form
        self._slots = {slot: _name_of(slot, form) for slot in SLOTS}
        self._filled: Counter[str] = Counter()
        self._unoffered: Counter[str] = Counter()
        self._reviews = self._drifting = 0
        # An inferred form, made of what came, lacks nothing.
        self._asked = set[str]() if origin_named(form.form_id) is Origin.INFERRED else set(form.questions)

    def add(self, row: Mapping[str, Any]) -> None:
        answered = {
            *(score["field"] for score in row["scores"]),
            *(section["field"] for section in row["sections"] if section["text"]),
            *(name for name, answer in json.loads(row["extra"]).items() if answer not in ("", [])),
            *(name for slot, name in self._slots.items() if row[slot]),
        }
        self._reviews += 1
        self._filled.update(answered)
        self._drifting += bool(self._asked and answered - self._asked)
        self._unoffered.update({score["field"] for score in row["scores"] if self._is_unoffered(score)})

    def _is_unoffered(self, score: Mapping[str, Any]) -> bool:
        question = self.form.question(score["field"])
        return score["value"] is None and question.has_scale and score["label"] not in question.answers

    def census(self) -> Census:
        filled = dict(self._filled.most_common())
        unknown = {name: count for name, count in filled.items() if self._asked and name not in self._asked}
        unoffered = dict(self._unoffered.most_common())
        return Census(self.form.form_id, self._reviews, filled, unknown, self._drifting, unoffered)


def take_censuses(tables: Tables, reader: VenueReader) -> list[tuple[KnownForm, Census]]:
    """Each form that a venue's reviews in the table were read with, or would be, and how they answer it."""
    counts = {form.form_id: _Count(form) for form in reader.forms}
    columns = ["form_id", "readers_public", "deleted", "extra", "sections", *OF_SCORES, *SLOTS]
    for batch in tables.batches("2-reviews", reader.venue_id, columns):
        for row in batch.to_pylist():
            if row["readers_public"] and not row["deleted"]:
                form_id = row["form_id"]
                if form_id not in counts:
                    counts[form_id] = _Count(reader.form_named(form_id))
                counts[form_id].add(row)
    return [(known_form(count.form, reader.venue_id), count.census()) for count in counts.values()]


def read_censuses(workspace: Workspace, venue_id: str) -> list[tuple[KnownForm, Census]]:
    """The forms that a venue's reviews are read with, and how they answer them."""
    return take_censuses(workspace.tables, read_venue(workspace, venue_id))


def _name_of(slot: str, form: ReviewForm) -> str:
    """What the form calls the field that a column of its own holds."""
    return next((name for name in form.questions if vocabulary.SINGLE_FIELDS.get(name.lower()) == slot), slot)
