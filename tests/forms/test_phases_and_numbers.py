"""Fields that name their time, and numbers in unusual places: read only if they are unambiguous."""

import pytest

from peercorpus.forms.form import Question, ReviewForm, read_score
from peercorpus.forms.reviews import read_fields, read_review
from peercorpus.forms.scales import read_scale_options
from peercorpus.forms.score_claims import read_claims, read_later_claims
from peercorpus.openreview.objects import Note
from peercorpus.records.enums import Aspect, Phase, ScoreSource

NO_FORM = ReviewForm("inferred:V", {})
TEN = {float(number): f"{number}: words" for number in range(1, 11)}
FORM = ReviewForm("F", {"rating": Question("rating", 1, TEN)})


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
def test_two_fields_of_two_times_are_two_phases_of_one_score(first: str, last: str) -> None:
    content = {name: {"value": value} for name, value in ((first, "4: below"), (last, "6: above"))}
    note = Note(id="r", forum="f", invitations=["V/-/Official_Review"], tcdate=1, tmdate=1, content=content)
    review = read_review(note, "V", "R1", NO_FORM, [])
    found = {(score.phase, score.field, score.value) for score in review.scores}
    assert found == {(Phase.INITIAL, first, 4.0), (Phase.FINAL, last, 6.0)}
    assert len({score.key for score in review.scores}) == 1
    assert [(change.field, change.before, change.after) for change in review.score_changes] == [(last, 4.0, 6.0)]


@pytest.mark.parametrize("name", ["originality", "first_time_reviewer", "final_justification", "post_rebuttal_comment"])
def test_other_fields_with_such_words_are_not_scores_of_a_phase(name: str) -> None:
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
        ("3 out of 5", None),
        ("4/5", None),
        ("3 out of 5, leaning 4", None),
        ("3, leaning 4", None),
        ("5 (maybe 6)", None),
        ("3-4", None),
        ("between 5 and 6", None),
        ("5 or 6", None),
        ("5/6", None),
    ],
)
def test_a_number_is_read_only_if_unambiguous(answer: str, value: float | None) -> None:
    score = read_score(answer, "rating", FORM)
    assert (score.value, score.label) == (value, answer)


@pytest.mark.parametrize(
    ("answer", "value"), [("see remark (2)", None), ("weak accept (6)", 6.0), ("Accept (Oral)", None)]
)
def test_without_a_form_a_number_after_words_counts_if_they_are_a_verdict(answer: str, value: float | None) -> None:
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
def test_a_reviewers_own_change_is_read_with_its_numbers(text: str, before: float | None, after: float) -> None:
    assert [claim[:3] for claim in (*read_claims(text), *read_later_claims(text))] == [
        (Aspect.RECOMMENDATION, before, after)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I would raise my score to 8 if the authors add a proof.",
        "I would raise my score from 5 to 8.",
        "I will raise my score to 8 once the code is there.",
        "I might raise my score to 8.",
        "I will not raise my score to 8.",
        "Other reviewers raised their score to 8.",
        "Reviewer 2 raised the score to 8 from 5.",
        "R2's score: 3 -> 5",
        "Please raise your score to 8.",
        "I raise my score to 6 or 7.",
        "The method improves the score to 8.",
        "We increase the score to 8 from 5 layers.",
        "Figure 5 -> 8",
        "I increased the number of layers to 8.",
    ],
)
def test_changes_by_others_and_hypothetical_ones_are_not_changes(text: str) -> None:
    assert [*read_claims(text), *read_later_claims(text)] == []


def test_a_change_without_an_earlier_number_is_beside_the_scores() -> None:
    def changes(rating: int) -> list[tuple[float | None, float | None, ScoreSource, str | None]]:
        content = {"rating": {"value": rating}, "review": {"value": "Fine. I raised my score to 8."}}
        note = Note(id="r", forum="f", invitations=["V/-/Official_Review"], tcdate=1, tmdate=2, content=content)
        review = read_review(note, "V", "R1", FORM, [])
        assert [score.phase for score in review.scores] == [Phase.FINAL]
        return [(change.before, change.after, change.source, change.words) for change in review.score_changes]

    assert changes(8) == [(None, 8.0, ScoreSource.TEXT, "raised my score to 8")]
    assert changes(6) == []
