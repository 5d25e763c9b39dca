"""Before and after: base and adapter on the test papers, beside the baselines, and how far they differ."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from inspect_ai.log import read_eval_log

from invented_bench import TEST, bench_release
from peercorpus.benchmark.logs import read_runs
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.finetune.evaluate import check_evaluation, evaluate
from peercorpus.finetune.examples import TrainingTask
from peercorpus.finetune.run import RunOptions, prepare_run
from tiny_chats import WINDOW, write_tiny_llama
from tuned_runs import RECIPE, Tuned

pytestmark = [pytest.mark.neural, pytest.mark.usefixtures("tuning", "quietly")]


def copied(tuned: Tuned, folder: Path) -> Path:
    return Path(shutil.copytree(tuned.folder, folder))


def test_base_adapter_and_baselines_are_in_one_table_and_differ(tuned: Tuned, bench_data: Path, tmp_path: Path) -> None:
    run = copied(tuned, tmp_path / "run")
    done = evaluate(run, bench_data, resamples=50)
    assert (done.is_whole, done.errors) == (True, {})
    runs = read_runs(run / "bench")
    models = [one for one in runs if not one.is_baseline]
    names = sorted(one.name.partition("@")[0] for one in models)
    assert names == [f"hf/{tuned.base.name}", "hf/run/adapter"]
    assert len({one.protocol for one in models}) == 1
    table, _, below = done.markdown.partition("## Differences: adapter minus base")
    (rows,) = [part for part in table.split("\n## ") if part.startswith("acceptance\n") and "majority" in part]
    assert all(name in rows for name in names)
    assert "400 tokens of" in rows
    # The base gives no readable answer, the adapter decides occasionally: that is no difference in accuracy.
    told = re.search(
        rf"^- acceptance: answers without a score {len(TEST)} → (\d) of {len(TEST)}\.$", below, re.MULTILINE
    )
    assert told is not None
    assert int(told[1]) < len(TEST)
    (change,) = done.changes
    assert (change.measure, change.difference) == ("decision", None)
    assert str(change.why_not).endswith("compared on the other 0")
    assert (run / "bench" / "before-after.md").read_text() == done.markdown
    assert json.loads((run / "bench" / "differences.json").read_text()) == msgspec.to_builtins(list(done.changes))


def test_both_models_get_the_same_greedy_questions_and_a_rerun_asks_nothing(
    tuned: Tuned, bench_data: Path, tmp_path: Path
) -> None:
    run = copied(tuned, tmp_path / "run")
    first = evaluate(run, bench_data, limit=2, resamples=5)
    logs = sorted((run / "bench").glob("*.eval"))
    assert evaluate(run, bench_data, limit=2, resamples=5) == first
    assert sorted((run / "bench").glob("*.eval")) == logs
    asked = [log for log in map(read_eval_log, map(str, logs)) if not log.eval.model.startswith("baseline/")]
    assert len(asked) == 2
    for log in asked:
        assert log.plan.config.temperature == 0
        assert log.plan.config.max_tokens == RECIPE.answer_tokens
        assert log.plan.config.max_connections == RECIPE.per_device
        assert [sample.id for sample in log.samples or ()] == ["p16", "p17"]
    base, adapter = ([one.text for one in log.samples[0].messages[:-1]] for log in asked if log.samples)
    assert base == adapter
    assert len(base) == 2


def test_another_release_is_refused_for_evaluation(tuned: Tuned, tmp_path: Path) -> None:
    other = bench_release(tmp_path / "other")
    manifest = other / "release.json"
    manifest.write_text(f"{manifest.read_text()}\n")
    with pytest.raises(PeercorpusError, match=f"'{other}'.*'{tuned.folder}'"):
        evaluate(tuned.folder, other)
    with pytest.raises(PeercorpusError, match=f"'{other}'.*'{tuned.folder}'"):
        check_evaluation(tuned.folder, other)


def test_an_unfinished_run_is_not_evaluated(tuned: Tuned, bench_data: Path, tmp_path: Path) -> None:
    run = copied(tuned, tmp_path / "run")
    (run / "trained.json").unlink()
    with pytest.raises(PeercorpusError, match="'peercorpus finetune' again"):
        evaluate(run, bench_data)


def test_questions_that_do_not_fit_are_refused_before_tuning(bench_data: Path, tmp_path: Path) -> None:
    base = write_tiny_llama(tmp_path / "llama")
    wanted = RunOptions(bench_data, TrainingTask.MIXED, str(base), tmp_path / "fits", RECIPE)
    prepare_run(wanted, lambda _: None)
    check_evaluation(tmp_path / "fits", bench_data)
    recipe = msgspec.structs.replace(RECIPE, answer_tokens=WINDOW - 200)
    prepare_run(replace(wanted, out=tmp_path / "long", recipe=recipe), lambda _: None)
    with pytest.raises(ModelError, match=f" {WINDOW:,} .* 'answer_tokens'"):
        check_evaluation(tmp_path / "long", bench_data)
