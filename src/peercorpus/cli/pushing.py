"""`peercorpus push`: a release to the Hugging Face Hub; nothing is sent but on a clear yes."""

import sys
from contextlib import ExitStack
from typing import Annotated

from cyclopts import Parameter

from peercorpus.cli.app import WorkspaceFolder, app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.cli.releasing import Flag, ReleaseFolder


@app.command
def push(
    release: ReleaseFolder,
    hub_id: Annotated[str, Parameter(help="Of the dataset on the Hub: owner/name.")],
    /,
    *,
    yes: Annotated[bool, Flag] = False,
    private: Annotated[bool, Flag] = False,
    workspace: WorkspaceFolder | None = None,
) -> int:
    """Upload a release to the Hugging Face Hub, in one commit; without --yes only say what that would do.

    The release is verified first, with the workspace also against its takedown.txt, and not uploaded if anything in it
    does not hold. Files of an earlier release that are there are removed, others stay. The token is read from
    HF_TOKEN, or from where 'hf auth login' keeps it; the address of the Hub from HF_ENDPOINT. A run that was stopped is
    begun again by the same command; what the Hub has taken is not sent twice.

    Parameters
    ----------
    release
        The folder of the release.
    yes
        Upload; the dataset is created if there is none.
    private
        Create it so that nobody else may read it.
    """
    from peercorpus import wording_releases
    from peercorpus.publish.hub_upload import check_hub_id, plan_upload, upload
    from peercorpus.publish.opened import open_release
    from peercorpus.publish.verify import verify as run_verify
    from peercorpus.workspace import open_workspace

    check_hub_id(hub_id)
    opened = open_release(release)
    with ExitStack() as stack:
        held = None if workspace is None else stack.enter_context(open_workspace(workspace, write=False))
        lines = stack.enter_context(ProgressLines())
        found = run_verify(opened, held, lines.show)
    if not found.holds:
        say(wording_releases.verified(found))
        return 1
    plan = plan_upload(opened, hub_id)
    if yes:
        commit = upload(opened, plan, private=private, bars=sys.stderr.isatty())
        say(wording_releases.uploaded(plan, commit))
    else:
        say(wording_releases.planned_upload(plan, private=private))
    return 0
