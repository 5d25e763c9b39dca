"""Run an invented OpenReview on this machine from Python, as `peercorpus simulate` does."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from peercorpus.api.arguments import list_venues, require_whole_number
from peercorpus.errors import MissingExtraError, PeercorpusError

_MAX_PORT = 65_535
"""The second of the two servers takes the port after the first one's."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """A running simulator of OpenReview.

    Attributes:
        url_v1: Base URL of API v1, for `harvest`.
        url_v2: Base URL of API v2, for `harvest`.
        venue_ids: Venues that have a paper.
    """

    url_v1: str
    url_v2: str
    venue_ids: tuple[str, ...]


@contextmanager
def simulate(
    papers: int = 12, seed: int = 0, *, venue_ids: str | Iterable[str] | None = None, port: int = 0
) -> Iterator[Simulation]:
    """Run a simulated OpenReview on this machine while the context lasts; its papers and people are invented.

    Args:
        papers: Number of papers at all venues together, 1 or more.
        seed: Seed of the invented content; the same seed gives the same content.
        venue_ids: Only these simulated venues; None means one of each.
        port: Port of API v1; API v2 uses the next one. 0 takes any two free ports.

    Raises:
        MissingExtraError: Typst, which makes the PDFs, is not installed.
        PeercorpusError: A venue is not simulated, there would be no paper, or the port is taken.

    Example:
        >>> with peercorpus.simulate(papers=5) as openreview:
        ...     print(len(openreview.venue_ids), openreview.url_v1.rpartition(":")[0])
        5 http://127.0.0.1
    """
    if find_spec("typst") is None:
        raise MissingExtraError("typst", "demo")
    for name, number in (("papers", papers), ("seed", seed), ("port", port)):
        require_whole_number(name, number)
    if papers < 1:
        raise PeercorpusError(f"A simulation has at least one paper, got {papers}.")
    if not 0 <= port < _MAX_PORT:
        raise PeercorpusError(f"A port is from 0, for any that is free, to {_MAX_PORT - 1:,}, got {port}.")
    from peercorpus.simulator.server.service import serve_simulator
    from peercorpus.simulator.world.world import build_world, find_venues_with_papers

    chosen = None if venue_ids is None else list_venues(venue_ids)
    world = build_world(papers, seed, chosen)
    with serve_simulator(world, port) as service:
        yield Simulation(service.base_url_v1, service.base_url_v2, tuple(find_venues_with_papers(world)))
