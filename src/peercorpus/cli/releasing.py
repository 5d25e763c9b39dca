"""`peercorpus diff` and `peercorpus verify`: what changed between releases, and whether one holds what it says."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from peercorpus.cli.app import Named, WorkspaceFolder, app
from peercorpus.cli.console import ProgressLines, say

ReleaseFolder = Annotated[Path, Named]
Flag = Parameter(negative=())


@app.command
def diff(
    release_a: ReleaseFolder,
    release_b: ReleaseFolder,
    /,
    *,
    ids: Annotated[bool, Flag] = False,
    json_: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> None:
    """Say what a later release adds, changes and leaves out, by venue; whose side changed; which columns differ.

    A row counts as changed where a column that both releases have says something else. Of what is gone it says how
    much the later release counts as taken down.

    Parameters
    ----------
    release_a
        The folder of the earlier release.
    release_b
        The folder of the later one.
    ids
        List the ids.
    json_
        As one JSON object.
    """
    import json

    from peercorpus import wording_releases
    from peercorpus.publish.differences import as_json, find_differences
    from peercorpus.publish.opened import open_release

    one, other = open_release(release_a), open_release(release_b)
    with ProgressLines() as lines:
        found = find_differences(one, other, lines.show)
    if json_:
        say(json.dumps(as_json(found, with_ids=ids), indent=1, ensure_ascii=False))
    else:
        say(wording_releases.differences(found, with_ids=ids))


@app.command
def verify(release: ReleaseFolder, /, *, workspace: WorkspaceFolder | None = None) -> int:
    """Check that a release holds what it says: sums, columns, ids, sides, links, what was taken down, and leaks.

    Exit with 1 if anything does not hold; each is named with its file and its id, ten of a kind at most. Only with the
    workspace is it checked that nothing that its takedown.txt takes out is in the release, and said whether its tables
    are still those that the release was made of.

    Parameters
    ----------
    release
        The folder of the release.
    """
    from peercorpus import wording_releases
    from peercorpus.publish.opened import open_release
    from peercorpus.publish.verify import verify as run_verify
    from peercorpus.workspace import open_workspace

    opened = open_release(release)
    with ExitStack() as stack:
        held = None if workspace is None else stack.enter_context(open_workspace(workspace, write=False))
        lines = stack.enter_context(ProgressLines())
        found = run_verify(opened, held, lines.show)
    say(wording_releases.verified(found))
    return 0 if found.holds else 1
