"""A judge asked again in the same run."""

import json
from itertools import count
from pathlib import Path

import pytest

from invented_bench import saying, scripted
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.judge.judge import ASPECTS
from peercorpus.benchmark.options import parse_task_options
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.errors import PeercorpusError

pytestmark = [pytest.mark.usefixtures("quietly"), pytest.mark.slow]


def test_an_inconsistent_grader_is_visible_in_the_log(bench_data: Path, tmp_path: Path) -> None:
    marks = count()

    def unsteady(_: object) -> str:
        return json.dumps(dict.fromkeys(ASPECTS, 1 + next(marks) % 10))

    ran = run_tasks(
        Bench(
            [BenchTask.REVIEW],
            bench_data,
            tmp_path,
            saying("A fine paper."),
            {"judged": True, "repeats": 2},
            with_baselines=False,
            roles={"grader": scripted(unsteady)},
        )
    )
    (log,) = ran.logs
    assert log.results is not None
    numbers = {name: one.value for score in log.results.scores for name, one in score.metrics.items()}
    assert (numbers["repeat_answers"], numbers["repeat_equal_quality"]) == (16, 0)


def test_repeats_without_a_judge_are_refused() -> None:
    with pytest.raises(PeercorpusError, match="repeats"):
        parse_task_options("release", {"repeats": 2})
