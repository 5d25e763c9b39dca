"""Compare two releases row by row.

Only a digest per row is kept in memory, so releases may be larger than memory.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pyarrow as pa

from peercorpus.corpus.takedown import RECORDS, TOMBSTONE
from peercorpus.errors import PeercorpusError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH
from peercorpus.release.folder import Release, Shard, key_columns
from peercorpus.release.split_file import read_split_file
from peercorpus.release.splits import Split

_DIGEST_BYTES = 16
_DIGEST_MODULUS = 1 << (8 * _DIGEST_BYTES)
RECORD_OF = {**{name: name for name in RECORDS}, "papers_full": "papers", DEFAULT_OF_REVIEWBENCH: "papers"}
"""The name under which the tombstone counts the rows of a configuration."""


@dataclass(slots=True)
class Delta:
    """Ids of the rows of one configuration and venue that differ.

    Attributes:
        taken_down: Number of removed rows that the later tombstone counts as taken down; None if it does not say.
    """

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    taken_down: int | None = None


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A column that was added, removed or changed in type; the whole configuration if `column` is None.

    Attributes:
        before: Its type in the earlier release; None if it did not exist.
        after: Its type in the later release; None if it does not exist.
    """

    config: str
    column: str | None
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class SplitChange:
    """A paper whose split differs.

    Attributes:
        after: None if the later file does not name it.
    """

    profile: str
    forum_id: str
    before: Split
    after: Split | None


@dataclass(frozen=True, slots=True)
class Differences:
    """All differences between two releases.

    Attributes:
        rows: By configuration and venue; the venue is empty if rows name none. Rows are compared in the columns that
            both releases have with the same type.
        splits_added: Papers that have a split only in the later release.
    """

    rows: dict[str, dict[str, Delta]]
    columns: list[ColumnChange]
    splits: list[SplitChange]
    splits_added: int


class _Tombstone(msgspec.Struct):
    venues: dict[str, dict[str, int]] | None = None


def _read_tombstone(release: Release) -> Mapping[str, Mapping[str, int]] | None:
    try:
        return msgspec.json.decode((release.folder / TOMBSTONE).read_bytes(), type=_Tombstone).venues
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _compare_columns(config: str, before: pa.Schema, after: pa.Schema) -> Iterator[ColumnChange]:
    if not before.names or not after.names:
        yield ColumnChange(config=config, column=None, before=_describe_schema(before), after=_describe_schema(after))
        return
    for name in dict.fromkeys([*before.names, *after.names]):
        kinds = [str(schema.field(name).type) if name in schema.names else None for schema in (before, after)]
        if kinds[0] != kinds[1]:
            yield ColumnChange(config=config, column=name, before=kinds[0], after=kinds[1])


def _describe_schema(schema: pa.Schema) -> str | None:
    return f"{len(schema.names)} columns" if schema.names else None


def _digest_rows(shards: list[Shard], key: tuple[str, ...], columns: list[str]) -> dict[str, tuple[str, int]]:
    """Return the venue and the digest of every row by id; for rows that share an id, the first venue and the sum."""
    digests: dict[str, tuple[str, int]] = {}
    venues: dict[str, str] = {}
    for shard in shards:
        for row in shard.rows(columns):
            row_id = "/".join(str(row[name]) for name in key)
            venue_id, before = digests.get(row_id, (row.get("venue_id") or "", 0))
            # Sorted, so that the order of columns does not matter.
            encoded = msgspec.json.encode(row, order="sorted")
            digest = int.from_bytes(hashlib.blake2b(encoded, digest_size=_DIGEST_BYTES).digest(), "big")
            digests[row_id] = (venues.setdefault(venue_id, venue_id), (before + digest) % _DIGEST_MODULUS)
    return digests


def _compare(before: dict[str, tuple[str, int]], after: dict[str, tuple[str, int]]) -> dict[str, Delta]:
    deltas: dict[str, Delta] = {}
    for row_id, (venue_id, digest) in after.items():
        earlier = before.pop(row_id, None)
        if earlier is None:
            deltas.setdefault(venue_id, Delta()).added.append(row_id)
        elif earlier != (venue_id, digest):
            deltas.setdefault(venue_id, Delta()).changed.append(row_id)
    for row_id, (venue_id, _) in before.items():
        deltas.setdefault(venue_id, Delta()).gone.append(row_id)
    return deltas


def _compare_config(config: str, earlier: Release, later: Release) -> tuple[dict[str, Delta], list[ColumnChange]]:
    files = [release.shards(config) for release in (earlier, later)]
    before, after = (shards[0].schema() if shards else pa.schema([]) for shards in files)
    changes = list(_compare_columns(config, before, after))
    schema = before if before.names else after
    moved = {change.column for change in changes}
    columns = [name for name in schema.names if name not in moved]
    key = key_columns(config, schema.empty_table().select(columns).schema)
    digests = [_digest_rows(shards, key, columns) for shards in files]
    return _compare(digests[0], digests[1]), changes


def _count_records(config: str, records: Mapping[str, int]) -> int:
    """Return the number of rows taken down in a configuration; `posts` has no reviews, which the tombstone counts."""
    return records.get(RECORD_OF.get(config, ""), 0) - (records.get("reviews", 0) if config == "posts" else 0)


def _count_taken(rows: Mapping[str, Mapping[str, Delta]], earlier: Release, later: Release) -> None:
    """Set how many of the removed rows were taken down in between, as far as the tombstones record it."""
    before, after = _read_tombstone(earlier), _read_tombstone(later)
    if before is None or after is None:
        return
    for config, deltas in rows.items():
        for venue_id, delta in deltas.items():
            counts = [_count_records(config, tombstone.get(venue_id, {})) for tombstone in (before, after)]
            if config in RECORD_OF:
                delta.taken_down = max(0, min(len(delta.gone), counts[1] - counts[0]))


def _compare_splits(earlier: Release, later: Release) -> tuple[list[SplitChange], int]:
    before, after = (
        {path.stem: read_split_file(path).read().of for path in release.split_files()} for release in (earlier, later)
    )
    moved = []
    added = 0
    for profile in sorted(before.keys() & after.keys()):
        first, second = before[profile], after[profile]
        moved += [
            SplitChange(profile=profile, forum_id=forum_id, before=split, after=second.get(forum_id))
            for forum_id, split in sorted(first.items())
            if second.get(forum_id) is not split
        ]
        added += len(second.keys() - first.keys())
    return moved, added


def find_differences(before: Release, after: Release, show: Show = show_nothing) -> Differences:
    """Return the differences between an earlier and a later release.

    Args:
        before: The earlier release.
        after: The later release.
        show: Receives the number of configurations compared so far.

    Raises:
        PeercorpusError: A file cannot be read.
    """
    before, after = before.of_what_is_there(), after.of_what_is_there()
    rows: dict[str, dict[str, Delta]] = {}
    columns: list[ColumnChange] = []
    try:
        configs = sorted({shard.config for release in (before, after) for shard in release.shards()})
        meter = Meter(f"{before.folder.name}, {after.folder.name}", "diff", show)
        for done, config in enumerate(configs, 1):
            rows[config], changes = _compare_config(config, before, after)
            columns += changes
            meter.report(done, len(configs))
    except (pa.ArrowException, OSError):
        raise PeercorpusError(
            f"A Parquet file of '{before.folder}' or '{after.folder}' cannot be read; 'peercorpus verify' names it."
        ) from None
    _count_taken(rows, before, after)
    splits, splits_added = _compare_splits(before, after)
    return Differences(rows=rows, columns=columns, splits=splits, splits_added=splits_added)


def diff_to_dict(differences: Differences, *, with_ids: bool) -> Any:  # noqa: ANN401 -- JSON
    """Return the differences as a JSON object: counts, or with `with_ids` the ids themselves."""
    rows = {
        config: {venue_id: _delta_to_dict(delta, with_ids=with_ids) for venue_id, delta in sorted(deltas.items())}
        for config, deltas in differences.rows.items()
    }
    splits: Any = msgspec.to_builtins(differences.splits) if with_ids else len(differences.splits)
    return {
        "rows": rows,
        "columns": msgspec.to_builtins(differences.columns),
        "splits_changed": splits,
        "splits_added": differences.splits_added,
    }


def _delta_to_dict(delta: Delta, *, with_ids: bool) -> dict[str, Any]:
    lists = {"added": delta.added, "changed": delta.changed, "gone": delta.gone}
    counts: dict[str, Any] = {name: sorted(ids) if with_ids else len(ids) for name, ids in lists.items()}
    return counts | {"taken_down": delta.taken_down}
