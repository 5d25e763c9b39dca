"""A log belongs to one release and one set of prompts, and is not used for any other."""

from pathlib import Path

import pytest

from invented_bench import ACCEPT, REJECT, bench_release, saying
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.logs import _make_protocol, read_runs
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.models import prompts

pytestmark = pytest.mark.usefixtures("quietly")


def _ask(said: str, release: Path, logs: Path) -> None:
    run_tasks(Bench([BenchTask.ACCEPTANCE], release, logs, saying(said, "one"), with_baselines=False))


@pytest.mark.slow
def test_a_republished_release_is_asked_again(tmp_path: Path) -> None:
    release = bench_release(tmp_path / "release")
    _ask(ACCEPT, release, tmp_path / "logs")
    manifest = release / "release.json"
    manifest.write_text(f"{manifest.read_text()}\n")
    _ask(ACCEPT, release, tmp_path / "logs")
    first, second = read_runs(tmp_path / "logs")
    assert first.protocol.release != second.protocol.release


@pytest.mark.slow
def test_only_changed_prompts_are_asked_again(
    bench_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _ask(ACCEPT, bench_data, tmp_path)
    _ask(REJECT, bench_data, tmp_path)
    assert len(read_runs(tmp_path)) == 1
    monkeypatch.setattr(prompts, "DIGEST", "other words")
    _ask(REJECT, bench_data, tmp_path)
    assert len(read_runs(tmp_path)) == 2


def test_an_earlier_log_is_compared() -> None:
    about = {
        "release": {"sha256": "r"},
        "profile": "re2",
        "paper": {"budget": "whole papers"},
        "prompts": {"version": 1, "digest": "d"},
    }
    earlier, later = (_make_protocol("acceptance", about | {name: "test"}, ["c"]) for name in ("side", "split"))
    assert earlier == later
