"""One venue being harvested: what every step needs to know."""

import time
from dataclasses import dataclass

from peercorpus.harvest.rows import Origin
from peercorpus.openreview.client import Client
from peercorpus.openreview.discovery import VenueProfile
from peercorpus.progress import Meter, Show
from peercorpus.raw import RawStore
from peercorpus.workspace import Files


@dataclass(frozen=True, slots=True)
class Visit:
    """One venue being harvested.

    Attributes:
        limit: Harvest this many submissions only; None: all.
        refresh: Ask again for what was finished before.
    """

    raw: RawStore
    files: Files
    client: Client
    profile: VenueProfile
    limit: int | None
    refresh: bool
    show: Show

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
        return Origin(source, time.time_ns() // 1_000_000, self.venue_id)

    def meter(self, what: str, done: int = 0, total: int | None = None) -> Meter:
        """The pace of one step of this venue."""
        return Meter(self.venue_id, what, self.show, done, total)
