"""An executor is named on the command line; missing packages are reported, and machines with other versions refuse."""

import re
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_local_processes import behave, square

from naming import Naming
from peercorpus.errors import MissingExtraError, PeercorpusError
from peercorpus.execution.code_version import package_versions
from peercorpus.execution.executor import EXECUTORS, Failure, FailureKind, load_executor
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.ray_cluster import RayExecutor, connect, do_item
from peercorpus.installation import advise_install
from peercorpus.texts.engine import EngineJob
from peercorpus.workspace.object_store import Location


def test_executors_are_found_by_name() -> None:
    assert load_executor("local") == LocalExecutor()
    pytest.importorskip("ray", reason="ray is not installed: pip install 'peercorpus[cluster]'")
    assert {name: load_executor(name) for name in EXECUTORS} == {"local": LocalExecutor(), "ray": RayExecutor()}
    assert load_executor("ray", "head:6379") == RayExecutor("head:6379")


@pytest.mark.parametrize(
    ("name", "address", "sentence"),
    [("dask", None, "local, ray"), ("local", "head:6379", "--address")],
)
def test_an_impossible_executor_is_refused(name: str, address: str | None, sentence: str) -> None:
    with pytest.raises(PeercorpusError, match=sentence):
        load_executor(name, address)


def test_missing_ray_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=re.escape(advise_install("cluster"))):
        next(RayExecutor()(square, [1], timeout_s=20))


def test_sigterm_is_handled_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    def start(*_: object, **__: object) -> None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(signal.SIGTERM))
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False, init=start))
    before = signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            connect("auto")
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_machine_with_another_version_refuses() -> None:
    other = {**package_versions(), "peercorpus": "other"}
    with pytest.raises(PeercorpusError, match=r"peercorpus .*other"):
        do_item(square, 3, None, (20, None), other)


def read_there(job: EngineJob) -> tuple[Location, bytes]:
    return job.path, job.path.read_bytes()


@pytest.mark.slow
def test_item_runs_beside_its_worker() -> None:
    limits = (20.0, 2 << 30)
    assert do_item(square, 3, None, limits, package_versions()) == 9
    assert do_item(behave, "crash", None, limits, package_versions()) == Failure(
        FailureKind.CRASH, Naming("died", "-11")
    )
    read = do_item(
        read_there, EngineJob("0" * 64, Path("nowhere.pdf"), "pdfium-text"), b"%PDF-", limits, package_versions()
    )
    assert isinstance(read, tuple)
    assert read[1] == b"%PDF-"
    assert not read[0].exists()


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed")
def test_cluster_without_package_is_refused() -> None:
    with pytest.raises(MissingExtraError, match=re.escape(advise_install("cluster"))):
        load_executor("ray")


def test_cluster_takes_no_request_budget() -> None:
    with pytest.raises(PeercorpusError, match="--executor"):
        load_executor("ray", counts_here=True)
    assert load_executor("local", counts_here=True) == load_executor("local")
