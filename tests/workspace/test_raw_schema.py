"""An older `raw.db` is brought up to date with a copy kept, or left as it was; a newer one is refused."""

import hashlib
import multiprocessing
import os
import resource
import signal
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from peercorpus.errors import WorkspaceError, WorkspaceLockedError
from peercorpus.installation import advise_update
from peercorpus.workspace import raw_schema
from peercorpus.workspace.harvest_state import BudgetState, Listing, StoredFile, Window
from peercorpus.workspace.raw_schema import MIGRATIONS, copy_path, migrate
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore
from peercorpus.workspace.workspace import open_workspace

GOLDEN = Path(__file__).parents[1] / "golden"
V = "Aurora.cc/2020/Conference"
NOTE = RawObject(RawKind.NOTE, "a", 2, V, "a", "a", 1, 7, "a dump", b'{"v":1}')
FILE = StoredFile("e", "/pdf/a.pdf", V, "a", "ab", 5, None)

INVENTED = """
ALTER TABLE files ADD COLUMN seen_ms INTEGER;
CREATE TABLE answers (
    note_id TEXT PRIMARY KEY, answer TEXT NOT NULL);
INSERT INTO answers (note_id, answer) SELECT object_id, kind FROM objects;
"""
"""A further migration, as one may be written some day."""

NEWEST = len(MIGRATIONS)

ADDED = (
    ("INDEX", "files_whole"),
    ("INDEX", "listings_whole"),
    ("INDEX", "objects_by_origin"),
    ("INDEX", "queue_whole"),
    ("INDEX", "sightings_by_time"),
    ("TABLE", "secret_copies"),
    ("TABLE", "table_logs"),
)
"""What version 2 adds to version 1."""

KILLED = """
ALTER TABLE files ADD COLUMN seen_ms INTEGER;
INSERT INTO listings (venue_id, listing, received, complete, started_ms) VALUES ('V', 'half', 0, 0, 0);
SELECT die();
"""
"""A further migration that ends its process in the middle, where the connection has such a function."""

Rows = dict[str, list[tuple[object, ...]]]


def make_first(path: Path) -> None:
    """Make a database of schema version 1."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA page_size = 16384")
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(MIGRATIONS[0])
        database.execute("PRAGMA user_version = 1")


def fill(path: Path) -> None:
    """Store something in every table of the newest schema."""
    with closing(RawStore(path)) as raw, closing(BudgetState(path)) as budget:
        raw.add([NOTE, NOTE._replace(object_id="b", body=b'{"v":2}')])
        raw.state.set_listing(V, "list", Listing("a", 1, 2, complete=True, started_ms=5))
        raw.state.sight(["a"], 9)
        raw.state.enqueue(V, "edits", ["a", "b"])
        raw.state.mark_done("edits", "a", "404 NotFound")
        raw.state.add_file(FILE)
        budget.set_window("api2.example/notes", Window(500, 7, 20.5, 10.5, 3600))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A workspace whose `raw.db`, with rows in every table, is of version 1."""
    path = tmp_path / "corpus" / "raw.db"
    path.parent.mkdir()
    make_first(path)
    fill(path)
    copy_path(path, 1).unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for kind, name in ADDED:
            database.execute(f"DROP {kind} {name}")
        database.execute("PRAGMA user_version = 1")
    return path


@pytest.fixture
def second(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code knows a further version, which `old` does not have."""
    assert version_of(old) == 1
    monkeypatch.setattr(raw_schema, "MIGRATIONS", (*MIGRATIONS, INVENTED))


def schema_of(path: Path) -> list[tuple[str, ...]]:
    """Return the definitions of a database, without line breaks, in alphabetical order."""
    with closing(sqlite3.connect(path)) as database:
        made = database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name")
        return [(kind, name, " ".join(sql.split())) for kind, name, sql in made]


def rows_of(path: Path) -> Rows:
    """Return the rows of the tables of version 1, in the columns of version 1."""
    found: Rows = {}
    with closing(sqlite3.connect(":memory:")) as first, closing(sqlite3.connect(path)) as database:
        first.executescript(MIGRATIONS[0])
        for (table,) in first.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = ", ".join(name for (name,) in first.execute("SELECT name FROM pragma_table_info(?)", (table,)))
            found[table] = database.execute(f"SELECT {columns} FROM {table} ORDER BY {columns}").fetchall()
    return found


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(version)


def names(folder: Path) -> set[str]:
    """Return what lies in a folder, but for the lock and SQLite's own side files."""
    return {path.name for path in folder.iterdir()} - {"workspace.lock", "raw.db-wal", "raw.db-shm"}


def test_schema_versions_are_those_recorded(tmp_path: Path) -> None:
    recorded = (GOLDEN / "raw-schemas.txt").read_text().splitlines()
    made = []
    for version in range(1, len(MIGRATIONS) + 1):
        path = tmp_path / f"{version}.db"
        with closing(sqlite3.connect(path)) as database:
            for script in MIGRATIONS[:version]:
                database.executescript(script)
        made.append(f"{version} {hashlib.sha256(repr(schema_of(path)).encode()).hexdigest()}")
    assert made == recorded, (
        "a schema version of raw.db differs from tests/golden/raw-schemas.txt: workspaces hold that version already, so"
        " leave its script as it was, add a migration to raw_schema.MIGRATIONS, and a line for it to that file"
    )


def test_new_schema_equals_migrated_one(tmp_path: Path) -> None:
    make_first(tmp_path / "old.db")
    for name in ("old.db", "raw.db"):
        RawStore(tmp_path / name).close()
    assert schema_of(tmp_path / "raw.db") == schema_of(tmp_path / "old.db")
    assert version_of(tmp_path / "raw.db") == len(MIGRATIONS)
    assert names(tmp_path) - {"old.db.version-1"} == {"raw.db", "old.db"}


def test_first_version_is_migrated_when_written(old: Path) -> None:
    rows, schema = rows_of(old), schema_of(old)
    assert all(rows.values()), "every table should have rows"
    with open_workspace(old.parent) as workspace:
        assert workspace.raw.find(RawKind.NOTE, "a") == NOTE
        assert workspace.raw.state.files(V) == [FILE]
    assert version_of(old) == NEWEST
    assert rows_of(old) == rows
    assert {*schema} < {*schema_of(old)}
    assert schema_of(copy_path(old, 1)) == schema


def test_first_version_is_read_as_is(old: Path) -> None:
    with open_workspace(old.parent, write=False) as workspace:
        assert workspace.raw.find(RawKind.NOTE, "a") == NOTE
        assert workspace.tables.venues("1-papers") == []
        assert len(workspace.raw.pseudonyms.of("~Ada_Example1")) == 10
        assert workspace.raw.pseudonyms.find_fault() is None
    assert version_of(old) == 1


@pytest.mark.usefixtures("second")
def test_migration_keeps_rows_and_a_copy(old: Path) -> None:
    old.chmod(0o640)
    rows, schema = rows_of(old), schema_of(old)
    with open_workspace(old.parent) as workspace:
        assert workspace.raw.find(RawKind.NOTE, "a") == NOTE
    assert version_of(old) == NEWEST + 1
    assert rows_of(old) == rows
    added = {(kind.upper(), name) for kind, name, _ in {*schema_of(old)} - {*schema}}
    assert added == {*ADDED, ("TABLE", "answers"), ("TABLE", "files")}  # `files` has a further column
    copy = copy_path(old, 1)
    assert (rows_of(copy), schema_of(copy)) == (rows, schema)
    assert version_of(copy) == 1
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert names(old.parent) == {"raw.db", "raw.db.version-1"}


@pytest.mark.usefixtures("second")
def test_restoring_the_copy_restores_the_workspace(old: Path) -> None:
    rows = rows_of(old)
    open_and_close(old.parent)
    copy_path(old, 1).rename(old)
    assert rows_of(old) == rows
    open_and_close(old.parent)
    assert version_of(old) == NEWEST + 1
    assert rows_of(old) == rows


def open_and_close(folder: Path) -> None:
    with open_workspace(folder):
        pass


@pytest.mark.usefixtures("second")
def test_copy_includes_the_write_ahead_log(old: Path) -> None:
    with closing(sqlite3.connect(old, isolation_level=None)) as held:
        held.execute("PRAGMA wal_autocheckpoint = 0")
        held.execute("INSERT INTO sightings (object_id, shown_ms) VALUES ('late', 11)")
        assert old.with_name("raw.db-wal").stat().st_size > 0
        open_and_close(old.parent)
    assert ("late", 11) in rows_of(copy_path(old, 1))["sightings"]


def migrate_and_die(path: Path) -> None:
    raw_schema.MIGRATIONS = (*MIGRATIONS, KILLED)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.create_function("die", 0, lambda: os.kill(os.getpid(), signal.SIGKILL))
        migrate(database, path)


@pytest.mark.slow
def test_killed_migration_is_done_again(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, schema = rows_of(old), schema_of(old)
    process = multiprocessing.get_context("spawn").Process(target=migrate_and_die, args=(old,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert (version_of(old), rows_of(old), schema_of(old)) == (1, rows, schema)
    assert rows_of(copy_path(old, 1)) == rows
    # Remains of a killed copy do no harm.
    copy_path(old, 1).with_name("raw.db.version-1.partial").write_bytes(b"half a copy")
    with open_workspace(old.parent) as workspace:
        assert workspace.raw.find(RawKind.NOTE, "a") == NOTE
    assert (version_of(old), rows_of(old)) == (NEWEST, rows)
    monkeypatch.setattr(raw_schema, "MIGRATIONS", (*MIGRATIONS, INVENTED))
    open_and_close(old.parent)
    assert (version_of(old), rows_of(old)) == (NEWEST + 1, rows)
    assert names(old.parent) == {"raw.db", "raw.db.version-1", f"raw.db.version-{NEWEST}"}


@pytest.mark.parametrize("fault", ["SELECT nothing FROM nowhere;", "INSERT INTO queue (task) VALUES (NULL);"])
def test_failed_migration_leaves_the_database(old: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    rows, schema = rows_of(old), schema_of(old)
    monkeypatch.setattr(raw_schema, "MIGRATIONS", (*MIGRATIONS, f"DROP TABLE sightings;\n{fault}"))
    with pytest.raises(WorkspaceError, match="cannot be read or written"):
        open_and_close(old.parent)
    assert (version_of(old), rows_of(old), schema_of(old)) == (1, rows, schema)


@pytest.mark.usefixtures("second")
def test_no_place_for_copy_no_migration(old: Path) -> None:
    rows = rows_of(old)
    copy_path(old, 1).mkdir()
    with pytest.raises(IsADirectoryError):
        open_and_close(old.parent)
    assert (version_of(old), rows_of(old)) == (1, rows)
    assert names(old.parent) == {"raw.db", "raw.db.version-1"}


@pytest.mark.usefixtures("second")
def test_no_room_for_copy_no_migration(old: Path) -> None:
    rows = rows_of(old)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (old.stat().st_size // 2, hard))
    try:
        with pytest.raises(WorkspaceError, match=r"disk is not full"):
            open_and_close(old.parent)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (version_of(old), rows_of(old)) == (1, rows)
    assert names(old.parent) == {"raw.db"}


def migrate_slowly(folder: Path, ends: Connection) -> None:
    def wait() -> None:
        ends.send("in the middle")
        ends.recv()

    def connect(path: Path, **options: object) -> sqlite3.Connection:
        database = real_connect(path, **options)  # type: ignore[call-overload]
        database.create_function("die", 0, wait)
        return database  # type: ignore[no-any-return]

    real_connect = sqlite3.connect
    sqlite3.connect = connect  # type: ignore[assignment]
    raw_schema.MIGRATIONS = (*MIGRATIONS, KILLED)
    open_and_close(folder)


@pytest.fixture
def migrating(old: Path) -> Iterator[Connection]:
    """Another process is in the middle of a migration, and ends it once something is sent."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=migrate_slowly, args=(old.parent, theirs))
    process.start()
    try:
        assert ours.poll(60), "the other process did not begin to migrate"
        assert ours.recv() == "in the middle"
        yield ours
    finally:
        ours.send("go on")
        process.join(60)
        ours.close()
        theirs.close()
    assert process.exitcode == 0
    assert version_of(old) == NEWEST + 1


@pytest.mark.slow
@pytest.mark.usefixtures("migrating")
def test_migration_locks_writers_not_readers(old: Path) -> None:
    with pytest.raises(WorkspaceLockedError):
        open_and_close(old.parent)
    with open_workspace(old.parent, write=False) as workspace:
        assert workspace.raw.find(RawKind.NOTE, "a") == NOTE
        assert workspace.raw.state.listing("V", "half") == Listing(None, 0, None, complete=False)


@pytest.mark.parametrize("write", [True, False])
def test_newer_database_is_refused(old: Path, write: bool) -> None:
    with closing(sqlite3.connect(old, isolation_level=None)) as database:
        database.execute("PRAGMA user_version = 7")
        database.execute("PRAGMA journal_mode = DELETE")
    before = old.read_bytes()
    with pytest.raises(WorkspaceError) as caught, open_workspace(old.parent, write=write):
        pytest.fail("it was opened")
    assert str(old) in str(caught.value)
    assert advise_update() in str(caught.value)
    assert old.read_bytes() == before
    assert names(old.parent) == {"raw.db"}


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize(
    "script",
    ["CREATE TABLE recipes (name TEXT);", "CREATE TABLE objects (name TEXT);", MIGRATIONS[0]],
    ids=["another program's", "with a table of the same name", "from before versions were numbered"],
)
def test_database_without_version_is_refused(tmp_path: Path, script: str, *, write: bool) -> None:
    path = tmp_path / "raw.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript(script)
    before = path.read_bytes()
    with pytest.raises(WorkspaceError, match="states no schema version"), open_workspace(tmp_path, write=write):
        pytest.fail("it was opened")
    assert path.read_bytes() == before
    assert names(tmp_path) == {"raw.db"}
