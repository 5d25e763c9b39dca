"""Record the places of a workspace's releases: folders outside it, and revisions on the Hub.

`published.jsonl` in the workspace has one place per line. Records taken down later are still in earlier releases, which
`find_holders` names.
"""

import logging
import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from peercorpus.corpus.takedown import Takedown
from peercorpus.errors import PeercorpusError
from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH
from peercorpus.release.folder import MANIFEST, Release, open_release
from peercorpus.release.verify.leaks import texts_in
from peercorpus.workspace.private_files import replace_file
from peercorpus.workspace.workspace import Workspace

RELEASES = "releases"
"""Folder of a workspace with its dated releases."""
_RELEASE_NAME = re.compile(r"(\d{4}-\d\d-\d\d)(?:-([1-9]\d*))?")
PUBLISHED = "published.jsonl"
logger = logging.getLogger(__name__)


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place of a release.

    Attributes:
        where: Its folder, or the URL of its commit on the Hub.
        sha256: The digest that identifies the release.
        hub_id: Id of the dataset on the Hub; None for a folder.
    """

    where: str
    sha256: str
    hub_id: str | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """A release that contains, or may contain, taken-down records.

    Attributes:
        rows: Number of its rows that do; None if that is unknown.
    """

    place: Place
    rows: int | None


def _parse_order(name: str) -> tuple[str, int]:
    """Return a sort key: by day, then by number; the first release of a day has no number.

    >>> sorted(["2026-11-20-10", "2026-11-20-2", "2026-11-20"], key=_parse_order)
    ['2026-11-20', '2026-11-20-2', '2026-11-20-10']
    """
    match = _RELEASE_NAME.fullmatch(name)
    return ("", 0) if match is None else (match[1], int(match[2] or 1))


def dated_releases(workspace: Path) -> list[Path]:
    """Return the dated releases of a workspace, newest first."""
    folder = workspace / RELEASES
    names = [path.parent.name for path in folder.glob(f"*/{MANIFEST}") if _RELEASE_NAME.fullmatch(path.parent.name)]
    return [folder / name for name in sorted(names, key=_parse_order, reverse=True)]


def read_places(workspace: Path) -> list[Place]:
    """Return the places where releases were written or uploaded, except dated ones; for a folder, the last release.

    Raises:
        PeercorpusError: The file cannot be read.
    """
    path = workspace / PUBLISHED
    try:
        lines = path.read_bytes().splitlines()
        return [msgspec.json.decode(line, type=Place) for line in lines if line.strip()]
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeercorpusError(f"'{path}' cannot be read ({error}); correct or remove the line, or the file.") from None


def remember_folder(workspace: Path, folder: Path) -> None:
    """Record a release that was written to a folder; nothing is recorded if the workspace cannot be written."""
    if folder.resolve().parent != (workspace / RELEASES).resolve():
        _remember(workspace, Place(str(folder.resolve()), open_release(folder, is_whole=False).sha256))


def remember_upload(workspace: Path, release: Release, hub_id: str, commit: str) -> None:
    """Record a release that was uploaded to the Hub."""
    _remember(workspace, Place(commit, release.sha256, hub_id))


def _remember(workspace: Path, place: Place) -> None:
    places = [one for one in read_places(workspace) if one.where != place.where]
    lines = [msgspec.json.encode(one).decode() for one in (*places, place)]
    try:
        replace_file(workspace / PUBLISHED, lines)
    except OSError as error:
        logger.warning("'%s' could not be recorded in '%s': %s.", place.where, workspace / PUBLISHED, error.strerror)


def find_folders(workspace: Path) -> list[Path]:
    """Return the releases of a workspace still on this machine: dated ones, then those in other folders."""
    others = [Path(place.where) for place in reversed(read_places(workspace)) if place.hub_id is None]
    return [*dated_releases(workspace), *(folder for folder in others if (folder / MANIFEST).is_file())]


def find_holders(workspace: Workspace, takedown: Takedown) -> list[Holder]:
    """Return the releases that contain taken-down records, and those for which that is unknown.

    Raises:
        PeercorpusError: `published.jsonl` cannot be read.
    """
    folders = [_look_into(folder, takedown) for folder in find_folders(workspace.folder)]
    rows_by_digest = {holder.place.sha256: holder.rows for holder in folders}
    uploads = [
        Holder(place, rows_by_digest.get(place.sha256))
        for place in read_places(workspace.folder)
        if place.hub_id is not None
    ]
    return [holder for holder in (*folders, *uploads) if holder.rows != 0]


def _look_into(folder: Path, takedown: Takedown) -> Holder:
    """Count the rows of a release with taken-down records."""
    try:
        release = open_release(folder)
        return Holder(Place(str(folder), release.sha256), count_taken_rows(release, takedown))
    except PeercorpusError:
        return Holder(Place(str(folder), ""), None)


def count_taken_rows(release: Release, takedown: Takedown) -> int | None:
    """Return the number of rows, of all configurations, with the id of a taken-down record or the digest of its file.

    None means that it is unknown: in the layout `reviewbench`, reviews lack ids.
    """
    gone = takedown.named
    rows = sum(any(text in gone for _, text in texts_in(row)) for row in release.id_rows()) if gone else 0
    is_unknown = not rows and bool(takedown.posts) and bool(release.shards(DEFAULT_OF_REVIEWBENCH))
    return None if is_unknown else rows
