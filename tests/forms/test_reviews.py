"""How one review note is read: every field has one place, no number is guessed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.forms.form import Question, ReviewForm, read_score
from peercorpus.forms.invitation_forms import derive_form
from peercorpus.forms.reviews import read_fields, read_review
from peercorpus.forms.scales import leading_number, read_scale_options
from peercorpus.forms.score_claims import read_claims, read_later_claims
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
        *((given, None) for given in ("Not applicable", "N/A", "5/10", "2.5x faster", "1st of all", "")),
    ],
)
def test_a_score_is_never_guessed(answer: Any, value: float | None) -> None:
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
def test_an_unoffered_number_is_null(answer: Any, value: float | None, label: str) -> None:
    score = read_score(answer, "rating", ReviewForm("F", {"rating": TEN}))
    assert (score.value, score.label, score.low, score.high) == (value, label, 1.0, 10.0)


def test_without_form_there_is_no_scale() -> None:
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
        *("1) First, the writing.", "3 & 4", "3 and 4", "4 -> 5", "4 \u2192 5", "3 \u00b1 1", "3 | 4", "5+ years"),
        "1. First",
    ],
)
def test_a_count_is_no_score(answer: str) -> None:
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
def test_a_numbered_sentence_stays_text(answer: str, value: float | None) -> None:
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
def test_a_scale_is_derived_completely(options: list[str], offered: tuple[float, ...]) -> None:
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


def test_reverted_venues_show_initial_scores() -> None:
    form = ReviewForm("F", {}, shows=Phase.INITIAL)
    assert [score.phase for score in read_fields({"rating": 4}, form).scores] == [Phase.INITIAL]


def _note(rating: int, tcdate: int, **more: Any) -> Note:
    content = {"rating": {"value": rating}, "review": {"value": "Text."}}
    return Note(id="r", forum="f", invitations=["V/-/Official_Review"], tcdate=tcdate, content=content, **more)


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


def test_aspects_and_sections_follow_the_vocabulary() -> None:
    reading = read_fields({"overall_recommendation": 4, "Reasons_to_reject": "It is slow."}, NO_FORM)
    assert reading.scores[0].aspect is Aspect.RECOMMENDATION
    assert reading.sections[0].kind is SectionKind.WEAKNESSES


def test_only_recommendations_are_unified() -> None:
    labels = {1.0: "1: reject", 2.0: "2: borderline reject", 3.0: "3: borderline accept", 4.0: "4: accept"}
    form = ReviewForm("F", {name: Question(name, 1, labels, is_choice=True) for name in ("rating", "soundness")})
    scores = read_fields({"rating": "3: borderline accept", "soundness": "3: borderline accept"}, form).scores
    assert [(score.field, score.unified) for score in scores] == [("rating", 6.0), ("soundness", None)]
    assert read_score("3: hm", "rating", NO_FORM).unified is None


TEN_STEPS = {float(number): f"{number}: words" for number in range(1, 11)}
FORM = ReviewForm("F", {"rating": Question("rating", 1, TEN_STEPS)})


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("rating_before_rebuttal", "rating_after_rebuttal"),
        ("initial_rating", "final_rating"),
        ("pre_rebuttal_rating", "post_rebuttal_rating"),
        ("rating_pre", "rating_post"),
        ("Rating_Before_Author_Response", "Rating_After_Author_Response"),
        ("preliminary_rating", "rating"),
        ("rating", "rating_after_discussion"),
        ("confidence_before_rebuttal", "confidence_after_rebuttal"),
    ],
)
def test_two_fields_are_two_phases(first: str, last: str) -> None:
    content = {name: {"value": value} for name, value in ((first, "4: below"), (last, "6: above"))}
    note = Note(id="r", forum="f", invitations=["V/-/Official_Review"], tcdate=1, tmdate=1, content=content)
    review = read_review(note, "V", "R1", NO_FORM, [])
    found = {(score.phase, score.field, score.value) for score in review.scores}
    assert found == {(Phase.INITIAL, first, 4.0), (Phase.FINAL, last, 6.0)}
    assert len({score.key for score in review.scores}) == 1
    assert [(change.field, change.before, change.after) for change in review.score_changes] == [(last, 4.0, 6.0)]


@pytest.mark.parametrize("name", ["originality", "first_time_reviewer", "final_justification", "post_rebuttal_comment"])
def test_other_fields_are_no_phases(name: str) -> None:
    scores = read_fields({name: "3: good"}, NO_FORM).scores
    assert all(score.subject is None and score.phase is Phase.FINAL for score in scores)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("\uff18\uff1aaccept", 8.0),
        ("8\uff1aaccept", 8.0),
        ("\uff08\uff18\uff09 accept", 8.0),
        ("Strong accept (9)", 9.0),
        ("6/10", 6.0),
        ("6 out of 10", 6.0),
        ("6 (raised from 5)", 6.0),
        ("8: top 5% of papers", 8.0),
        *(
            (given, None)
            for given in (
                *("3 out of 5", "4/5", "3 out of 5, leaning 4", "3, leaning 4", "5 (maybe 6)", "3-4"),
                *("between 5 and 6", "5 or 6", "5/6"),
            )
        ),
    ],
)
def test_a_number_is_read_only_if_unambiguous(answer: str, value: float | None) -> None:
    score = read_score(answer, "rating", FORM)
    assert (score.value, score.label) == (value, answer)


@pytest.mark.parametrize(
    ("answer", "value"), [("see remark (2)", None), ("weak accept (6)", 6.0), ("Accept (Oral)", None)]
)
def test_numbers_after_verdicts_count(answer: str, value: float | None) -> None:
    assert read_score(answer, "rating", NO_FORM).value == value


def test_options_followed_by_their_numbers_are_a_scale() -> None:
    assert read_scale_options(["Reject (1)", "Accept (2)", "N/A"]) == {1.0: "Reject (1)", 2.0: "Accept (2)"}
    assert read_scale_options(["\uff11\uff1abad", "\uff12\uff1agood"]) == {
        1.0: "\uff11\uff1abad",
        2.0: "\uff12\uff1agood",
    }
    assert read_scale_options(["Accept (Oral)", "Reject"]) == {}


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("I am raising my score to 8 from 5.", 5.0, 8.0),
        ("I changed my rating to 6 (from the original rating of 5).", 5.0, 6.0),
        ("Increase from 5 to 6.", 5.0, 6.0),
        ("(Score raised from 5 to 6 after the rebuttal)", 5.0, 6.0),
        ("Updated score: 5 -> 8", 5.0, 8.0),
        ("I updated my rating 6\u21928.", 6.0, 8.0),
        ("All is clear now. Score 3-->6", 3.0, 6.0),
        ("I have raised my score to 8.", None, 8.0),
        ("I have changed my score to '6: above the threshold'.", None, 6.0),
        ("I would like to raise my rating to a 7.", None, 7.0),
        ("My score has been updated to 7.", None, 7.0),
    ],
)
def test_a_reviewers_change_is_read(text: str, before: float | None, after: float) -> None:
    assert [claim[:3] for claim in (*read_claims(text), *read_later_claims(text))] == [
        (Aspect.RECOMMENDATION, before, after)
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("I would raise my score to 8 if the authors add a proof.", "I would raise my score from 5 to 8."),
        *("I will raise my score to 8 once the code is there.", "I might raise my score to 8."),
        *("I will not raise my score to 8.", "Other reviewers raised their score to 8."),
        *("Reviewer 2 raised the score to 8 from 5.", "R2's score: 3 -> 5", "Please raise your score to 8."),
        *("I raise my score to 6 or 7.", "The method improves the score to 8."),
        *("We increase the score to 8 from 5 layers.", "Figure 5 -> 8", "I increased the number of layers to 8."),
    ],
)
def test_hypothetical_changes_are_no_changes(text: str) -> None:
    assert [*read_claims(text), *read_later_claims(text)] == []


def test_a_change_may_lack_its_beginning() -> None:
    def changes(rating: int) -> list[tuple[float | None, float | None, ScoreSource, str | None]]:
        content = {"rating": {"value": rating}, "review": {"value": "Fine. I raised my score to 8."}}
        note = Note(id="r", forum="f", invitations=["V/-/Official_Review"], tcdate=1, tmdate=2, content=content)
        review = read_review(note, "V", "R1", FORM, [])
        assert [score.phase for score in review.scores] == [Phase.FINAL]
        return [(change.before, change.after, change.source, change.words) for change in review.score_changes]

    assert changes(8) == [(None, 8.0, ScoreSource.TEXT, "raised my score to 8")]
    assert changes(6) == []
