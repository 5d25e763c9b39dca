"""The commands `audit leaks` and `audit grades`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from peercorpus.cli.console import ProgressLines, WorkspaceFolder, say
from peercorpus.errors import ExitCode

if TYPE_CHECKING:
    from peercorpus.audit.leak_audit import Audit
    from peercorpus.execution.progress import Show

AuditSource = Annotated[
    WorkspaceFolder,
    Parameter(
        help="A workspace, a release, a Parquet, JSONL, JSON or CSV file, or a folder of such files; PeerRead, or a"
        " folder of texts with a table of decisions. Of a release, the texts that its tasks accept are tested."
    ),
]

audit = App(name="audit", help="Check a corpus or any other dataset for flaws that would invalidate results on it.")


@audit.command
def leaks(
    workspace: AuditSource,
    *,
    text: Annotated[str | None, Parameter(show_default=False)] = None,
    decision: Annotated[str | None, Parameter(show_default=False)] = None,
    out: Annotated[Path | None, Parameter(show_default=False)] = None,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> int:
    """Find single features of the papers that give their decision away, such as a phrase of camera-ready files.

    Each feature is tested alone, with cross-validation: every phrase, the author block, length, number of pages, line
    numbers, missing texts, and where a text came from. Exit with 1 if a feature is a leak: its accuracy is more than
    five points above the majority's, or its balanced accuracy above 60 %, and above what the best feature reaches by
    chance.

    Parameters
    ----------
    text
        The text column. Detected from common names if omitted.
    decision
        The decision column. Detected from common names if omitted.
    out
        Folder for the reports leaks.json and leaks.html.
    json_
        Print one JSON object, with examples.
    """
    from peercorpus.audit.report import audit_to_json, audit_verdict, check_folder, write_reports
    from peercorpus.cli.text.audit import leaks_report, reports_written

    if out is not None:
        check_folder(out)
    with ProgressLines() as lines:
        audit = _run_audit(workspace, text, decision, lines.show)
    if out is not None:
        write_reports(audit, out)
    if json_:
        say(audit_to_json(audit).rstrip())
    else:
        say("\n".join(leaks_report(audit)))
        if out is not None:
            say(reports_written(out))
        say(audit_verdict(audit))
    return ExitCode.FOUND if audit.leaks else ExitCode.DONE


def _run_audit(source: Path, text: str | None, decision: str | None, show: "Show") -> "Audit":
    from peercorpus.audit.inputs import file_source, workspace_source
    from peercorpus.audit.leak_audit import audit as run_audit
    from peercorpus.audit.papers import layout_source
    from peercorpus.corpus.takedown import read_takedown
    from peercorpus.errors import TableError
    from peercorpus.pipeline.build import require_built
    from peercorpus.workspace.workspace import open_workspace

    if not (source / "raw.db").is_file():
        # Named columns are those of tables; a release has tables alone.
        is_layout = text is None and decision is None and not (source / "release.json").is_file()
        found = layout_source(source) if is_layout else None
        return run_audit(found or file_source(source, text, decision), show)
    if text is not None or decision is not None:
        raise TableError(f"'{source}' is a workspace, whose columns are known; leave out --text and --decision.")
    with open_workspace(source, write=False) as opened:
        require_built(opened)
        hidden = read_takedown(opened)
        return run_audit(workspace_source(opened, hidden.forums, hidden.files), show)


@audit.command
def grades(
    workspace: WorkspaceFolder,
    *,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> None:
    """Show how many papers have a proven initial version, and which groups lack one.

    Counts are by venue, year and decision. Below them: the difference between accepted and rejected papers, files that
    contradict their grade, and how many papers each task can use.

    Parameters
    ----------
    json_
        Print one JSON object.
    """
    import msgspec

    from peercorpus.audit.version_grades import read_grades
    from peercorpus.cli.text.audit import grades_report, grades_to_json
    from peercorpus.pipeline.build import require_built
    from peercorpus.workspace.workspace import open_workspace

    with open_workspace(workspace, write=False) as opened:
        require_built(opened)
        venues = read_grades(opened.tables)
    if json_:
        say(msgspec.json.format(msgspec.json.encode(grades_to_json(venues))).decode())
    else:
        say("\n".join(grades_report(venues)))
