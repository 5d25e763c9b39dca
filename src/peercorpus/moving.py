"""Files and tables of a workspace moved to a store, to another, or back; killed at any instant, it goes on.

Copies count only once they are all there and were compared with what was copied: then one line of `place.json` changes,
and what it named before is removed.
"""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from uuid import uuid4

from peercorpus.errors import StoreError, WorkspaceError
from peercorpus.per_file import in_batches
from peercorpus.placement import HERE, MARK, Placement, is_ours, place_of, read_placement, take, write_placement
from peercorpus.progress import Meter, Show
from peercorpus.store import Place, S3Path, list_below, locate
from peercorpus.tables import TABLES, Tables
from peercorpus.workspace import Workspace, open_workspace

PARTS = ("files", "tables")
PDF = ".pdf"
FIRST_COMMIT = f"/_delta_log/{0:020}.json"
OWN = re.compile(r"tables/.+|files/[0-9a-f]{2}/[0-9a-f]{64}\.pdf")
"""What is moved: whatever else lies in these folders stays."""

AT_ONCE = 16
"""Requests under way at a time."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move did.

    Attributes:
        place: Where files and tables lie now.
        files: How many PDFs lie there.
        size_bytes: Of files and tables.
        copied: How many files and parts of tables were copied in this run.
    """

    place: str
    files: int
    size_bytes: int
    copied: int


def move(folder: Path, to: str, show: Show) -> Moved:
    """Move the files and tables of a workspace; one that is not there yet is made.

    Args:
        folder: The workspace's folder.
        to: `s3://BUCKET/PREFIX`, or "." for the workspace's own folder.
        show: Told how far it is.

    Raises:
        WorkspaceError: It is not a workspace, or in use.
        StoreError: The place holds something else, or not what was sent.
        OSError: A file, or the store, cannot be read or written.
    """
    place = _named(folder, to)
    with open_workspace(folder, create=place != HERE) as workspace:
        return _Move(workspace, show).run(place)


def _own(root: Place) -> dict[str, int]:
    """What a place holds of a workspace: its bytes by its name below the place."""
    found: dict[str, int] = {}
    for part in PARTS:
        for place, size in list_below(root / part):
            name = str(place).removeprefix(str(root)).lstrip("/")
            if OWN.fullmatch(name):
                found[name] = size
    return found


def _named(folder: Path, text: str) -> str:
    """The place a user names, as `place.json` does.

    Raises:
        PeercorpusError: It is neither a store nor the workspace's own folder.
    """
    place = locate(text)
    if isinstance(place, S3Path):
        return str(place).rstrip("/")
    if place not in {Path(HERE), folder}:
        raise WorkspaceError(
            f"Files and tables cannot lie in '{text}'; name s3://BUCKET/PREFIX, or '.' for the workspace's own folder."
        )
    return HERE


class _Move:
    """One move; see `placement.Placement` for what it notes down at each step."""

    def __init__(self, workspace: Workspace, show: Show) -> None:
        self._folder, self._partial, self._show = workspace.folder, workspace.files.partial, show
        self._placement = read_placement(workspace.folder)

    def run(self, to: str) -> Moved:
        if self._placement.other not in {None, to}:
            self._clear_other()
        copied = 0 if to == self._placement.at else self._copy(to)
        if self._placement.other is not None:
            self._clear_other()
        held = _own(place_of(self._folder, to))
        return Moved(to, sum(name.startswith("files/") for name in held), sum(held.values()), copied)

    def _note(self, placement: Placement) -> None:
        write_placement(self._folder, placement)
        self._placement = placement

    def _copy(self, to: str) -> int:
        """Copy everything, compare it, and let the copies count; how many were copied in this run."""
        before = self._placement
        source, target = place_of(self._folder, before.at), place_of(self._folder, to)
        if any(str(one).startswith(f"{str(other).rstrip('/')}/") for one, other in permutations((source, target))):
            raise StoreError(f"'{target}' and '{source}', where files and tables lie now, are one within the other.")
        self._note(replace(before, other=to))
        try:
            take(target, before.mark)
        except BaseException:
            self._note(before)
            raise
        here, there = _own(source), _own(target)
        stale = [name for name in there if name not in here or "/_delta_log/" in name or _is_damaged(target / name)]
        self._each("clear", stale, lambda name: (target / name).unlink(missing_ok=True))
        left = sorted(here.keys() - {name for name in there.keys() - stale if there[name] == here.get(name)})
        self._each("copy", left, lambda name: _carry(source / name, target / name, self._partial / uuid4().hex))
        self._compare(here, source, target)
        self._note(replace(before, at=to, other=before.at))
        return len(left)

    def _compare(self, here: Mapping[str, int], source: Place, target: Place) -> None:
        """Pass if all that is here is there as well, and every table is read there as it is here.

        Raises:
            StoreError: It is not.
        """
        there = _own(target)
        wrong = next((name for name, size in here.items() if there.get(name) != size), None)
        of, by = (Tables(root / "tables", self._partial) for root in (source, target))
        wrong = wrong or next((f"tables/{name}" for name in TABLES if of.version(name) != by.version(name)), None)
        if wrong is not None:
            raise StoreError(f"'{target / wrong}' is not what was copied there; nothing was removed, try again.")

    def _clear_other(self) -> None:
        """Remove the copies that do not count; the mark, which says whose they are, at last."""
        assert self._placement.other is not None
        root = place_of(self._folder, self._placement.other)
        if is_ours(root, self._placement.mark):
            # Without its first commit a table cannot be read: better than with some of its rows.
            names = sorted(_own(root), key=lambda name: not name.endswith(FIRST_COMMIT))
            self._each("remove", names, lambda name: (root / name).unlink(missing_ok=True))
            if isinstance(root, S3Path):
                (root / MARK).unlink(missing_ok=True)
            else:
                _remove_empty(root)
        self._note(replace(self._placement, other=None))

    def _each(self, what: str, names: Sequence[str], do: Callable[[str], None]) -> None:
        meter = Meter(self._folder.name, what, self._show)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for batch in in_batches(iter(names), 4 * AT_ONCE):
                for _ in pool.map(do, batch):
                    meter.advance(total=len(names))


def _remove_empty(root: Path) -> None:
    for part in PARTS:
        for folder, _, _ in os.walk(root / part, topdown=False):
            with suppress(OSError):
                Path(folder).rmdir()


def _carry(source: Place, target: Place, partial: Path) -> None:
    """Copy one file, whole or not at all.

    Raises:
        StoreError: It is not what its name says.
        OSError: It cannot be read or written.
    """
    held = source if isinstance(source, Path) else _download(source, partial)
    try:
        if _is_damaged(held, target.name):
            raise StoreError(f"'{source}' is damaged; remove it, and 'peercorpus harvest' fetches it again.")
        if isinstance(target, S3Path):
            target.upload(held)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            held.rename(target)
    finally:
        partial.unlink(missing_ok=True)


def _download(source: S3Path, partial: Path) -> Path:
    partial.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("wb") as file:
        for chunk in source.chunks():
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return partial


def _is_damaged(place: Place, name: str | None = None) -> bool:
    """Whether a PDF on this machine is not what its name says; of what lies in a store, the store keeps sums."""
    name = name or place.name
    if not isinstance(place, Path) or not name.endswith(PDF):
        return False
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() != name.removesuffix(PDF)
