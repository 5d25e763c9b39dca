"""When a reviewer changed what: the readable edits of a review, step by step, and what they leave untold."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from peercorpus.forms import vocabulary
from peercorpus.forms.earlier import AT_ONCE_MS
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.scores import find_score
from peercorpus.kinds import Phase, ScoreSource
from peercorpus.openreview.objects import Note, to_time
from peercorpus.records import Score, ScoreChange


def _made_at(edit: Note) -> datetime | None:
    """When an edit said what it says; None where it was posted again since: what it said at first is not known."""
    if edit.tcdate is None or (edit.tmdate or 0) > edit.tcdate + AT_ONCE_MS:
        return None
    return to_time(edit.tcdate)


def _steps(edits: Sequence[Note], form: ReviewForm) -> Iterator[ScoreChange]:
    """Every change between what one edit said and what a later one says.

    An edit without a time has no place among the others; one that was posted again after the next one tells nothing of
    what stood before that.
    """
    state: dict[str, tuple[Any, int]] = {}
    timed = [(edit.tcdate, edit.id or "", edit) for edit in edits if edit.tcdate is not None]
    for made_ms, _, edit in sorted(timed, key=lambda one: one[:2]):
        for name, answer in edit.fields.items():
            earlier, stood_ms = state.get(name, (answer, 0))
            before, after = find_score(name, earlier, form), find_score(name, answer, form)
            if stood_ms <= made_ms and before is not None and after is not None and before.value != after.value:
                yield ScoreChange(after.aspect, name, before.value, after.value, _made_at(edit), ScoreSource.EDIT)
            state[name] = answer, max(made_ms, edit.tmdate or 0)


def score_changes(scores: Sequence[Score], edits: Sequence[Note], form: ReviewForm) -> tuple[ScoreChange, ...]:
    """The changes of a review's scores: by its edits, each with its time; what these leave out, without.

    Args:
        scores: Of the review, of both phases.
        edits: Its edits or references that could be read, in any order.
        form: The form that it answers.
    """
    steps = list(_steps(edits, form))
    reached = {step.field: step.after for step in steps}
    now = {score.field: score for score in scores if score.phase is Phase.FINAL}
    untold = [
        ScoreChange(now[score.field].aspect, score.field, before, now[score.field].value, None, score.source)
        for score in scores
        if score.phase is Phase.INITIAL and score.field in now
        if (before := reached.get(score.field, score.value)) != now[score.field].value
    ]
    return (*steps, *untold)


def justified_at(fields: Mapping[str, Any], edits: Sequence[Note]) -> datetime | None:
    """When the final justification was first written, as far as an edit shows it.

    Args:
        fields: Of the review as it is now.
        edits: Its edits or references that could be read, in any order.
    """
    names = {name for name in fields if vocabulary.SINGLE_FIELDS.get(name.lower()) == "final_justification"}
    ordered = sorted((edit for edit in edits if edit.tcdate is not None), key=lambda edit: edit.tcdate or 0)
    first = next((place for place, edit in enumerate(ordered) if names & edit.fields.keys()), None)
    # The first edit that can be seen may be the release of the review: what it holds came before.
    return _made_at(ordered[first]) if first else None
