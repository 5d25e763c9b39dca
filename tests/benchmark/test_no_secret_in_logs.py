"""Secrets are refused before they could reach a log."""

import os
from pathlib import Path
from typing import Any

import pytest

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.errors import PeercorpusError

pytestmark = pytest.mark.usefixtures("quietly")


@pytest.mark.slow
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


def test_env_file_of_folder_is_ignored(bench_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ("OPENAI_BASE_URL=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "INSPECT_LOG_DIR=elsewhere")
    (tmp_path / ".env").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    before = dict(os.environ)
    run_tasks(Bench([BenchTask.ACCEPTANCE], bench_data, tmp_path / "logs", "mockllm/one", with_baselines=False))
    named = ("OPENAI_BASE_URL", "HTTPS_PROXY", "INSPECT_LOG_DIR")
    assert [os.environ.get(name) for name in named] == [before.get(name) for name in named]
