"""The papers of a page of the explorer, in Python."""

from pathlib import Path

from peercorpus.explorer.search import rows_of
from peercorpus.explorer.search_index import open_index
from peercorpus.explorer.selection import read_selection
from peercorpus.progress import show_nothing
from peercorpus.publish.takedown import read_takedown
from peercorpus.workspace import open_workspace


def selected(folder: str | Path, query_string: str) -> list[str]:
    """The forum ids of all papers that a page with this query string shows, in its order.

    Args:
        folder: The workspace's folder.
        query_string: What stands behind the "?" in the address of the page.
    """
    with open_workspace(Path(folder), write=False) as workspace:
        opened = open_index(workspace, read_takedown(workspace), show_nothing)
        return [row.forum_id for row in rows_of(opened, read_selection(query_string.removeprefix("?")))]
