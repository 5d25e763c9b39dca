"""Metrics' models are fetched before the run: otherwise a log's signature would lack their revision."""

from pathlib import Path

import pytest

from peercorpus.benchmark.tasks import acceptance, review
from peercorpus.errors import ModelError

pytestmark = pytest.mark.neural
pytest.importorskip("transformers", reason="needs PyTorch and transformers: the extra 'models'")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


@pytest.mark.parametrize("metric", ["embed_cos", "bert_score"])
def test_an_unavailable_model_is_reported_before_the_run(metric: str, bench_data: Path) -> None:
    with pytest.raises(ModelError, match="'invented/nowhere'"):
        review(str(bench_data), **{metric: "invented/nowhere"})


def test_a_task_without_model_metrics_loads_no_model(bench_data: Path) -> None:
    told = acceptance(str(bench_data), embed_cos="invented/nowhere").metadata or {}
    assert "accuracy" in told["signatures"]
    assert "embed_cos" not in told["signatures"]
