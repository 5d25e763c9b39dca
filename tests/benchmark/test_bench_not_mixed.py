"""Runs with different questions never share a table, and are not compared."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from commands import Run, assert_refused
from invented_bench import ACCEPT, bench_paper, bench_release, saying
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.leaderboard import make_boards
from peercorpus.benchmark.logs import read_runs
from peercorpus.benchmark.run import Bench
from peercorpus.benchmark.run import run_tasks as run_bench
from peercorpus.models import prompts
from peercorpus.release.record_rows import Row

pytestmark = [pytest.mark.usefixtures("quietly"), pytest.mark.slow]
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "split": ({"split": "validation"}, {}, "split, cases"),
    "venue": ({"venue": "kite"}, {}, "cases"),
    "limit": ({}, {"limit": 4}, "cases"),
    "budget": ({"paper_tokens": 100}, {}, "paper"),
}
"""Options, settings, and how such a run differs from a plain one."""


def ask(
    release: Path, logs: Path, options: dict[str, Any] | None = None, settings: dict[str, Any] | None = None
) -> Path:
    model = saying(ACCEPT, "same")
    asked = Bench([BenchTask.ACCEPTANCE], release, logs, model, options or {}, False, settings=settings or {})
    return Path(run_bench(asked).logs[0].location)


def dearer(number: int) -> Row:
    return bench_paper(number) | {"title": f"On dear kites, part {number}"}


def test_each_way_of_asking_has_a_table(
    run: Run, bench_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = {name: (ask(bench_data, tmp_path / name, *ways[:2]), ways[2]) for name, ways in WAYS.items()}
    plain = ask(bench_data, tmp_path / "plain")
    monkeypatch.setattr(prompts, "VERSION", "another")
    logs["prompts"] = ask(bench_data, tmp_path / "prompts"), "prompts"
    monkeypatch.undo()
    other = bench_release(tmp_path / "other-release", dearer)
    (other / "README.md").write_text("# Another\n")
    manifest = other / "release.json"
    manifest.write_text(manifest.read_text().replace("0" * 64, "1" * 64))
    logs["release"] = ask(other, tmp_path / "other"), "release"
    (tmp_path / "all").mkdir()
    for path in (plain, *(path for path, _ in logs.values())):
        shutil.copy(path, tmp_path / "all")
    boards = make_boards(read_runs(tmp_path / "all"))
    assert [len(board.rows) for board in boards.boards] == [1] * 7
    assert len({board.protocol for board in boards.boards}) == 7
    assert all("baseline" in note for note in boards.notes)
    for path, differs in logs.values():
        refused = run("bench", "compare", plain, path)
        assert_refused(refused, plain.name, path.name, f" {differs}.")


def test_the_later_of_equal_runs_counts(bench_data: Path, tmp_path: Path) -> None:
    earlier, later = ask(bench_data, tmp_path / "first"), ask(bench_data, tmp_path / "second")
    boards = make_boards(read_runs(tmp_path))
    assert [len(board.rows) for board in boards.boards] == [1]
    assert any(f"'{earlier.name}'" in note and f"'{later.name}'" in note for note in boards.notes)
