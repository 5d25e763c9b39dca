"""The plot of how well probabilities are calibrated, and where `bench table` puts it."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from commands import Run
from invented_bench import ACCEPTED, TEST, by_paper
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.reliability import draw_reliability
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.prediction import ReliabilityBin, brier, ece, reliability

pytestmark = [pytest.mark.usefixtures("quietly"), pytest.mark.slow]


def test_each_answer_is_in_one_bin() -> None:
    bins = reliability([0.0, 0.05, 0.1, 0.95, 1.0], [False, True, False, True, True])
    assert bins == [
        ReliabilityBin(0.025, 0.5, 2),
        ReliabilityBin(0.1, 0.0, 1),
        ReliabilityBin(0.975, 1.0, 2),
    ]
    assert ece([0.0, 0.05, 0.1, 0.95, 1.0], [False, True, False, True, True]) == pytest.approx(
        (2 * 0.475 + 0.1 + 2 * 0.025) / 5
    )
    assert brier([0.5, 0.5, 1], [True, False, False]) == pytest.approx(1.5 / 3)
    for metric in (brier, ece):
        with pytest.raises(UndefinedMetricError):
            metric([], [])


def test_the_plot_is_reproducible() -> None:
    runs = {f"model {number} <b>": [ReliabilityBin(0.2, 0.1, 10), ReliabilityBin(0.8, 1.0, 3)] for number in range(4)}
    drawn = draw_reliability(runs)
    assert drawn == draw_reliability(runs)
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert len(drawn) > len(draw_reliability({"one": runs["model 0 <b>"]}))


def test_the_table_command_writes_the_plot_beside_the_tables(run: Run, bench_data: Path, tmp_path: Path) -> None:
    chances = {name: 0.8 if name in ACCEPTED else 0.1 for name in TEST}
    answers = {name: json.dumps({"decision": "accept", "probability": chance}) for name, chance in chances.items()}
    bench = Bench([BenchTask.ACCEPTANCE], bench_data, tmp_path / "logs", by_paper(answers), with_baselines=False)
    run_tasks(bench)
    ended = run("bench", "table", tmp_path / "logs")
    assert ended.code == 0, ended.err
    assert (tmp_path / "logs" / "reliability-1.svg").stat().st_size > 1000
    assert "reliability-1.svg" in ended.out
