"""The command `site`."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from peercorpus.cli.console import Named, ProgressLines, WorkspaceFolder, say
from peercorpus.cli.extras import needs_extra


def site(
    release: Annotated[Path, Named],
    /,
    *,
    out: Annotated[Path, Named],
    workspace: WorkspaceFolder | None = None,
    title: str = "Peer reviews",
) -> None:
    """Write a release as a web site: pages and a search that any static host serves, or a browser opens from disk.

    Each paper gets a page with its reviews and conversations; texts of PDFs are left out. The pages load nothing from
    elsewhere, and all but the search work without scripts. A site that is there already is replaced as a whole.

    With --workspace, or if the release lies in a workspace, nothing is written if the release holds what the
    workspace's takedown.txt names.

    Parameters
    ----------
    release
        Folder of the release.
    out
        Folder to write the site in: a new one, or one that holds a site.
    title
        Heading of the first page.
    """
    with needs_extra("web"):
        from peercorpus.explorer.site.write_site import write_site
    from peercorpus.cli.text.site import site_written
    from peercorpus.execution.local_processes import LocalExecutor
    from peercorpus.release.folder import open_release
    from peercorpus.workspace.workspace import find_workspace_around, open_workspace

    opened = open_release(release)
    source = workspace or find_workspace_around(opened.folder)
    with ExitStack() as stack:
        beside = None if source is None else stack.enter_context(open_workspace(source, write=False))
        lines = stack.enter_context(ProgressLines())
        summary = write_site(opened, out, workspace=beside, title=title, show=lines.show, spread=LocalExecutor())
    say(site_written(summary, out))
