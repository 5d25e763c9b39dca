"""How a venue's reviews answer its form: how often each field was filled, and what came that the form has not."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.known import KnownForm, Origin, known_form
from peercorpus.forms.numbers import leading_number
from peercorpus.forms.venue import VenueReader, read_venue
from peercorpus.kinds import Aspect
from peercorpus.tables import Tables
from peercorpus.workspace import Workspace

OF_SCORES = [f"scores.list.element.{name}" for name in ("aspect", "field", "value", "label")]
"""What is read of each score."""
SLOTS = ("title", "final_justification")


@dataclass(frozen=True, slots=True)
class Census:
    """How reviews answer a form.

    Attributes:
        form_id: The form.
        reviews: Those read with it, public and not deleted.
        asks_rating: Whether the form asks for an overall rating; None where that is not known.
        without_rating: Those of them with no overall rating that is a number.
        filled: How many of them answer each field, by the form's own name of it, of those that any answers.
        unknown: How many answer a field that the form does not have, by field, the most frequent first.
        drifting: How many answer at least one such field.
        unoffered: How many answer a scale with what it does not offer, by field: these scores are null.
        unverified: How many answer a field that, or whose answers, a declared form knows from code or memory only.
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


class _Count:
    """Counts the answers to one form, a review at a time."""

    def __init__(self, known: KnownForm) -> None:
        self.known = known
        self._form = form = known.form
        self._slots = {slot: _name_of(slot, form) for slot in SLOTS}
        self._filled: Counter[str] = Counter()
        self._unoffered: Counter[str] = Counter()
        self._reviews = self._without_rating = self._drifting = 0
        # An inferred form, made of what came, lacks nothing.
        self._asked = set[str]() if known.origin is Origin.INFERRED else set(form.questions)

    def add(self, row: Mapping[str, Any]) -> None:
        answered = {
            *(score["field"] for score in row["scores"]),
            *(section["field"] for section in row["sections"] if section["text"]),
            *(name for name, answer in json.loads(row["extra"]).items() if answer not in ("", [])),
            *(name for slot, name in self._slots.items() if row[slot]),
        }
        named = set(map(self._own_name, answered))
        unoffered = {self._own_name(score["field"]) for score in row["scores"] if self._is_unoffered(score)}
        self._reviews += 1
        self._without_rating += not any(map(_is_rating, row["scores"]))
        self._filled.update(named)
        self._drifting += bool(self._asked and named - self._asked)
        self._unoffered.update(unoffered)

    def _own_name(self, field: str) -> str:
        return self._form.question(field).name or field

    def _is_unoffered(self, score: Mapping[str, Any]) -> bool:
        question = self._form.question(score["field"])
        return score["value"] is None and question.has_scale and not _is_offered(score["label"], question.answers)

    def census(self) -> Census:
        filled = dict(self._filled.most_common())
        doubtful = self.known.declared.unverified_fields if self.known.declared else ()
        return Census(
            form_id=self._form.form_id,
            reviews=self._reviews,
            asks_rating=self.known.asks_rating,
            without_rating=self._without_rating,
            filled=filled,
            unknown={name: count for name, count in filled.items() if self._asked and name not in self._asked},
            drifting=self._drifting,
            unoffered=dict(self._unoffered.most_common()),
            unverified={name: count for name, count in filled.items() if name in doubtful},
        )


def _is_rating(score: Mapping[str, Any]) -> bool:
    return score["aspect"] == Aspect.RECOMMENDATION and score["value"] is not None


def _is_offered(label: str, answers: Sequence[str]) -> bool:
    """Whether an answer without a value is one of those offered; of one in words, no more than its head may be known.

    >>> _is_offered("N/A: Doesn't apply", ["N/A", "1: poor"]), _is_offered("7", ["N/A", "1: poor"])
    (True, False)
    """
    words = {_head(answer) for answer in answers if leading_number(answer) is None}
    return label in answers or _head(label) in words


def _head(answer: str) -> str:
    return answer.partition(":")[0].strip().rstrip(".").casefold()


def take_censuses(tables: Tables, reader: VenueReader) -> list[tuple[KnownForm, Census]]:
    """Each form that a venue's reviews in the table were read with, or would be, and how they answer it."""
    known = (known_form(form, reader.venue_id) for form in reader.forms)
    counts = {one.form.form_id: _Count(one) for one in known}
    columns = ["form_id", "readers_public", "deleted", "extra", "sections", *OF_SCORES, *SLOTS]
    for batch in tables.batches("2-reviews", reader.venue_id, columns):
        for row in batch.to_pylist():
            if row["readers_public"] and not row["deleted"]:
                form_id = row["form_id"]
                if form_id not in counts:
                    counts[form_id] = _Count(known_form(reader.form_named(form_id), reader.venue_id))
                counts[form_id].add(row)
    return [(count.known, count.census()) for count in counts.values()]


def read_censuses(workspace: Workspace, venue_id: str) -> list[tuple[KnownForm, Census]]:
    """The forms that a venue's reviews are read with, and how they answer them."""
    return take_censuses(workspace.tables, read_venue(workspace, venue_id))


def _name_of(slot: str, form: ReviewForm) -> str:
    """What the form calls the field that a column of its own holds."""
    return next((name for name in form.questions if vocabulary.SINGLE_FIELDS.get(name.lower()) == slot), slot)
