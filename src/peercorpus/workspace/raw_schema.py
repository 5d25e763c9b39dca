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
"""SQL scripts, each of which creates the next schema version.

The first creates version 1 in an empty database. A released script never changes; new ones are added at the end.
"""

CACHE_KIB = 65_536
"""Maximum memory for the pages of the database, in KiB."""

IN_MEMORY = Path(":memory:")
"""SQLite's name for a database without a file."""


def refuse_unknown(database: sqlite3.Connection, path: Path) -> None:
    """Check that this version of peercorpus knows the schema of a database: it is empty, or states its version.

    Raises:
        WorkspaceError: The schema is newer, or states no version.
    """
    # One statement, since another process may be creating the tables and their version.
    version, is_empty = database.execute(
        "SELECT user_version, NOT EXISTS (SELECT 1 FROM sqlite_master) FROM pragma_user_version"
    ).fetchone()
    newest = len(MIGRATIONS)
    if version == 0 and not is_empty:
        raise WorkspaceError(
            f"'{path}' is not a raw.db that this peercorpus can read: it states no schema version; harvest or import"
            " into a new workspace."
        )
    if version > newest:
        raise WorkspaceError(
            f"'{path}' was written by a newer peercorpus (schema version {version}; this one knows versions up to"
            f" {newest}); {advise_update()}"
        )


def migrate(database: sqlite3.Connection, path: Path) -> bool:
    """Migrate a database to the newest schema version, and return whether its own was older.

    The caller must have locked the workspace, and called `refuse_unknown`.

    Unless the database is empty, a copy of it is made first; see `copy_path`.

    The connection must be in autocommit mode, outside any transaction.

    Raises:
        sqlite3.Error: It cannot be written, or there is no room for the copy; it is unchanged.
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
    version = _read_stated_version(database)
    pending = MIGRATIONS[version:]
    if version and pending:
        _keep_copy(path, version)
    for script in pending:
        for statement in _split_statements(script):
            database.execute(statement)
    database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def copy_path(path: Path, version: int) -> Path:
    """Return the path of the copy made before a database is migrated from a version."""
    return path.with_name(f"{path.name}.version-{version}")


def _keep_copy(path: Path, version: int) -> None:
    """Copy a database including its write-ahead log; replace the copy of an interrupted migration.

    Only a complete copy gets the final name.
    """
    final = copy_path(path, version)
    partial = final.with_name(f"{final.name}.partial")
    journal = partial.with_name(f"{partial.name}-journal")
    for leftover in (partial, journal):
        leftover.unlink(missing_ok=True)
    try:
        partial.touch(mode=0o600)
        # The migrating connection has the write lock, so SQLite must copy through another one.
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as target:
            source.backup(target)
        # raw.db contains the key of the pseudonyms, so its copy must not be readable by others.
        shutil.copymode(path, partial)
        partial.rename(final)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _split_statements(script: str) -> Iterator[str]:
    """Split an SQL script with statements ending at line ends; `executescript` would commit before the first one."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _read_stated_version(database: sqlite3.Connection) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    return int(version)


def find_lacking(database: sqlite3.Connection) -> str | None:
    """Return the table, index or column that the schema of a numbered database lacks; None if nothing."""
    version = min(_read_stated_version(database), len(MIGRATIONS))
    if version < 1:
        return None
    lacking = [".".join(filter(None, part)) for part in sorted(_build_shape(version) - _read_shape(database))]
    return f"'{lacking[0]}'" if lacking else None


def _build_shape(version: int) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as database:
        for script in MIGRATIONS[:version]:
            database.executescript(script)
        return _read_shape(database)


def _read_shape(database: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return every table and named index, paired with "", and every column, paired with its table."""
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
    """Open or create a database with the newest schema; return it, and whether the schema was older or missing.

    Raises:
        WorkspaceError: Its schema is newer than this code, or states no version.
        sqlite3.Error: It cannot be opened or written.
    """
    if path != IN_MEMORY:
        create_private(path)
    database = sqlite3.connect(path, isolation_level=None)
    try:
        refuse_unknown(database, path)
        # Bodies of a few kilobytes fit on one page; the setting has an effect only before the first table is made.
        database.execute("PRAGMA page_size = 16384")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        # Enough for a page of a listing and the indexes it affects; SQLite's default of 2 MB would spill half-way.
        database.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        was_older = migrate(database, path)
    except BaseException:
        database.close()
        raise
    return database, was_older


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a database for reading, whether or not its folder can be written.

    Raises:
        WorkspaceError: Its schema is newer than this code, or states no version.
        sqlite3.Error: It cannot be opened.
    """
    try:
        return _connect_to_read(path, "mode=ro")
    except sqlite3.OperationalError:
        # If not even SQLite's side files can be created, no other process can write either.
        return _connect_to_read(path, "immutable=1")


def _connect_to_read(path: Path, mode: str) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None)
    try:
        refuse_unknown(database, path)
        database.execute("SELECT 1 FROM objects LIMIT 1")
    except BaseException:
        database.close()
        raise
    return database
