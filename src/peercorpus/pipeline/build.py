"""Build the tables: run every stage that is not up to date, in order.

A stage is up to date if its tables carry the content key of its current inputs, options and version.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from peercorpus.corpus.filters import Operator, parse_all
from peercorpus.corpus.reminder_decisions import read_decisions
from peercorpus.errors import TableError
from peercorpus.execution.executor import Executor
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.execution.requests import BuildRequest, StatedEngine
from peercorpus.execution.stage import Stage
from peercorpus.forms.venue_forms import check_own_venues
from peercorpus.links.link_submissions import stage as linking_stage
from peercorpus.pipeline.build_venues import ALL_VENUES, StepResult, build_venues, report_to
from peercorpus.pipeline.plan_build import carries_key, expected_key, may_pass
from peercorpus.pipeline.venue_work import stages_of_venue
from peercorpus.points.find_points import stage as points_stage
from peercorpus.texts.convert import read_engine_used
from peercorpus.texts.cut_figures import stage as figures_stage
from peercorpus.workspace.workspace import Workspace, open_workspace


def stages_with(spread: Executor) -> tuple[Stage[Workspace], ...]:
    """Return all stages in order; the executor does not affect rows, so it is not in any content key."""
    return (*stages_of_venue(spread), linking_stage(spread))


STAGES = stages_with(LocalExecutor())
CUT_FIGURES = figures_stage(LocalExecutor())
"""The stage that runs only if `BuildRequest.figures` is set; no other stage reads what it writes."""
FIND_POINTS = points_stage(LocalExecutor())
"""The stage that runs only if `BuildRequest.points` is set; no other stage reads what it writes."""


def is_finished(workspace: Workspace, stage: Stage[Workspace], venue_id: str, options: BuildRequest) -> bool:
    """Return whether a stage has nothing to do for a venue."""
    return carries_key(workspace, stage, venue_id, expected_key(workspace, stage, venue_id, options))


def known_venues(workspace: Workspace, venue_ids: Sequence[str]) -> list[str]:
    """Return the named venues, or all venues of the workspace if none is named.

    Raises:
        TableError: A venue is not in the workspace.
    """
    present_ids = workspace.venues()
    known = frozenset(present_ids)
    unknown = [venue_id for venue_id in venue_ids if venue_id not in known]
    if unknown:
        listed = ", ".join(present_ids) or "none"
        raise TableError(
            f"The venue '{unknown[0]}' is not in the workspace, which has: {listed}. Run 'peercorpus harvest' first."
        )
    return list(dict.fromkeys(venue_ids)) or present_ids


def build(
    workspace: Workspace,
    venue_ids: Sequence[str] = (),
    options: BuildRequest | None = None,
    progress: Show = show_nothing,
    spread: Executor | None = None,
) -> list[StepResult]:
    """Bring the tables up to date, stage by stage, and return one result per step.

    Notes and PDFs are read in worker processes: a script must call this under `if __name__ == "__main__":`.

    Args:
        workspace: Opened for writing.
        venue_ids: Venues to build; empty means all.
        options: Options of the stages.
        progress: Receives the progress of each step.
        spread: Executor of the work; None uses the cores of this machine.

    Raises:
        VenuesFileError: The workspace's `venues.toml` is not valid.
        PeercorpusError: A line of its `reminders.tsv` is not a decision.
    """
    check_own_venues(workspace)
    read_decisions(workspace.folder)  # Raises on a bad line before anything is built.
    options = options or BuildRequest()
    stages = STAGES if spread is None else stages_with(spread)
    own = [stage for stage in stages if not stage.is_of_all]
    if options.figures:
        own.append(CUT_FIGURES if spread is None else figures_stage(spread))
    if options.points:
        own.append(FIND_POINTS if spread is None else points_stage(spread))
    with workspace.tables.together():
        chosen = known_venues(workspace, venue_ids)
        steps = build_venues(workspace, chosen, own, options, progress, spread or LocalExecutor())
        of_all = (stage for stage in stages if stage.is_of_all)
        return steps + [_run_of_all(workspace, stage, options, progress) for stage in of_all]


def _run_of_all(workspace: Workspace, stage: Stage[Workspace], options: BuildRequest, show: Show) -> StepResult:
    """Run a stage that processes all venues together, unless it is up to date."""
    key = expected_key(workspace, stage, ALL_VENUES, options)
    venue_ids = workspace.venues()
    is_left = options.retry and may_pass(workspace, stage, venue_ids)
    if not is_left and all(carries_key(workspace, stage, venue_id, key) for venue_id in venue_ids):
        return StepResult(stage.name, ALL_VENUES, was_finished=True, seconds=0.0)
    started = time.perf_counter()
    workspace.raw.release_memory()  # Such a stage reads tables only.
    stage.run(workspace, ALL_VENUES, options, key, report_to(workspace, Meter(ALL_VENUES, stage.doing, show)))
    return StepResult(stage.name, ALL_VENUES, was_finished=False, seconds=time.perf_counter() - started)


def find_unfinished(
    workspace: Workspace, venue_ids: Iterable[str], options: BuildRequest | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Yield each venue with its stages that are out of date, including those that read the output of such a stage.

    Without options, those that each venue was built with count.
    """
    keys_of_all: dict[tuple[str, BuildRequest], str] = {}
    for venue_id in venue_ids:
        engine = None if options else read_engine_used(workspace.tables, venue_id)
        chosen = options or (StatedEngine(engine=engine[0], engine_version=engine[1]) if engine else BuildRequest())
        names: list[str] = []
        stale: set[str] = set()
        for stage in STAGES:
            if not stale.intersection(stage.reads):
                key = keys_of_all.get((stage.name, chosen)) or expected_key(workspace, stage, venue_id, chosen)
                if stage.is_of_all:
                    keys_of_all[stage.name, chosen] = key
                if carries_key(workspace, stage, venue_id, key):
                    continue
            names.append(stage.name)
            stale.update(stage.writes)
        yield venue_id, names


def _require_points(workspace: Workspace, venue_ids: Sequence[str]) -> None:
    """Check that the points of these venues, or of all, belong to the current tables."""
    for venue_id in known_venues(workspace, venue_ids):
        if not is_finished(workspace, FIND_POINTS, venue_id, BuildRequest()):
            raise TableError(
                f"The points of '{venue_id}' have not been extracted, or its tables have changed since; run"
                " 'peercorpus build --points'."
            )


def require_whole(folder: Path, where: Iterable[str] = ()) -> None:
    """Check that the tables of a workspace are up to date, so that a part of it is never read as the whole.

    A folder without `raw.db`, such as a release, is not checked, nor is a venue of which it holds nothing as received.

    Args:
        folder: The workspace.
        where: Conditions on papers. If some are on the venue (`venue=…`), only the tables of these venues are checked.

    Raises:
        PeercorpusError: A condition does not exist.
        TableError: The tables of a venue are not up to date.
    """
    if not (folder / "raw.db").is_file():
        return
    named = {one.value for one in parse_all(where) if (one.name, one.comparison) == ("venue", Operator.IS)}
    with open_workspace(folder, write=False) as workspace:
        venue_ids = [venue_id for venue_id in workspace.raw.venues() if not named or venue_id.lower() in named]
        if venue_ids:
            require_built(workspace, venue_ids)


def require_built(workspace: Workspace, venue_ids: Sequence[str] = (), *, points: bool = False) -> None:
    """Check that the tables of these venues, or of all, are up to date; the table of points only if `points` is set.

    Raises:
        TableError: They are not up to date, or a venue is not in the workspace.
    """
    with workspace.tables.looking_once():
        for venue_id, waiting in find_unfinished(workspace, known_venues(workspace, venue_ids)):
            if waiting:
                raise TableError(f"The tables of '{venue_id}' are not built or out of date; run 'peercorpus build'.")
        if points:
            _require_points(workspace, venue_ids)
