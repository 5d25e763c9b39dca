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
    """Things that could not be had, for a fault that should have passed.

    Attributes:
        in_a_row: How many, one after the other.
        had: How many others were had since the service last seemed to be down.
        failed: Which, so that they are asked for after all others.
    """

    in_a_row: int = 0
    had: int = 0
    failed: set[str] = field(default_factory=set)

    def count(self, error: BusyError, what: str) -> None:
        """Let one pass, to be had another time.

        Raises:
            BusyError: OpenReview asks to wait; or it is one too many in a row, and not one that failed before while
                others came.
        """
        self.in_a_row += 1
        is_its_own = what in self.failed and self.had > 0
        self.failed.add(what)
        if error.wait_s is not None or (self.in_a_row >= MOST_IN_A_ROW and not is_its_own):
            self.had = self.in_a_row = 0
            raise error

    def reset(self) -> None:
        """Something was had."""
        self.had += 1
        self.in_a_row = 0


@dataclass(slots=True)
class Clock:
    """The moments at which a harvest notes what was shown.

    Attributes:
        latest_ms: The last one, of this harvest or of any before; None before it was looked up.
    """

    latest_ms: int | None = None

    def tick(self, raw: RawStore) -> int:
        """Now, but later than every moment before: by a clock that was set back, what is shown would look gone."""
        if self.latest_ms is None:
            sql = "SELECT max(coalesce((SELECT max(shown_ms) FROM sightings), 0), max(started_ms)) FROM listings"
            ((latest_ms,),) = raw.select(sql)
            self.latest_ms = latest_ms or 0
        self.latest_ms = max(now_ms(), self.latest_ms + 1)
        return self.latest_ms


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
    clock: Clock = field(default_factory=Clock)

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

    def moment_ms(self) -> int:
        """A moment to note what is shown at, epoch milliseconds, later than all before."""
        return self.clock.tick(self.raw)

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
