"""Fixtures shared by several folders of tests."""

import gc
import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from commands import run
from peercorpus.workspace.workspace import Workspace, open_workspace
from simulated_store import bucket, served, store_log
from tiny_world import tiny, tiny_service, v1, v2

__all__ = ["bucket", "run", "served", "store_log", "tiny", "tiny_service", "v1", "v2"]

# A shell that starts the tests in the background makes them, and all that they start, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Several processes run tests: if PyTorch used all cores in each, its threads would mostly wait for each other, which
# takes ten times as much processor time for tiny models. It reads this when it is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The time an example takes mostly reflects how busy the machine is, above all with other tests.
settings.register_profile("peercorpus", deadline=None)
settings.load_profile("peercorpus")


def pytest_collection_finish() -> None:
    """Exclude the tests from garbage collection: they are 700,000 objects, which take half a second each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """An empty workspace."""
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _signed_out(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No account is signed in, whoever runs the tests."""
    for name in ("TOKEN", "USER", "PASSWORD", "MFA_CODE"):
        monkeypatch.delenv(f"PEERCORPUS_{name}", raising=False)
    monkeypatch.setenv("PEERCORPUS_CONFIG", str(tmp_path_factory.getbasetemp() / "nobody"))


@pytest.fixture(autouse=True)
def _unlogged() -> Iterator[None]:
    """Remove handlers that would print what later tests log, as those of inspect_ai do on standard output."""
    before = list(logging.root.handlers)
    yield
    for handler in [one for one in logging.root.handlers if one not in before]:
        if not type(handler).__module__.startswith("_pytest."):
            logging.root.removeHandler(handler)


@pytest.fixture
def svg_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw figures of reports as SVG alone, for tests of what a report counts and says: PDF takes half of the time."""
    monkeypatch.setattr("peercorpus.report.write_report.FORMATS", ("svg",))
