"""A release read again: its manifest, its Parquet files by configuration, their rows in bounded memory."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.errors import PeercorpusError
from peercorpus.publish.release import MANIFEST
from peercorpus.publish.shards import CONFIGS

SCHEMAS: dict[str, pa.Schema] = {config.name: config.schema for config in CONFIGS.values()}
"""What each configuration is declared to hold, by its name."""
KEYS: dict[str, tuple[str, ...]] = {
    "papers": ("forum_id",),
    "papers_full": ("forum_id",),
    "reviews": ("review_id",),
    "conversations": ("conversation_id",),
    "versions": ("forum_id", "edit_id"),
    "scores": ("review_id",),
    "links": ("forum_id", "earlier_id"),
    "tries": ("forum_id",),
    "review_sft": ("forum_id",),
    "rebuttal": ("forum_id",),
}
"""What names a row; rows of one name are taken together."""
FILE = re.compile(r"data/([\w-]+)/([\w-]+)-\d{5}-of-\d{5}\.parquet")
"""The path of a Parquet file: its configuration and its split."""
BATCH_ROWS = 50
READ_BYTES = 1 << 16


class Manifest(msgspec.Struct, frozen=True):
    """What `release.json` says.

    Attributes:
        version: Of peercorpus.
        files: Every other file with its sha256.
    """

    generator: Literal["peercorpus"]
    version: str
    files: dict[str, str]


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """One Parquet file.

    Attributes:
        name: Its path in the release.
    """

    config: str
    split: str
    name: str
    path: Path

    def schema(self) -> pa.Schema:
        """Its columns."""
        return pq.read_schema(self.path)

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Its rows; of some columns only, if any are named."""
        with pq.ParquetFile(self.path, pre_buffer=False, buffer_size=READ_BYTES) as file:
            for batch in file.iter_batches(BATCH_ROWS, columns=columns):
                yield from batch.to_pylist()


@dataclass(frozen=True, slots=True)
class Release:
    """A release on disk, of which nothing but its manifest is known to be whole."""

    folder: Path
    manifest: Manifest

    def shards(self, config: str | None = None) -> list[Shard]:
        """The Parquet files that are there and named, by configuration and split; of one configuration, if named."""
        found = []
        for name in self.manifest.files:
            parts, path = FILE.fullmatch(name), self.folder / name
            if parts is not None and config in {None, parts[1]} and path.is_file():
                found.append(Shard(parts[1], parts[2], name, path))
        return sorted(found)

    def split_files(self) -> list[Path]:
        """The files that name sides."""
        named = (self.folder / name for name in sorted(self.manifest.files) if re.fullmatch(r"splits/\w+\.json", name))
        return [path for path in named if path.is_file()]


def open_release(folder: Path) -> Release:
    """Open a release.

    Raises:
        PeercorpusError: It is none, or its manifest cannot be read.
    """
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        raise PeercorpusError(
            f"'{folder}' holds no release (a {MANIFEST} of peercorpus); name a folder that 'peercorpus publish' wrote."
        ) from None
    return Release(folder, manifest)


def key_of(config: str, schema: pa.Schema) -> tuple[str, ...]:
    """The columns that name a row; all of them where nothing names one."""
    key = KEYS.get(config) or tuple(name for name in schema.names if name.endswith("_id") and name != "venue_id")
    return key if key and set(key) <= set(schema.names) else tuple(schema.names)
