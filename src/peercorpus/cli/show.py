"""`peercorpus show`: one paper's whole record."""

from typing import Annotated

from cyclopts import Parameter

from peercorpus.cli.app import WorkspaceFolder, app
from peercorpus.cli.console import say


@app.command
def show(
    forum_id: Annotated[str, Parameter(name="FORUM_ID")],
    /,
    *,
    workspace: WorkspaceFolder,
    brief: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Show one paper: versions, submissions of the same work, scores, conversations, what was set aside and why.

    Parameters
    ----------
    forum_id
        The paper's id on OpenReview: what stands behind 'forum?id='.
    brief
        Only the beginning of each text.
    """
    from peercorpus.whole_record import read_whole_record
    from peercorpus.wording_show import show_record
    from peercorpus.workspace import open_workspace

    with open_workspace(workspace, write=False) as opened:
        record = read_whole_record(opened.tables, forum_id)
    say(show_record(record, is_brief=brief))
