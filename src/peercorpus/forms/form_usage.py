"""Count how reviews answer their form, and compare how they are read with the user's `venues.toml` and without it.

Both readings are made afresh from the public reviews stored as notes in the workspace, whether or not they are built.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.reply_kinds import find_reply_kind
from peercorpus.forms.reviews import ParsedReview, read_fields
from peercorpus.forms.scales import label_number
from peercorpus.forms.venue_forms import FormOrigin, KnownForm, VenueReader, is_own_form, known_form, read_venue
from peercorpus.openreview.objects import Note, read_stored_note
from peercorpus.records.enums import Aspect, PostKind
from peercorpus.venues.own_venues import own_venue
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.raw_store import RawKind
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
    def __init__(self, known: KnownForm) -> None:
        self.known = known
        self._form = form = known.form
        self._slots = {
            slot: next((name for name in form.questions if vocabulary.SINGLE_FIELDS.get(name.lower()) == slot), slot)
            for slot in SLOTS
        }
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


NOT_READ = "neither a score nor a text"
"""Reading of a field that goes to the column `extra` of a review."""
NO_REVIEW = "not read as a review"
"""Reading of all fields of a note whose invitation is not known to be that of a review."""


@dataclass(slots=True)
class FieldReading:
    """How many reviews have a field read in which way, without `venues.toml` and with it."""

    name: str
    without: Counter[str] = field(default_factory=Counter)
    own: Counter[str] = field(default_factory=Counter)


def compare_readings(workspace: Workspace, venue_id: str) -> Sequence[FieldReading] | None:
    """Return how each field is read without the user's row and with it, in the form's order.

    None if the user's file does not affect the reading, or the workspace has no public review of the venue as a note.
    """
    own = own_venue(workspace, venue_id)
    if own is None or not own.reading_digest:
        return None
    plain = copy(workspace)
    plain.own_venues = None
    readers = read_venue(plain, venue_id), read_venue(workspace, venue_id)
    readings: dict[str, FieldReading] = {}
    for note in _list_reviews(workspace, venue_id, readers):
        for name in note.fields:
            readings.setdefault(name, FieldReading(name))
        for reader, is_own in zip(readers, (False, True), strict=True):
            for name, what in _read(note, reader).items():
                (readings[name].own if is_own else readings[name].without)[what] += 1
    form = readers[1].unshown
    return [readings[name] for name in form.arrange(tuple(readings))] or None


def _list_reviews(workspace: Workspace, venue_id: str, readers: Sequence[VenueReader]) -> Iterator[Note]:
    for raw_note in workspace.raw.latest(RawKind.NOTE, venue_id):
        with suppress(msgspec.ValidationError):
            note = read_stored_note(raw_note)
            is_shown = note.is_public and note.ddate is None
            if is_shown and any(_is_review(note, reader) for reader in readers):
                yield note


def _is_review(note: Note, reader: VenueReader) -> bool:
    return find_reply_kind(note, reader.venue_id, reader.words, reader.form_fields) is PostKind.REVIEW


def _read(note: Note, reader: VenueReader) -> Mapping[str, str]:
    if not _is_review(note, reader):
        return dict.fromkeys(note.fields, NO_REVIEW)
    parsed = read_fields(note.fields, reader.form_of(note))
    return dict.fromkeys(note.fields, NOT_READ) | _name_parts(parsed, note)


def _name_parts(parsed: ParsedReview, note: Note) -> dict[str, str]:
    read = {section.field: f"text: {section.kind.value}" for section in parsed.sections}
    for score in parsed.scores:
        known = "a number" if score.value is not None else "a rank" if score.rank is not None else "no value"
        read[score.field] = f"score: {score.aspect.value}, with {known}"
    for name in note.fields:
        slot = vocabulary.SINGLE_FIELDS.get(name.lower())
        if slot and name not in parsed.extra:
            read[name] = slot
    return read
