"""What a venue's notes are read with: its own words, its review forms, and the notes it no longer shows."""

from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec

from peercorpus.forms.declared import as_review_form, declared_form
from peercorpus.forms.derive import derive_form
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.infer import infer_form
from peercorpus.forms.words import Words, read_words
from peercorpus.kinds import PostKind
from peercorpus.openreview.objects import Note, read_note, tail_of
from peercorpus.raw import Kind, RawStore
from peercorpus.workspace import Workspace


@dataclass(frozen=True)
class VenueReader:
    """How a venue's notes are read.

    Attributes:
        words: What it calls things.
        derived: Its review forms as its invitations show them, by what these ask for, in lower case: mostly one.
        gone: The notes it no longer shows.
    """

    venue_id: str
    raw: RawStore
    words: Words
    derived: Mapping[str, ReviewForm]
    gone: Set[str]

    def form_of(self, review: Note) -> ReviewForm:
        """The form that a review answers."""
        return self.derived.get(tail_of(review.created_by).lower()) or self.unshown

    @cached_property
    def unshown(self) -> ReviewForm:
        """The form of reviews whose invitation shows none: the one declared for the venue, else what they answer."""
        found = declared_form(self.venue_id)
        form = as_review_form(found) if found else infer_form(self.venue_id, self._answers())
        return replace(form, aspects=self.words.aspects)

    @property
    def forms(self) -> tuple[ReviewForm, ...]:
        """Its forms as far as invitations show them; where none does, the one used instead."""
        return tuple(self.derived.values()) or (self.unshown,)

    def form_named(self, form_id: str) -> ReviewForm:
        """The form of this id; one of which nothing is known where a published record has it."""
        known = {form.form_id: form for form in (*self.derived.values(), self.unshown)}
        return known.get(form_id) or ReviewForm(form_id, {})

    def _answers(self) -> Iterator[Mapping[str, Any]]:
        """The fields of the reviews that everyone may read and whose invitation shows no form."""
        for found in self.raw.latest(Kind.NOTE, self.venue_id):
            with suppress(msgspec.ValidationError):
                note = read_note(found.body)
                tail = tail_of(note.created_by)
                is_shown = tail.lower() in self.derived or self.words.kind(tail) is not PostKind.REVIEW
                if not is_shown and note.is_public and note.ddate is None:
                    yield note.fields


def read_venue(workspace: Workspace, venue_id: str) -> VenueReader:
    """What is known of a venue.

    A form is that of the venue's own review invitation, else of a single paper's.
    """
    raw = workspace.raw
    group = raw.find(Kind.GROUP, venue_id)
    words = read_words(group.body) if group else Words()
    invitations = sorted(
        raw.latest(Kind.INVITATION, venue_id), key=lambda found: (len(found.object_id), found.object_id)
    )
    derived: dict[str, ReviewForm] = {}
    for found in invitations:
        tail = tail_of(found.object_id)
        if words.kind(tail) is PostKind.REVIEW and tail.lower() not in derived:
            form = derive_form(found.body)
            if form is not None:
                derived[tail.lower()] = replace(form, aspects=words.aspects)
    return VenueReader(venue_id, raw, words, derived, raw.gone(venue_id))
