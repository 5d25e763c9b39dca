"""Which examples are selected: by venue, year, grade, reviews' scores, and one submission per work."""

from pathlib import Path
from typing import Any

import pytest

from invented_releases import review, score, task_paper, write_release
from naming import by_name
from peercorpus.benchmark.cases import BenchTask, CaseCounts
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.request import TuneRequest
from peercorpus.finetune.selection import prepare_selection
from peercorpus.release.exports.request import ExampleRequest
from peercorpus.release.folder import open_release
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import Split


def _rating(value: float, high: float = 10.0) -> Row:
    return score("rating", "", aspect="recommendation", value=value, low=1.0, high=high)


def _sure(value: float) -> Row:
    return score("confidence", "", aspect="confidence", value=value, low=1.0, high=5.0)


def taken_of(
    tmp_path: Path, papers: list[Row], task: BenchTask = BenchTask.REVIEW, **chosen: Any
) -> tuple[set[str], CaseCounts]:
    """Return the ids of the selected examples, and what was left out; `links` pairs later with earlier papers."""
    links = [{"forum_id": later, "earlier_id": earlier} for later, earlier in chosen.pop("links", ())]
    rows = [
        {"forum_id": paper["forum_id"], **{name: one[name] for name in ("review_id", "reviewer", "scores")}}
        for paper in papers
        for one in paper["reviews"]
    ]
    config = "rebuttal" if task is BenchTask.REBUTTAL else "review_sft"
    told = {(config, "train"): papers, ("reviews", "iclr"): rows, ("links", "iclr"): links}
    release = open_release(write_release(tmp_path / "release", told, {}))
    taken = CaseCounts()
    found = prepare_selection(release, ExampleRequest(**chosen)).examples(task, Split.TRAIN, taken)
    return {example.example_id for example in found}, taken


def test_papers_are_chosen_by_venue_year_and_grade(tmp_path: Path) -> None:
    papers = [
        task_paper("a"),
        task_paper("b", year=2021),
        task_paper("c", venue_id="KITE.org/2020", conference="kite"),
        task_paper("d", grade="unrevised"),
    ]
    found, taken = taken_of(tmp_path, papers, venue=("iclr",), year=(2020,), grade="exact")
    assert found == {"a-R1"}
    assert taken.left_out == {
        "papers: of another year": 1,
        "papers: of another venue": 1,
        "papers: its text is 'unrevised' only": 1,
    }
    assert taken.cases == 1


def test_reviews_are_chosen_by_length(tmp_path: Path) -> None:
    reviews = [review(name, text=f"{'word ' * count}", scores=[]) for name, count in (("a", 2), ("b", 5), ("c", 9))]
    # Scores are printed below a review and are not part of its words.
    reviews[0]["scores"] = reviews[1]["scores"] = [_rating(5), _sure(3)]
    found, taken = taken_of(tmp_path, [task_paper("p", reviews=reviews)], min_words=5)
    assert found == {"b", "c"}
    assert taken.left_out == {"reviews: a shorter review": 1}


def test_confidence_is_a_share_of_the_scale(tmp_path: Path) -> None:
    reviews = [review("a", scores=[_sure(4)]), review("b", scores=[_sure(3)]), review("c", scores=[_rating(3)])]
    found, taken = taken_of(tmp_path, [task_paper("p", reviews=reviews)], min_confidence=0.75)
    assert found == {"a"}
    assert by_name(taken.left_out, "less confident", "confidence is unknown") == {
        "less confident": 1,
        "confidence is unknown": 1,
    }


def test_the_submission_with_the_best_grade_represents_its_work(tmp_path: Path) -> None:
    papers = [task_paper("a", grade="unrevised"), task_paper("b"), task_paper("c"), task_paper("alone")]
    links = [("b", "a"), ("c", "b")]
    found, taken = taken_of(tmp_path, papers, links=links)
    assert found == {"b-R1", "alone-R1"}
    assert by_name(taken.left_out, "another submission") == {"another submission": 2}


def test_a_work_needs_an_example(tmp_path: Path) -> None:
    papers = [task_paper("a", status="withdrawn"), task_paper("b", status="rejected", grade="unrevised")]
    found, taken = taken_of(tmp_path, papers, BenchTask.ACCEPTANCE, links=[("b", "a")])
    assert found == {"b"}
    assert by_name(taken.left_out, "another submission") == {"another submission": 1}
    reviews = [[review("a-R1", text="Short.")], [review("b-R1", text="Long enough for us.")]]
    papers = [task_paper(name, reviews=one) for name, one in zip("ab", reviews, strict=True)]
    assert taken_of(tmp_path / "reviews", papers, links=[("b", "a")], min_words=3)[0] == {"b-R1"}


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ({"task": "review", "min_confidence": 4.0}, "--min-confidence"),
        ({"task": "acceptance", "min_words": 9}, "--min-words"),
        ({"task": "scores", "min_confidence": 0.5}, "--min-words"),
        ({"task": "review", "min_words": 0}, "--min-words"),
    ],
)
def test_an_invalid_selection_is_refused(chosen: dict[str, Any], says: str) -> None:
    with pytest.raises(PeercorpusError, match=says):
        TuneRequest(model="m", **chosen)
