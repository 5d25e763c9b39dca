"""Discovery: a venue's API, the names of its lists, and the error if it is not found."""

import pytest

from peercorpus.errors import VenueNotFoundError
from peercorpus.openreview.client import Client
from peercorpus.openreview.venue_discovery import discover
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world

AURORA, BOREALIS, JLE = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference", "JLE"
WITHDRAWN, DESK_REJECTED = f"{AURORA}/-/Withdrawn_Submission", f"{AURORA}/-/Desk_Rejected_Submission"


def test_venue_is_found_on_its_api() -> None:
    with serve_simulator(build_world(papers=5)) as service, Client(service.base_url_v1, service.base_url_v2) as client:
        old, journal = discover(client, AURORA), discover(client, JLE)
    assert (old.api, old.lists) == (1, (f"{AURORA}/-/Blind_Submission", WITHDRAWN, DESK_REJECTED))
    assert (journal.api, journal.lists, journal.review_name) == (2, ("JLE/-/Submission",), "Review")
    assert journal.has_review_form


def test_catalogue_lists_a_hidden_venue() -> None:
    world = build_world(papers=5, venues=[AURORA])
    for name in ("Blind_Submission", "Submission"):
        del world.v1.invitations[f"{AURORA}/-/{name}"]
    with serve_simulator(world) as service, Client(service.base_url_v1, service.base_url_v2) as client:
        assert discover(client, AURORA, ("known",)).lists == ("known", WITHDRAWN, DESK_REJECTED)
        assert f"{AURORA}/-/Blind_Submission" in discover(client, AURORA).lists


def test_closed_lists_are_always_requested() -> None:
    world = build_world(papers=5, venues=[AURORA])
    for invitation in (WITHDRAWN, DESK_REJECTED):
        del world.v1.invitations[invitation]
    with serve_simulator(world) as service, Client(service.base_url_v1, service.base_url_v2) as client:
        assert discover(client, AURORA).lists == (f"{AURORA}/-/Blind_Submission", WITHDRAWN, DESK_REJECTED)
        assert discover(client, AURORA, (WITHDRAWN, "known")).lists == (
            f"{AURORA}/-/Blind_Submission",
            WITHDRAWN,
            DESK_REJECTED,
        )


@pytest.mark.parametrize("is_shown", [True, False])
@pytest.mark.parametrize("is_stated", [True, False])
def test_catalogue_lists_unnamed_api_2_venue(is_shown: bool, is_stated: bool) -> None:
    world = build_world(papers=5, venues=[BOREALIS])
    usual = f"{BOREALIS}/-/Submission"
    if not is_stated:
        for name in ("submission_id", "submission_name"):
            del world.v2.groups[BOREALIS]["content"][name]  # type: ignore[attr-defined]
    if not is_shown:
        del world.v2.invitations[usual]
    with serve_simulator(world) as service, Client(service.base_url_v1, service.base_url_v2) as client:
        known = discover(client, BOREALIS, ("known",)).lists
        assert known == ((usual,) if is_shown or is_stated else ("known",))
        assert discover(client, BOREALIS).lists == (usual,)


@pytest.mark.parametrize(
    ("venue_id", "suggestion"),
    [
        ("aurora.cc/2020/conference", "'Aurora.cc/2020/Conference'?"),
        ("Aurora.cc/2021/Conference", "'Aurora.cc/2020/Conference'?"),
        ("Nowhere", "'ICLR.cc/2024/Conference'"),
    ],
)
def test_unknown_venue_gets_a_suggestion(venue_id: str, suggestion: str) -> None:
    with (
        serve_simulator(build_world(papers=1)) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
        pytest.raises(VenueNotFoundError) as caught,
    ):
        discover(client, venue_id)
    assert f"'{venue_id}'" in str(caught.value)
    assert suggestion in str(caught.value)
