"""Invented records in the shapes of small venues, unusual scales and venues of 2026, read as they should be."""

from pathlib import Path
from typing import Any

import pytest

from commands import run_command
from peercorpus.records.papers import Link, Paper
from peercorpus.records.reviews import Review
from peercorpus.records.scores import Score
from peercorpus.workspace.workspace import open_workspace

CASES = Path(__file__).parents[3] / "shared" / "data" / "cases-2026-11"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not CASES.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data"),
]


def read_built(case: str, folder: Path, table: str, kind: type[Any]) -> list[Any]:
    if not folder.exists():
        assert run_command("import", CASES / case / "input", "-w", folder).code == 0
        assert run_command("build", "-w", folder).code == 0
    with open_workspace(folder, write=False) as workspace:
        return [
            record for venue_id in workspace.tables.venues(table) for record in workspace.tables.read(kind, venue_id)
        ]


def read_reviews(case: str, folder: Path) -> list[Review]:
    return read_built(case, folder, "2-reviews", Review)


def find_score(review: Review, field: str) -> Score:
    return next(score for score in review.scores if score.field == field)


def test_small_venues_keep_every_rating(tmp_path: Path) -> None:
    reviews = read_reviews("small-venues", tmp_path / "corpus")
    assert len(reviews) == 25
    for review in reviews:
        rating = find_score(review, "rating")
        assert rating.label.startswith(f"{rating.value:g}:")


def test_unusual_scales_keep_labels_and_directions(tmp_path: Path) -> None:
    first, second, _ = read_reviews("09-scales", tmp_path / "corpus")
    rating, overall = find_score(first, "rating"), find_score(second, "overall")
    assert (rating.label, rating.rank, rating.higher_is_better) == ("Weak accept", 2, False)
    assert (overall.aspect, overall.value, overall.higher_is_better) == ("recommendation", 0.0, True)


def test_the_form_of_icml_2026_is_known(tmp_path: Path) -> None:
    reviews = read_reviews("12-icml26-public", tmp_path / "corpus")
    assert {review.form_id for review in reviews} == {"declared:icml-2026"}
    for review in reviews:
        rating = find_score(review, "overall_recommendation")
        assert (rating.low, rating.high, rating.higher_is_better) == (1, 6, True)
        sections = {section.field: section.kind for section in review.sections}
        assert sections["key_questions_for_authors"] == "questions"


def test_a_commitment_to_a_venue_has_its_own_kind(tmp_path: Path) -> None:
    links = read_built("05-arr26", tmp_path / "corpus", "8-links", Link)
    kinds = {(link.forum_id, link.earlier_id): link.kind for link in links}
    assert kinds["ar5com", "ar5new"] == "commitment"
    assert kinds["ar5new", "ar5old"] == "resubmission"
    papers = read_built("05-arr26", tmp_path / "corpus", "1-papers", Paper)
    assert {paper.forum_id: paper.status for paper in papers} == {
        "ar5com": "accepted",
        "ar5new": "unknown",
        "ar5old": "unknown",
    }
