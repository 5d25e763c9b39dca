"""Texts of `simulate`."""

from collections.abc import Iterable, Sequence

from peercorpus.simulator.server.faults import FAULTS
from peercorpus.simulator.server.service import Service
from peercorpus.simulator.world.holdings import World


def simulating(
    service: Service, world: World, venue_ids: Sequence[str], faults: Iterable[str], *, asks: bool, mfa: bool
) -> str:
    """Return the URLs, venues, accounts and faults of a running simulator, and how to harvest it.

    Args:
        service: The running simulator.
        world: What it serves.
        venue_ids: Venues that have a paper.
        faults: Names of the injected faults.
        asks: Whether notes and files need a sign-in.
        mfa: Whether a sign-in needs a second factor.
    """
    urls = f"--url-v1 {service.base_url_v1} --url-v2 {service.base_url_v2}"
    need = "Notes and files need a sign-in" if asks else "No token is needed"
    code = f", code {world.code}" if mfa else ""
    return "\n".join(
        [
            f"API v1: {service.base_url_v1}",
            f"API v2: {service.base_url_v2}",
            f"Venues: {', '.join(venue_ids)}",
            f"{need}; sign in as {world.user}, {world.password}{code}."
            f" {world.insider}, with the same password, sees what only the venues may see. Stop with Ctrl-C.",
            *(f"Fault {name}: {FAULTS[name].help}" for name in faults),
            f"Harvest it: peercorpus harvest {venue_ids[0]} --workspace DIR {urls}",
        ]
    )
