"""Secrets are refused before they could reach a log."""

from pathlib import Path
from typing import Any

import pytest

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.errors import PeercorpusError

pytestmark = pytest.mark.usefixtures("quietly")


@pytest.mark.parametrize(
    ("known", "what"),
    [
        ({"model_args": {"token": "hush"}}, "'token'.*environment"),
        ({"base_url": "http://name:hush@localhost/v1"}, "--model-url.*environment"),
    ],
)
def test_a_secret_that_would_be_logged_is_refused(
    known: dict[str, Any], what: str, bench_data: Path, tmp_path: Path
) -> None:
    with pytest.raises(PeercorpusError, match=what) as caught:
        run_tasks(Bench([BenchTask.ACCEPTANCE], bench_data, tmp_path, "mockllm/one", with_baselines=False, **known))
    assert "hush" not in str(caught.value)
    assert not list(tmp_path.iterdir())
