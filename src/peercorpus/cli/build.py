"""The commands `build`, `publish`, `status` and `convert`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.console import AtLeastOne, Named, ProgressLines, WorkspaceFolder, say
from peercorpus.cli.extras import require_extra
from peercorpus.cli.options import DEFAULT_READING, EngineOptions, Figures, VenueNames, WorstGrade, read_venue_ids
from peercorpus.cli.text.formatting import duration
from peercorpus.errors import ExitCode, PeercorpusError
from peercorpus.records.counted_nouns import plural
from peercorpus.records.suggestions import find_close
from peercorpus.records.untrusted_text import escape_controls

if TYPE_CHECKING:
    from peercorpus.forms.form_usage import FormUsage
    from peercorpus.forms.venue_forms import KnownForm
    from peercorpus.pipeline.build_venues import StepResult
    from peercorpus.pipeline.losses import SourceLoss
    from peercorpus.release.by_model.annotator import Annotator
    from peercorpus.release.by_model.turn_titles import Titler
    from peercorpus.release.split_file import SplitRequest
    from peercorpus.texts.folder import FolderSummary
    from peercorpus.texts.folder_images import ImageSummary
    from peercorpus.workspace.object_store import Location
    from peercorpus.workspace.workspace import Workspace


def build(
    workspace: WorkspaceFolder,
    *,
    venue: VenueNames = (),
    reading: EngineOptions = DEFAULT_READING,
    figures: Figures = False,
    points: Annotated[bool, Parameter(negative=())] = False,
    retry: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Bring a workspace's tables up to date; only what changed is rebuilt.

    Exit with 1 if everything was set aside, so that there is no paper. What you know about a venue, such as its
    deadline, goes into the file venues.toml in the workspace.

    Parameters
    ----------
    points
        Split reviews into single criticisms, each with the passages of the rebuttal that answer it, what the reviewer
        said then, and what changed in the paper: the table 9-points. Later builds keep it up to date
        only with this option.
    retry
        Read PDFs again that took too long, crashed the reader or were missing, and repeat comparisons that failed.
    """
    from peercorpus.cli.text import formatting
    from peercorpus.forms.form_usage import read_own_usage
    from peercorpus.pipeline.build import build as run_build
    from peercorpus.pipeline.losses import read_losses
    from peercorpus.venues.own_venues import find_unheld, own_venues
    from peercorpus.workspace.workspace import open_workspace

    options, spread = reading.settle(figures=figures, retry=retry)
    options = replace(options, points=points)
    with open_workspace(workspace) as opened, ProgressLines() as lines:
        venue_ids = read_venue_ids(venue, opened.venues())
        steps = run_build(opened, venue_ids, options, lines.show, spread)
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


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFlags:
    """Contents of a release.

    Parameters
    ----------
    authors
        Include author names. Without them, texts and changes that name an author are left out, too. The configurations
        for tasks never include them.
    texts
        Texts of papers. initial: only what --grade accepts as the version the reviewers read; best: the best text
        available, with its grade; all: also the text of every version, in the configuration texts.
    grade
        Worst grade of a text to accept in the configurations for tasks. The default and better ones are proven initial
        versions; the card lists all grades.
    latex
        Fill the column latex of the configuration texts: each text as a LaTeX document. It doubles their size.
    blocks
        Fill the columns blocks and mentions of the configuration texts: each text block by block, with places, cells
        and formulas, and what its sentences refer to. It adds half of their size.
    layout
        peercorpus: all configurations; reviewbench: the one configuration of ReviewBench, with its twenty columns.
    figures
        Include images of the figures and tables of the texts in 'papers', cut out by `peercorpus build --figures`.
    points
        Include the points of reviews and their answers, found by `peercorpus build --points`. model: a language model
        labels what the rules left open. Without a value, as with rules, no model is used.
    """

    authors: bool = True
    texts: Literal["initial", "best", "all"] = "best"
    grade: WorstGrade = "only_before_review"
    latex: Annotated[bool, Parameter(negative=())] = False
    blocks: Annotated[bool, Parameter(negative=())] = False
    layout: Literal["peercorpus", "reviewbench"] = "peercorpus"
    figures: Annotated[bool, Parameter(negative=())] = False
    points: Annotated[bool | Literal["rules", "model"], Parameter(negative=(), show_default=False)] = False


DEFAULT_CONTENT = ReleaseFlags()


def publish(
    workspace: WorkspaceFolder,
    *,
    venue: VenueNames = (),
    out: Annotated[Path | None, Named] = None,
    titles: Literal["posts", "model"] = "posts",
    model_url: str | None = None,
    model: str | None = None,
    max_questions: Annotated[int | None, AtLeastOne] = None,
    splits: Literal["re2", "temporal", "stated", "none"] | None = None,
    test_after: date | None = None,
    splits_from: Annotated[Path | None, Named] = None,
    new_splits: Annotated[bool, Parameter(negative=())] = False,
    content: ReleaseFlags = DEFAULT_CONTENT,
) -> None:
    """Write a dataset that `datasets.load_dataset` opens. If nothing changed, the existing release is kept.

    Parameters
    ----------
    out
        Folder to write: a new one, or one with an earlier release, which is replaced. Without --out, a release named by
        its date is added to releases/ in the workspace; it is never changed.
    titles
        posts: a turn of several posts gets the title they share; model: a language model writes the title.
    model_url
        URL of the model's endpoint, up to '/v1'. Its key is read from PEERCORPUS_MODEL_KEY.
    model
        Name of the model at the endpoint.
    max_questions
        Maximum number of questions to the model in one run. Answers are stored and used again. Default: 1,000.
    splits
        Train, validation and test. re2: test sets of Re²'s sizes, stratified by venue and status; temporal: test on
        papers submitted after --test-after; stated: as a published dataset such as Re² states them; none: no splits and
        no configurations for tasks. Default: re2; with --layout reviewbench, none.
    test_after
        With --splits temporal: test on papers submitted after this UTC date, such as 2024-10-01.
    splits_from
        Folder of a release, such as another workspace's, whose papers keep their splits. Papers always keep those
        assigned by any release of this workspace, wherever it was written.
    new_splits
        Let papers change the splits assigned by earlier releases; the card states how many do.
    """
    from peercorpus.cli.text import formatting
    from peercorpus.cli.text import publish as publish_texts
    from peercorpus.pipeline.build import require_built
    from peercorpus.release.by_model.choose_models import choose_models
    from peercorpus.release.split_file import request_splits
    from peercorpus.workspace.workspace import open_workspace

    if is_reviewbench := content.layout == "reviewbench":
        _refuse_unfit(content, splits, titles)
    asked = request_splits(splits or ("none" if is_reviewbench else "re2"), test_after, splits_from, is_new=new_splits)
    by = {"titles": titles == "model", "points": content.points == "model"}
    asking = choose_models(workspace, model_url, model, max_questions, **by)
    with ProgressLines() as lines, open_workspace(workspace, write=False) as opened, asking as (titler, annotator):
        venue_ids = read_venue_ids(venue, opened.venues())
        require_built(opened, venue_ids, points=bool(content.points))
        _, summary = write_release(opened, out, venue_ids, asked, titler, lines, content, annotator)
    by_model = publish_texts.told_by_model(titler, annotator)
    say("\n".join((summary, *by_model, formatting.next_steps("explore", workspace, "report"))))


def _refuse_unfit(content: ReleaseFlags, splits: str | None, titles: str) -> None:
    """Raise an error for an option for which the layout of ReviewBench has no place."""
    unfit = {
        "--titles": titles == "model",
        "--latex": content.latex,
        "--blocks": content.blocks,
        "--texts all": content.texts == "all",
        "--splits": splits not in {None, "none"},
    }
    option = next((option for option, is_given in unfit.items() if is_given), None)
    if option is not None:
        raise PeercorpusError(f"{option} cannot be used with --layout reviewbench; leave one of them out.")


def write_release(
    workspace: "Workspace",
    out: Path | None,
    venue_ids: list[str] | None,
    splits: "SplitRequest | None",
    titler: "Titler | None",
    lines: ProgressLines,
    content: ReleaseFlags,
    annotator: "Annotator | None" = None,
) -> tuple[Path, str]:
    """Publish unless the existing release is up to date, and return its folder and the text to print."""
    from peercorpus.cli.text import publish as publish_texts
    from peercorpus.cli.text import releases
    from peercorpus.corpus.text_choice import TextChoice, TextRule
    from peercorpus.records.enums import Grade
    from peercorpus.release.dated_releases import ReleaseContent, publish_unless_same
    from peercorpus.release.shards import ReleaseLayout

    asked = ReleaseContent(
        with_authors=content.authors,
        text_rule=TextRule(TextChoice(content.texts), Grade(content.grade), content.latex, content.blocks),
        layout=ReleaseLayout(content.layout),
        figures=content.figures,
        points=bool(content.points),
    )
    folder, summary = publish_unless_same(workspace, out, venue_ids, splits, asked, lines.show, titler, annotator)
    if summary is None:
        return folder, releases.same_release(folder)
    return folder, publish_texts.published(summary, folder, None if splits is None else splits.profile)


def status(
    workspace: WorkspaceFolder,
    *,
    venue: VenueNames = (),
    all_: Annotated[bool, Parameter(name="--all", negative=())] = False,
    json_: Annotated[bool, Parameter(name="--json", negative=())] = False,
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
    reading: EngineOptions = DEFAULT_READING,
    figures: Figures = False,
    force: Annotated[bool, Parameter(negative=())] = False,
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
    from peercorpus.texts.folder import check_destination, convert_to_folder
    from peercorpus.texts.folder import find_all_pdfs as find_pdfs
    from peercorpus.workspace.object_store import S3Path, locate

    options, spread = reading.settle(figures=figures)
    destination = locate(out)
    check_destination(options, destination)
    places = [locate(path) for path in paths]
    if any(isinstance(place, S3Path) for place in (destination, *places)):
        require_extra("cluster", "obstore")
    sources = find_pdfs(places)
    with ProgressLines() as lines:
        summary = convert_to_folder(
            spread,
            sources,
            destination,
            options,
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

    >>> unheld("Bay.org/2031", ["Bays.org/2031"])
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
