"""The command `takedown`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from cyclopts import Parameter

from peercorpus.cli.build import ReleaseFlags, write_release
from peercorpus.cli.console import ProgressLines, WorkspaceFolder, say
from peercorpus.errors import ExitCode, PeercorpusError

if TYPE_CHECKING:
    from peercorpus.cli.options import WorstGrade
    from peercorpus.release.verify.verify import Verification
    from peercorpus.workspace.workspace import Workspace

Flag = Parameter(negative=())


def takedown(
    ids: Annotated[
        list[str] | None,
        Parameter(name="ID", help="Ids of papers or posts, the URLs of their pages, or profiles of authors."),
    ] = None,
    /,
    *,
    workspace: WorkspaceFolder,
    undo: Annotated[bool, Flag] = False,
    force: Annotated[bool, Flag] = False,
    list_: Annotated[bool, Parameter(name="--list", negative=())] = False,
    publish: Annotated[bool, Flag] = False,
    json_: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> int:
    """Exclude papers, posts or everything by an author from all later exports. Nothing is deleted from the workspace.

    The ids are listed in the workspace's takedown.txt. Write '--' before an id that begins with '-'. Releases on this
    machine and on the Hub that still contain what is taken down are listed, if this workspace wrote or pushed them.

    Parameters
    ----------
    undo
        Remove these ids from the takedown list. Exit with 1 if one was not listed.
    force
        List ids that name nothing in the workspace; without it they are an error.
    list_
        Only show what is listed and what it removes.
    publish
        Add a release to the workspace as `peercorpus publish` does, with the options of the newest one, and verify it.
        Exit with 1 if a check fails.
    json_
        Print one JSON object.
    """
    from peercorpus.cli.text import takedown as takedown_texts
    from peercorpus.corpus.public_forums import count_taken
    from peercorpus.corpus.takedown import add_to_list, read_takedown, remove_from_list
    from peercorpus.corpus.takedown_ids import check_known, read_listed_id
    from peercorpus.release.published import find_holders
    from peercorpus.workspace.workspace import open_workspace

    if list_ and (ids or undo or force or publish):
        raise PeercorpusError("--list only shows the list; leave out the ids and the other options.")
    if not (ids or list_ or publish):
        raise PeercorpusError("Name what to take down by its id, or show the list with --list.")
    ids, unlisted = [read_listed_id(typed) for typed in ids or ()], list[str]()
    with open_workspace(workspace, write=bool(ids)) as opened:
        if ids and undo:
            unlisted = remove_from_list(opened.folder, ids)
        elif ids:
            if not force:
                check_known(opened, ids)
            add_to_list(opened.folder, ids)
        removals = read_takedown(opened)
        counts = count_taken(opened.tables, removals)
        release, verification = _publish_and_verify(opened) if publish else (None, None)
        holders = find_holders(opened, removals)
    removed = sorted({*ids} - {*unlisted}) if undo else []
    report = takedown_texts.TakedownReport(removals, counts, unlisted, removed, holders, release, verification)
    say(takedown_texts.to_json(report) if json_ else takedown_texts.taken_down(report))
    return ExitCode.FOUND if unlisted or (verification is not None and not verification.holds) else ExitCode.DONE


def _publish_and_verify(workspace: "Workspace") -> "tuple[Path, Verification]":
    """Add a release with the options of the newest one, and verify it."""
    from peercorpus.pipeline.build import require_built
    from peercorpus.release.folder import open_release
    from peercorpus.release.provenance import read_inputs
    from peercorpus.release.published import find_folders
    from peercorpus.release.split_file import SplitRequest
    from peercorpus.release.splits import Profile
    from peercorpus.release.verify.verify import verify_release

    newest = next(iter(find_folders(workspace.folder)), None)
    inputs = None if newest is None else read_inputs(newest)
    content, venue_ids = ReleaseFlags(), None
    splits: SplitRequest | None = SplitRequest(Profile.RE2)
    if inputs is not None:
        content = ReleaseFlags(
            authors=inputs.authors,
            texts=inputs.texts.value,
            grade=cast("WorstGrade", inputs.grade.value),
            latex=inputs.latex,
            blocks=inputs.blocks,
            layout=inputs.layout.value,
            figures=inputs.figures,
            points=inputs.points,
        )
        venue_ids = list(inputs.venues)
        splits = SplitRequest(inputs.splits.profile, inputs.splits.test_after) if inputs.splits is not None else None
    with ProgressLines() as lines:
        require_built(workspace, venue_ids or (), points=bool(content.points))
        release, _ = write_release(workspace, None, venue_ids, splits, None, lines, content)
        return release, verify_release(open_release(release), workspace, lines.show)
