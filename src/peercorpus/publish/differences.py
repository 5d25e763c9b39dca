"""What differs between two releases: rows by venue and configuration, sides, and columns; rows are held as digests."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pyarrow as pa

from peercorpus.errors import PeercorpusError
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.publish.opened import Release, Shard, key_of
from peercorpus.publish.split_files import read_sides
from peercorpus.publish.splits import Side
from peercorpus.publish.takedown import RECORDS, TOMBSTONE

DIGEST_BYTES = 16
MODULUS = 1 << (8 * DIGEST_BYTES)
RECORD_OF = {**{name: name for name in RECORDS}, "papers_full": "papers"}
"""What the tombstone calls the rows of a configuration."""


@dataclass(slots=True)
class Delta:
    """Rows of one configuration and venue that differ, by their ids.

    Attributes:
        taken_down: How many of those gone the later tombstone counts as taken down; None where it does not tell.
    """

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    taken_down: int | None = None


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A column that is not the same in both; a configuration as a whole where `column` is None.

    Attributes:
        before: Its type; None where it was not there. `after` likewise.
    """

    config: str
    column: str | None
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class SideChange:
    """A paper whose side is not the same in both.

    Attributes:
        after: None where the later file does not name it.
    """

    profile: str
    forum_id: str
    before: Side
    after: Side | None


@dataclass(frozen=True, slots=True)
class Differences:
    """All that differs.

    Attributes:
        rows: By configuration and venue; the venue is empty where rows name none. Rows are compared in the columns
            that both releases have with one type.
        sides_added: Papers that have a side in the later one only.
    """

    rows: dict[str, dict[str, Delta]]
    columns: list[ColumnChange]
    sides: list[SideChange]
    sides_added: int


class _Tombstone(msgspec.Struct):
    venues: dict[str, dict[str, int]] | None = None


def _taken(release: Release) -> Mapping[str, Mapping[str, int]] | None:
    try:
        return msgspec.json.decode((release.folder / TOMBSTONE).read_bytes(), type=_Tombstone).venues
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _schema(shards: list[Shard]) -> pa.Schema:
    return shards[0].schema() if shards else pa.schema([])


def _changed_columns(config: str, before: pa.Schema, after: pa.Schema) -> Iterator[ColumnChange]:
    if not before.names or not after.names:
        yield ColumnChange(config, None, _state(before), _state(after))
        return
    for name in dict.fromkeys([*before.names, *after.names]):
        kinds = [str(schema.field(name).type) if name in schema.names else None for schema in (before, after)]
        if kinds[0] != kinds[1]:
            yield ColumnChange(config, name, kinds[0], kinds[1])


def _state(schema: pa.Schema) -> str | None:
    return f"{len(schema.names)} columns" if schema.names else None


def _digests(shards: list[Shard], key: tuple[str, ...], columns: list[str]) -> dict[str, tuple[str, int]]:
    """The venue and the digest of every row by its id; of several rows of one id, the first venue and the sum."""
    found: dict[str, tuple[str, int]] = {}
    venues: dict[str, str] = {}
    for shard in shards:
        for row in shard.rows(columns):
            row_id = "/".join(str(row[name]) for name in key)
            venue_id, before = found.get(row_id, (row.get("venue_id") or "", 0))
            # Sorted, so that the order of columns does not count.
            told = msgspec.json.encode(row, order="sorted")
            digest = int.from_bytes(hashlib.blake2b(told, digest_size=DIGEST_BYTES).digest(), "big")
            found[row_id] = (venues.setdefault(venue_id, venue_id), (before + digest) % MODULUS)
    return found


def _compare(before: dict[str, tuple[str, int]], after: dict[str, tuple[str, int]]) -> dict[str, Delta]:
    deltas: dict[str, Delta] = {}
    for row_id, (venue_id, digest) in after.items():
        held = before.pop(row_id, None)
        if held is None:
            deltas.setdefault(venue_id, Delta()).added.append(row_id)
        elif held != (venue_id, digest):
            deltas.setdefault(venue_id, Delta()).changed.append(row_id)
    for row_id, (venue_id, _) in before.items():
        deltas.setdefault(venue_id, Delta()).gone.append(row_id)
    return deltas


def _of_config(config: str, one: Release, other: Release) -> tuple[dict[str, Delta], list[ColumnChange]]:
    files = [release.shards(config) for release in (one, other)]
    before, after = map(_schema, files)
    changes = list(_changed_columns(config, before, after))
    known = before if before.names else after
    moved = {change.column for change in changes}
    columns = [name for name in known.names if name not in moved]
    key = key_of(config, known.empty_table().select(columns).schema)
    digests = [_digests(shards, key, columns) for shards in files]
    return _compare(digests[0], digests[1]), changes


def _count_taken(rows: Mapping[str, Mapping[str, Delta]], one: Release, other: Release) -> None:
    """Say of what is gone how much was taken down in between, as far as the tombstones tell."""
    before, after = _taken(one), _taken(other)
    if before is None or after is None:
        return
    for config, deltas in rows.items():
        for venue_id, delta in deltas.items():
            counts = [taken.get(venue_id, {}).get(RECORD_OF.get(config, ""), 0) for taken in (before, after)]
            if config in RECORD_OF:
                delta.taken_down = max(0, min(len(delta.gone), counts[1] - counts[0]))


def _sides(one: Release, other: Release) -> tuple[list[SideChange], int]:
    before, after = ({path.stem: read_sides(path).of for path in release.split_files()} for release in (one, other))
    moved, added = [], 0
    for profile in sorted(before.keys() & after.keys()):
        first, second = before[profile], after[profile]
        moved += [
            SideChange(profile, forum_id, side, second.get(forum_id))
            for forum_id, side in sorted(first.items())
            if second.get(forum_id) is not side
        ]
        added += len(second.keys() - first.keys())
    return moved, added


def find_differences(one: Release, other: Release, show: Show = show_nothing) -> Differences:
    """What differs between an earlier release and a later one.

    Args:
        one: The earlier one.
        other: The later one.
        show: Told how many configurations are compared.

    Raises:
        PeercorpusError: A file cannot be read.
    """
    one, other = one.of_what_is_there(), other.of_what_is_there()
    rows: dict[str, dict[str, Delta]] = {}
    columns: list[ColumnChange] = []
    try:
        configs = sorted({shard.config for release in (one, other) for shard in release.shards()})
        meter = Meter(f"{one.folder.name}, {other.folder.name}", "diff", show)
        for done, config in enumerate(configs, 1):
            rows[config], changes = _of_config(config, one, other)
            columns += changes
            meter.report(done, len(configs))
    except (pa.ArrowException, OSError):
        raise PeercorpusError(
            f"A Parquet file of '{one.folder}' or '{other.folder}' cannot be read; 'peercorpus verify' says which."
        ) from None
    _count_taken(rows, one, other)
    sides, sides_added = _sides(one, other)
    return Differences(rows, columns, sides, sides_added)


def as_json(found: Differences, *, with_ids: bool) -> Any:  # noqa: ANN401 -- JSON
    """Counts, and the ids on request."""
    rows = {
        config: {venue_id: _told(delta, with_ids=with_ids) for venue_id, delta in sorted(deltas.items())}
        for config, deltas in found.rows.items()
    }
    sides: Any = msgspec.to_builtins(found.sides) if with_ids else len(found.sides)
    return {
        "rows": rows,
        "columns": msgspec.to_builtins(found.columns),
        "sides_changed": sides,
        "sides_added": found.sides_added,
    }


def _told(delta: Delta, *, with_ids: bool) -> dict[str, Any]:
    lists = {"added": delta.added, "changed": delta.changed, "gone": delta.gone}
    told: dict[str, Any] = {name: sorted(ids) if with_ids else len(ids) for name, ids in lists.items()}
    return told | {"taken_down": delta.taken_down}
