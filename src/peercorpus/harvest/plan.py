"""What a harvest will ask for, before it does: requests, hours and gigabytes, by kind."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from peercorpus.errors import EmptyVenueError
from peercorpus.harvest.archive import MOST_IN_ONE
from peercorpus.harvest.history import TASK, TRIED, notes_with_history
from peercorpus.harvest.pdfs import missing_files, trusts_names
from peercorpus.harvest.visit import Visit
from peercorpus.harvest.wanted import CURRENT
from peercorpus.openreview.client import Client
from peercorpus.openreview.discovery import discover
from peercorpus.openreview.listing import PAGE_WITH_REPLIES, count_submissions
from peercorpus.progress import show_nothing
from peercorpus.venues.catalogue import submission_lists_of
from peercorpus.workspace import Workspace

NOTES_AN_HOUR = 500
"""What OpenReview's headers gave a signed-in account for notes (uw-share-lab/openproceedings, September 2026)."""

FILES_AN_HOUR = 36
"""What OpenReview gave for PDFs, seen once (mireklzicar/openreview_downloader, issue 4, August 2026)."""

HOUR_S = 3600.0
FILE_PATHS = ("/attachment", "/notes/edits/attachment", "/references/pdf", "/pdf")
FORUM_BYTES = 65_000
"""One submission with all its replies as JSON: a recorded forum of ICLR 2025 with twenty notes has 63 kB."""

FILE_BYTES = 1_100_000
"""One PDF: the mean of eight recorded ones, submitted and final, of ICLR 2018 to 2022."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of one venue.

    Attributes:
        what: "listing", "versions" or "files".
        things: Submissions to list, notes whose edits are to be asked for, or files.
        requests: Of the current files alone where the venue is not listed yet: what edits bring is not known then.
        is_rough: Whether it is the least there can be, as all that is known so far is the number of submissions: which
            papers have more versions and files, and which reviews changed, is known once they are listed.
        seconds: How long the request budget makes it take; the time of the requests themselves comes on top.
        allowed: The budget that was reckoned with: requests, and the seconds of its window.
        is_announced: Whether OpenReview itself announced that budget to this workspace.
        size_bytes: What will come, roughly.
    """

    what: str
    things: int
    requests: int
    is_rough: bool
    seconds: float
    allowed: tuple[int, float]
    is_announced: bool
    size_bytes: int


@dataclass(frozen=True, slots=True)
class VenuePlan:
    """What is left to do for one venue, in the order in which it will be done."""

    venue_id: str
    api: int
    steps: tuple[PlannedStep, ...]


def plan_harvest(
    workspace: Workspace, client: Client, venue_ids: Sequence[str], *, limit: int | None = None, files: bool = True
) -> list[VenuePlan]:
    """Reckon what is left to fetch; it asks for the venues' settings and for counts, and stores nothing.

    Before a venue is listed only the number of its submissions is known, and the rest is rough: which papers have more
    than one version, and which reviews changed, the listing tells.

    Raises:
        As `harvest`.
    """
    plans = []
    for venue_id in dict.fromkeys(venue_ids):
        profile = discover(client, venue_id, submission_lists_of(venue_id))
        visit = Visit(workspace.raw, workspace.files, client, profile, limit, False, show_nothing)
        listing, papers = _listing(visit)
        is_listed = all(visit.raw.listing(venue_id, name).complete for name in profile.lists)
        versions = _versions(visit, papers, is_listed=is_listed)
        steps = [listing, versions]
        if files:
            steps.append(_files(visit, papers, is_listed=is_listed, is_rough=versions.things > 0))
        plans.append(VenuePlan(venue_id, visit.api, tuple(steps)))
    return plans


def _step(
    visit: Visit, what: str, path: str, things: int, requests: int, size_bytes: int, *, is_rough: bool = False
) -> PlannedStep:
    route = _known_route(visit, path) if what == "files" else visit.client.route(visit.api, path)
    window = visit.client.budget.window(route)
    is_announced = window is not None and window.limit is not None and window.length_s is not None
    if window is not None and window.limit is not None and window.length_s is not None:
        allowed: tuple[int, float] = (window.limit, window.length_s)
    else:
        allowed = (FILES_AN_HOUR if what == "files" else NOTES_AN_HOUR, HOUR_S)
    seconds = visit.client.budget.seconds_for(route, requests)
    if seconds is None:
        seconds = max(0, requests - 1) // allowed[0] * allowed[1]
    return PlannedStep(what, things, requests, is_rough, seconds, allowed, is_announced, size_bytes)


def _known_route(visit: Visit, path: str) -> str:
    """A route of files whose budget is known: this one, else another, as they are much alike."""
    routes = [visit.client.route(visit.api, one) for one in (path, *FILE_PATHS)]
    return next((route for route in routes if visit.client.budget.window(route) is not None), routes[0])


def _listing(visit: Visit) -> tuple[PlannedStep, int]:
    """The step, and how many submissions the venue has, as far as the limit allows."""
    left = requests = total = 0
    is_known = True
    for invitation in visit.profile.lists:
        state = visit.raw.listing(visit.venue_id, invitation)
        count = state.expected if state.complete else count_submissions(visit.client, visit.api, invitation)
        is_known = is_known and count is not None
        there_are = max(count or 0, state.received)
        if visit.limit is not None:
            there_are = min(there_are, max(0, visit.limit - total))
        missing = 0 if state.complete else max(0, there_are - state.received)
        total, left = total + there_are, left + missing
        requests += -(-missing // PAGE_WITH_REPLIES) + 1 if missing else 0
    # What is complete is asked for news: what changed, what was deleted, how much there is.
    if is_known and not total:
        raise EmptyVenueError(
            f"'{visit.venue_id}' shows no public submission; check the id, or whether it is open yet."
        )
    size_bytes = left * FORUM_BYTES
    return _step(visit, "listing", "/notes", left, requests or 3, size_bytes, is_rough=not is_known), total


def _versions(visit: Visit, papers: int, *, is_listed: bool) -> PlannedStep:
    path = "/references" if visit.api == 1 else "/notes/edits"
    if not is_listed:
        return _step(visit, "versions", path, papers, papers, 0, is_rough=True)
    notes = notes_with_history(visit)
    entries = {*notes.papers, *notes.plain[:TRIED], *notes.reviews, *notes.released[:TRIED]}
    entries = (entries | set(visit.raw.pending(visit.venue_id, TASK))) - visit.raw.done(visit.venue_id, TASK)
    return _step(visit, "versions", path, len(entries), len(entries), 0)


def _files(visit: Visit, papers: int, *, is_listed: bool, is_rough: bool) -> PlannedStep:
    sizes = [one.size_bytes for one in visit.raw.files(visit.venue_id) if one.size_bytes]
    mean_bytes = sum(sizes) // len(sizes) if sizes else FILE_BYTES
    in_bulk = visit.api == 2
    if not is_listed:
        requests = -(-papers // MOST_IN_ONE) if in_bulk else papers
        path = "/attachment" if in_bulk else "/references/pdf"
        return _step(visit, "files", path, papers, requests, papers * mean_bytes, is_rough=True)
    # Equal paths are asked for once, by the first that names them.
    missing = {wanted.path: wanted for wanted in reversed(missing_files(visit))}
    routes = Counter(wanted.route for wanted in missing.values())
    current = routes.pop(CURRENT, 0) if in_bulk else 0
    singles = sum(routes.values())
    path = max(routes, key=routes.__getitem__) if singles else "/attachment"
    compared = current > 1 and not trusts_names(visit)
    requests = -(-current // MOST_IN_ONE) + singles + compared
    size_bytes = len(missing) * mean_bytes
    return _step(visit, "files", path, len(missing), requests, size_bytes, is_rough=is_rough)
