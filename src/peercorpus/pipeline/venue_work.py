"""The work of one venue, or of a range of its forums, as a worker does it: files are written and nothing is committed.

What a worker is asked is a `WorkItem`; it answers with the changes that whoever holds the workspace then commits.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from peercorpus.conversations.build import STAGE as BUILD_CONVERSATIONS
from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Executor, Failure
from peercorpus.execution.stage import ForumRange, Options, ProgressCallback, RunRange, Stage, no_report
from peercorpus.forms.normalise import STAGE as NORMALISE
from peercorpus.links.compare_versions import stage as comparison_stage
from peercorpus.texts.convert import stage as texts_stage
from peercorpus.versions.find_versions import STAGE as CHOOSE_VERSIONS
from peercorpus.versions.inspect import stage as inspection_stage
from peercorpus.workspace.draft_tables import HeldTables
from peercorpus.workspace.table_state import PartitionChange
from peercorpus.workspace.workspace import Workspace

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_BEGUN = 6
"""Stages of venues of which a worker keeps what their ranges have in common: those of two venues."""


def stages_of_venue(spread: Executor) -> tuple[Stage[Workspace], ...]:
    """Return the stages that work on one venue alone, in order."""
    return (
        inspection_stage(spread),
        NORMALISE,
        CHOOSE_VERSIONS,
        texts_stage(spread),
        BUILD_CONVERSATIONS,
        comparison_stage(spread),
    )


OF_NOTES = frozenset({NORMALISE.name, CHOOSE_VERSIONS.name, BUILD_CONVERSATIONS.name})
"""Stages that give no work to an executor."""


@dataclass(frozen=True, slots=True)
class VenueTask:
    """Stages to run one after the other.

    Attributes:
        venue_id: The venue.
        span: Range of its forums.
        steps: Name and content key of each stage.
        held: What the tables hold of the venue.
    """

    venue_id: str
    span: ForumRange
    steps: tuple[tuple[str, str], ...]
    held: HeldTables


@dataclass(frozen=True, slots=True)
class WorkItem:
    """What a worker is asked to do.

    Attributes:
        folder: The workspace.
        run_id: Names the build, in which nothing that was received changes.
        own_venues: The user's `venues.toml`, as the build read it.
        options: Options of the stages.
        tasks: The tasks.
    """

    folder: Path
    run_id: str
    own_venues: bytes | None
    options: Options
    tasks: tuple[VenueTask, ...]


@dataclass(frozen=True, slots=True)
class StageWork:
    """What a stage made of a venue, or of a range of its forums.

    Attributes:
        venue_id: The venue.
        number: Number of the range.
        stage: Name of the stage.
        changes: What is to be committed, in order.
        seconds: Duration.
    """

    venue_id: str
    number: int
    stage: str
    changes: tuple[PartitionChange, ...]
    seconds: float


class VenueWorker:
    """Runs stages of venues on tables of its own."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._drafts = workspace.with_drafts()
        self._stages = {stage.name: stage for stage in stages_of_venue(_refuse_items)}
        self._begun: OrderedDict[tuple[str, str, str], RunRange] = OrderedDict()

    def work(self, task: VenueTask, options: Options, report: ProgressCallback = no_report) -> Iterator[StageWork]:
        """Run the stages of a task, and yield what each of them changes."""
        self._drafts.start(task.held)
        for name, key in task.steps:
            began = time.perf_counter()
            stage = self._stages[name]
            if stage.begin is None:
                stage.run(self._workspace, task.venue_id, options, key, report)
            else:
                self._begin(stage.begin, (name, task.venue_id, key))(task.span, report)
            changes = tuple(self._drafts.take_changes())
            yield StageWork(task.venue_id, task.span.number, name, changes, time.perf_counter() - began)

    def _begin(self, begin: Callable[[Workspace, str, str], RunRange], step: tuple[str, str, str]) -> RunRange:
        """Return what runs a range of a stage; it is kept for the next range."""
        if step not in self._begun:
            _, venue_id, key = step
            self._begun[step] = begin(self._workspace, venue_id, key)
        self._begun.move_to_end(step)
        if len(self._begun) > _BEGUN:
            self._begun.popitem(last=False)
        return self._begun[step]


def _refuse_items(
    function: Callable[[ItemT], ResultT],  # noqa: ARG001 -- an executor is given it
    items: Iterable[ItemT],
    *,
    timeout_s: float,  # noqa: ARG001
    workers: int | None = None,  # noqa: ARG001
    in_order: bool = False,  # noqa: ARG001
) -> Iterator[tuple[ItemT, ResultT | Failure]]:
    """Do nothing, as an executor of venues without files, whose stages have no items.

    Raises:
        PeercorpusError: There is an item.
    """
    for _ in items:
        raise PeercorpusError("A file came into the workspace during the build; run 'peercorpus build' again.")
    return iter(())


OF_VENUE = frozenset(stage.name for stage in stages_of_venue(_refuse_items))
"""All stages of a venue; of one without files and published texts none gives work to an executor."""

_workers: dict[str, VenueWorker] = {}
"""The worker of this process, by the build; never more than one entry."""


def do_work(item: WorkItem) -> list[StageWork]:
    """Do what is asked, in a worker process."""
    if item.run_id not in _workers:
        _workers.clear()
        workspace = Workspace(item.folder, write=False)
        workspace.own_venues = item.own_venues
        _workers[item.run_id] = VenueWorker(workspace)
    worker = _workers[item.run_id]
    return [done for task in item.tasks for done in worker.work(task, item.options)]
