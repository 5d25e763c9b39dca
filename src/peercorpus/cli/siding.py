"""Options of `peercorpus publish` that say which papers to train and test on."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.errors import PeercorpusError

if TYPE_CHECKING:
    from peercorpus.publish.split_files import Asked


def settle_sides(profile: str, test_after: date | None, earlier: Path | None) -> "Asked | None":
    """The sides asked for; None where none are ("none").

    Raises:
        PeercorpusError: An option is given without the one it belongs to.
    """
    from peercorpus.publish.split_files import Asked
    from peercorpus.publish.splits import Profile

    if profile != "none":
        return Asked(Profile(profile), test_after, earlier)
    if test_after is not None or earlier is not None:
        given = "--test-after" if test_after is not None else "--splits-from"
        raise PeercorpusError(f"{given} says how to draw sides, and --splits none asks for none.")
    return None
