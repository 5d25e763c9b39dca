"""Decide the next tasks of workers, and combine their results.

Several small venues go to a worker together; a large venue goes in ranges of its forums, with the versions of its
papers once everything they depend on is available.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Self

from peercorpus.execution.stage import ForumRange
from peercorpus.pipeline.plan_build import PlannedStep, VenuePlan
from peercorpus.pipeline.venue_work import StageWork, VenueTask
from peercorpus.workspace.table_state import PartitionChange

ITEM_WEIGHT = 8_000
"""Number of objects that small venues sent together should reach: about a second of work; our choice."""

LATER_SHARE = 0.2
"""Share of its later steps in the work on a large venue; used only for the progress."""

Tasks = tuple[VenueTask, ...]
Ranges = Sequence[Sequence[PartitionChange]]
"""Changes of a stage, for each range of a venue's forums in turn."""

MakeTask = Callable[[VenuePlan, ForumRange, Sequence[PlannedStep]], VenueTask]


class Schedule:
    """Iterates over the tasks for workers; after the end, results may make more tasks available."""

    def __init__(self, plans: Iterator[VenuePlan], make_task: MakeTask) -> None:
        """Plan the work.

        Args:
            plans: Plans of the venues, consumed as needed.
            make_task: Makes a task from the current state of the tables.
        """
        self._plans = plans
        self._make_task = make_task
        self._ready: deque[tuple[VenuePlan, ForumRange, Sequence[PlannedStep]]] = deque()
        self._at_work: dict[str, VenuePlan] = {}
        self._first_left: dict[str, set[str]] = {}
        self._answers: dict[tuple[str, str], dict[int, Sequence[PartitionChange]]] = defaultdict(dict)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Tasks:
        small: list[VenueTask] = []
        weight = 0
        while weight < ITEM_WEIGHT:
            if self._ready and not small:
                return (self._make_task(*self._ready.popleft()),)
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
        return tuple(small)

    def collect(self, work: StageWork) -> Ranges | None:
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

    def count_forums(self, tasks: Tasks) -> float:
        """Return the number of forums done in these tasks; those of a large venue count in part each time."""
        return sum(map(self._count, tasks))

    def _count(self, task: VenueTask) -> float:
        plan = self._at_work[task.venue_id]
        forums = plan.forums / len(plan.ranges)
        if not plan.later:
            return forums
        is_later = any(name == step.stage.name for name, _ in task.steps for step in plan.later)
        return forums * (LATER_SHARE if is_later else 1 - LATER_SHARE)
