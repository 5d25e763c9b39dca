"""Runs with different generation settings, such as the temperature, count as two runs."""

from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalPlan, EvalSpec, write_eval_log
from inspect_ai.model import GenerateConfig

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.leaderboard import make_boards
from peercorpus.benchmark.logs import Protocol, TaskRun, read_run
from peercorpus.benchmark.outcomes import CaseOutcome, DecisionRecord, Scored

ABOUT = {
    "task": "acceptance",
    "release": {"sha256": "r" * 64},
    "profile": "re2",
    "split": "test",
    "paper": {"budget": "whole papers"},
    "prompts": {"version": "1", "digest": "abc"},
    "baseline": None,
    "adapter": None,
    "left_out": {},
    "signatures": {},
    "says": "",
}
"""Return what a log of the benchmark records about its run."""
PROTOCOL = Protocol(BenchTask.ACCEPTANCE, "r" * 64, "re2", "test", "c" * 64, "whole papers", "1 (abc)")


def log_with(folder: Path, config: GenerateConfig) -> Path:
    """Return a log of a run without cases, of a model with these settings."""
    path = folder / "run.eval"
    spec = EvalSpec(
        created="2026-11-01T00:00:00+00:00",
        task="acceptance",
        dataset=EvalDataset(samples=0),
        model="mockllm/kite",
        config=EvalConfig(),
        metadata=ABOUT,
    )
    write_eval_log(EvalLog(status="success", eval=spec, plan=EvalPlan(config=config)), str(path))
    return path


def decided(settings: str, *said: bool) -> TaskRun:
    """Return a run of one model that decides on each paper, all of which are accepted."""
    papers = [CaseOutcome(f"p{n}", f"p{n}", DecisionRecord(True, one, None)) for n, one in enumerate(said)]
    path, outcomes = Path(f"{settings or 'plain'}.eval"), {Scored.DECISION: papers}
    return TaskRun(path, PROTOCOL, "kite", is_baseline=False, outcomes=outcomes, settings=settings)


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        (GenerateConfig(), ""),
        (GenerateConfig(temperature=0.7), "temperature 0.7"),
        (GenerateConfig(temperature=0.0), "temperature 0.0"),
        (GenerateConfig(temperature=1.0, max_tokens=64, seed=0), "temperature 1.0, max_tokens 64, seed 0"),
    ],
    ids=["nothing told", "a temperature", "a temperature of 0", "several"],
)
def test_settings_are_read_from_the_log(tmp_path: Path, config: GenerateConfig, settings: str) -> None:
    run = read_run(log_with(tmp_path, config))
    assert run is not None
    assert (run.name, run.settings) == ("mockllm/kite", settings)


def test_runs_that_differ_only_in_temperature_are_separate_rows() -> None:
    cold, warm = decided("temperature 0.0", True, True), decided("temperature 1.0", True, False)
    made = make_boards([cold, warm])
    rows = {row.name: row.cells[0].value for board in made.boards for row in board.rows if row.cells[0]}
    assert rows == {"kite (temperature 0.0)": 100.0, "kite (temperature 1.0)": 50.0}
    assert not any("left out" in note for note in made.notes)


def test_of_two_runs_at_one_temperature_the_later_counts() -> None:
    first, second = decided("temperature 1.0", True, True), decided("temperature 1.0", True, False)
    made = make_boards([first, replace(second, path=Path("later.eval"))])
    ((row,),) = (board.rows for board in made.boards)
    assert row.cells[0] is not None
    assert row.cells[0].value == 50
    assert sum("left out" in note for note in made.notes) == 1
