"""`peercorpus audit`: tests of a corpus, ours or any other."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import app
from peercorpus.cli.console import ProgressLines, say

if TYPE_CHECKING:
    from peercorpus.audit.examples import Example
    from peercorpus.audit.measure import Audit, Finding
    from peercorpus.progress import Show

audit = App(name="audit", help="Test a corpus, ours or any other, for what would make results on it worthless.")
app.command(audit)

WIDTH = 100
NAME_WIDTH = 50
TOP = 10
"""Features shown; the reports have more."""


@audit.command
def leaks(
    source: Annotated[Path, Parameter(name="SOURCE")],
    /,
    *,
    text: Annotated[str | None, Parameter(show_default=False)] = None,
    decision: Annotated[str | None, Parameter(show_default=False)] = None,
    threshold: Annotated[float, Parameter(validator=Number(gte=0, lt=0.5))] = 0.05,
    out: Annotated[Path | None, Parameter(show_default=False)] = None,
    json_: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> int:
    """Find out which single feature of the papers tells their decision, such as a phrase of camera-ready files.

    Each phrase, the author block, length, pages, line numbers, missing texts and where a text came from are tried
    alone, and cross-validated. Exit with 1 if one is a leak: above the threshold, and above what the best reaches by
    chance.

    Parameters
    ----------
    source
        A workspace, a release, or a Parquet, JSONL, JSON or CSV file, or a folder of such files.
    text
        The column of the text; a usual name is found without.
    decision
        The column of the decision; the same.
    threshold
        Share of papers told rightly above the majority, from which on a feature is a leak; of the balanced accuracy
        above one half, twice that.
    out
        A folder for the reports leaks.json and leaks.html.
    json_
        As one JSON object, with examples.
    """
    from peercorpus.audit.report import JSON_NAME, PAGE_NAME, check_folder, json_text, verdict, write_reports

    if out is not None:
        check_folder(out)
    with ProgressLines() as lines:
        found = _audited(source, text, decision, threshold, lines.show)
    if out is not None:
        write_reports(found, out)
    if json_:
        say(json_text(found).rstrip())
    else:
        say("\n".join(_lines(found)))
        if out is not None:
            say(f"The reports are {out / JSON_NAME} and {out / PAGE_NAME}.")
        say(verdict(found))
    return 1 if found.leaks else 0


def _audited(source: Path, text: str | None, decision: str | None, threshold: float, show: "Show") -> "Audit":
    from peercorpus.audit.files import file_source
    from peercorpus.audit.measure import audit as run_audit
    from peercorpus.audit.workspace_rows import workspace_source
    from peercorpus.errors import TableError
    from peercorpus.pipeline import require_built
    from peercorpus.publish.takedown import read_takedown
    from peercorpus.workspace import open_workspace

    if not (source / "raw.db").is_file():
        return run_audit(file_source(source, text, decision), threshold, show)
    if text is not None or decision is not None:
        raise TableError(f"'{source}' is a workspace, whose columns are known; leave out --text and --decision.")
    with open_workspace(source, write=False) as opened:
        require_built(opened)
        hidden = read_takedown(opened)
        return run_audit(workspace_source(opened, hidden.forums, hidden.files), threshold, show)


def _lines(found: "Audit") -> Iterator[str]:
    from peercorpus.wording import plural, printable

    yield (
        f"{printable(found.source.name, 40)}: {plural(found.read, 'paper')} read,"
        f" {found.accepted:,} accepted and {found.rejected:,} rejected audited."
    )
    for reason, number in found.set_aside.items():
        yield f"  set aside: {number:,} with {reason}"
    for what, number in found.untried.items():
        yield f"  not tried: {number:,} {what}"
    if found.source.passed_over:
        yield f"  passed over: {plural(len(found.source.passed_over), 'file')} without such columns"
    yield f"Majority {_percent(found.majority)}; best of {plural(found.tried, 'feature')} by chance" + (
        f" {_percent(found.chance.accuracy)} (balanced {_percent(found.chance.balanced)})."
    )
    yield ""
    yield f"{'feature':<{NAME_WIDTH}} accuracy   gain  balanced  accepted  rejected"
    for finding in found.findings[:TOP]:
        yield _row(finding)
        yield from (_example(one) for one in finding.examples[: finding.is_leak])


def _example(shown: "Example") -> str:
    from peercorpus.wording import printable

    decision = "accepted" if shown.accepted else "rejected"
    line = f"      such as {shown.record_id} ({decision}){': ' if shown.context else ''}{shown.context}"
    return line if line.isprintable() and len(line) <= WIDTH else printable(line, WIDTH - 1)[:WIDTH]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _row(finding: "Finding") -> str:
    from peercorpus.audit.predictors import Kind
    from peercorpus.wording import printable

    value = max(finding.values, key=lambda one: one.accepted + one.rejected)
    name = finding.feature.title
    if finding.feature.kind in {Kind.NUMBER, Kind.CATEGORY}:
        name = f"{name}: {value.name}"
    shown = printable(name, NAME_WIDTH - 3)
    mark = "! " if finding.is_leak else "  "
    return (
        f"{mark + shown:<{NAME_WIDTH}} {_percent(finding.outcome.accuracy):>8} {100 * finding.gain:>+6.1f}"
        f"  {_percent(finding.outcome.balanced):>8} {value.accepted:>9,} {value.rejected:>9,}"
    )
