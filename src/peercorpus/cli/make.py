"""`peercorpus build`, `publish` and `status`: what is made of what came in."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.app import AtLeastOne, Named, WorkspaceFolder, app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.cli.reading import DEFAULT_READING, Reading

VenuesBuilt = Annotated[list[str] | None, Parameter(name="VENUE_ID", help="All venues built, if none is named.")]


@app.command
def build(
    venue_ids: Annotated[
        list[str] | None, Parameter(name="VENUE_ID", help="All venues held, if none is named.")
    ] = None,
    /,
    *,
    workspace: WorkspaceFolder,
    reading: Reading = DEFAULT_READING,
    retry: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Bring a workspace's tables up to date; only what changed is rebuilt.

    Parameters
    ----------
    retry
        Read PDFs again that took too long, whose reading crashed, or whose file was missing, and compare versions
        and papers again where that failed.
    """
    from peercorpus import wording
    from peercorpus.pipeline import build as run_build
    from peercorpus.workspace import open_workspace

    options, spread = reading.settle(retry=retry)
    with open_workspace(workspace) as opened, ProgressLines() as lines:
        steps = run_build(opened, venue_ids or (), options, lines.show, spread)
    say(wording.built(steps))
    say(wording.next_step("publish", workspace))


@app.command
def publish(
    venue_ids: VenuesBuilt = None,
    /,
    *,
    workspace: WorkspaceFolder,
    out: Annotated[Path | None, Named] = None,
    titles: Literal["posts", "model"] = "posts",
    model_url: str | None = None,
    model: str | None = None,
    most_questions: Annotated[int, AtLeastOne] = 1_000,
    splits: Literal["re2", "temporal", "none"] = "re2",
    test_after: date | None = None,
    splits_from: Path | None = None,
    authors: bool = True,
) -> None:
    """Write a dataset that `datasets.load_dataset` opens; one that is there and would be the same is left as it is.

    Parameters
    ----------
    out
        The folder to write; one that holds an earlier release of ours is replaced. Without it a release that never
        changes is added to releases/ in the workspace, named by its day; papers keep the sides they had there.
    titles
        posts: a turn of several posts has the title that these share; model: one that a language model writes.
    model_url
        The address of the model's endpoint, up to '/v1'; its key is read from PEERCORPUS_MODEL_KEY.
    model
        The model's name there.
    most_questions
        How many titles a run may ask for; what was answered once is not asked again.
    splits
        Which papers to train and test on. re2: tests of Re²'s sizes, stratified by venue and status; temporal: test
        what was submitted after a day; none: no sides, and no configurations for tasks.
    test_after
        That day (2024-10-01, UTC).
    splits_from
        The folder of an earlier release whose papers keep their sides; without it, those of one that is replaced do.
    authors
        Name the authors; the configurations for tasks never do.
    """
    from peercorpus import wording, wording_releases
    from peercorpus.cli.modelling import settle_titler
    from peercorpus.cli.siding import settle_sides
    from peercorpus.pipeline import require_built
    from peercorpus.publish import dated, run, standing
    from peercorpus.workspace import open_workspace

    sides = settle_sides(splits, test_after, splits_from)
    titling = settle_titler(workspace, model_url, model, most_questions, is_asked=titles == "model")
    with ProgressLines() as lines, open_workspace(workspace, write=False) as opened, titling as titler:
        require_built(opened, venue_ids or ())
        with dated.placing(opened.folder, out, sides) as place:
            this = place.standing, opened, venue_ids, sides
            place.is_same = titler is None and standing.still_stands(*this, authors=authors)
            if not place.is_same:
                asked = venue_ids or None, lines.show, titler, place.sides
                summary = run.publish(opened, place.folder, *asked, with_authors=authors)
    say(wording_releases.same_release(place.final) if place.is_same else wording.published(summary, place.final))
    if titler is not None:
        say(wording.entitled(titler.given, titler.unanswered))


@app.command
def status(*, workspace: WorkspaceFolder, json_: Annotated[bool, Parameter(name="--json", negative=())] = False) -> int:
    """Show how complete each venue is, what in it may mislead, and rows in, out and set aside of every stage.

    Exit with 1 if a sum does not agree.

    Parameters
    ----------
    json_
        As one JSON object, with all counts.
    """
    from peercorpus import wording_status
    from peercorpus.pipeline import read_standing
    from peercorpus.workspace import open_workspace

    with open_workspace(workspace, write=False) as opened:
        standing = read_standing(opened)
    say(wording_status.standing_json(standing) if json_ else wording_status.standing(standing))
    return 0 if standing.holds else 1
