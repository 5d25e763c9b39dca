"""The one folder a user has on disk: `raw.db`, `files/` and `tables/`; copy it and you have copied everything.

Files and tables may lie in a store instead; see `placement`. What is said here of `files/` and `tables/` holds there.

In `texts/` beside them lies what PDF engines have read, kept to save time; see `texts.cache`. In `releases/` lie the
dated releases; see `publish.dated`. In `explorer/` lies the explorer's index; see `explorer.search_index`.
"""

import fcntl
import hashlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

from peercorpus.errors import WorkspaceError, WorkspaceLockedError
from peercorpus.ledger import BudgetLedger
from peercorpus.placement import FILE, read_placement, require_ours
from peercorpus.raw import RawStore
from peercorpus.store import Place, S3Path
from peercorpus.tables import TABLES, StoredTables, Tables

LOCK = "workspace.lock"


class Files:
    """Every file, named by its sha256: `files/ab/ab12….pdf`."""

    def __init__(self, folder: Place, partial: Path) -> None:
        """Take where they lie, and a folder of this machine for what is not whole yet."""
        self.folder, self.partial = folder, partial

    def clear_partial(self) -> None:
        """Remove what a run that was killed had not written to its end."""
        shutil.rmtree(self.partial, ignore_errors=True)

    @contextmanager
    def scratch(self) -> Iterator[IO[bytes]]:
        """A file of this machine to write and read again, gone in the end."""
        self.partial.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=self.partial) as scratch:
            yield scratch

    def path(self, sha256: str) -> Place:
        """Where a file lies, whether or not it is there."""
        return self.folder / sha256[:2] / f"{sha256}.pdf"

    def has(self, sha256: str) -> bool:
        """Whether a file is there."""
        return self.path(sha256).is_file()

    def add(self, content: bytes) -> str:
        """Store a file, whole or not at all, and give its sha256."""
        sha256 = hashlib.sha256(content).hexdigest()
        if not self.has(sha256):
            self._write(self.path(sha256), content)
        return sha256

    def _write(self, place: Place, content: bytes) -> None:
        assert isinstance(place, Path)
        place.parent.mkdir(parents=True, exist_ok=True)
        self.partial.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.partial, delete=False) as partial:
            partial.write(content)
            partial.flush()
            os.fsync(partial.fileno())
        Path(partial.name).rename(place)

    def read(self, sha256: str) -> bytes:
        """The bytes of a file that is there."""
        return self.path(sha256).read_bytes()


class StoredFiles(Files):
    """Every file, in a store; those whose names begin alike are listed once: few requests tell what is there."""

    def __init__(self, folder: Place, partial: Path) -> None:
        """Take where they lie, and a folder of this machine for what is not whole yet."""
        super().__init__(folder, partial)
        self._listed: dict[str, set[str]] = {}

    def has(self, sha256: str) -> bool:
        """Whether a file is there; nobody else adds any while this workspace is open."""
        shelf = self.path(sha256).parent
        if shelf.name not in self._listed:
            assert isinstance(shelf, S3Path)
            self._listed[shelf.name] = {found.stem for found in shelf.walk()}
        return sha256 in self._listed[shelf.name]

    def _write(self, place: Place, content: bytes) -> None:
        place.write_bytes(content)
        self._listed[place.parent.name].add(place.stem)


class Workspace:
    """An open workspace: what arrived, the files, and the tables made of them."""

    def __init__(self, folder: Path, *, write: bool = True) -> None:
        self.folder = folder
        self.raw = RawStore(folder / "raw.db", write=write)
        root, partial = read_placement(folder).root(folder), folder / "files" / "partial"
        is_here = isinstance(root, Path)
        self.files = (Files if is_here else StoredFiles)(root / "files", partial)
        self.ledger = BudgetLedger(folder / "raw.db") if write else None
        if write:
            self.files.clear_partial()
        self.tables = (Tables if is_here else StoredTables)(root / "tables", partial)

    def venues(self) -> list[str]:
        """Every venue of which anything is held: received, or in a table though its notes now lie in another venue."""
        built = (venue_id for name in TABLES for venue_id in self.tables.venues(name))
        return sorted({*self.raw.venues(), *built})

    def close(self) -> None:
        """Close the database."""
        self.raw.close()
        if self.ledger is not None:
            self.ledger.close()


def _checked(folder: Path, *, create: bool) -> bool:
    """Whether the folder is a new workspace."""
    if folder.exists() and not folder.is_dir():
        raise WorkspaceError(f"'{folder}' is a file, not a workspace; name a folder.")
    if (folder / "raw.db").exists():
        return False
    if not create:
        raise WorkspaceError(
            f"'{folder}' is not a workspace: it holds no raw.db; fill one with 'peercorpus harvest' or 'import'."
        )
    if folder.is_dir() and {path.name for path in folder.iterdir()} - {LOCK, FILE}:
        raise WorkspaceError(
            f"'{folder}' holds other files and no raw.db; name a new folder, or a workspace, with --workspace."
        )
    return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("w")
    except OSError as error:
        raise WorkspaceError(f"The workspace '{folder}' cannot be written: {error.strerror}.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WorkspaceLockedError(
                f"Another run is using the workspace '{folder}'; wait until it ends, or stop it, then try again."
            ) from None
        yield


@contextmanager
def open_workspace(folder: Path, *, create: bool = False, write: bool = True) -> Iterator[Workspace]:
    """Open a workspace.

    Args:
        folder: The workspace's folder.
        create: Make it where it is not there; if then nothing is stored in it, or the work fails before a note is, it
            is not left behind.
        write: Hold it alone. Readers need no lock: a commit shows them the old state or the new.

    Raises:
        WorkspaceError: It is a file, not a workspace, or cannot be read or written.
        WorkspaceLockedError: Another run holds it.
        StoreError: Its files and tables are not where it says they are.
        MissingExtraError: They lie in a store, and what reads that is not installed.
    """
    try:
        is_new, was_there = _checked(folder, create=create), folder.exists()
    except OSError as error:
        raise WorkspaceError(f"The workspace '{folder}' cannot be read: {error.strerror}.") from None
    with _locked(folder) if write else nullcontext():
        placement = read_placement(folder)
        require_ours(placement.root(folder), placement.mark)
        workspace = _opened(folder, write=write)
        is_kept = not is_new
        try:
            yield workspace
            is_kept = is_kept or not workspace.raw.is_empty()
        finally:
            is_kept = is_kept or bool(workspace.raw.venues()) or (folder / FILE).exists()
            workspace.close()
            if not is_kept:
                _clear(folder)
                if not was_there:
                    folder.rmdir()


def _opened(folder: Path, *, write: bool) -> Workspace:
    try:
        return Workspace(folder, write=write)
    except sqlite3.DatabaseError as error:
        raise WorkspaceError(
            f"'{folder / 'raw.db'}' cannot be opened: {error}; see that it is a workspace's own, that you may read and"
            " write it, and that its disk has room."
        ) from None


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
