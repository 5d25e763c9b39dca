"""The harvest: what is still missing of some venues, stored bit by bit, so that it may stop at any instant."""

from collections.abc import Sequence
from dataclasses import dataclass

from peercorpus.harvest.history import harvest_history
from peercorpus.harvest.pdfs import harvest_pdfs
from peercorpus.harvest.submissions import harvest_submissions, store_review_form, store_settings
from peercorpus.harvest.visit import Visit
from peercorpus.openreview.client import Client
from peercorpus.openreview.discovery import VenueProfile, discover
from peercorpus.progress import Show, show_nothing
from peercorpus.raw import UNPLACED, Kind, RawStore
from peercorpus.venues.catalogue import submission_lists_of
from peercorpus.workspace import Workspace


@dataclass(frozen=True, slots=True)
class HarvestSummary:
    """What is held of a venue when a harvest ends, and what this harvest did.

    Attributes:
        submissions: Received from its listings.
        expected: How many OpenReview said there are; None where it did not say, or a list was not finished.
        replies: Reviews, comments, decisions and all else below submissions.
        edits: Edits and references held.
        files: PDFs held, counted by edit.
        files_not_had: Files asked for and not given.
        requests: Sent for this venue by this run.
        is_complete: Whether every listing was read to its end.
        was_complete: Whether they were so before this run, which then did not ask for them again.
    """

    venue_id: str
    api: int
    submissions: int
    expected: int | None
    replies: int
    edits: int
    files: int
    files_not_had: int
    requests: int
    is_complete: bool
    was_complete: bool

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know beyond the counts, each a sentence."""
        said: list[str] = []
        if self.was_complete:
            said.append("Its listings were complete; they were not asked for again (--refresh does).")
        if not self.is_complete:
            said.append("Its listings are not complete; harvest it again without a limit for the rest.")
        if self.is_complete and self.expected is not None and self.expected != self.submissions:
            said.append(f"OpenReview announced {self.expected} submissions and gave {self.submissions}.")
        return tuple(said)


def harvest(
    workspace: Workspace,
    client: Client,
    venue_ids: Sequence[str],
    *,
    limit: int | None = None,
    files: bool = True,
    refresh: bool = False,
    progress: Show = show_nothing,
) -> list[HarvestSummary]:
    """Fetch what is missing of some venues: submissions with all replies, earlier versions, PDFs.

    It may be interrupted at any instant; the same call goes on where it stopped.

    Args:
        workspace: Where all is stored as received; only what everyone may read is published later.
        client: Where to ask.
        venue_ids: Ids of venue groups, such as `ICLR.cc/2024/Conference`.
        limit: The first so many submissions of each venue, list by list in order of their id, 1 or more; None: all.
        files: Whether to fetch PDFs.
        refresh: List again what was listed to its end before, and try files again that could not be had.
        progress: Told after every page, note and file.

    Raises:
        VenueNotFoundError: There is no such venue; then nothing of any of them is fetched.
        EmptyVenueError: A venue shows no submission.
        SourceError: OpenReview refused, or could not be reached; what was fetched stays.
    """
    profiles = [_find(client, venue_id) for venue_id in dict.fromkeys(venue_ids)]
    summaries = []
    for profile, found_with in profiles:
        visit = Visit(workspace.raw, workspace.files, client, profile, limit, refresh, progress)
        was_complete = not refresh and _is_complete(workspace.raw, profile)
        before = client.requests - found_with
        _harvest_venue(visit, files=files)
        summaries.append(_summary(visit, client.requests - before, was_complete=was_complete))
    return summaries


def _find(client: Client, venue_id: str) -> tuple[VenueProfile, int]:
    before = client.requests
    return discover(client, venue_id, submission_lists_of(venue_id)), client.requests - before


def _harvest_venue(visit: Visit, *, files: bool) -> None:
    store_settings(visit)
    harvest_submissions(visit)
    store_review_form(visit)
    if UNPLACED in visit.raw.venues():
        # What an import brought before may belong to these submissions.
        visit.raw.place()
    harvest_history(visit)
    if files:
        harvest_pdfs(visit)


def _is_complete(raw: RawStore, profile: VenueProfile) -> bool:
    return all(raw.listing(profile.venue_id, invitation).complete for invitation in profile.lists)


def _summary(visit: Visit, requests: int, *, was_complete: bool) -> HarvestSummary:
    raw, venue_id = visit.raw, visit.venue_id
    listings = [raw.listing(venue_id, invitation) for invitation in visit.profile.lists]
    counts = [state.expected for state in listings if state.expected is not None]
    papers = sum(1 for note in raw.latest(Kind.NOTE, venue_id) if note.object_id == note.forum_id)
    stored = raw.files(venue_id)
    return HarvestSummary(
        venue_id=venue_id,
        api=visit.api,
        submissions=sum(state.received for state in listings),
        expected=sum(counts) if len(counts) == len(listings) else None,
        replies=raw.count(Kind.NOTE, venue_id) - papers,
        edits=raw.count(Kind.EDIT, venue_id) + raw.count(Kind.REFERENCE, venue_id),
        files=sum(1 for one in stored if one.sha256 is not None),
        files_not_had=sum(1 for one in stored if one.problem is not None),
        requests=requests,
        is_complete=_is_complete(raw, visit.profile),
        was_complete=was_complete,
    )
