"""Check the schema version of `raw.db` and migrate older databases."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from peercorpus.errors import WorkspaceError
from peercorpus.installation import advise_update
from peercorpus.workspace.private_files import create_private

MIGRATIONS: tuple[str, ...] = tuple(
    (files("peercorpus.workspace") / name).read_text(encoding="utf-8") for name in ("raw.sql", "raw_2.sql")
)
"""SQL scripts, each of which makes the next schema version.

The first makes version 1 of an empty database, or of one from before versions were numbered. A released script never
changes; new ones are added at the end.
"""

CACHE_KIB = 65_536
"""Maximum memory for the pages of the database."""

IN_MEMORY = Path(":memory:")
"""What SQLite takes for a database without a file."""

OLDEST_READABLE = 1
"""Version from which on readers need no migration: later ones add what only a check needs."""

UNREAD = frozenset({"budget", "secrets", "published_by_subject"})
"""Tables and indexes of version 1 that readers do not need; databases from before they were added can still be read."""


def refuse_newer(database: sqlite3.Connection, path: Path) -> None:
    """Check that this version of peercorpus knows the schema of a database.

    Raises:
        WorkspaceError: The schema is newer.
    """
    version = _read_stated_version(database)
    newest = len(MIGRATIONS)
    if version > newest:
        raise WorkspaceError(
            f"'{path}' was written by a newer peercorpus (schema version {version}; this one knows versions up to"
            f" {newest}); {advise_update()}"
        )


def require_readable(database: sqlite3.Connection, path: Path) -> None:
    """Check that a database can be read without migrating it, which a reader, holding no lock, may not do.

    Raises:
        WorkspaceError: The schema is older than what readers expect.
    """
    version = _find_version(database, not_needed=UNREAD)
    if version < OLDEST_READABLE:
        raise WorkspaceError(
            f"'{path}' was written by an older peercorpus (schema version {version}; this one reads versions from"
            f" {OLDEST_READABLE}); run 'peercorpus build' on the workspace, which brings it up to date and keeps a copy"
            " of it."
        )


def migrate(database: sqlite3.Connection, path: Path) -> bool:
    """Bring a database to the newest schema version, and return whether its own was older.

    Whoever calls holds the workspace's lock.

    Unless the database is empty or only lacks its number, a copy of it is kept first; see `copy_path`.

    Args:
        database: A connection in autocommit mode, outside any transaction.
        path: The file of the database.

    Raises:
        WorkspaceError: Its tables are not those of any version.
        sqlite3.Error: It cannot be written, or there is no room for the copy; it stays as it was.
    """
    if _read_stated_version(database) == len(MIGRATIONS):
        return False
    database.execute("BEGIN IMMEDIATE")
    try:
        _migrate_locked(database, path)
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")
    return True


def _migrate_locked(database: sqlite3.Connection, path: Path) -> None:
    version = _find_version(database)
    pending = MIGRATIONS[version:]
    if version == 0:
        _refuse_foreign(database, path)
    if pending and _read_shape(database):
        _keep_copy(path, version)
    for script in pending:
        for statement in _split_statements(script):
            database.execute(statement)
    database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def copy_path(path: Path, version: int) -> Path:
    """Return where the copy of a database lies that is kept when it is migrated from a version."""
    return path.with_name(f"{path.name}.version-{version}")


def _keep_copy(path: Path, version: int) -> None:
    """Copy a database, with what still lies in its write-ahead log; replaces the copy of an interrupted migration.

    Only a whole copy gets the final name.
    """
    final = copy_path(path, version)
    partial = final.with_name(f"{final.name}.partial")
    journal = partial.with_name(f"{partial.name}-journal")
    for leftover in (partial, journal):
        leftover.unlink(missing_ok=True)
    try:
        partial.touch(mode=0o600)
        # The connection that migrates holds the write lock; SQLite copies through another one only.
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as target:
            source.backup(target)
        # raw.db holds the key of the pseudonyms: its copy is readable to nobody else.
        shutil.copymode(path, partial)
        partial.rename(final)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _split_statements(script: str) -> Iterator[str]:
    """Split a script of SQL in which every statement ends a line; `executescript` would commit before the first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _read_stated_version(database: sqlite3.Connection) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    return int(version)


def _find_version(database: sqlite3.Connection, not_needed: frozenset[str] = frozenset()) -> int:
    """Return the version of a schema: the number stated, else 1 where all of version 1 is there, else 0."""
    if stated := _read_stated_version(database):
        return stated
    is_first = all(name in not_needed for name, _ in _build_shape(1) - _read_shape(database))
    return 1 if is_first else 0


def _refuse_foreign(database: sqlite3.Connection, path: Path) -> None:
    """Check that a database without a version is empty, or has the table of objects and lacks no column of any table.

    Raises:
        WorkspaceError: It is not, so that version 1 cannot be made of it.
    """
    shape = _read_shape(database)
    if not shape:
        return
    needed = {
        ("objects", ""),
        *((name, column) for name, column in _build_shape(1) if column and (name, "") in shape),
    }
    if lacking := sorted(needed - shape):
        table, column = lacking[0]
        where = f"column '{column}' of table '{table}'" if column else f"table '{table}'"
        raise WorkspaceError(
            f"'{path}' is not a raw.db that this peercorpus can read: it lacks {where};"
            " harvest or import into a new workspace."
        )


def find_lacking(database: sqlite3.Connection) -> str | None:
    """Return what the schema of a numbered database lacks, a table, an index or a column; None if nothing."""
    version = min(_read_stated_version(database), len(MIGRATIONS))
    if version < 1:
        return None
    lacking = [".".join(filter(None, part)) for part in sorted(_build_shape(version) - _read_shape(database))]
    return f"'{lacking[0]}'" if lacking else None


def _build_shape(version: int) -> set[tuple[str, str]]:
    """Return the shape of a schema version."""
    with closing(sqlite3.connect(":memory:")) as database:
        for script in MIGRATIONS[:version]:
            database.executescript(script)
        return _read_shape(database)


def _read_shape(database: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return every table and named index, with "", and every column of a table, with the table's name before it."""
    rows = database.execute(
        """
        SELECT made.name, ''
        FROM sqlite_master AS made
        WHERE made.sql IS NOT NULL
        UNION ALL
        SELECT made.name, columns.name
        FROM sqlite_master AS made
        JOIN pragma_table_info(made.name) AS columns
        WHERE made.type = 'table'
        """
    )
    return {(name, column) for name, column in rows}


def open_to_write(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open or create a database with the newest schema; return it, and whether the schema was older or not there.

    Raises:
        WorkspaceError: Its schema is newer than this code, or of no known version.
        sqlite3.Error: It cannot be opened or written.
    """
    if path != IN_MEMORY:
        create_private(path)
    database = sqlite3.connect(path, isolation_level=None)
    try:
        refuse_newer(database, path)
        # Bodies of some kilobytes lie on one page; it counts only before the first table is made.
        database.execute("PRAGMA page_size = 16384")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        # A page of a listing fits, with the indexes it touches; SQLite's own 2 MB are written out half-way.
        database.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        was_older = migrate(database, path)
    except BaseException:
        database.close()
        raise
    return database, was_older


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a database for reading, whether or not its folder can be written.

    Raises:
        WorkspaceError: Its schema is newer than this code, or too old to be read without a migration.
        sqlite3.Error: It cannot be opened.
    """
    try:
        return _connect_to_read(path, "mode=ro")
    except sqlite3.OperationalError:
        # Where not even SQLite's own side files can be made, nobody else can write either.
        return _connect_to_read(path, "immutable=1")


def _connect_to_read(path: Path, mode: str) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None)
    try:
        refuse_newer(database, path)
        database.execute("SELECT 1 FROM objects LIMIT 1")
        require_readable(database, path)
    except BaseException:
        database.close()
        raise
    return database
