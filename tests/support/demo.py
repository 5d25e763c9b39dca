"""A pytest plugin: the demo, made once per run, for tests and the examples in docstrings of `peercorpus.api`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from asked_here import patch_queries


def made_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that is made once per run, however many processes of pytest-xdist run the tests.

    Args:
        tmp_path_factory: Gives the folder of this process, and thereby the one that all share.
        name: Name of the folder, under which it is shared.
        make: Makes the folder at the path it is given.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    whole = shared / "made once" / name
    whole.parent.mkdir(exist_ok=True)
    with FileLock(whole.parent / f"{name}.lock"):
        if not whole.exists():
            # An incomplete folder is not used.
            partial = whole.with_name(f"{name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            make(partial)
            partial.rename(whole)
    return shutil.copytree(whole, tmp_path_factory.mktemp("copy") / name)


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `peercorpus demo` leaves behind: a workspace in `corpus` and a dataset in `release`.

    Tests must not change it, but may change a copy.
    """
    return made_once(tmp_path_factory, "demo", run_demo)


def run_demo(folder: Path) -> None:
    """Run `peercorpus demo` as a user does, with processes that read the PDFs."""
    command = [sys.executable, "-m", "peercorpus", "demo", "--out", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    assert run.returncode == 0, f"peercorpus demo failed:\n{run.stdout}\n{run.stderr}"


@pytest.fixture(autouse=True)
def _examples(request: pytest.FixtureRequest) -> None:
    """Provide the names used in examples of the Python interface."""
    if isinstance(request.node, pytest.DoctestItem) and is_example(request.node.name):
        request.getfixturevalue("example_names")


def is_example(name: str) -> bool:
    """Return whether a docstring is one of the Python interface.

    >>> is_example("peercorpus"), is_example("peercorpus.api.build.build"), is_example("peercorpus.sql.worker.shorten")
    (True, True, False)
    """
    return name == "peercorpus" or name.startswith("peercorpus.api.")


@pytest.fixture
def example_names(doctest_namespace: dict[str, object], example_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in the folder of a demo, signed out, with the modules and objects that examples use."""
    import polars as pl

    import peercorpus

    patch_queries(monkeypatch)
    monkeypatch.chdir(example_folder)
    for name in ("TOKEN", "USER", "PASSWORD", "MFA_CODE"):
        monkeypatch.delenv(f"PEERCORPUS_{name}", raising=False)
    monkeypatch.setenv("PEERCORPUS_CONFIG", str(example_folder / "nobody"))
    doctest_namespace.update(
        pl=pl,
        peercorpus=peercorpus,
        corpus=peercorpus.open("corpus"),
        release=peercorpus.load_release("release"),
    )


@pytest.fixture(scope="session")
def example_folder(demo_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo, which examples may write to, with all tables, a dated release, and a text of a PDF."""
    return made_once(tmp_path_factory, "examples", lambda folder: _make_examples(demo_folder, folder))


def _make_examples(demo: Path, folder: Path) -> None:
    import peercorpus
    from peercorpus.execution.executor import load_executor
    from peercorpus.execution.requests import BuildRequest
    from peercorpus.texts.folder import convert_to_folder

    shutil.copytree(demo, folder)
    peercorpus.build(folder / "corpus", figures=True, points=True)
    peercorpus.publish(folder / "corpus")
    (folder / "paper.pdf").write_bytes(min((folder / "corpus" / "files").rglob("*.pdf")).read_bytes())
    convert_to_folder(load_executor("local"), [folder / "paper.pdf"], folder / "texts", BuildRequest())
