"""One venue being harvested: what every step needs to know."""

import time
from dataclasses import dataclass, field

from peercorpus.errors import BusyError
from peercorpus.harvest.rows import Origin
from peercorpus.openreview.client import Client
from peercorpus.openreview.discovery import VenueProfile
from peercorpus.progress import Meter, Show
from peercorpus.raw import RawStore
from peercorpus.workspace import Files

MOST_IN_A_ROW = 3
"""Things that cannot be had one after the other mean that the service is down, not that those things are broken."""


@dataclass(slots=True)
class Setbacks:
    """Things that could not be had one after the other, for a passing fault."""

    in_a_row: int = 0

    def count(self, error: BusyError) -> None:
        """Let one pass, to be had another time.

        Raises:
            BusyError: It is one too many, or OpenReview asks to wait.
        """
        self.in_a_row += 1
        if error.wait_s is not None or self.in_a_row >= MOST_IN_A_ROW:
            raise error

    def reset(self) -> None:
        """Something was had."""
        self.in_a_row = 0


@dataclass(frozen=True, slots=True)
class Visit:
    """One venue being harvested.

    Attributes:
        limit: Harvest this many submissions only; None: all.
        refresh: Ask again for what was finished before.
        setbacks: Of this venue, over all steps.
    """

    raw: RawStore
    files: Files
    client: Client
    profile: VenueProfile
    limit: int | None
    refresh: bool
    show: Show
    setbacks: Setbacks = field(default_factory=Setbacks)

    @property
    def venue_id(self) -> str:
        """The venue's group id."""
        return self.profile.venue_id

    @property
    def api(self) -> int:
        """1 or 2."""
        return self.profile.api

    def origin(self, source: str) -> Origin:
        """Where objects came from: a request of now, for this venue."""
        return Origin(source, now_ms(), self.venue_id)

    def meter(self, what: str, done: int, total: int | None, path: str, in_one: int = 1) -> Meter:
        """The pace of one step of this venue.

        Args:
            what: The step.
            done: How much of it was done before.
            total: How much there is to do.
            path: Where it asks, whose budget bounds the pace.
            in_one: How much one request brings.
        """
        route = self.client.route(self.api, path)

        def at_least_s(left: int) -> float | None:
            return self.client.budget.seconds_for(route, -(-left // in_one))

        return Meter(self.venue_id, what, self.show, done, total, at_least_s)


def now_ms() -> int:
    """Epoch milliseconds by this machine's clock."""
    return time.time_ns() // 1_000_000
