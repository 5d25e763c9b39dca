"""Find the recently changed edits of an API v2 venue in one request, instead of one for each edit's file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from peercorpus.errors import BusyError, SignInError, SourceError
from peercorpus.harvest.session import VenueSession
from peercorpus.harvest.submissions import OVERLAP_MS
from peercorpus.harvest.venue_edits import find_refusal
from peercorpus.openreview.listing import LARGEST_PAGE, LATEST_FIRST, fetch_venue_edits
from peercorpus.openreview.objects import Edit, decode_leniently, file_path, now_ms, venue_of_edit
from peercorpus.workspace.harvest_state import EDITS


@dataclass(frozen=True, slots=True)
class LatestEdits:
    """The most recently modified edits of a venue.

    Attributes:
        asked_ms: When they were requested, milliseconds since the epoch.
        paths: The path of the PDF that each edit names, by its id; None if it names none.
        since_ms: When the oldest edit was modified, by OpenReview's clock; None if the list cannot be used.
        is_whole: Whether these are all edits of the venue, so that an edit that is not among them is gone or hidden.
    """

    asked_ms: int
    paths: Mapping[str, str | None] = field(default_factory=dict)
    since_ms: int | None = None
    is_whole: bool = False

    def shows_changes_since(self, moment_ms: int) -> bool:
        """Return whether every edit modified since a time by this machine's clock is among them.

        An edit hidden or deleted since then is not among them: if the list is not whole, it cannot be distinguished
        from one that did not change, and only OpenReview's refusal of its file shows it.
        """
        return self.since_ms is not None and not self.is_whole and self.since_ms < moment_ms - OVERLAP_MS


def can_list_latest(session: VenueSession) -> bool:
    """Return whether the list of the venue's edits was read before and found correct."""
    is_read = session.api == 2 and session.raw.state.listing(session.venue_id, EDITS).complete
    return is_read and find_refusal(session) is None


def fetch_latest(session: VenueSession) -> LatestEdits:
    """Return the thousand most recently modified edits of a venue.

    Raises:
        BusyError: OpenReview asks to wait.
        SignInError: A token is needed, or was refused.
    """
    asked_ms = now_ms()
    try:
        page = fetch_venue_edits(session.client, session.venue_id, sort=LATEST_FIRST)
    except SignInError:
        raise
    except BusyError as error:
        if error.wait_s is not None:
            raise
        return LatestEdits(asked_ms)
    except SourceError:
        return LatestEdits(asked_ms)
    bodies = [bytes(item) for item in page.items]
    edits = [decode_leniently(Edit, body) for body in bodies]
    times_ms = [edit.tmdate or edit.tcdate or 0 for edit in edits]
    is_right = all(earlier >= later > 0 for earlier, later in pairwise(times_ms))
    if not times_ms or not is_right or any(venue_of_edit(body) != session.venue_id for body in bodies):
        return LatestEdits(asked_ms)
    # An unreadable edit may be any edit: then those not in the list may have changed as well.
    paths = {edit.id: file_path(edit.note, "pdf") for edit in edits if edit.id}
    is_whole = len(edits) < LARGEST_PAGE or (page.expected is not None and page.expected <= len(edits))
    return LatestEdits(asked_ms, paths, times_ms[-1] if len(paths) == len(edits) else None, is_whole)
