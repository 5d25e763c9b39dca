"""A review's first answers are kept apart from those written after the rebuttal, or flagged if they cannot be."""

from typing import Any

import pytest

from peercorpus.forms.form import ReviewForm
from peercorpus.forms.reviews import read_review
from peercorpus.forms.score_changes import holds_update
from peercorpus.openreview.objects import Note
from peercorpus.records.enums import Phase, ScoreSource
from peercorpus.records.reviews import Review

NO_FORM = ReviewForm("inferred:V", {})
FIRST, LATER = "The proof is unclear.", "The proof is unclear.\n\nUPDATE: the authors made it clear."


def version(at_ms: int, stood_ms: int | None = None, **fields: Any) -> Note:
    content = {name: {"value": value} for name, value in fields.items()}
    return Note(
        id="r", forum="f", invitations=["V/-/Official_Review"], tcdate=at_ms, tmdate=stood_ms or at_ms, content=content
    )


NOW = version(1_000, 9_000, review=LATER, rating=6)


def read(edits: list[Note], *earlier: Note) -> Review:
    return read_review(NOW, "V", "R1", NO_FORM, edits, earlier)


def test_the_first_text_is_kept() -> None:
    review = read([version(1_000, review=FIRST, rating=3), version(9_000, review=LATER, rating=6)])
    assert [section.text for section in review.sections] == [LATER]
    assert [(section.field, section.text) for section in review.initial_sections] == [("review", FIRST)]
    assert review.updated_fields == ()


def test_a_stored_version_gives_the_text() -> None:
    assert [section.text for section in read([], version(1_000, 2_000, review=FIRST)).initial_sections] == [FIRST]


def test_without_an_initial_text_the_field_is_flagged() -> None:
    review = read([])
    assert (review.initial_sections, review.updated_fields) == ((), ("review",))


def test_an_unchanged_text_is_kept_once() -> None:
    review = read([version(1_000, review=LATER, rating=3), version(9_000, rating=6)])
    assert (review.initial_sections, review.updated_fields) == ((), ())


def test_a_reposted_edit_is_an_earlier_version() -> None:
    review = read([version(1_000, 5_000_000, review=FIRST, rating=3), version(8_000_000, review=LATER, rating=6)])
    assert [score for score in review.scores if score.phase is Phase.INITIAL] == []
    later = version(1_000, 9_000_000, review=LATER, rating=6)
    edits = [version(1_000, 5_000_000, review=FIRST, rating=3), version(8_000_000, review=LATER, rating=6)]
    review = read_review(later, "V", "R1", NO_FORM, edits)
    assert [score for score in review.scores if score.phase is Phase.INITIAL] == []
    assert [(change.before, change.after) for change in review.score_changes] == [(3.0, 6.0)]
    assert [section.text for section in review.initial_sections] == [FIRST]


def test_a_final_justification_is_not_initial() -> None:
    note = version(1_000, 9_000, review=FIRST, final_justification="The rebuttal convinced me.")
    review = read_review(note, "V", "R1", NO_FORM, [])
    assert [section.text for section in review.sections] == [FIRST]
    assert (review.final_justification, review.initial_sections) == ("The rebuttal convinced me.", ())


@pytest.mark.parametrize(
    "line",
    [
        *("UPDATE:", "**Update after the rebuttal**", "--- Edit 2: fixed", "=== POST-REBUTTAL ==="),
        *("After reading the authors' response, I keep my score.", "Updated review", "[Post rebuttal comments]"),
        *("I have read the rebuttal.", "Response to rebuttal:", "Revision: better now"),
    ],
)
def test_a_line_starting_like_an_update_is_one(line: str) -> None:
    assert holds_update(f"A review.\n\n{line}\nMore words.")


@pytest.mark.parametrize(
    "line",
    [
        *("Please update the references.", "The update rule in (3) is wrong.", "Editing images is hard."),
        *("I hope that the rebuttal answers this.", "If addressed after the rebuttal, I would raise my score."),
        "Revisions of Table 2 are needed.",
    ],
)
def test_a_line_mentioning_updates_is_not_one(line: str) -> None:
    assert not holds_update(f"A review.\n\n{line}\nMore words.")


def test_a_followed_edit_shows_earlier_answers() -> None:
    edits = [version(50_000, review=FIRST, rating=5), version(90_000, review=LATER, rating=6)]
    review = read_review(version(1_000, 99_000, review=LATER, rating=6), "V", "R1", NO_FORM, edits)
    assert [score for score in review.scores if score.phase is Phase.INITIAL] == []
    assert [(change.before, change.after, change.source) for change in review.score_changes] == [
        (5.0, 6.0, ScoreSource.EDIT)
    ]
    assert [section.text for section in review.initial_sections] == [FIRST]


def test_an_equal_edit_may_be_the_change() -> None:
    edits = [version(50_000, rating=6), version(90_000, review=LATER, rating=6)]
    review = read_review(version(1_000, 99_000, review=LATER, rating=6), "V", "R1", NO_FORM, edits)
    assert [score.phase for score in review.scores] == [Phase.FINAL]
    assert review.updated_fields == ("review",)
