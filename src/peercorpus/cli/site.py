"""The command `site`."""

from pathlib import Path
from typing import Annotated

from peercorpus.cli.console import Named, OptionalWorkspace, ProgressLines, say
from peercorpus.cli.extras import needs_extra


def site(
    release: Annotated[Path, Named],
    /,
    *,
    out: Annotated[Path, Named],
    workspace: OptionalWorkspace = None,
    title: str = "Peer reviews",
    texts: bool = False,
    points: bool = False,
    changes: bool = False,
) -> None:
    """Write a release as a web site: pages and a search that any static host serves, or a browser opens from disk.

    Each paper gets a page with its reviews and conversations. The pages load nothing from elsewhere, and all but the
    search and the citations work without scripts. A site that is there already is replaced as a whole.

    If the release is in a workspace, or --workspace names one, nothing is written if the release contains anything that
    the takedown.txt of either lists.

    Parameters
    ----------
    workspace
        Folder of a workspace whose takedown.txt is checked, besides that of the workspace around the release.
    release
        Folder of the release.
    out
        Folder for the site: a new one, or one that contains a site.
    title
        Heading of the first page.
    texts
        Add a page with the text of each paper whose text is in the release; their size is printed first.
    points
        Show the points of each review on the page of its paper, if the release has points; their size is printed first.
    changes
        Add a page of what changed between the versions of each paper, if the release has changes; their size is
        printed first.
    """
    with needs_extra("web"):
        from peercorpus.explorer.site.extras import Extra, check_extras
        from peercorpus.explorer.site.release_papers import open_for_site
        from peercorpus.explorer.site.write_site import check_taken_down, write_site
    from peercorpus.cli.text.site import extras_added, extras_offered, site_written
    from peercorpus.execution.local_processes import LocalExecutor
    from peercorpus.workspace.workspace import find_workspace_around, open_workspace

    opened = open_for_site(release)
    for folder in filter(None, (workspace, find_workspace_around(opened.folder))):
        with open_workspace(folder, write=False) as beside:
            check_taken_down(opened, beside, out)
    extras = {Extra.TEXTS: texts, Extra.POINTS: points, Extra.CHANGES: changes}
    wanted = [extra for extra, is_wanted in extras.items() if is_wanted]
    sizes = check_extras(opened, wanted)
    for line in extras_added(sizes, wanted):
        say(line)
    with ProgressLines() as lines:
        summary = write_site(opened, out, title=title, extras=wanted, show=lines.show, spread=LocalExecutor())
    say(site_written(summary, out))
    for line in extras_offered(sizes, wanted):
        say(line)
