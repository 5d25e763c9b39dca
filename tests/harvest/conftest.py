"""Fixtures of the harvest's tests: an invented OpenReview, an empty workspace, and a client that hardly waits."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from peercorpus.openreview.client import Client
from peercorpus.openreview.retries import Patience
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.venues import VENUES
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

PAPERS = 11


@pytest.fixture(scope="session")
def venue_ids() -> list[str]:
    return [venue.venue_id for venue in VENUES]


@pytest.fixture(scope="session")
def invented() -> World:
    """A world that tests must not change."""
    return build_world(papers=PAPERS)


@pytest.fixture
def service(invented: World) -> Iterator[Service]:
    with serve_simulator(invented) as running:
        yield running


@pytest.fixture
def hasty() -> Iterator[Callable[..., Client]]:
    """Makes clients of a service that hardly wait between attempts, and closes them at the end."""
    patience = Patience(attempts=3, first_wait_s=0.001, longest_wait_s=1.5, pauses_s=(0.01, 0.02))
    with ExitStack() as clients:

        def make(service: Service, token: str | None = None) -> Client:
            client = Client(service.base_url_v1, service.base_url_v2, token, patience=patience)
            return clients.enter_context(client)

        yield make


@pytest.fixture
def digests(venue_ids: list[str]) -> Callable[[Workspace], dict[str, str]]:
    """Return the content of a workspace as digests."""

    def take(workspace: Workspace) -> dict[str, str]:
        kinds = [kind.value for kind in RawKind]
        found = {f"{venue} {kind}": workspace.raw.digest(kind, venue) for venue in venue_ids for kind in kinds}
        files = {f"{venue} files": workspace.raw.state.files_digest(venue) for venue in venue_ids}
        return found | files | {"venues": " ".join(workspace.raw.venues())}

    return take
