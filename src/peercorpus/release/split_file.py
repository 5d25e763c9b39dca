"""The file `splits/<profile>.json` of a release, which states the split of each paper, and the request for it."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.splits import PaperSplits, Split, Task

_DRAWN = (
    "drawn in the order of sha256(key:forum_id), in proportion within each stratum of venue and status, for rebuttal"
    " first, then for review; papers held out for one task are not used to train another; meta_review uses the papers"
    " of both tasks in their splits; papers keep the splits of the earlier file"
)
RULES = {
    Profile.RE2: f"test, then validation: {_DRAWN}",
    Profile.TEMPORAL: f"test: every paper created after the date (UTC); validation: from the rest, {_DRAWN}",
    Profile.STATED: (
        "the split that the name of a published file states for each task; a test paper of one task is held back from"
        " tasks that would train on it; works stated in two splits stay there"
    ),
}
"""The rule of each profile, as stated in its file."""


class Made(msgspec.Struct, frozen=True):
    """How the splits were drawn.

    Attributes:
        version: Version of peercorpus.
        key: Text hashed together with a forum's id.
        earlier: The sha256 of the file whose splits were kept; None if there was none.
    """

    version: str
    key: str
    rule: str
    earlier: str | None


class SplitFile(msgspec.Struct, frozen=True):
    """The content of a file of splits.

    Attributes:
        test_after: The day after which `temporal` tests; None for other profiles.
        sizes: Papers used, by task and split.
        tasks: Forum ids of the papers used, by task and split.
        splits: Forum ids of all papers that ever had a split, by split.
    """

    profile: Profile
    test_after: date | None
    made: Made
    sizes: dict[Task, dict[Split, int]]
    tasks: dict[Task, dict[Split, list[str]]]
    splits: dict[Split, list[str]]

    def read(self) -> PaperSplits:
        """Return the splits stated in the file.

        Raises:
            PeercorpusError: It has a paper in two splits.
        """
        of = {forum_id: split for split, ids in self.splits.items() for forum_id in ids}
        if len(of) != sum(map(len, self.splits.values())):
            raise PeercorpusError(
                f"The splits of '{self.profile}' name a paper more than once; take an intact copy of the release."
            )
        used = {
            task: {forum_id: split for split, ids in by_split.items() for forum_id in ids}
            for task, by_split in self.tasks.items()
        }
        return PaperSplits(of, used)


def rename_splits(content: bytes) -> bytes:
    """Return a JSON file with its splits under the name `splits`; earlier versions of peercorpus wrote `sides`."""
    return content.replace(b'"sides":', b'"splits":')


def read_split_file(path: Path) -> SplitFile:
    """Read a file of splits, whether or not it is consistent.

    Raises:
        PeercorpusError: It cannot be read.
    """
    try:
        return msgspec.json.decode(rename_splits(path.read_bytes()), type=SplitFile)
    except OSError as error:
        raise PeercorpusError(f"The splits '{path}' cannot be read: {error.strerror}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeercorpusError(f"The splits '{path}' cannot be read: {error}") from None


def _group_by_split(splits: Iterable[tuple[str, Split]]) -> dict[Split, list[str]]:
    ids_by_split: dict[Split, list[str]] = {split: [] for split in reversed(Split)}
    for forum_id, split in sorted(splits):
        ids_by_split[split].append(forum_id)
    return ids_by_split


def make_split_file(asked: SplitRequest, splits: PaperSplits, made: Made) -> SplitFile:
    """Return the content of the file for some splits."""
    tasks = {task: _group_by_split(used.items()) for task, used in splits.used.items()}
    return SplitFile(
        profile=asked.profile,
        test_after=asked.test_after,
        made=made,
        sizes={task: {split: len(ids) for split, ids in by_split.items()} for task, by_split in tasks.items()},
        tasks=tasks,
        splits=_group_by_split(splits.of.items()),
    )


def format_split_file(file: SplitFile) -> bytes:
    """Return a file of splits as bytes."""
    return msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n"


def is_as_asked(asked: SplitRequest, release: Path) -> bool:
    """Return whether a release has splits of this profile and day.

    Raises:
        PeercorpusError: They cannot be read.
    """
    path = asked.path(release)
    return path.exists() and read_split_file(path).test_after == asked.test_after
