"""Open tables with deltalake, and record digests of each table's log in `raw.db`, so that an old one is detected."""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from peercorpus.errors import DamagedError
from peercorpus.workspace.object_store import (
    PATIENCE_S,
    REFUSALS,
    RETRIES,
    Location,
    S3Path,
    list_below,
    read_file,
    scan_options,
    to_os_error,
)
from peercorpus.workspace.raw_schema import open_to_read

LOG = "_delta_log"
NUMBER_DIGITS = 20
"""Digits of a commit's number at the start of its file name; other files of a log may be replaced."""
CHECKPOINT = ".checkpoint.parquet"
"""End of the name of a checkpoint, which replaces all commits up to its own."""

ABOUT_LOG = ("Kernel error", "Partition column", "Not a Delta table")
"""Texts of deltalake 1.6 for a damaged table log, unless one of the texts below occurs too."""

ABOUT_STORAGE = ("Generic S3 error", "Generic LocalFileSystem error", "object store", "ObjectStore", "NoSuchBucket")
"""Texts of deltalake 1.6 for a failure of the disk or the store."""


def delta_options(location: Location) -> dict[str, str] | None:
    """Return the storage options for `deltalake`; None for a local folder.

    They contain no keys, which the package takes from the environment. A commit is written only if none with its number
    exists, so that two writers cannot both make it.
    """
    if isinstance(location, Path):
        return None
    retries = {"max_retries": str(RETRIES), "retry_timeout": f"{PATIENCE_S}s"}
    return {**scan_options(), "aws_conditional_put": "etag", **retries}


def table_url(location: Location) -> str:
    """Return the URL with which `deltalake` opens a table; it would take a path such as `ven:2024` for a URL itself."""
    return str(location) if isinstance(location, S3Path) else location.absolute().as_uri()


@contextmanager
def translate_delta_errors(location: Location) -> Iterator[None]:
    """Turn errors of `deltalake` about a table into those a file would raise, without repeating a store's response.

    Raises:
        DamagedError: The table's log is damaged.
        OSError: The disk or the store cannot be reached, or refuses access.
    """
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (DeltaError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        is_storage = any(sign in str(error) for sign in (*ABOUT_STORAGE, *REFUSALS))
        if not is_storage and any(sign in str(error) for sign in ABOUT_LOG):
            raise damaged_table(location, "its log cannot be read") from None
        raise to_os_error(error, location) from None


def damaged_table(location: Location, fault: str) -> DamagedError:
    """Return the error for a damaged table."""
    return DamagedError(
        f"The table '{location}' is damaged: {fault}; run 'peercorpus check --repair' on the workspace, then"
        " 'peercorpus build', which remakes the table.",
        fault,
    )


class TableLogs:
    """Digests of the commits and checkpoints of all tables written by this workspace.

    Each call has its own connection, so that threads may share this object, and rolling back a transaction on `raw.db`
    does not affect the records. A table from an older version has no records until its next commit; a commit left
    unrecorded by a kill is recorded with the next one.

    Attributes:
        is_writer: Whether the owner of this object remakes missing tables.
    """

    def __init__(self, database: Path, *, write: bool) -> None:
        """Use the records in a `raw.db` that `RawStore` has already opened."""
        self.is_writer = write
        self._path = database

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        if not self.is_writer:
            with closing(open_to_read(self._path)) as database:
                yield database
            return
        with closing(sqlite3.connect(self._path, timeout=60)) as database, database:
            # A record may be lost in a power failure, but the table still has its commit.
            database.execute("PRAGMA synchronous = NORMAL")
            yield database

    def read(self, name: str) -> dict[str, bytes]:
        """Return the digests of a table's log files by name, in the order of the commits."""
        with self._connect() as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'table_logs'").fetchone():
                return {}
            rows = database.execute("SELECT file, digest FROM table_logs WHERE table_name = ? ORDER BY file", (name,))
            return dict(rows.fetchall())

    def record(self, name: str, log: Location, version: int) -> None:
        """Record the new files of a table's log; must be called after each commit.

        They are found by name, because listing the log takes longer with every commit.
        """
        last = _last_commit(self.read(name))
        numbers = range(0 if last is None else int(last[:NUMBER_DIGITS]) + 1, version + 1)
        paths = (log / name_commit(number, end) for number in numbers for end in (".json", CHECKPOINT))
        rows = [(name, path.name, digest) for path in paths if (digest := digest_log_file(path))]
        with self._connect() as database:
            database.executemany("INSERT OR REPLACE INTO table_logs (table_name, file, digest) VALUES (?, ?, ?)", rows)

    def find_loss(self, name: str, log: Location, version: int | None) -> str | None:
        """Return a description of how a log, with this last commit or none, differs from the one last written."""
        recorded = self.read(name)
        last = _last_commit(recorded)
        if last is None:
            return None
        number = int(last[:NUMBER_DIGITS])
        if version is None:
            return "its log is missing"
        if version < number:
            return f"its log ends with commit {version}, but commit {number} was written"
        if version == number and digest_log_file(log / last) != recorded[last]:
            return f"its last commit, '{last}', has changed since it was written"
        return None

    def forget(self, name: str) -> None:
        """Forget a table that is about to be remade."""
        with self._connect() as database:
            database.execute("DELETE FROM table_logs WHERE table_name = ?", (name,))


def _last_commit(recorded: Iterable[str]) -> str | None:
    return max((file for file in recorded if file.endswith(".json")), default=None)


def name_commit(number: int, end: str = ".json") -> str:
    """Return the name of a commit's file in a log, or of another file with the same number."""
    return f"{number:0{NUMBER_DIGITS}}{end}"


def list_log(log: Location) -> list[Location]:
    """Return the commits and checkpoints of a log, in order."""
    paths = (path for path, _ in list_below(log))
    return sorted((path for path in paths if path.name[:NUMBER_DIGITS].isdigit()), key=str)


def digest_log_file(path: Location) -> bytes:
    """Return the digest to record for a file of a log; empty if the file is missing."""
    try:
        return hashlib.sha256(read_file(path)).digest()
    except FileNotFoundError:
        return b""
