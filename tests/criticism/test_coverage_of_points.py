"""Critical points of a review that a later text takes up again."""

from peercorpus.criticism.answers import MAX_SENTENCES, Coverage, measure_coverage

REVIEW = (
    "Summary:\nThis paper presents kites.\n\nWeaknesses:\n- The kites were flown on one beach only.\n"
    "- There is no comparison with balloons.\n- The glue is not described."
)


def test_discussed_points_are_covered() -> None:
    text = "Thank you. The second beach convinces me.\n\nI still miss the comparison with balloons."
    assert measure_coverage(REVIEW, text) == Coverage(3, 2)
    assert measure_coverage(REVIEW, "I still miss the comparison with balloons.").share == 1 / 3


def test_paragraphs_about_nothing_cover_nothing_whatever_their_order() -> None:
    assert measure_coverage(REVIEW, "Fine.\n\nI see.\n\nI keep my score.\n\nWell.") == Coverage(3, 0)


def test_discussing_praise_covers_nothing() -> None:
    praise = "Strengths:\n- Elegant kites with a long tail."
    assert measure_coverage(praise, "The long tail of these elegant kites is a pleasure.") == Coverage(0, 0)
    assert measure_coverage(praise, "The tail.").share is None
    assert measure_coverage("", "The tail.") == Coverage(0, 0)


def test_only_the_beginning_of_a_very_long_review_counts() -> None:
    long = "Weaknesses:\n" + "\n".join(f"- The kite k{number} falls." for number in range(MAX_SENTENCES + 50))
    found = measure_coverage(long, "The kite k3 no longer falls.")
    assert found.points == MAX_SENTENCES - 1, "the heading is a sentence, too"
    assert found.covered == 1
