"""Critical points of a review that a later text takes up again."""

from peercorpus.criticism.answers import MAX_SENTENCES, Coverage, measure_coverage

REVIEW = (
    "Summary:\nThis paper presents kites.\n\nWeaknesses:\n- The kites were flown on one beach only.\n"
    "- There is no comparison with balloons.\n- The glue is not described."
)


def test_points_that_a_text_discusses_are_covered_and_others_are_not() -> None:
    text = "Thank you. The second beach convinces me.\n\nI still miss the comparison with balloons."
    assert measure_coverage(REVIEW, text) == Coverage(3, 2)
    assert measure_coverage(REVIEW, "I still miss the comparison with balloons.").share == 1 / 3


def test_thanks_and_empty_texts_cover_nothing() -> None:
    assert measure_coverage(REVIEW, "Thank you for the response.") == Coverage(3, 0)
    assert measure_coverage(REVIEW, "") == Coverage(3, 0)


def test_words_that_only_repeat_a_point_do_not_cover_it() -> None:
    assert measure_coverage(REVIEW, "> There is no comparison with balloons.") == Coverage(3, 0)


def test_paragraphs_about_nothing_cover_nothing_whatever_their_order() -> None:
    assert measure_coverage(REVIEW, "Fine.\n\nI see.\n\nI keep my score.\n\nWell.") == Coverage(3, 0)


def test_a_named_label_covers_its_point() -> None:
    labelled = "Weaknesses:\nW1. The kites fall.\nW2. The glue is not described.\nW3. The string breaks."
    assert measure_coverage(labelled, "W2: I see now.") == Coverage(3, 1)


def test_discussing_praise_is_not_coverage_and_a_review_without_criticism_has_none() -> None:
    praise = "Strengths:\n- Elegant kites with a long tail."
    assert measure_coverage(praise, "The long tail of these elegant kites is a pleasure.") == Coverage(0, 0)
    assert measure_coverage(praise, "The tail.").share is None
    assert measure_coverage("", "The tail.") == Coverage(0, 0)


def test_only_the_beginning_of_a_very_long_review_counts() -> None:
    long = "Weaknesses:\n" + "\n".join(f"- The kite k{number} falls." for number in range(MAX_SENTENCES + 50))
    found = measure_coverage(long, "The kite k3 no longer falls.")
    assert found.points == MAX_SENTENCES - 1, "the heading is a sentence, too"
    assert found.covered == 1
