"""Find the Markdown of a venue's files by their sha256, in bounded memory.

`VenueTexts` and `TextStore` store many texts compressed in a scratch file; `find_text` looks up a single one.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

import msgspec
import pyarrow.parquet as pq
import zstandard

from peercorpus.records.blocks import TextBlock
from peercorpus.records.documents import PAGE_BREAK, TextHeading
from peercorpus.records.papers import PaperVersion
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.parquet import open_part

_STORE_COLUMNS = ["sha256", "markdown", "engine", "engine_version"]
_OUTLINE_COLUMNS = ["pages", "headings"]
_BLOCK_COLUMNS = ["blocks"]
_BATCH_ROWS = 32
"""Number of texts in memory at once."""
_COMPRESSION_LEVEL = 1
"""Level of Zstandard compression: the fastest regular one."""


class Outline(NamedTuple):
    """The structure of a text.

    Attributes:
        pages: Number of pages; None if unknown.
        blocks: Its blocks; None if they were not requested, or the engine does not find blocks.
    """

    pages: int | None
    headings: list[TextHeading]
    blocks: tuple[TextBlock, ...] | None = None


class TextStore:
    """The texts of chosen files, compressed in a scratch file; only their positions are in memory.

    `sha256 in store` is true for the files whose text the table has.
    """

    def __init__(
        self,
        scratch: IO[bytes],
        tables: Tables,
        venue_id: str,
        sha256s: Set[str],
        *,
        with_outlines: bool = False,
        with_blocks: bool = False,
    ) -> None:
        self._scratch = scratch
        self._places: dict[str, tuple[int, int]] = {}
        self._outlines: dict[str, tuple[int, int]] = {}
        self._engines: dict[str, str] = {}
        self._empty: set[str] = set()
        self._decompressor = zstandard.ZstdDecompressor()
        compressor = zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL)
        outline_columns = [*_OUTLINE_COLUMNS, *(_BLOCK_COLUMNS if with_blocks else ())] if with_outlines else []
        columns = [*_STORE_COLUMNS, *outline_columns]
        for batch in tables.batches("5-texts", venue_id, columns, _BATCH_ROWS):
            for row in batch.to_pylist():
                if row["sha256"] in sha256s:
                    self._places[row["sha256"]] = self._keep(compressor.compress(row["markdown"].encode()))
                    self._engines[row["sha256"]] = f"{row['engine']} {row['engine_version']}".strip()
                    if not any(map(str.strip, row["markdown"].split(PAGE_BREAK))):
                        self._empty.add(row["sha256"])
                    if with_outlines:
                        outline = msgspec.msgpack.encode([row[column] for column in outline_columns])
                        self._outlines[row["sha256"]] = self._keep(compressor.compress(outline))

    def _keep(self, compressed: bytes) -> tuple[int, int]:
        place = self._scratch.tell(), len(compressed)
        self._scratch.write(compressed)
        return place

    def _find(self, place: tuple[int, int]) -> bytes:
        self._scratch.seek(place[0])
        return self._decompressor.decompress(self._scratch.read(place[1]))

    def __contains__(self, sha256: object) -> bool:
        return sha256 in self._places

    def read(self, sha256: str) -> str:
        """Return the Markdown of a file.

        Raises:
            KeyError: The file was not requested, or has no text.
        """
        return self._find(self._places[sha256]).decode()

    def outline(self, sha256: str) -> Outline:
        """Return the pages and headings of a file, if the store was made with them; raise KeyError as `read` does."""
        return msgspec.msgpack.decode(self._find(self._outlines[sha256]), type=Outline)

    def has_words(self, sha256: str) -> bool:
        """Return whether the stored text of a file has anything on a page."""
        return sha256 not in self._empty

    def engine(self, sha256: str) -> str:
        """Return the engine that read a file, with its version; raise KeyError as `read` does."""
        return self._engines[sha256]


ChooseVersions = Callable[[Sequence[PaperVersion]], Iterable[PaperVersion]]
"""Chooses, among the versions of one paper, those whose texts are needed."""


def _find_files(tables: Tables, venue_id: str, choose: ChooseVersions) -> Iterator[str]:
    for _, of_forum in groupby(tables.read(PaperVersion, venue_id), key=lambda version: version.forum_id):
        yield from (str(version.sha256) for version in choose(list(of_forum)))


class VenueTexts(TextStore):
    """The chosen texts of a venue's papers, with outlines; a context manager that removes its scratch file."""

    def __init__(
        self,
        tables: Tables,
        venue_id: str,
        scratch: Path,
        choose: ChooseVersions,
        *,
        with_blocks: bool = False,
    ) -> None:
        sha256s = set(_find_files(tables, venue_id, choose))
        self._file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 -- closed by __exit__
        try:
            super().__init__(self._file, tables, venue_id, sha256s, with_outlines=True, with_blocks=with_blocks)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "VenueTexts":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()


_FOUND_COLUMNS = [*_STORE_COLUMNS, "pages", "problems"]


@dataclass(frozen=True, slots=True)
class HeldText:
    """The Markdown of one file.

    Attributes:
        pages: The text page by page; the text of a published dataset is a single page.
        problems: Descriptions of what the engine could not do.
    """

    pages: list[str]
    engine: str
    problems: list[str]


def find_text(tables: Tables, venue_id: str, sha256: str) -> HeldText | None:
    """Return the text of a file of a venue, or None if there is none."""
    for path in tables.paths("5-texts", venue_id):
        with open_part(path) as file:
            for group in range(file.num_row_groups):
                if sha256 in file.read_row_group(group, columns=["sha256"]).column(0).to_pylist():
                    return _read(file, group, sha256)
    return None


def _read(file: pq.ParquetFile, group: int, sha256: str) -> HeldText | None:
    for batch in file.iter_batches(_BATCH_ROWS, row_groups=[group], columns=_FOUND_COLUMNS):
        hashes = batch.column("sha256").to_pylist()
        if sha256 in hashes:
            row = batch.slice(hashes.index(sha256), 1).to_pylist()[0]
            engine = f"{row['engine']} {row['engine_version']}".strip()
            return HeldText(row["markdown"].split(PAGE_BREAK), engine, row["problems"])
    return None
