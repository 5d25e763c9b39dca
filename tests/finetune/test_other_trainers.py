"""Exports for other trainers: the same tokens, the same of them learnt, and the same recipe."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml  # type: ignore[import-untyped]

from invented_bench import bench_release
from peercorpus.errors import PeercorpusError
from peercorpus.finetune import other_trainers
from peercorpus.finetune import run as finetune_run
from peercorpus.finetune.examples import NOT_LEARNT, Encoder, load_encoder
from peercorpus.finetune.other_trainers import (
    TRANSLATIONS,
    translate_recipe,
    untranslated_settings,
    write_for,
)
from peercorpus.finetune.recipe import Lora, Recipe
from peercorpus.finetune.run_folder import DATA, load_run
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.request import ExportRequest
from recipe_files import write_recipe

CONTEXT = 8_192
RECIPE = {"context": CONTEXT, "paper_tokens": 2_048, "batch": 8, "per_device": 2, "validation": 3}
TRAINERS = (ExportLayout.LLAMA_FACTORY, ExportLayout.AXOLOTL)


def _render(messages: list[dict[str, str]], asks: bool) -> str:
    told = "".join(f"<|{one['role']}|>{one['content']}</s>\n" for one in messages)
    return f"<s>{told}<|assistant|>" if asks else f"<s>{told}"


LETTERS = Encoder("letters", _render, lambda text: [ord(letter) for letter in text], None)
"""Return a model whose tokens are letters."""


@pytest.fixture
def wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExportRequest:
    for module in (finetune_run, other_trainers):
        monkeypatch.setattr(module, "load_encoder", lambda _: LETTERS)
    recipe = write_recipe(tmp_path, **RECIPE)
    return ExportRequest(format=ExportLayout.AXOLOTL, task="rebuttal", model="some/model", recipe=recipe)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return bench_release(tmp_path / "release").with_name("out")


def export(out: Path, wanted: ExportRequest, **changed: Any) -> Path:
    write_for(out.with_name("release"), out, replace(wanted, **changed), lambda _: None)
    return out


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def tokens_for_us(folder: Path, split: str) -> list[dict[str, list[int]]]:
    found: list[dict[str, list[int]]] = pa.ipc.open_stream(folder / DATA / f"{split}.arrow").read_all().to_pylist()
    return found


def factory_pieces(row: dict[str, Any]) -> list[tuple[bool, str]]:
    """As LLaMA-Factory reads it with the template `empty`: each message separately, the assistant's learnt."""
    return [(one["role"] == "assistant", one["content"]) for one in row["messages"]]


def axolotl_pieces(row: dict[str, Any]) -> list[tuple[bool, str]]:
    """As Axolotl reads it with the type `input_output`."""
    return [(one["label"], one["text"]) for one in row["segments"]]


def tokens_for_them(pieces: list[tuple[bool, str]], encoder: Encoder) -> dict[str, list[int]]:
    ids: list[int] = []
    labels: list[int] = []
    for is_learnt, text in pieces:
        found = encoder.tokens(text)
        ids += found
        labels += found if is_learnt else [NOT_LEARNT] * len(found)
    return {"input_ids": ids, "labels": labels}


PIECES: dict[ExportLayout, Callable[[dict[str, Any]], list[tuple[bool, str]]]] = {
    ExportLayout.LLAMA_FACTORY: factory_pieces,
    ExportLayout.AXOLOTL: axolotl_pieces,
}


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_trainer_gets_our_tokens(wanted: ExportRequest, out: Path, trainer: ExportLayout) -> None:
    folder = export(out, wanted, format=trainer)
    for split in ("train", "validation"):
        ours = tokens_for_us(out, split)
        told = [PIECES[trainer](row) for row in rows(folder / f"{split}.jsonl")]
        assert [tokens_for_them(pieces, LETTERS) for pieces in told] == ours
        assert all(len(one["input_ids"]) <= CONTEXT for one in ours)
        assert len(ours) == load_run(out).examples[split] > 0


@pytest.mark.slow
@pytest.mark.neural
@pytest.mark.parametrize("family", ["llama", "qwen"])
def test_real_templates_give_our_tokens(tmp_path: Path, out: Path, family: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import tiny_chats

    model = getattr(tiny_chats, f"write_tiny_{family}")(tmp_path / family)
    recipe = write_recipe(tmp_path, **RECIPE | {"context": 4_096})
    wanted = ExportRequest(format=ExportLayout.AXOLOTL, task="mixed", model=str(model), recipe=recipe)
    encoder = load_encoder(str(model))
    for trainer in TRAINERS:
        folder = export(out, wanted, format=trainer)
        told = [PIECES[trainer](row) for row in rows(folder / "train.jsonl")]
        assert [tokens_for_them(pieces, encoder) for pieces in told] == tokens_for_us(out, "train")


def test_axolotl_trains_on_what_is_marked(wanted: ExportRequest, out: Path) -> None:
    folder = export(out, wanted)
    said = yaml.safe_load((folder / "config.yaml").read_text("utf-8"))
    for name, split in (("datasets", "train"), ("test_datasets", "validation")):
        assert said[name] == [{"path": f"{split}.jsonl", "ds_type": "json", "split": "train", "type": "input_output"}]
    assert (said["excess_length_strategy"], said["train_on_inputs"]) == ("raise", False)
    assert said["chat_template"] == "tokenizer_default"


def test_every_setting_is_carried_over_or_named() -> None:
    for trainer, names in TRANSLATIONS.items():
        assert set(names) == set(Recipe.__struct_fields__), trainer
    assert untranslated_settings(ExportLayout.AXOLOTL, Recipe()) == {
        name: TRANSLATIONS[ExportLayout.AXOLOTL][name] for name in ("paper_tokens", "validation")
    }


CHANGED: dict[str, Any] = {
    "epochs": 3.0,
    "learning_rate": 2e-5,
    "schedule": "linear",
    "warmup": 0.1,
    "weight_decay": 0.01,
    "batch": 32,
    "per_device": 4,
    "context": 4_096,
    "precision": "float32",
    "quantised": 4,
    "attention": "sdpa",
    "packing": True,
    "checkpointing": False,
    "save_steps": 7,
    "keep": 5,
    "seed": 11,
    "lora": Lora(rank=4),
}
"""A different value of each setting that is translated."""


def test_settings_have_each_trainers_own_names() -> None:
    recipe = Recipe(**CHANGED)
    factory, axolotl = (
        translate_recipe(ExportLayout.LLAMA_FACTORY, recipe),
        translate_recipe(ExportLayout.AXOLOTL, recipe),
    )
    assert factory["gradient_accumulation_steps"] == axolotl["gradient_accumulation_steps"] == 8
    assert (factory["lr_scheduler_type"], axolotl["lr_scheduler"]) == ("linear", "linear")
    assert (factory["warmup_steps"], axolotl["warmup_ratio"]) == (0.1, 0.1)
    # LLaMA-Factory subtracts one when it packs.
    assert (factory["cutoff_len"], axolotl["sequence_len"]) == (4_097, 4_096)
    assert translate_recipe(ExportLayout.LLAMA_FACTORY, Recipe())["cutoff_len"] == Recipe().context
    assert factory["neat_packing"] is axolotl["sample_packing"] is True
    assert (factory["quantization_bit"], axolotl["adapter"], axolotl["load_in_4bit"]) == (4, "qlora", True)
    assert (factory["flash_attn"], axolotl["attn_implementation"]) == ("sdpa", "sdpa")
    assert factory["disable_gradient_checkpointing"] is not axolotl["gradient_checkpointing"]
    assert (factory["lora_target"], axolotl["lora_target_linear"]) == ("all", True)


@pytest.mark.parametrize("setting", [{"lora.targets": r".*\.q_proj"}, {"attention": "flex_attention"}])
def test_settings_that_llama_factory_lacks_are_refused(
    wanted: ExportRequest, out: Path, setting: dict[str, str]
) -> None:
    with pytest.raises(PeercorpusError, match="LLaMA-Factory"):
        export(out, wanted, format=ExportLayout.LLAMA_FACTORY, recipe=write_recipe(out.with_name("lacks"), **setting))
    assert not out.exists()


def test_only_an_earlier_export_is_replaced(wanted: ExportRequest, out: Path) -> None:
    export(out, wanted)
    folder = export(out, wanted, format=ExportLayout.LLAMA_FACTORY)
    assert not (folder / "config.yaml").exists()
    mine = out.with_name("mine")
    mine.mkdir()
    (mine / "thesis.tex").touch()
    with pytest.raises(PeercorpusError, match=r"thesis\.tex"):
        export(mine, wanted)
    with pytest.raises(PeercorpusError, match="inside the release"):
        write_for(out.with_name("release"), out.with_name("release") / "axolotl", wanted, lambda _: None)
    assert [path.name for path in mine.iterdir()] == ["thesis.tex"]


def test_leftovers_prevent_no_export(wanted: ExportRequest, out: Path) -> None:
    partial = out.with_name(".out.partial")
    partial.mkdir(parents=True)
    (partial / "train.jsonl").write_text("half")
    folder = export(out, wanted)
    assert "half" not in (folder / "train.jsonl").read_text("utf-8")
    assert not partial.exists()


def test_a_refused_run_leaves_nothing(wanted: ExportRequest, out: Path) -> None:
    short = write_recipe(out.with_name("short"), context=512, paper_tokens=64, validation=3)
    with pytest.raises(PeercorpusError, match="--leave-out-long"):
        export(out, wanted, recipe=short)
    assert not out.exists()


def test_a_changed_release_is_not_exported(wanted: ExportRequest, out: Path) -> None:
    path = next((out.with_name("release") / "data" / "rebuttal").glob("train-*.parquet"))
    papers = pq.read_table(path)
    pq.write_table(papers.slice(1), path)
    with pytest.raises(PeercorpusError, match="intact copy"):
        export(out, wanted)
    assert not out.exists()
