"""Run an invented OpenReview on this machine from Python, as `peercorpus simulate` does."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from peercorpus.api.arguments import list_texts, list_venues, require_positive_whole, require_whole_number
from peercorpus.errors import MissingExtraError, PeercorpusError

if TYPE_CHECKING:
    from peercorpus.simulator.world.holdings import World

_MAX_PORT = 65_535
"""The second of the two servers takes the port after the first one's."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """A running simulator of OpenReview.

    Attributes:
        url_v1: Base URL of API v1, for `harvest`.
        url_v2: Base URL of API v2, for `harvest`.
        venue_ids: Venues that have a paper.
        user: An account that can sign in.
        password: Its password.
        code: Its second factor, valid at any time.
    """

    url_v1: str
    url_v2: str
    venue_ids: tuple[str, ...]
    user: str
    password: str
    code: str


@contextmanager
def simulate(
    papers: int = 12,
    seed: int = 0,
    *,
    venue_ids: str | Iterable[str] | None = None,
    large: bool = False,
    port: int = 0,
    fault: str | Iterable[str] = (),
    sign_in: bool = False,
    mfa: bool = False,
    budget: int = 100_000,
) -> Iterator[Simulation]:
    """Run a simulated OpenReview on this machine while the context lasts; its papers and people are invented.

    Args:
        papers: Number of papers at all venues together, 1 or more.
        seed: Seed of the invented content; the same seed gives the same content.
        venue_ids: Only these simulated venues; None means one of each.
        large: Whether papers are as long as real ones, each with its own text.
        port: Port of API v1; API v2 uses the next one. 0 takes any two free ports.
        fault: Faults to inject, by the names that `peercorpus simulate --help` lists.
        sign_in: Whether notes and files need a sign-in, as at OpenReview.
        mfa: Whether a sign-in needs a second factor.
        budget: Requests allowed per route in an hour, 1 or more.

    Raises:
        MissingExtraError: Typst, which makes the PDFs, is not installed.
        PeercorpusError: An argument is not valid, a venue is not simulated, or the port is taken.

    Example:
        >>> with peercorpus.simulate(papers=5) as openreview:
        ...     print(len(openreview.venue_ids), openreview.url_v1.rpartition(":")[0])
        5 http://127.0.0.1
    """
    _check_port(port)
    require_positive_whole(budget=budget)
    world = _build_world(papers, seed, venue_ids, is_large=large)
    from peercorpus.simulator.server.faults import faults_by_name
    from peercorpus.simulator.server.service import ServiceBudget, serve_simulator
    from peercorpus.simulator.world.world import find_venues_with_papers

    limits, faults = ServiceBudget(budget), faults_by_name(*list_texts(fault, "fault"))
    with serve_simulator(world, port, sign_in_required=sign_in, mfa=mfa, faults=faults, budget=limits) as service:
        venues = tuple(find_venues_with_papers(world))
        yield Simulation(service.base_url_v1, service.base_url_v2, venues, world.user, world.password, world.code)


def _check_port(port: int) -> None:
    if find_spec("typst") is None:
        raise MissingExtraError("typst", "demo")
    require_whole_number("port", port)
    if not 0 <= port < _MAX_PORT:
        raise PeercorpusError(f"A port is from 0, for any that is free, to {_MAX_PORT - 1:,}, got {port}.")


def _build_world(papers: int, seed: int, venue_ids: str | Iterable[str] | None, *, is_large: bool) -> "World":
    from peercorpus.simulator.world.world import build_world

    for name, number in (("papers", papers), ("seed", seed)):
        require_whole_number(name, number)
    if papers < 1:
        raise PeercorpusError(f"A simulation has at least one paper, got {papers}.")
    chosen = None if venue_ids is None else list_venues(venue_ids)
    return build_world(papers, seed, chosen, is_large=is_large)
