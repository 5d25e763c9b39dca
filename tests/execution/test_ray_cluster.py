"""On a cluster of two machines, one of which dies during the work, each row of this machine arrives exactly once."""

import hashlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest
from test_local_processes import behave, square

from in_this_process import InThisProcess
from invented_pdfs import by_hand, lines
from naming import Naming
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.execution.executor import Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.ray_cluster import RayExecutor
from peercorpus.texts.engine import EngineJob, convert_file
from peercorpus.workspace.object_store import Location

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
]
ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'peercorpus[cluster]'")

ROOT = Path(__file__).parents[2]
IMPORTABLE = [ROOT / "src", ROOT / "tests" / "support", Path(__file__).parent]
MACHINE = {"num_cpus": 2, "object_store_memory": 100 << 20}


@dataclass(frozen=True, slots=True)
class Errand:
    """A number to square, and the folder where each attempt leaves a note."""

    number: int
    folder: Path


def square_slowly(errand: Errand) -> int:
    """Square a number, and record on which machine."""
    Path(errand.folder, f"{errand.number}-{os.environ['RAY_RAYLET_PID']}-{time.monotonic_ns()}").touch()
    time.sleep(0.3)
    return errand.number**2


def tell_process(item: Path) -> None:
    """Record the id of this process, and hang."""
    item.write_text(str(os.getpid()))
    time.sleep(600)


def end_worker(item: str) -> str:
    """Kill this process's Ray worker, if the item says so."""
    if item == "kill":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    return item.upper()


def read_there(job: EngineJob) -> tuple[Location, bytes]:
    """Return the path under which a machine finds the file, and its content."""
    return job.path, job.path.read_bytes()


def seen_gpu(_item: int) -> str | None:
    return os.environ.get("CUDA_VISIBLE_DEVICES")


def wait_for(is_so: Callable[[], object]) -> None:
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < 60
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two machines of a cluster, simulated on this one."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # Models that are in no folder are not searched for in the network, which would be tried for half a minute.
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, IMPORTABLE)))
        made = Cluster(initialize_head=True, head_node_args=MACHINE | {"num_gpus": 1})
        made.add_node(**MACHINE)
        made.wait_for_nodes()
        yield made
        ray.shutdown()
        made.shutdown()


@pytest.fixture
def executor(cluster: Any) -> RayExecutor:
    return RayExecutor(cluster.address)


@pytest.mark.slow
def test_each_item_is_returned_once(executor: RayExecutor) -> None:
    bad = ["crash", "exit", "hang", "raise", "say", "eat"]
    good = [f"item {number}" for number in range(20)]
    items = [*good[:7], *bad, *good[7:]]
    there = list(executor(behave, items, timeout_s=3, workers=2))
    here = dict(LocalExecutor()(behave, items, timeout_s=3, workers=2))
    assert sorted(item for item, _ in there) == sorted(items)
    assert dict(there) == here
    assert here["hang"] == Failure(FailureKind.TIMEOUT, Naming("stopped", "3 seconds"))


@pytest.mark.slow
def test_dying_machines_work_goes_elsewhere(executor: RayExecutor, cluster: Any, tmp_path: Path) -> None:
    dying = cluster.add_node(**MACHINE)
    cluster.wait_for_nodes()
    raylet = psutil.Process(dying.all_processes["raylet"][0].process.pid)
    # On a busy machine the new one takes long to start, and there must be work left for it.
    is_dead, most = Event(), 2_000
    given = takewhile(lambda number: number < 40 or not is_dead.is_set(), range(most))
    outcomes = executor(square_slowly, (Errand(number, tmp_path) for number in given), timeout_s=20)
    found = [next(outcomes)]
    while len(list(tmp_path.glob(f"*-{raylet.pid}-*"))) < 5:
        found.append(next(outcomes))
    for process in [raylet, *raylet.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    cluster.remove_node(dying, allow_graceful=False)
    is_dead.set()
    found.extend(outcomes)
    errands = [errand for errand, _ in found]
    assert sorted(errand.number for errand in errands) == list(range(len(errands)))
    assert dict(found) == {errand: errand.number**2 for errand in errands}
    tries = Counter(note.name.split("-")[0] for note in tmp_path.iterdir())
    assert max(tries.values()) > 1, "the machine died while it had nothing to do"


@pytest.mark.slow
def test_deadly_item_has_limited_tries(cluster: Any) -> None:
    executor = RayExecutor(cluster.address, retries=1)
    found = list(executor(end_worker, ["a", "b", "kill", "c", "d"], timeout_s=20))
    assert sorted(item for item, _ in found) == ["a", "b", "c", "d", "kill"]
    results = dict(found)
    killed = results.pop("kill")
    assert isinstance(killed, Failure)
    assert killed.kind is FailureKind.CRASH
    assert results == {"a": "A", "b": "B", "c": "C", "d": "D"}


@pytest.mark.slow
def test_local_file_is_sent_along(cluster: Any, tmp_path: Path) -> None:
    job = EngineJob("0" * 64, tmp_path / "paper.pdf", "pdfium-text")
    job.path.write_bytes(b"%PDF-")
    ((brought, result),) = RayExecutor(cluster.address)(read_there, [job], timeout_s=20)
    assert brought == job
    assert result == (result[0], b"%PDF-")  # type: ignore[index]
    assert not result[0].exists()
    shared = RayExecutor(cluster.address, brings_files=False)
    assert dict(shared(read_there, [job], timeout_s=20)) == {job: (job.path, b"%PDF-")}


@pytest.mark.slow
def test_cluster_gives_the_same_texts(executor: RayExecutor, tmp_path: Path) -> None:
    contents = [by_hand([lines("One line.", "Another.")]), b"", b"no PDF"]
    jobs = [EngineJob("0" * 64, tmp_path / "missing.pdf", "pdfium-text")]
    for content in contents:
        sha256 = hashlib.sha256(content).hexdigest()
        jobs.append(EngineJob(sha256, tmp_path / f"{sha256}.pdf", "pdfium-text"))
        jobs[-1].path.write_bytes(content)
    there = dict(executor(convert_file, jobs, timeout_s=20))
    assert there == dict(InThisProcess()(convert_file, jobs, timeout_s=20))
    assert [isinstance(there[job], Failure) for job in jobs] == [True, False, True, True]


@pytest.mark.slow
def test_items_are_taken_few_at_once(executor: RayExecutor) -> None:
    taken = 0

    def endless() -> Iterator[int]:
        nonlocal taken
        for number in count():
            taken += 1
            yield number

    outcomes = executor(square, endless(), timeout_s=20, workers=3)
    for done in range(1, 20):
        next(outcomes)
        assert taken <= done + 4
    outcomes.close()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_items_are_in_order_on_request(cluster: Any) -> None:
    executor = RayExecutor(cluster.address, retries=1)
    items = ["a", "kill", *(f"item {number}" for number in range(20))]
    found = list(executor(end_worker, items, timeout_s=20, in_order=True))
    assert [item for item, _ in found] == items
    assert [result for _, result in found if isinstance(result, str)] == [
        item.upper() for item in items if item != "kill"
    ]


def refuse(item: str) -> str:
    """Return the same result for every item."""
    raise ModelError(f"There is no model for {item}.")


@pytest.mark.slow
def test_common_error_is_reported_alike(executor: RayExecutor) -> None:
    for spread in (executor, LocalExecutor()):
        with pytest.raises(ModelError, match=r"^There is no model for a\.$"):
            list(spread(refuse, ["a"], timeout_s=20))


def test_no_items_need_no_cluster() -> None:
    assert list(RayExecutor("127.0.0.1:1")(square, [], timeout_s=20)) == []


def test_silent_cluster_is_reported() -> None:
    ray.shutdown()
    with pytest.raises(PeercorpusError, match=r"'127\.0\.0\.1:1'"):
        list(RayExecutor("127.0.0.1:1")(square, [1], timeout_s=20))


@contextmanager
def driver(call: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Start another process that calls a function of this module."""
    code = f"import sys, test_ray_cluster as tests; tests.{call}(*sys.argv[1:])"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def hang(address: str, noted: str) -> None:
    """Start an item that hangs; exit as the command line does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        list(RayExecutor(address)(tell_process, [Path(noted)], timeout_s=600))
    except KeyboardInterrupt:
        sys.exit(130)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_process_leaves_no_work_behind(cluster: Any, tmp_path: Path, number: int, code: int) -> None:
    noted = tmp_path / "process"
    with driver("hang", cluster.address, noted) as ended:
        wait_for(lambda: ended.poll() is not None or (noted.exists() and noted.read_text()))
        ended.send_signal(number)
        _, told = ended.communicate(timeout=60)
    assert (ended.returncode, "SIGTERM" in told) == (code, False), told
    wait_for(lambda: not psutil.pid_exists(int(noted.read_text())))


def leave_early(address: str) -> None:
    for number in range(20):
        with pytest.raises(ModelError):
            list(RayExecutor(address)(refuse, [str(number)], timeout_s=20))
        outcomes = RayExecutor(address)(square, range(30), timeout_s=20, workers=4)
        next(outcomes)
        outcomes.close()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_leaving_early_ends_no_process(cluster: Any) -> None:
    with driver("leave_early", cluster.address) as left:
        _, told = left.communicate(timeout=300)
    assert left.returncode == 0, told


@pytest.mark.slow
def test_item_sees_its_own_gpu(cluster: Any) -> None:
    assert dict(RayExecutor(cluster.address, gpus=1, memory_bytes=None)(seen_gpu, [1], timeout_s=20)) == {1: "0"}
