"""The state of a review at its decision: shown by times, edits or the release of reviews; or unknown, and why."""

from datetime import UTC, datetime
from typing import Any

import pytest

from peercorpus.forms.at_decision import changed_together
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.normalise import RawForum, normalise_forum
from peercorpus.forms.posts import read_post
from peercorpus.forms.reviews import read_review
from peercorpus.forms.venue_forms import VenueReader
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, to_time
from peercorpus.records.enums import AtDecision, Phase, PostKind, Role, ScoreSource
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Post, Review, Section, forget_decision

FORM = ReviewForm("inferred:V", {})
DECIDED = 5_000
MADE = {1: {"invitation": "V/-/Official_Review"}, 2: {"invitations": ["V/-/Official_Review"]}}


def note(api: int, made: int | None, changed: int | None, **answers: Any) -> Note:
    content = answers if api == 1 else {name: {"value": value} for name, value in answers.items()}
    return Note(id="r", forum="f", tcdate=made, tmdate=changed, content=content, **MADE[api])  # type: ignore[arg-type]


def read(current: Note, *edits: Note, decided: int | None = DECIDED) -> Review:
    return read_review(current, "V", "R1", FORM, edits, decided_at=to_time(decided))


def then(review: Review) -> list[tuple[str, float | None, ScoreSource]]:
    return [(score.field, score.value, score.source) for score in review.scores if score.phase is Phase.AT_DECISION]


@pytest.mark.parametrize("api", [1, 2])
@pytest.mark.parametrize(
    ("made", "changed", "decided", "why", "after"),
    [
        (1_000, 1_000, DECIDED, AtDecision.UNCHANGED, False),
        (1_000, 5_000, DECIDED, AtDecision.UNCHANGED, False),
        (1_000, 9_000, DECIDED, AtDecision.CHANGED_UNSEEN, False),
        (6_000, 6_000, DECIDED, AtDecision.POSTED_AFTER, True),
        (1_000, 1_000, None, AtDecision.NO_DECISION_TIME, None),
        (None, None, DECIDED, AtDecision.NO_REVIEW_TIME, None),
        (1_000, None, DECIDED, AtDecision.NO_REVIEW_TIME, False),
    ],
)
def test_times_show_scores_at_the_decision(
    api: int, made: int | None, changed: int | None, decided: int | None, why: AtDecision, after: bool | None
) -> None:
    review = read(note(api, made, changed, rating=6), decided=decided)
    assert (review.at_decision, review.posted_after_decision) == (why, after)
    assert then(review) == ([("rating", 6.0, ScoreSource.NOTE)] if why is AtDecision.UNCHANGED else [])


@pytest.mark.parametrize("api", [1, 2])
def test_edits_show_the_score_before_a_later_change(api: int) -> None:
    edits = [note(api, 1_000, 1_000, rating=3), note(api, 4_000, 4_000, rating=5), note(api, 9_000, 9_000, rating=8)]
    review = read(note(api, 1_000, 9_000, rating=8), *edits)
    assert (review.at_decision, then(review)) == (AtDecision.EDITS, [("rating", 5.0, ScoreSource.EDIT)])
    by_phase = {score.phase: score.value for score in review.scores}
    assert by_phase == {Phase.INITIAL: 3.0, Phase.AT_DECISION: 5.0, Phase.FINAL: 8.0}


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [note(2, 9_000, 9_000, rating=8)],
        [note(2, 1_000, 8_000, rating=3), note(2, 9_000, 9_000, rating=8)],
        [note(2, 1_000, 1_000, rating=3), note(2, 8_000, 8_000, rating=5)],
        [note(2, 1_000, 1_000, review="Words.")],
    ],
    ids=["hidden", "the later one alone", "posted again", "does not lead to today", "another field"],
)
def test_possibly_incomplete_edits_show_nothing(edits: list[Note]) -> None:
    review = read(note(2, 1_000, 9_000, rating=8), *edits)
    assert then(review) == []


def texts(sections: tuple[Section, ...]) -> dict[str, str]:
    return {section.field: section.text for section in sections}


@pytest.mark.parametrize("api", [1, 2])
def test_edits_show_the_texts_before_a_later_change(api: int) -> None:
    first = note(api, 1_000, 1_000, review="It may fly.", summary="A kite.")
    then, after = note(api, 4_000, 4_000, review="It flies."), note(api, 9_000, 9_000, review="Well decided.")
    current = note(api, 1_000, 9_000, review="Well decided.", summary="A kite.")
    review = read(current, first, then, after)
    assert texts(review.sections_at_decision) == {"review": "It flies.", "summary": "A kite."}
    assert texts(review.initial_sections) == {"review": "It may fly."}
    assert texts(review.sections) == {"review": "Well decided.", "summary": "A kite."}
    assert forget_decision(review).sections_at_decision == ()


def test_unchanged_texts_are_not_repeated() -> None:
    assert read(note(2, 1_000, 1_000, review="It flies.")).sections_at_decision == ()
    assert read(note(2, 1_000, 9_000, review="It flies."), note(2, 1_000, 1_000, rating=3)).sections_at_decision == ()


@pytest.mark.parametrize(("seen", "first"), [(4_000, {"review": "It may fly."}), (6_000, {})])
def test_a_late_snapshot_is_no_initial_value(seen: int, first: dict[str, str]) -> None:
    snapshot = note(2, 1_000, seen, rating=5, review="It may fly.")
    current = note(2, 1_000, 9_000, rating=8, review="It flies.")
    review = read_review(current, "V", "R1", FORM, [], [snapshot], decided_at=to_time(DECIDED))
    assert texts(review.initial_sections) == first
    given = [score.value for score in review.scores if score.phase is Phase.INITIAL]
    assert given == []
    assert [(change.before, change.after) for change in review.score_changes] == [(5.0, 8.0)]
    assert review.revised


def test_late_reviews_have_late_first_versions() -> None:
    current, snapshot = note(2, 6_000, 9_000, rating=8), note(2, 6_000, 6_000, rating=5)
    review = read_review(current, "V", "R1", FORM, [], [snapshot], decided_at=to_time(DECIDED))
    assert [score.value for score in review.scores if score.phase is Phase.INITIAL] == [5.0]


def test_data_about_the_decision_can_be_removed() -> None:
    review = forget_decision(read(note(2, 1_000, 1_000, rating=6)))
    assert (then(review), review.posted_after_decision, review.at_decision) == ([], None, AtDecision.NO_DECISION_TIME)


@pytest.mark.parametrize(("made", "decided", "after"), [(1, 5, False), (5, 5, False), (6, 5, True), (6, None, None)])
def test_a_post_knows_the_decision(made: int, decided: int | None, after: bool | None) -> None:
    decided_at = None if decided is None else datetime.fromtimestamp(decided, UTC)
    comment = Note(id="c", forum="f", tcdate=made * 1_000, content={"comment": {"value": "Why?"}})
    post = read_post(comment, "V", PostKind.COMMENT, (Role.PUBLIC, "public_1"), decided_at=decided_at)
    assert post.posted_after_decision is after


class Rows:
    """Receives the records of a forum."""

    def __init__(self) -> None:
        self.records: list[Any] = []

    def add(self, record: Any) -> None:
        self.records.append(record)


def of_forum(*replies: Note) -> list[Any]:
    root = Note(id="f", forum="f", tcdate=1, readers=["everyone"], invitations=["V/-/Submission"], content={})
    for reply in replies:
        reply.forum, reply.replyto, reply.readers = "f", "f", ["everyone"]
    reader = VenueReader(
        venue_id="V",
        raw=None,  # type: ignore[arg-type]
        words=VenueVocabulary(),
        derived={"review": FORM, "official_review": FORM},
        gone=frozenset(),
        unconfirmed=frozenset(),
    )
    rows = Rows()
    forum = RawForum("f", [root, *replies])
    normalise_forum(forum, reader, str, rows, has_paper=True)  # type: ignore[arg-type]
    return rows.records


def test_a_journals_recommendation_is_a_score() -> None:
    signed = ["V/Paper1/Reviewer_AbCd"]
    review = Note(id="r", tcdate=1_000, tmdate=1_000, signatures=signed, invitations=["V/Paper1/-/Review"])
    review.content = {"summary_of_contributions": {"value": "It flies."}}
    told = Note(
        id="o", tcdate=3_000, tmdate=3_000, signatures=signed, invitations=["V/Paper1/-/Official_Recommendation"]
    )
    told.content = {"decision_recommendation": {"value": "Leaning Accept"}, "comment": {"value": "Fine."}}
    decided = Note(id="d", tcdate=DECIDED, tmdate=DECIDED, signatures=["V"], invitations=["V/Paper1/-/Decision"])
    decided.content = {"recommendation": {"value": "Accept as is"}}
    late = Note(id="l", tcdate=9_000, tmdate=9_000, signatures=["~A_B1"], invitations=["V/Paper1/-/Public_Comment"])
    late.content = {"comment": {"value": "Congratulations."}}
    records = of_forum(review, told, decided, late)
    (paper,) = [record for record in records if isinstance(record, Paper)]
    (found,) = [record for record in records if isinstance(record, Review)]
    assert paper.decided_at == to_time(DECIDED)
    assert [(s.aspect, s.field, s.label, s.phase, s.source) for s in found.scores] == [
        ("recommendation", "decision_recommendation", "Leaning Accept", phase, "recommendation")
        for phase in (Phase.FINAL, Phase.AT_DECISION)
    ]
    after = {record.post_id: record.posted_after_decision for record in records if isinstance(record, Post)}
    assert after == {"r": False, "o": False, "d": False, "l": True}


HOUR = 3_600_000
MINUTE = 60_000
POSTED, DECIDED_BEFORE, RELEASED = 10 * HOUR, 900 * HOUR, 1_300 * HOUR


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
    review = read_review(note, "V", "R1", FORM, edits, decided_at=to_time(DECIDED_BEFORE), is_released=True)
    assert review.at_decision is state
    then = [score.value for score in review.scores if score.phase is Phase.AT_DECISION]
    assert then == ([6.0] if state is AtDecision.RELEASED else [])


def test_released_and_changed_reviews_differ() -> None:
    decision = a_note("Program_Chairs", RELEASED, posted=DECIDED_BEFORE)
    decision.invitations = ["V/Submission1/-/Decision", "V/-/Edit"]
    decision.content = {"decision": {"value": "Accept"}}
    written = of_forum(*reviews_changed_at(RELEASED, RELEASED, RELEASED, RELEASED + HOUR), decision)
    states = {record.review_id: record.at_decision for record in written if isinstance(record, Review)}
    assert states == dict.fromkeys(("R1", "R2", "R3"), AtDecision.RELEASED) | {"R4": AtDecision.CHANGED_UNSEEN}
