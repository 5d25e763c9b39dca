"""A service whose responses differ from its world, and what is stored of a venue nevertheless."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.simulator.server.damage import Fault
from peercorpus.simulator.server.faults import Faults
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.responses import Response
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace

Row = dict[str, Any]
Rows = list[Any]
Change = Callable[[Rows], object]

AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
VENUES = [AURORA, BOREALIS]


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(papers=6, venues=VENUES)


def altering(path: str, key: str, change: Change, *, in_lists: bool = True) -> Faults:
    """A service whose responses contain other objects than its world.

    Args:
        path: Path of the request.
        key: The name of the list in the response.
        change: Changes the list.
        in_lists: Only in lists of submissions with their replies.
    """

    def alters(answer: Response) -> Response:
        body = json.loads(answer.body)
        if answer.status == 200 and len(body[key]) > in_lists:
            change(body[key])
        return replace(answer, body=json.dumps(body, ensure_ascii=False).encode())

    def choose(request: Request) -> Fault | None:
        is_one = request.path == path and (not in_lists or "details" in request.query)
        return Fault(alters=alters) if is_one else None

    return choose


def first_of(several: Sequence[Faults]) -> Faults:
    """A service that applies the first of these that matches a request."""
    return lambda request: next(filter(None, (faults(request) for faults in several)), None)


def with_field(name: str, value: object) -> Change:
    """Each submission with another value in one of its own fields."""

    def change(rows: Rows) -> None:
        rows[0][name] = value

    return change


def added(*items: object) -> Change:
    """More items before and after the others."""

    def change(rows: Rows) -> None:
        rows[:0] = items
        rows.extend(items)

    return change


def mark_of(name: str) -> str:
    """Return a suffix that makes the ids of a case unique."""
    return hashlib.sha256(name.encode()).hexdigest()[:8]


Held = dict[str, list[tuple[str, bytes]]]


def held(workspace: Workspace, venue_id: str) -> Held:
    """Return forum and text of every version of every note, edit and reference, by id."""
    found: Held = {}
    for kind in (RawKind.NOTE, RawKind.EDIT, RawKind.REFERENCE):
        for one in workspace.raw.versions(kind, venue_id):
            found.setdefault(one.object_id, []).append((one.forum_id, one.body))
    return found


@pytest.fixture(scope="module")
def undisturbed(world: World, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Held]:
    """What is stored of each venue if nothing is wrong."""
    folder = tmp_path_factory.mktemp("undisturbed") / "corpus"
    with (
        serve_simulator(world) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
        open_workspace(folder, create=True) as workspace,
    ):
        harvest(workspace, client, VENUES, request=HarvestRequest(no_files=True))
        return {venue_id: held(workspace, venue_id) for venue_id in VENUES}
