"""A small real model: from a folder, behind an endpoint without a key, as a judge, and tuned; its scores are poor."""

from pathlib import Path

import pytest

from commands import Run
from model_endpoint import serving
from peercorpus.benchmark.logs import TaskRun, read_runs
from small_model import answering, write_small_model

pytestmark = [pytest.mark.neural, pytest.mark.usefixtures("quietly")]
SHORT = ("--no-baselines", "--paper-tokens", "64")
RECIPE = """
context = 512
paper_tokens = 64
batch = 6
validation = 1
save_steps = 1
checkpointing = false
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_model(tmp_path_factory.mktemp("small") / "smol")


def only_run(logs: Path) -> TaskRun:
    (run,) = read_runs(logs)
    return run


@pytest.mark.slow
def test_a_model_in_a_folder_decodes_greedily_and_scores_both_decisions(
    run: Run, bench_data: Path, tmp_path: Path, small: Path
) -> None:
    told = ("bench", "acceptance", "--release", bench_data, "--model", small, "--limit", "2", *SHORT)
    first, again = (run(*told, "--max-tokens", "6", "--logs", tmp_path / name) for name in ("first", "again"))
    assert (first.code, again.code) == (0, 0), first.err
    for name in ("first", "again"):
        written = only_run(tmp_path / name)
        assert "temperature 0.0" in written.settings
        assert written.not_asked == 6
    tables = [(tmp_path / name / "leaderboard.md").read_text() for name in ("first", "again")]
    assert tables[0] == tables[1]
    assert "Only the first cases were asked (--limit)" in tables[0]
    assert "2 of 'acceptance'" in first.err
    weighed = run(*told, "--likelihood", "--logs", tmp_path / "weighed")
    assert weighed.code == 0, weighed.err
    row = next(line for line in weighed.out.splitlines() if "by likelihood" in line)
    assert [cell.strip() for cell in row.split("|")[4:7]] == ["2", "2", "0"], "a case has no answer"


@pytest.mark.slow
def test_a_model_works_behind_an_endpoint_without_a_key_and_as_a_judge(
    run: Run, bench_data: Path, tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCAL_API_KEY", raising=False)
    with serving(rule=answering(small)) as endpoint:
        ended = run(
            *("bench", "review", "--release", bench_data, "--logs", tmp_path, "--limit", "1", *SHORT),
            *("--model", "openai-api/local/smol", "--model-url", endpoint.url),
            *("--grader", small, "--grader-arg.max_tokens", "6"),
        )
    assert ended.code == 0, ended.err
    judged = only_run(tmp_path)
    assert judged.name == "openai-api/local/smol"
    # It rates nothing in six tokens, which is the judge's failure, not an error.
    assert " grader_failed 1 " in ended.out
    assert "strictly positive" not in ended.out + ended.err


@pytest.mark.slow
@pytest.mark.usefixtures("tuning")
def test_a_small_model_is_tuned_and_merged(run: Run, bench_data: Path, tmp_path: Path, small: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    told = ("--release", bench_data, "--task", "acceptance", "--model", small, "--out", tmp_path / "run")
    ended = run("finetune", *told, "--recipe", tmp_path / "recipe.toml", "--merge")
    assert ended.code == 0, ended.err
    assert (tmp_path / "run" / "merged" / "model.safetensors").exists()
    assert "kept: that of step" in ended.out
