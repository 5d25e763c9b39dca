"""Texts of a venue by the hash of their file, in bounded memory: copied once to scratch, then read one at a time.

The table of texts is in no order; one copy in sequence and one seek for each that is asked for costs the same whatever
the order is.
"""

from collections.abc import Set
from typing import IO

import zstandard

from peercorpus.tables import Tables

COLUMNS = ["sha256", "markdown", "engine", "engine_version"]
BATCH_ROWS = 32
FAST = 1


class Shelf:
    """The texts of some files, each found at once."""

    def __init__(self, scratch: IO[bytes], tables: Tables, venue_id: str, wanted: Set[str]) -> None:
        self._scratch = scratch
        self._places: dict[str, tuple[int, int]] = {}
        self._engines: dict[str, str] = {}
        self._decompressor = zstandard.ZstdDecompressor()
        compressor = zstandard.ZstdCompressor(level=FAST)
        for batch in tables.batches("5-texts", venue_id, COLUMNS, BATCH_ROWS):
            for row in batch.to_pylist():
                if row["sha256"] in wanted:
                    compressed = compressor.compress(row["markdown"].encode())
                    self._places[row["sha256"]] = (scratch.tell(), len(compressed))
                    self._engines[row["sha256"]] = f"{row['engine']} {row['engine_version']}".strip()
                    scratch.write(compressed)

    def __contains__(self, sha256: object) -> bool:
        return sha256 in self._places

    def read(self, sha256: str) -> str:
        """The Markdown of a file that was wanted, and is in the table."""
        offset, size = self._places[sha256]
        self._scratch.seek(offset)
        return self._decompressor.decompress(self._scratch.read(size)).decode()

    def engine(self, sha256: str) -> str:
        """What read such a file, and its version."""
        return self._engines[sha256]
