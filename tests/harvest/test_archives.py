"""Many files in one zip: each is stored correctly or requested alone, and nothing is written outside `files/`."""

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from peercorpus.harvest.harvest import HarvestSummary, harvest
from peercorpus.openreview.client import Client
from peercorpus.simulator.server.changes import hide_note, replace_pdf
from peercorpus.simulator.server.damage import CUT_OFF, DROPPED, Fault, server_error
from peercorpus.simulator.server.faults import Faults, faults_by_name
from peercorpus.simulator.server.index import values_of
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.responses import Response, forbidden, html_response, invalid
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import Json, World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

MakeClient = Callable[..., Client]
Members = dict[str, bytes]

BOREALIS = "Borealis.cc/2024/Conference"
LATER_MS = 1_900_000_000_000


@pytest.fixture
def world() -> World:
    """Papers with unreadable edits, so that every PDF is requested as the current one."""
    world = build_world(papers=12, venues=[BOREALIS])
    world.v2.edits.clear()
    return world


def papers(world: World) -> list[Json]:
    return [
        note
        for note in world.v2.notes.values()
        if note["id"] == note["forum"] and "everyone" in values_of(note, "readers") and values_of(note, "content.pdf")
    ]


def asked_alone(service: Service) -> list[str]:
    return [one.query["id"] for one in service.requests if one.path == "/pdf"]


def assert_all_right(workspace: Workspace, world: World) -> None:
    """Assert that every paper's file is the one it names, and that nothing else was written."""
    stored = {one.path: one for one in workspace.raw.state.files(BOREALIS)}
    assert set(stored) == {values_of(note, "content.pdf")[0] for note in papers(world)}
    for path, one in stored.items():
        assert one.problem is None
        assert workspace.files.read(one.sha256 or "") == world.v2.files[path]()
    files = {path for path in workspace.folder.parent.rglob("*") if path.is_file()}
    kept = {workspace.files.path(one.sha256 or "") for one in stored.values()}
    beside = {"raw.db", "raw.db-wal", "raw.db-shm", "workspace.lock"}
    assert {path for path in files - kept if path.parent != workspace.folder or path.name not in beside} == set()


def in_zips(damage: Callable[[Members], Members | bytes | Response]) -> Faults:
    """A service whose zips are damaged."""

    def alters(answer: Response) -> Response:
        if answer.content_type != "application/zip":
            return answer
        with ZipFile(io.BytesIO(answer.body)) as archive:
            damaged = damage({name: archive.read(name) for name in archive.namelist()})
        if isinstance(damaged, Response):
            return damaged
        return replace(answer, body=damaged if isinstance(damaged, bytes) else packed(damaged))

    return lambda request: Fault(alters=alters) if "," in request.query.get("ids", "") else None


def packed(members: Mapping[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with ZipFile(archive, "w", ZIP_DEFLATED) as written:
        for name, content in members.items():
            written.writestr(name, content)
    return archive.getvalue()


def renamed(members: Members, name: Callable[[str], str]) -> Members:
    return {name(member): content for member, content in members.items()}


def with_a_page(members: Members) -> Members:
    """The zip with an HTML page in place of its first file."""
    first, *_ = members
    return {**members, first: html_response("Error | OpenReview").body}


def rotated(members: Members) -> Members:
    """Every file under another one's name, intact."""
    first, *others = members.values()
    return dict(zip(members, [*others, first], strict=True))


def twice(members: Members) -> bytes:
    """Two members of the same name, with different contents."""
    archive = io.BytesIO(packed(members))
    first, second, *_ = members
    with ZipFile(archive, "a") as written:
        written.writestr(f"other/{first}", members[second])
    return archive.getvalue()


def halved(members: Members) -> bytes:
    whole = packed(members)
    return whole[: len(whole) // 2]


def scratched(members: Members) -> bytes:
    """The zip with some bytes of the first member's content changed."""
    whole = bytearray(packed(members))
    whole[200:240] = bytes(40)
    return bytes(whole)


def locked(members: Members) -> bytes:
    """The zip whose members are marked as encrypted."""
    whole = bytearray(packed(members))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = whole.find(mark)
        while start >= 0:
            whole[start + place] |= 1
            start = whole.find(mark, start + 4)
    return bytes(whole)


def unknown_packing(members: Members) -> bytes:
    """The zip whose members use an unknown compression method."""
    whole = bytearray(packed(members))
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = whole.find(mark)
        while start >= 0:
            whole[start + place] = 77
            start = whole.find(mark, start + 4)
    return bytes(whole)


def single(members: Members) -> Response:
    return Response(next(iter(members.values())), content_type="application/pdf")


def understated(members: Members) -> bytes:
    """The zip that declares its members smaller than they are."""
    whole = bytearray(packed(members))
    start = whole.find(b"PK\x01\x02")
    while start >= 0:
        whole[start + 24 : start + 28] = (100).to_bytes(4, "little")
        start = whole.find(b"PK\x01\x02", start + 4)
    return bytes(whole)


COMPARED = 1
"""One file of a zip is also requested alone and must be the same."""

# How many files are then requested alone; None: all.
DAMAGES: dict[str, tuple[Callable[[Members], Members | bytes | Response], int | None]] = {
    "without its first": (lambda members: dict(list(members.items())[1:]), 1),
    "without any": (lambda _: {}, None),
    "with a page": (with_a_page, 1),
    "with half a PDF": (lambda members: {n: c[: len(c) // 2] for n, c in members.items()}, None),
    "with names no paper has": (lambda members: renamed(members, lambda name: f"x{name}"), None),
    "with names of other numbers": (lambda members: renamed(members, lambda name: f"9{name}"), None),
    "with names in capitals": (lambda members: renamed(members, str.upper), None),
    "with paths": (lambda members: renamed(members, lambda name: f"../../{name}"), 0),
    "with paths from the root": (lambda members: renamed(members, lambda name: f"/tmp/{name}"), 0),
    "with a folder for each": (lambda members: {**members, "a/": b"", "b/c.txt": b"x"}, 0),
    "with a name twice": (twice, 1),
    "cut in half": (halved, None),
    "empty": (lambda _: b"", None),
    "a page": (lambda _: html_response("Error | OpenReview"), None),
    "a single PDF": (single, None),
    "scratched": (scratched, 1),
    "locked": (locked, None),
    "packed strangely": (unknown_packing, None),
    "understated": (understated, None),
}


def assert_no_remark_on_files(summary: HarvestSummary) -> None:
    """The simulated venue shows no edits, which the only remark states."""
    assert [remark for remark in summary.remarks if "an empty list of edits" not in remark] == []


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_files_missing_from_a_zip_are_requested_one_by_one(
    damage: str, world: World, workspace: Workspace, hasty: MakeClient
) -> None:
    change, alone = DAMAGES[damage]
    with serve_simulator(world, faults=in_zips(change)) as service:
        summary = harvest(workspace, hasty(service), [BOREALIS])[0]
        assert len(asked_alone(service)) == (len(papers(world)) if alone is None else alone + COMPARED)
    assert_no_remark_on_files(summary)
    assert_all_right(workspace, world)


def test_a_zip_with_wrong_file_names_is_detected(world: World, workspace: Workspace, hasty: MakeClient) -> None:
    with serve_simulator(world, faults=in_zips(rotated)) as service:
        harvest(workspace, hasty(service), [BOREALIS])
        assert len(asked_alone(service)) == len(papers(world)) + COMPARED
    assert_all_right(workspace, world)


REFUSALS: dict[str, Fault] = {
    "400": Fault(invalid("ids", "x", "is not a parameter").answer()),
    "403": Fault(forbidden("Note", "x", "Guest").answer()),
    "500": server_error(),
    "dropped": DROPPED,
    "cut off": CUT_OFF,
    "ignores ids": Fault(asks=lambda query: {**query, "ids": query["ids"].partition(",")[0]}),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_without_zips_files_are_requested_one_by_one(
    refusal: str, world: World, workspace: Workspace, hasty: MakeClient
) -> None:
    def choose(request: Request) -> Fault | None:
        return REFUSALS[refusal] if "," in request.query.get("ids", "") else None

    with serve_simulator(world, faults=choose) as service:
        harvest(workspace, hasty(service), [BOREALIS])
        assert len(asked_alone(service)) == len(papers(world))
    assert_all_right(workspace, world)


def test_papers_that_share_a_number_are_requested_one_by_one(
    world: World, workspace: Workspace, hasty: MakeClient
) -> None:
    first, second = papers(world)[:2]
    world.v2.notes[str(second["id"])] = {**second, "number": first["number"]}
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [BOREALIS])
        alone = asked_alone(service)
        assert set(alone) >= {first["id"], second["id"]}
        assert len(alone) == 2 + COMPARED
    assert_all_right(workspace, world)


@pytest.mark.parametrize("number", [None, "seven", -1, 10**30, 1.5])
def test_a_paper_without_a_number_is_requested_separately(
    world: World, workspace: Workspace, hasty: MakeClient, number: object
) -> None:
    paper = papers(world)[0]
    world.v2.notes[str(paper["id"])] = {**paper, "number": number}
    with serve_simulator(world) as service:
        summary = harvest(workspace, hasty(service), [BOREALIS])[0]
    assert_no_remark_on_files(summary)
    assert_all_right(workspace, world)


def harvest_twice(
    world: World, workspace: Workspace, service: Service, hasty: MakeClient, change: Callable[[str], object]
) -> tuple[list[str], HarvestSummary]:
    """List the venue; change two papers; fetch the files as if long afterwards."""
    harvest(workspace, hasty(service), [BOREALIS], files=False)
    changed = [str(note["id"]) for note in papers(world)[:2]]
    workspace.raw.state.sight([str(note["id"]) for note in papers(world)], 1)
    for paper_id in changed:
        change(paper_id)
    service.reindex()
    # With a limit it does not request changes.
    return changed, harvest(workspace, hasty(service), [BOREALIS], limit=99)[0]


@pytest.mark.slow
@pytest.mark.parametrize("faults", [None, faults_by_name("zip_without_member")])
def test_a_pdf_replaced_since_the_listing_is_not_mistaken_for_the_listed_one(
    world: World, workspace: Workspace, hasty: MakeClient, faults: Faults | None
) -> None:
    before = {str(note["id"]): values_of(note, "content.pdf")[0] for note in papers(world)}
    with serve_simulator(world, faults=faults) as service:
        changed, _ = harvest_twice(
            world, workspace, service, hasty, lambda note_id: replace_pdf(world, note_id, LATER_MS)
        )
        for one in workspace.raw.state.files(BOREALIS):
            assert (one.sha256 is None) == (one.edit_id in changed and one.path == before[one.forum_id])
            assert one.sha256 is None or workspace.files.read(one.sha256) == world.v2.files[one.path]()
        harvest(workspace, hasty(service), [BOREALIS])
    now = {one.path: one for one in workspace.raw.state.files(BOREALIS)}
    for note in papers(world):
        assert workspace.files.read(now[values_of(note, "content.pdf")[0]].sha256 or "")
    assert {one.forum_id for one in now.values() if one.problem} == set(changed)


def test_a_paper_hidden_since_the_listing_does_not_affect_the_others(
    world: World, workspace: Workspace, hasty: MakeClient
) -> None:
    with serve_simulator(world) as service:
        hidden, summary = harvest_twice(world, workspace, service, hasty, lambda note_id: hide_note(world, note_id))
        assert len(asked_alone(service)) == COMPARED
    stored = workspace.raw.state.files(BOREALIS)
    assert {one.forum_id for one in stored if one.problem} == set(hidden)
    assert summary.files == len(stored) - 2
    assert workspace.raw.count(RawKind.NOTE, BOREALIS) > 0
