"""Stored logs of a scripted run: their tables stay the same until they are updated deliberately.

`UPDATE_GOLDEN=1` rewrites the tables of the stored logs, which a change of tables or metrics requires. The logs
contain the signatures and prompts of the day on which they were made, so neither new versions of packages nor new
prompts change them; `UPDATE_GOLDEN=logs` regenerates them, which only a change of the logs' content requires.
"""

import csv
import os
import shutil
from pathlib import Path

import pytest

from baseline_cases import words
from commands import Run
from invented_bench import ACCEPT, REJECT, TEST, Rule, asked_of, bench_release, oracle, scripted
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.run import Bench
from peercorpus.benchmark.run import run_tasks as run_bench

GOLDEN = Path(__file__).parents[1] / "golden" / "bench"
UPDATE = "UPDATE_GOLDEN"
TABLES = ("leaderboard.md", "leaderboard.csv")
FAILURE = {"p17": "I would accept it.", "p22": ""}

pytestmark = [pytest.mark.usefixtures("quietly"), pytest.mark.slow]


def middling(task: BenchTask) -> Rule:
    """Answers that are partly right, partly wrong and partly unreadable."""

    def answer(name: str) -> str:
        number = int(name[1:])
        if task is BenchTask.ACCEPTANCE:
            return ACCEPT if number % 2 else REJECT
        if task is BenchTask.SCORES:
            return f'{{"rating": {1 + number % 4}, "soundness": 2}}'
        return words(number, 30)

    return lambda asked: FAILURE.get(asked_of(asked), answer(asked_of(asked)))


def make_logs(scratch: Path) -> None:
    """Make one log per task and model: one that knows the right answers, a mediocre one, and one baseline."""
    release = bench_release(scratch / "release").relative_to(Path.cwd())
    for task in (BenchTask.ACCEPTANCE, BenchTask.SCORES, BenchTask.REVIEW):
        for model in (scripted(middling(task), "middling"), oracle(release, "oracle")):
            run_bench(Bench([task], release, scratch / "logs", model, with_baselines=False))
    run_bench(Bench([BenchTask.REBUTTAL], release, scratch / "logs", None))
    shutil.rmtree(GOLDEN, ignore_errors=True)
    GOLDEN.mkdir(parents=True)
    for path in sorted((scratch / "logs").glob("*.eval")):
        shutil.copy(path, GOLDEN)


def test_recorded_logs_give_recorded_tables(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # A log records the path of its release, which exists on no other machine.
    if os.environ.get(UPDATE) == "logs":
        make_logs(tmp_path)
    tables = shutil.copytree(GOLDEN, tmp_path / "tables", ignore=shutil.ignore_patterns("leaderboard.*"))
    ended = run("bench", "table", tables)
    assert ended.code == 0, ended.err
    for name in TABLES:
        if UPDATE in os.environ:
            shutil.copy(tables / name, GOLDEN / name)
    assert (tables / TABLES[0]).read_text() == (GOLDEN / TABLES[0]).read_text()
    assert_alike(rows_of(tables / TABLES[1]), rows_of(GOLDEN / TABLES[1]))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def assert_alike(found: list[dict[str, str]], kept: list[dict[str, str]]) -> None:
    """Assert that all words are equal, and numbers up to their last digits, in which machines may differ."""
    assert len(found) == len(kept)
    for one, other in zip(found, kept, strict=True):
        for name, word in other.items():
            is_number = name in {"value", "low", "high"} and word
            assert one[name] == word or (is_number and float(one[name]) == pytest.approx(float(word), rel=1e-9))


def test_the_recorded_logs_cover_the_whole_test_split() -> None:
    rows = (GOLDEN / "leaderboard.csv").read_text().splitlines()
    assert len(list(GOLDEN.glob("*.eval"))) == 8
    assert sum("mockllm/oracle,ours,,8,8,0,0,0,False,accuracy,100.0" in row for row in rows) == 1
    assert sum("mockllm/middling" in row and "no_object 1" in row and "accuracy" in row for row in rows) > 0
    assert len(TEST) == 8
