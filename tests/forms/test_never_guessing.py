"""Whatever the form and the answer: a value is one that the form offers, or null, and no answer is lost."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from joining import joined
from peercorpus.forms.form import Question, ReviewForm, read_score
from peercorpus.forms.invitation_forms import derive_form
from peercorpus.forms.reviews import read_fields
from peercorpus.forms.scales import leading_number
from peercorpus.records.enums import Aspect, FieldType, Phase

NUMBERS = st.integers(-3, 12) | st.floats(0, 10).map(lambda number: round(number * 2) / 2)
WORDS = st.sampled_from(["strong accept", "Weak Accept", "Reject", "good", "", "not applicable"])
JOINED = st.sampled_from(["{n}: {w}", "{n} {w}", "{n} = {w}", "({n}) {w}", "{n}", "{w}", "{n}-{n} {w}", "{w} {n}"])
TEXTS = st.builds(lambda shape, n, w: shape.format(n=n, w=w), JOINED, NUMBERS, WORDS) | st.text(max_size=12)
ANSWERS: st.SearchStrategy[Any] = NUMBERS | TEXTS | st.lists(TEXTS | NUMBERS, max_size=2)
SCALES = st.dictionaries(NUMBERS.map(float), TEXTS, min_size=1, max_size=8)
BOUNDS = st.tuples(NUMBERS, NUMBERS).map(lambda ends: (float(min(ends)), float(max(ends))))


@st.composite
def questions(draw: st.DrawFn, name: str = "rating") -> Question:
    """A question of any type; a score with answers, a range, or neither."""
    kind = draw(st.sampled_from([None, *FieldType]))
    labels = draw(SCALES | st.just({})) if kind in {None, FieldType.SCORE} else {}
    bounds = draw(st.none() | BOUNDS) if kind is FieldType.SCORE and not labels else None
    return Question(name, draw(st.integers(0, 9)), labels, bounds, draw(st.booleans()), type=kind)


@given(questions(), ANSWERS)
def test_a_value_is_one_the_form_offers_or_null(question: Question, answer: Any) -> None:
    score = read_score(answer, "rating", ReviewForm("F", {"rating": question}))
    if question.labels and score.value is not None:
        assert score.value in question.labels
    if question.bounds and score.value is not None:
        assert question.bounds[0] <= score.value <= question.bounds[1]
    assert score.unit is None or 0 <= score.unit <= 1
    assert score.offered == tuple(sorted(question.labels))


@given(st.lists(TEXTS.filter(bool), min_size=1, max_size=8, unique=True), st.data())
def test_an_offered_answer_has_its_own_number_or_none(options: list[str], data: st.DataObject) -> None:
    asked = {"id": "F", "edit": {"note": {"content": {"rating": {"value": {"param": {"enum": options}}}}}}}
    form = derive_form(json.dumps(asked).encode())
    assert form is not None
    offered = form.question("rating").offered
    assert len(offered) in {0, sum(leading_number(option) is not None for option in options)}
    answer = data.draw(st.sampled_from(options) | ANSWERS)
    value = read_score(answer, "rating", form).value
    assert value is None or value in offered


@given(questions(), ANSWERS)
def test_a_value_is_in_the_answer_or_assigned_to_it_by_the_form(question: Question, answer: Any) -> None:
    score = read_score(answer, "rating", ReviewForm("F", {"rating": question}))
    if score.value is None:
        return
    given_answer = answer[0] if isinstance(answer, list) else answer
    if not isinstance(given_answer, str):
        assert score.value == given_answer
    elif leading_number(given_answer) is not None:
        assert given_answer.lstrip(" (").startswith(str(int(score.value)))
    else:
        assert given_answer.strip() in question.labels[score.value]


FIELDS = ["rating", "Clarity", "review", "code_of_conduct", "title", "final_justification", "new_field", "flag"]


@st.composite
def forms(draw: st.DrawFn) -> ReviewForm:
    """Any form that asks some of the fields."""
    names = draw(st.lists(st.sampled_from(FIELDS), unique=True))
    return ReviewForm("F", {name: draw(questions(name)) for name in names})


@pytest.mark.slow
@given(forms(), st.dictionaries(st.sampled_from(FIELDS), ANSWERS))
def test_parsed_fields_together_equal_the_notes_content(form: ReviewForm, fields: dict[str, Any]) -> None:
    assert joined(read_fields(fields, form), fields) == fields


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("Weak Accept", 3.0),
        ("Strong Accept", None),
        ("Accept", 4.0),
        ("Not applicable", None),
        (["3"], 3.0),
        ([3, 4], None),
    ],
)
def test_words_are_a_number_only_if_the_form_says_so(answer: Any, value: float | None) -> None:
    labels = {4.0: "4: Accept", 3.0: "3: Weak Accept", 2.0: "2 Reject", 1.0: "1 Reject"}
    form = ReviewForm("F", {"rating": Question("rating", 1, labels, is_choice=True)})
    assert read_score(answer, "rating", form).value == value
    assert read_score("Reject", "rating", form).value is None


@pytest.mark.parametrize("answer", ["2-3", "3 / 4", "3 to 4", "3 or 4", "3,5"])
def test_a_range_or_a_fraction_is_not_a_number(answer: str) -> None:
    score = read_score(answer, "rating", ReviewForm("inferred:V", {}))
    assert (score.value, score.label) == (None, answer)


def test_a_number_too_large_for_a_float_is_null() -> None:
    assert read_score(10**400, "rating", ReviewForm("inferred:V", {})).value is None


def test_two_ratings_of_two_times_keep_their_times() -> None:
    scores = read_fields(
        {"preliminary_rating": "4: Borderline accept", "final_rating": "5: Weak accept"}, ReviewForm("F", {})
    ).scores
    assert {(score.aspect, score.phase, score.value) for score in scores} == {
        (Aspect.RECOMMENDATION, Phase.INITIAL, 4.0),
        (Aspect.RECOMMENDATION, Phase.FINAL, 5.0),
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"Soundness": "4: Strong", "Excitement": "3: Ambivalent", "Reviewer_Confidence": "3: Pretty sure"},
        {"novelty": 5, "technical_quality": 6, "scope": 4, "reviewer_confidence": 3},
        {"claims_and_evidence": "Yes", "audience": "Yes"},
    ],
    ids=["EMNLP 2023", "TheWebConf", "TMLR"],
)
def test_a_form_without_an_overall_rating_gives_none(fields: dict[str, Any]) -> None:
    scores = read_fields(fields, ReviewForm("inferred:V", {})).scores
    assert len(scores) == len(fields)
    assert Aspect.RECOMMENDATION not in {score.aspect for score in scores}
