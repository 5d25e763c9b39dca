"""STAGES, in order: the table of contents of the project; and what builds a workspace's tables with them.

A stage runs for a venue only where what it would make is not there yet: see `stage.content_key`.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from peercorpus.conversations.build import STAGE as BUILD_CONVERSATIONS
from peercorpus.errors import TableError
from peercorpus.executors.local import LocalExecutor
from peercorpus.forms.census import Census, read_censuses
from peercorpus.forms.normalise import STAGE as NORMALISE
from peercorpus.harvest.completeness import Completeness, read_completeness
from peercorpus.links.compare import stage as comparison_stage
from peercorpus.links.relate import stage as linking_stage
from peercorpus.placement import Placement, read_placement
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.spread import Spread
from peercorpus.stage import Balance, Options, Stage, content_key
from peercorpus.texts.convert import default_engine, engine_used
from peercorpus.texts.convert import stage as texts_stage
from peercorpus.versions.inspect import stage as inspection_stage
from peercorpus.versions.read import STAGE as CHOOSE_VERSIONS
from peercorpus.workspace import Workspace


def stages_with(spread: Spread) -> tuple[Stage[Workspace], ...]:
    """All stages in their order; the executor changes no row, so it is in no key."""
    inspection, texts = inspection_stage(spread), texts_stage(spread)
    comparison, linking = comparison_stage(spread), linking_stage(spread)
    return inspection, NORMALISE, CHOOSE_VERSIONS, texts, BUILD_CONVERSATIONS, comparison, linking


STAGES = stages_with(LocalExecutor())
ALL_VENUES = "all venues"
"""What stands for a venue in the one step of a stage that does the work of all."""


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of one venue, done or found done.

    Attributes:
        venue_id: `ALL_VENUES` where the stage does the work of all at once.
        seconds: How long it took; 0 where there was nothing to do.
    """

    stage: str
    venue_id: str
    was_finished: bool
    seconds: float


def _digests(workspace: Workspace, stage: Stage[Workspace], venue_id: str) -> dict[str, str]:
    raw = workspace.raw
    if stage.is_of_all:
        digests = ((name, workspace.tables.digests(name)) for name in stage.reads)
        return {f"{name} {one}": digest for name, found in digests for one, digest in found.items()}
    others = {"file": lambda: raw.files_digest(venue_id), "pseudonyms": raw.pseudonyms.digest}
    received = {kind: others[kind]() if kind in others else raw.digest(kind, venue_id) for kind in stage.reads_raw}
    return received | {name: workspace.tables.digest(name, venue_id) for name in stage.reads}


def expected_key(workspace: Workspace, stage: Stage[Workspace], venue_id: str, options: Options) -> str:
    """The key that a stage's partition of a venue carries when it is up to date with its inputs."""
    return content_key(stage, options, _digests(workspace, stage, venue_id))


def is_finished(workspace: Workspace, stage: Stage[Workspace], venue_id: str, options: Options) -> bool:
    """Whether a stage has nothing to do for a venue."""
    return _carries(workspace, stage, venue_id, expected_key(workspace, stage, venue_id, options))


def _carries(workspace: Workspace, stage: Stage[Workspace], venue_id: str, key: str) -> bool:
    return all(workspace.tables.is_finished(name, venue_id, stage.name, key) for name in ("set-aside", *stage.writes))


def known_venues(workspace: Workspace, venue_ids: Sequence[str]) -> list[str]:
    """The venues asked for, or all that are held.

    Raises:
        TableError: One of them is not held.
    """
    held = workspace.venues()
    unknown = [venue_id for venue_id in venue_ids if venue_id not in held]
    if unknown:
        listed = ", ".join(held) or "none"
        raise TableError(f"Nothing of the venue '{unknown[0]}' is in the workspace; it holds: {listed}.")
    return list(venue_ids) or held


def build(
    workspace: Workspace,
    venue_ids: Sequence[str] = (),
    options: Options | None = None,
    progress: Show = show_nothing,
    spread: Spread | None = None,
) -> list[Step]:
    """Bring the tables up to date, stage by stage, for the venues named or for all.

    PDFs are read in processes of their own: in a script the call must stand under `if __name__ == "__main__":`.

    Args:
        workspace: Held for writing.
        venue_ids: None named means all.
        options: Of the stages.
        progress: Told how far each step is.
        spread: How the work on files is spread; None means over the cores of this machine.
    """
    chosen, options = known_venues(workspace, venue_ids), options or Options()
    stages = STAGES if spread is None else stages_with(spread)
    own = [stage for stage in stages if not stage.is_of_all]
    steps = [_step(workspace, stage, venue_id, options, progress) for venue_id in chosen for stage in own]
    of_all = (stage for stage in stages if stage.is_of_all)
    return steps + [_step(workspace, stage, ALL_VENUES, options, progress) for stage in of_all]


def _step(workspace: Workspace, stage: Stage[Workspace], venue_id: str, options: Options, show: Show) -> Step:
    key = expected_key(workspace, stage, venue_id, options)
    done_for = workspace.venues() if stage.is_of_all else [venue_id]
    aside = {reason for one in done_for for reason in workspace.tables.set_aside_counts(one, stage.name)}
    may_pass = options.retry and stage.passing & aside
    if all(_carries(workspace, stage, one, key) for one in done_for) and not may_pass:
        return Step(stage.name, venue_id, was_finished=True, seconds=0.0)
    started = time.perf_counter()
    stage.run(workspace, venue_id, options, key, Meter(venue_id, stage.name, show).report)
    return Step(stage.name, venue_id, was_finished=False, seconds=time.perf_counter() - started)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a workspace stands: what is here, the balance of every stage of every venue, and what is not built.

    Attributes:
        censuses: How the reviews of each venue answer their forms, of those whose reviews are built.
        engines: Which engine, and which version of it, read each venue's PDFs, of those that have any.
        default_engine: The same of what a build would read them with, were no engine named.
        placement: Where its files and tables lie.
    """

    venues: Sequence[Completeness]
    balances: Sequence[Balance]
    unfinished: Sequence[tuple[str, str]]
    censuses: Mapping[str, Sequence[Census]]
    engines: Mapping[str, tuple[str, str]]
    default_engine: tuple[str, str]
    placement: Placement

    @property
    def holds(self) -> bool:
        """Whether every sum agrees."""
        return all(balance.holds for balance in self.balances)


def read_standing(workspace: Workspace, options: Options | None = None) -> Standing:
    """Count, from what lies on disk, rows in, out and set aside; a stage that is not finished is named, not counted."""
    venues: list[Completeness] = []
    balances: list[Balance] = []
    unfinished: list[tuple[str, str]] = []
    censuses: dict[str, Sequence[Census]] = {}
    held = workspace.venues()
    for venue_id in held:
        waiting = _unfinished(workspace, venue_id, options or _as_built(workspace, venue_id))
        finished = [stage for stage in STAGES if stage.name not in waiting]
        tables = {name for stage in finished for name in stage.writes}
        venues.append(read_completeness(workspace, venue_id, tables))
        if "2-reviews" in tables:
            censuses[venue_id] = [census for _, census in read_censuses(workspace, venue_id)]
        for stage in finished:
            balances.extend(stage.balance(workspace, venue_id))
        unfinished.extend((name, venue_id) for name in waiting)
    used = {venue_id: engine_used(workspace.tables, venue_id) for venue_id in held}
    engines = {venue_id: engine for venue_id, engine in used.items() if engine is not None}
    return Standing(venues, balances, unfinished, censuses, engines, default_engine(), read_placement(workspace.folder))


def _as_built(workspace: Workspace, venue_id: str) -> Options:
    """The options a venue's tables were built with, as far as they change rows: the engine that read its texts."""
    used = engine_used(workspace.tables, venue_id)
    return Options(engine=used[0], engine_version=used[1]) if used else Options()


def _unfinished(workspace: Workspace, venue_id: str, options: Options) -> list[str]:
    """The stages that are not up to date; one that reads what such a stage writes is not either."""
    names: list[str] = []
    stale: set[str] = set()
    for stage in STAGES:
        if stale.intersection(stage.reads) or not is_finished(workspace, stage, venue_id, options):
            names.append(stage.name)
            stale.update(stage.writes)
    return names


def require_built(workspace: Workspace, venue_ids: Sequence[str] = ()) -> None:
    """Pass if the tables of these venues, or of all, are up to date.

    Raises:
        TableError: They are not, or one of the venues is not held.
    """
    for venue_id in known_venues(workspace, venue_ids):
        if _unfinished(workspace, venue_id, _as_built(workspace, venue_id)):
            raise TableError(
                f"The tables of '{venue_id}' are not built, or older than what was received; run 'peercorpus build'."
            )
