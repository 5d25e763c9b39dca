"""Open, lock and create a workspace: `raw.db`, files named by their SHA-256, and tables."""

import hashlib
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from copy import copy
from pathlib import Path
from typing import IO, NoReturn

from filelock import FileLock, Timeout

from peercorpus.errors import DamagedError, PeercorpusError, WorkspaceError, WorkspaceLockedError
from peercorpus.workspace.delta_tables import DraftTables, Tables
from peercorpus.workspace.harvest_state import BudgetState
from peercorpus.workspace.object_store import FILE, Location, S3Path, read_placement, require_ours, write_whole
from peercorpus.workspace.private_files import make_private_folder, require_own, require_own_folders
from peercorpus.workspace.raw_recovery import Recovery, find_database_faults, recover_database
from peercorpus.workspace.raw_store import RawStore
from peercorpus.workspace.table_logs import TableLogs
from peercorpus.workspace.table_reader import TABLES

LOCK = "workspace.lock"
OWN = (
    *("raw.db", "raw.db-wal", "raw.db-shm", LOCK),
    *("damaged", "explorer", "files", "parts", "releases", "report", "tables", "texts"),
)
"""Files and folders of a workspace that must not be links."""

DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""SQLite's result codes that mean damage."""

ABOUT_DAMAGE = ("no such table", "no such column", "Could not decode to UTF-8")
"""Parts of the messages of SQLite's other errors that mean damage."""

MISREAD = re.compile(r"%[0-9A-Fa-f]{2}|[\\\x00-\x1f\x7f\ud800-\udfff]")
"""Matches parts of a local path that `deltalake` 1.6 misreads or refuses."""

OWN_VENUES = "venues.toml"
"""File with a user's own statements about venues."""


class Files:
    """PDF files named by their SHA-256: `files/ab/ab12….pdf`."""

    def __init__(self, folder: Location, partial: Path) -> None:
        """Use the files below a folder; `partial` is a local folder for incomplete ones."""
        self.folder = folder
        self.partial = partial

    def clear_partial(self) -> None:
        """Delete incomplete files of runs that were killed."""
        shutil.rmtree(self.partial, ignore_errors=True)

    @contextmanager
    def scratch(self) -> Iterator[IO[bytes]]:
        """Open a temporary local file for writing and reading."""
        self.partial.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=self.partial) as scratch:
            yield scratch

    def path(self, sha256: str) -> Location:
        """Return the location of a file, whether or not it exists."""
        return self.folder / sha256[:2] / f"{sha256}.pdf"

    def has(self, sha256: str) -> bool:
        """Return whether a file exists."""
        return self.path(sha256).is_file()

    def add(self, content: bytes) -> str:
        """Store a file, completely or not at all, and return its SHA-256."""
        sha256 = hashlib.sha256(content).hexdigest()
        if not self.has(sha256):
            self._write(self.path(sha256), content)
        return sha256

    def _write(self, location: Location, content: bytes) -> None:
        assert isinstance(location, Path)
        location.parent.mkdir(parents=True, exist_ok=True)
        self.partial.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.partial, delete=False) as partial:
            partial.write(content)
            partial.flush()
            os.fsync(partial.fileno())
        Path(partial.name).rename(location)

    def read(self, sha256: str) -> bytes:
        """Return the content of an existing file."""
        return self.path(sha256).read_bytes()


class StoredFiles(Files):
    """Files in a store; names are listed once per prefix, so that few requests are needed to see which exist."""

    def __init__(self, folder: Location, partial: Path) -> None:
        """Use the files below a prefix; the arguments are those of `Files`."""
        super().__init__(folder, partial)
        self._listed: dict[str, set[str]] = {}

    def has(self, sha256: str) -> bool:
        """Return whether a file exists; no other process adds files while this workspace is open."""
        shelf = self.path(sha256).parent
        if shelf.name not in self._listed:
            assert isinstance(shelf, S3Path)
            self._listed[shelf.name] = {path.stem for path, _ in shelf.walk()}
        return sha256 in self._listed[shelf.name]

    def _write(self, location: Location, content: bytes) -> None:
        write_whole(location, content)
        self._listed[location.parent.name].add(location.stem)


class Workspace:
    """An open workspace: the objects received, the files, and the tables made from them.

    Attributes:
        budget_state: Rate-limit windows; None for a reader.
        own_venues: Content of the user's `venues.toml` when the workspace was opened; None without one.
    """

    def __init__(self, folder: Path, *, write: bool = True) -> None:
        self.folder = folder
        self.own_venues = _read_if_there(folder / OWN_VENUES)
        root = read_placement(folder).root(folder)
        partial = folder / "files" / "partial"
        is_here = isinstance(root, Path)
        self.files = (Files if is_here else StoredFiles)(root / "files", partial)
        logs = TableLogs(folder / "raw.db", write=write)
        # In a store, each check for commits of other runs costs requests.
        self.tables: Tables = Tables(root / "tables", partial, logs, is_steady=not is_here)
        with ExitStack() as opened:
            self.raw = opened.enter_context(closing(RawStore(folder / "raw.db", write=write)))
            self.budget_state = opened.enter_context(closing(BudgetState(folder / "raw.db"))) if write else None
            if write:
                self.files.clear_partial()
            self._open = opened.pop_all()

    def venues(self) -> list[str]:
        """Return every venue with received objects, or with rows in a table although its notes have moved elsewhere."""
        built = (venue_id for name in TABLES for venue_id in self.tables.venues(name))
        return sorted({*self.raw.venues(), *built})

    def with_drafts(self) -> tuple["Workspace", DraftTables]:
        """Return this workspace with tables that collect changes without committing them, and those tables."""
        drafts = DraftTables(self.tables.folder, self.tables.scratch)
        drafting = copy(self)
        drafting.tables = drafts
        return drafting, drafts

    def close(self) -> None:
        """Close the database."""
        self._open.close()


def _read_if_there(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WorkspaceError(f"'{path}' cannot be read: {error.strerror}.") from None


def _check_path(folder: Path) -> None:
    """Check that every package reads the path of a folder literally.

    Some encode it as UTF-8 whatever the locale; deltalake 1.6 reads `%20` as a space and a backslash as a slash, and
    would then read or write a different folder.
    """
    path = folder.resolve().as_posix()
    if sys.getfilesystemencoding() != "utf-8" and not path.isascii():
        raise WorkspaceError(
            f"'{folder}' cannot be a workspace here: its path is not plain ASCII, and the locale is not UTF-8; set"
            " PYTHONUTF8=1, or rename the folder."
        )
    misread = MISREAD.search(path)
    if misread is not None:
        raise WorkspaceError(
            f"'{folder}' cannot be a workspace: Delta Lake misreads {misread.group()!r} in its path; rename the folder."
        )


def _is_new_workspace(folder: Path, *, create: bool) -> bool:
    if folder.exists() and not folder.is_dir():
        raise WorkspaceError(f"'{folder}' is a file, not a workspace; name a folder.")
    if isinstance(read_placement(folder).root(folder), Path):
        _check_path(folder)
    if (folder / "raw.db").exists():
        if (folder / "raw.db").stat().st_size == 0 and any((folder / name).exists() for name in ("files", "tables")):
            raise DamagedError(
                f"'{folder / 'raw.db'}' is empty, although there are files or tables beside it; restore a backup, or"
                " harvest and import into a new workspace."
            )
        return False
    if (folder / "release.json").is_file():
        raise WorkspaceError(
            f"'{folder}' is a release, not a workspace; name its workspace, or read the release with 'peercorpus sql',"
            " 'report' or 'site', or in Python with `load_release`."
        )
    if not create:
        _refuse_folder(folder)
    if folder.is_dir() and {path.name for path in folder.iterdir()} - {LOCK, FILE, OWN_VENUES}:
        raise WorkspaceError(
            f"'{folder}' contains other files and no raw.db; name a new folder, or a workspace, with --workspace."
        )
    return True


def _refuse_folder(folder: Path) -> NoReturn:
    if not folder.exists():
        raise WorkspaceError(
            f"'{folder}' does not exist; name a workspace, or make one with 'peercorpus harvest' or 'import'."
        )
    inner = find_inner_folder(folder, "raw.db")
    if inner is not None:
        raise WorkspaceError(f"'{folder}' is not a workspace: it has no raw.db; did you mean '{inner}'?")
    raise WorkspaceError(
        f"'{folder}' is not a workspace: it has no raw.db; fill one with 'peercorpus harvest' or 'import'."
    )


def find_inner_folder(folder: Path, name: str) -> Path | None:
    """Return the only folder directly in a folder that has a file of this name; None if none or several do."""
    inner = sorted(path.parent for path in folder.glob(f"*/{name}")) if folder.is_dir() else []
    return inner[0] if len(inner) == 1 else None


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    try:
        make_private_folder(folder, parents=True)
        lock = FileLock(folder / LOCK, timeout=0, thread_local=False).acquire()
    except Timeout:
        raise WorkspaceLockedError(
            f"Another run is using the workspace '{folder}'; wait until it ends, or stop it, then try again."
        ) from None
    except OSError as error:
        raise WorkspaceError(f"The workspace '{folder}' cannot be written: {error.strerror}.") from None
    with lock:
        yield


@contextmanager
def open_workspace(folder: Path, *, create: bool = False, write: bool = True) -> Iterator[Workspace]:
    """Open a workspace.

    Args:
        folder: The workspace's folder.
        create: Create it if missing; it is removed again if nothing is stored, or the work fails before a note is
            stored, unless OpenReview asks to wait.
        write: Lock it, and migrate `raw.db` to the newest schema, keeping a copy. Readers need no lock, because they
            see the state either before or after a commit, and never migrate.

    Raises:
        WorkspaceError: The folder is not a workspace, or cannot be read or written; or its `raw.db` was written by a
            newer version of peercorpus.
        WorkspaceLockedError: Another run has locked it.
        StoreError: Its files and tables are not at the location in `place.json`.
        MissingExtraError: The package that reads and writes tables is not installed; or the tables are in a store, and
            the package that reads stores is not.
    """
    try:
        is_new = _is_new_workspace(folder, create=create)
        was_there = folder.exists()
    except OSError as error:
        raise WorkspaceError(f"The workspace '{folder}' cannot be read: {error.strerror}.") from None
    if write:
        _refuse_links(folder)
    with _lock(folder) if write else nullcontext():
        placement = read_placement(folder)
        require_ours(placement.root(folder), placement.mark)
        workspace = _open(folder, write=write)
        is_kept = not is_new
        try:
            yield workspace
            is_kept = is_kept or not workspace.raw.is_empty()
        finally:
            try:
                has_settings = any((folder / name).exists() for name in (FILE, OWN_VENUES))
                is_kept = is_kept or bool(workspace.raw.venues()) or has_settings or _must_wait(workspace)
            finally:
                workspace.close()
            if not is_kept:
                for path in folder.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                if not was_there:
                    folder.rmdir()


def read_held_venues(folder: Path) -> list[str]:
    """Return the venues of a workspace, whose short names can be used; empty if it does not exist or cannot be read."""
    if not (folder / "raw.db").is_file():
        return []
    try:
        with open_workspace(folder, write=False) as workspace:
            return workspace.venues()
    except PeercorpusError:
        return []  # Opening it for the work itself states what is wrong, or migrates it.


def _refuse_links(folder: Path) -> None:
    """Refuse a workspace with links, in which writing or deleting would affect other places."""
    for name in OWN:
        require_own(folder / name)
    for inner in (folder / "files").glob("*"):
        require_own(inner)
    require_own_folders(folder / "tables")


def _must_wait(workspace: Workspace) -> bool:
    """Return whether OpenReview refuses requests for now, which must be recorded for later runs."""
    windows = workspace.budget_state.windows().values() if workspace.budget_state else ()
    return any(window.remaining <= 0 and window.left_s(time.time()) > 0 for window in windows)


def _open(folder: Path, *, write: bool) -> Workspace:
    try:
        return Workspace(folder, write=write)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise translate_database_error(error, folder / "raw.db") from None


def translate_database_error(error: sqlite3.Error | UnicodeDecodeError, path: Path | str) -> WorkspaceError:
    """Return the error for the user for an SQLite error in a `raw.db`.

    Python cannot decode the message of an error that quotes a damaged name.
    """
    number = getattr(error, "sqlite_errorcode", None)
    is_damage = isinstance(error, UnicodeDecodeError) or (number is not None and number & 0xFF in DAMAGED)
    if is_damage or any(sign in str(error) for sign in ABOUT_DAMAGE):
        return DamagedError(f"'{path}' is damaged ({error}); run 'peercorpus check --repair' on the workspace.")
    return WorkspaceError(
        f"'{path}' cannot be read or written ({error}); check that it is a file that you have permission to read and"
        " write, and that its disk is not full."
    )


def repair_database(folder: Path) -> Recovery | None:
    """Make a new `raw.db` from the intact content of a damaged one; return None if it is not damaged.

    Raises:
        WorkspaceError: The folder is not a workspace, or cannot be written; or no content of its `raw.db` is intact.
        WorkspaceLockedError: Another run has locked it.
    """
    path = folder / "raw.db"
    if not path.is_file():
        return None
    _refuse_links(folder)
    with _lock(folder):
        return recover_database(path) if find_database_faults(path) else None


def find_workspace_around(folder: Path) -> Path | None:
    """Return the workspace that contains a folder, such as a dated release; None if there is none."""
    return next((parent for parent in folder.resolve().parents if (parent / "raw.db").is_file()), None)
