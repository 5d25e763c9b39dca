"""The file of a release that says which paper is on which side, and how that was made; later releases read it."""

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.publish.splits import KEY, NO_SIDES, Profile, Side, Sides, Task, Usable, draw

SPLITS = "splits"
"""The folder of a release that holds the files."""
_DRAWN = (
    "in the order of sha256(key:forum_id), each stratum of venue and status getting its share, for rebuttal first, then"
    " for review; what one holds out the other does not train on; sides of the earlier file are kept"
)
RULES = {
    Profile.RE2: f"test, then validation, {_DRAWN}",
    Profile.TEMPORAL: f"test: whatever was created after the day (UTC); validation: of the rest, {_DRAWN}",
}
"""How each profile draws, in the words of its file."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which sides a release shall have.

    Attributes:
        test_after: The day after which `temporal` tests; None for `re2`.
        earlier: The release whose sides are kept; None draws them anew.
        standing: The release none of whose papers may change its side; None means the one that is replaced.

    Raises:
        PeercorpusError: A profile has not the day it needs, or one that it does not use.
    """

    profile: Profile
    test_after: date | None = None
    earlier: Path | None = None
    standing: Path | None = None

    def __post_init__(self) -> None:
        if (self.profile is Profile.TEMPORAL) is (self.test_after is None):
            needs = "needs the" if self.test_after is None else "takes no"
            raise PeercorpusError(f"The profile '{self.profile}' {needs} day after which it tests (--test-after).")

    def path(self, release: Path) -> Path:
        """Its file in a release."""
        return release / SPLITS / f"{self.profile}.json"


class Made(msgspec.Struct, frozen=True):
    """How the sides were made.

    Attributes:
        version: Of peercorpus.
        key: What is hashed with a forum's id.
        earlier: The sha256 of the file whose sides were kept; None if there was none.
    """

    version: str
    key: str
    rule: str
    earlier: str | None


class SplitFile(msgspec.Struct, frozen=True):
    """The file.

    Attributes:
        test_after: The day after which `temporal` tests; None for `re2`.
        sizes: Papers used, by task and side.
        tasks: The forum ids of these.
        sides: The forum ids of all papers that were ever given a side, by side.
    """

    profile: Profile
    test_after: date | None
    made: Made
    sizes: dict[Task, dict[Side, int]]
    tasks: dict[Task, dict[Side, list[str]]]
    sides: dict[Side, list[str]]

    def read(self) -> Sides:
        """What it says.

        Raises:
            PeercorpusError: It has a paper on two sides.
        """
        of = {forum_id: side for side, ids in self.sides.items() for forum_id in ids}
        if len(of) != sum(map(len, self.sides.values())):
            raise PeercorpusError(f"The sides of '{self.profile}' hold a paper twice; take an intact release.")
        used = {
            task: {forum_id: side for side, ids in by_side.items() for forum_id in ids}
            for task, by_side in self.tasks.items()
        }
        return Sides(of, used)


def read_split_file(path: Path) -> SplitFile:
    """A file of sides as it stands, whether or not it agrees with itself.

    Raises:
        PeercorpusError: It cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=SplitFile)
    except OSError as error:
        raise PeercorpusError(f"The sides '{path}' cannot be read: {error.strerror}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeercorpusError(f"The sides '{path}' cannot be read: {error}") from None


def _by_side(sides: Iterable[tuple[str, Side]]) -> dict[Side, list[str]]:
    found: dict[Side, list[str]] = {side: [] for side in reversed(Side)}
    for forum_id, side in sorted(sides):
        found[side].append(forum_id)
    return found


def _write(path: Path, asked: Asked, sides: Sides, earlier: str | None) -> None:
    tasks = {task: _by_side(used.items()) for task, used in sides.used.items()}
    file = SplitFile(
        asked.profile,
        asked.test_after,
        Made(version("peercorpus"), KEY, RULES[asked.profile], earlier),
        {task: {side: len(ids) for side, ids in by_side.items()} for task, by_side in tasks.items()},
        tasks,
        _by_side(sides.of.items()),
    )
    path.write_bytes(msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n")


def _without(sides: Sides, gone: Set[str]) -> Sides:
    """Sides that do not name what was taken down."""
    of = {forum_id: side for forum_id, side in sides.of.items() if forum_id not in gone}
    used = {
        task: {forum_id: side for forum_id, side in ids.items() if forum_id not in gone}
        for task, ids in sides.used.items()
    }
    return Sides(of, used)


def _check_kept(sides: Sides, asked: Asked, replaced: Path, gone: Set[str]) -> None:
    """Make sure that no paper of the release to be replaced changes its side, but for what was taken down."""
    path = asked.path(replaced)
    before = read_split_file(path).read().of if path.exists() else {}
    moved = sum(sides.of.get(forum_id) is not side for forum_id, side in before.items() if forum_id not in gone)
    if moved:
        raise PeercorpusError(
            f"{moved:,} of the papers that have a side in '{replaced}' would change or lose it; keep them with"
            f" --splits-from '{replaced}', or name a new folder for the release."
        )


def is_as_asked(asked: Asked, release: Path) -> bool:
    """Whether a release has sides of this profile and day.

    Raises:
        PeercorpusError: They cannot be read.
    """
    path = asked.path(release)
    return path.exists() and read_split_file(path).test_after == asked.test_after


def read_sides(path: Path) -> Sides:
    """What a file says.

    Raises:
        PeercorpusError: It cannot be read, or has a paper on two sides.
    """
    return read_split_file(path).read()


def read_earlier_digest(path: Path) -> str | None:
    """The sha256 of the file whose sides a file kept when they were drawn; None if there was none.

    Raises:
        PeercorpusError: It cannot be read.
    """
    return read_split_file(path).made.earlier


def read_earlier(asked: Asked) -> tuple[Sides, str | None]:
    """The sides to keep, and the sha256 of their file; none and None where none are.

    Raises:
        PeercorpusError: The release has no such sides, or tests after another day.
    """
    if asked.earlier is None:
        return NO_SIDES, None
    path = asked.path(asked.earlier)
    found = read_split_file(path)
    if found.profile is not asked.profile or found.test_after != asked.test_after:
        day = found.test_after or "no day"
        raise PeercorpusError(f"The sides '{path}' are of '{found.profile}' and test after {day}; ask for the same.")
    return found.read(), hashlib.sha256(path.read_bytes()).hexdigest()


def write_sides(
    folder: Path,
    papers: Iterable[Usable],
    asked: Asked,
    replaced: Path,
    gone: Set[str] = frozenset(),
    groups: Mapping[str, str] | None = None,
) -> Sides:
    """Draw the sides of a release and write their file.

    Args:
        folder: Where the release is written.
        papers: All that it holds.
        asked: Which sides.
        replaced: Where the release will stand.
        gone: Ids of papers that were taken down: no file names them any more.
        groups: The work that a paper is of, as `splits.draw` takes it.

    Raises:
        PeercorpusError: The earlier sides cannot be kept, or a paper of the release that stands there would change its
            side.
    """
    earlier, digest = read_earlier(asked)
    sides = draw(papers, asked.test_after, _without(earlier, gone), groups)
    _check_kept(sides, asked, asked.standing or replaced, gone)
    path = asked.path(folder)
    path.parent.mkdir(exist_ok=True)
    if asked.earlier is not None and sides == earlier:
        shutil.copyfile(asked.path(asked.earlier), path)
    else:
        _write(path, asked, sides, digest)
    return sides


def keeping(asked: Asked, replaced: Path) -> Asked:
    """The same sides, with those of the release that is replaced kept, where no other release is named."""
    path = asked.path(replaced)
    if asked.earlier is not None or not path.is_file() or read_split_file(path).test_after != asked.test_after:
        return asked
    return replace(asked, earlier=replaced)
