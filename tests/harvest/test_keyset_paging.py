"""Every list is paged by the last id received: no `offset`, the same rows, whatever else the service refuses."""

from pathlib import Path

import pytest

from peercorpus.harvest.harvest import harvest
from peercorpus.openreview import listing
from peercorpus.openreview.client import Client
from peercorpus.simulator.server.changes import edit_rating, post_reply
from peercorpus.simulator.server.faults import faults_by_name
from peercorpus.simulator.server.index import values_of
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import open_workspace

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
            harvest(workspace, client, [venue_id], files=False)
            _change(world)
            service.reindex()
            harvest(workspace, client, [venue_id], files=False)
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
def test_a_service_with_fewer_parameters_gives_the_same_records(
    fault: str, venue_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE_WITH_REPLIES", 2)
    assert harvest_twice(tmp_path / "less", venue_id, fault)[0] == harvest_twice(tmp_path / "all", venue_id)[0]
