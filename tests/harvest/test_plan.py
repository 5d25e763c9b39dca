"""The plan of a harvest: its estimates match the requests made afterwards."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Run, assert_refused
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.harvest.plan import PlannedStep, plan_harvest
from peercorpus.openreview import listing as listing_pages
from peercorpus.openreview.client import Client
from peercorpus.simulator.server.service import Service, ServiceBudget, serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import Workspace

AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"

MakeClient = Callable[..., Client]


def steps(workspace: Workspace, client: Client, venue_id: str, **options: int) -> dict[str, PlannedStep]:
    (plan,) = plan_harvest(workspace, client, [venue_id], HarvestRequest(**options))  # type: ignore[arg-type]
    return {step.what: step for step in plan.steps}


def kinds(service: Service) -> Counter[str]:
    """Return how many requests of each step a service received."""
    names = {"/notes": "listing", "/notes/edits": "versions", "/references": "versions"}
    others = {"/groups", "/invitations", "/notes/search"}
    return Counter(names.get(one.path, "files") for one in service.requests if one.path not in others)


@pytest.mark.slow
@pytest.mark.parametrize("venue_id", [AURORA, BOREALIS])
def test_the_planned_requests_are_the_requests_made(workspace: Workspace, hasty: MakeClient, venue_id: str) -> None:
    with serve_simulator(build_world(papers=120, venues=[venue_id])) as service:
        planned = steps(workspace, hasty(service), venue_id)
        assert planned["listing"].things == planned["files"].things == planned["versions"].things == 120
        assert planned["versions"].is_rough
        service.requests.clear()
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        asked = kinds(service)
        lists = {one.query["invitation"] for one in service.requests if one.path == "/notes"}
        # An empty list is read and counted too.
        empty = 2 * (len(lists) - 1)
        assert asked["versions"] > 0
        listing = planned["listing"]
        assert listing.fewest is not None
        assert listing.most is not None
        assert listing.fewest <= listing.requests <= listing.most
        assert listing.fewest <= asked["listing"] <= listing.most + empty
        again = steps(workspace, hasty(service), venue_id)
        assert (again["listing"].things, again["listing"].requests) == (0, 3)
        assert again["versions"].requests == 0
        service.requests.clear()
        harvest(workspace, hasty(service), [venue_id])
        assert kinds(service)["files"] == again["files"].requests
        done = steps(workspace, hasty(service), venue_id)
        assert [done[what].things for what in done] == [0, 0, 0]


@pytest.mark.slow
def test_the_planned_pages_are_the_pages_requested(workspace: Workspace, hasty: MakeClient) -> None:
    with serve_simulator(build_world(papers=1_400, venues=[BOREALIS])) as service:
        listing = steps(workspace, hasty(service), BOREALIS)["listing"]
        service.requests.clear()
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
        asked = kinds(service)["listing"]
    assert (listing.fewest, listing.requests, listing.most) == (4, 5, 8)
    # Replies of the simulator are short.
    assert asked == listing.fewest


@pytest.mark.slow
def test_long_replies_take_the_most_pages(
    workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing_pages, "PAGE_BYTES", 4_000_000)
    with serve_simulator(build_world(papers=900, venues=[BOREALIS])) as service:
        listing = steps(workspace, hasty(service), BOREALIS)["listing"]
        service.requests.clear()
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
        asked = kinds(service)["listing"]
    assert listing.fewest is not None
    assert listing.most is not None
    assert listing.fewest < asked <= listing.most


def test_a_limit_reduces_the_plan(workspace: Workspace, hasty: MakeClient, service: Service) -> None:
    planned = steps(workspace, hasty(service), BOREALIS, limit=1)
    assert [planned[what].things for what in planned] == [1, 1, 1]


@pytest.mark.slow
def test_the_plan_uses_the_announced_budget(workspace: Workspace, hasty: MakeClient) -> None:
    world = build_world(papers=420, venues=[BOREALIS])
    with serve_simulator(world, budget=ServiceBudget(limit=100, window_s=60)) as service:
        planned = steps(workspace, hasty(service), BOREALIS)
    budgets = {what: (step.is_announced, step.allowed) for what, step in planned.items()}
    assert budgets == {"listing": (True, (100, 60)), "versions": (True, (100, 60)), "files": (False, (36, 3600))}
    assert planned["files"].requests == 9


def test_a_plan_is_printed_and_leaves_nothing_behind(service: Service, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    urls = ["--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2]
    ended = run("harvest", BOREALIS, "--plan", "--workspace", folder, *urls)
    assert (ended.code, ended.err) == (0, "")
    assert "listing" in ended.out
    assert "versions  at least" in ended.out
    assert "leave out --plan" in ended.out
    assert not folder.exists()
    assert_refused(run("harvest", "Nowhere.cc/2020", "--plan", "--workspace", folder, *urls), "has no venue")
