"""Withdrawn and desk-rejected papers of API v1: their lists are always requested and compared with their counts."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx2
import msgspec
import pytest

from peercorpus.cli.text.status import standing
from peercorpus.execution.progress import show_nothing
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.harvest.plan import plan_harvest
from peercorpus.harvest.session import VenueSession
from peercorpus.harvest.submissions import harvest_submissions
from peercorpus.openreview import listing
from peercorpus.openreview.client import Client
from peercorpus.openreview.listing import PAGE_WITH_REPLIES
from peercorpus.openreview.venue_discovery import VenueProfile
from peercorpus.pipeline.status import read_completeness, read_status
from peercorpus.simulator.server.changes import edit_rating, post_reply
from peercorpus.simulator.server.damage import Fault
from peercorpus.simulator.server.faults import faults_by_name
from peercorpus.simulator.server.index import values_of
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.responses import Response, forbidden
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace

MakeClient = Callable[..., Client]

AURORA = "Aurora.cc/2020/Conference"
BLIND, DESK_REJECTED, WITHDRAWN = (f"{AURORA}/-/{name}_Submission" for name in ("Blind", "Desk_Rejected", "Withdrawn"))


@pytest.fixture
def world() -> World:
    """A venue that shows neither invitation of its withdrawn and desk-rejected papers, but the papers."""
    world = build_world(papers=30, venues=[AURORA])
    for invitation in (DESK_REJECTED, WITHDRAWN):
        del world.v1.invitations[invitation]
    return world


def count(world: World, invitation: str) -> int:
    return sum(note.get("invitation") == invitation for note in world.v1.notes.values())


def refuses(request: Request) -> Fault | None:
    is_refused = request.path == "/notes" and request.query.get("invitation") == WITHDRAWN
    return Fault(forbidden("Invitation", WITHDRAWN, "(guest)").answer()) if is_refused else None


def miscounts(request: Request) -> Fault | None:
    """Reports one withdrawn paper more than it lists."""

    def alter(answer: Response) -> Response:
        body = msgspec.json.decode(answer.body)
        return replace(answer, body=msgspec.json.encode(body | {"count": body["count"] + 1}))

    is_altered = request.path == "/notes" and request.query.get("invitation") == WITHDRAWN
    return Fault(alters=alter) if is_altered else None


def test_hidden_lists_show_withdrawn_papers(workspace: Workspace, world: World, hasty: MakeClient) -> None:
    with serve_simulator(world) as service:
        (summary,) = harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True))
    counts = {held.invitation: (held.received, held.expected) for held in summary.lists}
    assert counts == {name: (count(world, name),) * 2 for name in (BLIND, DESK_REJECTED, WITHDRAWN)}
    assert count(world, WITHDRAWN) > 0
    text = standing(read_status(workspace))
    assert f" Withdrawn_Submission: {count(world, WITHDRAWN)} of {count(world, WITHDRAWN)}" in text
    assert "listed completely" in text


@pytest.mark.slow
def test_a_refused_list_is_named_and_stops_nothing(workspace: Workspace, world: World, hasty: MakeClient) -> None:
    with serve_simulator(world, faults=refuses) as service:
        assert plan_harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True))
        (summary,) = harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True))
        (again,) = harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True))
    assert again.lists == summary.lists
    assert any(WITHDRAWN in remark and "403" in remark for remark in summary.remarks)
    assert " Withdrawn_Submission: refused (403 Forbidden)" in standing(read_status(workspace))
    with serve_simulator(world) as service:
        (cured,) = harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True, refresh=True))
    assert not cured.remarks


def test_a_list_shorter_than_its_count_is_named(workspace: Workspace, world: World, hasty: MakeClient) -> None:
    with serve_simulator(world, faults=miscounts) as service:
        (summary,) = harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True))
    held = count(world, WITHDRAWN)
    assert [remark for remark in summary.remarks if WITHDRAWN in remark and str(held + 1) in remark]
    assert f" Withdrawn_Submission: {held} of {held + 1}" in standing(read_status(workspace))


def test_an_unrequested_list_is_not_complete(workspace: Workspace, world: World, hasty: MakeClient) -> None:
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True))
        with workspace.raw.transaction():
            workspace.raw.state.forget_listings(AURORA, WITHDRAWN)
        assert read_completeness(workspace, AURORA).held.is_listed is False
        harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True))
    assert read_completeness(workspace, AURORA).held.is_listed is True


VENUES = ("Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference")
CHANGED_MS = 1_900_000_000_000
Row = tuple[RawKind, str, bytes]


def harvest_twice(folder: Path, venue_id: str, *faults: str) -> tuple[set[Row], list[Request]]:
    """Harvest a venue, and again after a review and an answer to it have changed; return the rows and the requests."""
    world = build_world(papers=6, venues=[venue_id])
    with open_workspace(folder, create=True) as workspace:
        with (
            serve_simulator(world, faults=faults_by_name(*faults)) as service,
            Client(service.base_url_v1, service.base_url_v2) as client,
        ):
            harvest(workspace, client, [venue_id], request=HarvestRequest(no_files=True))
            _change(world)
            service.reindex()
            harvest(workspace, client, [venue_id], request=HarvestRequest(no_files=True))
            requests = list(service.requests)
        kinds = (RawKind.NOTE, RawKind.EDIT, RawKind.REFERENCE, RawKind.INVITATION)
        return {
            (kind, row.object_id, row.body) for kind in kinds for row in workspace.raw.versions(kind, venue_id)
        }, requests


def _change(world: World) -> None:
    """Change the rating of a public review, and post a reply in its forum."""
    review = next(
        note
        for note in (*world.v1.notes.values(), *world.v2.notes.values())
        if "everyone" in values_of(note, "readers")
        and any(name.endswith("Official_Review") for name in values_of(note, "invitation"))
    )
    edit_rating(world, str(review["id"]), "1: Strong reject", CHANGED_MS)
    post_reply(world, str(review["forum"]), "One more word.", CHANGED_MS + 1)


def _counts(request: Request) -> bool:
    return {"offset": "0", "limit": "1", "count": "true"}.items() <= request.query.items()


@pytest.fixture(params=VENUES)
def venue_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_only_counting_requests_use_an_offset(venue_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = harvest_twice(tmp_path / "whole", venue_id)
    monkeypatch.setattr(listing, "PAGE_WITH_REPLIES", 2)
    if venue_id == VENUES[1]:  # API v1 does not sort invitations, so its only page must be complete.
        monkeypatch.setattr(listing, "LARGEST_PAGE", 3)
    paged, requests = harvest_twice(tmp_path / "paged", venue_id)
    assert paged == whole
    assert any("after" in request.query for request in requests)
    assert [request for request in requests if "offset" in request.query and not _counts(request)] == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["no_offset", "sort_allowlist", "no_count"])
def test_fewer_parameters_give_the_same_records(
    fault: str, venue_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE_WITH_REPLIES", 2)
    assert harvest_twice(tmp_path / "less", venue_id, fault)[0] == harvest_twice(tmp_path / "all", venue_id)[0]


VENUE, LIST = "Borealis.cc/2024/Conference", "Borealis.cc/2024/Conference/-/Submission"
ALL = [f"n{number:04}" for number in range(2 * PAGE_WITH_REPLIES)]


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
def test_a_repeating_list_is_read_again(workspace: Workspace, repeated: int) -> None:
    profile = VenueProfile(VENUE, 2, (LIST,), "Official_Review", ("", b"{}"), ())
    with Client(transport=httpx2.MockTransport(Shifting(repeated))) as client:
        harvest_submissions(VenueSession(workspace.raw, workspace.files, client, profile, None, False, show_nothing))
    held = [note.object_id for note in workspace.raw.versions(RawKind.NOTE, VENUE)]
    assert held == ALL
    state = workspace.raw.state.listing(VENUE, LIST)
    assert (state.received, state.expected, state.complete) == (len(ALL), len(ALL), True)
