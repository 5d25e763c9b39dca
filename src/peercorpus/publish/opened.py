"""A release read again: its manifest, its Parquet files by configuration, their rows in bounded memory."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.errors import PeercorpusError
from peercorpus.publish.release import MANIFEST
from peercorpus.publish.shards import CONFIGS, read_rows
from peercorpus.publish.split_files import SplitFile, read_split_file

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
        return read_rows(self.path, columns)


@dataclass(frozen=True, slots=True)
class Release:
    """A release on disk, of which nothing but its manifest is known to be whole.

    Attributes:
        sha256: Of the manifest, which has those of all files: it stands for the whole release.
    """

    folder: Path
    manifest: Manifest
    sha256: str

    @property
    def version(self) -> str:
        """Of peercorpus, which wrote it."""
        return self.manifest.version

    def shards(self, config: str | None = None, split: str | None = None) -> list[Shard]:
        """The Parquet files that are named, by configuration and split; of one, or of one split of one."""
        named = ((name, FILE.fullmatch(name)) for name in self.manifest.files)
        found = [Shard(parts[1], parts[2], name, self.folder / name) for name, parts in named if parts]
        return sorted(one for one in found if config in {None, one.config} and split in {None, one.split})

    def split_files(self) -> list[Path]:
        """The files that name sides."""
        return [self.folder / name for name in sorted(self.manifest.files) if re.fullmatch(r"splits/\w+\.json", name)]

    def of_what_is_there(self) -> "Release":
        """The release without the files that are named and not there."""
        there = {name: sha256 for name, sha256 in self.manifest.files.items() if (self.folder / name).is_file()}
        return replace(self, manifest=msgspec.structs.replace(self.manifest, files=there))

    def count(self, config: str, split: str) -> int:
        """Rows of a split; 0 where the release has no such split.

        Raises:
            PeercorpusError: A file that the manifest names cannot be read.
        """
        rows = 0
        for shard in self.shards(config, split):
            with _told(shard):
                rows += pq.read_metadata(shard.path).num_rows
        return rows

    def rows(self, config: str, split: str | None, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
        """The rows of a split in their order, or of all splits.

        Args:
            config: The configuration.
            split: None for all.
            columns: None for all.

        Raises:
            PeercorpusError: A file cannot be read, or has not these columns.
        """
        for shard in self.shards(config, split):
            with _told(shard):
                absent = sorted(set(columns or ()) - set(shard.schema().names))
                if absent:
                    raise PeercorpusError(f"'{shard.path}' has no column '{absent[0]}'; publish the release again.")
                yield from shard.rows(columns)

    def sides(self) -> SplitFile | None:
        """The file that says which paper is on which side; None where the release has none.

        Raises:
            PeercorpusError: It cannot be read.
        """
        paths = self.split_files()
        return read_split_file(paths[0]) if paths else None


@contextmanager
def _told(shard: Shard) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise PeercorpusError(f"'{shard.path}' of the release cannot be read ({error}); take an intact copy.") from None


def open_release(folder: Path) -> Release:
    """Open a release.

    Raises:
        PeercorpusError: It is none, or its manifest cannot be read.
    """
    try:
        content = (folder / MANIFEST).read_bytes()
        manifest = msgspec.json.decode(content, type=Manifest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        raise PeercorpusError(
            f"'{folder}' holds no release (a {MANIFEST} of peercorpus); name a folder that 'peercorpus publish' wrote."
        ) from None
    return Release(folder, manifest, hashlib.sha256(content).hexdigest())


def key_of(config: str, schema: pa.Schema) -> tuple[str, ...]:
    """The columns that name a row; all of them where nothing names one."""
    key = KEYS.get(config) or tuple(name for name in schema.names if name.endswith("_id") and name != "venue_id")
    return key if key and set(key) <= set(schema.names) else tuple(schema.names)
