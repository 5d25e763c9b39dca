"""Reviewers' statements about their scores: used with a lower grade, and only if the note and the form agree."""

from typing import Any

import pytest

from peercorpus.forms.form import Question, ReviewForm
from peercorpus.forms.reviews import read_review
from peercorpus.forms.score_changes import read_claims
from peercorpus.openreview.objects import Note
from peercorpus.records.enums import Aspect, Phase, ScoreSource

OVERALL, CONFIDENCE = Aspect.RECOMMENDATION, Aspect.CONFIDENCE
TEN = {float(number): f"{number}: words" for number in range(1, 11)}
FORM = ReviewForm("F", {name: Question(name, order, TEN) for order, name in enumerate(["rating", "confidence"])})


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I raise my score from 5 to 6.", [(OVERALL, 5.0, 6.0)]),
        ("I have increased my overall rating from 5: marginally below to 6: above.", [(OVERALL, 5.0, 6.0)]),
        ("Hence I am updating the final recommendation from a 3 to a 6", [(OVERALL, 3.0, 6.0)]),
        ("My score has been lowered from 8 to 6 accordingly.", [(OVERALL, 8.0, 6.0)]),
        ("I changed my rating from 5.5 \u2192 6.5", [(OVERALL, 5.5, 6.5)]),
        ("I raised my confidence from 3 to 4.", [(CONFIDENCE, 3.0, 4.0)]),
        ("I increase the soundness score from 2 to 3.", [(Aspect.SOUNDNESS, 2.0, 3.0)]),
        ("The BLEU score increased from 5 to 6.", []),
        ("They increase the BLEU score from 5 to 6.", []),
        ("raising the learning rate from 1 to 2", []),
        ("Raised the score from 5 to 6 after the rebuttal.", [(OVERALL, 5.0, 6.0)]),
        ("I see that Reviewer 2 increased the score from 3 to 6; I keep mine.", []),
        ("The proposed method improves the overall score from 3 to 6.", []),
        ("I would not raise my score from 5 to 6 without a proof.", []),
        ("Since the authors gave no proof, I have lowered my score from 7 to 6.", [(OVERALL, 7.0, 6.0)]),
        ("I see that the authors improved the score from 3 to 6.", []),
        ("I don't raise my score from 5 to 6.", []),
        ("If it holds, I will raise my score from 5 to 6.", []),
        ("I raise my score from 5/10 to 6/10.", []),
        ("It improves my score from 50 % to 60 %.", []),
        ("I raise my score and confidence from 3 to 4.", []),
        ("I raise my score to 6.", []),
        ("I keep my score from 5 to 5.", []),
    ],
)
def test_only_own_changes_are_read(text: str, claims: list[tuple[Aspect, float, float]]) -> None:
    assert [claim[:3] for claim in read_claims(text)] == claims


def first_scores(
    text: str, rating: float = 6, form: ReviewForm = FORM, **more: Any
) -> list[tuple[str, float | None, ScoreSource]]:
    content = {"rating": {"value": rating}, "confidence": {"value": 4}, "review": {"value": text}}
    note = Note(id="r", forum="f", invitations=["V/-/Official_Review"], tcdate=1_000, tmdate=9_000, content=content)
    scores = read_review(note, "V", "R1", form, **{"edits": [], **more}).scores
    return [(score.field, score.value, score.source) for score in scores if score.phase is Phase.INITIAL]


def test_a_claimed_score_is_marked() -> None:
    text = "Thanks. I raise my score from 5 to 6."
    assert first_scores(text) == [("rating", 5.0, ScoreSource.TEXT)]
    assert first_scores("Fine.", remarks=[text]) == [("rating", 5.0, ScoreSource.TEXT)]


def test_claims_follow_the_forms_order() -> None:
    text = "I raised my confidence from 3 to 4. I raised my rating from 5 to 6."
    assert [name for name, _, _ in first_scores(text)] == ["rating", "confidence"]


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("I would raise my score from 5 to 8.", 6),
        ("I raise my score from 0 to 6.", 6),
        ("I raise my score from 5.5 to 6.", 6),
        ("I raise my score from 3 to 5. Now I raise my score from 5 to 6.", 6),
    ],
    ids=["the note says another", "off the scale", "not offered", "two changes"],
)
def test_a_contradicted_claim_is_ignored(text: str, rating: float) -> None:
    assert first_scores(text, rating) == []


def test_without_a_known_scale_claims_are_ignored() -> None:
    assert first_scores("I raise my score from 5 to 6.", form=ReviewForm("inferred:V", {})) == []


def _version(rating: int, at_ms: int) -> Note:
    content = {"rating": {"value": rating}}
    return Note(id="r", invitations=["V/-/Official_Review"], tcdate=at_ms, tmdate=at_ms, content=content)


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ({"edits": [_version(3, 1_000), _version(6, 9_000)]}, [("rating", 3.0, ScoreSource.EDIT)]),
        ({"edits": [_version(6, 1_000), _version(6, 9_000)]}, [("rating", 6.0, ScoreSource.EDIT)]),
        ({"earlier": [_version(4, 1_000)]}, [("rating", 4.0, ScoreSource.SNAPSHOT)]),
        ({"earlier": [_version(4, 5_000)]}, []),
        ({"earlier": [_version(5, 5_000)]}, [("rating", 5.0, ScoreSource.TEXT)]),
    ],
    ids=["an edit", "no change by edits", "the first version", "an earlier version", "an earlier version agrees"],
)
def test_claims_never_override_recorded_scores(held: dict[str, Any], expected: list[Any]) -> None:
    assert first_scores("I raise my score from 5 to 6.", **held) == expected


def test_a_claimed_score_has_its_own_unified_value() -> None:
    labels = {1.0: "1: reject", 2.0: "2: weak reject", 3.0: "3: weak accept", 4.0: "4: accept"}
    form = ReviewForm("F", {"rating": Question("rating", 1, labels)})
    note = Note(
        id="r", forum="f", content={"rating": {"value": 3}, "review": {"value": "I raise my score from 2 to 3."}}
    )
    scores = read_review(note, "V", "R1", form, []).scores
    assert [(score.value, score.unified) for score in scores] == [(3.0, 6.0), (2.0, 5.0)]


def test_an_equal_version_may_be_late() -> None:
    told = first_scores("I raise my score from 5 to 6.", earlier=[_version(6, 5_000)])
    assert told == [("rating", 5.0, ScoreSource.TEXT)]
