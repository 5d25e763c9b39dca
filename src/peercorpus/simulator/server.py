"""The simulated OpenReview over HTTP: API v1 and API v2 on two loopback ports, without any network beyond them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from threading import Event

from peercorpus.simulator.accounts import Accounts
from peercorpus.simulator.budget import Budget
from peercorpus.simulator.calls import Request
from peercorpus.simulator.desk import Desk
from peercorpus.simulator.faults import Faults
from peercorpus.simulator.holdings import World
from peercorpus.simulator.ports import open_port


@dataclass(frozen=True, slots=True)
class Service:
    """A running simulator.

    Attributes:
        base_url_v1: Where API v1 answers.
        base_url_v2: Where API v2 answers.
        requests: Every request so far, live.
        reindex: Call it after a change of the world: requests are answered from indexes, which are built once.
    """

    base_url_v1: str
    base_url_v2: str
    requests: list[Request]
    reindex: Callable[[], None]


@contextmanager
def serve(
    world: World,
    port: int = 0,
    *,
    sign_in_required: bool = False,
    mfa: bool = False,
    faults: Faults | None = None,
    budget: Budget | None = None,
) -> Iterator[Service]:
    """Run the simulator while the context lasts.

    Args:
        world: What it holds.
        port: Of API v1; API v2 takes the next one. 0: any two free ports.
        sign_in_required: Answer guests with a challenge on notes and files, as the live service does.
        mfa: Ask whoever signs in for a second factor.
        faults: What goes wrong, by request.
        budget: How many requests it allows; None: more than a test makes, but for logins.

    Raises:
        PeercorpusError: The port is taken.
    """
    desk = Desk(world, Accounts(world, mfa=mfa), budget or Budget(), faults, sign_in_required)
    with open_port(desk, "v1", port) as url_v1, open_port(desk, "v2", port + 1 if port else 0) as url_v2:
        yield Service(url_v1, url_v2, desk.requests, desk.reindex)


def serve_forever(running: AbstractContextManager[Service], ready: Callable[[Service], None]) -> None:
    """Keep what `serve` gives running until it is interrupted; `ready` is called once it answers."""
    with running as service, suppress(KeyboardInterrupt):
        ready(service)
        Event().wait()
