"""Numbers from different cases, graders or settings never share a table; n counts the table's own cases."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.leaderboard import compare_runs, make_boards
from peercorpus.benchmark.leaderboard_render import lay_out
from peercorpus.benchmark.logs import Protocol, TaskRun
from peercorpus.benchmark.outcomes import (
    BertScored,
    CaseOutcome,
    DecisionRecord,
    PredictedScore,
    Scored,
    ScoresRecord,
    Verdict,
)
from peercorpus.metrics.intervals.pairs import PairedDifference


def _run(name: str, task: BenchTask, outcomes: dict[Scored, list[CaseOutcome]], **known: Any) -> TaskRun:
    protocol = Protocol(task, "r" * 64, "re2", "test", "c" * 64, "whole papers", "1 (abc)")
    return TaskRun(Path(f"{name}.eval"), protocol, name, is_baseline=False, outcomes=outcomes, **known)


def _numbers(aspects: Mapping[str, Iterable[str]], unscored: str | None = None) -> dict[Scored, list[CaseOutcome]]:
    """Return one number per aspect of each paper, off by one point."""
    fields = {
        paper: ScoresRecord(tuple(PredictedScore(one, one, 1, 5, 3, 4) for one in of)) for paper, of in aspects.items()
    }
    return {Scored.NUMBERS: [CaseOutcome(paper, paper, found, unscored) for paper, found in fields.items()]}


def _bert(model: str, f1: float) -> TaskRun:
    found = [CaseOutcome(paper, paper, BertScored(f1, f1, f1, 0.0)) for paper in "ab"]
    signatures = {
        f"bert_{part}": f"BERTScore|{part}|model:{model}|peercorpus:1" for part in ("precision", "recall", "f1")
    }
    return _run(model, BenchTask.REVIEW, {Scored.BERT_SCORE: found}, signatures=signatures)


def _judged(grader: str, mark: int) -> TaskRun:
    found = [CaseOutcome(paper, paper, Verdict(*[mark] * 5)) for paper in "ab"]
    return _run(f"by-{grader}", BenchTask.REVIEW, {Scored.JUDGE: found}, grader=grader)


def test_n_counts_papers_whose_form_has_the_aspect() -> None:
    asked = {"a": ["recommendation", "soundness"], "b": ["recommendation"], "c": ["recommendation"]}
    boards = make_boards([_run("model", BenchTask.SCORES, _numbers(asked))]).boards
    assert {one.group: (one.rows[0].n, one.rows[0].papers) for one in boards} == {
        "recommendation": (3, 3),
        "soundness": (1, 1),
    }


def test_only_shared_fields_are_compared() -> None:
    whole, part = {"a": ["soundness"], "b": ["soundness"], "c": ["soundness"]}, {"a": ["soundness"], "c": ["soundness"]}
    narrow = _run("narrow", BenchTask.SCORES, _numbers({**part, "b": []}), adapter="sea-e")
    baseline = replace(_run("mean", BenchTask.SCORES, _numbers(whole)), is_baseline=True)
    made = make_boards([narrow, _run("full", BenchTask.SCORES, _numbers(whole)), baseline])
    found = [({row.name: row.n for row in board.rows}, board.is_part) for board in made.boards]
    assert found == [({"narrow": 2, "full": 2, "mean": 2}, True), ({"full": 3, "mean": 3}, False)]
    assert lay_out(made).to_markdown().count("asked for more") == 1


def test_two_models_of_one_metric_have_separate_columns() -> None:
    (board,) = make_boards([_bert("small", 0.5), _bert("large", 0.9)]).boards
    rows = {row.name: [None if one is None else one.value for one in row.cells] for row in board.rows}
    of_small = [place for place, one in enumerate(board.measures) if "model:small" in one.name]
    assert len(board.measures) == 2 * len(of_small) == 8
    assert [rows["small"][place] for place in of_small] == [50, 50, 50, 0]
    assert [rows["large"][place] for place in of_small] == [None] * 4
    assert all(len(used) == 1 for used in board.signatures.values())


def test_marks_of_two_graders_are_not_subtracted() -> None:
    found = dict(compare_runs(_judged("one", 3), _judged("other", 9)))
    assert str(found["judge: quality"]).endswith("by one; by other")
    same = dict(compare_runs(_judged("one", 3), _judged("one", 9)))["judge: quality"]
    assert isinstance(same, PairedDifference)
    assert same.value == -6


def test_incomparable_runs_are_reported() -> None:
    decided = {Scored.DECISION: [CaseOutcome(paper, paper, DecisionRecord(True, True, None)) for paper in "ab"]}
    first, second = _run("x", BenchTask.ACCEPTANCE, decided), _run("y", BenchTask.ACCEPTANCE, decided)
    found = dict(compare_runs(first, second))
    assert isinstance(found["accuracy"], PairedDifference)
    assert "MCC" in str(found["MCC"])
    fewer = _run("z", BenchTask.SCORES, _numbers({"a": ["soundness"], "b": []}))
    more = _run("w", BenchTask.SCORES, _numbers({"a": ["soundness"], "b": ["soundness"]}))
    refused = dict(compare_runs(more, fewer)).values()
    assert refused
    assert all("fields" in str(why) for why in refused)


def test_pooled_venues_are_said() -> None:
    decided = [
        CaseOutcome(paper, paper, DecisionRecord(True, True, None), venue_id=venue_id)
        for paper, venue_id in zip("ab", ("ICML.cc/2026/Conference", "ICLR.cc/2026/Conference"), strict=True)
    ]
    both, one = (
        lay_out(make_boards([_run("x", BenchTask.ACCEPTANCE, {Scored.DECISION: some})])).to_markdown()
        for some in (decided, decided[:1])
    )
    assert "Pools venue-years whose rules differ or may differ: language models in reviewing: disclosed" in both
    assert "Pools" not in one


@pytest.mark.fault("input", "a model's name that a spreadsheet would run as a formula", "it is text there")
def test_a_name_is_not_a_spreadsheet_formula() -> None:
    asked = _numbers({"a": ["soundness"], "b": ["soundness"]})
    lines = lay_out(make_boards([_run("=HYPERLINK(1)", BenchTask.SCORES, asked)])).to_csv().splitlines()
    assert len(lines) > 1
    assert all(line.startswith("scores,soundness,'=HYPERLINK(1),") for line in lines[1:])
