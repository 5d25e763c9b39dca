"""Read a review note as a `Review`: scores, sections and the fields that are neither."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.at_decision import read_answers_at, scores_at_decision, state_at_decision
from peercorpus.forms.form import Question, ReviewForm, find_score, is_prose, is_score, read_score
from peercorpus.forms.permissions import is_permission, read_permissions
from peercorpus.forms.score_changes import (
    InitialAnswer,
    find_score_changes,
    first_answers,
    holds_update,
    justified_at,
    was_revised,
)
from peercorpus.forms.score_claims import claimed_scores, collect_claims, reported_changes
from peercorpus.openreview.objects import Note, is_path, to_time
from peercorpus.records.enums import Aspect, AtDecision, Phase, ScoreSource
from peercorpus.records.reviews import Review, Section
from peercorpus.records.scores import Score, ScoreChange
from peercorpus.records.until_decision import is_after
from peercorpus.records.untrusted_text import may_name_people, redact_people


@dataclass(frozen=True, slots=True)
class ParsedReview:
    """One review split by kind of field; every field of the note is in exactly one attribute."""

    scores: tuple[Score, ...]
    sections: tuple[Section, ...]
    title: str | None
    final_justification: str | None
    extra: dict[str, Any]


def fields_to_json(fields: Mapping[str, Any]) -> str:
    """Return fields as JSON, with e-mail addresses and profile ids redacted."""
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
    if name.lower() in vocabulary.ADMINISTRATIVE or is_path(answer) or is_permission(name, answer):
        return False
    return not question.is_choice or is_prose(answer, question)


def _read_first_answers(
    first: Mapping[str, InitialAnswer], form: ReviewForm
) -> tuple[tuple[Score, ...], tuple[Section, ...], tuple[Score, ...]]:
    """Return scores and sections that were later changed, as first posted, and scores first seen after the decision."""
    changed = {name: initial.answer for name, initial in first.items() if initial.is_changed}
    if not changed:
        return (), (), ()
    scores = [
        read_score(answer, name, form, first[name].source)
        for name, answer in changed.items()
        if is_score(name, answer, form)
    ]
    return (
        tuple(score for score in scores if not first[score.field].is_late),
        tuple(section for section in read_fields(changed, form).sections if not first[section.field].is_late),
        tuple(score for score in scores if first[score.field].is_late),
    )


def _collect_answers(reading: ParsedReview) -> dict[str, str]:
    scores = {score.field: score.label for score in reading.scores}
    return scores | {section.field: section.text for section in reading.sections}


def differs(earlier: ParsedReview, now: ParsedReview) -> bool:
    """Return whether a score or section differs; those in only one version are ignored: they may be hidden."""
    answers = _collect_answers(now)
    return any(answers.get(name, answer) != answer for name, answer in _collect_answers(earlier).items())


def _find_revised(
    reading: ParsedReview, earlier: Sequence[Note], edits: Sequence[Note], form: ReviewForm
) -> bool | None:
    """Return whether fields, earlier versions or edits show that a review was changed; None if they show nothing."""
    differing = any(differs(read_fields(version.fields, form), reading) for version in earlier)
    return True if reading.final_justification is not None or differing else was_revised(edits)


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
        scores += [score, *scores_at_decision(note, [score], (), form, decided_at, state)]
    return tuple(scores)


def _read_reported_scores(
    reading: ParsedReview, first: Mapping[str, InitialAnswer], remarks: Sequence[str], form: ReviewForm
) -> tuple[tuple[Score, ...], tuple[ScoreChange, ...]]:
    """Return the first scores, and the other changes, that only the reviewer's own words report."""
    own = (section.text for section in reading.sections)
    claims = collect_claims([*own, reading.final_justification or "", *remarks])
    if not claims:
        return (), ()
    unexplained = [score for score in reading.scores if score.field not in first]
    return tuple(claimed_scores(unexplained, claims, form)), tuple(reported_changes(unexplained, claims))


def _list_updated(reading: ParsedReview, first: Mapping[str, InitialAnswer]) -> tuple[str, ...]:
    """Return the fields whose text states that a part was added later and whose first text is unknown."""
    texts = (section for section in reading.sections if section.field not in first or first[section.field].is_late)
    return tuple(section.field for section in texts if holds_update(section.text))


@dataclass(frozen=True, slots=True)
class _Then:
    """Content of a review at the decision; `sections` only if it was changed afterwards."""

    state: AtDecision
    scores: tuple[Score, ...]
    sections: tuple[Section, ...]


def _read_then(
    note: Note,
    reading: ParsedReview,
    edits: Sequence[Note],
    recommendations: Sequence[Note],
    form: ReviewForm,
    decided_at: datetime | None,
    *,
    is_released: bool,
) -> _Then:
    state = state_at_decision(note, edits, decided_at, is_released=is_released)
    scores = scores_at_decision(note, reading.scores, edits, form, decided_at, state)
    scores += read_recommendations(recommendations, form, decided_at)
    if state is not AtDecision.EDITS or decided_at is None:
        return _Then(state, scores, ())
    return _Then(state, scores, read_fields(read_answers_at(note, edits, decided_at), form).sections)


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
) -> Review:
    """Return one review note as a `Review`.

    Args:
        note: The current note.
        venue_id: Its venue.
        reviewer: The reviewer's anonymous id within the paper.
        form: The form it answers.
        edits: Its readable edits or references, in any order.
        earlier: Its earlier public versions, in any order.
        remarks: The reviewer's own other texts in the forum.
        recommendations: The reviewer's recommendations in separate notes, as journals request them.
        decided_at: When the decision on the paper was posted; None if unknown.
        is_released: Whether it was last changed together with others' notes (`changed_together`).
    """
    reading = read_fields(note.fields, form)
    licence, consent = read_permissions(note)
    first = first_answers(note, edits, earlier, decided_at)
    initial_scores, initial_sections, late_scores = _read_first_answers(first, form)
    told_scores, other_changes = _read_reported_scores(reading, first, remarks, form)
    then = _read_then(note, reading, edits, recommendations, form, decided_at, is_released=is_released)
    scores = (*reading.scores, *initial_scores, *told_scores, *then.scores)
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
        revised=_find_revised(reading, earlier, edits, form),
        readers_public=note.is_public,
        deleted=note.ddate is not None,
        extra=fields_to_json(reading.extra),
        initial_sections=initial_sections,
        sections_at_decision=then.sections,
        updated_fields=_list_updated(reading, first),
        score_changes=(*find_score_changes((*scores, *late_scores), edits, form), *other_changes),
        justified_at=justified_at(note.fields, edits),
        posted_after_decision=is_after(to_time(note.created_ms), decided_at),
        at_decision=then.state,
        licence=licence,
        consent=consent,
    )
