"""Every bit that changes in a table is found, or means nothing; a damaged table is never read as what was written."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable

from peercorpus.errors import DamagedError
from peercorpus.records.enums import Reason
from peercorpus.records.papers import SetAside
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.raw_store import RawStore
from peercorpus.workspace.table_damage import check_table
from peercorpus.workspace.table_logs import TableLogs

VENUE = "Aurora.cc/2020/Conference"
NAME = "set-aside"


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    RawStore(tmp_path / "raw.db").close()
    made = Tables(tmp_path / "tables", tmp_path, TableLogs(tmp_path / "raw.db", write=True))
    for key in ("1" * 64, "2" * 64):
        with made.replacing((), VENUE, "normalise", key) as replacement:
            for number in range(9):
                replacement.set_aside(f"r{number}", f"f{number}", Reason.FILE_ALTERED, f"words {key[:1]} {number}")
    return made


def reader(folder: Path) -> Tables:
    return Tables(folder, folder.parent, TableLogs(folder.parent / "raw.db", write=False))


def content(folder: Path) -> list[tuple[str, str]]:
    """What is read of the table, by another object for it."""
    rows = reader(folder).read(SetAside, VENUE)
    return [(row.record_id, row.detail) for row in rows]


def faults(tables: Tables) -> list[str]:
    found = check_table(reader(Path(str(tables.folder))), NAME)
    return [fault.detail for fault in found if fault is not None]


def parts(tables: Tables) -> list[Path]:
    return [Path(str(path)) for path in tables.paths(NAME, VENUE)]


def log(tables: Tables) -> list[Path]:
    return sorted((Path(str(tables.folder)) / NAME / "_delta_log").glob("*.json"))


def each_flipped(path: Path, step: int) -> Iterator[None]:
    """Flip bits of a file, one after the other; it is whole in the end."""
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), step):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(flipped))
        yield
    path.write_bytes(whole)


def test_an_intact_table_has_no_fault(tables: Tables) -> None:
    assert list(check_table(tables, NAME)) == [None]
    assert len(content(Path(str(tables.folder)))) == 9


@pytest.mark.parametrize("venue_id", ["it's", "Köln / 会议 🎓", "..", "../../a", "100%2Fb%", "a=b&c?d#e", "null"])
def test_odd_named_partition_is_found(tables: Tables, venue_id: str) -> None:
    with tables.replacing((), venue_id, "normalise", "1" * 64) as replacement:
        replacement.set_aside("r", None, Reason.FILE_ALTERED, "words")
    assert list(check_table(tables, NAME)) == [None, None]


@pytest.mark.slow
@pytest.mark.fault("disk", "one flipped bit, at many places of a table's Parquet file", "`check` names the table")
def test_every_flipped_bit_is_found(tables: Tables) -> None:
    (part,) = parts(tables)
    for _ in each_flipped(part, 97):
        assert len(faults(tables)) == 1
    assert faults(tables) == []


@pytest.mark.fault("disk", "one flipped bit, at many places of a table's log", "`check` names the table")
def test_flipped_bits_of_the_log_are_found(tables: Tables) -> None:
    for commit in log(tables):
        for _ in each_flipped(commit, 521):
            assert len(faults(tables)) == 1
    assert faults(tables) == []


def test_unrecorded_log_is_checked(tables: Tables) -> None:
    folder = Path(str(tables.folder))
    assert tables.logs
    tables.logs.forget(NAME)
    whole = content(folder)
    for commit in log(tables):
        for _ in each_flipped(commit, 1_303):
            if not faults(tables):
                # A table with other columns counts as missing, and is made again.
                assert content(folder) == whole or reader(folder).venues(NAME) == []


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def overwrite_with_zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def change_a_page(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:150] + bytes([whole[150] ^ 1]) + whole[151:])


DAMAGES = [cut, overwrite_with_zeros, change_a_page, Path.unlink]


@pytest.mark.fault("disk", "a table's Parquet file is cut, zeroed, changed or gone", "one sentence names it", times=4)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_not_read(tables: Tables, damage: Callable[[Path], None]) -> None:
    (part,) = parts(tables)
    damage(part)
    with pytest.raises(DamagedError, match="check --repair") as raised:
        content(Path(str(tables.folder)))
    assert str(part) in str(raised.value)
    assert len(faults(tables)) == 1
    tables.empty(NAME, VENUE)
    assert faults(tables) == []


@pytest.mark.fault("disk", "a commit of a table's log is cut, zeroed or gone", "one sentence names the table", times=3)
@pytest.mark.parametrize("damage", [cut, overwrite_with_zeros, Path.unlink])
@pytest.mark.parametrize("commit", [0, 1])
def test_damaged_log_is_set_aside(tables: Tables, tmp_path: Path, damage: Callable[[Path], None], commit: int) -> None:
    damage(log(tables)[commit])
    with pytest.raises(DamagedError, match="check --repair") as raised:
        content(Path(str(tables.folder)))
    assert NAME in str(raised.value)
    assert "\x1b" not in str(raised.value)
    assert faults(tables) != []
    tables.set_log_aside(NAME, tmp_path / "damaged")
    assert faults(tables) == []
    (kept,) = (tmp_path / "damaged").iterdir()
    assert list(kept.rglob("*.parquet")) != []
    assert not DeltaTable.is_deltatable(str(tables.folder / NAME))


@pytest.mark.fault("disk", "the last commit of a table's log is gone", "the table is not read as it was before it")
def test_older_table_is_not_read(tables: Tables) -> None:
    log(tables)[-1].unlink()
    with pytest.raises(DamagedError, match="check --repair") as raised:
        content(Path(str(tables.folder)))
    assert "ends with commit" in str(raised.value)
    assert len(faults(tables)) == 1


@pytest.mark.fault("disk", "the log of a table is gone", "it is not read as empty; the next build remakes it")
def test_table_without_log_is_not_empty(tables: Tables, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "tables" / NAME / "_delta_log")
    with pytest.raises(DamagedError, match="its log is missing"):
        content(tmp_path / "tables")
    assert faults(tables) == ["its log is missing"]
    with tables.replacing((), VENUE, "normalise", "3" * 64) as replacement:
        replacement.set_aside("r", None, Reason.FILE_ALTERED, "words")
    assert content(tmp_path / "tables") == [("r", "words")]
    assert faults(tables) == []


def test_unrecorded_commit_is_no_fault(tables: Tables) -> None:
    logs, tables.logs = tables.logs, None
    tables.append(NAME, VENUE, "normalise", [])
    assert faults(tables) == []
    tables.logs = logs
    tables.append(NAME, VENUE, "normalise", [])
    assert logs
    assert list(logs.read(NAME)) == [path.name for path in log(tables)]


@pytest.mark.slow
def test_checkpoints_are_recorded(tables: Tables) -> None:
    for _ in range(100):
        tables.append(NAME, VENUE, "normalise", [])
    (checkpoint,) = (Path(str(tables.folder)) / NAME / "_delta_log").glob("*.checkpoint.parquet")
    assert faults(tables) == []
    for _ in each_flipped(checkpoint, 9_001):
        assert len(faults(tables)) == 1


def test_table_without_unused_files_is_intact(tables: Tables) -> None:
    folder = Path(str(tables.folder))
    whole = content(folder)
    assert len(list(folder.rglob("*.parquet"))) == 2
    DeltaTable(str(folder / NAME)).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert len(list(folder.rglob("*.parquet"))) == 1
    assert content(folder) == whole
    assert faults(tables) == []
    with tables.replacing((), VENUE, "normalise", "3" * 64) as replacement:
        replacement.set_aside("r", None, Reason.FILE_ALTERED, "later words")
    assert content(folder) == [("r", "later words")]
    assert faults(tables) == []
