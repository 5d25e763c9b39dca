"""Scores of a Re² record: one per aspect and time, and a number only if all statements of it agree."""

import json

import pytest

from peercorpus.forms.re2_records import read_re2_record
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.records.enums import Phase
from peercorpus.workspace.raw_store import RawKind, RawObject
from published_records import re2_paper, re2_scores

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
def test_two_lines_of_one_aspect_are_one_score_and_a_number_where_they_agree(lines: str, told: list[Told]) -> None:
    assert read(lines) == [*OVERALL, *told]


@pytest.mark.parametrize(("rating", "value"), [("7: accept", None), ("8: strong accept", 8), ("8", 8)])
def test_a_score_line_counts_beside_the_rating_itself(rating: str, value: float | None) -> None:
    first, *_ = read("rating: 8", rating)
    assert first == ("rating", value, rating if rating == "8" else f"{rating}\n8")
