"""Determine the form with which a venue's reviews are read, and its source.

A form comes from the review's own invitation, otherwise from a declared record, otherwise it is inferred from the
reviews. `read_venue` collects everything needed to read a venue's notes; `KnownForm` describes a form to users.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.ai_reviews import asks_for_ai_review
from peercorpus.forms.declared_forms import DeclaredForm, as_review_form, declared_form, declared_forms, read_own_form
from peercorpus.forms.form import Question, ReviewForm
from peercorpus.forms.invitation_forms import derive_form, infer_form
from peercorpus.forms.reply_kinds import JUDGING, find_reply_kind, is_unknown_name
from peercorpus.forms.vocabulary import VenueVocabulary, extend_words, read_words
from peercorpus.openreview.objects import Note, invitation_name, read_stored_note
from peercorpus.records.enums import Aspect, FieldType, Phase, PostKind
from peercorpus.venues.catalogue import VenueRow, Visibility
from peercorpus.venues.own_venues import find_row, own_venue, own_venues
from peercorpus.wording.suggestions import find_close
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore
from peercorpus.workspace.workspace import OWN_VENUES, Workspace


@dataclass(frozen=True)
class VenueReader:
    """Everything needed to read a venue's notes.

    Attributes:
        words: The venue's own vocabulary.
        derived: Its review forms from its invitations, by the invitation's name in lower case; mostly one.
        gone: Ids of notes that the venue no longer shows.
        unconfirmed: Ids of notes for which only the next complete listing shows whether they still exist.
        declared: The form declared for it, by the user or otherwise by this package; None if there is none.
        shows: Phase of the scores that the venue shows.
        of_chairs: Its meta-review forms, like `derived`.
        of_ai: Its forms for AI reviews, like `derived`.
    """

    venue_id: str
    raw: RawStore
    words: VenueVocabulary
    derived: Mapping[str, ReviewForm]
    gone: Set[str]
    unconfirmed: Set[str]
    declared: DeclaredForm | None = None
    shows: Phase = Phase.FINAL
    of_chairs: Mapping[str, ReviewForm] = field(default_factory=dict)
    of_ai: Mapping[str, ReviewForm] = field(default_factory=dict)

    def chairs_form_of(self, reply: Note) -> ReviewForm:
        """Return the form of a meta-review; a form without questions, hence without scales, if none is shown."""
        return self.of_chairs.get(invitation_name(reply.created_by).lower()) or self._chairs_form_unshown

    def ai_form_of(self, ai_review: Note) -> ReviewForm:
        """Return the form of an AI's review; a form without id and questions if no invitation shows it.

        A review that an AI posted as people do answers the form of people.
        """
        name = invitation_name(ai_review.created_by)
        if self.words.kind(name) is PostKind.REVIEW or name.lower() in self.derived:
            return self.form_of(ai_review)
        form = self.of_ai.get(invitation_name(ai_review.created_by).lower()) or ReviewForm("", {})
        return replace(form, aspects=self.words.aspects)

    @cached_property
    def _chairs_form_unshown(self) -> ReviewForm:
        return ReviewForm("", {}, aspects=_name_recommendations(self.words))

    def form_of(self, review: Note) -> ReviewForm:
        """Return the form that a review answers."""
        if not review.created_by and len(self.derived) == 1:
            return next(iter(self.derived.values()))
        return self.derived.get(invitation_name(review.created_by).lower()) or self.unshown

    @cached_property
    def declared_form(self) -> ReviewForm | None:
        """The declared form, or None."""
        if self.declared is None:
            return None
        return replace(as_review_form(self.declared), aspects=self.words.aspects, shows=self.shows)

    @cached_property
    def form_fields(self) -> frozenset[str]:
        """The fields of the review forms that invitations show or that are declared, in lower case."""
        forms = [*self.derived.values(), *((self.declared_form,) if self.declared_form else ())]
        return frozenset(name for form in forms for name in form.lowered)

    @cached_property
    def unshown(self) -> ReviewForm:
        """The form of reviews whose invitation shows none: declared, or otherwise inferred from the reviews."""
        inferred = self.declared_form or infer_form(self.venue_id, self._read_answers(), self.words.aspects)
        return replace(inferred, aspects=self.words.aspects, shows=self.shows)

    @property
    def forms(self) -> tuple[ReviewForm, ...]:
        """Return the forms that invitations show, or otherwise the one used instead."""
        return tuple(self.derived.values()) or (self.unshown,)

    def form_named(self, form_id: str) -> ReviewForm:
        """Return the form with this id; an empty one for the forms of published records."""
        forms_by_id = {form.form_id: form for form in (*self.derived.values(), self.unshown)}
        return forms_by_id.get(form_id) or ReviewForm(form_id, {})

    def _read_answers(self) -> Iterator[Mapping[str, Any]]:
        for raw_note in self.raw.latest(RawKind.NOTE, self.venue_id):
            with suppress(msgspec.ValidationError):
                note = read_stored_note(raw_note)
                tail = invitation_name(note.created_by)
                kind = find_reply_kind(note, self.venue_id, self.words, self.form_fields)
                is_shown = tail.lower() in self.derived or kind is not PostKind.REVIEW
                if not is_shown and note.is_public and note.ddate is None:
                    yield note.fields


def read_venue(workspace: Workspace, venue_id: str) -> VenueReader:
    """Return the reader of a venue's notes, from its stored group and invitations and the user's row.

    Raises:
        VenuesFileError: The user's file is not valid.
    """
    raw = workspace.raw
    own = own_venue(workspace, venue_id)
    group = raw.find(RawKind.GROUP, venue_id)
    words = read_words(group.body) if group else VenueVocabulary()
    words = extend_words(words, own) if own else words
    forms, of_chairs, of_ai = _derive_forms(raw.latest(RawKind.INVITATION, venue_id), words)
    shows = _shown_phase(find_row(workspace, venue_id))
    recommending = _name_recommendations(words)
    declared = (own and read_own_form(own, str(workspace.folder / OWN_VENUES))) or declared_form(venue_id)
    return VenueReader(
        venue_id=venue_id,
        raw=raw,
        words=words,
        derived={name: replace(form, aspects=words.aspects, shows=shows) for name, form in forms.items()},
        gone=raw.state.gone(venue_id),
        unconfirmed=raw.state.unconfirmed(venue_id),
        declared=declared,
        shows=shows,
        of_chairs={name: replace(form, aspects=recommending) for name, form in of_chairs.items()},
        of_ai=of_ai,
    )


def check_own_venues(workspace: Workspace) -> None:
    """Check the user's whole file.

    Raises:
        VenuesFileError: It is not valid.
    """
    for own in own_venues(workspace).values():
        read_own_form(own, str(workspace.folder / OWN_VENUES))


def _name_recommendations(words: VenueVocabulary) -> Mapping[str, Aspect]:
    verdicts = {name.lower(): Aspect.RECOMMENDATION for name in words.decision_fields}
    return {**words.aspects, **verdicts}


def own_reading_digest(workspace: Workspace, venue_id: str) -> str:
    """Return the digest of the parts of a user's row that affect how notes are read; empty if there are none."""
    own = own_venue(workspace, venue_id)
    return own.reading_digest if own else ""


def _shown_phase(row: VenueRow | None) -> Phase:
    """Return the phase of the scores that a venue shows; ICLR 2026 reverted all to before the discussion."""
    is_reverted = row is not None and row.visibility is Visibility.REVERTED_BEFORE_DISCUSSION
    return Phase.INITIAL if is_reverted else Phase.FINAL


def _derive_forms(
    invitations: Iterable[RawObject], words: VenueVocabulary
) -> tuple[dict[str, ReviewForm], dict[str, ReviewForm], dict[str, ReviewForm]]:
    """Return the forms of reviews, of meta-reviews and of decisions that may contain one, and of AI reviews.

    An invitation whose name is not known is for reviews if its form asks for what only reviews have.

    For each invitation name, the form is that of the venue's own invitation, or otherwise of one paper's (shortest id).
    """
    forms: dict[str, ReviewForm] = {}
    of_chairs: dict[str, ReviewForm] = {}
    of_ai: dict[str, ReviewForm] = {}
    for invitation in invitations:
        name = invitation_name(invitation.object_id)
        rank = _rank(invitation.object_id)
        kind = words.kind(name)
        chosen = of_chairs if kind in {PostKind.META_REVIEW, PostKind.DECISION} else forms
        chosen = of_ai if asks_for_ai_review(name, words) else chosen
        best = chosen.get(name.lower())
        is_unknown = chosen is forms and is_unknown_name(name, words)
        is_form = chosen is not forms or kind is PostKind.REVIEW or is_unknown
        if is_form and (best is None or rank < _rank(best.form_id)):
            form = derive_form(invitation.body)
            if form is not None and (not is_unknown or _asks_review(form, words)):
                chosen[name.lower()] = form
    return dict(sorted(forms.items(), key=lambda item: _rank(item[1].form_id))), of_chairs, of_ai


def _asks_review(form: ReviewForm, words: VenueVocabulary) -> bool:
    aspects = {words.aspects.get(name) or vocabulary.ASPECTS.get(name) for name in form.lowered}
    return Aspect.RECOMMENDATION in aspects and not JUDGING.isdisjoint(map(vocabulary.SECTIONS.get, form.lowered))


def _rank(invitation_id: str) -> tuple[int, str]:
    return len(invitation_id), invitation_id


NUMBERS = re.compile(r"\d+")


class FormOrigin(StrEnum):
    """Source of a form."""

    INVITATION = "invitation"
    DECLARED = "declared"
    INFERRED = "inferred"


def read_form_origin(form_id: str) -> FormOrigin:
    """Return the source of a form, read from its id."""
    named = (origin for origin in (FormOrigin.DECLARED, FormOrigin.INFERRED) if form_id.startswith(f"{origin.value}:"))
    return next(named, FormOrigin.INVITATION)


def is_own_form(form_id: str) -> bool:
    """Return whether a form is the one that the user's file declares."""
    return form_id.startswith(f"{FormOrigin.DECLARED.value}:{OWN_VENUES}:")


@dataclass(frozen=True, slots=True)
class KnownForm:
    """A form, the venues that use it (`*` is one element of the path), and its record if it is declared."""

    form: ReviewForm
    venue_ids: tuple[str, ...]
    declared: DeclaredForm | None = None

    @property
    def origin(self) -> FormOrigin:
        """Return the source of the form."""
        return read_form_origin(self.form.form_id)

    @property
    def recommendation(self) -> Question | None:
        """Return the first question for the overall recommendation, or None."""
        for name, question in self.form.questions.items():
            if question.type in {None, FieldType.SCORE} and self.form.aspect(name) is Aspect.RECOMMENDATION:
                return question
        return None

    @property
    def asks_rating(self) -> bool | None:
        """Return whether the form asks for an overall recommendation, or None if unknown."""
        if self.recommendation is not None:
            return True
        if self.declared is not None:
            return False if self.declared.is_unrated else None
        is_read = self.origin is FormOrigin.INVITATION and bool(self.form.questions)
        return None if not is_read or any(map(self._may_rate, self.form.questions.values())) else False

    def _may_rate(self, question: Question) -> bool:
        """Return whether a question may ask for the recommendation: it offers answers and its subject is unknown."""
        is_chosen = question.type in {None, FieldType.SCORE, FieldType.CHOICE}
        has_known_subject = (
            self.form.aspect(question.name) is not None or question.name.lower() in vocabulary.ADMINISTRATIVE
        )
        return is_chosen and not has_known_subject


def _as_known_form(record: DeclaredForm) -> KnownForm:
    return KnownForm(as_review_form(record), record.venue_ids, record)


def all_declared() -> list[KnownForm]:
    """Return every declared form, also those without known fields."""
    return list(map(_as_known_form, declared_forms()))


def known_form(form: ReviewForm, venue_id: str, declared: DeclaredForm | None = None) -> KnownForm:
    """Return a form with which a venue's reviews are read, together with its declared record if it has one."""
    every = (*declared_forms(), *((declared,) if declared else ()))
    records = {f"{FormOrigin.DECLARED.value}:{record.id}": record for record in every}
    return KnownForm(form, (venue_id,), records.get(form.form_id))


def held_forms(workspace: Workspace) -> Iterator[KnownForm]:
    """Yield the forms of every venue of a workspace that are not declared."""
    for venue_id in workspace.raw.venues():
        described = (known_form(form, venue_id) for form in read_venue(workspace, venue_id).forms)
        yield from (entry for entry in described if entry.declared is None)


def find_declared(name: str) -> KnownForm | None:
    """Return the form declared for a venue, or under this id; None if there is none."""
    name = name.removeprefix(f"{FormOrigin.DECLARED.value}:")
    named = (record for record in declared_forms() if name in {record.id, *record.venue_ids})
    record = declared_form(name) or next(named, None)
    return _as_known_form(record) if record else None


def close_name(name: str, others: Iterable[str] = ()) -> str | None:
    """Return the form id or venue id closest to an unknown name, or None if none is close.

    Case is ignored. A name with different numbers belongs to another venue and is never suggested.
    """
    name = name.removeprefix(f"{FormOrigin.DECLARED.value}:")
    venue_ids = (_fill_pattern(venue_id, name) for record in declared_forms() for venue_id in record.venue_ids)
    candidates = (*(record.id for record in declared_forms()), *filter(None, venue_ids), *others)
    return find_close(name, (other for other in candidates if NUMBERS.findall(other) == NUMBERS.findall(name)))


def _fill_pattern(pattern: str, name: str) -> str | None:
    """Return a venue id with each `*` replaced by the same part of a name, or None if their lengths differ."""
    parts = pattern.split("/")
    name_parts = name.split("/")
    if "*" in parts and len(parts) != len(name_parts):
        return None
    return "/".join(name_parts[index] if part == "*" else part for index, part in enumerate(parts))
