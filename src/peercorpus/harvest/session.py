"""Open the workspace and the client of a harvest, and keep the state of each venue: clock, failures."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from peercorpus.errors import BusyError
from peercorpus.execution.progress import Meter, Show
from peercorpus.execution.requests import RATE_LIMIT_WAIT_S, HarvestRequest
from peercorpus.openreview.account import name_budget_owner, read_account
from peercorpus.openreview.budget import OtherClients, hold_budget, state_folder
from peercorpus.openreview.client import URL_V1, URL_V2, Client
from peercorpus.openreview.objects import now_ms
from peercorpus.openreview.raw_rows import RawOrigin
from peercorpus.openreview.retries import Patience
from peercorpus.openreview.venue_discovery import VenueProfile, discover
from peercorpus.venues.catalogue import submission_lists_of
from peercorpus.venues.own_venues import find_row
from peercorpus.workspace.raw_store import RawStore
from peercorpus.workspace.workspace import Files, Workspace, open_workspace


@contextmanager
def open_client(
    folder: Path,
    base_urls: tuple[str | None, str | None],
    token_file: Path | None,
    say: Callable[[str], None],
    wait: Callable[[str], None],
    *,
    is_held: bool = True,
    is_shared: bool = False,
) -> Iterator[tuple[Workspace, Client]]:
    """Open a workspace, which is created if it is missing, and a client with the best available sign-in.

    Without base URLs of API v1 and v2, those of OpenReview are used; without a token file, the token of the environment
    or the stored sign-in. The lock on the request budget is held for the whole run (`is_held`), which other runs may
    share (`is_shared`). `say` receives warnings about these, `wait` why the run is waiting.

    Raises:
        SignInError: The sign-in is refused.
        SharedBudgetError: Another run uses the same budget.
        WorkspaceError: The workspace cannot be opened.
    """
    urls = base_urls[0] or URL_V1, base_urls[1] or URL_V2
    with ExitStack() as until_done:
        account = read_account(urls, token_file, os.environ, on_wait=wait)
        if is_held:
            states = state_folder(os.environ)
            owner = name_budget_owner(account)
            held = hold_budget(states, urls, owner, folder, is_shared=is_shared, warn=say)
            until_done.enter_context(held)
        opened = until_done.enter_context(open_workspace(folder, create=True))
        client = Client(
            *urls,
            account,
            patience=Patience(longest_wait_s=RATE_LIMIT_WAIT_S),
            budget_state=opened.budget_state,
            on_wait=wait,
            tally=OtherClients(say, is_shared=is_shared),
        )
        yield opened, until_done.enter_context(client)


@dataclass(slots=True)
class FailureCount:
    """Counts of requests that failed for a transient reason.

    Attributes:
        had: Number of successes since the service last seemed down.
        failed: Failed requests, to be repeated after all others.
    """

    most_in_a_row: int = Patience().most_in_a_row
    in_a_row: int = 0
    had: int = 0
    failed: set[str] = field(default_factory=set)

    def count(self, error: BusyError, what: str) -> None:
        """Count one failure that may be retried in a later run.

        Raises:
            BusyError: OpenReview asks to wait, or too many requests failed in a row and this one is not known to fail
                while others succeed.
        """
        self.in_a_row += 1
        is_its_own = what in self.failed and self.had > 0
        self.failed.add(what)
        is_down = self.in_a_row >= self.most_in_a_row
        if error.wait_s is not None or (is_down and not is_its_own):
            self.had = self.in_a_row = 0
            raise error

    def reset(self) -> None:
        """Count one success."""
        self.had += 1
        self.in_a_row = 0


@dataclass(slots=True)
class Clock:
    """Clock for the times at which a harvest records the notes that were shown.

    Attributes:
        latest_ms: Latest time returned, by this harvest or any before; None before it was looked up.
    """

    latest_ms: int | None = None

    def tick(self, raw: RawStore) -> int:
        """Return the time in milliseconds since the epoch, always later than any recorded before.

        If the system clock was set back and an earlier time recorded, notes listed just now would seem to have
        vanished.
        """
        if self.latest_ms is None:
            sql = "SELECT max(coalesce((SELECT max(shown_ms) FROM sightings), 0), max(started_ms)) FROM listings"
            ((latest_ms,),) = raw.select(sql)
            self.latest_ms = latest_ms or 0
        self.latest_ms = max(now_ms(), self.latest_ms + 1)
        return self.latest_ms


@dataclass(frozen=True, slots=True)
class VenueSession:
    """State of one venue while it is harvested.

    Attributes:
        setbacks: Failures of this venue, over all steps.
    """

    raw: RawStore
    files: Files
    client: Client
    profile: VenueProfile
    limit: int | None
    refresh: bool
    show: Show
    setbacks: FailureCount = field(default_factory=FailureCount)
    clock: Clock = field(default_factory=Clock)

    @property
    def venue_id(self) -> str:
        """Id of the venue's group."""
        return self.profile.venue_id

    @property
    def api(self) -> int:
        """API version, 1 or 2."""
        return self.profile.api

    def origin(self, source: str) -> RawOrigin:
        """Return the origin of objects received now for this venue."""
        return RawOrigin(source, now_ms(), self.venue_id)

    def moment_ms(self) -> int:
        """Return the time to record for a listing, in milliseconds since the epoch, later than any recorded before."""
        return self.clock.tick(self.raw)

    def meter(self, what: str, done: int, total: int | None, path: str, in_one: int = 1) -> Meter:
        """Return a progress meter for one step of this venue.

        The rate limit of the API path bounds the pace; one request returns `in_one` items.
        """
        route = self.client.route(self.api, path)

        def at_least_s(left: int) -> float | None:
            return self.client.budget.seconds_for(route, -(-left // in_one))

        return Meter(venue_id=self.venue_id, what=what, show=self.show, done=done, total=total, at_least_s=at_least_s)


def open_session(
    workspace: Workspace, client: Client, venue_id: str, request: HarvestRequest, show: Show
) -> VenueSession:
    """Request the settings of a venue from OpenReview and return its session.

    Raises:
        VenueNotFoundError: The venue does not exist.
        BusyError: OpenReview asks to wait for hours, or is out of order.
        SourceError: OpenReview refused, or could not be reached.
    """
    profile = discover(client, venue_id, submission_lists_of(venue_id, find_row(workspace, venue_id)))
    return VenueSession(
        raw=workspace.raw,
        files=workspace.files,
        client=client,
        profile=profile,
        limit=request.limit,
        refresh=request.refresh,
        show=show,
        setbacks=FailureCount(client.patience.most_in_a_row),
    )
