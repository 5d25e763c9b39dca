"""Answers are read strictly: one form per task, a reason for rejecting any other, and never a guessed number."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.benchmark.answers import (
    Decision,
    UnreadableAnswerError,
    Unscored,
    read_decision,
    read_meta_review,
    read_review_answer,
    read_score_answer,
    read_turn,
    write_decision,
    write_review,
    write_scores,
)
from peercorpus.benchmark.cases import AskedScore
from peercorpus.records.enums import Aspect

RATING = AskedScore(Aspect.RECOMMENDATION, "rating", 1, 10, (5,))
CONFIDENCE = AskedScore(Aspect.CONFIDENCE, "confidence", 1, 5, (3,))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", Unscored.EMPTY),
        ("accept", Unscored.NO_OBJECT),
        ('The paper is good. {"decision": "accept"}', Unscored.NO_OBJECT),
        ('{"decision": "accept"} {"decision": "reject"}', Unscored.NO_OBJECT),
        ('{"decision": "accept", "decision": "reject"}', Unscored.NO_OBJECT),
        ('["accept"]', Unscored.NO_OBJECT),
        ("[" * 100_000, Unscored.NO_OBJECT),
        ('{"decision": "maybe"}', Unscored.NO_DECISION),
        ('{"decision": true}', Unscored.NO_DECISION),
        ('{"decision": "accept", "probability": "high"}', Unscored.NO_NUMBER),
        ('{"decision": "accept", "probability": true}', Unscored.NO_NUMBER),
        ('{"decision": "accept", "probability": 70}', Unscored.OFF_SCALE),
        ('{"decision": "accept", "probability": NaN}', Unscored.NO_NUMBER),
        ('{"decision": "accept", "probability": 1e999}', Unscored.OFF_SCALE),
    ],
)
def test_an_answer_without_a_decision_has_a_reason(said: str, reason: Unscored) -> None:
    with pytest.raises(UnreadableAnswerError) as caught:
        read_decision(said)
    assert caught.value.reason is reason


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ('{"decision": "accept"}', Decision(True)),
        (' {"decision": "Reject", "probability": 0.2}\n', Decision(False, 0.2)),
        ('```json\n{"decision": "reject", "probability": null}\n```', Decision(False)),
        ('{"decision": "accept", "probability": 1, "why": "novel"}', Decision(True, 1.0)),
    ],
)
def test_a_decision_is_read(said: str, decision: Decision) -> None:
    assert read_decision(said) == decision


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ('{"rating": 5}', Unscored.NO_NUMBER),
        ('{"rating": "5", "confidence": 3}', Unscored.NO_NUMBER),
        ('{"rating": NaN, "confidence": 3}', Unscored.NO_NUMBER),
        ('{"rating": 11, "confidence": 3}', Unscored.OFF_SCALE),
    ],
)
def test_missing_scores_have_a_reason(said: str, reason: Unscored) -> None:
    with pytest.raises(UnreadableAnswerError) as caught:
        read_score_answer(said, [RATING, CONFIDENCE])
    assert caught.value.reason is reason


def test_a_review_is_separated_from_the_scores_below_it() -> None:
    found = read_review_answer("Good.\n\n**Rating**: 10: strong accept\n- confidence: 4\n\n", [RATING, CONFIDENCE])
    assert found.text == "Good."
    assert found.scores == {"rating": 10, "confidence": 4}


def test_other_text_stays_in_the_review() -> None:
    said = "Rating: 3 of the baselines are old.\n\nI say no.\nrating: 12\nrating: N/A"
    assert read_review_answer(said, [RATING]).text == said


def test_a_review_with_scores_only_has_no_text() -> None:
    with pytest.raises(UnreadableAnswerError) as caught:
        read_review_answer("rating: 5\n", [RATING])
    assert caught.value.reason is Unscored.EMPTY


def test_an_empty_turn_is_not_scored() -> None:
    with pytest.raises(UnreadableAnswerError):
        read_turn(" \n")


@given(st.booleans(), st.none() | st.floats(0, 1))
def test_a_written_decision_is_parsed_back(accept: bool, probability: float | None) -> None:
    assert read_decision(write_decision(Decision(accept, probability))) == Decision(accept, probability)


@given(st.integers(10, 100), st.integers(10, 50))
def test_written_scores_are_parsed_back(rating: int, confidence: int) -> None:
    scores = {"rating": rating / 10, "confidence": confidence / 10}
    assert read_score_answer(write_scores(scores), [RATING, CONFIDENCE]) == scores
    assert read_review_answer(write_review("Words.", scores), [RATING, CONFIDENCE]).scores == scores


@given(st.text())
def test_no_text_raises_another_error(said: str) -> None:
    for read in (
        read_decision,
        lambda text: read_score_answer(text, [RATING]),
        lambda text: read_review_answer(text, [RATING]),
    ):
        with suppress(UnreadableAnswerError):
            read(said)


@pytest.mark.parametrize(
    ("line", "scores"),
    [
        ("review_assessment:_thoroughness: 3", {"review_assessment:_thoroughness": 3}),
        ("**Balance:** -2", {"balance": -2}),
        ("balance: 2: leaning", {"balance": 2}),
    ],
)
def test_a_field_may_contain_a_colon(line: str, scores: dict[str, float]) -> None:
    asked = [
        AskedScore(Aspect.OTHER, "review_assessment:_thoroughness", 1, 5, (3,)),
        AskedScore(Aspect.OTHER, "balance", -3, 3, (0,)),
    ]
    review = read_review_answer(f"Fine.\n\n{line}", asked)
    assert (review.text, review.scores) == ("Fine.", scores)


@pytest.mark.parametrize(
    ("lines", "scores"),
    [
        ("rating: 6\nrating: 8", {}),
        ("rating: 8\nrating: 6\nconfidence: 3", {"confidence": 3}),
        ("rating: 6\nconfidence: 3\n**Rating:** 6 (weak accept)", {"rating": 6, "confidence": 3}),
        ("rating: 6\nrating: 8\nrating: 6", {}),
    ],
    ids=["two numbers", "two numbers and another score", "the same number", "the first number again"],
)
def test_two_lines_of_a_score_must_agree(lines: str, scores: dict[str, float]) -> None:
    review = read_review_answer(f"Fine.\n\n{lines}", [RATING, CONFIDENCE])
    assert (review.text, review.scores) == ("Fine.", scores)


@pytest.mark.parametrize(
    "thought", ["<think>Is it new?\n\nNo.</think>", "\n<THINKING>Weak.</THINKING>\n", "Is it new?\n</think>"]
)
def test_reasoning_before_an_answer_is_not_part_of_it(thought: str) -> None:
    said = "The <think> token of section 2 is not explained."
    assert read_turn(f"{thought}\n\n{said}") == said
    assert read_review_answer(f"{thought}\n\n{said}", ()).text == said
    assert read_meta_review(f"{thought}\n\n{said}\n\nRecommendation: reject").text == said
    assert read_turn(f"{said} Nor is </think>.") == f"{said} Nor is </think>."


def test_thinking_without_an_end_is_empty() -> None:
    with pytest.raises(UnreadableAnswerError) as error:
        read_turn("<think>Is it new? It may")
    assert error.value.reason is Unscored.EMPTY
