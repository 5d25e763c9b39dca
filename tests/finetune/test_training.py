"""Training: a killed run ends like an undisturbed one, and a merged model is its base with the adapter."""

import json
import os
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
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.run_folder import ADAPTER
from tuned_runs import Tuned

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


@pytest.mark.neural
@pytest.mark.slow
def test_the_loss_falls(run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path) -> None:
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


@pytest.fixture
def one_thread() -> Iterator[None]:
    """As in the processes of these tests: the same sums in the same order, and therefore the same bytes."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.neural
@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
def test_a_killed_run_ends_alike(run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path) -> None:
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


@pytest.mark.neural
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


@pytest.mark.neural
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


@pytest.mark.neural
def test_a_quantised_base_needs_its_package(
    run: Run, papers: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    (tmp_path / "recipe.toml").write_text(f"{RECIPE}quantised = 4\n")
    arguments = command(papers, models / "llama", tmp_path / "run", tmp_path / "recipe.toml", "acceptance")
    refused(run(*arguments), "pip install bitsandbytes")


@pytest.mark.neural
@pytest.mark.slow
def test_an_undefined_loss_leaves_nothing(run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    shutil.copytree(models / "llama", tmp_path / "broken")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "broken")
    with torch.no_grad():
        model.lm_head.weight[0] = float("nan")
    model.save_pretrained(tmp_path / "broken")
    refused(run(*command(papers, tmp_path / "broken", tmp_path / "run", recipe, "acceptance")), "learning_rate")
    assert not (tmp_path / "run" / "adapter").exists()


@pytest.mark.neural
def test_altered_examples_are_not_trained_on(
    run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path
) -> None:
    told = command(papers, models / "qwen", tmp_path / "run", recipe, "acceptance")
    assert run(*told, "--lengths").code == 0
    path = tmp_path / "run" / "data" / "train.arrow"
    path.write_bytes(path.read_bytes()[:-9])
    refused(run(*told), f"'{path}'")


@pytest.mark.neural
def test_a_too_long_example_is_refused(run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "llama", tmp_path / "short")
    config = json.loads((tmp_path / "short" / "config.json").read_text())
    (tmp_path / "short" / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 350}))
    arguments = command(papers, tmp_path / "short", tmp_path / "run", recipe, "rebuttal", "--lengths")
    refused(run(*arguments), " 350 ")
    assert not (tmp_path / "run").exists()
    fitting = tmp_path / "fitting.toml"
    fitting.write_text("context = 350\npaper_tokens = 200\n")
    assert run(*command(papers, tmp_path / "short", tmp_path / "run", fitting, "rebuttal", "--lengths")).code == 0


@pytest.mark.neural
def test_other_files_are_never_replaced(run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "mine.txt").write_text("mine")
    refused(run(*command(papers, models / "llama", tmp_path / "files", recipe)), "files'")
    refused(run(*command(papers, models / "llama", papers / "run", recipe)), "run'")
    done = command(papers, models / "llama", tmp_path / "run", recipe, "review", "--lengths")
    assert run(*done).code == 0
    refused(run(*done, "--min-words", "3"), " min_words")
    refused(run(*command(papers, models / "qwen", tmp_path / "run", recipe)), " model")


@pytest.mark.neural
def test_no_example_is_an_error(run: Run, papers: Path, models: Path, recipe: Path, tmp_path: Path) -> None:
    start = command(papers, models / "llama", tmp_path / "run", recipe, "review")
    refused(run(*start, "--year", "1999"), "of another year: 12")
    refused(run(*start, "--venue", "iclr", "--venue", "icrl"), "'icrl'")
    assert not (tmp_path / "run").exists()


NEAR = 1e-5


def copied(tuned: Tuned, folder: Path) -> Path:
    return Path(shutil.copytree(tuned.folder, folder))


@pytest.mark.neural
@pytest.mark.usefixtures("tuning")
@pytest.mark.slow
def test_the_merged_model_is_the_base_with_its_adapter(tuned: Tuned, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from peercorpus.finetune.training import merge_adapter

    run = copied(tuned, tmp_path / "run")
    assert merge_adapter(run) == run / "merged"
    ids = AutoTokenizer.from_pretrained(tuned.base)("Do kites fall when the wind turns?", return_tensors="pt")
    base = AutoModelForCausalLM.from_pretrained(tuned.base)
    merged = AutoModelForCausalLM.from_pretrained(run / "merged")
    with torch.no_grad():
        plain = base(**ids).logits
        both = AutoModelForCausalLM.from_pretrained(run / "adapter")(**ids).logits
        one = merged(**ids).logits
    assert one.dtype == both.dtype == torch.float32
    assert (one - both).abs().max() < NEAR
    assert (one - plain).abs().max() > 100 * NEAR


@pytest.mark.neural
@pytest.mark.usefixtures("tuning")
@pytest.mark.slow
def test_the_merged_model_has_its_tokenizer(tuned: Tuned, tmp_path: Path) -> None:
    from peercorpus.finetune.training import merge_adapter
    from peercorpus.models.chat_templates import load_chat

    run = copied(tuned, tmp_path / "run")
    (run / "merged").mkdir()
    (run / "merged" / "left.json").write_text("of an earlier call")
    merged = merge_adapter(run)
    names = {path.name for path in merged.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= names
    assert not names & {"left.json", "adapter_config.json"}
    assert not (run / ".merged").exists()
    ours, theirs = load_chat(str(merged)), load_chat(str(tuned.base))
    assert ours is not None
    assert theirs is not None
    assert ours.digest == theirs.digest


@pytest.mark.neural
@pytest.mark.usefixtures("tuning")
def test_a_killed_merge_leaves_the_earlier(tuned: Tuned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import PreTrainedTokenizerBase

    from peercorpus.finetune.training import merge_adapter

    run = copied(tuned, tmp_path / "run")
    before = {path.name: path.read_bytes() for path in merge_adapter(run).iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(PreTrainedTokenizerBase, "save_pretrained", full)
    with pytest.raises(ModelError, match="No space left"):
        merge_adapter(run)
    assert {path.name: path.read_bytes() for path in (run / "merged").iterdir()} == before


@pytest.mark.neural
@pytest.mark.usefixtures("tuning")
def test_an_unfinished_run_is_refused(tuned: Tuned, tmp_path: Path) -> None:
    from peercorpus.finetune.training import merge_adapter

    run = copied(tuned, tmp_path / "run")
    (run / "trained.json").unlink()
    with pytest.raises(PeercorpusError, match="'peercorpus finetune' again"):
        merge_adapter(run)
    with pytest.raises(PeercorpusError, match="none'"):
        merge_adapter(tmp_path / "none")


@pytest.mark.neural
@pytest.mark.usefixtures("tuning")
def test_an_adapter_is_no_base_model(tuned: Tuned) -> None:
    from peercorpus.finetune.training import load_model

    with pytest.raises(ModelError, match=f"'{tuned.folder / ADAPTER}'"):
        load_model(str(tuned.folder / ADAPTER), None, Recipe())


FIRST, SECOND = "0" * 39 + "1", "0" * 39 + "2"
HUB_RECIPE = """
batch = 4
context = 2048
paper_tokens = 100
validation = 0
checkpointing = false
"""


@pytest.fixture
def hub(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fill the Hub's own cache with `kite/tiny`: one commit, the newest."""
    constants = pytest.importorskip("huggingface_hub.constants")
    pytest.importorskip("trl")
    folder = tmp_path / "cache" / "models--kite--tiny"
    (folder / "snapshots").mkdir(parents=True)
    shutil.copytree(models / "llama", folder / "snapshots" / FIRST)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(FIRST)
    for name, value in (("HF_HUB_CACHE", str(tmp_path / "cache")), ("HF_HUB_OFFLINE", True)):
        monkeypatch.setattr(constants, name, value)
    return folder


@pytest.mark.neural
@pytest.mark.slow
def test_a_run_keeps_the_commit_of_its_model(run: Run, papers: Path, hub: Path, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(HUB_RECIPE)
    told = ["finetune", "--release", papers, "--task", "acceptance", "--model", "kite/tiny", "--out", tmp_path / "run"]
    ended = run(*told, "--recipe", tmp_path / "recipe.toml", "--merge")
    assert ended.code == 0, ended.err
    assert json.loads((tmp_path / "run" / "data" / "run.json").read_text())["asked"]["weights"] == FIRST
    adapter = json.loads((tmp_path / "run" / "adapter" / "adapter_config.json").read_text())
    assert (adapter["base_model_name_or_path"], adapter["revision"]) == ("kite/tiny", FIRST)
    assert (tmp_path / "run" / "merged" / "model.safetensors").exists()
    shutil.copytree(hub / "snapshots" / FIRST, hub / "snapshots" / SECOND)
    (hub / "refs" / "main").write_text(SECOND)
    again = run(*told, "--recipe", tmp_path / "recipe.toml")
    assert (again.code, " weights" in again.err, "--out" in again.err or "folder" in again.err) == (2, True, True)
