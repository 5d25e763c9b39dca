"""Draw the sides of a release, and keep those assigned by any earlier release of the workspace, wherever it is.

The workspace has `sides/<profile>.json`: the sides of the last release, and of papers taken down since.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import msgspec
from filelock import FileLock

from peercorpus.errors import PeercorpusError, WorkspaceError
from peercorpus.release.split_file import (
    RULES,
    Made,
    SplitFile,
    SplitRequest,
    format_split_file,
    is_as_asked,
    make_split_file,
    read_split_file,
)
from peercorpus.release.splits import KEY, NO_SIDES, Profile, Sides, Task, Usable, draw_sides
from peercorpus.release.stated_splits import take_stated_sides
from peercorpus.workspace.private_files import FOLDER_OF_OWNER, replace_file, require_own

FOLDER = "sides"
"""Folder of a workspace with one file for each profile, and for each test day of `temporal`."""


class KeptSides(msgspec.Struct, frozen=True):
    """The sides stored in a workspace.

    Attributes:
        digest: sha256 of the file of sides in the last release.
        file: Its content, plus the papers that it must not name because they are taken down.
    """

    digest: str
    file: SplitFile


@dataclass(frozen=True, slots=True)
class EarlierSides:
    """Sides to keep.

    Attributes:
        made: How the file with them was made; None if there are none to keep.
        digest: sha256 of that file.
    """

    sides: Sides = NO_SIDES
    made: Made | None = None
    digest: str | None = None


def _find_kept(workspace: Path, asked: SplitRequest) -> Path:
    day = "" if asked.test_after is None else f"-{asked.test_after}"
    return workspace / FOLDER / f"{asked.profile}{day}.json"


def read_kept(workspace: Path, asked: SplitRequest) -> KeptSides | None:
    """Return the sides of the requested kind stored in a workspace; None if there are none yet.

    Raises:
        PeercorpusError: The file cannot be read.
    """
    path = _find_kept(workspace, asked)
    try:
        return msgspec.json.decode(path.read_bytes(), type=KeptSides)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeercorpusError(
            f"The sides assigned by earlier releases cannot be read from '{path}' ({error}); move that file away, and"
            " name the last release with --splits-from."
        ) from None


@contextmanager
def _lock_sides(workspace: Path) -> Iterator[None]:
    """Lock the sides of a workspace, so that one release at a time reads and writes them.

    Raises:
        WorkspaceError: The folder cannot be written, or it or its lock is a link.
    """
    folder = workspace / FOLDER
    for path in (folder, folder / ".lock"):
        require_own(path)
    try:
        folder.mkdir(mode=FOLDER_OF_OWNER, exist_ok=True)
        lock = FileLock(folder / ".lock", thread_local=False).acquire()
    except OSError as error:
        raise WorkspaceError(
            f"The sides of papers cannot be stored in '{folder}' ({error.strerror}); make the workspace writable, or"
            " publish with --splits none."
        ) from None
    with lock:
        yield


def _encode(asked: SplitRequest, sides: Sides, earlier: EarlierSides) -> bytes:
    """Return the content of a file of sides: byte for byte that of the earlier file if both state the same."""
    if earlier.made is not None:
        content = format_split_file(make_split_file(asked, sides, earlier.made))
        if hashlib.sha256(content).hexdigest() == earlier.digest:
            return content
    made = Made(version=version("peercorpus"), key=KEY, rule=RULES[asked.profile], earlier=earlier.digest)
    return format_split_file(make_split_file(asked, sides, made))


def _remove_papers(sides: Sides, gone: Set[str]) -> Sides:
    """Return sides without the papers that were taken down."""
    of = {forum_id: side for forum_id, side in sides.of.items() if forum_id not in gone}
    used = {
        task: {forum_id: side for forum_id, side in ids.items() if forum_id not in gone}
        for task, ids in sides.used.items()
    }
    return Sides(of, used)


def _count_moved(sides: Sides, before: Sides, gone: Set[str]) -> int:
    """Return the number of papers that change or lose their earlier side, without those taken down."""
    return sum(sides.of.get(forum_id) is not side for forum_id, side in before.of.items() if forum_id not in gone)


def _check_kept(sides: Sides, asked: SplitRequest, standing: Path, kept: Sides, gone: Set[str]) -> None:
    """Check that no paper changes the side assigned by the previous release or another of the workspace.

    Raises:
        PeercorpusError: A paper would.
    """
    path = asked.path(standing)
    before = read_split_file(path).read() if path.exists() else NO_SIDES
    if moved := _count_moved(sides, before, gone):
        raise PeercorpusError(
            f"{moved:,} of the papers that have a side in '{standing}' would change or lose it; keep them with"
            f" --splits-from '{standing}', let them change with --new-splits, or name a new folder for the release."
        )
    if moved := _count_moved(sides, kept, gone):
        raise PeercorpusError(
            f"{moved:,} of the papers that have a side from an earlier release of this workspace would change or lose"
            f" it; keep them by leaving out --splits-from '{asked.earlier}', or let them change with --new-splits."
        )


def read_earlier(asked: SplitRequest, standing: Path, kept: KeptSides | None) -> EarlierSides:
    """Return the sides to keep: of the named release, of all releases of the workspace, or of the replaced release.

    Args:
        asked: The requested sides.
        standing: The previous release, or the one to be replaced.
        kept: The sides stored in the workspace; None if there are none yet.

    Raises:
        PeercorpusError: The named release has no such sides, or tests after another day.
    """
    if asked.earlier is None and asked.is_new:
        return EarlierSides()
    if asked.earlier is None and kept is not None:
        return EarlierSides(kept.file.read(), kept.file.made, kept.digest)
    if asked.earlier is None and not is_as_asked(asked, standing):
        return EarlierSides()
    path = asked.path(asked.earlier or standing)
    split_file = read_split_file(path)
    if split_file.profile is not asked.profile or split_file.test_after != asked.test_after:
        raise PeercorpusError(
            f"'{path}' has the profile '{split_file.profile}' with test day {split_file.test_after}, but"
            f" '{asked.profile}' with {asked.test_after} was requested; request the same, or leave out --splits-from."
        )
    sides = split_file.read()
    if kept is not None and not asked.is_new:
        sides = _join(kept.file.read(), sides)
    return EarlierSides(sides, split_file.made, hashlib.sha256(path.read_bytes()).hexdigest())


def _join(sides: Sides, others: Sides) -> Sides:
    """Combine sides of two sources; for papers in both, the second source counts."""
    used = {task: {**sides.used.get(task, {}), **others.used.get(task, {})} for task in Task}
    return Sides({**sides.of, **others.of}, used)


def write_sides(
    folder: Path,
    papers: Iterable[Usable],
    asked: SplitRequest,
    *,
    standing: Path,
    workspace: Path,
    gone: Set[str] = frozenset(),
    groups: Mapping[str, str] | None = None,
) -> Sides:
    """Draw the sides of a release, write their file, and store them in the workspace.

    They are stored before the release gets its name: if a run is killed in between, the next release gets the stored
    sides.

    Args:
        folder: Folder where the release is written.
        papers: All papers of the release.
        asked: The requested sides.
        standing: The previous release, or the one to be replaced.
        workspace: The folder of the workspace.
        gone: Ids of papers taken down, which no file of the release may name.
        groups: The work that each paper belongs to, as in `splits.draw_sides`.

    Raises:
        PeercorpusError: The earlier sides cannot be kept, a paper would change the side assigned by an earlier release
            without a request for new sides, or stated sides are requested and there are none.
    """
    with _lock_sides(workspace):
        kept = read_kept(workspace, asked)
        earlier = read_earlier(asked, standing, kept)
        usable = _remove_papers(earlier.sides, gone)
        if asked.profile is Profile.STATED:
            sides = take_stated_sides(papers, usable, groups)
        else:
            sides = draw_sides(papers, asked.test_after, usable, groups)
        kept_sides = kept.file.read() if kept is not None else NO_SIDES
        if not asked.is_new:
            _check_kept(sides, asked, standing, kept_sides, gone)
        sides = replace(sides, moved=_count_moved(sides, kept_sides, gone))
        content = _encode(asked, sides, earlier)
        path = asked.path(folder)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        _keep(workspace, asked, content, sides, earlier.sides, gone)
    return sides


def _keep(workspace: Path, asked: SplitRequest, content: bytes, sides: Sides, earlier: Sides, gone: Set[str]) -> None:
    """Store the sides of a release in the workspace, with those of papers taken down, in case that is undone."""
    hidden = _remove_papers(earlier, earlier.of.keys() - gone)
    made = msgspec.json.decode(content, type=SplitFile).made
    file = make_split_file(asked, _join(hidden, sides), made)
    kept = msgspec.json.encode(KeptSides(hashlib.sha256(content).hexdigest(), file))
    replace_file(_find_kept(workspace, asked), [msgspec.json.format(kept, indent=1).decode()])
