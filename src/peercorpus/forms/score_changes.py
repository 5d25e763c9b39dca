"""Find the first answers of a review and the later changes of its scores.

The evidence is, in order of trust, the note's edits, earlier versions seen by a harvest (snapshots), and the reviewer's
own words ("I raise my score from 5 to 6"). `holds_update` marks texts that were extended after posting.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm, find_score
from peercorpus.forms.score_claims import read_claims as read_claims
from peercorpus.openreview.objects import Note, to_time
from peercorpus.records.enums import Phase, ScoreSource
from peercorpus.records.scores import Score, ScoreChange

_SAME_INSTANT_MS = 1_000
"""Difference in milliseconds within which two times count as equal, such as a note's creation and its first edit."""


class InitialAnswer(NamedTuple):
    """An answer as first posted.

    Attributes:
        is_changed: Whether the note now has another answer; an unchanged answer is recorded only if an edit proves it.
        is_late: Whether it was first seen after the decision on the paper, although the review is older: then it shows
            a change, but not the first answer.
    """

    answer: Any
    source: ScoreSource
    is_changed: bool
    is_late: bool = False


def first_answers(
    note: Note, edits: Sequence[Note], earlier: Sequence[Note], decided_at: datetime | None = None
) -> dict[str, InitialAnswer]:
    """Return the answers of a review as first posted, by field, if edits or earlier versions show them.

    Fields that the note no longer has are left out.

    Args:
        note: The current note.
        edits: Its readable edits or references, in any order.
        earlier: Its earlier public versions, in any order.
        decided_at: When the decision on its paper was posted; None if unknown.
    """
    if len(edits) < 2 and not earlier:
        return {}
    posted, seen = _read_first_edit(note, edits)
    versions = [*earlier, *seen]
    if not posted and not versions:
        return {}
    decided_ms = _find_decision_ms(note, decided_at)
    initial_answers: dict[str, InitialAnswer] = {}
    for name, answer in note.fields.items():
        first = posted.get(name)
        source, is_late = ScoreSource.EDIT, False
        if first is None:
            first, seen_ms = _find_earliest(name, note, versions)
            source, is_late = ScoreSource.SNAPSHOT, decided_ms is not None and seen_ms > decided_ms
            if first == answer:
                continue  # The earlier version may itself have been changed.
        if first is not None:
            initial_answers[name] = InitialAnswer(first, source, first != answer, is_late)
    return initial_answers


def _find_decision_ms(note: Note, decided_at: datetime | None) -> float | None:
    """Return when a paper was decided on, in milliseconds; None if unknown, or if the review is later."""
    decided_ms = None if decided_at is None else decided_at.timestamp() * 1000
    return None if decided_ms is None or (note.created_ms or 0) > decided_ms else decided_ms


def _read_first_edit(note: Note, edits: Sequence[Note]) -> tuple[Mapping[str, Any], Sequence[Note]]:
    """Return the fields of the edit that created the review, if never rewritten, and edits usable as snapshots.

    An edit followed by another shows the state until then. This helps if the creating edit is hidden, or was posted
    again before the next edit, as the first references of all recorded ICLR 2019 reviews were at their release.
    """
    made_at = note.tcdate
    ordered = sorted(edits, key=lambda edit: edit.tcdate or 0)
    if len(ordered) > 1 and made_at is not None and 0 < _find_last_write_ms(ordered[0]) <= made_at + _SAME_INSTANT_MS:
        return ordered[0].fields, ordered[1:-1]
    return {}, [
        edit for edit, following in pairwise(ordered) if 0 < _find_last_write_ms(edit) < (following.tcdate or 0)
    ]


def _find_last_write_ms(edit: Note) -> int:
    """Return the time in milliseconds since which an edit has its present content, as it may have been posted again."""
    return max(edit.tcdate or 0, edit.tmdate or 0)


def _find_earliest(name: str, note: Note, earlier: Sequence[Note]) -> tuple[Any, int]:
    """Return a field of the earliest version before the current one, and its time in milliseconds.

    None and 0 if there is none, or two disagree.
    """
    now = note.modified_ms or 0
    seen = [(version.modified_ms or 0, version.fields[name]) for version in earlier if name in version.fields]
    first_ms = min((time_ms for time_ms, _ in seen if 0 < time_ms < now), default=None)
    answers = [answer for time_ms, answer in seen if time_ms == first_ms]
    is_sure = bool(answers) and all(answer == answers[0] for answer in answers)
    return (answers[0], first_ms or 0) if is_sure else (None, 0)


def was_revised(edits: Sequence[Note]) -> bool | None:
    """Return whether an edit changes the content of an earlier one, or None if no edit is readable.

    An edit is a patch: it changes the fields that it names and leaves the others unchanged.
    """
    state: dict[str, Any] = {}
    for edit in sorted(edits, key=lambda edit: edit.tcdate or 0):
        patched = state | edit.fields
        if state and patched != state:
            return True
        state = patched
    return False if state else None


def _find_creation_time(edit: Note) -> datetime | None:
    """Return when an edit was made, or None if it was posted again later, because its first content is then unknown."""
    if edit.tcdate is None or (edit.tmdate or 0) > edit.tcdate + _SAME_INSTANT_MS:
        return None
    return to_time(edit.tcdate)


def _find_steps(edits: Sequence[Note], form: ReviewForm) -> Iterator[ScoreChange]:
    """Yield every change of a score from one edit to a later one.

    Edits without a time cannot be ordered and are ignored. An edit that was posted again after the next one does not
    show the content before that one.
    """
    state: dict[str, tuple[Any, int]] = {}
    timed = [(edit.tcdate, edit.id or "", edit) for edit in edits if edit.tcdate is not None]
    for made_ms, _, edit in sorted(timed, key=lambda entry: entry[:2]):
        for name, answer in edit.fields.items():
            earlier, stood_ms = state.get(name, (answer, 0))
            before, after = find_score(name, earlier, form), find_score(name, answer, form)
            if stood_ms <= made_ms and before is not None and after is not None and before.value != after.value:
                yield ScoreChange(
                    aspect=after.aspect,
                    field=name,
                    before=before.value,
                    after=after.value,
                    changed_at=_find_creation_time(edit),
                    source=ScoreSource.EDIT,
                )
            state[name] = answer, max(made_ms, edit.tmdate or 0)


def find_score_changes(scores: Sequence[Score], edits: Sequence[Note], form: ReviewForm) -> tuple[ScoreChange, ...]:
    """Return the changes of a review's scores: those shown by edits, with times, then all others, without.

    Args:
        scores: The review's scores of both phases.
        edits: Its readable edits or references, in any order.
        form: The form that it answers.
    """
    first_scores = [score for score in scores if score.phase is Phase.INITIAL]
    if not edits and not first_scores:
        return ()
    steps = list(_find_steps(edits, form)) if len(edits) > 1 else []
    reached = {step.field: step.after for step in steps}
    now = {score.key: score for score in scores if score.phase is Phase.FINAL}
    undated = [
        ScoreChange(
            aspect=now[score.key].aspect,
            field=now[score.key].field,
            before=before,
            after=now[score.key].value,
            changed_at=None,
            source=score.source,
            words=score.label if score.source is ScoreSource.TEXT else None,
        )
        for score in first_scores
        if score.key in now
        if (before := reached.get(score.field, score.value)) != now[score.key].value
    ]
    return (*steps, *undated)


def justified_at(fields: Mapping[str, Any], edits: Sequence[Note]) -> datetime | None:
    """Return when the final justification was first written, or None if no edit shows it.

    Args:
        fields: The current fields of the review.
        edits: Its readable edits or references, in any order.
    """
    if len(edits) < 2:
        return None  # The first one alone shows no time.
    names = {name for name in fields if vocabulary.SINGLE_FIELDS.get(name.lower()) == "final_justification"}
    ordered = sorted((edit for edit in edits if edit.tcdate is not None), key=lambda edit: edit.tcdate or 0)
    first = next((index for index, edit in enumerate(ordered) if names & edit.fields.keys()), None)
    # The first visible edit may be the release of the review, whose content is older.
    return _find_creation_time(ordered[first]) if first else None


_WHAT = r"(?:rebuttals?|responses?|discussions?|revisions?|feedback|repl(?:y|ies)|answers?)"
_WHOSE = r"(?:(?:the|authors?['\u2019]?s?['\u2019]?|reading|seeing|your|their|of|and|author)\s+){0,4}"
_WHEN = rf"(?:post|after|following|in light of|based on)[\s-]+{_WHOSE}{_WHAT}"
_PLAIN = r"[^\w:;.)\]*=-]{0,40}+"
_HEADING = (
    rf"(?:edit(?:ed)?|updates?|addendum|revision)\b(?:{_PLAIN}\d{{0,2}}+{_PLAIN}(?:$|[:;.)\]*=-])|\s{{1,40}}+{_WHEN})"
)
_NEW = (
    r"(?:(?:updated?|revised)\s+(?:review|score|rating|comments?|recommendation|evaluation|assessment)\b|final score\b)"
)
_ANSWER = rf"(?:response|reply|comments?) (?:to|on) {_WHOSE}{_WHAT}|i(?: have|['\u2019]ve)? read {_WHOSE}{_WHAT}"
_ABOUT = rf"(?:(?:comments?|response|review|updated?|edit(?:ed)?|assessment|remarks?)\s+)?{_WHEN}"
# The look-ahead for first letters comes first, for speed: most lines fail there.
MARK = re.compile(rf"[\W_]{{0,20}}+(?=[abcefipru])(?:{_HEADING}|{_NEW}|{_ANSWER}|{_ABOUT})", re.IGNORECASE)
"""Beginning of a line that a reviewer added later. Source: recorded reviews of ICLR 2019, taken after the discussion
(7 % contain one), and of ICLR 2020, taken before it (1 in 1,000)."""


def holds_update(text: str) -> bool:
    r"""Return whether a line begins like those that reviewers add later.

    >>> holds_update("Clear.\n\n=== UPDATE ===\nMuch better."), holds_update("Please update Table 2 after revision.")
    (True, False)
    """
    return any(map(MARK.match, text.split("\n")))
