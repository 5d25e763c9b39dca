"""Withdrawn and desk-rejected papers of API v1: their lists are always requested and compared with their counts."""

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from peercorpus.cli.text.status import standing
from peercorpus.harvest.harvest import harvest
from peercorpus.harvest.plan import plan_harvest
from peercorpus.openreview.client import Client
from peercorpus.pipeline.status import read_completeness, read_status
from peercorpus.simulator.server.damage import Fault
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.responses import Response, forbidden
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import Workspace

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


def test_withdrawn_papers_are_found_even_if_their_invitation_is_hidden(
    workspace: Workspace, world: World, hasty: MakeClient
) -> None:
    with serve_simulator(world) as service:
        (summary,) = harvest(workspace, hasty(service), [AURORA], files=False)
    counts = {held.invitation: (held.received, held.expected) for held in summary.lists}
    assert counts == {name: (count(world, name),) * 2 for name in (BLIND, DESK_REJECTED, WITHDRAWN)}
    assert count(world, WITHDRAWN) > 0
    text = standing(read_status(workspace))
    assert f" Withdrawn_Submission: {count(world, WITHDRAWN)} of {count(world, WITHDRAWN)}" in text
    assert "listed completely" in text


@pytest.mark.slow
def test_a_refused_list_is_named_and_stops_nothing(workspace: Workspace, world: World, hasty: MakeClient) -> None:
    with serve_simulator(world, faults=refuses) as service:
        assert plan_harvest(workspace, hasty(service), [AURORA], files=False)
        (summary,) = harvest(workspace, hasty(service), [AURORA], files=False)
        (again,) = harvest(workspace, hasty(service), [AURORA], files=False)
    assert again.lists == summary.lists
    assert any(WITHDRAWN in remark and "403" in remark for remark in summary.remarks)
    assert " Withdrawn_Submission: refused (403 Forbidden)" in standing(read_status(workspace))
    with serve_simulator(world) as service:
        (cured,) = harvest(workspace, hasty(service), [AURORA], files=False, refresh=True)
    assert not cured.remarks


def test_a_list_shorter_than_its_count_is_named(workspace: Workspace, world: World, hasty: MakeClient) -> None:
    with serve_simulator(world, faults=miscounts) as service:
        (summary,) = harvest(workspace, hasty(service), [AURORA], files=False)
    held = count(world, WITHDRAWN)
    assert [remark for remark in summary.remarks if WITHDRAWN in remark and str(held + 1) in remark]
    assert f" Withdrawn_Submission: {held} of {held + 1}" in standing(read_status(workspace))


def test_a_workspace_with_a_list_never_requested_is_not_called_complete(
    workspace: Workspace, world: World, hasty: MakeClient
) -> None:
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [AURORA], files=False)
        with workspace.raw.transaction():
            workspace.raw.state.forget_listings(AURORA, WITHDRAWN)
        assert read_completeness(workspace, AURORA).held.is_listed is False
        harvest(workspace, hasty(service), [AURORA], files=False)
    assert read_completeness(workspace, AURORA).held.is_listed is True
