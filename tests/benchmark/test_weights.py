"""A model in a folder is identified by its bytes, and by a name that reveals no path of the machine."""

import json
from pathlib import Path

import pytest

from peercorpus.errors import MissingExtraError, ModelError
from peercorpus.models import checkpoints
from peercorpus.models.checkpoints import find_weights, read_weights


@pytest.fixture(autouse=True)
def peft(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the package seem to be installed."""
    monkeypatch.setattr(checkpoints, "find_spec", lambda _: object())


def whole(folder: Path, told: str = "weights") -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text(told)
    return folder


def adapter(folder: Path, base: Path | str, told: str = "adapter") -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(base)}))
    (folder / "adapter_model.safetensors").write_text(told)
    return folder


def test_a_name_is_path_and_digest(tmp_path: Path) -> None:
    base = read_weights(whole(tmp_path / "llama"))
    assert base.name == f"llama@{base.digest[:12]}"
    tuned = read_weights(adapter(tmp_path / "run" / "adapter", tmp_path / "llama"))
    assert tuned.name == f"run/adapter@{tuned.digest[:12]}"
    early = read_weights(adapter(tmp_path / "run" / "checkpoints" / "checkpoint-4", tmp_path / "llama"))
    assert early.name.partition("@")[0] == "run/checkpoints/checkpoint-4"


def test_a_runs_folder_means_its_adapter(tmp_path: Path) -> None:
    whole(tmp_path / "llama")
    adapter(tmp_path / "run" / "adapter", tmp_path / "llama")
    named = [f"{hf}{tmp_path / 'run'}{end}" for hf in ("", "hf/") for end in ("", "/adapter")]
    found = [find_weights(name) for name in named]
    assert {one and one.name for one in found} == {read_weights(tmp_path / "run" / "adapter").name}
    assert {one and one.whole for one in found} == {str(tmp_path / "llama")}


def test_other_names_are_of_a_service(tmp_path: Path) -> None:
    assert find_weights("openai/gpt-5") is None
    assert find_weights(f"hf/{tmp_path}/none") is None


def test_every_byte_counts_wherever_it_is(tmp_path: Path) -> None:
    digests = [read_weights(whole(tmp_path / "a" / "llama")).digest]
    same = read_weights(whole(tmp_path / "b" / "llama"))
    assert same.digest == digests[0]
    (same.folder / "chat_template.jinja").write_text("{{ messages }}")
    digests.append(read_weights(same.folder).digest)
    (same.folder / "config.json").write_text('{"rope": 1}')
    digests.append(read_weights(same.folder).digest)
    (same.folder / "model.safetensors").write_text("weightz")
    digests.append(read_weights(same.folder).digest)
    tuned = adapter(tmp_path / "adapter", same.folder)
    digests.append(read_weights(tuned).digest)
    (tuned / "adapter_model.safetensors").write_text("adaptor")
    digests.append(read_weights(tuned).digest)
    (same.folder / "model.safetensors").write_text("weight!")
    digests.append(read_weights(tuned).digest)
    assert len(set(digests)) == len(digests)


def test_notes_are_not_in_the_digest(tmp_path: Path) -> None:
    before = read_weights(whole(tmp_path / "llama")).digest
    for name in ("README.md", "scheduler.pt"):
        (tmp_path / "llama" / name).write_text("anything")
    assert read_weights(tmp_path / "llama").digest == before


def test_a_base_on_the_hub_is_named(tmp_path: Path) -> None:
    found = read_weights(adapter(tmp_path / "tuned", "meta-llama/Llama-3.1-8B-Instruct"))
    assert (found.base, found.whole, found.tokenizer) == (*["meta-llama/Llama-3.1-8B-Instruct"] * 3,)
    (found.folder / "tokenizer_config.json").write_text("{}")
    assert found.tokenizer == str(found.folder)


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"config\.json.*adapter_config\.json"):
        find_weights(str(tmp_path))
    with pytest.raises(ModelError, match=r"gone'.*left'"):
        find_weights(str(adapter(tmp_path / "left", tmp_path / "gone")))
    silent = adapter(tmp_path / "silent", "a")
    for told in ("{}", "no JSON", '{"base_model_name_or_path": null}', "[]"):
        (silent / "adapter_config.json").write_text(told)
        with pytest.raises(ModelError, match="silent"):
            find_weights(str(silent))


def test_an_adapter_needs_peft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"'peft'.*\[models\]"):
        find_weights(str(adapter(tmp_path / "tuned", "a/b")))
