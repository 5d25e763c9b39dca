"""Run the stages of each venue: one venue after another in this process, or in parallel in workers.

Workers write files; only this process commits them. Rows and files are the same either way.
"""

import logging
import os
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import Self
from uuid import uuid4

from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Executor, Failure
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.progress import Meter, Show
from peercorpus.execution.ray_cluster import RayExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import ForumRange, ProgressCallback, Stage
from peercorpus.pipeline.plan_build import PlannedStep, VenuePlan, plan_venue
from peercorpus.pipeline.venue_work import OF_NOTES, StageWork, VenueTask, VenueWorker, WorkItem, do_work
from peercorpus.workspace.delta_tables import hold, join_ranges
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.table_state import PartitionChange
from peercorpus.workspace.workspace import Workspace

_log = logging.getLogger(__name__)

ALL_VENUES = "all venues"
"""Shown as the venue for a stage that processes all venues together, and in the progress of several venues."""

LEAST_WEIGHT = 20_000
"""Number of objects above which workers are started; starting them takes about a second; our choice."""

TIMEOUT_S = 3_600.0
"""Time limit for one item of work, which usually takes seconds; our choice."""

ITEM_WEIGHT = 8_000
"""Number of objects that small venues sent together should reach: about a second of work; our choice."""

LATER_SHARE = 0.2
"""Share of its later steps in the work on a large venue; used only for the progress."""

MakeTask = Callable[[VenuePlan, ForumRange, Sequence[PlannedStep]], VenueTask]

SPREAD = "building tables of papers"
"""Name of the workers' step in `Progress`."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one stage for one venue.

    Attributes:
        venue_id: `ALL_VENUES` if the stage processes all venues together.
        seconds: Duration; 0 if there was nothing to do. If workers did several steps in parallel, their total time is
            divided among them.
    """

    stage: str
    venue_id: str
    was_finished: bool
    seconds: float


def report_to(workspace: Workspace, meter: Meter) -> ProgressCallback:
    """Return a callback that shows the progress, and commits buffered changes from time to time."""

    def report(done: int, total: int) -> None:
        meter.report(done, total)
        workspace.tables.commit_due()

    return report


def build_venues(
    workspace: Workspace,
    venue_ids: Sequence[str],
    stages: Sequence[Stage[Workspace]],
    options: BuildRequest,
    show: Show,
    spread: Executor,
) -> list[StepResult]:
    """Bring the tables of venues up to date, and return one result per venue and stage, in order.

    The stages process one venue at a time.

    Raises:
        PeercorpusError: A stage raised it, or a worker died.
    """
    build = _VenueBuild(workspace, stages, options, show)
    # `raw.db` is on this machine, so the workers of a cluster cannot be used.
    workers = LocalExecutor() if isinstance(spread, RayExecutor) else spread
    number = options.workers or os.cpu_count() or 1
    # Plans are made until it is clear whether workers are worth starting; further plans while workers are busy.
    if not isinstance(workers, LocalExecutor) or number > 1:
        weights = accumulate(build.plan(venue_id).weight for venue_id in venue_ids)
        if any(weight >= LEAST_WEIGHT for weight in weights):
            build.spread(workers, venue_ids, _count_processes(spread, number))
    for plan in map(build.plan, venue_ids):
        for step in plan.steps:
            build.run_here(plan, step)
    return [build.describe(venue_id, step) for venue_id in venue_ids for step in build.plan(venue_id).steps]


def _count_processes(spread: Executor, number: int) -> int:
    """Return the number of processes on this machine: for a cluster, `--workers` counts those of its machines."""
    return min(number, os.cpu_count() or 1) if isinstance(spread, RayExecutor) else number


class _VenueBuild:
    """Plans venues, runs their work here or in workers, and applies the changes to the tables."""

    def __init__(
        self, workspace: Workspace, stages: Sequence[Stage[Workspace]], options: BuildRequest, show: Show
    ) -> None:
        self._workspace = workspace
        self._stages = stages
        self._options = options
        self._show = show
        self._here = VenueWorker(workspace)
        self._with_files = workspace.raw.state.venues_with_files()
        self._plans: dict[str, VenuePlan] = {}
        self._seconds: dict[tuple[str, str], float] = {}

    def plan(self, venue_id: str) -> VenuePlan:
        """Return the plan of a venue, made on first use."""
        if venue_id not in self._plans:
            has_files = self._has_files(venue_id)
            self._plans[venue_id] = plan_venue(
                self._workspace, self._stages, venue_id, self._options, has_files=has_files
            )
        return self._plans[venue_id]

    def _has_files(self, venue_id: str) -> bool:
        return venue_id in self._with_files or self._workspace.raw.count(RawKind.PUBLISHED, venue_id) > 0

    def describe(self, venue_id: str, step: PlannedStep) -> StepResult:
        """Return the result of a step."""
        seconds = self._seconds.get((venue_id, step.stage.name))
        return StepResult(step.stage.name, venue_id, was_finished=seconds is None, seconds=seconds or 0.0)

    def run_here(self, plan: VenuePlan, step: PlannedStep) -> None:
        """Run a step in this process, unless it is done; its stage may itself use an executor."""
        if step.is_finished or (plan.venue_id, step.stage.name) in self._seconds:
            return
        report = report_to(self._workspace, Meter(plan.venue_id, step.stage.doing, self._show))
        began = time.perf_counter()
        if step.stage.begin is None:
            step.stage.run(self._workspace, plan.venue_id, self._options, step.key, report)
        else:
            works = (
                self._here.work(
                    self._make_task(plan, span, [step]), self._options, _count_within(plan, span.number, report)
                )
                for span in plan.ranges
            )
            self._apply([work.changes for (work,) in works])
        self._seconds[plan.venue_id, step.stage.name] = time.perf_counter() - began
        _log.info("%s: %s took %.2f s", plan.venue_id, step.stage.name, self._seconds[plan.venue_id, step.stage.name])

    def _make_task(self, plan: VenuePlan, span: ForumRange, steps: Sequence[PlannedStep]) -> VenueTask:
        """Return the task of a worker for a range of a venue's forums, given the current tables."""
        names = {name for step in steps for name in ("set-aside", *step.stage.reads, *step.stage.writes)}
        held = hold(self._workspace.tables, names, plan.venue_id, [step.stage.name for step in steps])
        return VenueTask(plan.venue_id, span, tuple((step.stage.name, step.key) for step in steps), held)

    def _apply(self, ranges: Sequence[Sequence[PartitionChange]]) -> None:
        for change in join_ranges(ranges):
            self._workspace.tables.apply(change)

    def spread(self, workers: Executor, venue_ids: Sequence[str], processes: int) -> None:
        """Run in workers whatever they can do, after the steps that they depend on and that use an executor."""
        for plan in map(self.plan, filter(self._has_files, venue_ids)):
            for step in takewhile(lambda step: step.stage.name not in OF_NOTES, plan.steps):
                self.run_here(plan, step)
        began = time.perf_counter()
        worked: dict[tuple[str, str], float] = defaultdict(float)
        asked = WorkItem(self._workspace.folder, uuid4().hex, self._workspace.own_venues, self._options, ())
        schedule = _Schedule(map(self.plan, venue_ids), self._make_task, asked)
        forums = sum(map(self._workspace.raw.count_forums, venue_ids))
        before = sum(plan.forums for plan in self._plans.values() if not plan.first)
        named = venue_ids[0] if len(venue_ids) == 1 else ALL_VENUES
        meter = Meter(named, SPREAD, self._show, before, forums)
        done = 0.0
        for item, works in self._do_work(workers, schedule, processes):
            for work in works:
                worked[work.venue_id, work.stage] += work.seconds
                if (ranges := schedule.collect(work)) is not None:
                    self._apply(ranges)
                    schedule.go_on(work.venue_id, work.stage)
            done += schedule.count_forums(item)
            meter.advance(round(done) - meter.done)
            self._workspace.tables.commit_due()
        share = (time.perf_counter() - began) / (sum(worked.values()) or 1.0)
        self._seconds |= {step: seconds * share for step, seconds in worked.items()}
        for (venue_id, stage), seconds in worked.items():
            _log.info("%s: %s took %.2f s of a worker", venue_id, stage, seconds)

    def _do_work(
        self, workers: Executor, schedule: "_Schedule", processes: int
    ) -> Iterator[tuple[WorkItem, list[StageWork]]]:
        count = processes if isinstance(workers, LocalExecutor) else None
        for item, result in workers(do_work, schedule, timeout_s=TIMEOUT_S, workers=count):
            if not isinstance(result, Failure):
                yield item, result
            elif result.error is not None:
                raise result.error
            else:
                raise PeercorpusError(
                    f"Building the tables of '{item.tasks[0].venue_id}' failed: {result.detail} Run the same command"
                    " again; it continues from there."
                )


class _Schedule:
    """Iterates over the items for workers; after the end, results may make more available.

    Several small venues go to a worker together; a large venue goes in ranges of its forums, with the versions of its
    papers once everything they depend on is available.
    """

    def __init__(self, plans: Iterator[VenuePlan], make_task: MakeTask, asked: WorkItem) -> None:
        """Plan the work.

        `make_task` makes a task from the current state of the tables; `asked` is an item without tasks.
        """
        self._asked = asked
        self._plans = plans
        self._make_task = make_task
        self._ready: deque[tuple[VenuePlan, ForumRange, Sequence[PlannedStep]]] = deque()
        self._at_work: dict[str, VenuePlan] = {}
        self._first_left: dict[str, set[str]] = {}
        self._answers: dict[tuple[str, str], dict[int, Sequence[PartitionChange]]] = defaultdict(dict)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> WorkItem:
        small: list[VenueTask] = []
        weight = 0
        while weight < ITEM_WEIGHT:
            if self._ready and not small:
                return replace(self._asked, tasks=(self._make_task(*self._ready.popleft()),))
            plan = None if self._ready else next(self._plans, None)
            if plan is None:
                break
            if not plan.first:
                continue
            self._at_work[plan.venue_id] = plan
            self._first_left[plan.venue_id] = {step.stage.name for step in plan.first}
            if len(plan.ranges) == 1:
                small.append(self._make_task(plan, plan.ranges[0], plan.first))
                weight += plan.weight
            else:
                self._ready.extend((plan, span, plan.first) for span in plan.ranges)
        if not small:
            raise StopIteration
        return replace(self._asked, tasks=tuple(small))

    def collect(self, work: StageWork) -> Sequence[Sequence[PartitionChange]] | None:
        """Store a stage's changes for a range; return those for all ranges of the venue once they are complete."""
        plan = self._at_work[work.venue_id]
        answers = self._answers[work.venue_id, work.stage]
        answers[work.number] = work.changes
        if len(answers) < len(plan.ranges):
            return None
        del self._answers[work.venue_id, work.stage]
        return [answers[span.number] for span in plan.ranges]

    def go_on(self, venue_id: str, stage: str) -> None:
        """Record that a stage's changes for a venue are applied; after the first steps, the later ones are ready."""
        left = self._first_left[venue_id]
        if stage in left:
            left.remove(stage)
            plan = self._at_work[venue_id]
            if plan.later and not left:
                self._ready.extendleft((plan, span, plan.later) for span in plan.ranges)

    def count_forums(self, item: WorkItem) -> float:
        """Return the number of forums done in an item; those of a large venue count in part each time."""
        return sum(map(self._count, item.tasks))

    def _count(self, task: VenueTask) -> float:
        plan = self._at_work[task.venue_id]
        forums = plan.forums / len(plan.ranges)
        if not plan.later:
            return forums
        is_later = any(name == step.stage.name for name, _ in task.steps for step in plan.later)
        return forums * (LATER_SHARE if is_later else 1 - LATER_SHARE)


def _count_within(plan: VenuePlan, number: int, report: ProgressCallback) -> ProgressCallback:
    """Return a callback that reports the forums done in one range as a part of its venue."""
    if len(plan.ranges) == 1:
        return report
    before, until = (plan.forums * place // len(plan.ranges) for place in (number, number + 1))

    def report_within(done: int, total: int) -> None:
        report(until if done == total else min(before + done, until), plan.forums)

    return report_within
