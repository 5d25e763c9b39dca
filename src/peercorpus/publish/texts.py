"""The texts of a venue by the hash of their file, in bounded memory: copied once to scratch, then read one at a time.

The table of texts is in no order, papers are asked for in the order of their forums; one copy in sequence and one seek
per paper costs the same whatever the order is.
"""

import tempfile
from pathlib import Path
from types import TracebackType

import zstandard

from peercorpus.kinds import PUBLISHABLE_GRADES
from peercorpus.records import PaperVersion
from peercorpus.tables import Tables

COLUMNS = ["sha256", "markdown", "engine", "engine_version"]
BATCH_ROWS = 32
FAST = 1


def is_publishable(version: PaperVersion) -> bool:
    """Whether a version is known to be the one the reviewers read; a later PDF never is."""
    return version.is_initial and version.grade in PUBLISHABLE_GRADES and version.sha256 is not None


class Texts:
    """Texts of a venue's publishable files; use it as a context manager."""

    def __init__(self, tables: Tables, venue_id: str, scratch: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 -- closed by __exit__
        self._places: dict[str, tuple[int, int]] = {}
        self._engines: dict[str, str] = {}
        self._decompressor = zstandard.ZstdDecompressor()
        versions = tables.read(PaperVersion, venue_id)
        wanted = {version.sha256 for version in versions if is_publishable(version)}
        compressor = zstandard.ZstdCompressor(level=FAST)
        for batch in tables.batches("5-texts", venue_id, COLUMNS, BATCH_ROWS):
            for row in batch.to_pylist():
                if row["sha256"] in wanted:
                    self._store(row["sha256"], compressor.compress(row["markdown"].encode()))
                    self._engines[row["sha256"]] = f"{row['engine']} {row['engine_version']}".strip()

    def __enter__(self) -> "Texts":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def _store(self, sha256: str, compressed: bytes) -> None:
        self._places[sha256] = (self._file.tell(), len(compressed))
        self._file.write(compressed)

    def __contains__(self, sha256: object) -> bool:
        return sha256 in self._places

    def read(self, sha256: str) -> str:
        """The Markdown of a file that is there."""
        offset, size = self._places[sha256]
        self._file.seek(offset)
        return self._decompressor.decompress(self._file.read(size)).decode()

    def engine(self, sha256: str) -> str:
        """What read a file that is there, and its version."""
        return self._engines[sha256]
