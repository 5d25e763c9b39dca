"""What several folders of tests share."""

import gc
import logging
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from commands import run
from simulated_store import bucket, served, store_log

__all__ = ["bucket", "run", "served", "store_log"]

# A shell that starts the tests in the background has them ignore Ctrl-C, and so all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says how busy the machine is, with other tests above all.
settings.register_profile("peercorpus", deadline=None)
settings.load_profile("peercorpus")


def pytest_collection_finish() -> None:
    """Leave the tests out of every search for garbage: they are 700,000 objects, half a second each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _signed_out(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nobody is signed in, whoever runs the tests."""
    for name in ("TOKEN", "USER", "PASSWORD", "MFA_CODE"):
        monkeypatch.delenv(f"PEERCORPUS_{name}", raising=False)
    monkeypatch.setenv("PEERCORPUS_CONFIG", str(tmp_path_factory.getbasetemp() / "nobody"))


@pytest.fixture(autouse=True)
def _unlogged() -> Iterator[None]:
    """No test leaves a handler behind that prints what later ones log, as those of inspect_ai do on standard output."""
    before = list(logging.root.handlers)
    yield
    for handler in [one for one in logging.root.handlers if one not in before]:
        if not type(handler).__module__.startswith("_pytest."):
            logging.root.removeHandler(handler)
