"""A merged model gives the same output as its base with the adapter on top."""

import shutil
from pathlib import Path

import pytest

from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.run_folder import ADAPTER
from tuned_runs import Tuned

pytestmark = [pytest.mark.neural, pytest.mark.usefixtures("tuning")]
NEAR = 1e-5


def copied(tuned: Tuned, folder: Path) -> Path:
    return Path(shutil.copytree(tuned.folder, folder))


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


@pytest.mark.slow
def test_the_merged_model_has_the_tokenizer_and_no_adapter_files(tuned: Tuned, tmp_path: Path) -> None:
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


def test_an_interrupted_merge_leaves_the_earlier_one(
    tuned: Tuned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_an_unfinished_run_is_refused(tuned: Tuned, tmp_path: Path) -> None:
    from peercorpus.finetune.training import merge_adapter

    run = copied(tuned, tmp_path / "run")
    (run / "trained.json").unlink()
    with pytest.raises(PeercorpusError, match="'peercorpus finetune' again"):
        merge_adapter(run)
    with pytest.raises(PeercorpusError, match="none'"):
        merge_adapter(tmp_path / "none")


def test_an_adapter_on_the_hub_is_refused_as_a_base_model(tuned: Tuned) -> None:
    from peercorpus.finetune.training import load_model

    with pytest.raises(ModelError, match=f"'{tuned.folder / ADAPTER}'"):
        load_model(str(tuned.folder / ADAPTER), None, Recipe())
