"""Move files and tables of a workspace to a store and back; an interrupted move can be continued."""

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
from peercorpus.execution.executor import in_batches
from peercorpus.execution.progress import Meter, Show
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.object_store import Location, S3Path, list_below, locate
from peercorpus.workspace.placement import (
    HERE,
    MARK,
    Placement,
    is_ours,
    parse_location,
    read_placement,
    take,
    write_placement,
)
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace, open_workspace

PARTS = ("files", "tables")
PDF = ".pdf"
FIRST_COMMIT = f"/_delta_log/{0:020}.json"
OWN = re.compile(r"tables/.+|files/[0-9a-f]{2}/[0-9a-f]{64}\.pdf")
"""Matches paths to move; everything else in these folders is left alone."""

AT_ONCE = 16
"""Maximum number of concurrent requests."""


@dataclass(frozen=True, slots=True)
class MoveResult:
    """Result of a move.

    Attributes:
        place: Where files and tables are now.
        files: Number of PDFs there.
        size_bytes: Size of files and tables.
        copied: Number of files and parts of tables copied in this run.
    """

    place: str
    files: int
    size_bytes: int
    copied: int


def move_workspace(folder: Path, to: str, show: Show) -> MoveResult:
    """Move the files and tables of a workspace; a workspace that does not exist yet is created.

    Args:
        folder: The workspace's folder.
        to: `s3://BUCKET/PREFIX`, or "." for the workspace's own folder.
        show: Receives the progress.

    Raises:
        WorkspaceError: The folder is not a workspace, or is in use.
        StoreError: The destination contains something else, or differs from what was sent.
        OSError: A file, or the store, cannot be read or written.
    """
    destination = _parse_destination(folder, to)
    with open_workspace(folder, create=destination != HERE) as workspace:
        return _Move(workspace, show).run(destination)


def _list_own(root: Location) -> dict[str, int]:
    """Return the sizes in bytes of a workspace's files at a location, by their names below it."""
    sizes: dict[str, int] = {}
    for part in PARTS:
        for path, size in list_below(root / part):
            name = str(path).removeprefix(str(root)).lstrip("/")
            if OWN.fullmatch(name):
                sizes[name] = size
    return sizes


def _parse_destination(folder: Path, text: str) -> str:
    """Return the destination in the spelling of `place.json`.

    Raises:
        PeercorpusError: It is neither a store nor the workspace's own folder.
    """
    location = locate(text)
    if isinstance(location, S3Path):
        return str(location).rstrip("/")
    if location not in {Path(HERE), folder}:
        raise WorkspaceError(
            f"Files and tables cannot be stored in '{text}'; name s3://BUCKET/PREFIX, or '.' for the workspace's own"
            " folder."
        )
    return HERE


class _Move:
    """One move; `placement.Placement` records its progress."""

    def __init__(self, workspace: Workspace, show: Show) -> None:
        self._folder = workspace.folder
        self._partial = workspace.files.partial
        self._show = show
        self._placement = read_placement(workspace.folder)

    def run(self, to: str) -> MoveResult:
        if self._placement.other not in {None, to}:
            self._clear_other()
        copied = 0 if to == self._placement.at else self._copy(to)
        if self._placement.other is not None:
            self._clear_other()
        sizes = _list_own(parse_location(self._folder, to))
        return MoveResult(
            place=to,
            files=sum(name.startswith("files/") for name in sizes),
            size_bytes=sum(sizes.values()),
            copied=copied,
        )

    def _record(self, placement: Placement) -> None:
        write_placement(self._folder, placement)
        self._placement = placement

    def _copy(self, to: str) -> int:
        """Copy everything, compare it, and switch to the copies; return the number of files copied in this run."""
        before = self._placement
        source, target = parse_location(self._folder, before.at), parse_location(self._folder, to)
        if any(str(inner).startswith(f"{str(outer).rstrip('/')}/") for inner, outer in permutations((source, target))):
            raise StoreError(
                f"'{target}' and '{source}', where files and tables are now, must not be inside one another; name"
                " another prefix."
            )
        self._record(replace(before, other=to))
        try:
            take(target, before.mark)
        except BaseException:
            self._record(before)
            raise
        here, there = _list_own(source), _list_own(target)
        stale = [name for name in there if name not in here or "/_delta_log/" in name or _is_damaged(target / name)]
        self._for_each("clear", stale, lambda name: (target / name).unlink(missing_ok=True))
        left = sorted(here.keys() - {name for name in there.keys() - stale if there[name] == here.get(name)})
        self._for_each("copy", left, lambda name: _copy_file(source / name, target / name, self._partial / uuid4().hex))
        self._compare(here, source, target)
        self._record(replace(before, at=to, other=before.at))
        return len(left)

    def _compare(self, here: Mapping[str, int], source: Location, target: Location) -> None:
        """Check that all files of the source are at the target, and that every table there has the same version.

        Raises:
            StoreError: Something differs.
        """
        there = _list_own(target)
        wrong = next((name for name, size in here.items() if there.get(name) != size), None)
        of, by = (Tables(root / "tables", self._partial) for root in (source, target))
        wrong = wrong or next((f"tables/{name}" for name in TABLES if of.version(name) != by.version(name)), None)
        if wrong is not None:
            raise StoreError(
                f"'{target / wrong}' differs from the file that was copied there; nothing was deleted: run the"
                " command again."
            )

    def _clear_other(self) -> None:
        """Delete the copies not in use; the mark, which identifies their owner, comes last."""
        assert self._placement.other is not None
        root = parse_location(self._folder, self._placement.other)
        if is_ours(root, self._placement.mark):
            # Without its first commit a table cannot be read, which is better than reading only some of its rows.
            names = sorted(_list_own(root), key=lambda name: not name.endswith(FIRST_COMMIT))
            self._for_each("remove", names, lambda name: (root / name).unlink(missing_ok=True))
            if isinstance(root, S3Path):
                (root / MARK).unlink(missing_ok=True)
            else:
                _remove_empty(root)
        self._record(replace(self._placement, other=None))

    def _for_each(self, what: str, names: Sequence[str], do: Callable[[str], None]) -> None:
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


def _copy_file(source: Location, target: Location, partial: Path) -> None:
    """Copy one file, completely or not at all.

    Raises:
        StoreError: Its content does not match its name.
        OSError: It cannot be read or written.
    """
    local_copy = source if isinstance(source, Path) else _download(source, partial)
    try:
        if _is_damaged(local_copy, target.name):
            raise StoreError(f"'{source}' is damaged; remove it; 'peercorpus harvest' will fetch it again.")
        if isinstance(target, S3Path):
            target.upload(local_copy)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            local_copy.rename(target)
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


def _is_damaged(location: Location, name: str | None = None) -> bool:
    """Return whether a local PDF does not match its name; for objects in a store, the store keeps checksums."""
    name = name or location.name
    if not isinstance(location, Path) or not name.endswith(PDF):
        return False
    with location.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() != name.removesuffix(PDF)
