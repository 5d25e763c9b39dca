"""The tables of a build are the same whatever the number of its workers, and cost does not grow faster than venues."""

import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from in_this_process import InThisProcess, build_here
from peercorpus.errors import DamagedError, PeercorpusError
from peercorpus.execution.executor import Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.progress import Progress, show_nothing
from peercorpus.execution.ray_cluster import RayExecutor
from peercorpus.execution.requests import BuildRequest, HarvestRequest
from peercorpus.execution.stage import split_forums
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.pipeline import build_venues, plan_build
from peercorpus.pipeline.build import build
from peercorpus.pipeline.build_venues import StepResult
from peercorpus.pipeline.status import read_status
from peercorpus.pipeline.venue_work import StageWork, WorkItem, do_work
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace import delta_tables, table_logs, table_state
from peercorpus.workspace.move import move_workspace
from peercorpus.workspace.object_store import S3Path
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace, open_workspace
from small_venues import fill
from table_rows import rows

VENUES = ["Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference", "JLE"]
PAPERS = 12


@pytest.fixture(scope="module")
def harvested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of three venues of some papers, one of which has files, that was not built; tests copy it."""
    folder = tmp_path_factory.mktemp("workers") / "harvested"
    world = build_world(papers=PAPERS, venues=VENUES)
    with (
        serve_simulator(world) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
        open_workspace(folder, create=True) as workspace,
    ):
        harvest(workspace, client, VENUES[:1])
        harvest(workspace, client, VENUES[1:], request=HarvestRequest(no_files=True))
    return folder


@pytest.fixture
def corpus(harvested: Path, tmp_path: Path) -> Path:
    return shutil.copytree(harvested, tmp_path / "corpus")


@pytest.fixture
def tiny_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every venue several ranges of forums, and make workers worthwhile for any amount of work."""
    monkeypatch.setattr(plan_build, "RANGE_FORUMS", 3)
    monkeypatch.setattr(build_venues, "LEAST_WEIGHT", 0)


def digests_of_files(workspace: Workspace, name: str, venue_id: str) -> list[str]:
    """The digests of a partition's files, in order; texts are appended in no order."""
    digests = [path.stem.rpartition("-")[2] for path in workspace.tables.paths(name, venue_id)]
    return sorted(digests) if name == "5-texts" else digests


def contents(workspace: Workspace) -> dict[str, Any]:
    """Return for each table and venue its key, a digest of its rows, and the digest of each file in order."""
    return {
        f"{name} {venue_id}": (
            workspace.tables.digest(name, venue_id),
            workspace.tables.content(name, venue_id),
            digests_of_files(workspace, name, venue_id),
        )
        for name in TABLES
        for venue_id in workspace.venues()
    }


def built(folder: Path, spread: Any, options: BuildRequest | None = None) -> tuple[dict[str, Any], list[StepResult]]:
    with open_workspace(folder) as workspace:
        steps = build(workspace, options=options, spread=spread)
        assert read_status(workspace).holds
        assert not list(read_status(workspace).unfinished)
        return contents(workspace), steps


@pytest.fixture(scope="module")
def by_ranges(harvested: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The contents of the workspace, built from ranges of three forums by this process alone."""
    folder = shutil.copytree(harvested, tmp_path_factory.mktemp("workers") / "by-ranges")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_build, "RANGE_FORUMS", 3)
        patch.setattr(build_venues, "LEAST_WEIGHT", 0)
        return built(folder, InThisProcess())[0]


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_ranges")
def test_several_workers_equal_one(corpus: Path, tmp_path: Path, by_ranges: dict[str, Any]) -> None:
    whole = shutil.copytree(corpus, tmp_path / "alone")
    alone, steps = built(whole, LocalExecutor(), BuildRequest(workers=1))
    found, others = built(corpus, LocalExecutor(), BuildRequest(workers=3))
    assert found == alone == by_ranges
    assert [(step.venue_id, step.stage) for step in others] == [(step.venue_id, step.stage) for step in steps]
    assert max(len(files) for _, _, files in alone.values()) > 3


@pytest.mark.slow
def test_ranges_give_the_venues_rows(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = shutil.copytree(corpus, tmp_path / "whole")
    built(whole, InThisProcess())
    monkeypatch.setattr(plan_build, "RANGE_FORUMS", 3)
    built(corpus, InThisProcess())
    with open_workspace(whole) as one, open_workspace(corpus) as other:
        for venue_id in VENUES:
            assert list(one.tables.read(TABLES["3-posts"], venue_id)) == list(
                other.tables.read(TABLES["3-posts"], venue_id)
            )
            assert rows(one, venue_id) == rows(other, venue_id)
            assert {name: one.tables.digest(name, venue_id) for name in TABLES} == {
                name: other.tables.digest(name, venue_id) for name in TABLES
            }


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_ranges")
def test_workers_rebuild_only_what_changed(corpus: Path) -> None:
    before, _ = built(corpus, InThisProcess())
    with open_workspace(corpus) as workspace:
        found = next(workspace.raw.latest(RawKind.NOTE, VENUES[1]))
        workspace.raw.add([found._replace(body=found.body + b" ", modified_ms=found.modified_ms + 1)])
    after, steps = built(corpus, InThisProcess())
    ran = {step.venue_id for step in steps if not step.was_finished}
    assert ran == {VENUES[1], build_venues.ALL_VENUES}
    assert {name for name in before if before[name] != after[name]} <= {
        f"{name} {venue_id}" for name in TABLES for venue_id in VENUES if venue_id == VENUES[1] or name == "8-links"
    }
    again, steps = built(corpus, InThisProcess())
    assert again == after
    assert all(step.was_finished for step in steps)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_ranges")
def test_progress_counts_papers_once(corpus: Path) -> None:
    told: list[Progress] = []
    with open_workspace(corpus) as workspace:
        forums = sum(map(workspace.raw.count_forums, workspace.venues()))
        build(workspace, progress=told.append, spread=InThisProcess())
    of_workers = [one for one in told if one.what == build_venues.SPREAD]
    assert [one.done for one in of_workers] == sorted(one.done for one in of_workers)
    assert (of_workers[-1].done, of_workers[-1].total) == (forums, forums)


@pytest.mark.slow
def test_a_few_notes_start_no_workers(corpus: Path) -> None:
    told: list[Progress] = []
    with open_workspace(corpus) as workspace:
        build(workspace, progress=told.append, spread=InThisProcess())
    assert build_venues.SPREAD not in {one.what for one in told}


class Failing(InThisProcess):
    """An executor whose work on notes fails after a number of items."""

    def __init__(self, fails_after: int, failure: Failure) -> None:
        super().__init__()
        self._left, self._failure = fails_after, failure

    def __call__(self, function: Callable[[Any], Any], items: Any, **more: Any) -> Iterator[tuple[Any, Any]]:
        for item, result in super().__call__(function, items, **more):
            is_of_notes = function is do_work
            self._left -= is_of_notes
            yield item, self._failure if is_of_notes and self._left < 0 else result


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_ranges")
@pytest.mark.parametrize(
    ("failure", "kind", "sentence"),
    [
        (Failure(FailureKind.CRASH, "Its process died (exit code -9)."), PeercorpusError, "'Aurora.*died.*continues"),
        (Failure(FailureKind.ERROR, "", error=DamagedError("raw.db is damaged.")), DamagedError, "raw.db is damaged"),
    ],
)
def test_failing_worker_ends_the_build(
    corpus: Path, by_ranges: dict[str, Any], failure: Failure, kind: type[Exception], sentence: str
) -> None:
    with open_workspace(corpus) as workspace, pytest.raises(kind, match=sentence):
        build(workspace, spread=Failing(3, failure))
    assert built(corpus, InThisProcess())[0] == by_ranges


@pytest.mark.slow
def test_small_venues_go_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_venues, "LEAST_WEIGHT", 0)
    monkeypatch.setattr(build_venues, "ITEM_WEIGHT", 1_000)
    read: list[list[str]] = []

    def note(item: WorkItem) -> list[StageWork]:
        read.append([task.venue_id for task in item.tasks])
        return do_work(item)

    monkeypatch.setattr(build_venues, "do_work", note)
    fill(tmp_path / "corpus", 9)
    _, steps = built(tmp_path / "corpus", InThisProcess())
    assert [len(venue_ids) for venue_ids in read] == [4, 4, 1]
    assert len(steps) == 6 * 9 + 1


def test_ranges_contain_every_forum_once() -> None:
    forum_ids = [f"{number:03}" for number in range(101)]
    for most in (1, 7, 100, 101, 500):
        spans = split_forums(forum_ids, most)
        held = [[forum_id for forum_id in forum_ids if span.contains(forum_id)] for span in spans]
        assert [forum_id for of_range in held for forum_id in of_range] == forum_ids
        assert max(map(len, held)) <= most
        assert [span.number for span in spans] == list(range(len(spans)))


SCRIPT = """
import os, signal, sys
from pathlib import Path
import psutil
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.pipeline import build_venues, plan_build
from peercorpus.pipeline.build import build
from peercorpus.workspace import delta_tables
from peercorpus.workspace.workspace import open_workspace

plan_build.RANGE_FORUMS, build_venues.LEAST_WEIGHT, delta_tables.HOLD_S = 3, 0, 0.0
left, victim = int(sys.argv[2]), sys.argv[3]

def show(progress):
    global left
    if progress.what == build_venues.SPREAD:
        left -= 1
        if left == 0:
            workers = [one for one in psutil.Process().children() if "spawn_main" in " ".join(one.cmdline())]
            os.kill(workers[0].pid if victim == "worker" else os.getpid(), signal.SIGKILL)

with open_workspace(Path(sys.argv[1])) as workspace:
    build(workspace, options=BuildRequest(workers=2), progress=show, spread=LocalExecutor())
"""


@pytest.mark.slow(30)
@pytest.mark.fault("kill", "a build whose workers are at work", "it goes on", times=4, lost="what was not committed")
@pytest.mark.parametrize("victim", ["worker", "build"])
@pytest.mark.parametrize("after", [2, 9])
def test_killed_build_is_completed(
    corpus: Path, by_ranges: dict[str, Any], monkeypatch: pytest.MonkeyPatch, victim: str, after: int
) -> None:
    monkeypatch.setattr(plan_build, "RANGE_FORUMS", 3)
    ended = subprocess.run([sys.executable, "-c", SCRIPT, str(corpus), str(after), victim], check=False)
    assert ended.returncode == (0 if victim == "worker" else -signal.SIGKILL)
    again, steps = built(corpus, InThisProcess())
    assert again == by_ranges
    if victim == "worker":
        assert all(step.was_finished for step in steps)


@pytest.mark.slow
@pytest.mark.cluster
def test_workers_write_alike_to_stores(tmp_path: Path, bucket: S3Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_build, "RANGE_FORUMS", 1)
    monkeypatch.setattr(build_venues, "LEAST_WEIGHT", 0)
    fill(tmp_path / "placed", 3)
    here = shutil.copytree(tmp_path / "placed", tmp_path / "here")
    move_workspace(tmp_path / "placed", f"s3://{bucket.bucket}/placed", show_nothing)
    assert built(tmp_path / "placed", LocalExecutor(), BuildRequest(workers=2))[0] == built(here, InThisProcess())[0]


def test_cluster_workers_are_not_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert build_venues._count_processes(LocalExecutor(), 200) == 200
    assert build_venues._count_processes(RayExecutor(), 200) == 4
    assert build_venues._count_processes(RayExecutor(), 3) == 3


FEW, MANY = 2, 8
COUNTED = {
    "opens of tables": (DeltaTable, "__init__"),
    "commits": (DeltaTable, "create_write_transaction"),
    "refreshes": (DeltaTable, "update_incremental"),
    "listings of files by Delta Lake": (DeltaTable, "file_uris"),
    "readings of all files by Delta Lake": (DeltaTable, "get_add_actions"),
    "searches of the log for a key": (DeltaTable, "transaction_version"),
    "readings of the log": (table_state, "read_file"),
    "listings of the log": (table_logs, "list_below"),
    "listings of tables": (delta_tables, "list_below"),
    "opens of Parquet files": (pq.ParquetFile, "__init__"),
}
PER_VENUE = {"opens of Parquet files"}
"""Operations that grow with the venues; everything else is done once per table."""


def build_all(workspace: Workspace) -> None:
    assert any(not step.was_finished for step in build_here(workspace))


def build_again(workspace: Workspace) -> None:
    assert all(step.was_finished for step in build_here(workspace))


def find_status(workspace: Workspace) -> None:
    status = read_status(workspace)
    assert status.holds
    assert not status.unfinished


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each of `COUNTED` is called from here on."""
    counted = Counter[str]()
    for what, (owner, name) in COUNTED.items():
        called = getattr(owner, name)

        def count(*arguments: Any, what: str = what, called: Callable[..., Any] = called, **more: Any) -> Any:
            counted[what] += 1
            return called(*arguments, **more)

        monkeypatch.setattr(owner, name, count)
    return counted


def count_steps(folder: Path, venues: int, counts: Counter[str]) -> dict[str, Counter[str]]:
    """Count the operations of a build, of another one and of `status`."""
    fill(folder, venues)
    found = {}
    for step, write in ((build_all, True), (build_again, True), (find_status, False)):
        counts.clear()
        with open_workspace(folder, write=write) as workspace:
            step(workspace)
        found[step.__name__] = counts.copy()
    return found


@pytest.mark.slow
def test_only_rows_grow_with_venues(tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_tables, "HOLD_S", 600.0)
    few, many = (count_steps(tmp_path / f"{venues}", venues, counts) for venues in (FEW, MANY))
    for step, counted in many.items():
        for what, number in counted.items():
            most = 1.1 * MANY / FEW if what in PER_VENUE else 1
            assert number <= most * few[step][what], (step, what)
        assert counted["opens of tables"] <= 2 * len(TABLES), step
    assert many["build_all"]["commits"] <= len(TABLES)
    assert many["build_again"]["commits"] == 0
    assert many["build_again"]["opens of Parquet files"] == 0


@pytest.mark.slow
@pytest.mark.cluster
def test_store_requests_do_not_grow(
    tmp_path: Path, bucket: S3Path, store_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta_tables, "HOLD_S", 600.0)
    found: dict[int, dict[str, Counter[str]]] = {}
    for venues in (FEW, MANY):
        folder = tmp_path / f"{venues}"
        fill(folder, venues)
        move_workspace(folder, f"s3://{bucket.bucket}/{venues}", show_nothing)
        for step, write in ((build_all, True), (build_again, True), (find_status, False)):
            before = store_log.stat().st_size
            with open_workspace(folder, write=write) as workspace:
                step(workspace)
            found.setdefault(venues, {})[step.__name__] = count_requests(store_log, before)
    for name, counted in found[MANY].items():
        few = found[FEW][name]
        assert counted["listings"] == few["listings"], name
        assert counted["log"] == few["log"], name
        assert counted["other"] <= 1.1 * MANY / FEW * few["other"], name
    assert found[MANY]["build_all"]["listings"] <= 4 * len(TABLES)
    for name in ("build_again", "find_status"):
        assert found[MANY][name]["listings"] <= len(TABLES), name


def count_requests(log: Path, start: int) -> Counter[str]:
    """Count the requests to a store since a place in its log: listings, and requests for a table's log."""
    with log.open("rb") as file:
        file.seek(start)
        lines = [line.decode() for line in file if b"HTTP/1.1" in line]
    kinds = ("listings" if "list-type" in line else "log" if "_delta_log" in line else "other" for line in lines)
    return Counter(kinds)
