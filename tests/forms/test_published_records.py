"""Published records of a venue whose form is declared are read with it, unless an answer refutes it."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from peercorpus.forms.declared_forms import as_review_form, declared_form
from peercorpus.forms.form import ReviewForm, find_contradiction
from peercorpus.forms.re2_records import read_re2_record
from peercorpus.forms.reviewbench_records import read_reviewbench_record
from peercorpus.forms.venue_forms import read_venue
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.records.enums import Aspect, Phase, ScoreSource
from peercorpus.records.reviews import Review
from peercorpus.records.scores import Score, unified_rating
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace
from published_records import re2_paper, re2_scores, reviewbench_review, reviewbench_row

ICLR_2024 = "ICLR.cc/2024/Conference"
ABOVE = "6: marginally above the acceptance threshold"
CONFIDENT = (
    "4: You are confident in your assessment, but not absolutely certain. It is unlikely, but not impossible, that you"
    " did not understand some parts of the submission or that you are unfamiliar with some pieces of related work."
)


def raw(venue_id: str, record: dict[str, Any]) -> RawObject:
    body = json.dumps(record).encode()
    return RawObject(RawKind.PUBLISHED, "reviewbench:kite1", 0, venue_id, "kite1", "kite1", 0, 1, "a file", body)


@cache
def declared(venue_id: str) -> ReviewForm | None:
    with TemporaryDirectory() as folder, open_workspace(Path(folder), create=True) as workspace:
        return read_venue(workspace, venue_id).declared_form


def of_reviewbench(venue_id: str = ICLR_2024, **answers: Any) -> Review:
    review = reviewbench_review(rating=None, confidence=None, soundness=None) | answers
    row = reviewbench_row(venue_id=venue_id, reviews=[review])
    (read,) = read_reviewbench_record(raw(venue_id, row), declared(venue_id), VenueVocabulary()).reviews
    return read


def of_re2(venue_id: str = ICLR_2024, *, unified: Any = None, aspects: str = "", **ratings: str) -> Review:
    review = re2_paper()["reviews"][0]
    for phase in ("initial", "final"):
        scores = {"rating": ratings.get(phase), "confidence": ratings.get("confidence"), "aspect_score": aspects}
        review[f"{phase}_score"] = scores
        review.pop(f"{phase}_score_unified")
        if unified is not None:
            review[f"{phase}_score_unified"] = unified[phase]
    (read,) = read_re2_record(raw(venue_id, re2_paper(reviews=[review])), declared(venue_id), VenueVocabulary()).reviews
    return read


def told(score: Score) -> tuple[str, float | None, float | None, float | None]:
    return score.field, score.value, score.low, score.high


@pytest.mark.parametrize(
    "rating", [ABOVE, 6, 6.0, "6", "6: Marginally above the acceptance threshold.", "6: marginally above"]
)
def test_reviewbench_has_the_declared_scale(rating: Any) -> None:
    review = of_reviewbench(rating=rating, confidence=4, soundness="3 good")
    assert (review.form_id, review.form_conflict) == ("declared:iclr-2024", None)
    assert [told(score) for score in review.scores] == [
        ("soundness", 3, 1, 4),
        ("rating", 6, 1, 10),
        ("confidence", 4, 1, 5),
    ]
    by_field = {score.field: score for score in review.scores}
    assert (by_field["rating"].offered, by_field["rating"].unified) == ((1, 3, 5, 6, 8, 10), 6)
    assert {score.source for score in review.scores} == {ScoreSource.PUBLISHED}


def test_re2_has_the_declared_scale() -> None:
    lines = "soundness: 3 good\npresentation: 2 fair\n"
    first = "5: marginally below the acceptance threshold"
    review = of_re2(initial=first, final=ABOVE, confidence=CONFIDENT, aspects=lines)
    assert (review.form_id, review.form_conflict, review.revised) == ("declared:iclr-2024", None, True)
    ratings = [score for score in review.scores if score.aspect is Aspect.RECOMMENDATION]
    assert [(one.phase, one.value, one.low, one.high, one.unified, one.label) for one in ratings] == [
        (Phase.INITIAL, 5, 1, 10, 5, first),
        (Phase.FINAL, 6, 1, 10, 6, ABOVE),
    ]
    assert {told(score) for score in review.scores if score.phase is Phase.FINAL} == {
        ("rating", 6, 1, 10),
        ("confidence", 4, 1, 5),
        ("soundness", 3, 1, 4),
        ("presentation", 2, 1, 4),
    }


CONFLICTS: dict[str, dict[str, Any]] = {
    "a number that is not offered": {"rating": "7: accept"},
    "a bare number that is not offered": {"rating": 7},
    "the words of another number": {"rating": "6: strong accept"},
    "the words of another form": {"rating": "6: Weak Accept"},
    "another score": {"rating": ABOVE, "soundness": "5 superb"},
    "an extra score": {"rating": ABOVE, "extra_scores": {"presentation": 9}},
    "the first score": {"rating": ABOVE, "rating_initial": 4},
    "a label beside the number": {"rating": 6, "rating_label": "6: Weak Accept"},
}


@pytest.mark.parametrize("answers", CONFLICTS.values(), ids=CONFLICTS)
def test_an_unoffered_answer_discards_the_form(answers: dict[str, Any]) -> None:
    review = of_reviewbench(**answers)
    assert review.form_id == f"inferred:{ICLR_2024}"
    assert review.form_conflict is not None
    assert {(score.low, score.high, score.unified) for score in review.scores} == {(None, None, None)}
    assert next(score.value for score in review.scores if score.field == "rating") in {6, 7}


def test_a_conflict_in_re2_is_named() -> None:
    review = of_re2(initial=ABOVE, final="7: accept")
    assert (review.form_id, review.form_conflict) == (f"inferred:{ICLR_2024}", "rating: 7: accept")


RENAMED = [
    ("ICLR.cc/2022/Conference", "8: accept, good paper", "recommendation", 8),
    ("ICLR.cc/2023/Conference", "8: accept, good paper", "recommendation", 8),
    ("ICML.cc/2025/Conference", 4, "overall_recommendation", 4),
]


@pytest.mark.parametrize(("venue_id", "rating", "field", "value"), RENAMED)
def test_a_datasets_rating_has_the_forms_own_name(venue_id: str, rating: Any, field: str, value: float) -> None:
    review = of_reviewbench(venue_id, rating=rating, rating_initial=1)
    assert review.form_id.startswith("declared:")
    assert [(one.field, one.phase, one.value) for one in review.scores if one.aspect is Aspect.RECOMMENDATION] == [
        (field, Phase.FINAL, value),
        (field, Phase.INITIAL, 1),
    ]
    assert all(one.low is not None for one in review.scores)
    both = of_reviewbench(venue_id, rating=rating, **{field: rating})
    assert [one.field for one in both.scores] == [field]


def test_an_unasked_confidence_keeps_its_name() -> None:
    review = of_reviewbench("ICLR.cc/2020/Conference", rating="6: Weak Accept", confidence=4)
    assert review.form_id == "declared:iclr-2020"
    assert {told(score) for score in review.scores} == {("rating", 6, 1, 8), ("confidence", 4, None, None)}


def test_without_declared_form_there_is_no_scale() -> None:
    review = of_reviewbench("Kites.cc/2023/Conference", rating=ABOVE)
    assert (review.form_id, review.form_conflict) == ("inferred:Kites.cc/2023/Conference", None)
    assert [told(score) for score in review.scores] == [("rating", 6, None, None)]


def test_scores_that_a_venue_reverted_are_initial_ones() -> None:
    review = of_reviewbench("ICLR.cc/2026/Conference", rating=6)
    assert [(one.phase, told(one)) for one in review.scores] == [(Phase.INITIAL, ("rating", 6, 0, 10))]


def test_re2s_own_values_are_kept() -> None:
    borderline = "5: Borderline accept: Technically solid paper where..."
    unified = {
        "initial": {"rating": "5 marginally below the acceptance threshold", "confidence": "fairly confident"},
        "final": {"rating": 7, "confidence": "null"},
    }
    review = of_re2("NeurIPS.cc/2022/Conference", initial=borderline, final=borderline, confidence="3", unified=unified)
    assert (review.form_id, review.form_conflict) == ("declared:neurips-2022", None)
    ratings = [score for score in review.scores if score.aspect is Aspect.RECOMMENDATION]
    assert [(one.phase, one.value, one.unified, one.stated_unified, one.stated_label) for one in ratings] == [
        (Phase.INITIAL, 5, 6, 5, "5 marginally below the acceptance threshold"),
        (Phase.FINAL, 5, 6, 7, "7"),
    ]
    confidence = [(one.stated_unified, one.stated_label) for one in review.scores if one.field == "confidence"]
    assert confidence == [(None, "fairly confident"), (None, None)]
    assert unified_rating(review.scores) == 6


@pytest.mark.parametrize("odd", [None, "7", ["7"], {"rating": None}, {"rating": ["7"]}, {"rating": True}])
def test_unified_values_in_another_form_are_not_read(odd: Any) -> None:
    review = of_re2(final=ABOVE, unified={"initial": odd, "final": odd})
    assert [(one.value, one.stated_unified, one.stated_label) for one in review.scores] == [(6, None, None)]


@pytest.mark.parametrize(
    ("name", "answer", "is_refuted"),
    [
        ("rating", "8: accept, good paper", False),
        ("rating", ["8: accept, good paper"], False),
        ("rating", "8: Accept -- good paper", False),
        ("rating", "8: accept, bad paper", True),
        ("rating", "4", True),
        ("rating", "perhaps", True),
        ("rating", None, False),
        ("rating", "", False),
        ("soundness", "3 good", False),
        ("soundness", "3: good", False),
        ("soundness", "good", False),
        ("soundness", "3 fair", True),
        ("summary", "7: accept", False),
        ("wingspan", "9", False),
    ],
)
def test_answers_can_refute_a_form(name: str, answer: object, *, is_refuted: bool) -> None:
    declared = declared_form(ICLR_2024)
    assert declared is not None
    assert (find_contradiction(name, answer, as_review_form(declared)) is not None) is is_refuted


Told = tuple[str, float | None, str]


def read(lines: str, rating: str = "7: accept") -> list[Told]:
    """Return field, value and label of a review's scores, from these lines and default ratings and first lines."""
    paper = re2_paper()
    paper["reviews"][0]["final_score"] = re2_scores("") | {"rating": rating, "aspect_score": lines}
    body = json.dumps(paper).encode()
    venue_id = "published/Kites/2023/Conference"
    record = RawObject(RawKind.PUBLISHED, "re2-reviews:kite1", 0, venue_id, "kite1", "kite1", 0, 1, "a file", body)
    (review,) = read_re2_record(record, None, VenueVocabulary()).reviews
    return [(one.field, one.value, one.label) for one in review.scores if one.phase is Phase.FINAL]


OVERALL: list[Told] = [("rating", 7, "7: accept"), ("confidence", 3, "3: You are fairly confident")]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("soundness: 3 good\nnovelty: 2", [("soundness", 3, "3 good"), ("novelty", 2, "2")]),
        ("soundness: 3 good\nsoundness: 2 fair", [("soundness", None, "3 good\n2 fair")]),
        ("soundness: 3 good\nnovelty: 2\nsoundness: 3 good", [("soundness", 3, "3 good"), ("novelty", 2, "2")]),
        ("Soundness: 3 good\nsoundness: 3", [("Soundness", 3, "3 good\n3")]),
        ("soundness: 3 good\nsoundness: good", [("soundness", None, "3 good\ngood")]),
    ],
    ids=["two aspects", "two numbers", "the same again", "the same number in other words", "a number and words"],
)
def test_lines_of_one_aspect_are_joined(lines: str, told: list[Told]) -> None:
    assert read(lines) == [*OVERALL, *told]


@pytest.mark.parametrize(("rating", "value"), [("7: accept", None), ("8: strong accept", 8), ("8", 8)])
def test_a_score_line_counts_beside_the_rating_itself(rating: str, value: float | None) -> None:
    first, *_ = read("rating: 8", rating)
    assert first == ("rating", value, rating if rating == "8" else f"{rating}\n8")
