"""Build the tables: run every stage that is not up to date, in order.

A stage is up to date when its tables carry the content key of its present inputs, options and version.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from peercorpus.conversations.build import STAGE as BUILD_CONVERSATIONS
from peercorpus.corpus.reminder_decisions import read_decisions
from peercorpus.errors import TableError
from peercorpus.execution.executor import Executor
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.execution.stage import Options, Stage, content_key
from peercorpus.forms.normalise import STAGE as NORMALISE
from peercorpus.forms.venue_forms import check_own_venues
from peercorpus.links.compare_versions import stage as comparison_stage
from peercorpus.links.link_submissions import stage as linking_stage
from peercorpus.points.find_points import STAGE as FIND_POINTS
from peercorpus.texts.convert import read_engine_used
from peercorpus.texts.convert import stage as texts_stage
from peercorpus.texts.cut_figures import stage as figures_stage
from peercorpus.versions.find_versions import STAGE as CHOOSE_VERSIONS
from peercorpus.versions.inspect import stage as inspection_stage
from peercorpus.workspace.workspace import Workspace


def stages_with(spread: Executor) -> tuple[Stage[Workspace], ...]:
    """Return all stages in order; the executor does not affect rows, so it is not in any content key."""
    return (
        inspection_stage(spread),
        NORMALISE,
        CHOOSE_VERSIONS,
        texts_stage(spread),
        BUILD_CONVERSATIONS,
        comparison_stage(spread),
        FIND_POINTS,
        linking_stage(spread),
    )


STAGES = stages_with(LocalExecutor())
CUT_FIGURES = figures_stage(LocalExecutor())
"""The stage that runs only if `Options.figures` is set; no other stage reads what it writes."""
VENUE = "venue"
"""Key, among a stage's inputs, of what `Stage.made_with_venue` returns, such as the venue's deadlines."""
ALL_VENUES = "all venues"
"""Stands for the venue in the single step of a stage that works on all venues at once."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one stage for one venue.

    Attributes:
        venue_id: `ALL_VENUES` if the stage works on all venues at once.
        was_finished: Whether there was nothing to do.
        seconds: Duration; 0 if there was nothing to do.
    """

    stage: str
    venue_id: str
    was_finished: bool
    seconds: float


def _read_digests(workspace: Workspace, stage: Stage[Workspace], venue_id: str) -> dict[str, str]:
    raw = workspace.raw
    if stage.is_of_all:
        digests = ((name, workspace.tables.digests(name)) for name in stage.reads)
        return {f"{name} {read_id}": digest for name, by_venue in digests for read_id, digest in by_venue.items()}
    others = {"file": lambda: raw.state.files_digest(venue_id), "pseudonyms": raw.pseudonyms.digest}
    received = {kind: others[kind]() if kind in others else raw.digest(kind, venue_id) for kind in stage.reads_raw}
    made_with = stage.made_with_venue(workspace, venue_id)
    known = {VENUE: made_with} if made_with else {}
    return received | known | {name: workspace.tables.digest(name, venue_id) for name in stage.reads}


def expected_key(workspace: Workspace, stage: Stage[Workspace], venue_id: str, options: Options) -> str:
    """Return the content key that a stage's partition of a venue has when it is up to date."""
    return content_key(stage, options, _read_digests(workspace, stage, venue_id))


def is_finished(workspace: Workspace, stage: Stage[Workspace], venue_id: str, options: Options) -> bool:
    """Return whether a stage has nothing to do for a venue."""
    return _carries(workspace, stage, venue_id, expected_key(workspace, stage, venue_id, options))


def _carries(workspace: Workspace, stage: Stage[Workspace], venue_id: str, key: str) -> bool:
    return all(workspace.tables.is_finished(name, venue_id, stage.name, key) for name in ("set-aside", *stage.writes))


def known_venues(workspace: Workspace, venue_ids: Sequence[str]) -> list[str]:
    """Return the venues named, or all of the workspace if none is named.

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
    return list(venue_ids) or present_ids


def build(
    workspace: Workspace,
    venue_ids: Sequence[str] = (),
    options: Options | None = None,
    progress: Show = show_nothing,
    spread: Executor | None = None,
) -> list[StepResult]:
    """Bring the tables up to date, stage by stage, and return one result per step.

    PDFs are read in worker processes: a script must call this under `if __name__ == "__main__":`.

    Args:
        workspace: Opened for writing.
        venue_ids: Venues to build; empty means all.
        options: Options of the stages.
        progress: Receives the progress of each step.
        spread: Executor for the work on files; None uses the cores of this machine.

    Raises:
        VenuesFileError: The workspace's `venues.toml` is not valid.
        PeercorpusError: A line of its `reminders.tsv` is not a decision.
    """
    check_own_venues(workspace)
    read_decisions(workspace.folder)  # Refuses a bad line before anything is built.
    options = options or Options()
    stages = STAGES if spread is None else stages_with(spread)
    own = [stage for stage in stages if not stage.is_of_all]
    if options.figures:
        own.append(CUT_FIGURES if spread is None else figures_stage(spread))
    with workspace.tables.together():
        chosen = known_venues(workspace, venue_ids)
        steps = [_run_step(workspace, stage, venue_id, options, progress) for venue_id in chosen for stage in own]
        of_all = (stage for stage in stages if stage.is_of_all)
        return steps + [_run_step(workspace, stage, ALL_VENUES, options, progress) for stage in of_all]


def _run_step(workspace: Workspace, stage: Stage[Workspace], venue_id: str, options: Options, show: Show) -> StepResult:
    key = expected_key(workspace, stage, venue_id, options)
    done_for = workspace.venues() if stage.is_of_all else [venue_id]
    may_pass = options.retry and any(
        stage.passing & workspace.tables.set_aside_counts(built_id, stage.name).keys() for built_id in done_for
    )
    if all(_carries(workspace, stage, built_id, key) for built_id in done_for) and not may_pass:
        return StepResult(stage.name, venue_id, was_finished=True, seconds=0.0)
    meter = Meter(venue_id, stage.name, show)

    def report(done: int, total: int) -> None:
        meter.report(done, total)
        workspace.tables.commit_due()

    started = time.perf_counter()
    stage.run(workspace, venue_id, options, key, report)
    return StepResult(stage.name, venue_id, was_finished=False, seconds=time.perf_counter() - started)


def _as_built(workspace: Workspace, venue_id: str) -> Options:
    """Return the options that a venue's tables were built with, of those that change rows: the engine of its texts."""
    engine = read_engine_used(workspace.tables, venue_id)
    return Options(engine=engine[0], engine_version=engine[1]) if engine else Options()


def find_unfinished(
    workspace: Workspace, venue_ids: Iterable[str], options: Options | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Yield each venue with its stages that are not up to date, and those that read what such a stage writes.

    Args:
        workspace: The workspace.
        venue_ids: The venues.
        options: Options of the stages; None means those that each venue was built with.
    """
    keys_of_all: dict[tuple[str, Options], str] = {}
    for venue_id in venue_ids:
        chosen = options or _as_built(workspace, venue_id)
        names: list[str] = []
        stale: set[str] = set()
        for stage in STAGES:
            if not stale.intersection(stage.reads):
                key = keys_of_all.get((stage.name, chosen)) or expected_key(workspace, stage, venue_id, chosen)
                if stage.is_of_all:
                    keys_of_all[stage.name, chosen] = key
                if _carries(workspace, stage, venue_id, key):
                    continue
            names.append(stage.name)
            stale.update(stage.writes)
        yield venue_id, names


def require_built(workspace: Workspace, venue_ids: Sequence[str] = ()) -> None:
    """Check that the tables of these venues, or of all, are up to date.

    Raises:
        TableError: They are not, or a venue is not in the workspace.
    """
    with workspace.tables.looking_once():
        for venue_id, waiting in find_unfinished(workspace, known_venues(workspace, venue_ids)):
            if waiting:
                raise TableError(f"The tables of '{venue_id}' are not built or out of date; run 'peercorpus build'.")
