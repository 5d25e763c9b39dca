"""The tables of a comparison, from handmade runs."""

from pathlib import Path

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.leaderboard_render import render_tables
from peercorpus.benchmark.logs import Protocol, TaskRun
from peercorpus.benchmark.outcomes import CaseOutcome, DecisionRecord, Scored
from peercorpus.benchmark.re2.comparison import ComparedModel
from peercorpus.benchmark.re2.tables import lay_out, make_tables, render_table_csv

PROTOCOL = Protocol(BenchTask.ACCEPTANCE, "r", "re2", "test", "c", "whole papers", "1 (d)")


def decided(*right: bool, unscored: str | None = None) -> TaskRun:
    outcomes = [
        CaseOutcome(f"p{place}", f"p{place}", DecisionRecord(True, is_right, None), unscored)
        for place, is_right in enumerate(right)
    ]
    return TaskRun(Path("run.eval"), PROTOCOL, "model", False, outcomes={Scored.DECISION: outcomes})


def test_a_model_whose_answers_cannot_be_read_keeps_its_row_and_its_table() -> None:
    mute = ComparedModel("mute", {BenchTask.ACCEPTANCE: [decided(True, False, unscored="no_object")]})
    tables = make_tables([mute], 20)
    shown = render_tables("Tables", lay_out(tables), [])
    assert "| mute | - | - | - | - | - | - | 2 of 2 | 0 |" in shown
    assert "2,acceptance" not in shown
    assert "2,mute,acceptance,Accuracy,mean,,,,0,2,2" in render_table_csv(tables).splitlines()


def test_a_deviation_is_over_runs_and_an_interval_over_papers() -> None:
    runs = [decided(True, True, True, False), decided(True, True, False, False)]
    (table,) = make_tables([ComparedModel("one", {BenchTask.ACCEPTANCE: runs})], 200)
    accuracy = table.rows[0][1][0]
    assert accuracy is not None
    assert list(accuracy.values) == [75, 50]
    assert round(accuracy.deviation or 0, 2) == 17.68
    assert (accuracy.low or 100) < accuracy.mean < (accuracy.high or 0)
