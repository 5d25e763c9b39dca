"""Whether a release holds what it says: one walk over its rows, and every check with what does not hold."""

from dataclasses import dataclass

from peercorpus.errors import PeercorpusError
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.publish.checks import Check
from peercorpus.publish.inputs import INPUTS, Moved, find_moved, read_inputs
from peercorpus.publish.opened import Release
from peercorpus.publish.takedown import read_takedown
from peercorpus.publish.verify_files import check_schema, check_sums
from peercorpus.publish.verify_ids import Ids, SidesAgree, check_links, rows_of
from peercorpus.publish.verify_texts import Leaks, TakenDown, texts_in
from peercorpus.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found.

    Attributes:
        moved: What of the workspace is no longer what the release was made of; None where that is not known.
        is_compared: Whether a workspace was named.
    """

    checks: list[Check]
    moved: list[Moved] | None
    is_compared: bool

    @property
    def holds(self) -> bool:
        """Whether nothing was found that does not hold."""
        return not any(check.found for check in self.checks)


def verify(release: Release, workspace: Workspace | None = None, show: Show = show_nothing) -> Verification:
    """Check a release.

    Args:
        release: What was published.
        workspace: Whose list of what is taken down it is held to, and whose tables it was made of; None: neither.
        show: Told how many files are read.

    Raises:
        PeercorpusError: A line of `takedown.txt` can be no id.
    """
    sums, release = check_sums(release), release.of_what_is_there()
    schema = check_schema(release)
    ids, sides = Ids(release), SidesAgree(release)
    taken, leaks = TakenDown(read_takedown(workspace) if workspace else None), Leaks(sides.used)
    taken.look_at_sides(release)
    shards, meter = release.shards(), Meter(release.folder.name, "verify", show)
    for done, shard in enumerate(shards, 1):
        for row in rows_of(shard, ids.check):
            texts = list(texts_in(row))
            ids.see(shard, row)
            sides.see(shard, row)
            taken.see(shard, row, texts)
            leaks.see(shard, row, texts)
        meter.report(done, len(shards))
    checks = [sums, schema, ids.check, sides.end(), check_links(release, sides), taken.check, leaks.end()]
    moved = _find_moved(release, workspace, sums) if workspace else None
    return Verification(checks, moved, workspace is not None)


def _find_moved(release: Release, workspace: Workspace, sums: Check) -> list[Moved] | None:
    try:
        inputs = read_inputs(release.folder)
    except PeercorpusError:
        sums.breach(INPUTS, None, "cannot be read, so that it was not compared with the workspace")
        return None
    return find_moved(inputs, workspace) if inputs else None
