"""One review note → `Review`: every field becomes a score, a section, title, final justification, or `extra`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.derive import Question, ReviewForm, leading_number
from peercorpus.kinds import Aspect, Phase, ScoreSource, SectionKind
from peercorpus.openreview.objects import Note, blot_people, to_time
from peercorpus.records import Review, Score, Section

LONGEST_LABEL = 300
"""Characters of the longest option text met in a form; a longer answer to an ambiguous field is prose."""

UNASKED = Question("", 0)
"""Stands for a field the form is not known to have."""

AT_ONCE_MS = 1_000
"""An edit this close to the note's creation is the creation."""


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


def read_score(answer: object, name: str, form: ReviewForm, source: ScoreSource = ScoreSource.NOTE) -> Score:
    """Read `8`, `"8: accept, good paper"` or `"3 good"`.

    The value is None where no number leads, or where the form did not offer it; the label stays verbatim, and a bare
    number takes the text of the option it chose.
    """
    question, label = form.questions.get(name, UNASKED), str(answer)
    value = float(answer) if isinstance(answer, int | float) else leading_number(label)
    offered, bounds = question.labels, question.bounds
    low, high = (min(offered), max(offered)) if offered else bounds or (None, None)
    if (offered and value not in offered) or (bounds and value is not None and not bounds[0] <= value <= bounds[1]):
        value = None
    if isinstance(answer, int | float) and value is not None:
        label = offered.get(value, label)
    is_initial = source in {ScoreSource.EDIT, ScoreSource.SNAPSHOT} or name.lower() in vocabulary.INITIAL_SCORES
    phase = Phase.INITIAL if is_initial else Phase.FINAL
    return Score(form.aspect(name) or Aspect.OTHER, name, value, low, high, label, phase, source)


def is_score(name: str, answer: object, form: ReviewForm) -> bool:
    """Whether a field is a score: by the form where it offers answers, else by name and answer together."""
    if isinstance(answer, bool) or not isinstance(answer, int | float | str):
        return False
    question, aspect = form.questions.get(name), form.aspect(name)
    if question is not None and (question.labels or question.bounds):
        return True
    if isinstance(answer, int | float) or aspect is None:
        return aspect is not None
    return question.is_choice if question is not None else _looks_chosen(name, answer, aspect)


def _looks_chosen(name: str, answer: str, aspect: Aspect) -> bool:
    """A rating or confidence is always chosen; another field only if a number leads, or it is a word or two."""
    if len(answer) > LONGEST_LABEL or "\n" in answer.strip():
        return False
    always = aspect in {Aspect.RECOMMENDATION, Aspect.CONFIDENCE} or name.startswith("review_assessment:")
    return always or leading_number(answer) is not None or len(answer.split()) <= 2


def read_fields(fields: Mapping[str, Any], form: ReviewForm) -> Reading:
    """Sort every field of a review into its place."""
    scores: list[Score] = []
    sections: list[Section] = []
    single: dict[str, str] = {}
    extra: dict[str, Any] = {}
    for name, answer in _in_form_order(fields, form):
        key, question = name.lower(), form.questions.get(name)
        slot = vocabulary.SINGLE_FIELDS.get(key)
        if slot and isinstance(answer, str):
            # A second field of the kind has no place but `extra`: it may have been written after the rebuttal.
            (extra if slot in single else single)[name if slot in single else slot] = answer
        elif is_score(name, answer, form):
            scores.append(read_score(answer, name, form))
        elif isinstance(answer, str) and key not in vocabulary.ADMINISTRATIVE and not (question and question.is_choice):
            sections.append(Section(vocabulary.SECTIONS.get(key, SectionKind.OTHER), name, answer))
        else:
            extra[name] = answer
    return Reading(tuple(scores), tuple(sections), single.get("title"), single.get("final_justification"), extra)


def _in_form_order(fields: Mapping[str, Any], form: ReviewForm) -> Iterator[tuple[str, Any]]:
    asked = [name for name in form.questions if name in fields]
    return ((name, fields[name]) for name in [*asked, *(name for name in fields if name not in form.questions)])


def _as_posted(note: Note, edits: Sequence[Note]) -> Mapping[str, Any]:
    """The fields of the edit that made the review, where it still stands as it was; else none."""
    made_at = note.tcdate
    first = min(edits, key=lambda edit: edit.tcdate or 0) if len(edits) > 1 else None
    if first is None or made_at is None or first.tcdate is None:
        return {}
    return first.fields if max(first.tcdate, first.tmdate or 0) <= made_at + AT_ONCE_MS else {}


def _as_seen(name: str, note: Note, earlier: Sequence[Note]) -> object | None:
    """A field in the earliest version held from before the note's; None where none, or two of one moment, tell it."""
    now = note.modified_ms or 0
    seen = [(version.modified_ms or 0, version.fields[name]) for version in earlier if name in version.fields]
    first_ms = min((at for at, _ in seen if 0 < at < now), default=None)
    answers = [answer for at, answer in seen if at == first_ms]
    return answers[0] if answers and all(answer == answers[0] for answer in answers) else None


def _first_scores(note: Note, edits: Sequence[Note], earlier: Sequence[Note], form: ReviewForm) -> Iterator[Score]:
    """The scores that were changed, as first given: by the edit that made the review, else by the earliest version.

    What the note no longer shows is not taken from an earlier version.
    """
    posted, now = _as_posted(note, edits), note.fields
    for name, answer in posted.items():
        if is_score(name, answer, form) and now.get(name) != answer:
            yield read_score(answer, name, form, ScoreSource.EDIT)
    for name, answer in now.items():
        seen = None if name in posted else _as_seen(name, note, earlier)
        if is_score(name, seen, form) and seen != answer:
            yield read_score(seen, name, form, ScoreSource.SNAPSHOT)


def _answers(reading: Reading) -> dict[str, str]:
    scores = {score.field: score.label for score in reading.scores}
    return scores | {section.field: section.text for section in reading.sections}


def differs(earlier: Reading, now: Reading) -> bool:
    """Whether a score or a section that both versions show differs; one that only one shows may have been hidden."""
    answers = _answers(now)
    return any(answers.get(name, answer) != answer for name, answer in _answers(earlier).items())


def was_revised(edits: Sequence[Note]) -> bool | None:
    """Whether the edits change what an earlier one said; None where no edit can be read.

    An edit is a patch: it changes what it names, and leaves the rest as it was.
    """
    state: dict[str, Any] = {}
    for edit in sorted(edits, key=lambda edit: edit.tcdate or 0):
        patched = state | edit.fields
        if state and patched != state:
            return True
        state = patched
    return False if state else None


def read_review(
    note: Note, venue_id: str, reviewer: str, form: ReviewForm, edits: Sequence[Note], earlier: Sequence[Note] = ()
) -> Review:
    """One review note as a `Review`.

    Args:
        note: The note as it is now.
        venue_id: Its venue.
        reviewer: Its anonymous id within the paper.
        form: The form it answers.
        edits: Its edits or references that could be read, in any order.
        earlier: Its earlier versions that everyone could read, in any order.
    """
    reading = read_fields(note.fields, form)
    is_changed = reading.final_justification is not None or any(
        differs(read_fields(version.fields, form), reading) for version in earlier
    )
    return Review(
        review_id=note.id or "",
        forum_id=note.forum or "",
        venue_id=venue_id,
        form_id=form.form_id,
        reviewer=reviewer,
        created_at=to_time(note.created_ms),
        modified_at=to_time(note.modified_ms),
        title=reading.title,
        scores=(*reading.scores, *_first_scores(note, edits, earlier, form)),
        sections=reading.sections,
        final_justification=reading.final_justification,
        revised=True if is_changed else was_revised(edits),
        readers_public=note.is_public,
        deleted=note.ddate is not None,
        extra=as_json(reading.extra),
    )
