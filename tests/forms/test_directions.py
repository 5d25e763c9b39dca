"""Which end of a scale is the better one: read from its labels, stated as data, or unknown."""

import json
from typing import Any

import pytest

from peercorpus.forms import declared_forms
from peercorpus.forms.form import Question, ReviewForm, read_score
from peercorpus.forms.invitation_forms import derive_form, infer_form
from peercorpus.forms.reviews import read_fields
from peercorpus.forms.scales import unified_scale
from peercorpus.records.enums import Aspect, FieldType


def asking(name: str, options: list[Any], api: int = 2, **more: Any) -> ReviewForm:
    """Return the form of an invitation of either API that asks one question."""
    if api == 1:
        body = {"id": "F", "reply": {"content": {name: {"value-radio": options, "required": True, **more}}}}
    else:
        content = {name: {"value": {"param": {"type": "string", "enum": options}}, **more}}
        body = {"id": "F", "edit": {"note": {"content": content}}}
    form = derive_form(json.dumps(body).encode())
    assert form is not None
    return form


BEST_LAST = [
    ("rating", ["1: Strong reject", "2: Reject", "3: Borderline", "4: Accept", "5: Strong accept"]),
    ("rating", ["1: not strong enough", "2: good"]),
    ("rating", ["1 - bottom 50% of papers", "2 - top 50%", "3 - top 5%"]),
    ("rating", ["1 (worst)", "2", "3", "4", "5 (best)"]),
    ("confidence", ["1: Not confident", "2: Fairly confident", "3: Very confident"]),
    ("confidence", ["1: Educated guess", "3: Expert"]),
    ("soundness", ["1: low", "2: medium", "3: high"]),
    ("presentation", ["1 poor", "2 fair", "3 good", "4 excellent"]),
    (
        "contribution",
        ["1: neither significant nor novel", "2: only marginally significant", "3: significant and novel"],
    ),
    ("rating", ["Reject (1)", "Weak accept (2)", "Strong accept (3)"]),
]
UNKNOWN = [
    ("rating", ["1", "2", "3", "4", "5"]),
    ("rating", ["1: one star", "2: two stars", "3: three stars"]),
    ("length", ["1: too short", "2: good", "3: too long"]),
    ("severity", ["1: low", "2: high"]),
    ("rating", ["1: reject", "2: accept", "3: reject", "4: accept"]),
]


@pytest.mark.parametrize("api", [1, 2])
@pytest.mark.parametrize(("name", "options"), BEST_LAST)
def test_the_better_end_gives_one(name: str, options: list[str], api: int) -> None:
    rising = asking(name, options, api)
    numbers = rising.question(name).offered
    scores = [read_score(option, name, rising) for option in options]
    assert {score.higher_is_better for score in scores} == {True}
    assert (scores[0].unit, scores[-1].unit) == (0.0, 1.0)
    words = [option.replace(f"{number:g}", "#", 1) for option, number in zip(options, numbers, strict=True)]
    turned = [text.replace("#", f"{number:g}", 1) for text, number in zip(words, reversed(numbers), strict=True)]
    falling = asking(name, turned, api)
    scores = [read_score(option, name, falling) for option in turned]
    assert {score.higher_is_better for score in scores} == {False}
    assert (scores[0].unit, scores[-1].unit) == (0.0, 1.0)
    assert scores[-1].value == numbers[0]


@pytest.mark.parametrize(("name", "options"), UNKNOWN)
def test_without_telling_labels_the_direction_is_unknown(name: str, options: list[str]) -> None:
    score = read_score(options[0], name, asking(name, options))
    assert (score.value, score.higher_is_better, score.unit, score.unified) == (1.0, None, None, None)


def test_instructions_give_the_direction_of_bare_numbers() -> None:
    best_first = asking("rating", ["1", "2", "3"], description="Rate from 1 (best) to 3 (worst).")
    assert read_score("1", "rating", best_first).unit == 1.0
    best_last = asking("rating", ["1", "2", "3"], description="1 = poor, 3 = excellent")
    assert read_score("1", "rating", best_last).unit == 0.0
    assert read_score("1", "rating", asking("rating", ["1", "2"], description="See section 1.")).unit is None


def test_reversed_scales_are_turned() -> None:
    labels = {1.0: "1: strong accept", 2.0: "2: accept", 3.0: "3: reject", 4.0: "4: strong reject"}
    scale = unified_scale(labels)
    assert scale is not None
    assert [scale.unify(value) for value in (1, 2, 3, 4)] == [10.0, 6.0, 5.0, 1.0]
    assert scale.restore(10.0) == 1.0


@pytest.mark.parametrize(
    ("options", "higher", "ranks"),
    [
        (["Strong Reject", "Weak Reject", "Weak Accept", "Strong Accept"], True, [1, 2, 3, 4]),
        (["Strong Accept", "Weak Accept", "Weak Reject", "Strong Reject"], False, [1, 2, 3, 4]),
        (["Blue", "Green"], None, [1, 2]),
        (["Poor", "Fair", "Good", "N/A"], True, [1, 2, 3, None]),
    ],
)
def test_words_have_ranks(options: list[str], higher: bool | None, ranks: list[int | None]) -> None:
    form = asking("recommendation", options)
    scores = [read_score(option, "recommendation", form) for option in options]
    assert [score.rank for score in scores] == ranks
    assert {score.answers for score in scores} == {tuple(option for option in options if option != "N/A")}
    assert {(score.value, score.unit, score.higher_is_better) for score in scores} == {(None, None, higher)}


def test_declared_forms_explain_bare_numbers() -> None:
    found = declared_forms.declared_form("ICLR.cc/2026/Conference")
    assert found is not None
    form = declared_forms.as_review_form(found)
    assert read_score(10, "rating", form).unit == 1.0
    assert read_score(1, "soundness", form).unit == 0.0


def test_an_inferred_scale_has_a_direction() -> None:
    answers = [{"rating": answer} for answer in ["1: strong accept", "2: accept", "3: reject"] * 4]
    question = infer_form("V", answers).question("rating")
    assert (question.type, question.higher_is_better) == (FieldType.SCORE, False)


def test_a_difference_on_a_scale_needs_no_direction() -> None:
    score = read_score(2, "rating", ReviewForm("F", {"rating": Question("rating", 1, bounds=(1, 5))}))
    assert (score.unit, score.share) == (None, 0.25)


CODES = [{"value": "sa", "description": "Strong accept"}, {"value": "wr", "description": "Weak reject"}]
SEVEN = ["Strong reject", "Reject", "Weak reject", "Borderline", "Weak accept", "Accept", "Strong accept"]


def test_a_code_has_its_options_text() -> None:
    form = asking("rating", CODES)
    score = read_score("wr", "rating", form)
    assert (score.label, score.rank, score.answers) == ("Weak reject", 2, ("Strong accept", "Weak reject"))
    assert score.higher_is_better is False


def test_a_codes_number_is_its_texts() -> None:
    form = asking("rating", [{"value": "a", "description": "8: Accept"}, {"value": "r", "description": "3: Reject"}])
    score = read_score("r", "rating", form)
    assert (score.value, score.label, score.higher_is_better, score.offered) == (3.0, "3: Reject", True, (3.0, 8.0))


@pytest.mark.parametrize("api", [1, 2])
@pytest.mark.parametrize("name", ["verdict", "outcome", "Overall evaluation"])
def test_offered_verdicts_are_a_recommendation_under_any_name(name: str, api: int) -> None:
    (score,) = read_fields({name: "Weak reject"}, asking(name, SEVEN, api)).scores
    assert (score.aspect, score.rank, score.higher_is_better) == (Aspect.RECOMMENDATION, 3, True)


def test_numbered_verdicts_are_a_recommendation() -> None:
    form = asking("mark", [{"value": place, "description": text} for place, text in enumerate(SEVEN, -3)])
    (score,) = read_fields({"mark": -3}, form).scores
    assert (score.aspect, score.value, score.label, score.unit) == (Aspect.RECOMMENDATION, -3.0, "Strong reject", 0.0)


def test_only_one_question_recommends() -> None:
    content = {name: {"value-radio": SEVEN} for name in ("rating", "outcome")}
    form = derive_form(json.dumps({"id": "F", "reply": {"content": content}}).encode())
    assert form is not None
    assert (form.aspect("rating"), form.aspect("outcome")) == (Aspect.RECOMMENDATION, None)


def test_labels_may_end_with_numbers() -> None:
    options = ["Top 15 % of accepted papers, strong accept (9)", "Top 50 %, accept (7)", "Clear reject (2)", "N/A"]
    form = asking("rating", options)
    assert [read_score(option, "rating", form).value for option in options] == [9.0, 7.0, 2.0, None]
    assert read_score(options[0], "rating", ReviewForm("inferred:V", {})).value == 9.0
    assert asking("kind", ["Long paper: 8", "Short paper: 4"]).question("kind").offered == ()
