"""Malformed edits and settings: no note is affected, and the tables built from them still add up."""

from collections.abc import Callable
from copy import deepcopy

import pytest

from altered_answers import (
    VENUES,
    Change,
    Held,
    Rows,
    added,
    altering,
    first_of,
    held,
    mark_of,
    undisturbed,
    with_field,
    world,
)
from in_this_process import build_here
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.pipeline.status import read_status
from peercorpus.simulator.server.faults import Faults
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

__all__ = ["undisturbed", "world"]

MakeClient = Callable[..., Client]

EDITS: dict[str, Change] = {
    "no objects": added(7, None, "x", [], {}, True),
    "no id": lambda rows: rows[0].pop("id"),
    "id: a number": with_field("id", 7),
    "id: a path": lambda rows: rows[0].update(id=f"../../{rows[0]['id']}"),
    "note: a list": with_field("note", [1]),
    "note: another id": with_field("note", {"id": "another", "content": {"pdf": {"value": "/pdf/x.pdf"}}}),
    "content: a list": with_field("content", [1]),
    "content: a text in the note": lambda rows: rows[0].update(note={"id": 7, "content": "x"}),
    "referent: a number": with_field("referent", 7),
    "domain: a number": with_field("domain", 7),
    "tcdate: endless": with_field("tcdate", 10**30),
    "tmdate: a word": with_field("tmdate", "yesterday"),
    "invitation: a list": with_field("invitation", []),
    "readers: a text": with_field("readers", "everyone"),
}


PLACES_OF_EDITS = {"/notes/edits": "edits", "/references": "references"}


@pytest.mark.parametrize("case", EDITS)
@pytest.mark.parametrize("path", PLACES_OF_EDITS)
def test_a_faulty_edit_does_not_affect_others(
    path: str, case: str, world: World, workspace: Workspace, hasty: MakeClient, undisturbed: dict[str, Held]
) -> None:
    faults = altering(path, PLACES_OF_EDITS[path], EDITS[case], in_lists=False)
    with serve_simulator(world, faults=faults) as service:
        harvest(workspace, hasty(service), VENUES)
    for venue_id, expected in undisturbed.items():
        now = held(workspace, venue_id)
        lost = {object_id for object_id in expected if object_id not in now}
        # The first edit of each answer is replaced, under a different id or none.
        assert edits_held(workspace, venue_id) >= edits_of(expected, workspace, venue_id)
        assert lost.isdisjoint(note.object_id for note in workspace.raw.latest(RawKind.NOTE, venue_id))


def edits_held(workspace: Workspace, venue_id: str) -> int:
    """Return how many edits and references are stored."""
    return sum(1 for kind in (RawKind.EDIT, RawKind.REFERENCE) for _ in workspace.raw.versions(kind, venue_id))


def edits_of(expected: Held, workspace: Workspace, venue_id: str) -> int:
    """How many there are if nothing is wrong."""
    return sum(len(bodies) for bodies in expected.values()) - workspace.raw.count(RawKind.NOTE, venue_id)


@pytest.mark.slow
def test_a_build_with_every_faulty_edit_succeeds(
    world: World, workspace: Workspace, hasty: MakeClient, undisturbed: dict[str, Held]
) -> None:
    sent: set[str] = set()

    def every_wrong_edit(rows: Rows) -> None:
        """Besides the correct edits, one for each kind of fault."""
        for name, change in EDITS.items():
            wrong = [{**deepcopy(rows[0]), "id": f"{rows[0]['id']}{mark_of(name)}"}]
            change(wrong)
            rows += wrong
            sent.update(str(row["id"]) for row in wrong if isinstance(row, dict) and isinstance(row.get("id"), str))

    places = [altering(path, key, every_wrong_edit, in_lists=False) for path, key in PLACES_OF_EDITS.items()]
    with serve_simulator(world, faults=first_of(places)) as service:
        harvest(workspace, hasty(service), VENUES)
    now = {venue_id: held(workspace, venue_id) for venue_id in VENUES}
    assert len(sent) > 5 * len(EDITS)
    assert sent <= {object_id for bodies in now.values() for object_id in bodies}
    for venue_id, expected in undisturbed.items():
        assert {object_id: now[venue_id].get(object_id) for object_id in expected} == expected
    build_here(workspace, VENUES)
    assert read_status(workspace).holds


SETTINGS: dict[str, tuple[str, Change]] = {
    "invitations: no objects": ("/invitations", added(7, None, "x", [], {}, True)),
    "invitation: id a number": ("/invitations", lambda rows: rows.append({**rows[0], "id": 7})),
    "invitation: times": ("/invitations", lambda rows: rows[0].update(tmdate="x", duedate=[], cdate=10**30)),
    "invitation: edit a text": ("/invitations", with_field("edit", "x")),
    "invitation: reply a text": ("/invitations", with_field("reply", "x")),
    "group: members": ("/groups", with_field("members", [1, 2])),
    "group: content": ("/groups", with_field("content", [1])),
    "group: answers": ("/groups", with_field("content", {"submission_id": 7, "review_name": {"value": 7}})),
    "group: times": ("/groups", lambda rows: rows[0].update(tmdate="x", tcdate=10**30)),
    "groups: more": ("/groups", lambda rows: rows.extend([7, None, {}])),
}


def with_settings(*cases: str) -> Faults:
    """A service whose settings have these faults."""
    places = [altering(path, path[1:], change, in_lists=False) for path, change in map(SETTINGS.__getitem__, cases)]
    return first_of(places)


@pytest.mark.parametrize("case", SETTINGS)
def test_a_faulty_setting_affects_no_note(
    case: str, world: World, workspace: Workspace, hasty: MakeClient, undisturbed: dict[str, Held]
) -> None:
    with serve_simulator(world, faults=with_settings(case)) as service:
        harvest(workspace, hasty(service), VENUES, files=False)
    for venue_id, expected in undisturbed.items():
        assert held(workspace, venue_id) == expected


def settings_of(path: str) -> list[str]:
    return [case for case, (asked, _) in SETTINGS.items() if asked == path]


# One invitation and one group at a time: two faults in the same object could mask each other.
@pytest.mark.slow
@pytest.mark.parametrize(
    "cases", [*zip(settings_of("/invitations"), settings_of("/groups"), strict=True)], ids="; ".join
)
def test_a_build_with_faulty_settings_succeeds(
    cases: tuple[str, str], world: World, workspace: Workspace, hasty: MakeClient
) -> None:
    with serve_simulator(world, faults=with_settings(*cases)) as service:
        harvest(workspace, hasty(service), VENUES, files=False)
    build_here(workspace, VENUES)
    standing = read_status(workspace)
    assert standing.holds
    assert standing.unfinished == []
