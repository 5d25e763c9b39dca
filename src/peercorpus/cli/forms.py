"""`peercorpus forms`: the review forms that are known, and how each is known."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from peercorpus.cli.app import app
from peercorpus.cli.console import say
from peercorpus.cli.gather import read_venue_id
from peercorpus.errors import VenueNotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from peercorpus.forms.census import Census
    from peercorpus.forms.known import KnownForm
    from peercorpus.workspace import Workspace


@app.command
def forms(
    venue_id: Annotated[
        str | None, Parameter(name="VENUE_ID", help="Or the id of a declared form. All forms, if none is named.")
    ] = None,
    /,
    *,
    workspace: Annotated[Path | None, Parameter(name=["--workspace", "-w"])] = None,
    json_: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> None:
    """List the review forms that are known and the venues they serve, or show a venue's field by field.

    A venue's form is read from OpenReview's own invitation where a workspace holds it; else it is a declared one, with
    its sources; else it is inferred from the reviews.

    Parameters
    ----------
    workspace
        A folder that holds a corpus: the forms of its venues too, and how often each field was filled.
    json_
        As JSON, with every answer that a field offers.
    """
    from peercorpus import wording_forms
    from peercorpus.forms.known import all_declared, held_forms
    from peercorpus.workspace import open_workspace

    with nullcontext() if workspace is None else open_workspace(workspace, write=False) as opened:
        if venue_id is None:
            every = [*(held_forms(opened) if opened else ()), *all_declared()]
            as_json = map(wording_forms.as_json, every)
            say(wording_forms.json_text(list(as_json)) if json_ else wording_forms.table(every))
            return
        found = _find(read_venue_id(venue_id), opened)
    if json_:
        say(wording_forms.json_text([wording_forms.as_json(known, census) for known, census in found]))
    else:
        say("\n\n".join(wording_forms.form(known, census) for known, census in found))


def _find(name: str, opened: "Workspace | None") -> "Sequence[tuple[KnownForm, Census | None]]":
    """The forms of a venue, as a workspace reads them where it holds the venue, and how they are answered there."""
    from peercorpus.forms.census import read_censuses
    from peercorpus.forms.known import find_declared

    if opened is not None and name in opened.raw.venues():
        return read_censuses(opened, name)
    known = find_declared(name)
    if known is None:
        raise VenueNotFoundError(_not_found(name, opened))
    return [(known, None)]


def _not_found(name: str, opened: "Workspace | None") -> str:
    from peercorpus.forms.known import close_name

    close = close_name(name, opened.raw.venues() if opened else ())
    advice = f"did you mean '{close}'?" if close else "harvest the venue, then name its workspace with --workspace."
    held = ", and the workspace holds nothing of it" if opened else ""
    return f"No form of '{name}' is known: none is declared for it{held}; {advice}"
