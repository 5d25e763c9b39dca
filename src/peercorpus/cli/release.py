"""The commands `diff`, `verify`, `push` and `export`."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from peercorpus.cli.console import Named, OptionalWorkspace, ProgressLines, say
from peercorpus.cli.options import HERE, open_executor, require_extra
from peercorpus.errors import ExitCode
from peercorpus.release.exports.request import ExportRequest
from peercorpus.wording.counted_nouns import plural

if TYPE_CHECKING:
    from peercorpus.release.exports.layouts import Exported
    from peercorpus.release.folder import Release
    from peercorpus.release.verify.verify import Verification


ReleaseFolder = Annotated[Path, Named]


def diff(
    release_a: ReleaseFolder,
    release_b: ReleaseFolder,
    /,
    *,
    ids: bool = False,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> None:
    """Compare two releases: rows added, changed and removed by venue, papers whose split changed, columns that differ.

    A row counts as changed if a column that both releases have differs. Removed rows that the later release counts
    as taken down are shown separately.

    Parameters
    ----------
    release_a
        Folder of the earlier release.
    release_b
        Folder of the later release.
    ids
        List the ids.
    json_
        Print one JSON object.
    """
    import json

    from peercorpus.cli.text import releases
    from peercorpus.release.diff import diff_to_dict, find_differences
    from peercorpus.release.folder import open_release

    earlier, later = open_release(release_a, is_whole=False), open_release(release_b, is_whole=False)
    with ProgressLines() as lines:
        differences = find_differences(earlier, later, lines.show)
    if json_:
        say(json.dumps(diff_to_dict(differences, with_ids=ids), indent=1, ensure_ascii=False))
    else:
        say(releases.differences_table(differences, with_ids=ids))


def verify(
    release: ReleaseFolder,
    /,
    *,
    workspace: OptionalWorkspace = None,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> int:
    """Check a release against its own statements: checksums, columns, ids, splits, links, takedowns and leaks.

    Exit with 1 if a check fails. Each fault is printed with its file and id, at most ten of a kind. With --workspace,
    or if the release is in a workspace, it is also checked against the workspace's takedown.txt, and compared with
    the tables it was made from.

    Parameters
    ----------
    release
        Folder of the release.
    workspace
        Folder of the workspace to check against. Default: the one around the release, if there is one.
    json_
        Print one JSON object, with the first faults of each check.
    """
    from peercorpus.cli.text import releases
    from peercorpus.release.folder import open_release

    opened = open_release(release, is_whole=False)
    verification = _verify(opened, workspace)
    say(releases.verification_to_json(verification) if json_ else releases.verified(verification))
    return ExitCode.DONE if verification.holds else ExitCode.FOUND


def _verify(release: "Release", workspace: Path | None) -> "Verification":
    """Check a release, against the named workspace or the one that contains it."""
    from peercorpus.release.verify.verify import verify_release
    from peercorpus.workspace.workspace import find_workspace_around, open_workspace

    source = workspace or find_workspace_around(release.folder)
    with ExitStack() as stack:
        opened = None if source is None else stack.enter_context(open_workspace(source, write=False))
        lines = stack.enter_context(ProgressLines())
        return verify_release(release, opened, lines.show)


def push(
    release: ReleaseFolder,
    hub_id: Annotated[str, Parameter(help="Id of the dataset on the Hub: OWNER/NAME.")],
    /,
    *,
    yes: bool = False,
    private: bool = False,
    workspace: OptionalWorkspace = None,
) -> int:
    """Upload a release to the Hugging Face Hub in one commit. Without --yes, only print what would be uploaded.

    The release is verified first, against the takedown.txt of --workspace or of the workspace it is in. If a check
    fails, nothing is uploaded, and the command exits with 1. Files of an earlier release on the Hub are removed,
    other files are kept. The token is read from HF_TOKEN or from where 'hf auth login' stores it, the Hub's URL
    from HF_ENDPOINT. To resume an interrupted upload, run the same command again; files that the Hub already has
    are not sent twice.

    Parameters
    ----------
    release
        Folder of the release.
    yes
        Upload, and create the dataset if it does not exist.
    private
        Create the dataset as private.
    workspace
        Folder of the workspace to check against. Default: the one around the release, if there is one.
    """
    from peercorpus.cli.text import releases
    from peercorpus.release.folder import open_release
    from peercorpus.release.hub import check_hub_id, plan_upload, upload
    from peercorpus.release.published import remember_upload
    from peercorpus.workspace.workspace import find_workspace_around

    check_hub_id(hub_id)
    require_extra("hf", "huggingface_hub")
    opened = open_release(release, is_whole=False)
    verification = _verify(opened, workspace)
    if not verification.holds:
        say(releases.verified(verification))
        return ExitCode.FOUND
    plan = plan_upload(opened, hub_id)
    if yes:
        commit = upload(opened, plan, private=private, bars=sys.stderr.isatty())
        if source := workspace or find_workspace_around(release):
            remember_upload(source, opened, hub_id, commit)
        say(releases.uploaded(plan, commit))
    else:
        say(releases.planned_upload(plan, private=private))
    for check in verification.checks:
        if check.name == "takedown" and check.left_out:
            say(releases.unchecked(check))
    return ExitCode.DONE


def export(
    release: ReleaseFolder, /, *, out: Annotated[Path, Named], request: Annotated[ExportRequest, Parameter(name="*")]
) -> int:
    """Write the train, validation and test rows of a release as files that a trainer can load directly.

    Exit with 1 if there is no row.

    Parameters
    ----------
    release
        Folder that `peercorpus publish` wrote.
    out
        Folder to write; an earlier export in it is replaced.
    """
    if request.model is not None:
        require_extra("models", "transformers")
        from peercorpus.finetune.other_trainers import STARTED, write_for

        with ProgressLines() as lines:
            write_for(release, out, request, say, lines.show, open_executor(HERE))
        say(
            f"The training examples and settings are in {out}, with a list of settings that are not carried over;"
            f" start there: {STARTED[request.format]}"
        )
        return ExitCode.DONE
    from peercorpus.release.exports.export import export_release

    with ProgressLines() as lines:
        exported = export_release(release, out, request, lines.show)
    say(describe_export(exported, out))
    return ExitCode.DONE if exported.written else ExitCode.FOUND


def describe_export(export: "Exported", out: Path) -> str:
    """Return what each file of an export contains, and what was left out and why."""
    lines = [f"The {export.request.format} files are in {out}; its README.md says how to open them."]
    for file in export.files:
        rows, papers = plural(file.samples.rows, "row"), plural(file.samples.papers, "paper")
        lines.append(f"{file.name}: {rows} of {papers}" if file.samples.rows else f"{file.name}: not written, no rows")
        lines += [f"  left out {number:,}: {reason}" for reason, number in sorted(file.samples.left_out.items())]
        lines += [f"  {file.samples.cut:,} with a cut paper"] if file.samples.cut else []
        lines += [f"  {file.samples.unanswered:,} end before an unanswered message"] if file.samples.unanswered else []
        late = plural(file.samples.after_decision, "turn")
        lines += [f"  left out: {late} posted after the decision"] if file.samples.after_decision else []
    return "\n".join(lines)
