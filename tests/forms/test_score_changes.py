"""When a reviewer changed what, as far as the readable edits of the review show it."""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.normalise import STAGE, balance
from peercorpus.forms.reviews import read_review
from peercorpus.forms.score_changes import holds_update
from peercorpus.openreview.objects import Note, to_time
from peercorpus.records.enums import BY_OTHERS, Phase, Reason, ScoreSource
from peercorpus.records.papers import SetAside
from peercorpus.records.reviews import Review, Section
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

V, DAY_MS = "Invented.cc/2026/Conference", 86_400_000
FORM = ReviewForm(f"inferred:{V}", {})
REVIEWER, CHAIRS, VENUE = f"{V}/Submission1/Reviewer_AbCd", f"{V}/Submission1/Area_Chair_Xy", V
SIGNERS = {REVIEWER: ScoreSource.EDIT, CHAIRS: ScoreSource.EDIT_BY_CHAIRS, VENUE: ScoreSource.EDIT_BY_VENUE}
FIRST, LATER = "The proof is unclear.", "The proof is unclear.\n\nUPDATE: the authors made it clear."


def version(day: int, posted_again: int | None = None, **fields: Any) -> Note:
    """A review, or an edit of it, of a day."""
    return Note(
        id="r",
        forum="f",
        invitations=[f"{V}/-/Official_Review"],
        tcdate=day * DAY_MS,
        tmdate=(posted_again or day) * DAY_MS,
        content={name: {"value": value} for name, value in fields.items()},
    )


NOW = version(1, 9, review=LATER, rating=6)


def read(now: Note, *edits: Note, earlier: tuple[Note, ...] = ()) -> Review:
    return read_review(now, V, "Reviewer_AbCd", FORM, edits, earlier)


def changes(review: Review) -> list[tuple[str, float | None, float | None, int | None, ScoreSource]]:
    days = {to_time(day * DAY_MS): day for day in range(1, 30)}
    return [(one.field, one.before, one.after, days.get(one.changed_at), one.source) for one in review.score_changes]


def by_phase(review: Review, phase: Phase) -> dict[str, float | None]:
    return {score.field: score.value for score in review.scores if score.phase is phase}


def texts(sections: tuple[Section, ...]) -> list[str]:
    return [section.text for section in sections]


def test_each_edit_is_a_dated_change() -> None:
    edits = version(1, rating=5, confidence=3), version(4, rating=6), version(9, rating=8)
    assert changes(read(version(1, 9, rating=8, confidence=3), *edits)) == [
        ("rating", 5.0, 6.0, 4, ScoreSource.EDIT),
        ("rating", 6.0, 8.0, 9, ScoreSource.EDIT),
    ]


def test_the_order_of_edits_changes_nothing() -> None:
    edits = version(9, rating=8), version(1, rating=5), version(4, rating=6)
    now = version(1, 9, rating=8)
    assert changes(read(now, *edits)) == changes(read(now, *reversed(edits)))


def test_a_reposted_edit_gives_no_time() -> None:
    edits = version(1, rating=5), version(4, 7, rating=6)
    assert changes(read(version(1, 7, rating=6), *edits)) == [("rating", 5.0, 6.0, None, ScoreSource.EDIT)]


def test_a_reposted_edit_gives_no_change() -> None:
    assert changes(read(version(1, 7, rating=8), version(1, 7, rating=8), version(5, rating=6))) == []


def test_rewording_is_no_change() -> None:
    untimed = version(1, rating=6)
    untimed.tcdate = untimed.tmdate = None
    assert changes(read(version(1, 5, rating=5), version(2, rating=5), untimed)) == []
    assert changes(read(version(1, 5, rating="6: above"), version(1, rating=6), version(5, rating="6: above"))) == []


def test_stored_versions_give_undated_changes() -> None:
    now = version(1, 9, rating=8)
    assert changes(read(now, earlier=(version(1, 2, rating=5),))) == [("rating", 5.0, 8.0, None, ScoreSource.SNAPSHOT)]


def test_a_review_that_never_changed_has_no_changes() -> None:
    assert changes(read(version(1, rating=5), version(1, rating=5), version(3, summary="A kite."))) == []


def test_a_final_justification_is_dated() -> None:
    now = version(1, 9, rating=5, final_justification="All is well.")
    edits = version(1, rating=5), version(9, final_justification="All is well.")
    assert read(now, *edits).justified_at == to_time(9 * DAY_MS)
    assert read(now, version(2, rating=5, final_justification="All is well.")).justified_at is None
    assert read(now).justified_at is None


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
def test_an_unrevised_review_keeps_first_answers(history: History) -> None:
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
def test_an_unmodified_review_has_first_scores(api: int) -> None:
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
def test_others_edits_are_not_the_reviewers(signer: str, source: ScoreSource) -> None:
    created = Event(1, REVIEWER, {"rating": 6, "review": "A"}, is_public=True)
    review = History(2, (created, Event(9, signer, {"rating": 5}, is_public=True))).read("I keep my score.")
    assert [(change.before, change.after, change.source) for change in review.score_changes] == [(6.0, 5.0, source)]
    assert [(score.phase, score.value, score.source) for score in review.scores] == [
        (Phase.FINAL, 5.0, source),
        (Phase.INITIAL, 6.0, ScoreSource.EDIT),
    ]
    assert review.revised is False


def test_posting_for_a_reviewer_counts() -> None:
    review = History(2, (Event(1, VENUE, {"rating": 6}, is_public=True), Event(9, VENUE, {}, is_public=True))).read()
    assert {score.source for score in review.scores} == {ScoreSource.NOTE, ScoreSource.EDIT}


def test_an_unsigned_edit_is_the_venues() -> None:
    created = Event(1, REVIEWER, {"rating": 6}, is_public=True)
    history = History(2, (created, Event(9, REVIEWER, {"rating": 5}, is_public=True)))
    edits = history.edits()
    edits[1].signatures, edits[1].invitations = None, [f"{V}/-/Edit"]
    review = read_review(history.version(9), V, "Reviewer_AbCd", FORM, edits)
    assert [change.source for change in review.score_changes] == [ScoreSource.EDIT_BY_VENUE]


PAPER = {
    "id": "paper",
    "forum": "paper",
    "invitations": [f"{V}/-/Submission"],
    "readers": ["everyone"],
    "tcdate": DAY_MS,
    "tmdate": DAY_MS,
    "content": {"title": {"value": "On Kites"}},
}
FINAL = (6.0, Phase.FINAL, ScoreSource.NOTE)


def stored(day: int, rating: int | None, text: str = "Clear.", **more: Any) -> RawObject:
    """The review as it was some days after its posting; without a rating if its field was hidden."""
    fields: dict[str, Any] = {"review": text, "confidence": 4} | ({} if rating is None else {"rating": rating})
    return raw(
        {
            "id": "r",
            "forum": "paper",
            "replyto": "paper",
            "invitations": [f"{V}/Submission1/-/Official_Review"],
            "signatures": [REVIEWER],
            "readers": ["everyone"],
            "tcdate": DAY_MS,
            "tmdate": (1 + day) * DAY_MS,
            "content": {name: {"value": value} for name, value in fields.items()},
        }
        | more
    )


def raw(note: dict[str, Any]) -> RawObject:
    body = json.dumps(note).encode()
    return RawObject(RawKind.NOTE, note["id"], 2, V, "paper", note["id"], note["tmdate"], 0, "test", body)


def edit(edit_id: str, day: int, rating: int) -> RawObject:
    at = (1 + day) * DAY_MS
    note = {"id": "r", "content": {"rating": {"value": rating}, "review": {"value": "Clear."}}}
    body = {"id": edit_id, "readers": ["everyone"], "tcdate": at, "tmdate": at, "note": note}
    return RawObject(RawKind.EDIT, edit_id, 2, V, "paper", "r", at, 0, "test", json.dumps(body).encode())


def normalised(folder: Path, *objects: RawObject) -> tuple[list[Review], list[SetAside]]:
    """Return the reviews and what was set aside, from objects that arrived in successive harvests."""
    folder.mkdir(parents=True)
    with closing(Workspace(folder)) as workspace:
        for found in (raw(PAPER), *objects):
            with workspace.raw.transaction():
                workspace.raw.add([found])
        STAGE.run(workspace, V, BuildRequest(), "ab" * 32, no_report)
        assert all(one.holds for one in balance(workspace, V))
        return list(workspace.tables.read(Review, V)), list(workspace.tables.read(SetAside, V))


def initially(value: float, source: ScoreSource) -> tuple[float, Phase, ScoreSource]:
    return value, Phase.INITIAL, source


HIDDEN_VERSIONS: dict[str, dict[str, Any]] = {
    "not public": {"readers": [V]},
    "deleted": {"ddate": DAY_MS},
    "unreadable": {"content": "no object"},
    "its rating not public": {"content": {"rating": {"value": 3, "readers": [V]}, "review": {"value": "Clear."}}},
}


@pytest.mark.parametrize(
    ("objects", "ratings", "revised"),
    [
        pytest.param(
            [stored(0, 3), stored(8, 5), stored(15, 6)],
            [FINAL, initially(3, ScoreSource.SNAPSHOT)],
            True,
            id="an unmodified version gives the initial scores",
        ),
        pytest.param([stored(1, 3), stored(8, 5), stored(15, 6)], [FINAL], True, id="a modified one only changes"),
        pytest.param([stored(0, None), stored(8, 5), stored(15, 6)], [FINAL], True, id="the first rating was hidden"),
        pytest.param([stored(1, 6, readers=["everyone", V], mdate=5), stored(8, 6)], [FINAL], None, id="equal"),
        pytest.param([stored(1, 6, "Unclear."), stored(8, 6)], [FINAL], True, id="a passage was rewritten"),
        pytest.param([stored(1, 3), stored(8, None)], [], None, id="a rating that is gone is not revived"),
        pytest.param([stored(1, 3), stored(1, 5), stored(8, 6)], [FINAL], True, id="two that disagree prove nothing"),
        pytest.param([stored(1, 5), stored(1, 3), stored(8, 6)], [FINAL], True, id="in either order"),
        pytest.param(
            [edit("e1", 0, 2), edit("e2", 8, 6), stored(1, 3), stored(8, 6)],
            [FINAL, initially(2, ScoreSource.EDIT)],
            True,
            id="edits come before snapshots",
        ),
        pytest.param(
            [edit("e1", 0, 6), edit("e2", 4, 3), edit("e3", 8, 6), stored(4, 3), stored(8, 6)],
            [FINAL, initially(6, ScoreSource.EDIT)],
            True,
            id="edits overrule versions between",
        ),
        pytest.param(
            [edit("e2", 8, 6), stored(0, 3), stored(8, 6)],
            [FINAL, initially(3, ScoreSource.SNAPSHOT)],
            True,
            id="a later edit leaves the first scores",
        ),
        *(
            pytest.param([stored(1, 3, **hidden), stored(8, 6)], [FINAL], None, id=f"{name} is ignored")
            for name, hidden in HIDDEN_VERSIONS.items()
        ),
    ],
)
def test_stored_versions_show_first_ratings(
    tmp_path: Path,
    objects: list[RawObject],
    ratings: list[tuple[float, Phase, ScoreSource]],
    revised: bool | None,
) -> None:
    (found,), _ = normalised(tmp_path / "w", *objects)
    scores = [(score.value, score.phase, score.source) for score in found.scores if score.field == "rating"]
    assert (scores, found.revised) == (ratings, revised)


def test_an_unmodified_version_gives_all_scores(tmp_path: Path) -> None:
    (found,), _ = normalised(tmp_path / "w", stored(0, 3), stored(8, 6))
    assert by_phase(found, Phase.INITIAL) == {"confidence": 4.0, "rating": 3.0}


@pytest.mark.parametrize(("first", "before"), [(stored(1, 3), 3.0), (stored(0, None), 5.0)])
def test_stored_versions_show_one_change(tmp_path: Path, first: RawObject, before: float) -> None:
    (found,), _ = normalised(tmp_path / "w", first, stored(8, 5), stored(15, 6))
    assert changes(found) == [("rating", before, 6.0, None, ScoreSource.SNAPSHOT)]


@pytest.mark.slow
def test_the_order_of_arrival_changes_nothing(tmp_path: Path) -> None:
    orders = permutations([stored(1, 3), stored(8, 5), stored(15, 6)])
    found = [normalised(tmp_path / str(number), *order) for number, order in enumerate(orders)]
    assert all(one == found[0] for one in found)


def test_an_unreadable_version_is_not_replaced(tmp_path: Path) -> None:
    reviews, aside = normalised(tmp_path / "w", stored(1, 3), stored(8, 6, content="no object"))
    assert reviews == []
    assert [(row.record_id, row.reason) for row in aside] == [("r", Reason.UNREADABLE)]


def test_the_first_text_is_kept() -> None:
    review = read(NOW, version(1, review=FIRST, rating=3), version(9, review=LATER, rating=6))
    assert texts(review.sections) == [LATER]
    assert [(section.field, section.text) for section in review.initial_sections] == [("review", FIRST)]
    assert review.updated_fields == ()


def test_a_stored_version_gives_the_text() -> None:
    assert texts(read(NOW, earlier=(version(1, 2, review=FIRST),)).initial_sections) == [FIRST]


def test_without_an_initial_text_the_field_is_flagged() -> None:
    review = read(NOW)
    assert (review.initial_sections, review.updated_fields) == ((), ("review",))


def test_an_unchanged_text_is_kept_once() -> None:
    review = read(NOW, version(1, review=LATER, rating=3), version(9, rating=6))
    assert (review.initial_sections, review.updated_fields) == ((), ())


@pytest.mark.parametrize(
    ("first", "last", "before"),
    [(version(1, 15, review=FIRST, rating=3), 18, 3.0), (version(5, review=FIRST, rating=5), 9, 5.0)],
    ids=["the first was posted again", "the first is hidden"],
)
def test_a_followed_edit_shows_earlier_answers(first: Note, last: int, before: float) -> None:
    edits = first, version(last, review=LATER, rating=6)
    review = read(version(1, 20, review=LATER, rating=6), *edits)
    assert by_phase(review, Phase.INITIAL) == {}
    assert changes(review) == [("rating", before, 6.0, last, ScoreSource.EDIT)]
    assert texts(review.initial_sections) == [FIRST]


def test_a_newer_edit_is_not_initial() -> None:
    review = read(NOW, version(1, 15, review=FIRST, rating=3), version(18, review=LATER, rating=6))
    assert by_phase(review, Phase.INITIAL) == {}


def test_an_equal_edit_may_be_the_change() -> None:
    now = version(1, 20, review=LATER, rating=6)
    review = read(now, version(5, rating=6), version(9, review=LATER, rating=6))
    assert [score.phase for score in review.scores] == [Phase.FINAL]
    assert review.updated_fields == ("review",)


def test_a_final_justification_is_not_initial() -> None:
    review = read(version(1, 9, review=FIRST, final_justification="The rebuttal convinced me."))
    assert texts(review.sections) == [FIRST]
    assert (review.final_justification, review.initial_sections) == ("The rebuttal convinced me.", ())


@pytest.mark.parametrize(
    ("line", "is_update"),
    [
        *(
            (line, True)
            for line in (
                *("UPDATE:", "**Update after the rebuttal**", "--- Edit 2: fixed", "=== POST-REBUTTAL ==="),
                *("After reading the authors' response, I keep my score.", "Updated review"),
                *("[Post rebuttal comments]", "I have read the rebuttal.", "Response to rebuttal:"),
                "Revision: better now",
            )
        ),
        *(
            (line, False)
            for line in (
                *("Please update the references.", "The update rule in (3) is wrong.", "Editing images is hard."),
                *("I hope that the rebuttal answers this.", "Revisions of Table 2 are needed."),
                "If addressed after the rebuttal, I would raise my score.",
            )
        ),
    ],
)
def test_an_update_starts_a_line(line: str, *, is_update: bool) -> None:
    assert holds_update(f"A review.\n\n{line}\nMore words.") is is_update
