"""The text of one file, found in its table without reading the others."""

from dataclasses import dataclass

import pyarrow.parquet as pq

from peercorpus.parquet import open_parquet
from peercorpus.records import PAGE_BREAK
from peercorpus.tables import Tables

COLUMNS = ["sha256", "markdown", "engine", "engine_version", "pages", "problems"]
ROWS = 32
"""Texts held in memory at once."""


@dataclass(frozen=True, slots=True)
class HeldText:
    """The Markdown of one file.

    Attributes:
        pages: Its parts as the file's pages divide it; a published text is one.
        problems: What its engine could not do, in words.
    """

    pages: list[str]
    engine: str
    problems: list[str]


def find_text(tables: Tables, venue_id: str, sha256: str) -> HeldText | None:
    """The text of a file of a venue; None where none is held."""
    for path in tables.paths("5-texts", venue_id):
        with open_parquet(path) as file:
            for group in range(file.num_row_groups):
                if sha256 in file.read_row_group(group, columns=["sha256"]).column(0).to_pylist():
                    return _read(file, group, sha256)
    return None


def _read(file: pq.ParquetFile, group: int, sha256: str) -> HeldText | None:
    for batch in file.iter_batches(ROWS, row_groups=[group], columns=COLUMNS):
        hashes = batch.column("sha256").to_pylist()
        if sha256 in hashes:
            row = batch.slice(hashes.index(sha256), 1).to_pylist()[0]
            engine = f"{row['engine']} {row['engine_version']}".strip()
            return HeldText(row["markdown"].split(PAGE_BREAK), engine, row["problems"])
    return None
