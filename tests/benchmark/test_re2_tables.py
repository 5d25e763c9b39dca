"""The tables of a comparison, from handmade runs."""

from pathlib import Path

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.logs import Protocol, TaskRun
from peercorpus.benchmark.outcomes import CaseOutcome, DecisionRecord, Scored
from peercorpus.benchmark.re2.comparison import ComparedModel
from peercorpus.benchmark.re2.tables import lay_out, make_tables

PROTOCOL = Protocol(BenchTask.ACCEPTANCE, "r", "re2", "test", "c", "whole papers", "1 (d)")


def decided(*right: bool, unscored: str | None = None) -> TaskRun:
    outcomes = [
        CaseOutcome(f"p{place}", f"p{place}", DecisionRecord(True, is_right, None), unscored)
        for place, is_right in enumerate(right)
    ]
    return TaskRun(Path("run.eval"), PROTOCOL, "model", False, outcomes={Scored.DECISION: outcomes})


def test_a_mute_model_keeps_its_row() -> None:
    mute = ComparedModel("mute", {BenchTask.ACCEPTANCE: [decided(True, False, unscored="no_object")]})
    tables = lay_out(make_tables([mute]), [])
    shown = tables.to_markdown()
    assert "| mute | - | - | - | - | - | - | 2 of 2 | 0 |" in shown
    assert "2,acceptance" not in shown
    assert "2,mute,acceptance,Accuracy,mean,,,,0,2,2" in tables.to_csv().splitlines()


def test_a_deviation_is_over_runs() -> None:
    runs = [decided(True, True, True, False), decided(True, True, False, False)]
    (table,) = make_tables([ComparedModel("one", {BenchTask.ACCEPTANCE: runs})])
    accuracy = table.rows[0][1][0]
    assert accuracy is not None
    assert list(accuracy.values) == [75, 50]
    assert round(accuracy.deviation or 0, 2) == 17.68
    low, high = accuracy.bounds or (100, 0)
    assert low < accuracy.mean < high
