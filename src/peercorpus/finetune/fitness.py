"""Whether a release may be learnt from: its files are as they were, and no paper to learn from is tested on."""

from dataclasses import dataclass

from peercorpus.errors import PeercorpusError
from peercorpus.publish.checks import Check
from peercorpus.publish.opened import Release
from peercorpus.publish.splits import Side
from peercorpus.publish.verify_files import check_sums
from peercorpus.publish.verify_ids import TASK_OF, SidesAgree, check_links, rows_of


@dataclass(frozen=True, slots=True)
class Fitness:
    """What was looked at, and held.

    Attributes:
        held_out: Papers on the sides `test` and `validation`, none of which is on `train`.
        links: Pairs of submissions of one work, none of which is parted by the sides; None where the release has no
            links: none were found, or none were looked for, which it does not tell.
    """

    profile: str
    held_out: int
    links: int | None


def check_fit(release: Release) -> Fitness:
    """See that a release may be learnt from.

    Raises:
        PeercorpusError: It has no sides; a file is not as it was published; a paper to learn from, or one that is
            linked to it, is held out.
    """
    file = release.sides()
    if file is None:
        raise PeercorpusError(
            f"The release '{release.folder}' has no sides to learn from; publish it with --splits re2 or temporal."
        )
    sides = SidesAgree(release)
    for shard in release.shards():
        if shard.config in TASK_OF:
            for row in rows_of(shard, sides.check, ["forum_id"]):
                sides.see(shard, row)
    links = check_links(release, sides)
    for check in (sides.end(), links, check_sums(release)):
        _refuse(release, check)
    held_out = sum(len(file.sides.get(side, [])) for side in Side if side is not Side.TRAIN)
    return Fitness(file.profile.value, held_out, links.looked_at if release.shards("links") else None)


def _refuse(release: Release, check: Check) -> None:
    if not check.found:
        return
    first = check.breaches[0]
    what = f"the paper '{first.record_id}' {first.what}" if first.record_id else f"'{first.file}' {first.what}"
    more = f" (and {check.found - 1:,} more)" if check.found > 1 else ""
    raise PeercorpusError(
        f"The release '{release.folder}' is not learnt from: {what}{more}; 'peercorpus verify' shows all, publish it"
        " again."
    )
