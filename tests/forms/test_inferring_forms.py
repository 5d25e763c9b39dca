"""If no form is known, the meaning of a field is inferred from its answers; its scale stays unknown."""

from typing import Any

import pytest

from peercorpus.forms.invitation_forms import infer_form
from peercorpus.forms.reviews import read_fields
from peercorpus.records.enums import FieldType

PROSE = "A passage of some length, written and not chosen.\nIt has two lines."


def inferred(answers: list[Any]) -> FieldType | None:
    return infer_form("V", ({"new_field": answer} for answer in answers)).questions["new_field"].type


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([1, 2, 3, 4] * 4, FieldType.SCORE),
        (["3: good", "4: excellent"] * 6, FieldType.SCORE),
        (["3 good", "Not applicable"] * 6, FieldType.CHOICE),
        (["Oral", "Poster", "Neither"] * 4, FieldType.CHOICE),
        (["Yes", "No"] * 6, FieldType.FLAG),
        (["I agree."] * 12, FieldType.FLAG),
        ([True, False] * 6, FieldType.FLAG),
        ([["a"], ["a", "b"]] * 6, FieldType.LIST),
        ([PROSE, "Yes", "Yes", "No"] * 3, FieldType.TEXT),
        ([f"Remark {number}." for number in range(12)], FieldType.TEXT),
        ([f"{number}: remark" for number in range(30)] * 3, FieldType.TEXT),
        (["Yes", "No"], None),
    ],
)
def test_answers_determine_what_a_field_asks_for(answers: list[Any], expected: FieldType | None) -> None:
    assert inferred(answers) is expected


def test_an_inferred_score_has_its_value_and_no_scale() -> None:
    reviews = [{"new_field": rating, "review": PROSE} for rating in ["6: above", "3: below"] * 6]
    form = infer_form("V", reviews)
    (score,) = read_fields(reviews[0], form).scores
    assert (score.value, score.low, score.high, score.offered, score.unit) == (6.0, None, None, (), None)
    assert form.form_id == "inferred:V"


def test_a_prose_field_stays_prose_in_a_one_word_review() -> None:
    form = infer_form("V", [{"clarity": PROSE}, {"clarity": "Good."}])
    assert [section.text for section in read_fields({"clarity": "Good."}, form).sections] == ["Good."]


def test_a_few_reviews_are_read_by_field_name_and_answer_only() -> None:
    fields = {"soundness": "3 good", "review": "Fine work.", "rating": "Weak Accept"}
    reading = read_fields(fields, infer_form("V", [fields]))
    assert [(score.field, score.value) for score in reading.scores] == [("soundness", 3.0), ("rating", None)]
    assert [section.field for section in reading.sections] == ["review"]


def test_of_many_different_answers_few_are_kept() -> None:
    reviews = ({"review": f"Review {number}"} for number in range(10_000))
    assert infer_form("V", reviews).questions["review"].type is FieldType.TEXT
