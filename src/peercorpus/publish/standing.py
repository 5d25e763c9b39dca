"""Whether a release that is there is what would be published now, so that nothing need be written."""

from collections.abc import Sequence
from pathlib import Path

from peercorpus.errors import PeercorpusError
from peercorpus.publish.inputs import Inputs, find_moved, read_inputs
from peercorpus.publish.opened import open_release
from peercorpus.publish.run import choose_venues
from peercorpus.publish.split_files import Asked
from peercorpus.publish.verify_files import check_sums
from peercorpus.workspace import Workspace


def still_stands(
    release: Path | None, workspace: Workspace, venue_ids: Sequence[str] | None, sides: Asked | None, *, authors: bool
) -> bool:
    """Whether a release was made of just this, by this very code, and none of its files was changed since.

    Args:
        release: Its folder, which may be none; None: there is none.
        workspace: What would be published.
        venue_ids: Of it these venues; none named means all that have papers.
        sides: As they are asked for; where they are to be those of another release, it is not looked into.
        authors: Whether they are named.

    Raises:
        TableError: The tables are not built, or not for these venues.
    """
    if release is None:
        return False
    chosen = choose_venues(workspace.tables, venue_ids or None)
    try:
        inputs = read_inputs(release)
        if inputs is None or not _is_as_asked(inputs, chosen, sides, authors=authors):
            return False
        return not find_moved(inputs, workspace) and not check_sums(open_release(release)).breaches
    except PeercorpusError:
        return False


def _is_as_asked(inputs: Inputs, venue_ids: Sequence[str], sides: Asked | None, *, authors: bool) -> bool:
    if sides is not None and sides.earlier is not None:
        return False
    drawn = inputs.sides and (inputs.sides.profile, inputs.sides.test_after)
    wanted = sides and (sides.profile, sides.test_after)
    is_all = inputs.venues.keys() == set(venue_ids)
    return is_all and drawn == wanted and inputs.titles is None and inputs.authors is authors
