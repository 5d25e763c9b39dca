"""Rows → Parquet files by configuration and split, a row group at a time; and the rows of a file again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.parquet import open_parquet
from peercorpus.publish import schemas
from peercorpus.publish.features import parquet_metadata

SHARD_BYTES = 500_000_000
FEWEST_ROWS, MOST_ROWS, READ_BYTES = 16, 256, 400_000
"""What is held at once: of papers with their texts the fewest rows, of small rows, read sooner so, the most."""


@dataclass(frozen=True, slots=True)
class Config:
    """One table of the dataset.

    Attributes:
        says: What a row is.
        group_rows: Rows of a row group at most: what a reader holds at once, and what this writer holds per split.
        is_task: Whether its splits are sides to train and test on; else each is a conference family.
    """

    name: str
    schema: pa.Schema
    says: str
    group_rows: int
    is_task: bool = False


CONFIGS = {
    config.name: config
    for config in (
        Config("papers", schemas.PAPERS, "one row a submission", 200),
        Config("papers_full", schemas.PAPERS_FULL, "one row a submission, with all that is known of it, typed", 100),
        Config("reviews", schemas.REVIEWS, "one row a public official review", 500),
        Config("conversations", schemas.CONVERSATIONS, "one row an exchange with one reviewer", 500),
        Config("versions", schemas.VERSIONS, "one row a PDF of a submission", 5_000),
        Config("scores", schemas.SCORES, "one row a score of a review, before and after", 5_000),
        Config("links", schemas.LINKS, "one row a pair of submissions that are one work", 5_000),
        Config("tries", schemas.TRIES, "one row a submission of a work that was submitted more than once", 5_000),
        Config("review_sft", schemas.REVIEW_SFT, "one row a paper and its reviews, to learn reviewing", 200, True),
        Config("rebuttal", schemas.REBUTTAL, "one row a paper and its conversations, to learn discussing", 200, True),
    )
}
"""By their names; the first is the default."""


def read_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, in bounded memory; of some columns only, if any are named."""
    with open_parquet(path) as file:
        for batch in file.iter_batches(_rows_at_once(file.metadata), columns=columns):
            yield from batch.to_pylist()


def _rows_at_once(told: pq.FileMetaData) -> int:
    size_bytes = sum(told.row_group(group).total_byte_size for group in range(told.num_row_groups))
    rows: int = READ_BYTES * told.num_rows // max(1, size_bytes)
    return min(max(FEWEST_ROWS, rows), MOST_ROWS)


@dataclass(frozen=True, slots=True)
class Split:
    """What was written of one split of one configuration.

    Attributes:
        memory_bytes: Size in memory, as Arrow.
        file_bytes: Size of its files.
    """

    config: str
    name: str
    rows: int
    memory_bytes: int
    file_bytes: int
    shards: int


class SplitWriter:
    """One split of one configuration, in files of at most `shard_bytes`."""

    def __init__(self, folder: Path, config: Config, split: str, shard_bytes: int = SHARD_BYTES) -> None:
        self._folder, self._config, self._split = folder / "data" / config.name, config, split
        self._schema = config.schema.with_metadata(parquet_metadata(config.schema))
        self._shard_bytes = shard_bytes
        self._batch: list[dict[str, Any]] = []
        self._shards: list[Path] = []
        self._writer: pq.ParquetWriter | None = None
        self._sink: pa.NativeFile | None = None
        self._rows = self._memory_bytes = 0

    def add(self, row: dict[str, Any]) -> None:
        """Write one row."""
        self._batch.append(row)
        if len(self._batch) >= self._config.group_rows:
            self.flush()

    def flush(self) -> None:
        """Write the rows that are held as a row group."""
        if not self._batch:
            return
        table = pa.Table.from_pylist(self._batch, self._schema)
        self._batch = []
        if self._sink is not None and self._sink.tell() + table.nbytes > self._shard_bytes:
            self._close()
        writer = self._writer or self._open()
        writer.write_table(table)
        self._rows += table.num_rows
        self._memory_bytes += table.nbytes

    def _open(self) -> pq.ParquetWriter:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{self._split}-{len(self._shards):05d}.parquet"
        self._shards.append(path)
        self._sink = pa.OSFile(str(path), "wb")
        self._writer = pq.ParquetWriter(self._sink, self._schema, compression="zstd", write_page_index=True)
        return self._writer

    def _close(self) -> None:
        if self._writer is not None and self._sink is not None:
            self._writer.close()
            self._sink.close()
        self._writer = self._sink = None

    def finish(self) -> Split:
        """Close the files and give each its name, which says how many there are."""
        self.flush()
        self._close()
        count = len(self._shards)
        named = [path.with_name(f"{path.stem}-of-{count:05d}.parquet") for path in self._shards]
        for path, final in zip(self._shards, named, strict=True):
            path.rename(final)
        file_bytes = sum(path.stat().st_size for path in named)
        return Split(self._config.name, self._split, self._rows, self._memory_bytes, file_bytes, count)


class Writers:
    """The writers of all splits, made as they are needed: `datasets` cannot open a split without rows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writers: dict[tuple[int, str], SplitWriter] = {}

    def add(self, config: str, split: str, row: dict[str, Any]) -> None:
        """Write one row."""
        key = ([*CONFIGS].index(config), split)
        if key not in self._writers:
            self._writers[key] = SplitWriter(self._folder, CONFIGS[config], split)
        self._writers[key].add(row)

    def flush(self) -> None:
        """Write all rows that are held: of many splits they would fill the memory."""
        for writer in self._writers.values():
            writer.flush()

    def finish(self) -> list[Split]:
        """Close all files; splits by configuration, then by name."""
        return [writer.finish() for _, writer in sorted(self._writers.items(), key=itemgetter(0))]
