"""The command `site`."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from peercorpus.cli.console import Named, OptionalWorkspace, ProgressLines, say
from peercorpus.cli.options import needs_extra
from peercorpus.cli.text.formatting import size
from peercorpus.wording.counted_nouns import plural

if TYPE_CHECKING:
    from peercorpus.explorer.site.extras import Extra
    from peercorpus.explorer.site.write_site import SiteSummary


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


def extras_added(sizes: "Mapping[Extra, int]", wanted: "Collection[Extra]") -> Iterator[str]:
    """Yield how large the extras are that are added.

    Args:
        sizes: Size of each extra that the release has, in bytes, before the site is written.
        wanted: Those that are added.
    """
    from peercorpus.explorer.site.extras import Extra, name_extra

    for extra in wanted:
        if extra in sizes and extra is Extra.TEXTS:
            yield f"The texts take at least {size(sizes[extra])}, and more if they have many formulas."
        elif extra in sizes:
            yield f"The {name_extra(extra)} take about {size(sizes[extra])}."
        else:
            yield "The release contains no texts, so none are added."


def extras_offered(sizes: "Mapping[Extra, int]", wanted: "Collection[Extra]") -> Iterator[str]:
    """Yield what else the release has for a site; nothing if it has no more."""
    from peercorpus.explorer.site.extras import name_extra

    left = {extra: bytes_ for extra, bytes_ in sizes.items() if extra not in wanted}
    if left:
        named = [f"{name_extra(extra)} (--{extra}, about {size(bytes_)})" for extra, bytes_ in left.items()]
        yield f"The release also has {_join(named)}."


def _join(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> _join(["a"]), _join(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def site_written(summary: "SiteSummary", out: Path) -> str:
    """Return what was written, and how to look at it."""
    sizes = {"search": summary.index_bytes, "texts": summary.text_bytes, "changes": summary.change_bytes}
    parts = ", ".join(f"{name} {size(part)}" for name, part in sizes.items() if part)
    points = f" The pages of papers show {plural(summary.points, 'point')} of reviews." if summary.points else ""
    return "\n".join(
        [
            f"Wrote {plural(summary.papers, 'paper')} of {plural(summary.venues, 'venue')} in"
            f" {plural(summary.files, 'file')}, {size(summary.size_bytes)} ({parts}).{points}",
            f"Open {out / 'index.html'} in a browser, or serve the folder:",
            f"  python -m http.server --directory {shlex.quote(str(out))}",
        ]
    )
