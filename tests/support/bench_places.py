"""Fixtures for tests that run `inspect_ai`: a release, and folders for everything that it would leave behind."""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from invented_bench import bench_release, quiet


@pytest.fixture(autouse=True, scope="session")
def inspect_places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Caches, data and traces of `inspect_ai` in a folder of the tests, for child processes too."""
    folder = tmp_path_factory.mktemp("inspect")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("INSPECT_CACHE_DIR", "XDG_DATA_HOME", "XDG_CACHE_HOME", "INSPECT_TRACE_FILE", "INSPECT_LOG_DIR"):
            patch.setenv(name, str(folder / name.lower()))
        for name in ("OPENAI_API_KEY", "INSPECT_EVAL_MODEL", "INSPECT_MODEL_NAME"):
            patch.delenv(name, raising=False)
        # For each log it reads the metadata of all installed packages, which took a third of the time of these tests.
        patch.setattr("inspect_ai._util.package.packages_distributions", cache(packages_distributions), raising=False)
        yield


@pytest.fixture(scope="session")
def bench_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The invented release with splits; tests must not change it."""
    return bench_release(tmp_path_factory.mktemp("bench") / "release")


@pytest.fixture
def quietly() -> Iterator[None]:
    """For tests that run `inspect_ai` in this process."""
    with quiet():
        yield
