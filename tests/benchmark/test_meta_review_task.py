"""The task `meta_review`: its questions, how answers are read and scored, its baselines, and training examples."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from invented_bench import TEST, exchange, meta_release, meta_review_paper, oracle, scripted
from peercorpus.benchmark.answers import WrittenMetaReview, read_meta_review
from peercorpus.benchmark.baselines.baseline import load_baseline
from peercorpus.benchmark.baselines.meta_reviews import learn_threshold
from peercorpus.benchmark.cases import BenchTask, Case, CaseCounts, CaseSelection, held_tasks, read_cases
from peercorpus.benchmark.leaderboard import make_boards
from peercorpus.benchmark.logs import read_runs
from peercorpus.benchmark.messages import messages, right_answer
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.selection import prepare_selection
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.request import ExampleRequest, ExportRequest
from peercorpus.release.folder import open_release
from peercorpus.release.splits import Split

TASK = BenchTask.META_REVIEW


def cases(release: Path, split: Split = Split.TEST) -> tuple[list[Case], CaseCounts]:
    counts = CaseCounts()
    return list(read_cases(open_release(release), TASK, CaseSelection(split), counts)), counts


def test_a_question_shows_all_but_the_decision(tmp_path: Path) -> None:
    (case, *_), _ = cases(meta_release(tmp_path))
    system, asked = messages(case, "# On kites")
    assert "area chair" in system.text
    assert asked.text.split("\n\n", 1)[1] == (
        "# On kites\n\n"
        '<supplementary source="reviewer 1">\nI doubt it.\n\nrating: 8\n</supplementary>\n\n'
        '<supplementary source="the authors, to reviewer 1">\nIt holds.\n</supplementary>\n\n'
        '<supplementary source="the authors, to everyone">\nWe added proofs.\n</supplementary>'
    )
    assert right_answer(case) == "All of p16 is clear.\n\nRecommendation: accept"


def test_undecided_papers_are_counted_not_asked(tmp_path: Path) -> None:
    late = {"status": "withdrawn", "turns_left_out": 3, "tell_decision": 1}
    found, counts = cases(meta_release(tmp_path, {16: {"exchanges": [], "reviews_left_out": 2}, 17: late}))
    assert [case.case_id for case in found] == TEST[2:]
    assert counts.left_out == {
        "papers: no review that is certain to be from before the decision": 1,
        "papers: withdrawn": 1,
        "reviews: not certain to be from before the decision": 2,
        "turns: posted after the decision or the meta-review": 2,
        "turns: state the decision": 1,
    }


@pytest.mark.parametrize(
    ("answer", "text", "accept"),
    [
        ("Good.\n\nRecommendation: accept", "Good.", True),
        ("Good.\n**Recommendation:** Reject.", "Good.", False),
        ("Recommendation: accept\n\nGood.", "Recommendation: accept\n\nGood.", None),
        ("Good.\n\nRecommendation: accept or reject", "Good.\n\nRecommendation: accept or reject", None),
    ],
)
def test_only_the_last_line_is_the_recommendation(answer: str, text: str, accept: bool | None) -> None:
    assert read_meta_review(answer) == WrittenMetaReview(text, accept)


def measured(release: Path, logs: Path, model: Any) -> dict[str, dict[str, float]]:
    """Return the numbers of every row of the table, by name and by how failures count."""
    bench = Bench(tasks=[TASK], release=release, logs=logs, model=model)
    assert run_tasks(bench).is_whole
    (board,) = make_boards(read_runs(logs)).boards
    names = [measure.name for measure in board.measures]
    return {
        f"{one.name}{'/' if one.failures else ''}{one.failures}": {
            name: round(cell.value, 2) for name, cell in zip(names, one.cells, strict=True) if cell is not None
        }
        for one in board.rows
    }


@pytest.mark.slow
@pytest.mark.usefixtures("quietly")
def test_an_oracle_agrees_with_every_decision(tmp_path: Path) -> None:
    release = meta_release(tmp_path)
    rows = measured(release, tmp_path / "logs", oracle(release, "oracle"))
    assert (rows["mockllm/oracle"]["ROUGE-L"], rows["mockllm/oracle"]["agreement with the decision"]) == (100, 100)
    assert rows["mean-decides"]["agreement with the decision"] == 100
    assert rows["template"]["agreement with the decision"] == 62.5
    assert rows["template"]["balanced agreement"] == 50


@pytest.mark.slow
@pytest.mark.usefixtures("quietly")
def test_a_missing_recommendation_keeps_the_text(tmp_path: Path) -> None:
    def rule(asked: Any) -> str:
        return "All is clear." + ("" if "part 16\n" in asked[-1].text else "\n\nRecommendation: reject")

    rows = measured(meta_release(tmp_path), tmp_path / "logs", scripted(rule, "half"))
    dropped = next(
        numbers for name, numbers in rows.items() if name.startswith("mockllm/half/") and "wrong" not in name
    )
    # Three of eight papers are accepted, including the one without a recommendation.
    assert dropped["agreement with the decision"] == pytest.approx(100 * 5 / 7, abs=0.01)
    assert dropped["length (words)"] == 3


@pytest.mark.parametrize(
    ("net", "threshold"),
    [({0.2: -3, 0.5: 1, 0.8: 4}, 0.5), ({0.2: -1, 0.8: -1}, 2.0), ({0.2: 2, 0.5: -1}, 0.2), ({0.5: 0, 0.8: 1}, 0.8)],
)
def test_the_threshold_decides_most_training_papers_correctly(net: dict[float, int], threshold: float) -> None:
    assert learn_threshold(Counter(net)) == threshold


def test_the_baselines_state_no_rating_if_there_is_none(tmp_path: Path) -> None:
    release = meta_release(tmp_path, {16: {"exchanges": [exchange("p16", ("reviewer", "Hm."), scores=[])]}})
    baseline = load_baseline("mean-decides", TASK)
    baseline.fit(cases(release, Split.TRAIN)[0])
    answers = [baseline.answer(case) for case in cases(release)[0]]
    assert answers[0].endswith("no rating on a known scale.\n\nRecommendation: reject")
    assert answers[1].startswith("The reviewers rate the paper 4; the mean is 4 on the scale from 1 to 10.")
    assert answers[1].endswith("\n\nRecommendation: reject")


def test_an_overruled_chair_is_learnt_from(tmp_path: Path) -> None:
    overruled = meta_review_paper(0)["meta_reviews"][0] | {"recommends": "accepted"}
    silent = overruled | {"recommends": None, "post_id": "p00-other"}
    release = meta_release(tmp_path, {0: {"meta_reviews": [overruled, silent]}})
    chosen = prepare_selection(open_release(release), ExampleRequest())
    first, second, *_ = chosen.examples(TASK, Split.TRAIN, CaseCounts())
    ends = [example.messages("# Paper")[-1].text for example in (first, second)]
    assert [end.rpartition(" ")[2] for end in ends] == ["accept", "reject"]
    (case, *_), _ = cases(release, Split.TRAIN)
    assert first.messages("# Paper")[:-1] == messages(case, "# Paper")
    assert first.record_ids == ("p00-meta", "p00-0", "p00-1", "p00-all")


def test_an_export_has_the_same_prompts(tmp_path: Path) -> None:
    release = meta_release(tmp_path)
    export_release(release, tmp_path / "out", ExportRequest(format=ExportLayout.TRL, task="meta_review"))
    (sample, *_) = map(json.loads, (tmp_path / "out" / "meta_review_test.jsonl").read_text().splitlines())
    (case, *_), _ = cases(release)
    told = [one["content"] for one in sample["messages"]]
    assert (told[0], told[2]) == (messages(case, "")[0].text, right_answer(case))
    assert told[1].endswith(case.history[0].text)
    assert sample["post_ids"] == ["p16-0", "p16-1", "p16-all"]
    # `datasets` infers a column's type from its first rows.
    assert [name for name, value in sample.items() if value is None or value == []] == []


@pytest.mark.parametrize(
    ("layout", "options", "says"),
    [(ExportLayout.RE2, {}, "Re²"), (ExportLayout.TRL, {"assistant": "author"}, "--task rebuttal")],
)
def test_an_impossible_export_is_refused(layout: ExportLayout, options: dict[str, Any], says: str) -> None:
    with pytest.raises(PeercorpusError, match=says):
        ExportRequest(format=layout, task="meta_review", **options)


def test_a_release_without_meta_reviews_is_used(bench_data: Path, tmp_path: Path) -> None:
    assert held_tasks(open_release(bench_data), Split.TEST) == [task for task in BenchTask if task is not TASK]
    assert held_tasks(open_release(meta_release(tmp_path)), Split.TEST) == [*BenchTask]
