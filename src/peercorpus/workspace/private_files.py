"""Files of a workspace that only its owner may read, because they contain secrets or name people."""

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from uuid import uuid4

from peercorpus.errors import WorkspaceError

OWNER_ONLY = 0o600
"""Mode of a file that only its owner may read and write."""

FOLDER_OF_OWNER = 0o700
"""Mode of a folder that only its owner may open."""

PARTIAL = ".partial"
"""End of the name of an incomplete file."""

LEFT_AFTER_S = 3_600
"""Time without a change after which an incomplete file is one that a killed run left."""

_NAME_OF_PARTIAL = re.compile(rf"^\.(.+)\.[0-9a-f]{{8}}{re.escape(PARTIAL)}$", re.DOTALL)
_MAX_NAME_BYTES = 255


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


def name_partial(path: Path) -> Path:
    """Return a path beside a file that no other run uses, for its content while it is incomplete."""
    ending = f".{uuid4().hex[:8]}{PARTIAL}"
    beginning = path.name.encode()[: _MAX_NAME_BYTES - len(ending) - 1].decode(errors="ignore")
    return path.with_name(f".{beginning}{ending}")


def name_final(name: str) -> str:
    """Return the name of the file whose incomplete content is under a name, or the name itself.

    >>> name_final(".points.csv.0a1b2c3d.partial"), name_final("points.csv")
    ('points.csv', 'points.csv')
    """
    return _NAME_OF_PARTIAL.sub(r"\1", name)


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yield an empty file that takes the place of another at the end, or is removed after an error.

    Runs that write the same file do not see each other; what the last of them wrote remains. A link in its place is
    replaced, not followed. What killed runs left is removed.

    The umask is taken from `mode`.

    Raises:
        OSError: It cannot be written; the file is unchanged.
    """
    for left in path.parent.glob(f".{escape(path.name)}.????????{PARTIAL}"):
        with suppress(OSError):  # Another run may have removed it.
            if name_final(left.name) == path.name and time.time() - left.lstat().st_mtime > LEFT_AFTER_S:
                left.unlink()
    partial = name_partial(path)
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def replace_file(path: Path, lines: Iterable[str]) -> None:
    """Write a text file atomically, one line per text; a link in its place is replaced, not followed.

    Raises:
        OSError: It cannot be written; the file is unchanged.
    """
    with replacing(path, OWNER_ONLY) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())


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
