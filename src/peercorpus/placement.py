"""Where the files and tables of a workspace lie: in its own folder, or in an S3-like store that `place.json` names.

A store holds them for one workspace, which is known by the mark that lies beside them and in `place.json`. No key is
ever written: who may read and write comes from the environment alone.
"""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import msgspec

from peercorpus.errors import PeercorpusError, StoreError, WorkspaceError
from peercorpus.store import Place, S3Path, locate, write_whole

FILE = "place.json"
MARK = "peercorpus-workspace"
"""The object that says whose files and tables lie beside it."""

HERE = "."
PREFIX = re.compile(r"(?!\.\.?(/|$))[\w.-]+(/(?!\.\.?(/|$))[\w.-]+)*", re.ASCII)
"""Keys that every package here names alike: what else a URL would quote, deltalake 1.6 quotes twice."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where files and tables lie.

    Attributes:
        at: `s3://BUCKET/PREFIX`, or "." for the workspace's own folder.
        other: Where copies lie that do not count, of a move that has not come to its end; None: there are none.
        mark: Tells this workspace from every other.
    """

    at: str
    other: str | None
    mark: str

    def root(self, folder: Path) -> Place:
        """The place that counts."""
        return place_of(folder, self.at)


def place_of(folder: Path, text: str) -> Place:
    """What `at` or `other` of a workspace's placement names."""
    return folder if text == HERE else locate(text)


def read_placement(folder: Path) -> Placement:
    """Where a workspace's files and tables lie.

    Raises:
        WorkspaceError: `place.json` is damaged.
    """
    try:
        content = (folder / FILE).read_bytes()
    except FileNotFoundError:
        return Placement(HERE, None, uuid4().hex)
    try:
        found = msgspec.json.decode(content, type=Placement)
        is_sound = all(place == HERE or isinstance(locate(place), S3Path) for place in (found.at, found.other or HERE))
    except (msgspec.DecodeError, UnicodeDecodeError, PeercorpusError):
        is_sound = False
    if not is_sound:
        raise WorkspaceError(
            f"'{folder / FILE}', which says where the workspace's files and tables lie, is damaged; put back a copy."
        )
    return found


def write_placement(folder: Path, placement: Placement) -> None:
    """Write down where they lie, at once or not at all; nothing is written down of a workspace that is all here."""
    if replace(placement, mark="") == Placement(HERE, None, ""):
        (folder / FILE).unlink(missing_ok=True)
    else:
        write_whole(folder / FILE, msgspec.json.encode(placement) + b"\n")
    opened = os.open(folder, os.O_RDONLY)
    os.fsync(opened)
    os.close(opened)


def is_ours(root: Place, mark: str) -> bool:
    """Whether what lies at a place is this workspace's.

    Raises:
        OSError: The store does not tell.
        MissingExtraError: What reads stores is not installed.
    """
    if isinstance(root, Path):
        return True
    try:
        return (root / MARK).read_bytes() == mark.encode()
    except FileNotFoundError:
        return False


def require_ours(root: Place, mark: str) -> None:
    """Pass if a place holds the files and tables of this workspace.

    Raises:
        StoreError: It does not.
        OSError: The store does not tell.
        MissingExtraError: What reads stores is not installed.
    """
    if not is_ours(root, mark):
        raise StoreError(
            f"'{root}' does not hold the files and tables of this workspace; see that AWS_ENDPOINT_URL names the store"
            " they were moved to, and that nobody removed them."
        )


def take(root: Place, mark: str) -> None:
    """Make a place this workspace's, if it is empty or its own already.

    Raises:
        StoreError: It holds something else, its name is none that every package reads alike, or the store writes an
            object over another where it must not, so that commits would not be safe there.
        OSError: The store does not take it.
    """
    if not isinstance(root, S3Path):
        return
    if root.key and not PREFIX.fullmatch(root.key):
        raise StoreError(
            f"'{root}' has signs that URLs quote, or '..'; name a prefix of letters, digits, '.', '_', '-' and '/'."
        )
    above = [S3Path(root.bucket, "/".join(root.key.split("/")[:steps])) for steps in range(root.key.count("/") + 1)]
    taken = next((place for place in above if root.key and (place / MARK).exists()), None)
    if taken is not None:
        raise StoreError(f"'{root}' lies within '{taken}', where a workspace lies; name a prefix beside it.")
    if not is_ours(root, mark) and next(root.walk(), None) is not None:
        raise StoreError(f"'{root}' holds something else already; name a prefix of which nothing is there yet.")
    (root / MARK).create(mark.encode())
    if (root / MARK).create(mark.encode()):
        raise StoreError(f"The store of '{root}' does not keep an object from being written over; use another.")
    require_ours(root, mark)
