"""Record in `raw.db` what the log of each table last was, so that an older or changed one is not taken for it."""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from peercorpus.workspace.object_store import Location, list_below, read_file
from peercorpus.workspace.raw_schema import open_to_read

LOG = "_delta_log"
NUMBER_DIGITS = 20
"""Digits of a commit's number, with which the name of its file begins; other files of a log are replaced at times."""
CHECKPOINT = ".checkpoint.parquet"
"""End of the name of a checkpoint, which stands for all commits up to its own."""


class TableLogs:
    """Digests of the commits and checkpoints of all tables, as this workspace wrote them.

    Each call has its own connection, so that threads may share this object, and a transaction on `raw.db` that is
    rolled back leaves what is recorded of the tables. A table from before there were records has none until its next
    commit; a commit that a kill left unrecorded is recorded with the next one.

    Attributes:
        is_writer: Whether whoever has this object makes tables that are gone again.
    """

    def __init__(self, database: Path, *, write: bool) -> None:
        """Use the records in a `raw.db`, which `RawStore` has already opened."""
        self.is_writer = write
        self._path = database

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        if not self.is_writer:
            with closing(open_to_read(self._path)) as database:
                yield database
            return
        with closing(sqlite3.connect(self._path, timeout=60)) as database, database:
            # A record lost at a power failure is that of a commit which the table has all the same.
            database.execute("PRAGMA synchronous = NORMAL")
            yield database

    def read(self, name: str) -> dict[str, bytes]:
        """Return the digests of a table's files of log by their names, in the order of the commits."""
        with self._connect() as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'table_logs'").fetchone():
                return {}
            rows = database.execute("SELECT file, digest FROM table_logs WHERE table_name = ? ORDER BY file", (name,))
            return dict(rows.fetchall())

    def record(self, name: str, log: Location, version: int) -> None:
        """Record the files of a table's log that are new; call it after each commit.

        They are looked for by their names, as a listing of the log takes longer with every commit.

        Args:
            name: The table.
            log: Location of its log.
            version: Number of the last commit.
        """
        last = _last_commit(self.read(name))
        paths = _name_files(log, 0 if last is None else int(last[:NUMBER_DIGITS]) + 1, version)
        rows = [(name, path.name, digest) for path in paths if (digest := digest_log_file(path))]
        with self._connect() as database:
            database.executemany("INSERT OR REPLACE INTO table_logs (table_name, file, digest) VALUES (?, ?, ?)", rows)

    def find_loss(self, name: str, log: Location, version: int | None) -> str | None:
        """Return, in words, why a log is not the one last written; None if it is.

        Args:
            name: The table.
            log: Location of its log.
            version: Number of the last commit that is there; None if there is none.
        """
        recorded = self.read(name)
        last = _last_commit(recorded)
        if last is None:
            return None
        number = int(last[:NUMBER_DIGITS])
        if version is None:
            return "its log is gone"
        if version < number:
            return f"its log ends with commit {version}, and commit {number} was written"
        if version == number and digest_log_file(log / last) != recorded[last]:
            return f"its last commit, '{last}', is not what was written"
        return None

    def forget(self, name: str) -> None:
        """Forget a table that is about to be made anew."""
        with self._connect() as database:
            database.execute("DELETE FROM table_logs WHERE table_name = ?", (name,))


def _last_commit(recorded: Iterable[str]) -> str | None:
    """Return the file of the last commit among files of a log; None if there is none."""
    return max((file for file in recorded if file.endswith(".json")), default=None)


def name_commit(number: int, end: str = ".json") -> str:
    """Return the name of a commit's file in a log, or of another file with its number."""
    return f"{number:0{NUMBER_DIGITS}}{end}"


def _name_files(log: Location, first: int, last: int) -> Iterator[Location]:
    """Yield the files that these commits have in a log, and the checkpoints that they may have."""
    for number in range(first, last + 1):
        yield log / name_commit(number)
        yield log / name_commit(number, CHECKPOINT)


def list_log(log: Location) -> list[Location]:
    """Return the commits and checkpoints of a log, in order."""
    paths = (path for path, _ in list_below(log))
    return sorted((path for path in paths if path.name[:NUMBER_DIGITS].isdigit()), key=str)


def digest_log_file(path: Location) -> bytes:
    """Return the digest that is recorded of a file of a log; empty if it is gone."""
    try:
        return hashlib.sha256(read_file(path)).digest()
    except FileNotFoundError:
        return b""
