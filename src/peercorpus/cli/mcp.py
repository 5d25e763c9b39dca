"""The command `mcp`."""

from peercorpus.cli.console import ProgressLines, WorkspaceOrRelease
from peercorpus.cli.extras import needs_extra


def mcp(workspace: WorkspaceOrRelease) -> None:
    """Let assistants query the corpus: a read-only server for the Model Context Protocol on standard input and output.

    A client starts it. Its tools search papers and criticisms, read records, conversations and scores, count, and run
    SQL within limits. Nothing is written into the folder.

    For a workspace, it shows what a release would contain: its newest one, if nothing has changed since; otherwise the
    tables are first written to a temporary folder, which takes as long as `publish`.
    """
    with needs_extra("web"):
        from peercorpus.mcp_server.tools import serve
    with ProgressLines() as lines:
        serve(workspace, lines.show)
