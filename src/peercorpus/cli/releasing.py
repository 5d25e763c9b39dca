"""`peercorpus diff` and `peercorpus verify`: what changed between releases, and whether one holds what it says."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from peercorpus.cli.app import Named, app
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
        found = find_differences(one, other, lambda config: lines.say(f"Comparing {config} …"))
    if json_:
        say(json.dumps(as_json(found, with_ids=ids), indent=1, ensure_ascii=False))
    else:
        say(wording_releases.differences(found, with_ids=ids))
