"""Texts of `build`: the steps that were run, and what should be looked at."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import duration
from peercorpus.cli.text.losses import lost
from peercorpus.records.counted_nouns import plural
from peercorpus.records.untrusted_text import escape_controls

if TYPE_CHECKING:
    from peercorpus.pipeline.build_venues import StepResult
    from peercorpus.pipeline.losses import SourceLoss


def built(steps: Sequence["StepResult"], losses: Sequence["SourceLoss"] = ()) -> str:
    """Return the sources that are mostly set aside, if any, then how many steps a build ran, and how long they took."""
    return "\n".join([*lost(losses, is_built=True), _steps_run(steps)])


def _steps_run(steps: Sequence["StepResult"]) -> str:
    ran = [step for step in steps if not step.was_finished]
    if not ran:
        all_steps = "the only step is" if len(steps) == 1 else f"all {plural(len(steps), 'step')} are"
        return f"Nothing to do: {all_steps} up to date."
    seconds = sum(step.seconds for step in ran)
    return f"{plural(len(ran), 'step')} run in {duration(seconds)}, {len(steps) - len(ran)} already up to date."


def unheld(venue_id: str, held: Sequence[str]) -> str:
    """Return that `venues.toml` has a row for a venue without data in the workspace, with the nearest that has data.

    >>> unheld("Bay.org/2031", ["Bays.org/2031"])
    "venues.toml has a row for 'Bay.org/2031', for which the workspace has no data; did you mean 'Bays.org/2031'?"
    """
    close = get_close_matches(venue_id, held, n=1, cutoff=0.8)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    return f"venues.toml has a row for '{escape_controls(venue_id)}', for which the workspace has no data{hint}"
