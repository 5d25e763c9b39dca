"""Write rows to Parquet shards that `datasets` can open with their features, and read them in bounded memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.release import discussion_schemas, schemas, task_schemas, text_schemas
from peercorpus.release.columns import Columns, Config, parquet_metadata
from peercorpus.workspace.object_store import file_digest
from peercorpus.workspace.parquet import open_parquet

SHARD_BYTES = 500_000_000
_TARGET_BYTES_READ = 400_000
"""Bytes of a file read at once, within the next two bounds."""
_MIN_ROWS_READ = 16
"""Minimum rows read at once, for large rows such as papers with their texts."""
_MAX_ROWS_READ = 256
"""Maximum rows read at once, for small rows."""


_DECLARED: tuple[type[Columns], ...] = (
    *(schemas.Papers, schemas.PapersFull, schemas.Reviews, schemas.MetaReviews, discussion_schemas.AiReviews),
    *(schemas.Posts, schemas.Conversations, text_schemas.Versions, text_schemas.Texts, text_schemas.Figures),
    *(text_schemas.Changes, schemas.Scores, discussion_schemas.Points, discussion_schemas.Answers, schemas.Links),
    *(schemas.Tries, task_schemas.ReviewSft, task_schemas.Rebuttal, task_schemas.MetaReviewSft),
    task_schemas.Acceptance,
)
CONFIGS = {declared.config.name: declared.config for declared in _DECLARED}
"""All configurations of the layout `peercorpus` by name; the first is the default."""
TASK_CONFIGS = frozenset(config.name for config in CONFIGS.values() if config.is_task)
"""Configurations split into train, validation and test."""
REVIEWBENCH = schemas.ReviewBench.config
"""The configuration of the layout `reviewbench`."""
EVERY_CONFIG = CONFIGS | {REVIEWBENCH.name: REVIEWBENCH}
_PLACES = {name: place for place, name in enumerate(EVERY_CONFIG)}


def read_shard_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file in bounded memory; None for all columns."""
    with open_parquet(path) as file:
        metadata = file.metadata
        size_bytes = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
        batch_rows = _TARGET_BYTES_READ * metadata.num_rows // max(1, size_bytes)
        batch_rows = min(max(_MIN_ROWS_READ, batch_rows), _MAX_ROWS_READ)
        for batch in file.iter_batches(batch_rows, columns=columns):
            yield from batch.to_pylist()


@dataclass(frozen=True, slots=True)
class SplitShards:
    """Counts of one written split of one configuration.

    Attributes:
        memory_bytes: Size in Arrow's memory format.
        file_bytes: Size of its files.
    """

    config: str
    name: str
    rows: int
    memory_bytes: int
    file_bytes: int
    shards: int


class FileRecord(msgspec.Struct, frozen=True):
    """The content of a release's Parquet file, wherever it is.

    Attributes:
        sha256: Digest of its bytes.
        memory_bytes: Size in Arrow's memory format.
        file_bytes: Its size.
    """

    config: str
    split: str
    sha256: str
    rows: int
    memory_bytes: int
    file_bytes: int


@dataclass(slots=True)
class ShardFile:
    """A finished file of a release that is being written.

    Attributes:
        path: Its current path; it gets its final name with the last file of its split.
    """

    path: Path
    record: FileRecord


class SplitWriter:
    """Writes one split of one configuration, in files of at most `shard_bytes`."""

    def __init__(self, folder: Path, config: Config, split: str, shard_bytes: int = SHARD_BYTES) -> None:
        self._folder = folder / config.folder
        self._config = config
        self._split = split
        self._schema = config.schema.with_metadata(parquet_metadata(config.schema))
        self._shard_bytes = shard_bytes
        self._batch: list[dict[str, Any]] = []
        self._files: list[ShardFile] = []
        self._cut = 0
        self._writer: pq.ParquetWriter | None = None
        self._sink: pa.NativeFile | None = None
        self._rows = self._memory_bytes = 0

    def add(self, row: dict[str, Any]) -> None:
        """Add one row; it is written with its row group."""
        self._batch.append(row)
        if len(self._batch) >= self._config.group_rows:
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows as one row group."""
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

    def _next_path(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{self._split}-{len(self._files):05d}.parquet"

    def _open(self) -> pq.ParquetWriter:
        self._sink = pa.OSFile(str(self._next_path()), "wb")
        self._writer = pq.ParquetWriter(
            self._sink, self._schema, compression="zstd", write_page_index=True, write_page_checksum=True
        )
        return self._writer

    def _close(self) -> None:
        if self._writer is None or self._sink is None:
            return
        self._writer.close()
        self._sink.close()
        self._writer = self._sink = None
        path = self._next_path()
        counts = self._rows, self._memory_bytes, path.stat().st_size
        self._files.append(
            ShardFile(path, FileRecord(self._config.name, self._split, file_digest(path), *counts)),
        )
        self._rows = self._memory_bytes = 0

    def cut(self) -> list[ShardFile]:
        """End the current file, and return the files written since the last cut."""
        self.flush()
        self._close()
        since, self._cut = self._files[self._cut :], len(self._files)
        return since

    def adopt(self, file: ShardFile) -> None:
        """Append a finished file to those written so far."""
        path = self._next_path()
        file.path.rename(path)
        file.path = path
        self._files.append(file)

    def finish(self) -> SplitShards:
        """Close the files and give each its final name, which includes the number of files."""
        self.cut()
        count = len(self._files)
        for file in self._files:
            final = file.path.with_name(f"{file.path.stem}-of-{count:05d}.parquet")
            file.path.rename(final)
            file.path = final
        return SplitShards(
            config=self._config.name,
            name=self._split,
            rows=sum(file.record.rows for file in self._files),
            memory_bytes=sum(file.record.memory_bytes for file in self._files),
            file_bytes=sum(file.record.file_bytes for file in self._files),
            shards=count,
        )

    @property
    def files(self) -> Sequence[ShardFile]:
        """The finished files."""
        return self._files


class Writers:
    """The writers of all splits, each created with its first row because `datasets` cannot open an empty split."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writers: dict[tuple[int, str], SplitWriter] = {}
        self._begun: dict[tuple[int, str], SplitWriter] = {}

    def _of(self, config: str, split: str) -> SplitWriter:
        key = (_PLACES[config], split)
        if key not in self._writers:
            self._writers[key] = SplitWriter(self._folder, EVERY_CONFIG[config], split)
        self._begun[key] = self._writers[key]
        return self._begun[key]

    def add(self, config: str, split: str, row: dict[str, Any]) -> None:
        """Add one row; it is written with its row group."""
        self._of(config, split).add(row)

    def flush(self) -> None:
        """Write all buffered rows: with many splits, the buffers would exhaust memory."""
        for writer in self._begun.values():
            writer.flush()

    def cut(self) -> list[ShardFile]:
        """End all current files; return those since the last cut, by configuration, then by split."""
        files = [file for _, writer in sorted(self._begun.items(), key=itemgetter(0)) for file in writer.cut()]
        self._begun = {}
        return files

    def adopt(self, files: Iterable[ShardFile]) -> None:
        """Append finished files to those written so far."""
        self.cut()
        for file in files:
            self._of(file.record.config, file.record.split).adopt(file)
        self.cut()

    def finish(self) -> list[SplitShards]:
        """Close all files and return their counts by configuration, then by split."""
        return [writer.finish() for _, writer in sorted(self._writers.items(), key=itemgetter(0))]

    @property
    def digests(self) -> dict[str, str]:
        """The sha256 of each finished file by its path in the release."""
        files = (file for writer in self._writers.values() for file in writer.files)
        return {file.path.relative_to(self._folder).as_posix(): file.record.sha256 for file in files}
