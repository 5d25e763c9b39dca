"""The harvest: what is still missing of some venues, stored bit by bit, so that it may stop at any instant."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from peercorpus.errors import BusyError, EmptyVenueError
from peercorpus.harvest.changes import harvest_changes
from peercorpus.harvest.history import TASK, harvest_history
from peercorpus.harvest.pdfs import harvest_pdfs, missing_files
from peercorpus.harvest.submissions import harvest_submissions, store_review_form, store_settings
from peercorpus.harvest.visit import Visit
from peercorpus.openreview.client import Client
from peercorpus.openreview.discovery import VenueProfile, discover
from peercorpus.openreview.objects import Note, salvage
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
        files_not_had: Files asked for and not given, by the reason.
        edits_refused: Notes whose edits were asked for and not given.
        requests: Sent for this venue by this run.
        came: Objects, and new versions of objects, that this run brought.
        files_came: Files that this run brought.
        edits_waiting: Notes whose edits could not be asked for this time.
        files_waiting: Files that could not be asked for this time, or came wrong.
        not_public: Notes that this account is shown and the public is not.
        is_complete: Whether every listing was read to its end.
    """

    venue_id: str
    api: int
    submissions: int
    expected: int | None
    replies: int
    edits: int
    files: int
    files_not_had: Mapping[str, int]
    edits_refused: int
    requests: int
    came: int
    files_came: int
    edits_waiting: int
    files_waiting: int
    not_public: int
    is_complete: bool

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know beyond the counts, each a sentence."""
        said: list[str] = []
        if not self.is_complete:
            said.append("Its listings are not complete; harvest it again without a limit for the rest.")
        if self.is_complete and self.expected is not None and self.expected != self.submissions:
            said.append(f"OpenReview announced {self.expected} submissions and gave {self.submissions}.")
        if self.edits_waiting or self.files_waiting:
            waiting = {"edits of notes": self.edits_waiting, "files": self.files_waiting}
            missing = " and ".join(f"{what}: {number:,}" for what, number in waiting.items() if number)
            said.append(f"Not had this time ({missing}); the same command asks for them again.")
        if self.edits_refused:
            said.append(f"OpenReview refused the edits of {self.edits_refused:,} notes; 'peercorpus status' says why.")
        if not self.submissions:
            said.append("OpenReview shows none of its submissions any more; what was held stays, and is set aside.")
        if self.not_public:
            said.append(
                f"Your account is shown {self.not_public:,} notes that the public is not: they are kept apart and never"
                " published; an account without a role at this venue is safer."
            )
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

    It may be interrupted at any instant; the same call goes on where it stopped. Where all was there before, it asks
    for what changed since. Steps go over all venues (notes, then earlier versions, then files), so that a corpus is
    usable early.

    Args:
        workspace: Where all is stored as received; only what everyone may read is published later.
        client: Where to ask.
        venue_ids: Ids of venue groups, such as `ICLR.cc/2024/Conference`.
        limit: The first so many submissions of each venue, list by list in order of their id, 1 or more; None: all.
        files: Whether to fetch PDFs.
        refresh: List again what was listed to its end before, whatever changed, and ask again for files not given.
        progress: Told after every page, note and file.

    Raises:
        VenueNotFoundError: There is no such venue; then nothing of any of them is fetched.
        EmptyVenueError: A venue shows no submission; the others are harvested first.
        BusyError: OpenReview asks to wait for hours, or is out of order for long; what was fetched stays.
        SourceError: OpenReview refused, or could not be reached; what was fetched stays.
    """
    visits, requests, held = [], {}, {}
    for venue_id in dict.fromkeys(venue_ids):
        before = client.requests
        profile = discover(client, venue_id, submission_lists_of(venue_id))
        visits.append(Visit(workspace.raw, workspace.files, client, profile, limit, refresh, progress))
        requests[venue_id], held[venue_id] = client.requests - before, _held(workspace.raw, venue_id)
    for visit in visits if refresh else ():
        with visit.raw.transaction():
            visit.raw.forget_listings(visit.venue_id)
    empty: list[EmptyVenueError] = []
    for step in (_harvest_notes, harvest_history, *((harvest_pdfs,) if files else ())):
        for visit in list(visits):
            before = client.requests
            try:
                _persistently(visit, step)
            except EmptyVenueError as error:
                empty.append(error)
                visits.remove(visit)
            requests[visit.venue_id] += client.requests - before
    if empty:
        raise empty[0]
    return [_summary(visit, requests[visit.venue_id], held[visit.venue_id], files=files) for visit in visits]


def _persistently(visit: Visit, step: Callable[[Visit], None]) -> None:
    """Do a step; where OpenReview is out of order, or refuses for a while, rest and go on, a few times.

    Raises:
        BusyError: It asks for a longer wait than patience allows, or stays out of order.
    """
    patience = visit.client.patience
    for pause_s in patience.pauses_s:
        try:
            step(visit)
        except BusyError as error:
            if (error.wait_s or 0) > patience.longest_wait_s:
                raise
            visit.client.pause(max(pause_s, error.wait_s or 0), "OpenReview is out of order")
        else:
            return
    step(visit)


def _harvest_notes(visit: Visit) -> None:
    """Submissions and replies: what is missing, or what has changed since all were there."""
    store_settings(visit)
    if _is_complete(visit.raw, visit.profile) and visit.limit is None:
        harvest_changes(visit)
    else:
        harvest_submissions(visit)
    store_review_form(visit)
    if UNPLACED in visit.raw.venues():
        # What an import brought before may belong to these submissions.
        visit.raw.place()


def _is_complete(raw: RawStore, profile: VenueProfile) -> bool:
    return all(raw.listing(profile.venue_id, invitation).complete for invitation in profile.lists)


class _Held(NamedTuple):
    """What was there before."""

    objects: int
    files: int


def _held(raw: RawStore, venue_id: str) -> _Held:
    return _Held(raw.count_versions(venue_id), len([one for one in raw.files(venue_id) if one.sha256]))


def _summary(visit: Visit, requests: int, held: _Held, *, files: bool) -> HarvestSummary:
    raw, venue_id = visit.raw, visit.venue_id
    listings = [raw.listing(venue_id, invitation) for invitation in visit.profile.lists]
    counts = [state.expected for state in listings if state.expected is not None]
    papers, not_public = 0, 0
    for note in raw.latest(Kind.NOTE, venue_id):
        papers += note.object_id == note.forum_id
        not_public += not salvage(Note, note.body).is_public
    stored = raw.files(venue_id)
    return HarvestSummary(
        venue_id=venue_id,
        api=visit.api,
        submissions=sum(state.received for state in listings),
        expected=sum(counts) if len(counts) == len(listings) else None,
        replies=raw.count(Kind.NOTE, venue_id) - papers,
        edits=raw.count(Kind.EDIT, venue_id) + raw.count(Kind.REFERENCE, venue_id),
        files=sum(1 for one in stored if one.sha256 is not None),
        files_not_had=Counter(one.problem for one in stored if one.problem is not None),
        edits_refused=raw.count_refused(venue_id, TASK),
        requests=requests,
        came=raw.count_versions(venue_id) - held.objects,
        files_came=len([one for one in stored if one.sha256]) - held.files,
        edits_waiting=len(raw.pending(venue_id, TASK)),
        files_waiting=len(missing_files(replace(visit, refresh=False))) if files else 0,
        not_public=not_public,
        is_complete=_is_complete(raw, visit.profile),
    )
