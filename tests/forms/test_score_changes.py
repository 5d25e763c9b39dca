"""When a reviewer changed what, as far as the readable edits of the review show it."""

from typing import Any

from peercorpus.forms.form import ReviewForm
from peercorpus.forms.reviews import read_review
from peercorpus.openreview.objects import Note, to_time
from peercorpus.records.enums import ScoreSource
from peercorpus.records.reviews import Review

DAY_MS = 86_400_000


def version(day: int, posted_again: int | None = None, **fields: Any) -> Note:
    """A review, or an edit of it, of a day."""
    return Note(
        id="r",
        forum="f",
        invitations=["V/-/Official_Review"],
        tcdate=day * DAY_MS,
        tmdate=(day if posted_again is None else posted_again) * DAY_MS,
        content={name: {"value": value} for name, value in fields.items()},
    )


def read(now: Note, *edits: Note, earlier: tuple[Note, ...] = (), remarks: tuple[str, ...] = ()) -> Review:
    return read_review(now, "V", "R1", ReviewForm("inferred:V", {}), edits, earlier, remarks)


def changes(review: Review) -> list[tuple[str, float | None, float | None, int | None, ScoreSource]]:
    days = {to_time(day * DAY_MS): day for day in range(1, 30)}
    return [(one.field, one.before, one.after, days.get(one.changed_at), one.source) for one in review.score_changes]


def test_each_edit_that_changes_a_score_is_a_change_with_its_time() -> None:
    edits = version(1, rating=5, confidence=3), version(4, rating=6), version(9, rating=8)
    assert changes(read(version(1, 9, rating=8, confidence=3), *edits)) == [
        ("rating", 5.0, 6.0, 4, ScoreSource.EDIT),
        ("rating", 6.0, 8.0, 9, ScoreSource.EDIT),
    ]


def test_the_order_in_which_edits_are_listed_does_not_matter() -> None:
    edits = version(9, rating=8), version(1, rating=5), version(4, rating=6)
    now = version(1, 9, rating=8)
    assert changes(read(now, *edits)) == changes(read(now, *reversed(edits)))


def test_a_reposted_edit_gives_no_time() -> None:
    edits = version(1, rating=5), version(4, 7, rating=6)
    assert changes(read(version(1, 7, rating=6), *edits)) == [("rating", 5.0, 6.0, None, ScoreSource.EDIT)]


def test_an_edit_reposted_after_the_next_one_gives_no_change() -> None:
    assert changes(read(version(1, 7, rating=8), version(1, 7, rating=8), version(5, rating=6))) == []


def test_an_edit_without_a_time_has_no_position_and_rewording_a_score_is_not_a_change() -> None:
    untimed = version(1, rating=6)
    untimed.tcdate = untimed.tmdate = None
    assert changes(read(version(1, 5, rating=5), version(2, rating=5), untimed)) == []
    assert changes(read(version(1, 5, rating="6: above"), version(1, rating=6), version(5, rating="6: above"))) == []


def test_a_change_between_two_stored_versions_has_no_time() -> None:
    now = version(1, 9, rating=8)
    assert changes(read(now, earlier=(version(1, 2, rating=5),))) == [("rating", 5.0, 8.0, None, ScoreSource.SNAPSHOT)]


def test_a_review_that_never_changed_has_no_changes() -> None:
    assert changes(read(version(1, rating=5), version(1, rating=5), version(3, summary="A kite."))) == []


def test_the_final_justification_has_the_time_of_its_edit() -> None:
    now = version(1, 9, rating=5, final_justification="All is well.")
    edits = version(1, rating=5), version(9, final_justification="All is well.")
    assert read(now, *edits).justified_at == to_time(9 * DAY_MS)
    assert read(now, version(2, rating=5, final_justification="All is well.")).justified_at is None
    assert read(now).justified_at is None
