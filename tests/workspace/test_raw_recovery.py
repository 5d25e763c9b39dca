"""No bit of `raw.db` changes unnoticed; what SQLite can still read is recovered, and what is lost is named."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from peercorpus.errors import DamagedError, PeercorpusError
from peercorpus.workspace.harvest_state import Listing, StoredFile
from peercorpus.workspace.raw_recovery import find_database_faults, recover_database
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore
from peercorpus.workspace.workspace import open_workspace

VENUE = "Aurora.cc/2020/Conference"
PAGE = 16_384


def note(number: int) -> RawObject:
    words = " ".join(str(number * word * word % 99_991) for word in range(number % 7 * 900))
    body = f'{{"id":"r{number}","forum":"f","content":{{"review":"{words}"}}}}'.encode()
    return RawObject(RawKind.NOTE, f"r{number}", 2, VENUE, "f", f"r{number}", number, 7, "https://api", body)


NOTES = [note(number) for number in range(300)]
FILE = StoredFile("e1", "/pdf/1.pdf", VENUE, "f", "ab" * 32, 17, None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(RawStore(tmp_path / "raw.db")) as raw, raw.transaction():
        raw.add(NOTES)
        raw.state.add_file(FILE)
        raw.state.set_listing(VENUE, "all", Listing(after="r9", received=300, expected=300, complete=True))
    return tmp_path / "raw.db"


def zero(path: Path, start: int, length: int) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(bytes(length))


def page_of(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as database:
        (number,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    return int(number) - 1


def zero_header(path: Path) -> None:
    zero(path, 0, 100)


def zero_first_page(path: Path) -> None:
    zero(path, 0, PAGE)


def zero_root_of_objects(path: Path) -> None:
    zero(path, page_of(path, "objects") * PAGE, PAGE)


def zero_some_pages(path: Path) -> None:
    zero(path, 30 * PAGE, 3 * PAGE)


def scramble_some_sectors(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for start in range(25 * PAGE, len(content) - 512, 9 * PAGE):
        content[start : start + 512] = b"\xa5" * 512
    path.write_bytes(bytes(content))


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 77])


OUT_OF_REACH = (zero_header, zero_first_page, zero_root_of_objects)
"""Damages after which no query reaches an object, but SQLite's shell finds them all."""
FEWEST: dict[Callable[[Path], None], int] = {
    **dict.fromkeys(OUT_OF_REACH, 300),
    zero_some_pages: 295,
    scramble_some_sectors: 268,
    cut_in_half: 132,
}


def has_recover(folder: Path) -> bool:
    """Return whether SQLite's shell is installed with its command `.recover`, which some systems leave out."""
    asked = ["sqlite3", ":memory:", ".recover"]
    return shutil.which("sqlite3") is not None and not subprocess.run(asked, cwd=folder).returncode


@pytest.mark.fault(
    "disk", "`raw.db`: header, first page, a root page, pages, sectors, the second half", "what can be read is taken"
    " over into a new one, and what is lost is named; or one sentence says what to install", times=6, lost="what cannot"
    " be read, until it is harvested again"
)  # fmt: skip
@pytest.mark.parametrize("damage", FEWEST)
def test_intact_rows_are_recovered(path: Path, damage: Callable[[Path], None]) -> None:
    if damage in OUT_OF_REACH and not has_recover(path.parent):
        pytest.skip("needs a program sqlite3 with '.recover'")
    with closing(RawStore(path, write=False)) as raw:
        pseudonym = raw.pseudonyms.of("~Ada_Example1")
    damage(path)
    damaged = path.read_bytes()
    assert find_database_faults(path) != []
    recovery = recover_database(path)
    assert recovery.kept.read_bytes() == damaged
    assert find_database_faults(path) == []
    assert recovery.venue_ids == [VENUE]
    with closing(RawStore(path)) as raw:
        held = list(raw.versions(RawKind.NOTE, VENUE))
        assert set(held) <= set(NOTES)
        assert len(held) == recovery.objects >= FEWEST[damage]
        assert raw.state.files(VENUE) == [FILE]
        assert raw.pseudonyms.of("~Ada_Example1") == pseudonym
        assert recovery.has_key
        assert not raw.state.listing(VENUE, "all").complete
        named = {each.object_id for each in raw.damaged.not_back()}
        assert len(named) == recovery.lost
        lost = {each.object_id for each in set(NOTES) - set(held)}
        assert named <= lost
        assert named == lost or damage is cut_in_half  # which loses the index, too
        raw.add(NOTES)
        assert raw.damaged.not_back() == []
    assert {each.name.removesuffix("-wal") for each in path.parent.iterdir()} == {"raw.db", recovery.kept.name}


def test_rows_in_the_log_are_recovered(path: Path) -> None:
    with closing(RawStore(path)) as raw:
        raw.add([note(1_000)])
        copies = {name: path.with_name(name).read_bytes() for name in ("raw.db", "raw.db-wal")}
    for name, content in copies.items():
        path.with_name(name).write_bytes(content)
    zero_some_pages(path)
    recover_database(path)
    with closing(RawStore(path, write=False)) as raw:
        assert raw.find(RawKind.NOTE, "r1000") == note(1_000)


@pytest.mark.parametrize("damage", OUT_OF_REACH)
def test_some_damage_needs_the_shell(
    path: Path, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(path)
    damaged = path.read_bytes()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DamagedError, match="install a program 'sqlite3'"):
        recover_database(path)
    assert path.read_bytes() == damaged


SHELL = """\
#!{python}
import sqlite3, sys
with sqlite3.connect(sys.argv[-1]) as database:
    print(open({dump!r}).read()) if sys.argv[-1] == ".recover" else database.executescript(sys.stdin.read())
"""


def dump_orphans(path: Path) -> str:
    """Return what `.recover` prints of a database whose first page is lost: every row is an orphan."""
    with closing(sqlite3.connect(path)) as whole, closing(sqlite3.connect(":memory:")) as dumped:
        columns = [f"c{number}" for number in range(12)]
        dumped.execute(f"CREATE TABLE lost_and_found (rootpgno, pgno, nfield, id, {', '.join(columns)})")
        for table, id_ in (("objects", "seen"), ("files", "rowid"), ("listings", "rowid"), ("secrets", "NULL")):
            for number, *values in whole.execute(f"SELECT {id_}, * FROM {table}"):
                row = [0, 0, len(values), number, *values, *[None] * (12 - len(values))]
                dumped.execute(f"INSERT INTO lost_and_found VALUES ({', '.join('?' * len(row))})", row)
        return "\n".join(dumped.iterdump())


def test_shells_rows_are_recovered(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = path.parent / "bin"
    folder.mkdir()
    (folder / "dump.sql").write_text(dump_orphans(path))
    (folder / "sqlite3").write_text(SHELL.format(python=sys.executable, dump=str(folder / "dump.sql")))
    (folder / "sqlite3").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    zero_first_page(path)
    recovery = recover_database(path)
    assert (recovery.objects, recovery.lost, recovery.has_key) == (300, 0, True)
    with closing(RawStore(path, write=False)) as raw:
        assert set(raw.versions(RawKind.NOTE, VENUE)) == set(NOTES)
        assert raw.state.files(VENUE) == [FILE]


@pytest.mark.parametrize("content", [b"", b"something else\n" * 99, bytes(5 * PAGE)], ids=["empty", "text", "zeros"])
def test_unreadable_file_is_left_unchanged(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DamagedError, match="backup"):
        recover_database(path)
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == ["raw.db"]


STATE = ("listings", "queue", "files", "sightings")


def received(kind: RawKind, number: int) -> RawObject:
    body = f'{{"id":"{kind.value}{number}","forum":"note0","tmdate":{100 + number},"words":"of {number}"}}'.encode()
    source = f"https://api2.example/notes?after={number}"
    return RawObject(
        kind, f"{kind.value}{number}", 2, VENUE, "note0", f"note{number}", 100 + number, 7 + number, source, body
    )


OBJECTS = [received(kind, number) for kind in (RawKind.NOTE, RawKind.EDIT) for number in range(6)]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
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
def test_flipped_bit_is_found_or_harmless(stored: Path, step: int) -> None:
    whole = read_all(stored)
    assert not is_found(stored)
    silent = [place for place in each_flipped(stored, step) if not is_found(stored) and read_all(stored) != whole]
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
def test_changed_column_is_not_recovered(stored: Path, column: str) -> None:
    table, assignment = COLUMNS[column]
    change_row_alone(stored, table, assignment)
    (fault,) = find_database_faults(stored)
    assert "missing from index" in fault
    recovery = recover_database(stored)
    with closing(RawStore(stored)) as raw:
        taken = [*raw.versions(RawKind.NOTE, VENUE), *raw.versions(RawKind.EDIT, VENUE)]
        assert {*taken} == {*OBJECTS[:-1]} if table == "objects" else {*OBJECTS}
        assert (recovery.objects, recovery.lost) == (len(taken), len(OBJECTS) - len(taken))
        assert [each.object_id for each in raw.damaged.not_back()] == ["edit5"] * recovery.lost
        assert not raw.state.listing(VENUE, "all").complete
        raw.add(OBJECTS)
        assert raw.damaged.not_back() == []
        assert {*raw.versions(RawKind.EDIT, VENUE)} == {*OBJECTS[6:]}
