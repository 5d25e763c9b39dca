"""A release to train on, tiny models to tune, and their adapters."""

from pathlib import Path

import pytest

from bench_places import bench_data, inspect_places, quietly
from invented_bench import bench_release
from tuned_runs import NEEDED, Tuned, tune_on

__all__ = ["bench_data", "inspect_places", "quietly"]


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is requested from the Hub."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The invented release with splits; tests must not change it."""
    return bench_release(tmp_path_factory.mktemp("learn") / "release")


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny LLaMA and a tiny Qwen2 with random weights, in folders `llama` and `qwen`; tests must not change them."""
    for name in ("torch", "transformers", "tokenizers"):
        pytest.importorskip(name)
    from tiny_chats import write_tiny_llama, write_tiny_qwen

    folder = tmp_path_factory.mktemp("models")
    write_tiny_llama(folder / "llama")
    write_tiny_qwen(folder / "qwen")
    return folder


@pytest.fixture(scope="session")
def tuning() -> None:
    """Skip unless everything that tuning needs is installed."""
    for name in NEEDED:
        pytest.importorskip(name, reason=f"{name} is not installed")


@pytest.fixture(scope="session")
def tuned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, bench_data: Path) -> Tuned:
    """An adapter of a LLaMA, trained on the invented release; tests must not change it."""
    request.getfixturevalue("tuning")
    return tune_on(bench_data, tmp_path_factory.mktemp("tuned"), "llama")
