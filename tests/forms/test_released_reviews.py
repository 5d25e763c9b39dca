"""Reviews that the venue released after the decision: last changed together, so not by their reviewers."""

from typing import Any
from unittest.mock import MagicMock

import pytest

from peercorpus.forms.at_decision import changed_together
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.normalise import RawForum, normalise_forum
from peercorpus.forms.reviews import read_review
from peercorpus.forms.venue_forms import VenueReader
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, to_time
from peercorpus.records.enums import AtDecision, Phase
from peercorpus.records.reviews import Review

HOUR = 3_600_000
MINUTE = 60_000
POSTED, DECIDED, RELEASED = 10 * HOUR, 900 * HOUR, 1_300 * HOUR


def a_note(name: str, changed: int | None, signer: str | None = None, posted: int | None = POSTED) -> Note:
    signatures = [f"V/Submission1/{signer or name}"]
    return Note(
        id=name,
        forum="f",
        tcdate=posted,
        tmdate=changed,
        signatures=signatures,
        invitations=["V/Submission1/-/Official_Review", "V/-/Edit"],
        content={"rating": {"value": 6}, "review": {"value": "Kites fly."}},
    )


def reviews_changed_at(*times: int) -> list[Note]:
    return [a_note(f"R{number}", time) for number, time in enumerate(times, 1)]


def an_edit(made: int, **answers: Any) -> Note:
    content = {name: {"value": value} for name, value in answers.items()}
    return Note(tcdate=made, tmdate=made, invitations=["V/-/Edit"], content=content)


@pytest.mark.parametrize(
    ("notes", "together"),
    [
        (reviews_changed_at(RELEASED, RELEASED + 1_000, RELEASED + 9 * MINUTE), {"R1", "R2", "R3"}),
        (reviews_changed_at(RELEASED, RELEASED, RELEASED, RELEASED + 20 * HOUR), {"R1", "R2", "R3"}),
        (reviews_changed_at(RELEASED, RELEASED), set()),
        (reviews_changed_at(RELEASED, RELEASED + 20 * MINUTE, RELEASED + 40 * MINUTE), set()),
        ([a_note(name, RELEASED, "Authors") for name in "abc"], set()),
        ([a_note(name, RELEASED, posted=RELEASED - MINUTE) for name in "abc"], set()),
        ([a_note(name, RELEASED, posted=None) for name in "abc"], set()),
        ([a_note(name, None) for name in "abc"], set()),
        ([], set()),
    ],
    ids=[
        *("all at once", "one reviewer changed it again", "two may be chance", "one after another"),
        *("one person changed them", "just posted", "unknown when posted", "unknown when changed", "nothing"),
    ],
)
def test_equal_times_show_a_release(notes: list[Note], together: set[str]) -> None:
    assert changed_together(notes) == together


@pytest.mark.parametrize(
    ("edits", "state"),
    [
        ([], AtDecision.RELEASED),
        ([an_edit(RELEASED)], AtDecision.RELEASED),
        ([an_edit(RELEASED, rating=6)], AtDecision.RELEASED),
        ([an_edit(RELEASED - 2 * HOUR, rating=6)], AtDecision.CHANGED_UNSEEN),
        ([an_edit(RELEASED, rating=3)], AtDecision.CHANGED_UNSEEN),
    ],
    ids=["no edits", "names readers", "repeats what stands", "an answer before the release", "another answer"],
)
def test_a_released_review_is_unchanged(edits: list[Note], state: AtDecision) -> None:
    note = a_note("R1", RELEASED)
    review = read_review(
        note, "V", "R1", ReviewForm("inferred:V", {}), edits, decided_at=to_time(DECIDED), is_released=True
    )
    assert review.at_decision is state
    then = [score.value for score in review.scores if score.phase is Phase.AT_DECISION]
    assert then == ([6.0] if state is AtDecision.RELEASED else [])


def test_released_and_changed_reviews_differ() -> None:
    root = Note(id="f", forum="f", tcdate=1, readers=["everyone"], invitations=["V/-/Submission"], content={})
    decision = a_note("Program_Chairs", RELEASED, posted=DECIDED)
    decision.invitations = ["V/Submission1/-/Decision", "V/-/Edit"]
    decision.content = {"decision": {"value": "Accept"}}
    notes = [*reviews_changed_at(RELEASED, RELEASED, RELEASED, RELEASED + HOUR), decision]
    for note in notes:
        note.forum, note.replyto, note.readers = "f", "f", ["everyone"]
    reader = VenueReader(
        venue_id="V",
        raw=None,  # type: ignore[arg-type]
        words=VenueVocabulary(),
        derived={"official_review": ReviewForm("inferred:V", {})},
        gone=frozenset(),
        unconfirmed=frozenset(),
    )
    rows = MagicMock()
    normalise_forum(RawForum("f", [root, *notes]), reader, str, rows, has_paper=True)
    written = [call.args[0] for call in rows.add.call_args_list]
    states = {record.review_id: record.at_decision for record in written if isinstance(record, Review)}
    assert states == dict.fromkeys(("R1", "R2", "R3"), AtDecision.RELEASED) | {"R4": AtDecision.CHANGED_UNSEEN}
