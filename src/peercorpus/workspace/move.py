"""Move files and tables of a workspace to a store and back; an interrupted move can be continued."""

import os
import re
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from peercorpus.errors import StoreError, WorkspaceError
from peercorpus.execution.executor import in_batches
from peercorpus.execution.progress import Meter, Show
from peercorpus.workspace.object_store import (
    HERE,
    MARK,
    PART_BYTES,
    Location,
    Placement,
    S3Path,
    file_digest,
    is_ours,
    list_below,
    locate,
    parse_location,
    read_placement,
    require_ours,
    write_placement,
)
from peercorpus.workspace.workspace import Workspace, open_workspace

OWN = re.compile(r"tables/.+|files/[0-9a-f]{2}/[0-9a-f]{64}\.pdf")
"""Matches paths to move; everything else in these folders is left alone."""

PREFIX = re.compile(r"((?!\.\.?(/|$))[\w.-]+(/|$))*", re.ASCII)
"""Matches keys that all packages spell alike: other characters are quoted in URLs, by deltalake 1.6 even twice."""

AT_ONCE = 16
"""Maximum number of concurrent requests."""


@dataclass(frozen=True, slots=True)
class MoveResult:
    """Where files and tables are after a move, how many PDFs and bytes, and how many files were copied in this run."""

    place: str
    files: int
    size_bytes: int
    copied: int


def move_workspace(folder: Path, to: str, show: Show) -> MoveResult:
    """Move the files and tables of a workspace, which may be new, to `s3://BUCKET/PREFIX`, or "." for its own folder.

    Raises:
        WorkspaceError: The folder is not a workspace, or is in use; or `to` is neither a store nor its own folder.
        StoreError: The destination contains something else, or differs from what was sent.
        OSError: A file, or the store, cannot be read or written.
    """
    destination = locate(to)
    if isinstance(destination, Path) and destination not in {Path(HERE), folder}:
        raise WorkspaceError(
            f"Files and tables cannot be stored in '{to}'; name s3://BUCKET/PREFIX, or '.' for the workspace's own"
            " folder."
        )
    at = HERE if isinstance(destination, Path) else str(destination)
    with open_workspace(folder, create=at != HERE) as workspace:
        return _Move(workspace, show).run(at)


def _list_own(root: Location) -> dict[str, int]:
    """Return the sizes in bytes of a workspace's files at a location, by their names below it."""
    below = (entry for part in ("files", "tables") for entry in list_below(root / part))
    sizes = {"/".join(path.parts[len(root.parts) :]): size for path, size in below}
    return {name: size for name, size in sizes.items() if OWN.fullmatch(name)}


class _Move:
    """One move; `Placement` records its progress."""

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
        files = sum(name.startswith("files/") for name in sizes)
        return MoveResult(place=to, files=files, size_bytes=sum(sizes.values()), copied=copied)

    def _copy(self, to: str) -> int:
        """Copy everything, compare it, and switch to the copies; return the number of files copied in this run."""
        before = self._placement
        source, target = parse_location(self._folder, before.at), parse_location(self._folder, to)
        if f"{source}/".startswith(f"{target}/") or f"{target}/".startswith(f"{source}/"):
            raise StoreError(
                f"'{target}' and '{source}', where files and tables are now, must not be inside one another; name"
                " another prefix."
            )
        self._record(before.at, to)
        try:
            _take(target, before.mark)
        except BaseException:
            self._record(before.at, before.other)
            raise
        here, there = _list_own(source), _list_own(target)
        self._for_each("clear", sorted(there.keys() - here), lambda name: (target / name).unlink(missing_ok=True))
        # What is not named by its content, such as the log of a table, is copied again.
        left = sorted(
            name
            for name, size in here.items()
            if there.get(name) != size or "/_delta_log/" in name or _is_damaged(target / name)
        )
        self._for_each("copy", left, lambda name: _copy_file(source / name, target / name, self._partial / uuid4().hex))
        there = _list_own(target)
        wrong = next((name for name, size in here.items() if there.get(name) != size), None)
        if wrong is not None:
            raise StoreError(
                f"'{target / wrong}' differs from the file that was copied there; nothing was deleted: run the"
                " command again."
            )
        self._record(to, before.at)
        return len(left)

    def _clear_other(self) -> None:
        """Delete the copies not in use; the mark, which identifies their owner, comes last."""
        assert self._placement.other is not None
        root = parse_location(self._folder, self._placement.other)
        if is_ours(root, self._placement.mark):
            # Without its first commit a table cannot be read, which is better than reading only some of its rows.
            names = sorted(_list_own(root), key=lambda name: not name.endswith(f"/_delta_log/{0:020}.json"))
            self._for_each("remove", names, lambda name: (root / name).unlink(missing_ok=True))
            if isinstance(root, S3Path):
                (root / MARK).unlink(missing_ok=True)
            else:
                for folder in sorted((*root.glob("files/**/"), *root.glob("tables/**/")), reverse=True):
                    with suppress(OSError):  # It contains something else.
                        folder.rmdir()
        self._record(self._placement.at, None)

    def _record(self, at: str, other: str | None) -> None:
        self._placement = Placement(at, other, self._placement.mark)
        write_placement(self._folder, self._placement)

    def _for_each(self, what: str, names: Sequence[str], do: Callable[[str], None]) -> None:
        meter = Meter(self._folder.name, what, self._show)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for batch in in_batches(iter(names), 4 * AT_ONCE):
                for _ in pool.map(do, batch):
                    meter.advance(total=len(names))


def _take(root: Location, mark: str) -> None:
    """Mark a prefix as this workspace's, if it is empty or already marked, and the store keeps commits safe."""
    if not isinstance(root, S3Path):
        return
    if not PREFIX.fullmatch(root.key):
        raise StoreError(f"Invalid prefix '{root}': use letters, digits, '.', '_', '-' and '/' only, and not '..'.")
    above = (S3Path(*root.parts[:steps]) for steps in range(1, len(root.parts)))
    enclosing = next((prefix for prefix in above if (prefix / MARK).exists()), None)
    if enclosing is not None:
        raise StoreError(f"'{root}' is inside '{enclosing}', which belongs to a workspace; name a prefix outside it.")
    if not is_ours(root, mark) and next(root.walk(), None) is not None:
        raise StoreError(f"'{root}' already contains something else; name an empty prefix.")
    (root / MARK).write_bytes(mark.encode(), replaces=False)
    if (root / MARK).write_bytes(mark.encode(), replaces=False):
        raise StoreError(f"The store of '{root}' does not protect an object from being overwritten; use another store.")
    require_ours(root, mark)


def _copy_file(source: Location, target: Location, partial: Path) -> None:
    """Copy one file, completely or not at all; a PDF must match its name."""
    local_copy = source if isinstance(source, Path) else partial
    try:
        if isinstance(source, S3Path):
            partial.parent.mkdir(parents=True, exist_ok=True)
            with source.open() as content, partial.open("wb") as file:
                shutil.copyfileobj(content, file, PART_BYTES)
                file.flush()
                os.fsync(file.fileno())
        if target.suffix == ".pdf" and file_digest(local_copy) != target.stem:
            raise StoreError(f"'{source}' is damaged; remove it; 'peercorpus harvest' will fetch it again.")
        if isinstance(target, S3Path):
            target.write_bytes(local_copy)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            local_copy.rename(target)
    finally:
        partial.unlink(missing_ok=True)


def _is_damaged(location: Location) -> bool:
    """Return whether a local PDF does not match its name; for objects in a store, the store keeps checksums."""
    return isinstance(location, Path) and location.suffix == ".pdf" and file_digest(location) != location.stem
