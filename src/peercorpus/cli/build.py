"""The commands `build`, `publish`, `status` and `convert`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.console import Named, ProgressLines, WorkspaceFolder, say
from peercorpus.cli.options import VenueNames, require_extra
from peercorpus.cli.text.formatting import duration
from peercorpus.errors import ExitCode
from peercorpus.execution.requests import BuildRequest, ReadingRequest
from peercorpus.release.request import DEFAULT_REQUEST, ReleaseRequest
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.suggestions import find_close
from peercorpus.wording.untrusted_text import escape_controls

if TYPE_CHECKING:
    from peercorpus.forms.form_usage import FormUsage
    from peercorpus.forms.venue_forms import KnownForm
    from peercorpus.pipeline.build_venues import StepResult
    from peercorpus.pipeline.losses import SourceLoss
    from peercorpus.release.by_model.annotator import Annotator
    from peercorpus.release.by_model.turn_titles import Titler
    from peercorpus.texts.folder import FolderSummary
    from peercorpus.texts.folder_images import ImageSummary
    from peercorpus.workspace.object_store import Location
    from peercorpus.workspace.workspace import Workspace


DEFAULT_BUILD, DEFAULT_READING = BuildRequest(), ReadingRequest()


def build(
    workspace: WorkspaceFolder,
    *,
    venue: VenueNames = (),
    request: Annotated[BuildRequest, Parameter(name="*")] = DEFAULT_BUILD,
) -> int:
    """Bring a workspace's tables up to date; only what changed is rebuilt.

    Exit with 1 if everything was set aside, so that there is no paper. What you know about a venue, such as its
    deadline, goes into the file venues.toml in the workspace.
    """
    from peercorpus.cli.text import formatting
    from peercorpus.forms.form_usage import read_own_usage
    from peercorpus.pipeline.build import build as run_build
    from peercorpus.pipeline.losses import read_losses
    from peercorpus.texts.engine import choose_executor
    from peercorpus.venues.own_venues import find_unheld, own_venues
    from peercorpus.venues.venue_names import read_venue_ids
    from peercorpus.workspace.workspace import open_workspace

    spread = choose_executor(request)
    with open_workspace(workspace) as opened, ProgressLines() as lines:
        venue_ids = read_venue_ids(venue, opened.venues())
        steps = run_build(opened, venue_ids, request, lines.show, spread)
        losses = read_losses(opened, venue_ids or opened.venues())
        has_papers = any(opened.tables.count("1-papers", venue_id) for venue_id in opened.venues())
        unheld, held = find_unheld(opened), opened.venues()
        doubts = [line for own in own_venues(opened) for line in doubted(own, read_own_usage(opened, own))]
    say(built(steps, losses))
    for line in doubts:
        say(line)
    for venue_id in unheld:
        say(describe_unheld(venue_id, held))
    if losses and not has_papers:
        return ExitCode.FOUND
    say(formatting.next_steps("status", workspace, "explore", "report", "publish"))
    return ExitCode.DONE


def publish(
    workspace: WorkspaceFolder,
    *,
    venue: VenueNames = (),
    out: Annotated[Path | None, Named] = None,
    request: Annotated[ReleaseRequest, Parameter(name="*")] = DEFAULT_REQUEST,
) -> None:
    """Write a dataset that `datasets.load_dataset` opens. If nothing changed, the existing release is kept.

    Parameters
    ----------
    out
        Folder to write: a new one, or one with an earlier release, which is replaced. Without --out, a release named by
        its date is added to releases/ in the workspace; it is never changed.
    """
    from peercorpus.cli.text import formatting
    from peercorpus.cli.text import publish as publish_texts
    from peercorpus.pipeline.build import require_built
    from peercorpus.release.by_model.annotator import choose_models
    from peercorpus.venues.venue_names import read_venue_ids
    from peercorpus.workspace.workspace import open_workspace

    with (
        ProgressLines() as lines,
        open_workspace(workspace, write=False) as opened,
        choose_models(workspace, request) as (titler, annotator),
    ):
        venue_ids = read_venue_ids(venue, opened.venues())
        require_built(opened, venue_ids, points=bool(request.points))
        _, summary = write_release(opened, out, venue_ids, request, lines, titler, annotator)
    by_model = publish_texts.told_by_model(titler, annotator)
    say("\n".join((summary, *by_model, formatting.next_steps("explore", workspace, "report"))))


def write_release(
    workspace: "Workspace",
    out: Path | None,
    venue_ids: list[str] | None,
    request: ReleaseRequest,
    lines: ProgressLines,
    titler: "Titler | None" = None,
    annotator: "Annotator | None" = None,
) -> tuple[Path, str]:
    """Publish unless the existing release is up to date, and return its folder and the text to print."""
    from peercorpus.cli.text import publish as publish_texts
    from peercorpus.cli.text import releases
    from peercorpus.release.dated_releases import publish_unless_same

    folder, summary = publish_unless_same(
        workspace, out, request, venue_ids, lines.show, titler=titler, annotator=annotator
    )
    if summary is None:
        return folder, releases.same_release(folder)
    return folder, publish_texts.published(summary, folder, None if request.drawn is None else request.drawn.profile)


def status(
    workspace: WorkspaceFolder,
    *,
    venue: VenueNames = (),
    all_: Annotated[bool, Parameter(name="--all")] = False,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> int:
    """Show how complete each venue is in a table, and below it what is missing or may mislead.

    Exit with 1 if rows are missing: rows in must equal rows out plus rows set aside.

    Parameters
    ----------
    all_
        Show everything that is known of each venue, with every stage's rows in, out and set aside.
    json_
        Print one JSON object with all counts.
    """
    from peercorpus.cli.text import status as status_texts
    from peercorpus.cli.text import status_table
    from peercorpus.pipeline.status import only_venues, read_status
    from peercorpus.venues.venue_names import read_venue_ids
    from peercorpus.workspace.workspace import open_workspace

    with open_workspace(workspace, write=False) as opened:
        venue_ids = read_venue_ids(venue, opened.venues())
        standing = read_status(opened)
    if venue_ids:
        standing = only_venues(standing, venue_ids)
    if json_:
        say(status_texts.standing_json(standing))
    else:
        say(status_texts.standing(standing) if all_ else status_table.overview(standing))
    return ExitCode.DONE if standing.holds else ExitCode.FOUND


def convert(
    paths: Annotated[
        list[str], Parameter(name="PDF", help="PDF files, or folders and s3:// URLs to search for *.pdf.")
    ],
    /,
    *,
    out: str,
    to: Literal["markdown", "latex"] = "markdown",
    formulas: Literal["unicode", "latex"] = "unicode",
    request: Annotated[ReadingRequest, Parameter(name="*")] = DEFAULT_READING,
    force: bool = False,
) -> int:
    """Convert PDFs to Markdown: each becomes a `NAME.md` and a `NAME.json` with headings, quality and problems.

    An interrupted run continues where it stopped. A PDF that cannot be read gets a JSON with the reason, and the
    command exits with 1.

    Parameters
    ----------
    out
        Folder to write, or s3://BUCKET/PREFIX. If two PDFs have the same name, one gets a longer name.
    to
        latex: write a `NAME.tex` beside each `NAME.md`, which compiles with pdflatex and xelatex.
    formulas
        How Greek letters and signs in formulas are written: as Unicode characters, or as LaTeX commands.
    force
        Convert PDFs again that were converted before or could not be read.
    """
    from peercorpus.texts.engine import choose_executor
    from peercorpus.texts.folder import check_destination, convert_to_folder
    from peercorpus.texts.folder import find_all_pdfs as find_pdfs
    from peercorpus.workspace.object_store import S3Path, locate

    spread = choose_executor(request)
    destination = locate(out)
    check_destination(request, destination)
    places = [locate(path) for path in paths]
    if any(isinstance(place, S3Path) for place in (destination, *places)):
        require_extra("cluster", "obstore")
    sources = find_pdfs(places)
    with ProgressLines() as lines:
        summary = convert_to_folder(
            spread,
            sources,
            destination,
            request,
            formulas=formulas,
            latex=to == "latex",
            force=force,
            show=lines.show,
        )
    say(converted(summary, destination))
    uncut = summary.images is not None and summary.images.failures
    return ExitCode.FOUND if summary.failures or uncut else ExitCode.DONE


def built(steps: Sequence["StepResult"], losses: Sequence["SourceLoss"] = ()) -> str:
    """Return the sources that are mostly set aside, if any, then how many steps a build ran, and how long they took."""
    from peercorpus.cli.text.losses import lost

    return "\n".join([*lost(losses, is_built=True), _steps_run(steps)])


def _steps_run(steps: Sequence["StepResult"]) -> str:
    ran = [step for step in steps if not step.was_finished]
    if not ran:
        all_steps = "the only step is" if len(steps) == 1 else f"all {plural(len(steps), 'step')} are"
        return f"Nothing to do: {all_steps} up to date."
    seconds = sum(step.seconds for step in ran)
    return f"{plural(len(ran), 'step')} run in {duration(seconds)}, {len(steps) - len(ran)} already up to date."


def doubted(venue_id: str, forms: Sequence[tuple["KnownForm", "FormUsage"]]) -> list[str]:
    """Return what reviews answer that the form in `venues.toml` does not have, each with the field that may be meant.

    Args:
        venue_id: The venue.
        forms: Its forms in the file, and how the reviews answer them.
    """
    lines = []
    for known, usage in forms:
        unfilled = [name for name in known.form.questions if name not in usage.filled]
        for name, count in usage.unknown.items():
            close = find_close(name, unfilled)
            hint = "add it" if close is None else f"did you mean it by '{escape_controls(close)}'?"
            has_not = f"answer '{escape_controls(name)}', which its form does not have; {hint}"
            lines.append(_name_doubt(venue_id, count, has_not))
        for name, count in usage.unoffered.items():
            offers = f"answer '{escape_controls(name)}' with something that its form does not offer; add it there"
            lines.append(_name_doubt(venue_id, count, offers))
    return lines


def _name_doubt(venue_id: str, count: int, what: str) -> str:
    answers = what if count > 1 else what.replace("answer", "answers", 1)
    end = "" if what.endswith("?") else "."
    return f"venues.toml, '{escape_controls(venue_id)}': {plural(count, 'review')} {answers}{end}"


def describe_unheld(venue_id: str, held: Sequence[str]) -> str:
    """Return that `venues.toml` has a row for a venue without data in the workspace, with the nearest that has data.

    >>> describe_unheld("Bay.org/2031", ["Bays.org/2031"])
    "venues.toml has a row for 'Bay.org/2031', for which the workspace has no data; did you mean 'Bays.org/2031'?"
    """
    close = find_close(venue_id, held)
    hint = "." if close is None else f"; did you mean '{close}'?"
    return f"venues.toml has a row for '{escape_controls(venue_id)}', for which the workspace has no data{hint}"


_SHOWN_FILES = 20
"""Files named in the text; the JSON next to each has the same information."""


def _file_lines(files: Sequence[tuple["Location", str]]) -> list[str]:
    lines = [
        f"  {escape_controls(str(source), 500)}: {escape_controls(detail, 200)}"
        for source, detail in files[:_SHOWN_FILES]
    ]
    return lines if len(files) <= _SHOWN_FILES else [*lines, f"  and {plural(len(files) - _SHOWN_FILES, 'other')}"]


def _image_lines(images: "ImageSummary") -> list[str]:
    lines = []
    if images.cut:
        without = f"; {plural(images.without_image, 'caption')} without an image" if images.without_image else ""
        lines.append(
            f"{plural(images.images, 'image')} of figures and tables cut out of {plural(images.cut, 'PDF')}{without}."
        )
    if images.already:
        lines.append(f"The images of {plural(images.already, 'PDF')} were there before.")
    if images.failures:
        lines.append(f"The figures of {plural(len(images.failures), 'PDF')} could not be cut:")
        lines += _file_lines(images.failures)
    return lines


def converted(summary: "FolderSummary", out: "Location") -> str:
    """Return how many PDFs were converted, which could not be and why, and where the texts are."""
    lines = []
    if summary.converted:
        pace = f"{plural(summary.pages, 'page')} in {duration(summary.seconds)}"
        if summary.seconds > 0:
            pace += f", {summary.pages / summary.seconds:.1f} pages/s"
        lines.append(f"{plural(summary.converted, 'PDF')} became Markdown: {pace}.")
    if summary.already:
        lines.append(f"{plural(summary.already, 'PDF')} had been converted before.")
    if summary.latex:
        as_text = summary.formulas_as_text.total()
        shown = f" {as_text:,} of {plural(summary.formulas, 'formula')} shown there as text." if as_text else ""
        lines.append(f"{plural(summary.latex, 'text')} written as LaTeX.{shown}")
    if summary.images is not None:
        lines += _image_lines(summary.images)
    if summary.repeated:
        lines.append(f"{plural(summary.repeated, 'PDF')} named twice, with the same content and name.")
    if summary.renamed:
        lines.append(
            f"{plural(len(summary.renamed), 'PDF')} written under another name, because their own is taken or not"
            " allowed:"
        )
        lines += _file_lines([(source, name) for source, name in summary.renamed])
    if summary.failures:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(summary.failed.items()))
        lines.append(f"{plural(len(summary.failures), 'PDF')} could not be converted ({reasons}):")
        lines += _file_lines(summary.failures)
    return "\n".join([*lines, f"The texts and their quality reports are in '{escape_controls(str(out), 500)}'."])
