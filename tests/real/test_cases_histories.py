"""Cases of November 2026: first scores, changes by chairs, and the years of a journal's papers."""

from collections.abc import Callable
from pathlib import Path

import pytest

import peercorpus
from peercorpus.api.corpus import Corpus
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.build import build
from peercorpus.records.enums import Phase, ScoreSource
from peercorpus.records.reviews import Conversation, Review
from peercorpus.workspace.workspace import open_workspace

CASES = Path(__file__).parents[3] / "shared" / "data" / "cases-2026-11"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not CASES.is_dir(), reason="the recorded cases are not beside this checkout, in ../shared/data"),
]
Load = Callable[[str], Corpus]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return the corpus built from one case."""

    def load(case: str) -> Corpus:
        with open_workspace(tmp_path / "corpus", create=True) as workspace:
            import_dumps(workspace, [CASES / case / "input"])
            build(workspace)
        return peercorpus.open(tmp_path / "corpus")

    return load


def test_a_review_never_modified_keeps_its_score(load: Load) -> None:
    reviews = {review.review_id: review for review in load("toy-never-modified").records(Review)}
    ratings = {
        review_id: [(score.value, score.source) for score in review.scores if score.phase is Phase.INITIAL]
        for review_id, review in reviews.items()
    }
    assert (6.0, ScoreSource.NEVER_MODIFIED) in ratings["aaa1"]
    assert ratings["bbb2"] == []
    assert [reviews[review_id].revised for review_id in ("aaa1", "bbb2")] == [False, None]


def test_an_edit_by_chairs_is_marked(load: Load) -> None:
    corpus = load("28-chairs-edit")
    (review,) = corpus.records(Review)
    assert review.revised is False
    assert [(change.before, change.after, change.source) for change in review.score_changes] == [
        (6.0, 5.0, ScoreSource.EDIT_BY_CHAIRS)
    ]
    talks = list(corpus.records(Conversation))
    assert all(not turn.score_changes for talk in talks for turn in talk.turns)
    assert all(not talk.undated_changes for talk in talks)


def test_a_journals_papers_have_years(load: Load) -> None:
    corpus = load("06-tmlr")
    years = corpus.papers().sort("forum_id").select("forum_id", "year", "year_from").collect().rows()
    assert years == [("tm6A", 2026, "decision"), ("tm6B", 2026, "decision"), ("tm6C", 2026, "submission")]
    assert corpus.statistics("papers_and_reviews", where="year>=2023")["papers"].sum() == 3
