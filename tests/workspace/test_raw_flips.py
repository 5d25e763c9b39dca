"""No bit of `raw.db` changes unnoticed: `check` finds it, or the stored data is read correctly."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from peercorpus.errors import PeercorpusError
from peercorpus.workspace.harvest_state import Listing, StoredFile
from peercorpus.workspace.raw_recovery import find_database_faults, recover_database
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore
from peercorpus.workspace.workspace import open_workspace

VENUE = "Aurora.cc/2020/Conference"
STATE = ("listings", "queue", "files", "sightings")


def received(kind: RawKind, number: int) -> RawObject:
    body = f'{{"id":"{kind.value}{number}","forum":"note0","tmdate":{100 + number},"words":"of {number}"}}'.encode()
    source = f"https://api2.example/notes?after={number}"
    return RawObject(
        kind, f"{kind.value}{number}", 2, VENUE, "note0", f"note{number}", 100 + number, 7 + number, source, body
    )


OBJECTS = [received(kind, number) for kind in (RawKind.NOTE, RawKind.EDIT) for number in range(6)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(RawStore(tmp_path / "raw.db")) as raw, raw.transaction():
        raw.add(OBJECTS)
        raw.state.set_listing(VENUE, "all", Listing("note5", 6, 6, complete=True, started_ms=71))
        raw.state.sight([f"note{number}" for number in range(6)], 73)
        raw.state.enqueue(VENUE, "edits", ["note1", "note2", "note3"])
        raw.state.mark_done("edits", "note2", "404 NotFound")
        raw.state.add_file(StoredFile("edit1", "/pdf/1.pdf", VENUE, "note0", "ab" * 32, 17, None))
    return tmp_path / "raw.db"


def read_all(path: Path) -> object:
    """Everything that a command reads of a database but for the budget, where a wrong time costs a wait at most."""
    with open_workspace(path.parent, write=False) as workspace:
        raw = workspace.raw
        state = [list(raw.select(f"SELECT * FROM {table} ORDER BY 1, 2")) for table in STATE]
        objects = [list(raw.versions(kind, VENUE)) for kind in (RawKind.NOTE, RawKind.EDIT)]
        return state, objects, raw.pseudonyms.of("~Ada_Example1")


def is_found(path: Path) -> bool:
    """Return whether `check` names damage, or refuses in a sentence that states what to do."""
    if find_database_faults(path):
        return True
    try:
        with open_workspace(path.parent, write=False) as workspace:
            return bool(workspace.raw.pseudonyms.find_fault()) or any(workspace.raw.damaged.check_each())
    except PeercorpusError as error:
        return "check --repair" in str(error) or "--upgrade" in str(error)


def each_flipped(path: Path, step: int) -> Iterator[int]:
    """Flip bits of the bytes in use, one after the other, and yield their places."""
    whole = path.read_bytes()
    used = [8 * at + bit for at, byte in enumerate(whole) if byte for bit in range(8)]
    for place in used[::step]:
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(bytes(flipped))
        for suffix in ("-wal", "-shm"):
            path.with_name(f"raw.db{suffix}").unlink(missing_ok=True)
        yield place
    path.write_bytes(whole)


@pytest.mark.slow
@pytest.mark.fault("disk", "one flipped bit, at many places of `raw.db`", "`check` finds it, or it means nothing")
@pytest.mark.parametrize("step", [397, 101])
def test_a_flipped_bit_is_found_or_harmless(path: Path, step: int) -> None:
    whole = read_all(path)
    assert not is_found(path)
    silent = [place for place in each_flipped(path, step) if not is_found(path) and read_all(path) != whole]
    assert silent == []


COLUMNS = {
    "api": ("objects", "api = 1"),
    "subject": ("objects", "subject_id = 'note9'"),
    "time received": ("objects", "seen_ms = 9"),
    "source": ("objects", "source = 'a dump'"),
    "venue": ("objects", "venue_id = 'Aurora.cc/2020/Conferencf'"),
    "forum": ("objects", "forum_id = 'note9'"),
    "last id of a list": ("listings", "after = 'note4'"),
    "count of a list": ("listings", "expected = 5"),
    "end of a list": ("listings", "complete = 0"),
    "start of a list": ("listings", "started_ms = 72"),
    "done": ("queue", "done = 1"),
    "problem": ("queue", "problem = '403'"),
    "sha256 of a file": ("files", f"sha256 = '{'ac' * 32}'"),
    "size of a file": ("files", "size_bytes = 18"),
    "forum of a file": ("files", "forum_id = 'note1'"),
    "time shown": ("sightings", "shown_ms = 70"),
}
"""Columns, each with its table and its value after a change to the row only."""


def change_row_alone(path: Path, table: str, assignment: str) -> None:
    """Change a row as a flipped bit does: the entries of the indexes stay as they are."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA writable_schema = ON")
        hidden = "type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
        rows = database.execute(f"SELECT * FROM sqlite_master WHERE {hidden}", (table,)).fetchall()
        database.execute(f"DELETE FROM sqlite_master WHERE {hidden}", (table,))
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        key = "rowid" if table != "sightings" else "object_id"
        database.execute(f"UPDATE {table} SET {assignment} WHERE {key} = (SELECT max({key}) FROM {table})")
        database.execute("PRAGMA writable_schema = ON")
        database.executemany("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", rows)


@pytest.mark.fault(
    "disk", "a column of `raw.db` that no digest covers, for each", "`check` names the index that says otherwise;"
    " nothing of the row is taken over before it is received again", times=16
)  # fmt: skip
@pytest.mark.parametrize("column", COLUMNS)
def test_a_changed_column_is_found_and_not_recovered(path: Path, column: str) -> None:
    table, assignment = COLUMNS[column]
    change_row_alone(path, table, assignment)
    (fault,) = find_database_faults(path)
    assert "missing from index" in fault
    recovery = recover_database(path)
    with closing(RawStore(path)) as raw:
        taken = [*raw.versions(RawKind.NOTE, VENUE), *raw.versions(RawKind.EDIT, VENUE)]
        assert {*taken} == {*OBJECTS[:-1]} if table == "objects" else {*OBJECTS}
        assert (recovery.objects, recovery.lost) == (len(taken), len(OBJECTS) - len(taken))
        assert [each.object_id for each in raw.damaged.not_back()] == ["edit5"] * recovery.lost
        assert not raw.state.listing(VENUE, "all").complete
        raw.add(OBJECTS)
        assert raw.damaged.not_back() == []
        assert {*raw.versions(RawKind.EDIT, VENUE)} == {*OBJECTS[6:]}
