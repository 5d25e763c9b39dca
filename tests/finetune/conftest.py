"""A release to learn from, and tiny models to tune."""

from pathlib import Path

import pytest

from invented_bench import bench_release


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody asks the Hub for anything."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The invented release with sides; tests only read it."""
    return bench_release(tmp_path_factory.mktemp("learn") / "release")


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny LLaMA and a tiny Qwen2 with random weights, in the folders `llama` and `qwen`; tests only read them."""
    for name in ("torch", "transformers", "tokenizers"):
        pytest.importorskip(name)
    from tiny_chats import write_tiny_llama, write_tiny_qwen

    folder = tmp_path_factory.mktemp("models")
    write_tiny_llama(folder / "llama")
    write_tiny_qwen(folder / "qwen")
    return folder
