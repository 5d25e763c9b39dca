"""The properties of each field of a form, read from an invitation of either API."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.forms.form import ReviewForm
from peercorpus.forms.invitation_forms import derive_form
from peercorpus.forms.reviews import read_fields
from peercorpus.records.enums import Aspect, FieldType, SectionKind

YES_NO = ["Yes", "No"]
PROMISE = ["I agree."]
FOUR = [{"value": number, "description": f"{number}: {word}"} for number, word in enumerate(["poor", "fair"], 1)]


def derived(content: dict[str, Any], api: int) -> ReviewForm:
    holder = {"reply": {"content": content}} if api == 1 else {"edit": {"note": {"content": content}}}
    form = derive_form(json.dumps({"id": "V/-/Official_Review", **holder}).encode())
    assert form is not None
    return form


def v2(param: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"value": {"param": param}, **more}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"value-regex": "[\\S\\s]{1,9}"}, FieldType.TEXT),
        ({"value-radio": ["2: yes", "1: no"]}, FieldType.SCORE),
        ({"value-radio": YES_NO}, FieldType.FLAG),
        ({"value-checkbox": PROMISE[0]}, FieldType.TEXT),
        ({"value-checkbox": PROMISE}, FieldType.FLAG),
        ({"value-dropdown": ["Oral", "Poster"]}, FieldType.CHOICE),
        ({"values-checkbox": ["Privacy", "Bias"]}, FieldType.LIST),
    ],
)
def test_the_type_of_a_field_of_api_1(asked: dict[str, Any], expected: FieldType) -> None:
    assert derived({"new_field": asked}, 1).questions["new_field"].type is expected


@pytest.mark.parametrize(
    ("param", "expected"),
    [
        ({"type": "string", "input": "textarea"}, FieldType.TEXT),
        ({"type": "integer", "enum": FOUR}, FieldType.SCORE),
        ({"type": "float", "enum": [1.0, 1.5, 2.0]}, FieldType.SCORE),
        ({"type": "integer", "minimum": 1, "maximum": 7}, FieldType.SCORE),
        ({"type": "string", "enum": YES_NO}, FieldType.FLAG),
        ({"type": "boolean"}, FieldType.FLAG),
        ({"type": "string", "enum": ["Oral", "Poster"]}, FieldType.CHOICE),
        ({"type": "string[]", "enum": ["1: Privacy", "2: Bias"]}, FieldType.LIST),
        ({"type": "string[]", "items": [{"value": "Privacy", "optional": True}]}, FieldType.LIST),
    ],
)
def test_the_type_of_a_field_of_api_2(param: dict[str, Any], expected: FieldType) -> None:
    assert derived({"new_field": v2(param)}, 2).questions["new_field"].type is expected


@pytest.mark.parametrize("name", ["claims_and_evidence", "audience", "experience_assessment"])
def test_known_names_make_words_scores(name: str) -> None:
    question = derived({name: v2({"type": "string", "enum": YES_NO})}, 2).questions[name]
    assert (question.type, question.labels, question.answers) == (FieldType.SCORE, {}, ("Yes", "No"))


@pytest.mark.parametrize(
    ("name", "param", "place"),
    [
        ("evaluation", {"type": "string", "enum": ["5: top", "1: low"]}, "score"),
        ("evaluation", {"type": "string", "input": "textarea"}, "section"),
        ("recommendation", {"type": "string", "input": "textarea"}, "section"),
        ("claims_and_evidence", {"type": "string", "input": "textarea"}, "section"),
        ("claims_and_evidence", {"type": "string", "enum": ["5: top", "Yes"]}, "score"),
    ],
)
def test_forms_may_use_a_name_differently(name: str, param: dict[str, Any], place: str) -> None:
    answer = "5: top" if place == "score" else "5 of them hold."
    reading = read_fields({name: answer}, derived({name: v2(param)}, 2))
    assert (len(reading.scores), len(reading.sections)) == ((1, 0) if place == "score" else (0, 1))


def test_a_field_keeps_everything_in_the_invitation() -> None:
    asked = v2(
        {"type": "integer", "enum": FOUR, "optional": True, "fieldName": "Sound?"}, description="Is it?", order=3
    )
    question = derived({"soundness": asked | {"readers": ["V/Program_Chairs"]}}, 2).questions["soundness"]
    assert (question.title, question.description, question.order) == ("Sound?", "Is it?", 3)
    assert (question.answers, question.labels) == (("1", "2"), {1.0: "1: poor", 2.0: "2: fair"})
    assert (question.is_optional, question.readers) == (True, ("V/Program_Chairs",))


def test_optional_fields_are_known_on_both_apis() -> None:
    first = derived({"a": {"value-regex": ".", "required": True}, "b": {"value-regex": "."}}, 1)
    second = derived({"a": v2({"type": "string"}), "b": v2({"type": "string", "optional": True})}, 2)
    for form in (first, second):
        assert [question.is_optional for question in form.questions.values()] == [False, True]


def test_the_forms_description_takes_precedence_over_the_vocabulary() -> None:
    form = derived({"rating": v2({"type": "integer", "enum": FOUR})}, 2)
    venue_says = ReviewForm(form.form_id, form.questions, {"rating": Aspect.CONFIDENCE})
    assert (form.aspect("rating"), venue_says.aspect("rating")) == (Aspect.RECOMMENDATION, Aspect.CONFIDENCE)
    assert form.section("pros") is SectionKind.STRENGTHS


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["value", "param", "enum", "items", "order", "type", "minimum"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), st.sampled_from([1, 2]))
def test_no_malformed_invitation_stops_anything(content: dict[str, Any], api: int) -> None:
    holder = {"reply": {"content": content}} if api == 1 else {"edit": {"note": {"content": content}}}
    form = derive_form(json.dumps({"id": "V", **holder}).encode())
    assert form is None or set(form.questions) <= set(content)
