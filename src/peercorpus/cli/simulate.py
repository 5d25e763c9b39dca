"""`peercorpus simulate` and `peercorpus demo`: OpenReview invented on this machine."""

import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import AtLeastOne, app
from peercorpus.cli.console import ProgressLines, say

if TYPE_CHECKING:
    from peercorpus.simulator.holdings import World

FEWEST_PAPERS = 5
"""Of a demo: one for each simulated venue, as a venue without a paper is an error."""


@dataclass(frozen=True, slots=True)
class Invented:
    """What the service holds.

    Parameters
    ----------
    papers
        How many papers the venues have together.
    seed
        The same seed gives the same world.
    venues
        Only these venues, of these years or earlier ones.
    venue_years
        How many there are: each venue once, then the conferences a year earlier, and so on.
    large
        Papers as long as real ones; many of them share a file.
    """

    papers: Annotated[int, AtLeastOne] = 12
    seed: int = 0
    venues: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=(), show_default=False)] = ()
    venue_years: Annotated[int | None, AtLeastOne, Parameter(show_default=False)] = None
    large: Annotated[bool, Parameter(negative=())] = False

    def build(self) -> "World":
        """The invented world."""
        from peercorpus.simulator.world import build_world

        return build_world(self.papers, self.seed, self.venues or None, self.venue_years, is_large=self.large)


INVENTED = Invented()


@app.command
def simulate(
    *,
    port: Annotated[int, Parameter(validator=Number(gte=1, lte=65534))] = 3000,
    invented: Annotated[Invented, Parameter(name="*")] = INVENTED,
    fault: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=(), show_default=False)] = (),
    sign_in: Annotated[bool, Parameter(negative=())] = False,
    mfa: Annotated[bool, Parameter(negative=())] = False,
    budget: Annotated[int, AtLeastOne] = 100_000,
    file_budget: Annotated[int | None, AtLeastOne] = None,
    window_s: Annotated[int, AtLeastOne] = 3600,
) -> None:
    """Run an invented OpenReview on this machine that any client can harvest, until it is stopped.

    Parameters
    ----------
    port
        Where API v1 listens; API v2 listens on the next port.
    fault
        What goes wrong, one or several: rate_limit, rate_limit_in_words, rate_limit_reset_time, rate_limit_gzip,
        rate_limit_silent, error_500, error_502_html, error_503_empty, dropped, cut_off, slow, truncated_json,
        truncated_file, expired_token, challenge, browser_check, wrong_host, no_count, ignores_after, shifting_list,
        note_vanishes, not_a_pdf, not_a_pdf_inside, zip_without_member, zip_of_other, zip_bomb, huge_file, login_429.
    sign_in
        Answer guests with a challenge on notes and files, as OpenReview does.
    mfa
        Ask whoever signs in for a second factor.
    budget
        How many requests each route gets in one window.
    file_budget
        How many of them each route that gives files gets; as many as any other where not said.
    window_s
        How long such a window lasts.
    """
    from peercorpus.simulator.budget import Budget
    from peercorpus.simulator.faults import named
    from peercorpus.simulator.server import Service, serve, serve_forever

    faults = named(*fault)
    world = invented.build()
    held = _held(world)

    def ready(service: Service) -> None:
        urls = f"--url-v1 {service.base_url_v1} --url-v2 {service.base_url_v2}"
        say(f"API v1: {service.base_url_v1}\nAPI v2: {service.base_url_v2}\nVenues: {', '.join(held)}")
        say("\n".join([_sign_in_lines(world, asked=sign_in, mfa=mfa), *_fault_lines(fault)]))
        say(f"Harvest it: peercorpus harvest {held[0]} --workspace DIR {urls}")

    allowed = Budget(budget, window_s, file_budget)
    serve_forever(serve(world, port, sign_in_required=sign_in, mfa=mfa, faults=faults, budget=allowed), ready)


def _fault_lines(names: Iterable[str]) -> list[str]:
    from peercorpus.simulator.faults import FAULTS

    return [f"Fault {name}: {FAULTS[name].help}" for name in names]


def _held(world: "World") -> list[str]:
    """The venues that have a paper."""
    notes = [*world.v1.notes.values(), *world.v2.notes.values()]
    created_by = {str(note.get("invitation") or note.get("invitations")) for note in notes}
    # Both services list all venues.
    listed = cast("list[str]", world.v2.groups["venues"]["members"])
    return [venue_id for venue_id in listed if any(f"{venue_id}/" in name for name in created_by)]


def _sign_in_lines(world: "World", *, asked: bool, mfa: bool) -> str:
    """Who may sign in, and how."""
    need = "Notes and files ask for an account" if asked else "No token is needed"
    code = f", code {world.code}" if mfa else ""
    return (
        f"{need}; sign in as {world.user}, {world.password}{code}. "
        f"{world.insider}, with the same, sees what only the venues may see. Stop with Ctrl-C."
    )


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
    from peercorpus import wording, wording_status
    from peercorpus.demo import run_demo

    with ProgressLines() as lines:
        result = run_demo(out, papers, lines.say, lines.show)
    say(wording_status.standing(result.standing))
    say(wording.demo_summary(result))
    say(wording.how_to_load(result.release))
    say(wording.real_venue(_own_name()))
    return 0 if result.standing.holds else 1


def _own_name() -> str:
    """How this program is called from here."""
    return "peercorpus" if shutil.which("peercorpus") else sys.argv[0]
