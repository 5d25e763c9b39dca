"""One object that is not JSON never stops a venue: everything else is stored, its bytes are kept, and it is named."""

from collections.abc import Callable, Set
from dataclasses import replace

import msgspec
import pytest

from in_this_process import build_here
from peercorpus.cli.text.status import standing
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest.harvest import HarvestSummary, harvest
from peercorpus.openreview.client import Client
from peercorpus.openreview.raw_rows import split_replies
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import Reason
from peercorpus.simulator.server.damage import VALUES, Fault, unreadable
from peercorpus.simulator.server.faults import Faults
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.responses import Response
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

MakeClient = Callable[..., Client]

AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
KINDS = (RawKind.NOTE, RawKind.EDIT, RawKind.REFERENCE, RawKind.GROUP, RawKind.INVITATION)


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(papers=14, venues=[AURORA, BOREALIS])


def harming(value: bytes, object_ids: Set[str], *paths: str) -> Faults:
    """A service with some objects that are not JSON, everywhere or only on some paths."""

    def choose(request: Request) -> Fault | None:
        return unreadable(value, object_ids) if not paths or request.path in paths else None

    return choose


def ids(workspace: Workspace, venue_id: str) -> set[tuple[RawKind, str]]:
    return {(kind, kept.object_id) for kind in KINDS for kept in workspace.raw.latest(kind, venue_id)}


def take(
    workspace: Workspace, hasty: MakeClient, world: World, venue_id: str, faults: Faults | None = None
) -> HarvestSummary:
    with serve_simulator(world, faults=faults) as service:
        (summary,) = harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True, refresh=True))
    return summary


def root_and_reply(world: World, venue_id: str) -> tuple[str, str]:
    """A submission in the middle of its list, and a reply to another one."""
    notes = world.v1.notes if venue_id == AURORA else world.v2.notes
    of_venue = [note for note in notes.values() if venue_id in str(note.get("invitation") or note.get("invitations"))]
    public = [note for note in of_venue if "everyone" in str(note["readers"]) and not note.get("ddate")]
    name = "Blind_Submission" if venue_id == AURORA else "Submission"
    listed = f"{venue_id}/-/{name}"
    roots = sorted(
        str(note["id"])
        for note in public
        if listed in {note.get("invitation"), *(note.get("invitations") or [])}  # type: ignore[misc]
    )
    replies = sorted(str(note["id"]) for note in public if note["forum"] == roots[0] and note["id"] != roots[0])
    return roots[len(roots) // 2], replies[0]


@pytest.mark.fault(
    "service", "An object that is not JSON or cannot be decoded", "The harvest goes on; the summary names it", times=9
)
@pytest.mark.parametrize("venue_id", [AURORA, BOREALIS])
@pytest.mark.parametrize("name", [name for name in VALUES if name != "unmatched_brackets"])
def test_an_unreadable_note_is_kept(
    name: str, venue_id: str, workspace: Workspace, hasty: MakeClient, world: World
) -> None:
    root, reply = root_and_reply(world, venue_id)
    summary = take(workspace, hasty, world, venue_id, harming(VALUES[name], {root, reply}, "/notes"))
    raw = workspace.raw
    assert summary.is_complete
    assert set(summary.unreadable) == {root, reply}
    assert any(root in remark for remark in summary.remarks)
    assert all(VALUES[name] in kept.body for kept in raw.latest(RawKind.UNREADABLE, venue_id))
    without = ids(workspace, venue_id)
    assert not {(RawKind.NOTE, root), (RawKind.NOTE, reply)} & without
    assert not take(workspace, hasty, world, venue_id).unreadable
    whole = ids(workspace, venue_id)
    harmed = {subject for kind, subject in whole - without if kind is RawKind.NOTE}
    assert harmed == {root, reply}


def cut_off(body: bytes, object_id: bytes) -> bytes:
    return body[: body.index(b'"id":' + object_id) + 100]


def with_brackets(body: bytes, object_id: bytes) -> bytes:
    return body.replace(b'"id":' + object_id, b'"further":[{],"id":' + object_id)


def as_page(_body: bytes, _object_id: bytes) -> bytes:
    return b"<!DOCTYPE html><html><body>This request was blocked, {0, }.</body></html>"


def spoiling(spoil: Callable[[bytes, bytes], bytes], object_ids: Set[str]) -> Faults:
    """A service whose responses are corrupt from the first of some objects on."""

    def alter(answer: Response) -> Response:
        for object_id in map(msgspec.json.encode, sorted(object_ids)):
            if answer.status == 200 and b'"id":' + object_id in answer.body:
                return replace(answer, body=spoil(answer.body, object_id))
        return answer

    return lambda request: Fault(alters=alter) if request.path == "/notes" else None


@pytest.mark.slow
@pytest.mark.fault(
    "service",
    "an answer cut off, with unmatched brackets or instead of JSON a web page, wherever one note would come",
    "the harvest goes around it, keeps its bytes and names it",
    times=6,
)
@pytest.mark.parametrize("venue_id", [AURORA, BOREALIS])
@pytest.mark.parametrize("spoil", [cut_off, with_brackets, as_page])
def test_a_breaking_note_is_kept(
    spoil: Callable[[bytes, bytes], bytes], venue_id: str, workspace: Workspace, hasty: MakeClient, world: World
) -> None:
    root, reply = root_and_reply(world, venue_id)
    summary = take(workspace, hasty, world, venue_id, spoiling(spoil, {root, reply}))
    assert summary.is_complete
    assert len(summary.unreadable) == 2
    assert (set(summary.unreadable) == {root, reply}) == (spoil is cut_off)
    assert any(summary.unreadable[0] in remark for remark in summary.remarks)
    without = ids(workspace, venue_id)
    assert not take(workspace, hasty, world, venue_id).unreadable
    lost = {subject for kind, subject in ids(workspace, venue_id) - without if kind is RawKind.NOTE}
    # The replies of a submission without a readable id cannot be requested.
    assert lost >= {root, reply}
    assert spoil is not cut_off or lost == {root, reply}


@pytest.mark.slow
def test_status_names_objects_set_aside_as_not_json(workspace: Workspace, hasty: MakeClient, world: World) -> None:
    root, reply = root_and_reply(world, BOREALIS)
    take(workspace, hasty, world, BOREALIS, harming(VALUES["nan"], {root, reply}, "/notes"))
    build_here(workspace)
    aside = workspace.tables.set_aside_counts(BOREALIS, "normalise")
    assert aside[Reason.NOT_JSON] == 2
    status = read_status(workspace)
    assert status.holds
    text = standing(status)
    assert f"'{min(root, reply)}'" in text
    assert "2 in = 0 out + 2 set aside (not_json 2): agrees" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize(
    ("venue_id", "path", "kind"), [(AURORA, "/references", RawKind.REFERENCE), (BOREALIS, "/notes/edits", RawKind.EDIT)]
)
def test_an_unreadable_edit_keeps_its_forum(
    name: str, venue_id: str, path: str, kind: RawKind, workspace: Workspace, hasty: MakeClient, world: World
) -> None:
    edits = {
        str(edit["id"])
        for edit in (world.v1 if venue_id == AURORA else world.v2).edits.values()
        if venue_id in str(edit["invitation"])
    }
    summary = take(workspace, hasty, world, venue_id, harming(VALUES[name], edits, path))
    assert summary.unreadable
    assert not any(workspace.raw.latest(kind, venue_id))
    for kept in workspace.raw.latest(RawKind.UNREADABLE, venue_id):
        assert workspace.raw.find(RawKind.NOTE, kept.forum_id) is not None


def test_settings_that_are_not_json_are_kept(workspace: Workspace, hasty: MakeClient, world: World) -> None:
    invitation = f"{BOREALIS}/-/Official_Review"
    faults = harming(VALUES["nan"], {invitation, BOREALIS}, "/invitations", "/groups")
    summary = take(workspace, hasty, world, BOREALIS, faults)
    assert {invitation, BOREALIS} <= set(summary.unreadable)
    assert summary.submissions > 0


def test_an_update_with_an_unreadable_note(workspace: Workspace, hasty: MakeClient, world: World) -> None:
    root, reply = root_and_reply(world, BOREALIS)
    with serve_simulator(world, faults=harming(VALUES["too_deep"], {root, reply})) as service:
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
        (again,) = harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
    assert again.came == 0
    assert {root, reply} <= set(again.unreadable)
    assert not workspace.raw.state.gone(BOREALIS)


def test_taking_replies_out_loses_no_byte() -> None:
    note = b'{"id":"a","x":1,"x":2,"\\u00e9\xff":NaN,"details":{"replies":[{"id":"b","y":NaN}],"more":1,"more":2}}'
    submission, replies = split_replies(note)
    assert submission == b'{"id":"a","x":1,"x":2,"\\u00e9\xff":NaN,"details":{"more":1,"more":2}}'
    assert replies == [b'{"id":"b","y":NaN}']
    assert split_replies(b'{"id":"a","details":{"directReplies":[]}}') == (b'{"id":"a"}', [])
    assert split_replies(b'"no object"') == (b'"no object"', [])
