"""Record the location of a workspace's files and tables: its folder, or a store."""

import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import msgspec

from peercorpus.errors import PeercorpusError, StoreError, WorkspaceError
from peercorpus.workspace.object_store import Location, S3Path, locate, write_whole

FILE = "place.json"
MARK = "peercorpus-workspace"
"""Name of the object that identifies the workspace of the files and tables beside it."""

HERE = "."
PREFIX = re.compile(r"(?!\.\.?(/|$))[\w.-]+(/(?!\.\.?(/|$))[\w.-]+)*", re.ASCII)
"""Matches keys that all packages spell alike: other characters are quoted in URLs, by deltalake 1.6 even twice."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Location of files and tables.

    Attributes:
        at: `s3://BUCKET/PREFIX`, or "." for the workspace's own folder.
        other: Location of copies not in use, from an unfinished move; None if there are none.
        mark: Identifies this workspace.
    """

    at: str
    other: str | None
    mark: str

    def root(self, folder: Path) -> Location:
        """Return the location in use."""
        return parse_location(folder, self.at)


def parse_location(folder: Path, text: str) -> Location:
    """Return the location named by `at` or `other` of a placement."""
    return folder if text == HERE else locate(text)


def read_placement(folder: Path) -> Placement:
    """Read the location of a workspace's files and tables.

    Raises:
        WorkspaceError: `place.json` is damaged.
    """
    try:
        content = (folder / FILE).read_bytes()
    except FileNotFoundError:
        return Placement(HERE, None, uuid4().hex)
    try:
        placement = msgspec.json.decode(content, type=Placement)
        is_sound = all(
            location == HERE or isinstance(locate(location), S3Path)
            for location in (placement.at, placement.other or HERE)
        )
    except (msgspec.DecodeError, UnicodeDecodeError, PeercorpusError):
        is_sound = False
    if not is_sound:
        raise WorkspaceError(
            f"'{folder / FILE}', which records where the workspace's files and tables are, is damaged; restore a copy."
        )
    return placement


def write_placement(folder: Path, placement: Placement) -> None:
    """Write the placement, completely or not at all; a workspace entirely in its folder has no such file."""
    if replace(placement, mark="") == Placement(HERE, None, ""):
        (folder / FILE).unlink(missing_ok=True)
    else:
        write_whole(folder / FILE, msgspec.json.encode(placement) + b"\n")
    if sys.platform != "win32":  # Windows cannot open folders.
        opened = os.open(folder, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)


def is_ours(root: Location, mark: str) -> bool:
    """Return whether a location has the files and tables of this workspace.

    Raises:
        OSError: The store does not answer.
        MissingExtraError: The package that reads stores is not installed.
    """
    if isinstance(root, Path):
        return True
    try:
        return (root / MARK).read_bytes() == mark.encode()
    except FileNotFoundError:
        return False


def require_ours(root: Location, mark: str) -> None:
    """Check that a location has the files and tables of this workspace.

    Raises:
        StoreError: It does not.
        OSError: The store does not answer.
        MissingExtraError: The package that reads stores is not installed.
    """
    if not is_ours(root, mark):
        raise StoreError(
            f"'{root}' does not contain the files and tables of this workspace; check that AWS_ENDPOINT_URL names the"
            " store they were moved to, and that they were not deleted."
        )


def take(root: Location, mark: str) -> None:
    """Mark a location as this workspace's, if it is empty or already marked.

    Raises:
        StoreError: It contains something else, packages spell its name differently, or the store overwrites an object
            when it must not, so that commits would not be safe there.
        OSError: The store does not accept the mark.
    """
    if not isinstance(root, S3Path):
        return
    if root.key and not PREFIX.fullmatch(root.key):
        raise StoreError(f"Invalid prefix '{root}': use letters, digits, '.', '_', '-' and '/' only, and not '..'.")
    above = [S3Path(root.bucket, "/".join(root.key.split("/")[:steps])) for steps in range(root.key.count("/") + 1)]
    enclosing = next((prefix for prefix in above if root.key and (prefix / MARK).exists()), None)
    if enclosing is not None:
        raise StoreError(f"'{root}' is inside '{enclosing}', which belongs to a workspace; name a prefix outside it.")
    if not is_ours(root, mark) and next(root.walk(), None) is not None:
        raise StoreError(f"'{root}' already contains something else; name an empty prefix.")
    (root / MARK).create(mark.encode())
    if (root / MARK).create(mark.encode()):
        raise StoreError(f"The store of '{root}' does not protect an object from being overwritten; use another store.")
    require_ours(root, mark)
