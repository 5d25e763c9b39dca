"""Find the content of a review when the decision on its paper was posted, or the reason why it is unknown.

A review last changed before the decision has the same content now, and so has one whose only later change is its
release by the venue. For any other, only readable edits show the earlier content, and only for fields whose current
answer is that of the latest edit; for other fields an edit must be hidden.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from peercorpus.forms.form import ReviewForm, copy_score, find_score
from peercorpus.forms.score_changes import SourceOfEdit
from peercorpus.openreview.objects import Note, to_time
from peercorpus.records.enums import AtDecision, Phase
from peercorpus.records.scores import Score

_HOUR_MS = 3_600_000
_RELEASE_MS = 600_000
"""A venue's process changes the notes of one paper within ten minutes; three people do not, long after they posted."""
_RELEASE_SIGNERS = 3


def changed_together(notes: Iterable[Note]) -> frozenset[str]:
    """Return the ids of notes on a paper that were last changed together with others, and hence by the venue.

    At least three signers' notes, each posted more than an hour earlier, must have been changed within ten minutes.
    """
    changed = sorted(
        (note.modified_ms, note.id or "", tuple(note.signatures or ()))
        for note in notes
        if note.created_ms is not None
        and note.modified_ms is not None
        and note.modified_ms > note.created_ms + _HOUR_MS
    )
    together: set[str] = set()
    signers = Counter[tuple[str, ...]]()
    first = taken = distinct = 0
    for last, (changed_ms, _, signed) in enumerate(changed):
        signers[signed] += 1
        distinct += signers[signed] == 1
        while changed[first][0] < changed_ms - _RELEASE_MS:
            signers[changed[first][2]] -= 1
            distinct -= signers[changed[first][2]] == 0
            first += 1
        if distinct >= _RELEASE_SIGNERS:
            together.update(note_id for _, note_id, _ in changed[max(first, taken) : last + 1])
            taken = last + 1
    return frozenset(together)


def _shows_change_after(note: Note, edits: Iterable[Note], decided_at: datetime) -> bool:
    later = [edit for edit in edits if (made_at := to_time(edit.tcdate)) is not None and made_at > decided_at]
    released_ms = note.modified_ms or 0
    return any(
        abs((edit.tcdate or 0) - released_ms) > _RELEASE_MS
        or any(note.fields.get(name) != answer for name, answer in edit.fields.items())
        for edit in later
        if edit.fields
    )


def state_at_decision(
    note: Note, edits: Sequence[Note], decided_at: datetime | None, *, is_released: bool = False
) -> AtDecision:
    """Return how the content of a note at the decision is known, or why it is not."""
    if decided_at is None:
        return AtDecision.NO_DECISION_TIME
    created_at, modified_at = to_time(note.created_ms), to_time(note.modified_ms)
    if created_at is not None and created_at > decided_at:
        return AtDecision.POSTED_AFTER
    if created_at is None or modified_at is None:
        return AtDecision.NO_REVIEW_TIME
    if modified_at <= decided_at:
        return AtDecision.UNCHANGED
    if read_answers_at(note, edits, decided_at):
        return AtDecision.EDITS
    is_known = is_released and not _shows_change_after(note, edits, decided_at)
    return AtDecision.RELEASED if is_known else AtDecision.CHANGED_UNSEEN


def read_answers_at(note: Note, edits: Iterable[Note], decided_at: datetime) -> Mapping[str, Any]:
    """Return the answers at a given time that edits show, by field; empty if they show none."""
    return {name: edit.fields[name] for name, edit in _find_standing(note, edits, decided_at).items()}


def _find_standing(note: Note, edits: Iterable[Note], decided_at: datetime) -> Mapping[str, Note]:
    standing: dict[str, Note] = {}
    latest: dict[str, Any] = {}
    for edit in sorted((edit for edit in edits if edit.tcdate is not None), key=lambda edit: edit.tcdate or 0):
        made_at, written_at = to_time(edit.tcdate), to_time(max(edit.tcdate or 0, edit.tmdate or 0))
        for name, answer in edit.fields.items():
            latest[name] = answer
            if made_at is None or written_at is None or made_at > decided_at:
                continue
            standing.pop(name, None)
            if written_at <= decided_at:  # An edit that was posted again later does not show its content at that time.
                standing[name] = edit
    return {name: edit for name, edit in standing.items() if latest[name] == note.fields.get(name)}


def scores_at_decision(
    note: Note,
    scores: Sequence[Score],
    edits: Sequence[Note],
    form: ReviewForm,
    decided_at: datetime | None,
    state: AtDecision,
    source_of: SourceOfEdit,
) -> tuple[Score, ...]:
    """Return the scores of a review at the decision; unknown ones are left out."""
    current = [score for score in scores if score.phase is Phase.FINAL]
    if state in {AtDecision.UNCHANGED, AtDecision.RELEASED}:
        return tuple(copy_score(score, form, Phase.AT_DECISION, score.source) for score in current)
    if state is not AtDecision.EDITS or decided_at is None:
        return ()
    standing = _find_standing(note, edits, decided_at)
    found = (
        (score, edit, find_score(score.field, edit.fields[score.field], form))
        for score in current
        if (edit := standing.get(score.field)) is not None
    )
    return tuple(
        replace(then, phase=Phase.AT_DECISION, source=source_of(edit), subject=score.subject)
        for score, edit, then in found
        if then is not None
    )
