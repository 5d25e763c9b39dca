"""Fixtures of the benchmark's tests."""

import pytest

from bench_places import bench_data, inspect_places, quietly
from peercorpus.metrics.intervals import bootstrap, pairs, papers

__all__ = ["bench_data", "inspect_places", "quietly"]


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Fifty resamples are enough where no test compares the ends of an interval."""
    if request.node.path.stem != "test_bench_golden":
        for module in (bootstrap, pairs, papers):
            monkeypatch.setattr(module, "RESAMPLES", 50)
