"""Plan a build: which stages of a venue are out of date, and the content keys they will get.

A stage is up to date if its tables carry the content key of its current inputs, options and version.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import ForumRange, Stage, content_key, split_forums
from peercorpus.forms.normalise import STAGE as NORMALISE
from peercorpus.pipeline.venue_work import OF_NOTES, OF_VENUE
from peercorpus.versions.find_versions import STAGE as CHOOSE_VERSIONS
from peercorpus.workspace.table_state import digest_of
from peercorpus.workspace.workspace import Workspace

VENUE = "venue"
"""Key among a stage's inputs for the result of `Stage.made_with_venue`, such as the venue's deadlines."""


RANGE_FORUMS = 500
"""Forums of a venue per file of a table; our choice. It affects files, not rows."""

VENUE_WEIGHT = 300
"""Fixed work per venue, in objects: even the smallest venue has files to write."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A stage of a venue in a build.

    Attributes:
        key: The content key that its partitions will have.
    """

    stage: Stage[Workspace]
    key: str
    is_finished: bool


class InputDigests:
    """Digests of the inputs of one venue's stages; raw objects, which a build does not change, are digested once."""

    def __init__(self, workspace: Workspace, venue_id: str) -> None:
        self._workspace = workspace
        self._venue_id = venue_id
        self._received: dict[str, str] = {}
        self._coming: dict[str, str] = {}

    def expect(self, stage: Stage[Workspace], key: str) -> None:
        """Record that the tables of a stage will have a key."""
        self._coming |= dict.fromkeys(stage.writes, digest_of(key))

    def read(self, stage: Stage[Workspace]) -> dict[str, str]:
        """Return the digests of a stage's inputs, by name."""
        workspace, venue_id = self._workspace, self._venue_id
        made_with = stage.made_with_venue(workspace, venue_id)
        known = {VENUE: made_with} if made_with else {}
        tables = {name: self._coming.get(name) or workspace.tables.digest(name, venue_id) for name in stage.reads}
        return {kind: self._read_received(kind) for kind in stage.reads_raw} | known | tables

    def _read_received(self, kind: str) -> str:
        if kind not in self._received:
            raw = self._workspace.raw
            others: dict[str, Callable[[], str]] = {
                "file": lambda: raw.state.files_digest(self._venue_id),
                "pseudonyms": raw.pseudonyms.digest,
            }
            self._received[kind] = others[kind]() if kind in others else raw.digest(kind, self._venue_id)
        return self._received[kind]


def expected_key(workspace: Workspace, stage: Stage[Workspace], venue_id: str, options: BuildRequest) -> str:
    """Return the content key that a stage's partition of a venue has when it is up to date."""
    if not stage.is_of_all:
        return content_key(stage, options, InputDigests(workspace, venue_id).read(stage))
    digests = ((name, workspace.tables.digests(name)) for name in stage.reads)
    by_name = {f"{name} {read_id}": digest for name, by_venue in digests for read_id, digest in by_venue.items()}
    return content_key(stage, options, by_name)


def carries_key(workspace: Workspace, stage: Stage[Workspace], venue_id: str, key: str) -> bool:
    """Return whether a stage is finished for a venue under a key."""
    return all(workspace.tables.is_finished(name, venue_id, stage.name, key) for name in ("set-aside", *stage.writes))


def may_pass(workspace: Workspace, stage: Stage[Workspace], venue_ids: Iterable[str]) -> bool:
    """Return whether a stage set rows of venues aside for a reason that may not apply in another run."""
    tables = workspace.tables
    return bool(stage.passing) and any(
        stage.passing & tables.set_aside_counts(venue_id, stage.name).keys() for venue_id in venue_ids
    )


def plan_steps(
    workspace: Workspace, stages: Iterable[Stage[Workspace]], venue_id: str, options: BuildRequest
) -> list[PlannedStep]:
    """Return the steps for stages that process one venue, in order.

    The key of a stage that reads the output of an earlier one is known before the earlier one runs.
    """
    digests = InputDigests(workspace, venue_id)
    steps = []
    for stage in stages:
        key = content_key(stage, options, digests.read(stage))
        is_left = options.retry and may_pass(workspace, stage, [venue_id])
        is_finished = not is_left and carries_key(workspace, stage, venue_id, key)
        digests.expect(stage, key)
        steps.append(PlannedStep(stage, key, is_finished))
    return steps


@dataclass(frozen=True, slots=True)
class VenuePlan:
    """The work to be done for one venue.

    Attributes:
        ranges: Ranges of its forums; their number does not depend on that of the workers.
        weight: Work for workers, in objects.
        first: Steps that a worker runs for a range of forums, one after another.
        later: Steps that it runs for a range once the first steps are done for all ranges.
    """

    venue_id: str
    steps: Sequence[PlannedStep]
    ranges: Sequence[ForumRange]
    forums: int
    weight: int
    first: Sequence[PlannedStep]
    later: Sequence[PlannedStep]


def plan_venue(
    workspace: Workspace, stages: Iterable[Stage[Workspace]], venue_id: str, options: BuildRequest, *, has_files: bool
) -> VenuePlan:
    """Return the plan of a venue.

    If it has files or published texts, some stages use an executor.
    """
    steps = plan_steps(workspace, stages, venue_id, options)
    forum_ids = workspace.raw.forum_ids(venue_id)
    ranges = split_forums(forum_ids, RANGE_FORUMS)
    for_workers = OF_NOTES if has_files or len(ranges) > 1 else OF_VENUE
    left = [step for step in steps if not step.is_finished and step.stage.name in for_workers]
    # The versions of a paper depend on the reviews of all others.
    must_wait = len(ranges) > 1 and any(step.stage.name == NORMALISE.name for step in left)
    later = [step for step in left if must_wait and step.stage.name == CHOOSE_VERSIONS.name]
    first = [step for step in left if step not in later]
    weight = workspace.raw.count_versions(venue_id) + VENUE_WEIGHT if left else 0
    return VenuePlan(venue_id, steps, ranges, len(forum_ids), weight, first, later)
