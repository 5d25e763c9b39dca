"""Harvest venues from OpenReview into a workspace; safe to interrupt at any time.

Each venue is harvested in three steps: submissions with replies, edit history, PDFs. Every page is committed in its own
transaction, so that running the same harvest again continues where it stopped.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from peercorpus.errors import BusyError, EmptyVenueError, RefusedAlikeError
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.execution.requests import EVERYTHING, HarvestRequest
from peercorpus.harvest.edit_history import harvest_history
from peercorpus.harvest.pdfs import harvest_pdfs, missing_files
from peercorpus.harvest.session import VenueSession, open_session
from peercorpus.harvest.submissions import (
    List,
    harvest_changes,
    harvest_submissions,
    read_lists,
    store_review_form,
    store_settings,
)
from peercorpus.harvest.venue_edits import TASK, find_refusal
from peercorpus.openreview.client import Client
from peercorpus.openreview.objects import Note, decode_leniently, open_readers
from peercorpus.openreview.raw_rows import find_unreadable
from peercorpus.openreview.venue_discovery import VenueProfile
from peercorpus.wording.counted_nouns import plural, verb
from peercorpus.wording.untrusted_text import escape_controls
from peercorpus.workspace.raw_store import RawKind, RawStore
from peercorpus.workspace.workspace import Workspace

MOST_NAMED = 3
"""Largest number of unreadable objects named in a summary."""


@dataclass(frozen=True, slots=True)
class HarvestSummary:
    """State of a venue when a harvest ends, and what this run did.

    Attributes:
        submissions: Submissions received from the lists of the venue.
        expected: Number announced by OpenReview; None if it announced none, or a list was not finished.
        replies: Reviews, comments, decisions and all other notes below submissions.
        files: PDFs stored, counted by edit.
        files_not_had: Number of files requested but not received, by reason.
        edits_refused: Number of notes whose edits OpenReview refused.
        requests: Number of requests that this run sent for the venue.
        came: Objects and new versions of objects that this run added.
        edits_waiting: Number of notes whose edits could not be requested this time.
        files_waiting: Files that could not be requested this time, or arrived damaged.
        not_public: Notes shown to this account but not to the public.
        failures: One sentence on each kind of request that was always refused with the same answer.
        unreadable: Ids of objects whose latest response from OpenReview is not JSON.
        no_list: Why the list of the venue's edits cannot be used; None if it can, or was never requested.
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
    failures: tuple[str, ...] = ()
    no_list: str | None = None
    lists: tuple[List, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Further information for the user beyond the counts, one sentence each."""
        remarks: list[str] = []
        if not self.is_complete:
            remarks.append("Its listings are not complete; harvest it again without a limit for the rest.")
        remarks += _describe_lists(self.lists)
        if self.edits_waiting or self.files_waiting:
            waiting = {"edits of notes": self.edits_waiting, "files": self.files_waiting}
            missing = " and ".join(f"{what}: {number:,}" for what, number in waiting.items() if number)
            remarks.append(f"Not received this time ({missing}); the same command requests them again.")
        if self.edits_refused:
            remarks.append(
                f"OpenReview refused the edits of {plural(self.edits_refused, 'note')}; 'peercorpus status --all'"
                " shows why."
            )
        if self.no_list:
            remarks.append(
                f"OpenReview's list of its edits cannot be used ({self.no_list}), so the edits are requested note"
                " by note."
            )
        if self.unreadable:
            remarks.append(_describe_unreadable(self.unreadable))
        if not self.submissions:
            remarks.append("OpenReview no longer shows any of its submissions; the stored ones stay and are set aside.")
        if self.not_public:
            remarks.append(
                f"Your account can see {plural(self.not_public, 'note')} that {verb(self.not_public, 'is', 'are')} not"
                " public: such notes are stored separately and never published; an account without a role at this"
                " venue is safer."
            )
        return tuple(remarks)


def _describe_lists(lists: Sequence[List]) -> Iterator[str]:
    for held in lists:
        name = escape_controls(held.invitation)
        if held.problem:
            yield f"OpenReview refused the list '{name}' ({held.problem}); request it again with --refresh."
        elif held.differs and held.expected is not None:
            announced = plural(held.expected, "submission")
            yield f"OpenReview announced {announced} of '{name}' and returned {held.received:,}."


def _describe_unreadable(object_ids: Sequence[str]) -> str:
    examples = ", ".join(f"'{escape_controls(object_id)}'" for object_id in object_ids[:MOST_NAMED])
    more = ", …" if len(object_ids) > MOST_NAMED else ""
    return (
        f"OpenReview's responses for {len(object_ids):,} of its objects are not JSON ({examples}{more}): the"
        " bytes are stored and will be set aside; request them again with --refresh."
    )


def harvest(
    workspace: Workspace,
    client: Client,
    venue_ids: Sequence[str],
    request: HarvestRequest = EVERYTHING,
    progress: Show = show_nothing,
) -> list[HarvestSummary]:
    """Fetch the missing parts of some venues: submissions with all replies, earlier versions, PDFs.

    It may be interrupted at any time; the same call continues where it stopped. If everything was fetched before, it
    requests what has changed since. Each step covers all venues before the next begins, so a corpus is usable early.

    Args:
        workspace: The workspace, which stores everything as received; only public records are published later.
        client: The client for requests to OpenReview.
        venue_ids: Ids of venue groups, such as `ICLR.cc/2024/Conference`.
        request: What to fetch; the venues of its scope must be among `venue_ids`.
        progress: Called after every page, note and file.

    Raises:
        VenueNotFoundError: A venue does not exist; nothing is fetched for any of them.
        EmptyVenueError: A venue shows no submission; the others are harvested first.
        BusyError: OpenReview asks to wait for hours, or stays unavailable; what was fetched is kept.
        SourceError: OpenReview refused, or could not be reached; what was fetched is kept.
    """
    sessions = []
    requests = {}
    stored_before = {}
    for venue_id in dict.fromkeys(venue_ids):
        before = client.requests
        sessions.append(open_session(workspace, client, venue_id, request, progress))
        requests[venue_id] = client.requests - before
        stored_before[venue_id] = workspace.raw.count_versions(venue_id), _count_files(workspace.raw, venue_id)
        if request.refresh:
            with workspace.raw.transaction():
                workspace.raw.state.forget_listings(venue_id)
    empty: list[EmptyVenueError] = []
    steps = _harvest_news, harvest_history, harvest_pdfs
    for step in steps[:-1] if request.no_files else steps:
        for session in list(sessions):
            before = client.requests
            try:
                _run_with_pauses(session, step)
            except EmptyVenueError as error:
                empty.append(error)
                sessions.remove(session)
            requests[session.venue_id] += client.requests - before
    if empty:
        raise empty[0]
    return [
        _summarise(session, requests[session.venue_id], stored_before[session.venue_id], files=not request.no_files)
        for session in sessions
    ]


def _run_with_pauses(session: VenueSession, step: Callable[[VenueSession], None]) -> None:
    """Run a step; if OpenReview is unavailable or refuses for a while, pause and run it again, a few times."""
    patience = session.client.patience
    for pause_s in patience.pauses_s:
        try:
            step(session)
        except BusyError as error:
            if (error.wait_s or 0) > patience.longest_wait_s:
                raise
            session.client.pause(max(pause_s, error.wait_s or 0), "OpenReview is out of order")
        else:
            return
    step(session)


def _harvest_news(session: VenueSession) -> None:
    """Fetch submissions and replies: the missing ones, or changes since all were fetched."""
    store_settings(session)
    if _is_complete(session.raw, session.profile) and session.limit is None:
        harvest_changes(session)
    else:
        harvest_submissions(session)
    store_review_form(session)
    if len(session.raw.venues()) > 1:
        # Notes that an import assigned to another venue, or to none, may belong to these submissions.
        session.raw.place()


def _is_complete(raw: RawStore, profile: VenueProfile) -> bool:
    return all(raw.state.listing(profile.venue_id, invitation).complete for invitation in profile.lists)


def _count_files(raw: RawStore, venue_id: str) -> int:
    return sum(file.sha256 is not None for file in raw.state.files(venue_id))


FEWEST_ALIKE = 3
"""Fewest identical refusals that are reported; fewer may be due to the requested objects themselves."""
COSTS = {
    "edits": "the grades 'exact', 'only_before_review' and 'before_first_review' cannot be proven, and score changes"
    " stay unknown",
    "files": "no text can be read",
}
"""Consequence of refusing every request of one kind."""


def _find_failures(venue_id: str, answers: Mapping[str, Counter[str | None]]) -> Iterator[str]:
    """Yield a sentence on each kind of request that was always refused with the same answer."""
    for kind, by_answer in answers.items():
        ((answer, number), *others) = by_answer.most_common() or [(None, 0)]
        if answer is not None and not others and number >= FEWEST_ALIKE:
            yield (
                f"OpenReview refused all {number:,} requests for the {kind} of '{venue_id}' with the same answer"
                f" ({answer}), so {COSTS[kind]}; run 'peercorpus harvest --refresh' when it allows them again."
            )


def check_refusals(summaries: Iterable[HarvestSummary]) -> None:
    """Check that not every request of one kind was refused.

    Raises:
        RefusedAlikeError: All requests for some venue were refused with the same answer; the message states the
            consequence.
    """
    if failures := [failure for summary in summaries for failure in summary.failures]:
        raise RefusedAlikeError(" ".join(failures))


def is_complete(summaries: Iterable[HarvestSummary]) -> bool:
    """Return whether nothing needs to be requested again later."""
    return not any(summary.edits_waiting or summary.files_waiting for summary in summaries)


def _summarise(session: VenueSession, requests: int, before: tuple[int, int], *, files: bool) -> HarvestSummary:
    """Return what the workspace has, and what came since it had so many versions of objects and files."""
    raw, venue_id = session.raw, session.venue_id
    number_of_files = _count_files(raw, venue_id)
    listings = [raw.state.listing(venue_id, invitation) for invitation in session.profile.lists]
    counts = [state.expected for state in listings if state.expected is not None]
    papers, not_public = 0, 0
    for note in raw.latest(RawKind.NOTE, venue_id):
        papers += note.object_id == note.forum_id
        not_public += not open_readers(decode_leniently(Note, note.body), note).is_public
    files_stored = raw.state.files(venue_id)
    of_edits = raw.state.answers(venue_id, TASK)
    of_files = Counter(file.problem for file in files_stored)
    return HarvestSummary(
        venue_id=venue_id,
        api=session.api,
        submissions=sum(state.received for state in listings),
        expected=sum(counts) if len(counts) == len(listings) else None,
        replies=raw.count(RawKind.NOTE, venue_id) - papers,
        edits=raw.count(RawKind.EDIT, venue_id) + raw.count(RawKind.REFERENCE, venue_id),
        files=number_of_files,
        files_not_had=Counter(file.problem for file in files_stored if file.problem is not None),
        edits_refused=of_edits.total() - of_edits[None],
        requests=requests,
        came=raw.count_versions(venue_id) - before[0],
        files_came=number_of_files - before[1],
        edits_waiting=len(raw.state.pending(venue_id, TASK)),
        files_waiting=len(missing_files(replace(session, refresh=False))) if files else 0,
        not_public=not_public,
        is_complete=_is_complete(raw, session.profile),
        failures=tuple(_find_failures(venue_id, {"edits": of_edits, "files": of_files})),
        no_list=find_refusal(session),
        lists=tuple(read_lists(raw, venue_id)),
        unreadable=tuple(find_unreadable(raw, venue_id)),
    )
