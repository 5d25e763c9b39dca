"""Texts of `build`: the steps that were run, and what should be looked at."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import duration
from peercorpus.cli.text.losses import lost
from peercorpus.records.counted_nouns import plural
from peercorpus.records.suggestions import find_close
from peercorpus.records.untrusted_text import escape_controls

if TYPE_CHECKING:
    from peercorpus.forms.form_usage import FormUsage
    from peercorpus.forms.venue_forms import KnownForm
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


def doubted(venue_id: str, forms: Sequence[tuple["KnownForm", "FormUsage"]]) -> list[str]:
    """Return what reviews answer that the form in `venues.toml` does not have, each with the field that may be meant.

    Args:
        venue_id: The venue.
        forms: Its forms in the file, and how the reviews answer them.
    """
    lines = []
    for known, usage in forms:
        unfilled = [name for name in known.form.questions if name not in usage.filled]
        for name, count in usage.unknown.items():
            close = find_close(name, unfilled)
            hint = "add it" if close is None else f"did you mean it by '{escape_controls(close)}'?"
            has_not = f"answer '{escape_controls(name)}', which its form does not have; {hint}"
            lines.append(_name_doubt(venue_id, count, has_not))
        for name, count in usage.unoffered.items():
            offers = f"answer '{escape_controls(name)}' with something that its form does not offer; add it there"
            lines.append(_name_doubt(venue_id, count, offers))
    return lines


def _name_doubt(venue_id: str, count: int, what: str) -> str:
    answers = what if count > 1 else what.replace("answer", "answers", 1)
    end = "" if what.endswith("?") else "."
    return f"venues.toml, '{escape_controls(venue_id)}': {plural(count, 'review')} {answers}{end}"


def unheld(venue_id: str, held: Sequence[str]) -> str:
    """Return that `venues.toml` has a row for a venue without data in the workspace, with the nearest that has data.

    >>> unheld("Bay.org/2031", ["Bays.org/2031"])
    "venues.toml has a row for 'Bay.org/2031', for which the workspace has no data; did you mean 'Bays.org/2031'?"
    """
    close = find_close(venue_id, held)
    hint = "." if close is None else f"; did you mean '{close}'?"
    return f"venues.toml has a row for '{escape_controls(venue_id)}', for which the workspace has no data{hint}"
