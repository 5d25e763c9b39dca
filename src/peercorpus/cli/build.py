"""The commands `build`, `publish`, `status` and `convert`."""

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.console import AtLeastOne, Named, ProgressLines, WorkspaceFolder, say
from peercorpus.cli.extras import require_extra
from peercorpus.cli.options import (
    DEFAULT_READING,
    EngineOptions,
    Figures,
    VenueNames,
    WorstGrade,
    read_venue_ids,
)
from peercorpus.errors import ExitCode, PeercorpusError

if TYPE_CHECKING:
    from peercorpus.release.by_model.annotator import Annotator
    from peercorpus.release.by_model.turn_titles import Titler
    from peercorpus.release.split_file import SplitRequest
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
    from peercorpus.cli.text import build as build_texts
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
        doubts = [line for own in own_venues(opened) for line in build_texts.doubted(own, read_own_usage(opened, own))]
    say(build_texts.built(steps, losses))
    for line in doubts:
        say(line)
    for venue_id in unheld:
        say(build_texts.unheld(venue_id, held))
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
    from peercorpus.cli.text import convert as convert_texts
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
    say(convert_texts.converted(summary, destination))
    uncut = summary.images is not None and summary.images.failures
    return ExitCode.FOUND if summary.failures or uncut else ExitCode.DONE
