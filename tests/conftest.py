"""What several folders of tests share."""

import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

from commands import run
from simulated_store import bucket, served, store_log

__all__ = ["bucket", "demo_folder", "run", "served", "store_log"]

# A shell that starts the tests in the background has them ignore Ctrl-C, and so all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says how busy the machine is, with other tests above all.
settings.register_profile("peercorpus", deadline=None)
settings.load_profile("peercorpus")


def pytest_collection_finish() -> None:
    """Leave the tests out of every search for garbage: they are 700,000 objects, half a second each time."""
    gc.collect()
    gc.freeze()


def made_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a copy of a folder that is made once a run, however many processes of pytest-xdist run the tests.

    Args:
        tmp_path_factory: Knows the folder of this process, and with it the one that all share.
        name: Of the folder; what is made is shared under it.
        make: Makes the folder at the path it is given.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    whole = shared / "made once" / name
    whole.parent.mkdir(exist_ok=True)
    with FileLock(whole.parent / f"{name}.lock"):
        if not whole.exists():
            # A folder that could not be made whole is not taken for one.
            partial = whole.with_name(f"{name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            make(partial)
            partial.rename(whole)
    return shutil.copytree(whole, tmp_path_factory.mktemp("copy") / name)


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `peercorpus demo` leaves behind: a workspace in `corpus` and a dataset in `release`.

    Tests only read it; one that changes anything copies it first.
    """
    return made_once(tmp_path_factory, "demo", run_demo)


def run_demo(folder: Path) -> None:
    """Run `peercorpus demo` as a user does, with processes that read the PDFs."""
    command = [sys.executable, "-m", "peercorpus", "demo", "--out", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    assert run.returncode == 0, f"peercorpus demo failed:\n{run.stdout}\n{run.stderr}"


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
