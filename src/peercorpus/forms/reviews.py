"""Read a review note as a `Review`: scores, sections and the fields that are neither."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from peercorpus.discussion.until_decision import is_after
from peercorpus.forms import vocabulary
from peercorpus.forms.at_decision import read_answers_at, scores_at_decision, state_at_decision
from peercorpus.forms.form import Question, ReviewForm, copy_score, find_score, is_prose, is_score, read_score
from peercorpus.forms.permissions import is_permission, read_permissions
from peercorpus.forms.score_changes import (
    InitialAnswer,
    find_score_changes,
    first_answers,
    holds_update,
    justified_at,
    read_edited,
    source_of_edit,
    was_revised,
)
from peercorpus.forms.score_claims import claimed_scores, collect_claims, reported_changes
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, is_path, to_time
from peercorpus.records.enums import Aspect, AtDecision, Phase, ScoreSource
from peercorpus.records.reviews import Review, Section, select_own
from peercorpus.records.scores import Score, ScoreChange
from peercorpus.wording.untrusted_text import may_name_people, redact_people


@dataclass(frozen=True, slots=True)
class ParsedReview:
    """One review split by kind of field; every field of the note is in exactly one attribute."""

    scores: tuple[Score, ...]
    sections: tuple[Section, ...]
    title: str | None
    final_justification: str | None
    extra: dict[str, Any]


def _drop_personal(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _drop_personal(answer) if isinstance(answer, dict) else answer
        for name, answer in fields.items()
        if not vocabulary.is_personal(name)
    }


def fields_to_json(fields: Mapping[str, Any]) -> str:
    """Return fields as JSON, without those about persons, and with e-mail addresses and profile ids redacted."""
    fields = _drop_personal(fields)
    if not fields:
        return "{}"
    encoded = msgspec.json.encode(fields, order="sorted")
    if may_name_people(encoded):
        encoded = msgspec.json.encode(redact_people(fields), order="sorted")
    return encoded.decode()


def read_fields(fields: Mapping[str, Any], form: ReviewForm) -> ParsedReview:
    """Return the fields of a review, each read as a score, section, single field or `extra`."""
    scores: list[Score] = []
    sections: list[Section] = []
    single: dict[str, str] = {}
    extra: dict[str, Any] = {}
    for name in form.arrange(tuple(fields)):
        answer = fields[name]
        slot = vocabulary.SINGLE_FIELDS.get(name.lower())
        if slot and isinstance(answer, str):
            # A second field of the same kind goes to `extra`: it may have been written after the rebuttal.
            (extra if slot in single else single)[name if slot in single else slot] = answer
        elif score := find_score(name, answer, form):
            scores.append(score)
        elif isinstance(answer, str) and _is_passage(name, answer, form.question(name)):
            sections.append(Section(form.section(name), name, answer))
        else:
            extra[name] = answer
    return ParsedReview(
        scores=_pair_phases(scores),
        sections=tuple(sections),
        title=single.get("title"),
        final_justification=single.get("final_justification"),
        extra=extra,
    )


def _pair_phases(scores: Sequence[Score]) -> tuple[Score, ...]:
    """Return scores with a field and its variant for a stated phase joined as two phases of one score.

    A plain `rating` beside `rating_after_rebuttal` is the initial one, unless another field has such a name.
    """
    named = {(score.subject, score.phase) for score in scores if score.subject is not None}
    if not named:
        return tuple(scores)
    paired = []
    for score in scores:
        name = score.field.lower()
        if score.subject is None and {(name, Phase.INITIAL), (name, Phase.FINAL)} & named:
            is_first = (name, Phase.INITIAL) not in named
            paired.append(replace(score, subject=name, phase=Phase.INITIAL if is_first else score.phase))
        else:
            paired.append(score)
    return tuple(paired)


def _is_passage(name: str, answer: str, question: Question) -> bool:
    """Return whether a text was written rather than chosen, by the form; an overlong answer counts as written."""
    if (
        name.lower() in vocabulary.ADMINISTRATIVE
        or vocabulary.is_personal(name)
        or is_path(answer)
        or is_permission(name, answer)
    ):
        return False
    return not question.is_choice or is_prose(answer, question)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What is known of a review before its last change: proven first scores, other earlier scores, first texts."""

    scores: tuple[Score, ...] = ()
    seen: tuple[Score, ...] = ()
    sections: tuple[Section, ...] = ()


def _read_first_answers(first: Mapping[str, InitialAnswer], reading: ParsedReview, form: ReviewForm) -> _Earlier:
    if not first:
        return _Earlier()
    changed = {name: initial.answer for name, initial in first.items() if initial.is_changed}
    # A field that the form has for one phase says nothing about the other.
    scores = [
        copy_score(score, form, Phase.INITIAL, first[score.field].source)
        for score in reading.scores
        if score.field in first and score.field not in changed and score.phase is Phase.FINAL and score.subject is None
    ]
    differing = [
        read_score(answer, name, form, first[name].source)
        for name, answer in changed.items()
        if is_score(name, answer, form)
    ]
    sections = read_fields(changed, form).sections if changed else ()
    return _Earlier(
        scores=(*scores, *(score for score in differing if first[score.field].is_proven)),
        seen=tuple(score for score in differing if not first[score.field].is_proven),
        sections=tuple(section for section in sections if not first[section.field].is_late),
    )


def _list_answers(note: Note, reading: ParsedReview) -> dict[str, Any]:
    names = {score.field for score in reading.scores} | {section.field for section in reading.sections}
    if reading.final_justification is not None:
        names |= {name for name in note.fields if vocabulary.SINGLE_FIELDS.get(name.lower()) == "final_justification"}
    return {name: note.fields[name] for name in names}


def read_recommendations(notes: Sequence[Note], form: ReviewForm, decided_at: datetime | None) -> tuple[Score, ...]:
    """Return the scores that a reviewer gives in separate notes, such as a journal's `Official_Recommendation`.

    Only recommendations are read; the latest note counts. Neither scale nor rank is known, as the form of such a note
    is not stored.
    """
    found: dict[str, tuple[Note, Score]] = {}
    for note in sorted(notes, key=lambda note: note.created_ms or 0):
        for name, answer in note.fields.items():
            if form.aspect(name) is Aspect.RECOMMENDATION and (score := find_score(name, answer, form)):
                found[name] = note, replace(score, source=ScoreSource.RECOMMENDATION)
    scores: list[Score] = []
    for note, score in found.values():
        state = state_at_decision(note, (), decided_at)
        source_of = partial(source_of_edit, note=note, words=VenueVocabulary())
        scores += [score, *scores_at_decision(note, [score], (), form, decided_at, state, source_of)]
    return tuple(scores)


def _read_reported_scores(
    reading: ParsedReview,
    first: Mapping[str, InitialAnswer],
    seen: Sequence[Score],
    remarks: Sequence[str],
    form: ReviewForm,
) -> tuple[tuple[Score, ...], tuple[ScoreChange, ...]]:
    """Return the first scores, and other changes, that only the reviewer's words report, where no version contradicts
    them.
    """
    own = (section.text for section in select_own(reading.sections))
    claims = collect_claims([*own, reading.final_justification or "", *remarks])
    if not claims:
        return (), ()
    unseen = [score for score in reading.scores if score.field not in first]
    values = {score.field: score.value for score in seen}
    unproven = [*unseen, *(score for score in reading.scores if score.field in values)]
    told = claimed_scores(unproven, claims, form)
    return (
        tuple(score for score in told if values.get(score.field, score.value) == score.value),
        tuple(reported_changes(unseen, claims)),
    )


def _list_updated(reading: ParsedReview, first: Mapping[str, InitialAnswer]) -> tuple[str, ...]:
    """Return the fields whose text states that a part was added later and whose first text is unknown."""
    texts = (section for section in reading.sections if section.field not in first or first[section.field].is_late)
    return tuple(section.field for section in texts if holds_update(section.text))


def _mark_others(reading: ParsedReview, by_others: Mapping[str, ScoreSource]) -> ParsedReview:
    scores = (replace(score, source=by_others.get(score.field, score.source)) for score in reading.scores)
    return replace(reading, scores=tuple(scores))


def read_review(
    note: Note,
    venue_id: str,
    reviewer: str,
    form: ReviewForm,
    edits: Sequence[Note],
    earlier: Sequence[Note] = (),
    remarks: Sequence[str] = (),
    *,
    recommendations: Sequence[Note] = (),
    decided_at: datetime | None = None,
    is_released: bool = False,
    words: VenueVocabulary | None = None,
) -> Review:
    """Return one review note as a `Review`."""
    source_of = partial(source_of_edit, note=note, words=words or VenueVocabulary())
    reading = read_fields(note.fields, form)
    first = first_answers(note, edits, earlier, decided_at)
    edited = read_edited(note, edits, first, source_of)
    if edited.by_others:
        reading = _mark_others(reading, edited.by_others)
    known = _read_first_answers(first, reading, form)
    told, reported_changes = _read_reported_scores(reading, first, known.seen, remarks, form)
    state = state_at_decision(note, edits, decided_at, is_released=is_released)
    then = scores_at_decision(note, reading.scores, edits, form, decided_at, state, source_of)
    then += read_recommendations(recommendations, form, decided_at)
    answers_then = read_answers_at(note, edits, decided_at) if state is AtDecision.EDITS and decided_at else {}
    scores = (*reading.scores, *known.scores, *told, *then)
    changes = find_score_changes((*known.seen, *scores), edits, form, source_of, edited.by_others)
    licence, consent = read_permissions(note)
    return Review(
        review_id=note.id or "",
        forum_id=note.forum or "",
        venue_id=venue_id,
        form_id=form.form_id,
        reviewer=reviewer,
        created_at=to_time(note.created_ms),
        modified_at=to_time(note.modified_ms),
        title=reading.title,
        scores=scores,
        sections=reading.sections,
        final_justification=reading.final_justification,
        revised=was_revised(_list_answers(note, reading), first, earlier, edited),
        readers_public=note.is_public,
        deleted=note.ddate is not None,
        extra=fields_to_json(reading.extra),
        initial_sections=known.sections,
        sections_at_decision=read_fields(answers_then, form).sections,
        updated_fields=_list_updated(reading, first),
        score_changes=changes + reported_changes,
        justified_at=justified_at(note.fields, edits),
        posted_after_decision=is_after(to_time(note.created_ms), decided_at),
        at_decision=state,
        licence=licence,
        consent=consent,
    )
