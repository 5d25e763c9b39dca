"""Check that ids are unique, that splits agree everywhere, and that no linked papers are in different splits."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from peercorpus.errors import PeercorpusError
from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH
from peercorpus.release.folder import Release, Shard
from peercorpus.release.request import Profile
from peercorpus.release.shards import EVERY_CONFIG, TASK_CONFIGS
from peercorpus.release.split_file import SplitFile, read_split_file
from peercorpus.release.splits import Split, Task
from peercorpus.release.task_tables import CONFIG
from peercorpus.release.verify.files import Check

TASK_OF: Mapping[str, Task] = {config: task for task, config in CONFIG.items()}
"""The task of each configuration that has these splits."""
REPEATED = frozenset({"scores", "versions", "links", "tries"})
"""Configurations whose key columns need not be unique: a review has several scores."""
LINKED = ("forum_id", "earlier_id")
"""Columns of `links` with the two submissions of a work."""
Row = dict[str, Any]


def read_id_rows(shard: Shard, check: Check, columns: list[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a file as far as it can be read; record a breach if it cannot be read completely."""
    try:
        yield from shard.rows(columns)
    except (pa.ArrowException, OSError, ValueError):
        check.breach(shard.name, None, "cannot be read to its end")


class Ids:
    """Check that every row belongs to a paper of the release and that ids are unique."""

    def __init__(self, release: Release) -> None:
        self.check = Check("ids", "row")
        self._seen: dict[str, set[str]] = {}
        self._papers = {
            row.get("forum_id"): shard.split
            for shard in release.shards("papers") or release.shards(DEFAULT_OF_REVIEWBENCH)
            for row in read_id_rows(shard, self.check, ["forum_id"])
        }

    def see(self, shard: Shard, row: Row) -> None:
        """Check one row."""
        self.check.looked_at += 1
        if shard.config in EVERY_CONFIG and shard.config not in REPEATED:
            row_id = "/".join(str(row.get(column)) for column in EVERY_CONFIG[shard.config].key)
            seen = self._seen.setdefault(shard.config, set())
            if row_id in seen:
                self.check.breach(shard.name, row_id, f"occurs more than once in '{shard.config}'")
            seen.add(row_id)
        forum_id = row.get("forum_id")
        if forum_id not in self._papers:
            self.check.breach(shard.name, forum_id, "is a paper that 'papers' does not have")
        elif shard.config not in TASK_CONFIGS and self._papers[forum_id] != shard.split:
            self.check.breach(shard.name, forum_id, f"is in another split of 'papers': {self._papers[forum_id]}")


class SplitsAgree:
    """Check that no paper is in two splits, and that the task configurations agree with the file of splits."""

    def __init__(self, release: Release) -> None:
        self.check = Check("splits", "paper")
        self.used: dict[str, Split] = {}
        self._files: dict[str, SplitFile] = {}
        self._held: dict[tuple[Task, str], dict[str, str]] = {}
        self.are_stated = False
        for path in release.split_files():
            name = path.relative_to(release.folder).as_posix()
            try:
                self._files[name] = read_split_file(path)
            except PeercorpusError:
                self.check.breach(name, None, "cannot be read")
        for name, file in self._files.items():
            self._look_at(name, file)

    def _look_at(self, name: str, file: SplitFile) -> None:
        self.are_stated |= file.profile is Profile.STATED
        of = self._collect_splits(name, file.splits)
        self.check.looked_at += len(of)
        for task, by_split in file.tasks.items():
            used = self._collect_splits(name, by_split)
            if file.sizes.get(task) != {split: len(ids) for split, ids in by_split.items()}:
                self.check.breach(name, None, f"states sizes for '{task}' that differ from the papers it lists")
            self.used |= used
            for forum_id, split in used.items():
                if of.get(forum_id) is not split:
                    self.check.breach(name, forum_id, "is used in another split than its own")

    def _collect_splits(self, name: str, by_split: Mapping[Split, list[str]]) -> dict[str, Split]:
        split_of: dict[str, Split] = {}
        for split, ids in by_split.items():
            for forum_id in ids:
                if forum_id in split_of:
                    self.check.breach(name, forum_id, f"is in two splits: {split_of[forum_id]} and {split}")
                split_of[forum_id] = split
        return split_of

    def see(self, shard: Shard, row: Row) -> None:
        """Check one row."""
        if shard.config in TASK_OF:
            self._held.setdefault((TASK_OF[shard.config], shard.split), {})[str(row.get("forum_id"))] = shard.name

    def splits_by_paper(self) -> dict[str, dict[str, str]]:
        """Return, for each paper of the task configurations, one file for each split it is in."""
        files_by_split: dict[str, dict[str, str]] = {}
        for (_, split), names in self._held.items():
            for forum_id, name in names.items():
                files_by_split.setdefault(forum_id, {})[split] = name
        return files_by_split

    def end(self) -> Check:
        """Return the result, once every row has been seen."""
        if not self._held:
            self.check.left_out.append("the release has no configurations for tasks")
        elif len(self._files) != 1:
            self.check.breach("splits/", None, f"has {len(self._files)} files of splits, where tasks need one")
        else:
            ((name, file),) = self._files.items()
            self._compare(name, file)
        for forum_id, splits in self.splits_by_paper().items():
            if len(splits) > 1:
                self.check.breach(
                    min(splits.values()), forum_id, f"is in {len(splits)} splits of the task configurations"
                )
        return self.check

    def _compare(self, name: str, file: SplitFile) -> None:
        named = {
            (task, split.value): set(ids) for task, by_split in file.tasks.items() for split, ids in by_split.items()
        }
        for task, split in sorted(named.keys() | self._held.keys()):
            ids = named.get((task, split), set())
            shard_names = self._held.get((task, split), {})
            for forum_id in sorted(shard_names.keys() - ids):
                self.check.breach(
                    shard_names[forum_id], forum_id, f"is not in the {split} of '{task}' by the file of splits"
                )
            for forum_id in sorted(ids - shard_names.keys()):
                self.check.breach(name, forum_id, f"is in the {split} of '{task}' and not in its configuration")


def check_links(release: Release, splits: SplitsAgree) -> Check:
    """Check that no two linked papers are in different splits, unless a published dataset states these splits."""
    apart_as_stated = 0
    check = Check("links", "link")
    splits_by_paper = splits.splits_by_paper()
    shards = release.shards("links")
    if not shards:
        check.left_out.append("the release has no links")
    for shard in shards:
        for row in read_id_rows(shard, check):
            check.looked_at += 1
            later_id, earlier_id = (row.get(column) for column in LINKED)
            apart = {split for forum_id in (later_id, earlier_id) for split in splits_by_paper.get(str(forum_id), {})}
            if later_id is None or earlier_id is None:
                check.breach(shard.name, later_id or earlier_id, f"has no '{LINKED[0]}' and '{LINKED[1]}'")
            elif len(apart) > 1 and splits.are_stated:
                apart_as_stated += 1
            elif len(apart) > 1:
                check.breach(
                    shard.name, later_id, f"is linked with '{earlier_id}', and they are in {len(apart)} splits"
                )
    if apart_as_stated:
        check.left_out.append(f"{apart_as_stated:,} links between two splits, as a published dataset states them")
    return check
