"""Draw the splits of a release, and keep those assigned by any earlier release of the workspace, wherever it is.

The workspace has `splits/<profile>.json`: the splits of the last release, and of papers taken down since.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import msgspec
from filelock import FileLock

from peercorpus.errors import PeercorpusError, WorkspaceError
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.split_file import (
    RULES,
    Made,
    SplitFile,
    format_split_file,
    is_as_asked,
    make_split_file,
    read_split_file,
    rename_splits,
)
from peercorpus.release.splits import KEY, NO_SPLITS, PaperSplits, Split, Task, Usable, draw_splits, follow_other_tasks
from peercorpus.workspace.private_files import FOLDER_OF_OWNER, replace_file, require_own


def take_stated_splits(
    papers: Iterable[Usable], earlier: PaperSplits, groups: Mapping[str, str] | None = None
) -> PaperSplits:
    """Return the splits that datasets state; a paper without a stated split gets none.

    A dataset states a split for each task. A paper that one task tests on is not used for training in any task: it is
    in the test split, and is held back from tasks that would train on it. Papers of one work stay where they are
    stated; `apart` counts the works that are in two splits. `meta_review` uses the papers of the stated tasks, as in
    Re² (section 2.1).

    Args:
        papers: Each paper once, in any order.
        earlier: Splits of an earlier release; they are kept for papers not among `papers`.
        groups: The work of each paper, by forum id.

    Raises:
        PeercorpusError: No paper has a stated split.
    """
    of: dict[str, Split] = {}
    used: dict[Task, dict[str, Split]] = {task: {} for task in Task}
    apart: defaultdict[str, set[Split]] = defaultdict(set)
    known = list(papers)
    for paper in known:
        stated = {Task(one.task): Split(one.split) for one in paper.stated}
        if not stated:
            continue
        split = of[paper.forum_id] = min(stated.values(), key=list(Split).index)
        for task in paper.tasks & stated.keys():
            if stated[task] is split:
                used[task][paper.forum_id] = split
        apart[(groups or {}).get(paper.forum_id, paper.forum_id)].add(split)
    if not of:
        raise PeercorpusError(
            "No published dataset states the split of a paper of these venues; import one whose files do, such as Re²'s"
            " REVIEWS_train.json, or publish with --splits re2."
        )
    used[Task.META_REVIEW] = follow_other_tasks(used, known, groups or {})
    return PaperSplits(dict(earlier.of) | of, used, apart=sum(len(splits) > 1 for splits in apart.values()))


FOLDER = "splits"
"""Folder of a workspace with one file for each profile, and for each test day of `temporal`."""
FORMER_FOLDER = "sides"
"""Its name in workspaces of earlier versions, which is changed when the next release is written."""


class KeptSplits(msgspec.Struct, frozen=True):
    """The splits stored in a workspace.

    Attributes:
        digest: sha256 of the file of splits of the last release.
        file: Its content, plus the papers that it must not name because they are taken down.
    """

    digest: str
    file: SplitFile


@dataclass(frozen=True, slots=True)
class EarlierSplits:
    """Splits to keep.

    Attributes:
        made: How the file with them was made; None if there are none to keep.
        digest: sha256 of that file.
    """

    splits: PaperSplits = NO_SPLITS
    made: Made | None = None
    digest: str | None = None


def _find_kept(workspace: Path, asked: SplitRequest) -> Path:
    day = "" if asked.test_after is None else f"-{asked.test_after}"
    folder = next((name for name in (FOLDER, FORMER_FOLDER) if (workspace / name).is_dir()), FOLDER)
    return workspace / folder / f"{asked.profile}{day}.json"


def read_kept(workspace: Path, asked: SplitRequest) -> KeptSplits | None:
    """Return the splits of the requested kind stored in a workspace; None if there are none yet.

    Raises:
        PeercorpusError: The file cannot be read.
    """
    path = _find_kept(workspace, asked)
    try:
        return msgspec.json.decode(rename_splits(path.read_bytes()), type=KeptSplits)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeercorpusError(
            f"The splits assigned by earlier releases cannot be read from '{path}' ({error}); move that file away, and"
            " name the last release with --splits-from."
        ) from None


@contextmanager
def _lock_splits(workspace: Path) -> Iterator[None]:
    """Lock the splits of a workspace, so that one release at a time reads and writes them.

    Raises:
        WorkspaceError: The folder cannot be written, or it or its lock is a link.
    """
    folder, former = workspace / FOLDER, workspace / FORMER_FOLDER
    for path in (former, folder, folder / ".lock"):
        require_own(path)
    try:
        if former.is_dir() and not folder.exists():
            former.rename(folder)
        folder.mkdir(mode=FOLDER_OF_OWNER, exist_ok=True)
        lock = FileLock(folder / ".lock", thread_local=False).acquire()
    except OSError as error:
        raise WorkspaceError(
            f"The splits of papers cannot be stored in '{folder}' ({error.strerror}); make the workspace writable, or"
            " publish with --splits none."
        ) from None
    with lock:
        yield


def _encode(asked: SplitRequest, splits: PaperSplits, earlier: EarlierSplits) -> bytes:
    """Return the content of a file of splits: byte for byte that of the earlier file if both state the same."""
    if earlier.made is not None:
        content = format_split_file(make_split_file(asked, splits, earlier.made))
        if hashlib.sha256(content).hexdigest() == earlier.digest:
            return content
    made = Made(version=version("peercorpus"), key=KEY, rule=RULES[asked.profile], earlier=earlier.digest)
    return format_split_file(make_split_file(asked, splits, made))


def _remove_papers(splits: PaperSplits, gone: Set[str]) -> PaperSplits:
    """Return splits without the papers that were taken down."""
    of = {forum_id: split for forum_id, split in splits.of.items() if forum_id not in gone}
    used = {
        task: {forum_id: split for forum_id, split in ids.items() if forum_id not in gone}
        for task, ids in splits.used.items()
    }
    return PaperSplits(of, used)


def _count_moved(splits: PaperSplits, before: PaperSplits, gone: Set[str]) -> int:
    """Return the number of papers that change or lose their earlier split, without those taken down."""
    return sum(splits.of.get(forum_id) is not split for forum_id, split in before.of.items() if forum_id not in gone)


def _check_kept(splits: PaperSplits, asked: SplitRequest, standing: Path, kept: PaperSplits, gone: Set[str]) -> None:
    """Check that no paper changes the split assigned by the previous release or another of the workspace.

    Raises:
        PeercorpusError: A paper would.
    """
    path = asked.path(standing)
    before = read_split_file(path).read() if path.exists() else NO_SPLITS
    if moved := _count_moved(splits, before, gone):
        raise PeercorpusError(
            f"{moved:,} of the papers that have a split in '{standing}' would change or lose it; keep them with"
            f" --splits-from '{standing}', let them change with --new-splits, or name a new folder for the release."
        )
    if moved := _count_moved(splits, kept, gone):
        raise PeercorpusError(
            f"{moved:,} of the papers that have a split from an earlier release of this workspace would change or lose"
            f" it; keep them by leaving out --splits-from '{asked.earlier}', or let them change with --new-splits."
        )


def read_earlier(asked: SplitRequest, standing: Path, kept: KeptSplits | None) -> EarlierSplits:
    """Return the splits to keep: of the named release, of all releases of the workspace, or of the replaced release.

    Args:
        asked: The requested splits.
        standing: The previous release, or the one to be replaced.
        kept: The splits stored in the workspace; None if there are none yet.

    Raises:
        PeercorpusError: The named release has no such splits, or tests after another day.
    """
    if asked.earlier is None and asked.is_new:
        return EarlierSplits()
    if asked.earlier is None and kept is not None:
        return EarlierSplits(kept.file.read(), kept.file.made, kept.digest)
    if asked.earlier is None and not is_as_asked(asked, standing):
        return EarlierSplits()
    path = asked.path(asked.earlier or standing)
    split_file = read_split_file(path)
    if split_file.profile is not asked.profile or split_file.test_after != asked.test_after:
        raise PeercorpusError(
            f"'{path}' has the profile '{split_file.profile}' with test day {split_file.test_after}, but"
            f" '{asked.profile}' with {asked.test_after} was requested; request the same, or leave out --splits-from."
        )
    splits = split_file.read()
    if kept is not None and not asked.is_new:
        splits = _join(kept.file.read(), splits)
    return EarlierSplits(splits, split_file.made, hashlib.sha256(path.read_bytes()).hexdigest())


def _join(splits: PaperSplits, others: PaperSplits) -> PaperSplits:
    """Combine splits of two sources; for papers in both, the second source counts."""
    used = {task: {**splits.used.get(task, {}), **others.used.get(task, {})} for task in Task}
    return PaperSplits({**splits.of, **others.of}, used)


def write_splits(
    folder: Path,
    papers: Iterable[Usable],
    asked: SplitRequest,
    *,
    standing: Path,
    workspace: Path,
    gone: Set[str] = frozenset(),
    groups: Mapping[str, str] | None = None,
) -> PaperSplits:
    """Draw the splits of a release, write their file, and store them in the workspace.

    They are stored before the release gets its name: if a run is killed in between, the next release gets the stored
    splits.

    Args:
        folder: Folder where the release is written.
        papers: All papers of the release.
        asked: The requested splits.
        standing: The previous release, or the one to be replaced.
        workspace: The folder of the workspace.
        gone: Ids of papers taken down, which no file of the release may name.
        groups: The work that each paper belongs to, as in `splits.draw_splits`.

    Raises:
        PeercorpusError: The earlier splits cannot be kept, a paper would change the split assigned by an earlier
            release without a request for new splits, or stated splits are requested and there are none.
    """
    with _lock_splits(workspace):
        kept = read_kept(workspace, asked)
        earlier = read_earlier(asked, standing, kept)
        usable = _remove_papers(earlier.splits, gone)
        if asked.profile is Profile.STATED:
            splits = take_stated_splits(papers, usable, groups)
        else:
            splits = draw_splits(papers, asked.test_after, usable, groups)
        kept_splits = kept.file.read() if kept is not None else NO_SPLITS
        if not asked.is_new:
            _check_kept(splits, asked, standing, kept_splits, gone)
        splits = replace(splits, moved=_count_moved(splits, kept_splits, gone))
        content = _encode(asked, splits, earlier)
        path = asked.path(folder)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        _keep(workspace, asked, content, splits, earlier.splits, gone)
    return splits


def _keep(
    workspace: Path, asked: SplitRequest, content: bytes, splits: PaperSplits, earlier: PaperSplits, gone: Set[str]
) -> None:
    """Store the splits of a release in the workspace, with those of papers taken down, in case that is undone."""
    hidden = _remove_papers(earlier, earlier.of.keys() - gone)
    made = msgspec.json.decode(content, type=SplitFile).made
    file = make_split_file(asked, _join(hidden, splits), made)
    kept = msgspec.json.encode(KeptSplits(hashlib.sha256(content).hexdigest(), file))
    replace_file(_find_kept(workspace, asked), [msgspec.json.format(kept, indent=1).decode()])
