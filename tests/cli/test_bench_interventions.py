"""`bench interventions`, as run by a user."""

from pathlib import Path

import pytest

from changed_papers import changed_release
from commands import Run, assert_refused
from invented_bench import ACCEPT, quiet, saying
from peercorpus.benchmark.interventions.tasks import run_interventions
from peercorpus.benchmark.run import Bench


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return changed_release(tmp_path_factory.mktemp("changed") / "release")


def test_the_changes_can_be_listed_before_any_question(run: Run, release: Path, tmp_path: Path) -> None:
    out = tmp_path / "changes.csv"
    ended = run("bench", "interventions", "--release", release, "--changes", out, "--papers", "3")
    assert ended.code == 0
    assert "The changes of 3 papers are in" in ended.out
    assert "Left out, papers: not drawn: 5" in ended.out
    assert len(out.read_text().splitlines()) > 3 * 6


def test_a_folder_without_logs_and_an_unknown_model_are_refused(run: Run, release: Path, tmp_path: Path) -> None:
    with quiet():
        nowhere = run("bench", "interventions", "--release", release, "--logs", tmp_path / "none")
        assert_refused(nowhere, "none'")
        asked = run("bench", "interventions", "--release", release, "--logs", tmp_path, "--model", "nobody/m")
        assert_refused(asked, "nobody")


def test_the_tables_are_made_again_from_the_logs(run: Run, release: Path, tmp_path: Path) -> None:
    with quiet():
        run_interventions(Bench([], release, tmp_path, saying(ACCEPT), with_baselines=False), papers=2)
        ended = run("bench", "interventions", "--release", release, "--logs", tmp_path, "--resamples", "20")
    assert ended.code == 0
    assert "## Errors found" in ended.out
    assert {path.suffix for path in tmp_path.glob("interventions.*")} == {".md", ".csv", ".html"}


def test_the_url_of_no_model_is_refused(run: Run, release: Path, tmp_path: Path) -> None:
    asked = ("--release", release, "--logs", tmp_path / "logs", "--model-url", "http://127.0.0.1:9/v1")
    assert_refused(run("bench", "interventions", *asked), "--model-url applies only to a model")
