"""Run all checks of a release in one pass over its rows."""

from dataclasses import dataclass

from peercorpus.corpus.takedown import read_takedown
from peercorpus.errors import PeercorpusError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade
from peercorpus.release.folder import Release
from peercorpus.release.provenance import INPUTS, ChangedInput, find_moved, read_inputs, read_worst_grade
from peercorpus.release.verify.files import Check, check_schema, check_sums
from peercorpus.release.verify.ids import Ids, SplitsAgree, check_links, read_id_rows
from peercorpus.release.verify.leaks import Leaks, TakenDown, texts_in
from peercorpus.release.verify.questions import Questions
from peercorpus.release.verify.references import References
from peercorpus.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Verification:
    """The results of all checks.

    Attributes:
        moved: Inputs of the workspace that differ from those of the release; None if that is not known.
        is_compared: Whether a workspace was given.
    """

    checks: list[Check]
    moved: list[ChangedInput] | None
    is_compared: bool

    @property
    def holds(self) -> bool:
        """Whether no check found a breach."""
        return not any(check.found for check in self.checks)


def verify_release(release: Release, workspace: Workspace | None = None, show: Show = show_nothing) -> Verification:
    """Check a release in all respects.

    Args:
        release: The release.
        workspace: Workspace whose `takedown.txt` and tables are compared with the release; None compares neither.
        show: Receives the number of files read.

    Raises:
        PeercorpusError: A line of `takedown.txt` is not a valid id.
    """
    sums = check_sums(release)
    release = release.of_what_is_there()
    schema = check_schema(release)
    ids, splits = Ids(release), SplitsAgree(release)
    references = References(ids.check)
    questions = Questions(release)
    taken_down = TakenDown(read_takedown(workspace) if workspace else None)
    leaks = Leaks(splits.used, _find_worst_grade(release), are_stated=splits.are_stated)
    taken_down.look_at_splits(release)
    shards = release.shards()
    meter = Meter(release.folder.name, "verifying files", show)
    for done, shard in enumerate(shards, 1):
        for row in read_id_rows(shard, ids.check):
            texts = texts_in(row)
            ids.see(shard, row)
            references.see(shard, row)
            splits.see(shard, row)
            taken_down.see(shard, row, texts)
            leaks.see(shard, row, texts)
            questions.see(shard, row)
        meter.report(done, len(shards))
    references.end()
    links = check_links(release, splits)
    checks = [sums, schema, ids.check, splits.end(), links, taken_down.check, leaks.end(), questions.end()]
    moved = _find_moved(release, workspace, sums) if workspace else None
    return Verification(checks, moved, workspace is not None)


def _find_worst_grade(release: Release) -> Grade:
    """Return the worst grade that the tasks accept; by the strictest rule if the release does not state it."""
    try:
        return read_worst_grade(release.folder)
    except PeercorpusError:
        return PUBLISHABLE_GRADES[-1]


def _find_moved(release: Release, workspace: Workspace, sums: Check) -> list[ChangedInput] | None:
    try:
        inputs = read_inputs(release.folder)
    except PeercorpusError:
        sums.breach(INPUTS, None, "cannot be read, so it was not compared with the workspace")
        return None
    return find_moved(inputs, workspace) if inputs else None
