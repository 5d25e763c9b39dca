"""Estimate the requests, hours and bytes that a harvest will take."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from peercorpus.errors import EmptyVenueError, NotGivenError
from peercorpus.execution.progress import show_nothing
from peercorpus.execution.requests import EVERYTHING, HarvestRequest, PlanRequest
from peercorpus.harvest.edit_history import TRIED, notes_with_history
from peercorpus.harvest.pdf_list import CURRENT
from peercorpus.harvest.pdfs import MOST_IN_ONE, missing_files, trusts_names
from peercorpus.harvest.session import VenueSession, open_session
from peercorpus.harvest.venue_edits import TASK, find_refusal, is_worth_a_list, plan_list
from peercorpus.openreview.client import Client
from peercorpus.openreview.listing import PAGE_BYTES, PAGE_WITH_REPLIES, count_pages, count_submissions
from peercorpus.openreview.venue_discovery import is_closed_list
from peercorpus.workspace.workspace import Workspace

NOTES_AN_HOUR = 500
"""Requests per hour for notes that OpenReview's headers granted a signed-in account.

Source: uw-share-lab/openproceedings, September 2026.
"""

FILES_AN_HOUR = 36
"""Requests per hour for PDFs that OpenReview granted, seen once.

Source: mireklzicar/openreview_downloader, issue 4, August 2026.
"""

HOUR_S = 3600.0
FILE_PATHS = ("/attachment", "/notes/edits/attachment", "/references/pdf", "/pdf")
FORUM_BYTES = 65_000
"""Size of one submission with all its replies as JSON: a recorded forum of ICLR 2025 with twenty notes has 63 kB."""

SMALL_FORUM_BYTES, LARGE_FORUM_BYTES = 1, PAGE_BYTES // PAGE_WITH_REPLIES
"""Mean sizes of a submission for which a plan's range is valid: all pages after the first of 1,000, or none over
200."""

FILE_BYTES = 1_100_000
"""Size of one PDF: the mean of eight recorded ones, submitted and final, from ICLR 2018 to 2022."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of one venue.

    Attributes:
        what: "listing", "versions" or "files".
        things: Number of submissions to list, notes whose edits to request, or files.
        requests: Number of requests; before the venue is listed, only those for current files, as edits are unknown.
            For a listing, assuming submissions of `FORUM_BYTES`.
        is_rough: Whether this is a lower bound: before the listing only the number of submissions is known, not which
            papers have more versions and files or which reviews changed.
        seconds: Minimum time because of the rate limit, without the time of the requests themselves.
        allowed: The rate limit used: requests, and length of the window in seconds.
        is_announced: Whether OpenReview itself announced that rate limit to this workspace.
        size_bytes: Estimated size of the data.
        by_venue: For versions, whether the list of the venue's edits is read instead of one request per note.
        refusal: Why that list cannot be used; None if it can, or is not worthwhile.
        fewest: Fewest requests of a listing, as pages are larger if replies are few; None for other steps.
        most: Requests of a listing if submissions with their replies have `LARGE_FORUM_BYTES` on average; None for
            other steps.
    """

    what: str
    things: int
    requests: int
    is_rough: bool
    seconds: float
    allowed: tuple[int, float]
    is_announced: bool
    size_bytes: int
    by_venue: bool = False
    refusal: str | None = None
    fewest: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class VenuePlan:
    """Steps left for one venue, in the order in which they will run."""

    venue_id: str
    api: int
    steps: tuple[PlannedStep, ...]


def plan_harvest(
    workspace: Workspace, client: Client, venue_ids: Sequence[str], request: PlanRequest = EVERYTHING
) -> list[VenuePlan]:
    """Estimate what is left to fetch; only requests settings and counts of the venues, and stores nothing.

    Before a venue is listed only the number of its submissions is known, and the rest is rough: the listing shows which
    papers have more than one version and which reviews changed.

    Raises:
        VenueNotFoundError: A venue does not exist.
        EmptyVenueError: A venue shows no submission.
        BusyError: OpenReview asks to wait for hours, or is unavailable.
        SourceError: OpenReview refused, or could not be reached.
    """
    plans = []
    for venue_id in dict.fromkeys(venue_ids):
        session = open_session(workspace, client, venue_id, HarvestRequest(limit=request.limit), show_nothing)
        listing, papers = _plan_listing(session)
        is_listed = all(session.raw.state.listing(venue_id, name).complete for name in session.profile.lists)
        versions = _plan_versions(session, papers, is_listed=is_listed)
        steps = [listing, versions]
        if not request.no_files:
            steps.append(_plan_files(session, papers, is_listed=is_listed, is_rough=versions.things > 0))
        plans.append(VenuePlan(venue_id, session.api, tuple(steps)))
    return plans


@dataclass(frozen=True, slots=True)
class RoughCost:
    """Lower bounds for a harvest, from the number of papers alone.

    Attributes:
        note_requests: Requests for submissions and for the edits of each.
        file_requests: Requests for the current PDFs.
    """

    papers: int
    note_requests: int
    file_requests: int

    @property
    def hours(self) -> float:
        """Hours at the limits seen in 2026, which are separate for notes and files."""
        return max(self.note_requests / NOTES_AN_HOUR, self.file_requests / FILES_AN_HOUR)

    @property
    def size_bytes(self) -> int:
        """Estimated size of the notes and PDFs."""
        return self.papers * (FORUM_BYTES + FILE_BYTES)

    def __add__(self, other: "RoughCost") -> "RoughCost":
        """Return the sum of both costs."""
        return RoughCost(
            self.papers + other.papers,
            self.note_requests + other.note_requests,
            self.file_requests + other.file_requests,
        )


def estimate_unlisted(papers: int, api: int | None) -> RoughCost:
    """Return the cost of a venue from its number of papers alone, without requests to OpenReview.

    As in `plan_harvest` before the listing: one request for the edits of each paper, and current PDFs fifty at a time
    on API v2, or one by one on API v1 and if the API is unknown.

    >>> estimate_unlisted(1_000, 2), round(estimate_unlisted(1_000, 1).hours, 1)
    (RoughCost(papers=1000, note_requests=1004, file_requests=20), 27.8)
    """
    listing = count_pages(papers, FORUM_BYTES) + 1
    files = -(-papers // MOST_IN_ONE) if api == 2 else papers
    return RoughCost(papers, listing + papers, files)


def _plan_step(
    session: VenueSession, what: str, path: str, things: int, requests: int, size_bytes: int, *, is_rough: bool = False
) -> PlannedStep:
    # Routes for files are similar: the first one with a known rate limit is used instead.
    paths = (path, *FILE_PATHS) if what == "files" else (path,)
    routes = [session.client.route(session.api, known_path) for known_path in paths]
    route = next((route for route in routes if session.client.budget.window(route) is not None), routes[0])
    window = session.client.budget.window(route)
    is_announced = window is not None and window.limit is not None and window.length_s is not None
    if window is not None and window.limit is not None and window.length_s is not None:
        allowed: tuple[int, float] = (window.limit, window.length_s)
    else:
        allowed = (FILES_AN_HOUR if what == "files" else NOTES_AN_HOUR, HOUR_S)
    seconds = session.client.budget.seconds_for(route, requests)
    if seconds is None:
        seconds = max(0, requests - 1) // allowed[0] * allowed[1]
    return PlannedStep(
        what=what,
        things=things,
        requests=requests,
        is_rough=is_rough,
        seconds=seconds,
        allowed=allowed,
        is_announced=is_announced,
        size_bytes=size_bytes,
    )


def _plan_listing(session: VenueSession) -> tuple[PlannedStep, int]:
    """Return the step, and the number of the venue's submissions up to the limit."""
    left = total = 0
    requests = dict.fromkeys((SMALL_FORUM_BYTES, FORUM_BYTES, LARGE_FORUM_BYTES), 0)
    is_known = True
    for invitation in session.profile.lists:
        state = session.raw.state.listing(session.venue_id, invitation)
        count = state.expected or state.received if state.complete else _count_list(session, invitation)
        is_known = is_known and count is not None
        there_are = max(count or 0, state.received)
        if session.limit is not None:
            there_are = min(there_are, max(0, session.limit - total))
        missing = 0 if state.complete else max(0, there_are - state.received)
        total += there_are
        left += missing
        for forum_bytes in requests if missing else ():
            requests[forum_bytes] += count_pages(missing, forum_bytes) + 1
    # For a complete list, only updates are requested: changes, deletions and the count.
    if is_known and not total:
        raise EmptyVenueError(
            f"'{session.venue_id}' shows no public submission; check the id, or whether it is open yet."
        )
    fewest, likely, most = (number or 3 for number in requests.values())
    step = _plan_step(session, "listing", "/notes", left, likely, left * FORUM_BYTES, is_rough=not is_known)
    return replace(step, fewest=fewest, most=most), total


def _count_list(session: VenueSession, invitation: str) -> int | None:
    """Return the length of a list; 0 if OpenReview refuses one of withdrawn or desk-rejected papers."""
    try:
        return count_submissions(session.client, session.api, invitation)
    except NotGivenError:
        if is_closed_list(invitation):
            return 0
        raise


def _plan_versions(session: VenueSession, papers: int, *, is_listed: bool) -> PlannedStep:
    path = "/references" if session.api == 1 else "/notes/edits"
    entries = _find_unasked(session) if is_listed else set[str]()
    number = len(entries) if is_listed else papers
    requests, refusal = number, None
    if is_worth_a_list(session, number):
        try:
            requests = min(number, plan_list(session, entries))
        except NotGivenError as error:
            refusal = error.reason
    refusal = find_refusal(session) or refusal
    step = _plan_step(session, "versions", path, number, requests, 0, is_rough=not is_listed)
    return replace(step, by_venue=requests < number, refusal=refusal)


def _find_unasked(session: VenueSession) -> set[str]:
    """Return the notes of a listed venue whose edits are still to be requested, as queue entries."""
    notes = notes_with_history(session)
    entries = {*notes.papers, *notes.plain[:TRIED], *notes.reviews, *notes.released[:TRIED]}
    state = session.raw.state
    return (entries | set(state.pending(session.venue_id, TASK))) - state.done(session.venue_id, TASK)


def _plan_files(session: VenueSession, papers: int, *, is_listed: bool, is_rough: bool) -> PlannedStep:
    sizes = [file.size_bytes for file in session.raw.state.files(session.venue_id) if file.size_bytes]
    mean_bytes = sum(sizes) // len(sizes) if sizes else FILE_BYTES
    in_bulk = session.api == 2
    if not is_listed:
        requests = -(-papers // MOST_IN_ONE) if in_bulk else papers
        path = "/attachment" if in_bulk else "/references/pdf"
        return _plan_step(session, "files", path, papers, requests, papers * mean_bytes, is_rough=True)
    # Equal paths are requested once, for the first edit that names them.
    missing = {request.path: request for request in reversed(missing_files(session))}
    routes = Counter(request.route for request in missing.values())
    current = routes.pop(CURRENT, 0) if in_bulk else 0
    singles = sum(routes.values())
    path = max(routes, key=routes.__getitem__) if singles else "/attachment"
    compared = current > 1 and not trusts_names(session)
    requests = -(-current // MOST_IN_ONE) + singles + compared
    size_bytes = len(missing) * mean_bytes
    return _plan_step(session, "files", path, len(missing), requests, size_bytes, is_rough=is_rough)
