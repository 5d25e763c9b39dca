"""A release as others read it: what its manifest names, and the rows of a split, a few at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.errors import PeercorpusError
from peercorpus.publish.opened import FILE, open_release
from peercorpus.publish.release import MANIFEST, digest_of
from peercorpus.publish.split_files import SPLITS, SplitFile, read_split_file
from peercorpus.publish.tasks import READ_BYTES

BATCH_ROWS = 16
"""Rows that are held at once: a paper's text is the greater part of one."""


@dataclass(frozen=True, slots=True)
class ReleaseRows:
    """A release on disk.

    Attributes:
        names: The files that its manifest names.
        sha256: Of the manifest, which has those of all files: it stands for the whole release.
        version: Of peercorpus, which wrote it.
    """

    folder: Path
    names: tuple[str, ...]
    sha256: str
    version: str

    def shards(self, config: str, split: str | None = None) -> list[Path]:
        """The Parquet files of a configuration, of one split or of all."""
        found = ((name, FILE.fullmatch(name)) for name in self.names)
        return [
            self.folder / name for name, shard in found if shard and shard[1] == config and split in {None, shard[2]}
        ]

    def count(self, config: str, split: str) -> int:
        """Rows of a split; 0 where the release has no such split.

        Raises:
            PeercorpusError: A file that the manifest names cannot be read.
        """
        return sum(_open(path).metadata.num_rows for path in self.shards(config, split))

    def rows(self, config: str, split: str | None, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
        """The rows of a split in their order, or of all splits.

        Args:
            config: The configuration.
            split: None for all.
            columns: None for all.

        Raises:
            PeercorpusError: A file cannot be read, or has not these columns.
        """
        for path in self.shards(config, split):
            file = _open(path)
            absent = sorted(set(columns or ()) - set(file.schema_arrow.names))
            if absent:
                raise PeercorpusError(f"'{path}' has no column '{absent[0]}'; publish the release again.")
            try:
                for batch in file.iter_batches(BATCH_ROWS, columns=columns):
                    yield from batch.to_pylist()
            except (pa.ArrowException, OSError) as error:
                raise _unreadable(path, error) from None

    def sides(self) -> SplitFile | None:
        """The file that says which paper is on which side; None where the release has none.

        Raises:
            PeercorpusError: It cannot be read.
        """
        path = next((self.folder / name for name in self.names if Path(name).parent.name == SPLITS), None)
        if path is None:
            return None
        return read_split_file(path)


def _unreadable(path: Path, error: Exception) -> PeercorpusError:
    return PeercorpusError(f"'{path}' of the release cannot be read ({error}); take an intact copy.")


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, pre_buffer=False, buffer_size=READ_BYTES)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None


def open_rows(folder: Path) -> ReleaseRows:
    """The release in a folder.

    Raises:
        PeercorpusError: It holds none.
    """
    manifest = open_release(folder).manifest
    return ReleaseRows(folder, tuple(sorted(manifest.files)), digest_of(folder / MANIFEST), manifest.version)
