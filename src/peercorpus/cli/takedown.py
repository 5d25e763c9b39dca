"""The command `takedown`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from peercorpus.cli.build import write_release
from peercorpus.cli.console import ProgressLines, WorkspaceFolder, say
from peercorpus.errors import ExitCode, PeercorpusError
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.untrusted_text import escape_controls

if TYPE_CHECKING:
    from peercorpus.corpus.takedown import Takedown
    from peercorpus.release.published import Holder
    from peercorpus.release.verify.verify import Verification
    from peercorpus.workspace.workspace import Workspace


def takedown(
    ids: Annotated[
        list[str] | None,
        Parameter(name="ID", help="Ids of papers or posts, the URLs of their pages, or profiles of authors."),
    ] = None,
    /,
    *,
    workspace: WorkspaceFolder,
    undo: bool = False,
    force: bool = False,
    list_: Annotated[bool, Parameter(name="--list")] = False,
    publish: bool = False,
    json_: Annotated[bool, Parameter(name="--json")] = False,
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
    from peercorpus.corpus.public_forums import count_taken
    from peercorpus.corpus.takedown import add_to_list, check_known, read_listed_id, read_takedown, remove_from_list
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
    report = TakedownReport(removals, counts, unlisted, removed, holders, release, verification)
    say(to_json(report) if json_ else taken_down(report))
    return ExitCode.FOUND if unlisted or (verification is not None and not verification.holds) else ExitCode.DONE


def _publish_and_verify(workspace: "Workspace") -> "tuple[Path, Verification]":
    """Add a release with the options of the newest one, and verify it."""
    from peercorpus.pipeline.build import require_built
    from peercorpus.release.folder import open_release
    from peercorpus.release.provenance import read_inputs
    from peercorpus.release.published import find_folders
    from peercorpus.release.request import DEFAULT_REQUEST
    from peercorpus.release.verify.verify import verify_release

    newest = next(iter(find_folders(workspace.folder)), None)
    inputs = None if newest is None else read_inputs(newest)
    request = DEFAULT_REQUEST if inputs is None else inputs.request
    venue_ids = None if inputs is None else list(inputs.venues)
    with ProgressLines() as lines:
        require_built(workspace, venue_ids or (), points=bool(request.points))
        release, _ = write_release(workspace, None, venue_ids, request, lines)
        return release, verify_release(open_release(release, is_whole=False), workspace, lines.show)


@dataclass(frozen=True, slots=True)
class TakedownReport:
    """What is taken down, and where it still is.

    Attributes:
        counts: Records that a release of all venues leaves out, by kind.
        unlisted: Ids that were to be removed from the list and were not on it.
        removed: Ids that were removed from the list.
        holders: Releases that still contain what is taken down.
        release: The release that was written; None if none was requested.
        verification: Its checks.
    """

    takedown: "Takedown"
    counts: Mapping[str, int]
    unlisted: Sequence[str]
    removed: Sequence[str]
    holders: "Sequence[Holder]"
    release: Path | None
    verification: "Verification | None"


def taken_down(report: TakedownReport) -> str:
    """Return what each id of the takedown list removes, what the next release leaves out, and where it still is."""
    return "\n".join(_list_lines(report))


def _list_lines(report: TakedownReport) -> Iterator[str]:
    from peercorpus.cli.text import releases
    from peercorpus.cli.text.formatting import counts_by_kind

    yield from (f"{listed}: was not listed." for listed in report.unlisted)
    if report.removed:
        yield f"No longer listed: {', '.join(report.removed)}."
    for entry in report.takedown.ids:
        removed = counts_by_kind({"papers": len(entry.forums), "posts": len(entry.posts)})
        is_known = entry.forums or entry.posts
        yield f"{entry.listed}: {removed if is_known else 'nothing in the public tables has this id; it stays listed.'}"
    yield f"The next release leaves out: {counts_by_kind(report.counts)}."
    if report.release is not None and report.verification is not None:
        yield f"Released in '{report.release}'."
        yield releases.verified(report.verification)
    yield from map(_name_holder, report.holders)


def _name_holder(holder: "Holder") -> str:
    place = holder.place
    where = f"'{escape_controls(place.where, 300)}'"
    does = "may still contain" if holder.rows is None else "still contains"
    rows = "" if holder.rows is None else f" in {plural(holder.rows, 'row')}"
    if place.hub_id is None:
        return f"{where} {does} what is taken down{rows}; publish it again, or delete it."
    return (
        f"The revision {where} of '{escape_controls(place.hub_id)}' {does} what is taken down{rows}; push the new"
        " release and delete the history of the dataset there."
    )


def to_json(report: TakedownReport) -> str:
    """Return the same as one JSON object."""
    ids = [
        {"id": entry.listed, "kind": entry.kind, "papers": sorted(entry.forums), "posts": sorted(entry.posts)}
        for entry in report.takedown.ids
    ]
    holders = [
        {"where": holder.place.where, "hub_id": holder.place.hub_id, "rows": holder.rows} for holder in report.holders
    ]
    verification = report.verification
    return json.dumps(
        {
            "ids": ids,
            "not_listed": [*report.unlisted],
            "leaves_out": dict(report.counts),
            "release": report.release and str(report.release),
            "verified": verification and verification.holds,
            "held_by": holders,
        },
        indent=1,
        ensure_ascii=False,
    )
