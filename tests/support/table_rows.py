"""The rows of a workspace's tables, for comparing two builds."""

from typing import Any

from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace


def rows(workspace: Workspace, venue_id: str) -> dict[str, list[Any]]:
    """Return all records of a venue in order; those from PDFs, which have no order, by the file's digest."""
    found: dict[str, list[Any]] = {name: list(workspace.tables.read(kind, venue_id)) for name, kind in TABLES.items()}
    for name in ("5-texts", "0-inspections"):
        found[name].sort(key=lambda row: row.sha256)
    of_files = ("read_texts", "inspect_files")
    found["set-aside"].sort(key=lambda row: (row.stage, row.record_id if row.stage in of_files else ""))
    return found
