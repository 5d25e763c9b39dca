"""Four times the venues cost at most four times the operations to build, to rebuild, and for `status`."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from in_this_process import build_here
from peercorpus.execution.progress import show_nothing
from peercorpus.pipeline.status import read_status
from peercorpus.workspace import delta_tables, table_logs, table_state
from peercorpus.workspace.move import move_workspace
from peercorpus.workspace.object_store import S3Path
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace, open_workspace
from small_venues import fill

pytestmark = pytest.mark.slow

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


def test_only_reading_and_writing_rows_grows_with_the_number_of_venues(
    tmp_path: Path, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.cluster
def test_the_number_of_store_requests_does_not_depend_on_the_number_of_venues(
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
