"""How a venue's reviews answer its form: how often each field was filled, and what came that the form has not."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.known import Origin, origin_of
from peercorpus.forms.normalise import read_venue
from peercorpus.tables import Tables
from peercorpus.workspace import Workspace

FIELDS_OF_SCORES = "scores.list.element.field"
"""Of all scores, only what their fields are called is read."""
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
    """

    form_id: str
    reviews: int
    filled: Mapping[str, int]
    unknown: Mapping[str, int]
    drifting: int


def take_census(tables: Tables, venue_id: str, form: ReviewForm) -> Census:
    """Count the answers in the table of reviews; an inferred form, made of what came, lacks nothing."""
    counts: Counter[str] = Counter()
    reviews = drifting = 0
    asked = set[str]() if origin_of(form) is Origin.INFERRED else form.questions.keys()
    for answered in _answered(tables, venue_id, form):
        reviews += 1
        counts.update(answered)
        drifting += bool(asked and answered - asked)
    unknown = {name: count for name, count in counts.most_common() if asked and name not in asked}
    return Census(form.form_id, reviews, dict(counts.most_common()), unknown, drifting)


def read_census(workspace: Workspace, venue_id: str) -> Census:
    """How a venue's reviews answer the form they are read with."""
    return take_census(workspace.tables, venue_id, read_venue(workspace, venue_id).form)


def _answered(tables: Tables, venue_id: str, form: ReviewForm) -> Iterator[set[str]]:
    """What each review answers, by the form's own names."""
    slots = {slot: _name_of(slot, form) for slot in SLOTS}
    columns = ["form_id", "readers_public", "deleted", "extra", "sections", FIELDS_OF_SCORES, *SLOTS]
    for batch in tables.batches("2-reviews", venue_id, columns):
        for row in batch.to_pylist():
            if row["form_id"] == form.form_id and row["readers_public"] and not row["deleted"]:
                yield {
                    *(score["field"] for score in row["scores"]),
                    *(section["field"] for section in row["sections"] if section["text"]),
                    *(name for name, answer in json.loads(row["extra"]).items() if answer not in ("", [])),
                    *(name for slot, name in slots.items() if row[slot]),
                }


def _name_of(slot: str, form: ReviewForm) -> str:
    """What the form calls the field that a column of its own holds."""
    return next((name for name in form.questions if vocabulary.SINGLE_FIELDS.get(name.lower()) == slot), slot)
