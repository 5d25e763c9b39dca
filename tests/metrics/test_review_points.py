"""Recall and precision of a review's points, counted by hand."""

import pytest

from peercorpus.metrics.review_points import PointCounts, count_points, point_coverage, point_precision, point_recall

FIRST = "Weaknesses:\n- The kites were flown on one beach only.\n- There is no comparison with balloons."
SECOND = "Weaknesses:\n- Kites flown on a single beach prove little.\n- The glue is not described."
THIRD = "Weaknesses:\n- All kites flew over the same beach.\n- Balloons would be a fair comparison.\n- Typos abound."
PRAISE = "Strengths:\n- Elegant kites."


def test_a_criticism_counts_as_often_as_reviewers_made_it() -> None:
    """Others: the beach (three reviewers), balloons (two), glue (one) and typos (one): seven in all."""
    others = [FIRST, SECOND, THIRD]
    beach = "Weaknesses:\n- One beach for all kites is too little.\n- The sea is wet."
    assert count_points(beach, others) == PointCounts(raised=7, found=3, points=2, matched=1)
    assert count_points(beach, others).recall == pytest.approx(3 / 7)
    assert count_points(beach, others).precision == 0.5
    glue = "Weaknesses:\n- The glue is a secret."
    assert count_points(glue, others) == PointCounts(raised=7, found=1, points=1, matched=1)


def test_a_copy_covers_all_points() -> None:
    others = [FIRST, SECOND, THIRD]
    assert count_points(SECOND, others) == PointCounts(raised=7, found=4, points=2, matched=2)
    assert count_points(FIRST, [FIRST]) == PointCounts(raised=2, found=2, points=2, matched=2)
    assert count_points("\n\n".join(others), others).recall == 1.0


def test_repeating_a_point_raises_neither_recall_nor_precision() -> None:
    wrong = "- Nobody wrote about boats."
    once = f"Weaknesses:\n- The glue is a secret.\n{wrong}"
    often = "Weaknesses:\n" + "- The glue is a secret.\n" * 9 + wrong
    assert count_points(once, [SECOND]) == PointCounts(raised=2, found=1, points=2, matched=1)
    assert count_points(often, [SECOND]) == count_points(once, [SECOND])


NOTHING = (
    "None.",
    "N/A",
    "Yes.",
    "See weaknesses.",
    "The authors have adequately addressed the limitations.",
    "No. No",
)


@pytest.mark.parametrize("said", NOTHING)
def test_no_criticism_is_not_a_criticism(said: str) -> None:
    blank = f"## Questions\n\n{said}\n\n## Limitations\n\n{said}"
    others = [f"## Weaknesses\n\nThe kites are of paper.\n\n{blank}", f"## Weaknesses\n\nBoats sink.\n\n{blank}"]
    assert count_points(blank, others) == PointCounts(raised=2, found=0, points=0, matched=0)


def test_the_order_of_others_changes_nothing() -> None:
    others = [FIRST, SECOND, THIRD]
    expected = count_points(FIRST, others)
    for turned in (others[::-1], [*others[1:], others[0]]):
        assert count_points(FIRST, turned) == expected
    assert count_points(FIRST, others) == expected


def test_a_models_review_does_not_change_what_people_raised() -> None:
    others = [FIRST, SECOND, THIRD]
    reviews = [FIRST, PRAISE, "Weaknesses:\n" + "- Balloons, beach, kites and glue.\n" * 40]
    assert {count_points(review, others).raised for review in reviews} == {7}


def test_means_are_over_the_texts_that_have_a_number() -> None:
    reviews, others = [FIRST, FIRST, ""], [[FIRST], [PRAISE], [SECOND]]
    assert point_recall(reviews, others) == 0.5
    assert point_precision(reviews, others) == 0.5
    assert point_coverage(["The glue is starch.", "Nice."], [SECOND, PRAISE]) == 0.5
