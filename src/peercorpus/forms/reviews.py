"""One review note → `Review`: every field becomes a score, a section, title, final justification, or `extra`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.changes import justified_at, score_changes
from peercorpus.forms.claims import claimed_scores
from peercorpus.forms.earlier import First, first_answers, was_revised
from peercorpus.forms.form import Question, ReviewForm
from peercorpus.forms.scores import find_score, is_prose, is_score, read_score
from peercorpus.forms.updates import holds_update
from peercorpus.openreview.objects import Note, blot_people, is_path, to_time
from peercorpus.records import Review, Score, Section


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of one review, field by field; every field of the note is in exactly one place."""

    scores: tuple[Score, ...]
    sections: tuple[Section, ...]
    title: str | None
    final_justification: str | None
    extra: dict[str, Any]


def as_json(fields: Mapping[str, Any]) -> str:
    """Fields as JSON, e-mail addresses and profile ids blotted out."""
    if not fields:
        return "{}"
    return msgspec.json.encode(blot_people(fields), order="sorted").decode()


def read_fields(fields: Mapping[str, Any], form: ReviewForm) -> Reading:
    """Sort every field of a review into its place."""
    scores: list[Score] = []
    sections: list[Section] = []
    single: dict[str, str] = {}
    extra: dict[str, Any] = {}
    for name, answer in _in_form_order(fields, form):
        slot = vocabulary.SINGLE_FIELDS.get(name.lower())
        if slot and isinstance(answer, str):
            # A second field of the kind has no place but `extra`: it may have been written after the rebuttal.
            (extra if slot in single else single)[name if slot in single else slot] = answer
        elif score := find_score(name, answer, form):
            scores.append(score)
        elif isinstance(answer, str) and _is_passage(name, answer, form.question(name)):
            sections.append(Section(form.section(name), name, answer))
        else:
            extra[name] = answer
    return Reading(tuple(scores), tuple(sections), single.get("title"), single.get("final_justification"), extra)


def _is_passage(name: str, answer: str, question: Question) -> bool:
    """Whether a text is written, not chosen: by the form, unless it is far too long for an answer to choose."""
    if name.lower() in vocabulary.ADMINISTRATIVE or is_path(answer):
        return False
    return not question.is_choice or is_prose(answer, question)


def _in_form_order(fields: Mapping[str, Any], form: ReviewForm) -> list[tuple[str, Any]]:
    return sorted(fields.items(), key=lambda field: form.place(field[0]))


def _first_reading(first: Mapping[str, First], form: ReviewForm) -> tuple[tuple[Score, ...], tuple[Section, ...]]:
    """The scores and sections that were changed, as first given."""
    changed = {name: given.answer for name, given in first.items() if given.is_changed}
    scores = (
        read_score(answer, name, form, first[name].source)
        for name, answer in changed.items()
        if is_score(name, answer, form)
    )
    return tuple(scores), read_fields(changed, form).sections if changed else ()


def _answers(reading: Reading) -> dict[str, str]:
    scores = {score.field: score.label for score in reading.scores}
    return scores | {section.field: section.text for section in reading.sections}


def differs(earlier: Reading, now: Reading) -> bool:
    """Whether a score or a section that both versions show differs; one that only one shows may have been hidden."""
    answers = _answers(now)
    return any(answers.get(name, answer) != answer for name, answer in _answers(earlier).items())


def read_review(
    note: Note,
    venue_id: str,
    reviewer: str,
    form: ReviewForm,
    edits: Sequence[Note],
    earlier: Sequence[Note] = (),
    remarks: Sequence[str] = (),
) -> Review:
    """One review note as a `Review`.

    Args:
        note: The note as it is now.
        venue_id: Its venue.
        reviewer: Its anonymous id within the paper.
        form: The form it answers.
        edits: Its edits or references that could be read, in any order.
        earlier: Its earlier versions that everyone could read, in any order.
        remarks: What its reviewer, and nobody else, wrote in the forum besides.
    """
    reading = read_fields(note.fields, form)
    is_changed = reading.final_justification is not None or any(
        differs(read_fields(version.fields, form), reading) for version in earlier
    )
    first = first_answers(note, edits, earlier)
    initial_scores, initial_sections = _first_reading(first, form)
    untold = [score for score in reading.scores if score.field not in first]
    written = [section.text for section in reading.sections]
    told = claimed_scores(untold, [*written, reading.final_justification or "", *remarks], form)
    scores = (*reading.scores, *initial_scores, *told)
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
        revised=True if is_changed else was_revised(edits),
        readers_public=note.is_public,
        deleted=note.ddate is not None,
        extra=as_json(reading.extra),
        initial_sections=initial_sections,
        updated_fields=tuple(
            section.field for section in reading.sections if section.field not in first and holds_update(section.text)
        ),
        score_changes=score_changes(scores, edits, form),
        justified_at=justified_at(note.fields, edits),
    )
