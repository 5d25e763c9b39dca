"""How one review note is read: every field has one place, no number is guessed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.forms.form import Question, ReviewForm, read_score
from peercorpus.forms.invitation_forms import derive_form
from peercorpus.forms.reviews import read_fields, read_review
from peercorpus.forms.scales import leading_number
from peercorpus.openreview.objects import Note
from peercorpus.records.enums import Aspect, Phase, ScoreSource, SectionKind

NO_FORM = ReviewForm("inferred:V", {})
TEN = Question(
    "rating",
    1,
    {1.0: "1: strong reject", 3.0: "3: reject", 6.0: "6: accept", 10.0: "10: strong accept"},
    is_choice=True,
)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (8, 8.0),
        (3.5, 3.5),
        ("10: strong accept", 10.0),
        ("3 good", 3.0),
        ("3.5", 3.5),
        ("4.5 = Borderline Award", 4.5),
        ("(3) Strong accept", 3.0),
        ("-1: none", -1.0),
        ("1", 1.0),
        ("Not applicable", None),
        ("N/A", None),
        ("5/10", None),
        ("2.5x faster", None),
        ("1st of all", None),
        ("", None),
    ],
)
def test_a_score_is_read_or_null_and_never_guessed(answer: Any, value: float | None) -> None:
    assert read_score(answer, "rating", NO_FORM).value == value


@pytest.mark.parametrize(
    ("answer", "value", "label"),
    [
        (6, 6.0, "6: accept"),
        ("6: accept", 6.0, "6: accept"),
        (7, None, "7"),
        ("7: good paper", None, "7: good paper"),
        ("Accept", None, "Accept"),
    ],
)
def test_a_number_the_form_did_not_offer_is_null_with_its_label(answer: Any, value: float | None, label: str) -> None:
    score = read_score(answer, "rating", ReviewForm("F", {"rating": TEN}))
    assert (score.value, score.label, score.low, score.high) == (value, label, 1.0, 10.0)


def test_a_score_without_a_form_has_no_scale_and_no_place_on_it() -> None:
    score = read_score(6, "rating", NO_FORM)
    assert (score.low, score.high, score.unit) == (None, None, None)


@pytest.mark.parametrize(
    ("name", "answer", "place"),
    [
        ("rating", "6: Weak Accept", "score"),
        ("Reviewer_Confidence", "4: Quite sure.", "score"),
        ("experience_assessment", "I have published one or two papers in this area.", "score"),
        ("soundness", "3 good", "score"),
        ("empirical_novelty_and_significance", "Not applicable", "score"),
        ("claims_and_evidence", "Yes", "score"),
        ("claims_and_evidence", "The claims in Section 3 are supported by the tables, but see below.", "section"),
        ("clarity", "The paper is well written and easy to follow throughout.", "section"),
        ("evaluation", "A long answer\nover two lines", "section"),
        ("review", "3 experiments are missing from Table 2.", "section"),
        ("Reasons_to_accept", "It is new.", "section"),
        ("a_field_nobody_has_seen", "Some words.", "section"),
        ("title", "Official Review", "title"),
        ("final_justification", "The rebuttal answers my questions.", "final_justification"),
        ("code_of_conduct", "Yes", "extra"),
        ("flag_for_ethics_review", ["No ethics review needed."], "extra"),
        ("a_box_nobody_has_seen", ["a", "b"], "extra"),
        ("a_number_nobody_has_seen", 3, "extra"),
    ],
)
def test_each_field_is_stored_in_one_place(name: str, answer: Any, place: str) -> None:
    reading = read_fields({name: answer}, NO_FORM)
    places = {
        "score": [score.field for score in reading.scores],
        "section": [section.field for section in reading.sections],
        "title": [name] if reading.title is not None else [],
        "final_justification": [name] if reading.final_justification is not None else [],
        "extra": list(reading.extra),
    }
    assert {found for found, names in places.items() if names} == {place}
    assert places[place] == [name]


ANSWERS = st.one_of(
    st.text(max_size=60), st.integers(-5, 12), st.floats(0, 10), st.lists(st.text(max_size=5), max_size=2)
)
NAMES = st.one_of(
    st.sampled_from(["rating", "title", "Title", "clarity", "review", "code_of_conduct", "soundness"]),
    st.sampled_from(["final_justification", "Final_Justification", "final_rating_justification"]),
    st.text(min_size=1, max_size=12),
)


@given(st.dictionaries(NAMES, ANSWERS, max_size=8))
def test_no_field_is_lost_or_duplicated(fields: dict[str, Any]) -> None:
    reading = read_fields(fields, NO_FORM)
    names = [score.field for score in reading.scores] + [section.field for section in reading.sections]
    names += list(reading.extra)
    single = [text for text in (reading.title, reading.final_justification) if text is not None]
    assert len(names) + len(single) == len(fields)
    assert set(names) <= set(fields)
    assert sorted(single) == sorted(fields[name] for name in fields if name not in names)


def test_text_is_verbatim() -> None:
    text = "  Two  spaces,\r\na tab\t, ünïcode and $\\alpha$ \n"
    assert read_fields({"review": text}, NO_FORM).sections[0].text == text


def test_sections_come_in_the_order_of_the_form() -> None:
    form = ReviewForm(
        "F", {name: Question(name, order) for order, name in enumerate(["summary", "strengths", "review"])}
    )
    reading = read_fields({"review": "c", "new": "d", "strengths": "b", "summary": "a"}, form)
    assert [section.text for section in reading.sections] == ["a", "b", "c", "d"]


V1_FORM = {
    "id": "V/2020/Conference/-/Official_Review",
    "reply": {
        "content": {
            "review": {"order": 2, "value-regex": "[\\S\\s]{1,200000}", "required": True},
            "rating": {"order": 3, "value-dropdown": ["1: Reject", "3: Weak Reject", "6: Weak Accept", "8: Accept"]},
        }
    },
}
V2_CONTENT = {
    "summary": {"order": 1, "value": {"param": {"type": "string", "input": "textarea"}}},
    "rating": {
        "order": 2,
        "value": {
            "param": {
                "type": "integer",
                "enum": [{"value": 1, "description": "1: no"}, {"value": 6, "description": "6: yes"}],
            }
        },
    },
    "excitement": {"order": 3, "value": {"param": {"type": "string", "enum": ["1.5: low", "3: high"]}}},
}
V2_FORM = {"id": "V/2024/Conference/Submission1/-/Official_Review", "edit": {"note": {"content": V2_CONTENT}}}
V2_SUPER = {
    "id": "V/2024/Conference/-/Official_Review",
    "edit": {"invitation": {"edit": {"note": {"content": V2_CONTENT}}}},
}


@pytest.mark.parametrize(
    ("invitation", "labels"),
    [
        (V1_FORM, {"rating": {1.0: "1: Reject", 3.0: "3: Weak Reject", 6.0: "6: Weak Accept", 8.0: "8: Accept"}}),
        (V2_FORM, {"rating": {1.0: "1: no", 6.0: "6: yes"}, "excitement": {1.5: "1.5: low", 3.0: "3: high"}}),
        (V2_SUPER, {"rating": {1.0: "1: no", 6.0: "6: yes"}, "excitement": {1.5: "1.5: low", 3.0: "3: high"}}),
    ],
)
def test_a_form_is_read_from_openreviews_own_invitation(invitation: dict[str, Any], labels: dict[str, Any]) -> None:
    form = derive_form(json.dumps(invitation).encode())
    assert form is not None
    assert form.form_id == invitation["id"]
    assert {name: dict(question.labels) for name, question in form.questions.items() if question.labels} == labels


def test_an_invitation_without_a_form_gives_none() -> None:
    assert derive_form(b'{"id": "V/-/Official_Review", "edit": {"note": {}}}') is None


@given(st.integers(-99, 99), st.sampled_from(["{}: words", "{} words", "{}", "{} = words", "({}) words", "{:+}"]))
def test_a_leading_integer_is_read_completely(number: int, written: str) -> None:
    assert leading_number(written.format(number)) == number


@pytest.mark.parametrize(
    "answer",
    [
        "1) First, the writing.",
        "3 & 4",
        "3 and 4",
        "4 -> 5",
        "4 \u2192 5",
        "3 \u00b1 1",
        "3 | 4",
        "5+ years",
        "1. First",
    ],
)
def test_a_count_or_one_of_several_numbers_is_not_a_score(answer: str) -> None:
    assert leading_number(answer) is None


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("3 papers are missing, see above.", None),
        ("2 of the claims are not supported.", None),
        ("1) The writing is clear.", None),
        ("3 good", 3.0),
        ("3: Some claims have minor issues. A few are not well supported.", 3.0),
        ("4", 4.0),
    ],
)
def test_without_a_form_a_sentence_that_begins_with_a_number_stays_a_text(answer: str, value: float | None) -> None:
    reading = read_fields({"clarity": answer}, NO_FORM)
    assert [score.value for score in reading.scores] == ([] if value is None else [value])
    assert [section.text for section in reading.sections] == ([answer] if value is None else [])


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        (["+2: yes", "+1", "0: so so", "-1", "-2: no"], (-2.0, -1.0, 0.0, 1.0, 2.0)),
        (["1 year", "2 years", "5+ years"], ()),
        (["3: yes", "3: surely", "1: no"], ()),
        (["1: bad", "2: good", "Not applicable"], (1.0, 2.0)),
    ],
)
def test_a_scale_is_derived_completely_or_not_at_all(options: list[str], offered: tuple[float, ...]) -> None:
    form = derive_form(json.dumps({"id": "F", "reply": {"content": {"rating": {"value-radio": options}}}}).encode())
    assert form is not None
    assert form.question("rating").offered == offered
    read = [read_score(option, "rating", form) for option in options]
    assert all(score.value is None or score.value in offered for score in read)


def test_fields_are_recognised_in_any_letter_case() -> None:
    labels = {1.0: "1: bad", 5.0: "5: good"}
    form = ReviewForm("F", {"Soundness": Question("Soundness", 1, labels), "review": Question("review", 2)})
    reading = read_fields({"review": "Fine.", "soundness": "7: never offered"}, form)
    assert [(score.field, score.value, score.offered) for score in reading.scores] == [("soundness", None, (1.0, 5.0))]


def test_a_venue_that_reverted_its_reviews_shows_initial_scores() -> None:
    form = ReviewForm("F", {}, shows=Phase.INITIAL)
    assert [score.phase for score in read_fields({"rating": 4}, form).scores] == [Phase.INITIAL]


def _note(rating: int, tcdate: int, **more: Any) -> Note:
    content = {"rating": {"value": rating}, "review": {"value": "Text."}}
    return Note(id="r", forum="f", invitations=["V/-/Official_Review"], tcdate=tcdate, content=content, **more)


def test_the_initial_score_is_read_from_the_edit_that_created_the_review() -> None:
    review = read_review(_note(8, 1_000), "V", "R1", NO_FORM, [_note(8, 90_000), _note(5, 1_500)])
    assert [(score.value, score.phase, score.source) for score in review.scores] == [
        (8.0, Phase.FINAL, ScoreSource.NOTE),
        (5.0, Phase.INITIAL, ScoreSource.EDIT),
    ]
    assert review.revised is True


def test_an_edit_reposted_long_after_its_date_gives_no_initial_score() -> None:
    rewritten = _note(5, 1_000, tmdate=9_000_000)
    review = read_review(_note(8, 1_000), "V", "R1", NO_FORM, [rewritten, _note(8, 90_000)])
    assert [score.phase for score in review.scores] == [Phase.FINAL]


def test_a_patch_that_changes_nothing_revises_nothing() -> None:
    patch = Note(invitations=["V/-/Official_Review"], tcdate=90_000, content={"rating": {"value": 8}})
    review = read_review(_note(8, 1_000), "V", "R1", NO_FORM, [_note(8, 1_000), patch])
    assert [(score.value, score.phase) for score in review.scores] == [(8.0, Phase.FINAL), (8.0, Phase.INITIAL)]
    assert review.revised is False


@pytest.mark.parametrize(("answer", "value"), [(1, 1.0), (7, 7.0), (0, None), (8, None)])
def test_a_form_may_offer_a_range(answer: int, value: float | None) -> None:
    asked = {
        "edit": {"note": {"content": {"scope": {"value": {"param": {"type": "integer", "minimum": 1, "maximum": 7}}}}}}
    }
    form = derive_form(json.dumps({"id": "F", **asked}).encode())
    assert form is not None
    score = read_score(answer, "scope", form)
    assert (score.value, score.low, score.high) == (value, 1.0, 7.0)


def test_the_venue_may_name_the_rating_field() -> None:
    form = ReviewForm("F", {}, {"verdict_of_mine": Aspect.RECOMMENDATION})
    (score,) = read_fields({"verdict_of_mine": 4}, form).scores
    assert (score.aspect, score.value) == (Aspect.RECOMMENDATION, 4.0)


@pytest.mark.parametrize(
    ("edits", "revised"),
    [([], None), ([_note(8, 50_000)], None), ([_note(6, 50_000), _note(8, 90_000)], True)],
)
def test_without_the_first_edit_the_initial_score_is_unknown(edits: list[Note], revised: bool | None) -> None:
    review = read_review(_note(8, 1_000), "V", "R1", NO_FORM, edits)
    assert [score.phase for score in review.scores] == [Phase.FINAL]
    assert review.revised is revised


def test_aspects_and_sections_follow_the_vocabulary() -> None:
    reading = read_fields({"overall_recommendation": 4, "Reasons_to_reject": "It is slow."}, NO_FORM)
    assert reading.scores[0].aspect is Aspect.RECOMMENDATION
    assert reading.sections[0].kind is SectionKind.WEAKNESSES


def test_only_an_overall_recommendation_has_a_place_on_the_unified_scale() -> None:
    labels = {1.0: "1: reject", 2.0: "2: borderline reject", 3.0: "3: borderline accept", 4.0: "4: accept"}
    form = ReviewForm("F", {name: Question(name, 1, labels, is_choice=True) for name in ("rating", "soundness")})
    scores = read_fields({"rating": "3: borderline accept", "soundness": "3: borderline accept"}, form).scores
    assert [(score.field, score.unified) for score in scores] == [("rating", 6.0), ("soundness", None)]
    assert read_score("3: hm", "rating", NO_FORM).unified is None
