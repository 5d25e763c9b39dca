"""Notes that a listing repeats are stored and counted once, and do not make up for missing notes."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from peercorpus.execution.progress import show_nothing
from peercorpus.harvest.session import VenueSession
from peercorpus.harvest.submissions import harvest_submissions
from peercorpus.openreview.client import Client
from peercorpus.openreview.listing import PAGE_WITH_REPLIES
from peercorpus.openreview.venue_discovery import VenueProfile
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace

VENUE, LIST = "Borealis.cc/2024/Conference", "Borealis.cc/2024/Conference/-/Submission"
ALL = [f"n{number:04}" for number in range(2 * PAGE_WITH_REPLIES)]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        yield opened


class Shifting:
    """A service that supports only `offset`, and once repeats some notes of the first page on the second."""

    def __init__(self, repeated: int) -> None:
        self.repeated = repeated

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        query = request.url.params
        start = int(query.get("offset", 0))
        if start:
            start, self.repeated = start - self.repeated, 0
        page = ALL[start : start + min(int(query["limit"]), PAGE_WITH_REPLIES)]
        notes = [{"id": one, "forum": one, "invitations": [LIST], "domain": VENUE} for one in page]
        return httpx2.Response(200, json={"notes": notes, "count": len(ALL)})


@pytest.mark.parametrize("repeated", [0, 1, 3])
def test_if_notes_came_twice_the_list_is_read_again_until_none_is_missing(workspace: Workspace, repeated: int) -> None:
    profile = VenueProfile(VENUE, 2, (LIST,), "Official_Review", ("", b"{}"), ())
    with Client(transport=httpx2.MockTransport(Shifting(repeated))) as client:
        harvest_submissions(VenueSession(workspace.raw, workspace.files, client, profile, None, False, show_nothing))
    held = [note.object_id for note in workspace.raw.versions(RawKind.NOTE, VENUE)]
    assert held == ALL
    state = workspace.raw.state.listing(VENUE, LIST)
    assert (state.received, state.expected, state.complete) == (len(ALL), len(ALL), True)
