"""Texts of `move`: where files and tables are now."""

from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import size
from peercorpus.records.counted_nouns import plural, verb
from peercorpus.workspace.object_store import HERE

if TYPE_CHECKING:
    from peercorpus.workspace.move import MoveResult


def moved(result: "MoveResult", workspace: Path) -> str:
    """Return where files and tables are now."""
    destination = str(workspace) if result.place == HERE else result.place
    return (
        f"{plural(result.files, 'file')} and the tables, {size(result.size_bytes)} in total, are at {destination};"
        f" {plural(result.copied, 'part')} {verb(result.copied, 'was', 'were')} copied."
    )
