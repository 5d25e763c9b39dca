"""What a venue's notes are read with: its own words, its review forms, and the notes it no longer shows."""

from collections.abc import Iterable, Iterator, Mapping, Set
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
from peercorpus.kinds import Phase, PostKind
from peercorpus.openreview.objects import Note, read_note, tail_of
from peercorpus.raw import Kind, RawObject, RawStore
from peercorpus.venues.catalogue import row_of
from peercorpus.venues.row import Visibility
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
        return replace(form, aspects=self.words.aspects, shows=shown_phase(self.venue_id))

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
    """What is known of a venue."""
    raw = workspace.raw
    group = raw.find(Kind.GROUP, venue_id)
    words = read_words(group.body) if group else Words()
    forms = _derived_forms(raw.latest(Kind.INVITATION, venue_id), words)
    shows = shown_phase(venue_id)
    derived = {name: replace(form, aspects=words.aspects, shows=shows) for name, form in forms.items()}
    return VenueReader(venue_id, raw, words, derived, raw.gone(venue_id))


def shown_phase(venue_id: str) -> Phase:
    """When the scores held that a venue shows; ICLR 2026 put all back to how they stood before the discussion."""
    row = row_of(venue_id)
    is_reverted = row is not None and row.visibility is Visibility.REVERTED_BEFORE_DISCUSSION
    return Phase.INITIAL if is_reverted else Phase.FINAL


def _derived_forms(invitations: Iterable[RawObject], words: Words) -> dict[str, ReviewForm]:
    """For each kind of review the form of the venue's own invitation, else of a single paper's: the shortest id's."""
    found: dict[str, ReviewForm] = {}
    for invitation in invitations:
        name, here = tail_of(invitation.object_id), _rank(invitation.object_id)
        best = found.get(name.lower())
        if words.kind(name) is PostKind.REVIEW and (best is None or here < _rank(best.form_id)):
            form = derive_form(invitation.body)
            if form is not None:
                found[name.lower()] = form
    return dict(sorted(found.items(), key=lambda one: _rank(one[1].form_id)))


def _rank(invitation_id: str) -> tuple[int, str]:
    return len(invitation_id), invitation_id
