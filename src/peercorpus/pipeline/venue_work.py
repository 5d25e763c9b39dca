"""The work of a worker on a venue, or on a range of its forums: files are written and nothing is committed.

A worker receives a `WorkItem` and returns the changes; the process that has locked the workspace commits them.
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
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import ForumRange, ProgressCallback, RunRange, Stage, no_report
from peercorpus.forms.normalise import STAGE as NORMALISE
from peercorpus.links.compare_versions import stage as comparison_stage
from peercorpus.texts.convert import stage as texts_stage
from peercorpus.versions.find_versions import STAGE as CHOOSE_VERSIONS
from peercorpus.versions.inspect import stage as inspection_stage
from peercorpus.workspace.delta_tables import HeldTables
from peercorpus.workspace.table_state import PartitionChange
from peercorpus.workspace.workspace import Workspace

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_BEGUN = 6
"""Number of stages whose shared data for their ranges a worker caches: those of two venues."""


def stages_of_venue(spread: Executor) -> tuple[Stage[Workspace], ...]:
    """Return the stages that process a single venue, in order."""
    return (
        inspection_stage(spread),
        NORMALISE,
        CHOOSE_VERSIONS,
        texts_stage(spread),
        BUILD_CONVERSATIONS,
        comparison_stage(spread),
    )


OF_NOTES = frozenset({NORMALISE.name, CHOOSE_VERSIONS.name, BUILD_CONVERSATIONS.name})
"""Stages that do not use an executor."""


@dataclass(frozen=True, slots=True)
class VenueTask:
    """Stages to run one after the other.

    Attributes:
        held: The tables' partitions of the venue.
    """

    venue_id: str
    span: ForumRange
    steps: tuple[tuple[str, str], ...]
    held: HeldTables


@dataclass(frozen=True, slots=True)
class WorkItem:
    """The input of a worker.

    Attributes:
        run_id: Id of the build, during which raw objects do not change.
        own_venues: The user's `venues.toml`, as the build read it.
    """

    folder: Path
    run_id: str
    own_venues: bytes | None
    options: BuildRequest
    tasks: tuple[VenueTask, ...]


@dataclass(frozen=True, slots=True)
class StageWork:
    """The result of a stage for a venue, or for a range of its forums.

    Attributes:
        changes: Changes to commit, in order.
    """

    venue_id: str
    number: int
    stage: str
    changes: tuple[PartitionChange, ...]
    seconds: float


class VenueWorker:
    """Runs stages of venues on its own view of the tables."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._drafts = workspace.with_drafts()
        self._stages = {stage.name: stage for stage in stages_of_venue(_refuse_items)}
        self._begun: OrderedDict[tuple[str, str, str], RunRange] = OrderedDict()

    def work(self, task: VenueTask, options: BuildRequest, report: ProgressCallback = no_report) -> Iterator[StageWork]:
        """Run the stages of a task, and yield the changes of each."""
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
        """Return the function that runs a range of a stage; it is cached for the next range."""
        if step not in self._begun:
            _, venue_id, key = step
            self._begun[step] = begin(self._workspace, venue_id, key)
        self._begun.move_to_end(step)
        if len(self._begun) > _BEGUN:
            self._begun.popitem(last=False)
        return self._begun[step]


def _refuse_items(
    function: Callable[[ItemT], ResultT],  # noqa: ARG001 -- part of the executor's interface
    items: Iterable[ItemT],
    *,
    timeout_s: float,  # noqa: ARG001
    workers: int | None = None,  # noqa: ARG001
    in_order: bool = False,  # noqa: ARG001
) -> Iterator[tuple[ItemT, ResultT | Failure]]:
    """Executor for venues without files, whose stages have no items."""
    for _ in items:
        raise PeercorpusError("A file was added to the workspace during the build; run 'peercorpus build' again.")
    return iter(())


OF_VENUE = frozenset(stage.name for stage in stages_of_venue(_refuse_items))
"""All stages of a venue; for a venue without files and published texts, none of them uses an executor."""

_workers: dict[str, VenueWorker] = {}
"""The worker of this process, by the build; never more than one entry."""


def do_work(item: WorkItem) -> list[StageWork]:
    """Run an item in a worker process."""
    if item.run_id not in _workers:
        _workers.clear()
        workspace = Workspace(item.folder, write=False)
        workspace.own_venues = item.own_venues
        _workers[item.run_id] = VenueWorker(workspace)
    worker = _workers[item.run_id]
    return [done for task in item.tasks for done in worker.work(task, item.options)]
