"""Compare how a venue's reviews are read with the user's `venues.toml` and without it, field by field.

Both readings are made afresh from the public reviews stored as notes in the workspace, whether or not they are built.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.reply_kinds import find_reply_kind
from peercorpus.forms.reviews import ParsedReview, read_fields
from peercorpus.forms.venue_forms import VenueReader, read_venue
from peercorpus.openreview.objects import Note, read_stored_note
from peercorpus.records.enums import PostKind
from peercorpus.venues.own_venues import own_venue
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

NOT_READ = "neither a score nor a text"
"""Reading of a field that goes to the column `extra` of a review."""
NO_REVIEW = "not read as a review"
"""Reading of all fields of a note whose invitation is not known to be that of a review."""


@dataclass(slots=True)
class FieldReading:
    """How a field of a venue's reviews is read, without `venues.toml` and with it.

    Attributes:
        name: The field, as named in the form.
        without: Number of reviews by the field's reading.
        own: The same with `venues.toml`.
    """

    name: str
    without: Counter[str] = field(default_factory=Counter)
    own: Counter[str] = field(default_factory=Counter)


def compare_readings(workspace: Workspace, venue_id: str) -> Sequence[FieldReading] | None:
    """Return how each field is read without the user's row of a venue and with it, in the form's order.

    None if the user's file does not affect the reading of this venue's reviews, or the workspace has no public review
    of it as a note.

    Raises:
        VenuesFileError: The user's file is not valid.
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
    """Yield the public notes that are reviews to at least one of the readers."""
    for raw_note in workspace.raw.latest(RawKind.NOTE, venue_id):
        with suppress(msgspec.ValidationError):
            note = read_stored_note(raw_note)
            is_shown = note.is_public and note.ddate is None
            if is_shown and any(_is_review(note, reader) for reader in readers):
                yield note


def _is_review(note: Note, reader: VenueReader) -> bool:
    return find_reply_kind(note, reader.venue_id, reader.words, reader.asked) is PostKind.REVIEW


def _read(note: Note, reader: VenueReader) -> Mapping[str, str]:
    """Return the reading of each field of a review, in words."""
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
