"""`peercorpus simulate` and `peercorpus demo`: OpenReview invented on this machine."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import AtLeastOne, app
from peercorpus.cli.console import ProgressLines, say

FEWEST_PAPERS = 5
"""Of a demo: one for each simulated venue, as a venue without a paper is an error."""


@app.command
def simulate(
    *,
    port: Annotated[int, Parameter(validator=Number(gte=1, lte=65534))] = 3000,
    papers: Annotated[int, AtLeastOne] = 12,
    seed: int = 0,
    venues: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=())] = (),
) -> None:
    """Run an invented OpenReview on this machine that any client can harvest, until it is stopped.

    Parameters
    ----------
    port
        Where API v1 listens; API v2 listens on the next port.
    papers
        How many papers the venues have together.
    seed
        The same seed gives the same world.
    venues
        Only these venues.
    """
    from peercorpus.simulator.server import Service, serve_forever
    from peercorpus.simulator.venues import VENUES
    from peercorpus.simulator.world import build_world

    world = build_world(papers=papers, seed=seed, venues=venues or None)

    notes = [*world.v1.notes.values(), *world.v2.notes.values()]
    created_by = {str(note.get("invitation") or note.get("invitations")) for note in notes}
    held = [venue.venue_id for venue in VENUES if any(f"{venue.venue_id}/" in name for name in created_by)]

    def ready(service: Service) -> None:
        say(f"API v1: {service.base_url_v1}\nAPI v2: {service.base_url_v2}\nVenues: {', '.join(held)}")
        say(f"No token is needed; clients that sign in do so as {world.user}, {world.password}. Stop with Ctrl-C.")
        say(
            f"Harvest it: peercorpus harvest {held[0]} --workspace DIR --url-v1 {service.base_url_v1} "
            f"--url-v2 {service.base_url_v2}"
        )

    serve_forever(world, port, ready)


@app.command
def demo(
    *, out: Path = Path("demo"), papers: Annotated[int, Parameter(validator=Number(gte=FEWEST_PAPERS))] = 12
) -> int:
    """Simulate OpenReview, harvest it over HTTP, build, publish and check, offline, in under a minute.

    Parameters
    ----------
    out
        A folder of the demo's own; what an earlier demo left there is replaced.
    papers
        How many papers the simulated venues have together.
    """
    from peercorpus import wording
    from peercorpus.demo import run_demo

    with ProgressLines() as lines:
        result = run_demo(out, papers, lines.say, lines.show)
    say(wording.standing(result.standing))
    say(wording.demo_summary(result))
    say(wording.how_to_load(result.release))
    say(wording.real_venue(_own_name()))
    return 0 if result.standing.holds else 1


def _own_name() -> str:
    """How this program is called from here."""
    return "peercorpus" if shutil.which("peercorpus") else sys.argv[0]
