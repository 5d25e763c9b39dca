"""A tiny model trained on the invented release: its loss falls, and a killed run ends like an undisturbed one."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commands import Ended, Run

pytestmark = pytest.mark.neural
RECIPE = """
learning_rate = 0.003
batch = 4
per_device = 2
context = 2048
paper_tokens = 200
validation = 8
save_steps = 2
checkpointing = false
"""
STEPS = 6
"""Of 24 reviews, four at a time."""


@pytest.fixture(autouse=True)
def _installed() -> None:
    for name in ("torch", "trl", "peft", "accelerate"):
        pytest.importorskip(name)


@pytest.fixture(scope="session")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recipe") / "recipe.toml"
    path.write_text(RECIPE)
    return path


def command(papers: Path, model: Path, out: Path, recipe: Path, task: str = "review", *more: str) -> list[str]:
    told = ["finetune", "--release", papers, "--task", task, "--model", model, "--out", out, "--recipe", recipe]
    return [*map(str, told), *more]


def adapter(out: Path) -> bytes:
    return (out / "adapter" / "adapter_model.safetensors").read_bytes()


def losses(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / "losses.jsonl").read_text().splitlines()]


@contextmanager
def in_another_process(arguments: list[str]) -> Iterator["subprocess.Popen[str]"]:
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    asked = [sys.executable, "-m", "peercorpus", *arguments]
    with subprocess.Popen(
        asked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        yield process


def refused(ended: Ended, sentence: str) -> None:
    """Assert that a run is refused in one sentence, below its progress messages."""
    assert ended.code == 2
    *_, last = ended.err.splitlines()
    assert last.startswith("peercorpus: ")
    assert sentence in last


@pytest.mark.slow
def test_the_loss_falls_and_the_same_command_again_does_nothing(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    arguments = command(papers, models / "llama", tmp_path / "run", recipe, "mixed")
    ended = run(*arguments)
    assert ended.code == 0, ended.err
    assert "do not fit" in ended.out
    assert " 12 papers to test" in ended.out
    found = losses(tmp_path / "run")
    steps, measured = ([one for one in found if name in one] for name in ("loss", "eval_loss"))
    assert [one["step"] for one in steps] == list(range(1, len(steps) + 1))
    # Before, at every second step, where a checkpoint is, and after.
    assert [one["step"] for one in measured] == [*range(0, len(steps), 2), len(steps)]
    assert measured[-1]["eval_loss"] < measured[0]["eval_loss"] - 0.05
    before = adapter(tmp_path / "run")
    stamp = (tmp_path / "run" / "adapter" / "adapter_model.safetensors").stat().st_mtime_ns
    assert run(*arguments).out == ended.out
    assert adapter(tmp_path / "run") == before
    assert (tmp_path / "run" / "adapter" / "adapter_model.safetensors").stat().st_mtime_ns == stamp


@pytest.mark.slow
def test_the_demo_release_can_be_learnt_from(run: Run, demo_folder: Path, models: Path, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE.replace("2048", "4096").replace("200", "1500"))
    ended = run(*command(demo_folder / "release", models / "qwen", tmp_path / "run", tmp_path / "recipe.toml", "mixed"))
    assert ended.code == 0, ended.err
    first, *_, last = losses(tmp_path / "run")
    assert last["eval_loss"] < first["eval_loss"]


@pytest.fixture
def one_thread() -> Iterator[None]:
    """As in the processes of these tests: the same sums in the same order, and therefore the same bytes."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
def test_a_killed_run_resumes_to_the_result_of_an_uninterrupted_one(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "broken" / "checkpoints" / "checkpoint-2" / "trainer_state.json"
    with in_another_process(command(papers, models / "llama", tmp_path / "broken", recipe)) as broken:
        until = time.monotonic() + 120
        while not checkpoint.exists() and time.monotonic() < until:
            assert broken.poll() is None
            time.sleep(0.002)
        broken.send_signal(signal.SIGKILL)
    assert not (tmp_path / "broken" / "adapter").exists()
    # The file being written when it was killed.
    (checkpoint.parent.parent / "checkpoint-99").mkdir()
    for name in ("broken", "whole"):
        ended = run(*command(papers, models / "llama", tmp_path / name, recipe))
        assert ended.code == 0, ended.err
    assert adapter(tmp_path / "broken") == adapter(tmp_path / "whole")
    assert losses(tmp_path / "broken") == losses(tmp_path / "whole")
    assert [one["step"] for one in losses(tmp_path / "whole") if "loss" in one] == list(range(1, STEPS + 1))


@pytest.mark.slow
def test_every_training_record_is_listed(run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path) -> None:
    ended = run(*command(papers, models / "llama", tmp_path / "run", recipe, "mixed", "--lengths"))
    assert ended.code == 0, ended.err
    assert not (tmp_path / "run" / "adapter").exists()
    listed = [json.loads(line) for line in (tmp_path / "run" / "data" / "examples.jsonl").read_text().splitlines()]
    of = {split: [one for one in listed if one["split"] == split] for split in ("train", "validation", "test")}
    assert {one["forum_id"] for one in of["train"]} == {f"p{number:02}" for number in range(12)}
    assert {one["forum_id"] for one in of["validation"]} <= {f"p{number:02}" for number in range(12, 16)}
    assert of["test"] == []
    assert len(of["validation"]) == 8
    # A decision, the scores, two reviews and a conversation of each of twelve papers.
    assert len(of["train"]) == 12 * 5
    made = json.loads((tmp_path / "run" / "data" / "run.json").read_text())
    assert made["examples"]["train"] == 12 * 5
    # The release lists one paper only.
    assert made["licences"] == {"CC BY 4.0": 1}


@pytest.mark.slow
def test_packed_examples_do_not_attend_to_each_other(run: Run, papers: Path, models: Path, tmp_path: Path) -> None:
    """The loss of packed examples is that of the same examples one by one."""
    first = []
    for name, setting in (("alone", "packing = false"), ("packed", "packing = true")):
        path = tmp_path / f"{name}.toml"
        # One step over all 24 examples: its loss is measured before any weight moves.
        path.write_text(f"{RECIPE.replace('batch = 4', 'batch = 24')}{setting}\n")
        ended = run(*command(papers, models / "llama", tmp_path / name, path))
        assert ended.code == 0, ended.err
        first.append(next(one["loss"] for one in losses(tmp_path / name) if "loss" in one))
    assert first[0] == pytest.approx(first[1], rel=1e-4)


@pytest.mark.slow
def test_without_validation_papers_no_validation_loss_is_reported_and_an_adapter_is_refused_as_a_base_model(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE.replace("validation = 8", "validation = 0"))
    ended = run(*command(papers, models / "llama", tmp_path / "run", tmp_path / "recipe.toml", "acceptance"))
    assert ended.code == 0, ended.err
    assert re.search(r"loss .*\d\.\d{4}", ended.out) is None
    assert f"--model {tmp_path / 'run' / 'adapter'}" in ended.out
    assert all("loss" in one for one in losses(tmp_path / "run"))
    refused(run(*command(papers, tmp_path / "run" / "adapter", tmp_path / "more", recipe)), "adapter")


def test_a_quantised_base_needs_its_package(
    run: Run, papers: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    (tmp_path / "recipe.toml").write_text(f"{RECIPE}quantised = 4\n")
    arguments = command(papers, models / "llama", tmp_path / "run", tmp_path / "recipe.toml", "acceptance")
    refused(run(*arguments), "pip install bitsandbytes")


@pytest.mark.slow
def test_a_loss_that_is_not_a_number_leaves_no_adapter(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    shutil.copytree(models / "llama", tmp_path / "broken")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "broken")
    with torch.no_grad():
        model.lm_head.weight[0] = float("nan")
    model.save_pretrained(tmp_path / "broken")
    refused(run(*command(papers, tmp_path / "broken", tmp_path / "run", recipe, "acceptance")), "learning_rate")
    assert not (tmp_path / "run" / "adapter").exists()


@pytest.mark.slow
def test_recomputed_activations_give_the_same_training(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    (tmp_path / "again.toml").write_text(RECIPE.replace("checkpointing = false", "checkpointing = true"))
    for name, path in (("held", recipe), ("again", tmp_path / "again.toml")):
        assert run(*command(papers, models / "qwen", tmp_path / name, path, "acceptance")).code == 0
    held, again = ([list(one.values()) for one in losses(tmp_path / name)] for name in ("held", "again"))
    assert again == [pytest.approx(one, rel=1e-5) for one in held]


def test_altered_examples_are_not_trained_on(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    told = command(papers, models / "qwen", tmp_path / "run", recipe, "acceptance")
    assert run(*told, "--lengths").code == 0
    path = tmp_path / "run" / "data" / "train.arrow"
    path.write_bytes(path.read_bytes()[:-9])
    refused(run(*told), f"'{path}'")


def test_the_examples_of_a_model_are_exported_for_another_trainer(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    options = ("--format", "axolotl", "--task", "review", "--model", models / "qwen", "--recipe", recipe)
    ended = run("export", papers, "--out", tmp_path / "out", *options)
    assert ended.code == 0, ended.err
    assert "axolotl train" in ended.out
    assert "config.yaml" in ended.out
    assert (tmp_path / "out" / "config.yaml").exists()
    assert not (tmp_path / "out" / "adapter").exists()


@pytest.mark.slow
def test_an_answer_that_would_be_truncated_is_refused_and_leaves_nothing(
    run: Run, papers: Path, models: Path, tmp_path: Path
) -> None:
    (tmp_path / "short.toml").write_text("context = 280\npaper_tokens = 64\n")
    arguments = command(papers, models / "llama", tmp_path / "run", tmp_path / "short.toml", "mixed")
    ended = run(*arguments)
    assert ended.code == 2
    assert "--leave-out-long" in ended.err
    assert "do not fit" in ended.out
    assert not (tmp_path / "run").exists()
    assert run(*arguments, "--leave-out-long", "--lengths").code == 0
    left_out = json.loads((tmp_path / "run" / "data" / "run.json").read_text())["left_out"]["train"]
    assert [count > 0 for reason, count in left_out.items() if "context" in reason] == [True]


def test_an_example_longer_than_the_models_context_is_refused(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    shutil.copytree(models / "llama", tmp_path / "short")
    config = json.loads((tmp_path / "short" / "config.json").read_text())
    (tmp_path / "short" / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 350}))
    arguments = command(papers, tmp_path / "short", tmp_path / "run", recipe, "rebuttal", "--lengths")
    refused(run(*arguments), " 350 ")
    assert not (tmp_path / "run").exists()
    fitting = tmp_path / "fitting.toml"
    fitting.write_text("context = 350\npaper_tokens = 200\n")
    assert run(*command(papers, tmp_path / "short", tmp_path / "run", fitting, "rebuttal", "--lengths")).code == 0


def test_a_folder_with_other_files_is_refused(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "mine.txt").write_text("mine")
    refused(run(*command(papers, models / "llama", tmp_path / "files", recipe)), "files'")
    refused(run(*command(papers, models / "llama", papers / "run", recipe)), "run'")
    done = command(papers, models / "llama", tmp_path / "run", recipe, "review", "--lengths")
    assert run(*done).code == 0
    refused(run(*done, "--min-words", "3"), " chosen")
    refused(run(*command(papers, models / "qwen", tmp_path / "run", recipe)), " model")


def test_a_release_without_training_examples_is_refused(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    start = command(papers, models / "llama", tmp_path / "run", recipe, "review")
    refused(run(*start, "--year", "1999"), "of another year: 12")
    refused(run(*start, "--venue", "iclr", "--venue", "icrl"), "'icrl'")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
def test_the_seed_decides_weights_and_order(run: Run, papers: Path, models: Path, tmp_path: Path) -> None:
    made: dict[str, bytes] = {}
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        (tmp_path / f"{name}.toml").write_text(f"{RECIPE}seed = {seed}\n")
        ended = run(*command(papers, models / "llama", tmp_path / name, tmp_path / f"{name}.toml"))
        assert ended.code == 0, ended.err
        made[name] = adapter(tmp_path / name)
    assert made["a"] == made["b"]
    assert made["a"] != made["c"]
    assert losses(tmp_path / "a")[1] != losses(tmp_path / "c")[1]
