"""`peercorpus build`, `publish` and `status`: what is made of what came in."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import (
    DEFAULT_ENGINE,
    Address,
    AtLeastOne,
    EngineModel,
    EngineName,
    EngineUrl,
    Executor,
    Heavier,
    Models,
    MostPages,
    Ocr,
    WorkspaceFolder,
    app,
)
from peercorpus.cli.console import ProgressLines, say


@app.command
def build(
    venue_ids: Annotated[
        list[str] | None, Parameter(name="VENUE_ID", help="All venues held, if none is named.")
    ] = None,
    /,
    *,
    workspace: WorkspaceFolder,
    engine: EngineName = DEFAULT_ENGINE,
    ocr: Ocr = "off",
    heavier: Heavier = None,
    models: Models = None,
    engine_url: EngineUrl = None,
    engine_model: EngineModel = None,
    most_pages: MostPages = 1_000,
    executor: Executor = "local",
    address: Address = None,
    workers: Annotated[int | None, AtLeastOne] = None,
    pdf_timeout_s: Annotated[float, Parameter(validator=Number(gt=0))] = 60.0,
    retry: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Bring a workspace's tables up to date; only what changed is rebuilt.

    Parameters
    ----------
    workers
        Processes that read PDFs; one per core if not named.
    pdf_timeout_s
        Seconds a single PDF may take.
    retry
        Read PDFs again that took too long, whose reading crashed, or whose file was missing.
    """
    from peercorpus import wording
    from peercorpus.executors.choose import load_executor
    from peercorpus.pipeline import build as run_build
    from peercorpus.stage import Options
    from peercorpus.texts.engine import HEAVY, load_engine
    from peercorpus.texts.settings import settings_of
    from peercorpus.workspace import open_workspace

    options = Options(
        engine=engine,
        ocr=ocr,
        heavier=heavier,
        models=models,
        engine_url=engine_url,
        engine_model=engine_model,
        most_pages=most_pages,
        workers=workers,
        pdf_timeout_s=pdf_timeout_s,
        retry=retry,
    )
    load_engine(engine, settings_of(options))  # One whose package is missing is told of before anything is done.
    with open_workspace(workspace) as opened, ProgressLines() as lines:
        spread = load_executor(executor, address, heavy=not HEAVY.isdisjoint({engine, heavier}))
        steps = run_build(opened, venue_ids or (), options, lines.show, spread)
    say(wording.built(steps))
    say(wording.next_step("publish", workspace, "--out DIR"))


@app.command
def publish(
    venue_ids: Annotated[
        list[str] | None, Parameter(name="VENUE_ID", help="All venues built, if none is named.")
    ] = None,
    /,
    *,
    workspace: WorkspaceFolder,
    out: Path,
) -> None:
    """Write a dataset that `datasets.load_dataset` opens.

    Parameters
    ----------
    out
        The folder to write; one that holds an earlier release of ours is replaced.
    """
    from peercorpus import wording
    from peercorpus.pipeline import require_built
    from peercorpus.publish.run import publish as run_publish
    from peercorpus.workspace import open_workspace

    with ProgressLines() as lines, open_workspace(workspace, write=False) as opened:
        require_built(opened, venue_ids or ())
        summary = run_publish(opened, out, venue_ids or None, lines.show)
    say(wording.published(summary, out))


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
