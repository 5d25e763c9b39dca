"""Which model a signature names, and the error for one that is not available; only one test needs PyTorch."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from peercorpus.errors import MissingExtraError, ModelError
from peercorpus.installation import advise_install
from peercorpus.metrics import bertscore, embedding, text_overlap
from peercorpus.metrics.bertscore import bert_score
from peercorpus.metrics.embedding import embed_cos
from peercorpus.models.local_models import model_signature, package_signature


def test_a_folders_signature_depends_on_its_weights_and_not_on_its_path(tmp_path: Path) -> None:
    for place in ("here", "there"):
        folder = tmp_path / place / "tiny"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"one")
    here, there = (model_signature(str(tmp_path / place / "tiny")) for place in ("here", "there"))
    assert here == there
    assert here.startswith("tiny|revision:sha256-")
    other = tmp_path / "other" / "tiny"
    other.mkdir(parents=True)
    (other / "config.json").write_text("{}")
    (other / "model.safetensors").write_bytes(b"two")
    assert model_signature(str(other)) != here


def test_a_name_is_signed_by_the_commit_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    commit = "0123456789abcdef0123456789abcdef01234567"
    snapshot = tmp_path / "models--some--model" / "snapshots" / commit / "config.json"
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_: str(snapshot))
    assert model_signature("some/model") == "some/model|revision:0123456789ab"
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_: None)
    assert model_signature("some/model") == "some/model|revision:unknown"


@pytest.mark.parametrize("folder", ["./none", "/none", "~/none", "models/of/mine"])
def test_a_missing_folder_is_named(folder: str) -> None:
    with pytest.raises(ModelError, match=f"'{folder}'"):
        model_signature(folder)


@pytest.mark.parametrize("module", ["torch", "transformers", "sentence_transformers"])
def test_a_missing_package_is_named_with_its_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    for measure in (bert_score, embed_cos):
        if (module == "sentence_transformers") is (measure is embed_cos):
            with pytest.raises(MissingExtraError, match=re.escape(advise_install("models"))):
                measure("a", ["b"])


@pytest.mark.parametrize("module", ["rouge_score.tokenizers", "rapidfuzz.distance"])
def test_rouge_l_names_a_missing_package(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_overlap, "_word_caches", {})
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=re.escape(advise_install("bench"))):
        text_overlap.rouge_l("a", ["b"])


def test_a_wrong_version_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    def none(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("peercorpus.models.local_models.version", none)
    with pytest.raises(MissingExtraError, match=r"'sacrebleu' is not installed.+\[bench\]"):
        package_signature("sacrebleu")


@pytest.mark.neural
@pytest.mark.usefixtures("bert", "sentence_model")
@pytest.mark.parametrize("measure", [bert_score, embed_cos])
def test_an_unavailable_model_is_reported_in_one_sentence(
    measure: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    asked = []

    def refuse(name: str, file: str) -> str:
        asked.append((name, file))
        raise OSError("The Hub was not reached.\nAnd more.")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", refuse)
    sentence = r"'no/model'.*\(The Hub was not reached\).*give a folder"
    with pytest.raises(ModelError, match=sentence):
        measure("a", ["b"], model="no/model")
    assert asked == [("no/model", "config.json")]


def test_the_models_of_the_definitions_are_those_of_the_record() -> None:
    assert (bertscore.MODEL, bertscore.LAYERS) == ("microsoft/deberta-large-mnli", 12)
    assert embedding.MODEL == "sentence-transformers/all-mpnet-base-v2"
