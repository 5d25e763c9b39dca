"""Files of a workspace that only its owner may read, as they hold secrets or name people."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from peercorpus.errors import WorkspaceError

OWNER_ONLY = 0o600
"""Mode of a file that only its owner may read and write."""

FOLDER_OF_OWNER = 0o700
"""Mode of a folder that only its owner may open."""


def require_own(path: Path) -> None:
    """Check that a file or folder of ours, which may be missing, is no link: a workspace may come from somebody else.

    Raises:
        WorkspaceError: It is a link; what is written or deleted there would be elsewhere.
    """
    if path.is_symlink():
        raise WorkspaceError(
            f"'{path}' is a link, and what is written there would be elsewhere; put the file or folder itself in its"
            " place, or remove the link. To use another disk, mount it there, or move the whole workspace to it."
        )


def replace_file(path: Path, lines: Iterable[str]) -> None:
    """Write a text file atomically, one line for each text; a link in its place is replaced, not followed.

    Raises:
        OSError: It cannot be written; the file stays as it was.
    """
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def make_private_folder(folder: Path, *, parents: bool = False) -> None:
    """Create a folder that only its owner may open; one of ours that is there is closed to all others.

    A folder of somebody else's, who shares the workspace, keeps its mode.
    """
    folder.mkdir(mode=FOLDER_OF_OWNER, parents=parents, exist_ok=True)
    if folder.stat().st_uid == os.geteuid():
        with suppress(PermissionError):
            folder.chmod(FOLDER_OF_OWNER)


def create_private(database: Path) -> None:
    """Create a file for SQLite that only its owner may read; one that is there is closed to all others.

    SQLite gives the files beside it (`-wal`, `-shm`) the same mode when it makes them. A file of somebody else's, who
    shares the workspace, keeps its mode.
    """
    with suppress(FileExistsError):
        os.close(os.open(database, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    for path in (database, database.with_name(f"{database.name}-wal"), database.with_name(f"{database.name}-shm")):
        with suppress(FileNotFoundError, PermissionError):
            path.chmod(OWNER_ONLY)
