"""Whether rows, sides and links agree: every id is of a paper that is there, and no paper is on two sides."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from peercorpus.errors import PeercorpusError
from peercorpus.publish.checks import Check
from peercorpus.publish.opened import Release, Shard
from peercorpus.publish.split_files import SplitFile, read_split_file
from peercorpus.publish.splits import Side, Task
from peercorpus.publish.tasks import CONFIG

TASK_OF: Mapping[str, Task] = {config: task for task, config in CONFIG.items()}
"""The configurations whose splits are sides."""
UNIQUE: Mapping[str, str] = {
    "papers": "forum_id",
    "papers_full": "forum_id",
    "reviews": "review_id",
    "conversations": "conversation_id",
    "review_sft": "forum_id",
    "rebuttal": "forum_id",
}
"""What no two rows of a configuration share."""
LINKED = ("forum_id", "earlier_id")
"""Two submissions of one work, in `links`."""
Row = dict[str, Any]


def rows_of(shard: Shard, check: Check, columns: list[str] | None = None) -> Iterator[Row]:
    """The rows of a file as far as it can be read; where that is not to its end, the check says so."""
    try:
        yield from shard.rows(columns)
    except (pa.ArrowException, OSError, ValueError):
        check.breach(shard.name, None, "cannot be read to its end")


class Ids:
    """Rows are of papers that are there, each once."""

    def __init__(self, release: Release) -> None:
        self.check = Check("ids", "row")
        self._seen: dict[str, set[str]] = {}
        self._papers = {
            row.get("forum_id")
            for shard in release.shards("papers")
            for row in rows_of(shard, self.check, ["forum_id"])
        }

    def see(self, shard: Shard, row: Row) -> None:
        """Look at one row."""
        self.check.looked_at += 1
        column = UNIQUE.get(shard.config)
        if column is not None:
            seen = self._seen.setdefault(shard.config, set())
            if row.get(column) in seen:
                self.check.breach(shard.name, row[column], f"stands more than once in '{shard.config}'")
            seen.add(row.get(column) or "")
        forum_id = row.get("forum_id")
        if forum_id not in self._papers:
            self.check.breach(shard.name, forum_id, "is a paper that 'papers' does not hold")


class SidesAgree:
    """No paper is on two sides, and the task configurations hold what the file of sides says."""

    def __init__(self, release: Release) -> None:
        self.check = Check("splits", "paper")
        self.used: dict[str, Side] = {}
        self._files: dict[str, SplitFile] = {}
        self._held: dict[tuple[Task, str], dict[str, str]] = {}
        for path in release.split_files():
            name = path.relative_to(release.folder).as_posix()
            try:
                self._files[name] = read_split_file(path)
            except PeercorpusError:
                self.check.breach(name, None, "cannot be read")
        for name, file in self._files.items():
            self._look_at(name, file)

    def _look_at(self, name: str, file: SplitFile) -> None:
        of = self._sides(name, file.sides)
        self.check.looked_at += len(of)
        for task, by_side in file.tasks.items():
            used = self._sides(name, by_side)
            if file.sizes.get(task) != {side: len(ids) for side, ids in by_side.items()}:
                self.check.breach(name, None, f"states other sizes for '{task}' than it names papers")
            self.used |= used
            for forum_id, side in used.items():
                if of.get(forum_id) is not side:
                    self.check.breach(name, forum_id, "is used on another side than it has")

    def _sides(self, name: str, by_side: Mapping[Side, list[str]]) -> dict[str, Side]:
        found: dict[str, Side] = {}
        for side, ids in by_side.items():
            for forum_id in ids:
                if forum_id in found:
                    self.check.breach(name, forum_id, f"is on two sides: {found[forum_id]} and {side}")
                found[forum_id] = side
        return found

    def see(self, shard: Shard, row: Row) -> None:
        """Look at one row."""
        if shard.config in TASK_OF:
            self._held.setdefault((TASK_OF[shard.config], shard.split), {})[str(row.get("forum_id"))] = shard.name

    def sides_held(self) -> dict[str, dict[str, str]]:
        """Each paper of the task configurations, with the sides it is on and a file of each."""
        found: dict[str, dict[str, str]] = {}
        for (_, side), held in self._held.items():
            for forum_id, name in held.items():
                found.setdefault(forum_id, {})[side] = name
        return found

    def end(self) -> Check:
        """What was found, once every row was seen."""
        if not self._held:
            self.check.left_out.append("the release has no configurations for tasks")
        elif len(self._files) != 1:
            self.check.breach("splits/", None, f"has {len(self._files)} files of sides, where tasks need one")
        else:
            ((name, file),) = self._files.items()
            self._compare(name, file)
        for forum_id, sides in self.sides_held().items():
            if len(sides) > 1:
                self.check.breach(min(sides.values()), forum_id, f"is on {len(sides)} sides of the task configurations")
        return self.check

    def _compare(self, name: str, file: SplitFile) -> None:
        named = {(task, side.value): set(ids) for task, by_side in file.tasks.items() for side, ids in by_side.items()}
        for task, side in sorted(named.keys() | self._held.keys()):
            ids, held = named.get((task, side), set()), self._held.get((task, side), {})
            for forum_id in sorted(held.keys() - ids):
                self.check.breach(held[forum_id], forum_id, f"is not in the {side} of '{task}' by the file of sides")
            for forum_id in sorted(ids - held.keys()):
                self.check.breach(name, forum_id, f"is in the {side} of '{task}' and not in its configuration")


def check_links(release: Release, sides: SidesAgree) -> Check:
    """No two papers that are linked are on different sides."""
    check, held = Check("links", "link"), sides.sides_held()
    shards = release.shards("links")
    if not shards:
        check.left_out.append("the release has no links")
    for shard in shards:
        for row in rows_of(shard, check):
            check.looked_at += 1
            one, other = (row.get(column) for column in LINKED)
            apart = {side for forum_id in (one, other) for side in held.get(str(forum_id), {})}
            if one is None or other is None:
                check.breach(shard.name, one or other, f"has no '{LINKED[0]}' and '{LINKED[1]}'")
            elif len(apart) > 1:
                check.breach(shard.name, one, f"is linked with '{other}', and they are on {len(apart)} sides")
    return check
