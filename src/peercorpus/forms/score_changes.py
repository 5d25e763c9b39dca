"""Find the first answers of a review and the later changes of its scores.

A first answer is proven by the edit that created the note, or by a version of the note that had never been modified.
Other earlier versions show that an answer changed, but not which one came first; the reviewer's own words ("I raise my
score from 5 to 6") are read in `score_claims`. An edit counts as its signer's: only the reviewer's own are changes by
the reviewer. `holds_update` marks texts that were extended after posting.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm, find_score
from peercorpus.forms.score_claims import read_claims as read_claims
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import CHAIRS_EDIT, Note, to_time
from peercorpus.records.enums import CHAIR_ROLES, Phase, Role, ScoreSource
from peercorpus.records.scores import Score, ScoreChange

_SAME_INSTANT_MS = 1_000
"""Difference in milliseconds within which two times count as equal, such as a note's creation and its first edit."""
SourceOfEdit = Callable[[Note], ScoreSource]


class InitialAnswer(NamedTuple):
    """The earliest answer known to a question.

    Attributes:
        is_changed: Whether the note now has another answer; an unchanged answer is recorded only if it is proven.
        is_proven: Whether it is the answer first given. If not, an unseen edit may have changed it before.
        is_late: Whether it was first seen after the decision on the paper, although the review is older.
    """

    answer: Any
    source: ScoreSource
    is_changed: bool
    is_proven: bool
    is_late: bool = False


def source_of_edit(edit: Note, note: Note, words: VenueVocabulary) -> ScoreSource:
    """Return whose edit of a review it is, by its signature; without one, by its invitation.

    Whoever posts a review for its reviewer, as some venues do, signs only the edit that creates it.
    """
    if _is_as_created(edit, note):
        return ScoreSource.EDIT
    if not edit.signatures:
        return ScoreSource.EDIT_BY_VENUE if edit.created_by.endswith(CHAIRS_EDIT) else ScoreSource.EDIT
    role = words.role(edit.signatures[0].rpartition("/")[2])
    if role is Role.REVIEWER or edit.signatures == note.signatures:
        return ScoreSource.EDIT
    return ScoreSource.EDIT_BY_CHAIRS if role in CHAIR_ROLES else ScoreSource.EDIT_BY_VENUE


def was_never_modified(note: Note) -> bool:
    """Return whether the server's times prove that a note still has its first content.

    Unequal times prove nothing: the release of a review to its readers modifies it as well.
    """
    return bool(note.tcdate) and note.tcdate == note.tmdate  # Tools write 0 for a time that they do not know.


def _is_as_created(edit: Note, note: Note) -> bool:
    return note.tcdate is not None and 0 < _find_last_write_ms(edit) <= note.tcdate + _SAME_INSTANT_MS


def _find_proofs(
    note: Note, edits: Sequence[Note], earlier: Sequence[Note]
) -> Iterator[tuple[ScoreSource, Mapping[str, Any]]]:
    """Yield every record that shows a review as first posted: its source and its fields."""
    is_contradicted = any(_find_last_write_ms(edit) > (note.tmdate or 0) + _SAME_INSTANT_MS for edit in edits)
    if was_never_modified(note) and not is_contradicted:
        yield ScoreSource.NEVER_MODIFIED, note.fields
    yield from ((ScoreSource.EDIT, edit.fields) for edit in edits if _is_as_created(edit, note))
    for version in earlier:
        if was_never_modified(version) and version.tcdate == note.tcdate:
            yield ScoreSource.SNAPSHOT, version.fields


def first_answers(
    note: Note, edits: Sequence[Note], earlier: Sequence[Note], decided_at: datetime | None = None
) -> dict[str, InitialAnswer]:
    """Return the earliest known answers of a review, by field: those first given, or earlier ones that differ.

    Fields that the note no longer has are left out, and so are those on whose first answer two proofs differ.
    """
    proofs = list(_find_proofs(note, edits, earlier))
    versions = [*earlier, *_select_snapshots(edits)]
    if not proofs and not versions:
        return {}
    decided_ms = _find_decision_ms(note, decided_at)
    answers: dict[str, InitialAnswer] = {}
    for name, answer in note.fields.items():
        proven = [(source, fields[name]) for source, fields in proofs if name in fields]
        if proven:
            source, first = proven[0]
            if all(other == first for _, other in proven):
                answers[name] = InitialAnswer(first, source, first != answer, is_proven=True)
            continue
        first, seen_ms = _find_earliest(name, note, versions)
        if first is not None and first != answer:
            is_late = decided_ms is not None and seen_ms > decided_ms
            answers[name] = InitialAnswer(first, ScoreSource.SNAPSHOT, True, is_proven=False, is_late=is_late)
    return answers


def _find_decision_ms(note: Note, decided_at: datetime | None) -> float | None:
    decided_ms = None if decided_at is None else decided_at.timestamp() * 1000
    return None if decided_ms is None or (note.created_ms or 0) > decided_ms else decided_ms


def _select_snapshots(edits: Sequence[Note]) -> list[Note]:
    """Return the edits that show an earlier state: those not posted again before the next one was made.

    They help if the creating edit is hidden, or was posted again before the next edit, as the first references of all
    recorded ICLR 2019 reviews were at their release.
    """
    ordered = sorted(edits, key=lambda edit: edit.tcdate or 0)
    return [edit for edit, following in pairwise(ordered) if 0 < _find_last_write_ms(edit) < (following.tcdate or 0)]


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


class _Step(NamedTuple):
    """One answer of an edit, and the one before it; None if unknown."""

    name: str
    before: Any
    after: Any
    edit: Note
    source: ScoreSource


def _find_steps(edits: Sequence[Note], source_of: SourceOfEdit) -> Iterator[_Step]:
    """Yield every answer that edits give, in time order; an edit is a patch that leaves other answers unchanged.

    Edits without a time cannot be ordered and are ignored.
    """
    state: dict[str, tuple[Any, int]] = {}
    timed = [(edit.tcdate, edit.id or "", edit) for edit in edits if edit.tcdate is not None]
    for made_ms, _, edit in sorted(timed, key=lambda entry: entry[:2]):
        source, written_ms = source_of(edit), _find_last_write_ms(edit)
        for name, answer in edit.fields.items():
            earlier, stood_ms = state.get(name, (None, 0))
            yield _Step(name, earlier if stood_ms <= made_ms else None, answer, edit, source)
            state[name] = answer, written_ms


class Edited(NamedTuple):
    """What the readable edits of a review changed.

    Attributes:
        is_own: Whether the reviewer's own edits changed an answer.
        by_others: Fields whose current answer someone else wrote, with the source.
    """

    is_own: bool
    by_others: Mapping[str, ScoreSource]


def read_edited(
    note: Note, edits: Sequence[Note], first: Mapping[str, InitialAnswer], source_of: SourceOfEdit
) -> Edited:
    """Return what the edits of a review changed, and who did.

    An answer that earlier edits do not show is compared with the first one, if that is proven.
    """
    proven = {name: initial.answer for name, initial in first.items() if initial.is_proven}
    if all(proven.get(name) == answer for edit in edits for name, answer in edit.fields.items()):
        return Edited(is_own=False, by_others={})  # Most reviews: nothing was changed.
    is_own = False
    by_others: dict[str, tuple[ScoreSource, Any]] = {}
    for step in _find_steps(edits, source_of):
        before = proven.get(step.name) if step.before is None else step.before
        if before == step.after:
            continue
        if step.source is ScoreSource.EDIT:
            is_own |= before is not None or bool(proven)
            by_others.pop(step.name, None)
        else:
            by_others[step.name] = step.source, step.after
    standing = {name: source for name, (source, answer) in by_others.items() if note.fields.get(name) == answer}
    return Edited(is_own, standing)


def was_revised(
    answers: Mapping[str, Any], first: Mapping[str, InitialAnswer], earlier: Iterable[Note], edited: Edited
) -> bool | None:
    """Return whether a review was changed, other than by edits of others; None if nothing shows that it was not.

    It was not if every first answer is proven and is still the current one, but for those that others changed.
    """
    own = {name: answer for name, answer in answers.items() if name not in edited.by_others}
    known = {name: first[name] for name in own if name in first}
    versions = (version.fields for version in earlier)
    if edited.is_own or any(initial.is_changed for initial in known.values()):
        return True
    if any(fields.get(name, answer) != answer for fields in versions for name, answer in own.items()):
        return True
    is_proven = len(known) == len(own) and any(initial.is_proven for initial in first.values())
    return False if is_proven and all(initial.is_proven for initial in known.values()) else None


def _find_creation_time(edit: Note) -> datetime | None:
    """Return when an edit was made, or None if it was posted again later, because its first content is then unknown."""
    if edit.tcdate is None or (edit.tmdate or 0) > edit.tcdate + _SAME_INSTANT_MS:
        return None
    return to_time(edit.tcdate)


def _find_dated_changes(edits: Sequence[Note], form: ReviewForm, source_of: SourceOfEdit) -> Iterator[ScoreChange]:
    for step in _find_steps(edits, source_of):
        if step.before is None or step.before == step.after:
            continue
        before, after = find_score(step.name, step.before, form), find_score(step.name, step.after, form)
        if before is not None and after is not None and before.value != after.value:
            yield ScoreChange(
                aspect=after.aspect,
                field=step.name,
                before=before.value,
                after=after.value,
                changed_at=_find_creation_time(step.edit),
                source=step.source,
            )


def find_score_changes(
    scores: Sequence[Score],
    edits: Sequence[Note],
    form: ReviewForm,
    source_of: SourceOfEdit,
    by_others: Mapping[str, ScoreSource],
) -> tuple[ScoreChange, ...]:
    """Return the changes of a review's scores: those shown by edits, with times, then all others, without.

    If no edit shows a change from a proven first answer, who made it is unknown; its source is the note.
    """
    earliest: dict[str, Score] = {}
    for score in scores:
        if score.phase is Phase.INITIAL:
            earliest.setdefault(score.key, score)
    if not edits and not earliest:
        return ()
    steps = list(_find_dated_changes(edits, form, source_of)) if len(edits) > 1 else []
    reached = {step.field: step.after for step in steps}
    now = {score.key: score for score in scores if score.phase is Phase.FINAL}
    undated = [
        ScoreChange(
            aspect=now[key].aspect,
            field=now[key].field,
            before=before,
            after=now[key].value,
            changed_at=None,
            source=by_others.get(
                now[key].field, ScoreSource.NOTE if score.source is ScoreSource.EDIT else score.source
            ),
            words=score.label if score.source is ScoreSource.TEXT else None,
        )
        for key, score in earliest.items()
        if key in now
        if (before := reached.get(score.field, score.value)) != now[key].value
    ]
    return (*steps, *undated)


def justified_at(fields: Mapping[str, Any], edits: Sequence[Note]) -> datetime | None:
    """Return when the final justification was first written, or None if no edit shows it."""
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
