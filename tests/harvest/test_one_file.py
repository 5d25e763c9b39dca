"""One PDF of one paper, requested repeatedly: what is stored, and why a response is not."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import repeat

import httpx2
import msgspec
import pytest

from naming import Naming
from peercorpus.execution.progress import show_nothing
from peercorpus.harvest.pdfs import harvest_pdfs
from peercorpus.harvest.session import VenueSession
from peercorpus.openreview.client import Client
from peercorpus.openreview.venue_discovery import VenueProfile
from peercorpus.workspace.harvest_state import StoredFile
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

VENUE, PATH = "Kites.cc/2019/Conference", f"/pdf/{'a' * 40}.pdf"
PAPER = {"id": "kite", "forum": "kite", "invitation": f"{VENUE}/-/Submission", "content": {"pdf": PATH}}
FIRST, OTHER = b"%PDF-1.7 The first. %%EOF", b"%PDF-1.7 Another. %%EOF"


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


@contextmanager
def visiting(workspace: Workspace, *files: bytes, refresh: bool = False) -> Iterator[VenueSession]:
    """A visit to a venue of API v1 that returns these files for the paper's only path, then repeats the last one."""
    given = iter([*files[:-1], *repeat(files[-1], 9)])

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/pdf":
            return httpx2.Response(200, content=next(given))
        return httpx2.Response(200, json={"notes": [PAPER]})

    profile = VenueProfile(VENUE, 1, (f"{VENUE}/-/Submission",), "Official_Review", ("", b"{}"), ())
    with Client(transport=httpx2.MockTransport(answer)) as client:
        yield VenueSession(workspace.raw, workspace.files, client, profile, None, refresh, show_nothing)


def fetched(workspace: Workspace, *files: bytes, refresh: bool = False) -> StoredFile:
    """Return what is recorded about the paper's file after a harvest that receives these files."""
    with visiting(workspace, *files, refresh=refresh) as visit:
        harvest_pdfs(visit)
    (stored,) = workspace.raw.state.files(VENUE)
    return stored


@pytest.fixture
def listed(workspace: Workspace) -> Workspace:
    """A workspace with the paper's note but none of its files."""
    with workspace.raw.transaction():
        workspace.raw.add(
            [RawObject(RawKind.NOTE, "kite", 1, VENUE, "kite", "kite", 1, 1, "t", msgspec.json.encode(PAPER))]
        )
    return workspace


def test_another_file_under_a_known_path_does_not_replace_the_first(listed: Workspace) -> None:
    assert fetched(listed, FIRST).sha256 == digest(FIRST)
    listed.files.path(digest(FIRST)).unlink()
    found = fetched(listed, OTHER)
    assert (found.sha256, found.size_bytes) == (digest(FIRST), len(FIRST)), "another file passes for the one it was"
    assert found.problem == Naming("another file")
    assert not listed.files.has(digest(OTHER))


def test_an_earlier_file_that_returns_is_stored_again(listed: Workspace) -> None:
    fetched(listed, FIRST)
    listed.files.path(digest(FIRST)).unlink()
    fetched(listed, OTHER)
    found = fetched(listed, FIRST, refresh=True)
    assert (found.sha256, found.problem) == (digest(FIRST), None)
    assert listed.files.has(digest(FIRST))


def test_a_truncated_pdf_is_requested_again_by_the_next_harvest(listed: Workspace) -> None:
    cut = fetched(listed, FIRST[:20], FIRST[:15])
    assert (cut.sha256, cut.problem) == (None, "cut off")
    found = fetched(listed, FIRST)
    assert (found.sha256, found.problem) == (digest(FIRST), None), "a PDF that once came cut off is never had"
