"""Files of a workspace that only its owner may read, because they contain secrets or name people."""

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
    """Check that one of our files or folders, if it exists, is not a link, since a workspace may be untrusted.

    Raises:
        WorkspaceError: It is a link, so writing or deleting would affect another place.
    """
    if path.is_symlink():
        raise WorkspaceError(
            f"'{path}' is a link, so writing to it would change another place; put the file or folder itself there,"
            " or remove the link. To use another disk, mount it there, or move the whole workspace to it."
        )


def require_own_folders(folder: Path) -> None:
    """Check that no folder inside one of ours is a link, however deep.

    Raises:
        WorkspaceError: One is a link.
    """
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            require_own(Path(parent, name))


def replace_file(path: Path, lines: Iterable[str]) -> None:
    """Write a text file atomically, one line per text; a link in its place is replaced, not followed.

    Raises:
        OSError: It cannot be written; the file is unchanged.
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
    """Create a folder that only its owner may open; an existing one of ours is closed to others.

    A folder of another user who shares the workspace keeps its mode.
    """
    folder.mkdir(mode=FOLDER_OF_OWNER, parents=parents, exist_ok=True)
    if folder.stat().st_uid == os.geteuid():
        with suppress(PermissionError):
            folder.chmod(FOLDER_OF_OWNER)


def create_private(database: Path) -> None:
    """Create a file for SQLite that only its owner may read; an existing one of ours is closed to others.

    SQLite creates the files beside it (`-wal`, `-shm`) with the same mode. A file of another user who shares the
    workspace keeps its mode.
    """
    with suppress(FileExistsError):
        os.close(os.open(database, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    for path in (database, database.with_name(f"{database.name}-wal"), database.with_name(f"{database.name}-shm")):
        with suppress(FileNotFoundError, PermissionError):
            path.chmod(OWNER_ONLY)
