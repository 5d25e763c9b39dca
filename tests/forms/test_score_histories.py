"""The scores of a review over time: nothing false, whatever part of its history is readable, and whoever changed it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peercorpus.forms.form import ReviewForm
from peercorpus.forms.reviews import read_review
from peercorpus.openreview.objects import Note, to_time
from peercorpus.records.enums import BY_OTHERS, Phase, ScoreSource
from peercorpus.records.reviews import Review

V, DAY_MS = "Invented.cc/2026/Conference", 86_400_000
FORM = ReviewForm(f"inferred:{V}", {})
REVIEWER, CHAIRS, VENUE = f"{V}/Submission1/Reviewer_AbCd", f"{V}/Submission1/Area_Chair_Xy", V
SIGNERS = {REVIEWER: ScoreSource.EDIT, CHAIRS: ScoreSource.EDIT_BY_CHAIRS, VENUE: ScoreSource.EDIT_BY_VENUE}


@dataclass(frozen=True)
class Event:
    """One edit of a review: its day, its signer, what it sets, and whether a guest may read it."""

    day: int
    signer: str
    answers: Mapping[str, Any]
    is_public: bool
    posted_again: int | None = None


@dataclass(frozen=True)
class History:
    """Everything that happened to one review; `seen` are the days after which a harvest stored it."""

    api: int
    events: tuple[Event, ...]
    seen: tuple[int, ...] = ()

    def state(self, day: int) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for event in self.events:
            answers |= event.answers if event.day <= day else {}
        return answers

    def values(self, field: str) -> list[float]:
        return [float(self.state(event.day)[field]) for event in self.events]

    def version(self, day: int) -> Note:
        """Return the review as a harvest after that day receives it."""
        changed = [event.posted_again or event.day for event in self.events if event.day <= day]
        return self._note(self.events[0].day, max(changed), REVIEWER, self.state(day))

    def edits(self) -> list[Note]:
        """Return what a guest may read: API 1 has references, which repeat all answers, and API 2 has patches."""
        return [
            self._note(
                event.day,
                event.posted_again or event.day,
                event.signer,
                self.state(event.day) if self.api == 1 else event.answers,
            )
            for event in self.events
            if event.is_public
        ]

    def _note(self, made: int, changed: int, signer: str, answers: Mapping[str, Any]) -> Note:
        content = dict(answers) if self.api == 1 else {name: {"value": value} for name, value in answers.items()}
        name = f"{V}/Paper1/-/Official_Review"
        invitation: dict[str, Any] = {"invitation": name} if self.api == 1 else {"invitations": [name]}
        return Note(
            id="r",
            forum="f",
            tcdate=made * DAY_MS,
            tmdate=changed * DAY_MS,
            signatures=[signer],
            content=content,
            **invitation,
        )

    def read(self, *remarks: str) -> Review:
        last = self.events[-1].day
        stored = [self.version(day) for day in self.seen if day < last]
        return read_review(self.version(last), V, "Reviewer_AbCd", FORM, self.edits(), stored, remarks)


answers = st.fixed_dictionaries(
    {}, optional={"rating": st.integers(1, 10), "confidence": st.integers(1, 5), "review": st.sampled_from("ABC")}
)


@st.composite
def histories(draw: st.DrawFn) -> History:
    first = {"rating": draw(st.integers(1, 10)), "confidence": draw(st.integers(1, 5)), "review": "A"}
    events = [Event(1, draw(st.sampled_from([REVIEWER, VENUE])), first, draw(st.booleans()))]
    for day in range(2, 2 + draw(st.integers(0, 5))):
        signer = draw(st.sampled_from(list(SIGNERS)))
        events.append(Event(2 * day, signer, draw(answers), draw(st.booleans())))
    again = draw(st.integers(0, len(events)))
    if again < len(events):  # Posted again with other content: what it said before is lost.
        event = events[again]
        events[again] = Event(event.day, event.signer, event.answers, event.is_public, events[-1].day + 1)
    return History(draw(st.sampled_from([1, 2])), tuple(events), tuple(draw(st.lists(st.integers(1, 14), max_size=3))))


def by_phase(review: Review, phase: Phase) -> dict[str, float | None]:
    return {score.field: score.value for score in review.scores if score.phase is phase}


@settings(max_examples=1_000, deadline=None)
@given(histories())
def test_no_first_value_of_a_history_is_false(history: History) -> None:
    review = history.read()
    for field, value in by_phase(review, Phase.INITIAL).items():
        assert value == history.values(field)[0]
    for field, value in by_phase(review, Phase.FINAL).items():
        assert value == history.values(field)[-1]


@settings(max_examples=1_000, deadline=None)
@given(histories())
def test_every_change_is_its_signers(history: History) -> None:
    for change in history.read().score_changes:
        values = history.values(change.field)
        assert change.before in values
        assert change.after in values[values.index(change.before) :]
        if change.changed_at is not None:
            (event,) = (event for event in history.events if to_time(event.day * DAY_MS) == change.changed_at)
            # A reference of API 1 repeats all answers, also those that a hidden one changed.
            assert history.state(event.day)[change.field] == change.after
            assert change.source is SIGNERS[event.signer]


@settings(max_examples=1_000, deadline=None)
@given(histories())
def test_an_unrevised_review_has_its_first_answers_but_for_those_of_others(history: History) -> None:
    review = history.read()
    own = {event.signer for event in history.events[1:]} <= {CHAIRS, VENUE}
    if review.revised is False:
        by_others = {score.field for score in review.scores if score.source in BY_OTHERS}
        first, last = (by_phase(review, phase) for phase in (Phase.INITIAL, Phase.FINAL))
        assert {name: first[name] for name in first if name not in by_others} == {
            name: last[name] for name in first if name not in by_others
        }
        assert first.keys() == last.keys()
    if own and all(event.is_public for event in history.events) and not any(e.posted_again for e in history.events):
        assert review.revised is False


@pytest.mark.parametrize("api", [1, 2])
def test_a_review_that_was_never_modified_has_its_first_score(api: int) -> None:
    review = History(api, (Event(1, REVIEWER, {"rating": 6}, is_public=False),)).read()
    assert [(score.value, score.phase, score.source) for score in review.scores] == [
        (6.0, Phase.FINAL, ScoreSource.NOTE),
        (6.0, Phase.INITIAL, ScoreSource.NEVER_MODIFIED),
    ]
    assert review.revised is False


@pytest.mark.parametrize("api", [1, 2])
def test_a_modified_note_without_edits_proves_nothing(api: int) -> None:
    hidden = Event(1, REVIEWER, {"rating": 6}, is_public=False), Event(9, VENUE, {}, is_public=False)
    review = History(api, hidden).read()
    assert (by_phase(review, Phase.INITIAL), review.revised) == ({}, None)


@pytest.mark.parametrize("api", [1, 2])
@pytest.mark.parametrize("later", [1, 2])
def test_an_edited_score_is_not_the_initial_one(api: int, later: int) -> None:
    hidden = Event(1, REVIEWER, {"rating": 8, "review": "A"}, is_public=False)
    public = [Event(day, REVIEWER, {"rating": 1, "review": "A"}, is_public=True) for day in range(2, 2 + later)]
    review = History(api, (hidden, *public)).read()
    assert (by_phase(review, Phase.INITIAL), review.revised) == ({}, None)


@pytest.mark.parametrize(
    ("signer", "source"), [(CHAIRS, ScoreSource.EDIT_BY_CHAIRS), (VENUE, ScoreSource.EDIT_BY_VENUE)]
)
def test_an_edit_by_others_is_not_the_reviewers_change(signer: str, source: ScoreSource) -> None:
    created = Event(1, REVIEWER, {"rating": 6, "review": "A"}, is_public=True)
    review = History(2, (created, Event(9, signer, {"rating": 5}, is_public=True))).read("I keep my score.")
    assert [(change.before, change.after, change.source) for change in review.score_changes] == [(6.0, 5.0, source)]
    assert [(score.phase, score.value, score.source) for score in review.scores] == [
        (Phase.FINAL, 5.0, source),
        (Phase.INITIAL, 6.0, ScoreSource.EDIT),
    ]
    assert review.revised is False


def test_a_review_posted_for_its_reviewer_is_the_reviewers() -> None:
    review = History(2, (Event(1, VENUE, {"rating": 6}, is_public=True), Event(9, VENUE, {}, is_public=True))).read()
    assert {score.source for score in review.scores} == {ScoreSource.NOTE, ScoreSource.EDIT}


def test_an_unsigned_edit_through_the_venues_own_invitation_is_the_venues() -> None:
    created = Event(1, REVIEWER, {"rating": 6}, is_public=True)
    history = History(2, (created, Event(9, REVIEWER, {"rating": 5}, is_public=True)))
    edits = history.edits()
    edits[1].signatures, edits[1].invitations = None, [f"{V}/-/Edit"]
    review = read_review(history.version(9), V, "Reviewer_AbCd", FORM, edits)
    assert [change.source for change in review.score_changes] == [ScoreSource.EDIT_BY_VENUE]
