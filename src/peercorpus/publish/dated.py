"""Releases in `releases/` of a workspace, named by their day: each is written once and never changes.

A release is written beside its place and gets its name at the end, so that a name always stands for a whole one.
"""

import fcntl
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

from peercorpus.errors import PeercorpusError, WorkspaceError
from peercorpus.publish.release import MANIFEST
from peercorpus.publish.split_files import Asked, is_as_asked

RELEASES = "releases"
NAME = re.compile(r"(\d{4}-\d\d-\d\d)(?:-([1-9]\d*))?")
UNNAMED = ".new"
"""Where a release is written before it gets its name."""
LOCK = ".lock"
READ_ONLY = 0o444


@dataclass(slots=True)
class Place:
    """Where a release is written, and where it stands in the end.

    Attributes:
        final: Where it stands; the newest release where `is_same`.
        sides: Which it shall have, with the release that gives the earlier ones.
        standing: The release that it comes after, or takes the place of; None where there is none.
        is_same: Whether it is the newest release byte for byte, and was not kept again.
    """

    folder: Path
    final: Path
    sides: Asked | None
    standing: Path | None
    is_same: bool = False


def _order(name: str) -> tuple[str, int]:
    """By day, then by number; the first release of a day has none.

    >>> sorted(["2026-11-20-10", "2026-11-20-2", "2026-11-20"], key=_order)
    ['2026-11-20', '2026-11-20-2', '2026-11-20-10']
    """
    found = NAME.fullmatch(name)
    return ("", 0) if found is None else (found[1], int(found[2] or 1))


def dated_releases(workspace: Path) -> list[Path]:
    """The releases of a workspace, the newest first."""
    folder = workspace / RELEASES
    found = [path.parent.name for path in folder.glob(f"*/{MANIFEST}") if NAME.fullmatch(path.parent.name)]
    return [folder / name for name in sorted(found, key=_order, reverse=True)]


def _free_name(folder: Path, day: date) -> str:
    taken = {path.name for path in folder.iterdir()}
    number, name = 1, f"{day}"
    while name in taken:
        number += 1
        name = f"{day}-{number}"
    return name


def _check_not_dated(out: Path) -> None:
    """Make sure that a folder that may be replaced is not one of these releases, nor holds any."""
    places = [out.absolute(), *out.absolute().parents, out.resolve(), *out.resolve().parents]
    if any(place.name == RELEASES and (place.parent / "raw.db").exists() for place in places):
        raise PeercorpusError(f"'{out}' lies among releases that never change; leave out --out to add one there.")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(exist_ok=True)
        lock = (folder / LOCK).open("w")
    except OSError as error:
        raise WorkspaceError(f"No release can be written to '{folder}': {error.strerror}.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WorkspaceError(f"Another run is writing a release to '{folder}'; wait until it ends.") from None
        yield


def _with_earlier(sides: Asked | None, releases: list[Path]) -> Asked | None:
    """What is asked, with the newest release that has sides of the kind."""
    if sides is None:
        return None
    newest = next((release for release in releases if is_as_asked(sides, release)), None)
    return replace(sides, earlier=sides.earlier or newest, standing=newest)


def _protect(release: Path) -> None:
    for path in release.rglob("*"):
        if path.is_file():
            path.chmod(READ_ONLY)


@contextmanager
def placing(workspace: Path, out: Path | None, sides: Asked | None, day: date | None = None) -> Iterator[Place]:
    """Give a place to publish to; after the block the release stands where `final` says.

    Where nothing need be written, since `standing` is what it would be, say so by `is_same`.

    Args:
        workspace: Its folder.
        out: A folder that is replaced; None adds a release to those of the workspace.
        sides: Which it shall have; a release that is added keeps those that the newest one of the kind gave.
        day: Its name; None means today (UTC).

    Raises:
        PeercorpusError: `out` is one of the workspace's releases, or another run is adding one.
    """
    if out is not None:
        _check_not_dated(out)
        yield Place(out, out, sides, out)
        return
    folder = workspace / RELEASES
    with _alone(folder):
        releases, unnamed = dated_releases(workspace), folder / UNNAMED
        shutil.rmtree(unnamed, ignore_errors=True)
        newest = releases[0] if releases else None
        place = Place(unnamed, unnamed, _with_earlier(sides, releases), newest)
        try:
            yield place
            place.is_same = place.is_same or (newest is not None and _is_same(unnamed, newest))
            if newest is not None and place.is_same:
                place.final = newest
            else:
                place.final = folder / _free_name(folder, day or datetime.now(UTC).date())
                _protect(unnamed)
                unnamed.rename(place.final)
        finally:
            shutil.rmtree(unnamed, ignore_errors=True)


def _is_same(one: Path, other: Path) -> bool:
    """Whether two releases have the same sums of the same files."""
    return (one / MANIFEST).read_bytes() == (other / MANIFEST).read_bytes()
