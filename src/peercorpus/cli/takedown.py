"""`peercorpus takedown`: ids that no export may show from now on."""

from typing import Annotated

from cyclopts import Parameter

from peercorpus.cli.app import WorkspaceFolder, app
from peercorpus.cli.console import say


@app.command
def takedown(
    ids: Annotated[list[str], Parameter(name="ID", help="Ids of papers, of notes, or profiles of authors.")],
    /,
    *,
    workspace: WorkspaceFolder,
    undo: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Leave papers, posts or everything of an author out of each export from now on; nothing is deleted here.

    The ids are kept in the workspace's takedown.txt. Before one that begins with '-', write '--'.

    Parameters
    ----------
    undo
        Take these ids from the list again.
    """
    from peercorpus import wording
    from peercorpus.publish.sifting import count_taken
    from peercorpus.publish.takedown import read_takedown
    from peercorpus.publish.takedown_list import add_to_list, take_from_list
    from peercorpus.workspace import open_workspace

    with open_workspace(workspace) as opened:
        unlisted = take_from_list(opened.folder, ids) if undo else []
        if not undo:
            add_to_list(opened.folder, ids)
        found = read_takedown(opened)
        taken = count_taken(opened.tables, found)
    for listed in unlisted:
        say(f"{listed}: was not listed.")
    say(wording.taken_down(found, taken))
