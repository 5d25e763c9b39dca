"""The state of a Delta table, read once from its log, with uncommitted changes."""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import msgspec
import pyarrow as pa

from peercorpus.errors import DamagedError
from peercorpus.workspace.object_store import Location, read_file
from peercorpus.workspace.parquet import open_part
from peercorpus.workspace.table_logs import CHECKPOINT, LOG, NUMBER_DIGITS, damaged_table, list_log, name_commit

if TYPE_CHECKING:
    from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Schema
    from deltalake.transaction import AddAction, RemoveAction

_LAST_CHECKPOINT = "_last_checkpoint"

CHECKPOINT_COMMITS = 100
"""Commits between checkpoints; at a checkpoint, old parts of the log before earlier ones are deleted."""


def skip_hooks() -> "PostCommitHookProperties":
    """Return hooks that do nothing after a commit; Delta Lake's own list the log to see if a checkpoint is due."""
    from deltalake import PostCommitHookProperties

    return PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)


@dataclass(frozen=True, slots=True)
class TablePart:
    """One Parquet file of a table, according to the log.

    Attributes:
        relative: Its path below the table.
    """

    relative: str
    values: Mapping[str, str]
    rows: int
    size_bytes: int


def owner_of(partition: Mapping[str, str]) -> str:
    """Return the name of the transaction that stores a partition's key."""
    return "/".join(partition.values())


def number_of(key: str) -> int:
    """Return the transaction number that represents a content key."""
    return int(key[:15], 16)


def digest_of(key: str) -> str:
    """Return the digest of a partition finished under a content key, for the keys of stages that read it."""
    return str(number_of(key))


def content_of(owner: str) -> str:
    """Return the name of the transaction that stores the digest of a partition's rows."""
    return f"content of {owner}"


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """A change to one partition of a table; its files are already written.

    Attributes:
        files: The files to add, each with its number of rows.
        content: The sum of the digests of the added rows.
        key: Content key that finishes the partition; None if it is not finished.
        made_from: The inputs of the change, recorded in the commit.
    """

    name: str
    partition: Mapping[str, str]
    replaces: bool
    files: "tuple[tuple[AddAction, int], ...]"
    content: int
    key: str | None
    made_from: Mapping[str, str]

    @property
    def numbers(self) -> dict[str, int]:
        """Return the transaction number for the key, if there is one."""
        return {owner_of(self.partition): number_of(self.key)} if self.key else {}


@dataclass(slots=True)
class TableState:
    """The state of a table after a commit.

    Attributes:
        parts: Its Parquet files by venue, then by path.
        numbers: The number of the last transaction of each owner.
    """

    parts: dict[str, dict[str, TablePart]]
    numbers: dict[str, int]

    def parts_of(self, partition: Mapping[str, str]) -> list[TablePart]:
        """Return the files in which the columns, including `venue_id`, have these values."""
        of_venue = self.parts.get(partition["venue_id"], {})
        return [part for part in of_venue.values() if partition.items() <= part.values.items()]

    def all_parts(self) -> Iterator[TablePart]:
        """Yield the files of all venues."""
        return (part for of_venue in self.parts.values() for part in of_venue.values())

    def copy(self) -> "TableState":
        """Return an independent copy."""
        return TableState({venue_id: dict(parts) for venue_id, parts in self.parts.items()}, dict(self.numbers))

    def of_venue(self, venue_id: str, stages: Sequence[str]) -> "TableState":
        """Return the table's state for a single venue, with rows set aside by each of these stages."""
        owners = [venue_id, *(f"{venue_id}/{stage}" for stage in stages)]
        names = [name for owner in owners for name in (owner, content_of(owner))]
        numbers = {name: self.numbers[name] for name in names if name in self.numbers}
        of_venue = self.parts.get(venue_id)
        return TableState({venue_id: dict(of_venue)} if of_venue else {}, numbers)

    def add(self, part: TablePart) -> None:
        """Add a file."""
        self.parts.setdefault(part.values["venue_id"], {})[part.relative] = part

    def remove(self, part: TablePart) -> None:
        """Remove a file."""
        of_venue = self.parts[part.values["venue_id"]]
        del of_venue[part.relative]
        if not of_venue:
            del self.parts[part.values["venue_id"]]


@dataclass(slots=True)
class TableChanges:
    """Changes to a table that will become one commit."""

    added: "dict[str, AddAction]" = field(default_factory=dict)
    removed: list[TablePart] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    made_from: list[Mapping[str, str]] = field(default_factory=list)

    def actions(self) -> "list[AddAction | RemoveAction]":
        """Return the actions of the commit."""
        from deltalake.transaction import RemoveAction

        now_ms = int(time.time() * 1000)
        removed = (
            RemoveAction(part.relative, True, now_ms, part.size_bytes, dict(part.values)) for part in self.removed
        )
        return [*removed, *self.added.values()]

    def properties(self) -> "CommitProperties":
        """Return the properties of the commit: its inputs, by stage and venue if there are several."""
        from deltalake import CommitProperties, Transaction

        metadata: dict[str, object] = dict(self.made_from[-1])
        if any(made_from != metadata for made_from in self.made_from):
            keys: dict[str, dict[str, str | None]] = defaultdict(dict)
            for made_from in self.made_from:
                keys[made_from["stage"]][made_from["venue_id"]] = made_from.get("content_key")
            metadata = {"made_from": keys}
        transactions = [Transaction(owner, number) for owner, number in self.numbers.items()]
        return CommitProperties(custom_metadata=metadata, app_transactions=transactions)


Identity = tuple[int, int]


@dataclass(slots=True)
class OpenedTable:
    """An opened table with its uncommitted changes.

    Attributes:
        table: The table, with the commits that were read; None if this process created it, until it is needed.
        identity: Value that distinguishes a local table from another one made in its place; None if not known.
        changed_at: Time in nanoseconds when a file of the log was last added or removed, taken before the last commits
            were read; two changes may have the same time. None if not taken.
        read_version: Number of the commit after which `state` was read; None if it was not read, or there is no commit
            yet.
        state: Its state, including uncommitted changes; None if it has different columns.
    """

    table: "DeltaTable | None"
    identity: Identity | None = None
    changed_at: int | None = None
    read_version: int | None = None
    state: TableState | None = None
    changes: TableChanges = field(default_factory=TableChanges)

    @property
    def version(self) -> int | None:
        """The number of the last commit; None if it has none yet."""
        return self.read_version if self.table is None else self.table.version()

    @property
    def is_changed(self) -> bool:
        """Whether there are uncommitted changes, or the table has no commit yet."""
        return bool(self.changes.made_from) or self.version is None

    def follow(self, log: Location) -> None:
        """Read the new commits of a local table."""
        assert isinstance(log, Path)
        assert self.table is not None
        changed_at = log.stat().st_mtime_ns
        if changed_at != self.changed_at or (log / name_commit(self.table.version() + 1)).exists():
            self.table.update_incremental()
            self.changed_at = changed_at

    def remove(self, partition: Mapping[str, str]) -> Iterator[str]:
        """Remove the files of a partition; yield the paths of uncommitted ones, which nothing refers to any more."""
        assert self.state is not None
        for part in self.state.parts_of(partition):
            self.state.remove(part)
            if self.changes.added.pop(part.relative, None):
                yield part.relative
            else:
                self.changes.removed.append(part)

    def add(self, action: "AddAction", partition: Mapping[str, str], rows: int) -> None:
        """Add a file to a partition."""
        assert self.state is not None
        self.state.add(TablePart(action.path, partition, rows, action.size))
        self.changes.added[action.path] = action

    def commit(self, schema: "Schema", columns: Sequence[str]) -> None:
        """Commit the changes; if another process has committed too, read the state again."""
        assert self.table is not None
        version = self.table.version()
        commits = version + 2  # Including this commit; they are numbered from 0.
        self.table.create_write_transaction(
            self.changes.actions(),
            "append",
            schema,
            list(columns),
            commit_properties=self.changes.properties(),
            post_commithook_properties=skip_hooks() if commits % CHECKPOINT_COMMITS else None,
        )
        self.table.update_incremental()
        self.read_version = version + 1
        self.changes = TableChanges()

    def create(
        self, url: str, name: str, schema: "Schema", columns: Sequence[str], options: dict[str, str] | None
    ) -> None:
        """Create the table with the changes as its first commit.

        It is not opened, because each look at the log of a table in a store is a listing.
        """
        from deltalake.transaction import create_table_with_add_actions

        create_table_with_add_actions(
            url,
            schema,
            list(self.changes.added.values()),
            partition_by=list(columns),
            name=name,
            storage_options=options,
            commit_properties=self.changes.properties(),
            post_commithook_properties=skip_hooks(),
        )
        self.read_version = 0
        self.changes = TableChanges()


def identify_table(log: Location) -> Identity | None:
    """Return a value that distinguishes a local table from another one made in its place; None if there is none.

    It identifies the first commit, or the folder of the log once the first commits are deleted after a checkpoint.
    """
    if not isinstance(log, Path):
        return None
    with suppress(FileNotFoundError):
        stat = (log / name_commit(0)).stat()
        return stat.st_ino, stat.st_mtime_ns
    with suppress(FileNotFoundError):
        return log.stat().st_ino, 0
    return None


def read_state(table: "DeltaTable", folder: Location, columns: Sequence[str]) -> TableState:
    """Return the state of a table after the newest commit; read the table up to that commit if necessary.

    Raises:
        DamagedError: Its log is damaged.
        OSError: The disk or the store cannot be reached, or refuses access.
    """
    state = TableState({}, _read_numbers(table, folder))
    named = ["path", "num_records", "size_bytes", *(f"partition.{column}" for column in columns)]
    # `pa.table` would import pandas to check whether this is one of its frames.
    actions = pa.RecordBatchReader.from_stream(table.get_add_actions(flatten=True)).read_all().select(named)
    for path, rows, size_bytes, *values in zip(*(column.to_pylist() for column in actions.columns), strict=True):
        state.add(TablePart(unquote(path), dict(zip(columns, values, strict=True)), rows, size_bytes))
    return state


class _Transaction(msgspec.Struct, rename="camel"):
    app_id: str
    version: int


class _Action(msgspec.Struct):
    txn: _Transaction | None = None


class _Checkpoint(msgspec.Struct):
    version: int
    parts: int | None = None


def _read_numbers(table: "DeltaTable", folder: Location) -> dict[str, int]:
    """Return the number of the last transaction of each owner; every commit since the last checkpoint is read."""
    log = folder / LOG
    number, checkpoint = _find_checkpoint(log)
    if number > table.version():
        table.update_incremental()  # Another process has written more commits.
    numbers: dict[str, int] = {}
    for path in checkpoint:
        try:
            numbers |= _read_checkpoint(path)
        except DamagedError:
            raise damaged_table(folder, "its log cannot be read") from None
    decoder = msgspec.json.Decoder(_Action)
    for commit in range(number + 1, table.version() + 1):
        try:
            actions = decoder.decode_lines(read_file(log / name_commit(commit)))
        except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
            raise damaged_table(folder, "its log cannot be read") from None
        numbers.update((action.txn.app_id, action.txn.version) for action in actions if action.txn)
    return numbers


def _read_checkpoint(path: Location) -> dict[str, int]:
    with open_part(path) as file:
        batches = file.iter_batches(columns=["txn.appId", "txn.version"])
        rows = (row.get("txn") for batch in batches for row in batch.to_pylist())
        return {row["appId"]: row["version"] for row in rows if row and row["appId"] is not None}


def _find_checkpoint(log: Location) -> tuple[int, list[Location]]:
    """Return the number of the last checkpoint and its files; -1 and none if there is no checkpoint."""
    try:
        last = msgspec.json.decode(read_file(log / _LAST_CHECKPOINT), type=_Checkpoint)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        last = None
    if last is not None and last.parts is None:
        return last.version, [log / name_commit(last.version, CHECKPOINT)]
    is_whole = (log / name_commit(0)).exists()
    files = [] if is_whole else [path for path in list_log(log) if ".checkpoint." in path.name]
    if not files:
        return -1, []
    number = files[-1].name[:NUMBER_DIGITS]
    return int(number), [path for path in files if path.name.startswith(number)]
