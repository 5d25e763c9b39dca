"""Keep dated releases in a workspace: `releases/2026-11-20`, read-only and never changed.

`publish` without `--out` adds one here, unless it would equal the newest one.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from peercorpus.errors import PeercorpusError, WorkspaceError
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.release.by_model.annotator import Annotator
from peercorpus.release.by_model.turn_titles import Titler
from peercorpus.release.counts import PublishSummary
from peercorpus.release.folder import MANIFEST, open_release
from peercorpus.release.provenance import find_moved, read_inputs
from peercorpus.release.publish import choose_venues, publish_release
from peercorpus.release.published import RELEASES, dated_releases, remember_folder
from peercorpus.release.request import ReleaseRequest, SplitRequest
from peercorpus.release.split_file import is_as_asked
from peercorpus.release.verify.files import check_sums
from peercorpus.workspace.private_files import require_own
from peercorpus.workspace.workspace import Workspace

_UNFINISHED = ".new"
"""Folder in which a release is written before it gets its name."""
LOCK = ".lock"
_READ_ONLY_MODE = 0o444


@dataclass(slots=True)
class ReleaseTarget:
    """The folder where a release is written, and its final folder.

    Attributes:
        final: The final folder; the newest release if `is_same`.
        standing: The release before this one, or the one it replaces; None if there is none.
        with_splits: The newest of the workspace's releases with splits of the requested kind; None if there is none.
        is_same: Whether it equals the newest release byte for byte, so that it was not stored again.
    """

    folder: Path
    final: Path
    standing: Path | None
    with_splits: Path | None = None
    is_same: bool = False


def _pick_free_name(folder: Path, day: date) -> str:
    taken_names = {path.name for path in folder.iterdir()}
    number = 1
    name = f"{day}"
    while name in taken_names:
        number += 1
        name = f"{day}-{number}"
    return name


def _check_not_dated(out: Path) -> None:
    """Check that a folder to be replaced is neither the dated releases nor inside them."""
    places = [out.absolute(), *out.absolute().parents, out.resolve(), *out.resolve().parents]
    if any(path.name == RELEASES and (path.parent / "raw.db").exists() for path in places):
        raise PeercorpusError(
            f"'{out}' is among the dated releases, which never change; leave out --out to add one there."
        )


@contextmanager
def _lock_releases(folder: Path) -> Iterator[None]:
    for path in (folder, folder / LOCK, folder / _UNFINISHED):
        require_own(path)
    try:
        folder.mkdir(exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0, thread_local=False).acquire()
    except Timeout:
        raise WorkspaceError(f"Another run is writing a release to '{folder}'; wait until it ends.") from None
    except OSError as error:
        raise WorkspaceError(f"No release can be written to '{folder}': {error.strerror}.") from None
    with lock:
        yield


@contextmanager
def open_target(
    workspace: Path, out: Path | None, splits: SplitRequest | None, day: date | None = None
) -> Iterator[ReleaseTarget]:
    """Yield a target to publish to; after the block the release is in `final`, and the workspace remembers its folder.

    Set `is_same` if nothing needs to be written because the result would equal `standing`.

    Args:
        workspace: Its folder.
        out: A folder that is replaced; None adds a release to those of the workspace.
        splits: The requested splits; None for none.
        day: The day that names the release; None means today (UTC).

    Raises:
        PeercorpusError: `out` is one of the workspace's releases, or another run is adding one.
    """
    if out is not None:
        _check_not_dated(out)
        yield ReleaseTarget(folder=out, final=out, standing=out)
        remember_folder(workspace, out)
        return
    folder = workspace / RELEASES
    with _lock_releases(folder):
        releases = dated_releases(workspace)
        unnamed = folder / _UNFINISHED
        shutil.rmtree(unnamed, ignore_errors=True)
        newest = releases[0] if releases else None
        with_splits = None if splits is None else next((one for one in releases if is_as_asked(splits, one)), None)
        target = ReleaseTarget(folder=unnamed, final=unnamed, standing=newest, with_splits=with_splits)
        try:
            yield target
            # Equal manifests name the same files with the same digests.
            target.is_same = target.is_same or (
                newest is not None and (unnamed / MANIFEST).read_bytes() == (newest / MANIFEST).read_bytes()
            )
            if newest is not None and target.is_same:
                target.final = newest
            else:
                target.final = folder / _pick_free_name(folder, day or datetime.now(UTC).date())
                for path in unnamed.rglob("*"):
                    if path.is_file():
                        path.chmod(_READ_ONLY_MODE)
                unnamed.rename(target.final)
        finally:
            shutil.rmtree(unnamed, ignore_errors=True)


def is_up_to_date(
    release: Path | None, workspace: Workspace, request: ReleaseRequest, venue_ids: Sequence[str] | None = None
) -> bool:
    """Return whether a release is what publishing now would write; never if a model has a part in it.

    Raises:
        TableError: The tables are not built, or not for these venues.
    """
    if release is None:
        return False
    chosen = choose_venues(workspace.tables, venue_ids or None)
    try:
        inputs = read_inputs(release)
        if inputs is None or inputs.request != request or request.asks_model or inputs.venues.keys() != set(chosen):
            return False
        return not find_moved(inputs, workspace) and not check_sums(open_release(release, is_whole=False)).breaches
    except PeercorpusError:
        return False


def publish_unless_same(
    workspace: Workspace,
    out: Path | None,
    request: ReleaseRequest,
    venue_ids: Sequence[str] | None = None,
    show: Show = show_nothing,
    *,
    titler: Titler | None = None,
    annotator: Annotator | None = None,
) -> tuple[Path, PublishSummary | None]:
    """Publish a release unless the existing one is up to date.

    Args:
        workspace: Its tables must be built.
        out: A folder that is replaced; None adds a release to those of the workspace.
        request: What the release shall contain.
        venue_ids: The venues to publish; None or empty means all with papers.
        show: Receives the progress of each venue.
        titler: Gives titles to turns of several posts; with it, the release is always written again.
        annotator: Labels what the rules left open in points; with it, the release is always written again, too.

    Returns:
        The folder of the release, and its counts; None instead of the counts for the existing release.

    Raises:
        TableError: The tables are not built, or not for these venues.
        PeercorpusError: As for `publish_release` and `open_target`.
    """
    summary: PublishSummary | None = None
    with open_target(workspace.folder, out, request.drawn) as target:
        target.is_same = is_up_to_date(target.standing, workspace, request, venue_ids)
        if not target.is_same:
            summary = publish_release(
                workspace,
                target.folder,
                request,
                venue_ids or None,
                show,
                titler=titler,
                annotator=annotator,
                standing=target.with_splits,
            )
    # `open_target` also sets `is_same` if the release just written has the same bytes as the last one.
    return target.final, None if target.is_same else summary
