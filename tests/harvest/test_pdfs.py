"""Many files in one zip: each is stored correctly or requested alone, and nothing is written outside `files/`."""

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import repeat
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import httpx2
import msgspec
import pytest

from naming import Naming
from peercorpus.errors import BusyError
from peercorpus.execution.progress import show_nothing
from peercorpus.execution.requests import EVERYTHING, HarvestRequest
from peercorpus.harvest import pdfs
from peercorpus.harvest.edit_history import harvest_history
from peercorpus.harvest.harvest import HarvestSummary, harvest
from peercorpus.harvest.pdf_list import CURRENT, PdfRequest
from peercorpus.harvest.pdfs import LatestEdits, harvest_pdfs
from peercorpus.harvest.session import VenueSession, open_session
from peercorpus.openreview.client import Client
from peercorpus.openreview.listing import fetch_edits, object_id
from peercorpus.openreview.objects import now_ms, venue_of_edit
from peercorpus.openreview.venue_discovery import VenueProfile
from peercorpus.simulator.server.changes import hide_note, replace_pdf
from peercorpus.simulator.server.damage import CUT_OFF, DROPPED, Fault, server_error
from peercorpus.simulator.server.faults import Faults, faults_by_name
from peercorpus.simulator.server.index import values_of
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.responses import Response, forbidden, html_response, invalid
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import Json, World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.harvest_state import StoredFile
from peercorpus.workspace.raw_store import RawKind, RawObject
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
def test_files_missing_in_zips_are_requested(
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


def test_papers_of_one_number_are_requested(world: World, workspace: Workspace, hasty: MakeClient) -> None:
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
    harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
    changed = [str(note["id"]) for note in papers(world)[:2]]
    workspace.raw.state.sight([str(note["id"]) for note in papers(world)], 1)
    for paper_id in changed:
        change(paper_id)
    service.reindex()
    # With a limit it does not request changes.
    return changed, harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(limit=99))[0]


@pytest.mark.slow
@pytest.mark.parametrize("faults", [None, faults_by_name("zip_without_member")])
def test_a_pdf_replaced_meanwhile_is_recognised(
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


def test_a_hidden_paper_affects_no_other(world: World, workspace: Workspace, hasty: MakeClient) -> None:
    with serve_simulator(world) as service:
        hidden, summary = harvest_twice(world, workspace, service, hasty, lambda note_id: hide_note(world, note_id))
        assert len(asked_alone(service)) == COMPARED
    stored = workspace.raw.state.files(BOREALIS)
    assert {one.forum_id for one in stored if one.problem} == set(hidden)
    assert summary.files == len(stored) - 2
    assert workspace.raw.count(RawKind.NOTE, BOREALIS) > 0


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


def test_another_file_replaces_no_first(listed: Workspace) -> None:
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


def test_a_truncated_pdf_is_requested_again(listed: Workspace) -> None:
    cut = fetched(listed, FIRST[:20], FIRST[:15])
    assert (cut.sha256, cut.problem) == (None, "cut off")
    found = fetched(listed, FIRST)
    assert (found.sha256, found.problem) == (digest(FIRST), None), "a PDF that once came cut off is never had"


HOURS_MS = 4 * 3_600_000


@contextmanager
def listed_long_ago(
    world: World, workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch, *faults: str
) -> Iterator[Service]:
    """A service whose edits were all listed four hours ago, before any file was requested."""
    with serve_simulator(world, faults=faults_by_name(*faults)) as service:
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
        monkeypatch.setattr(pdfs, "now_ms", lambda: now_ms() + HOURS_MS)
        service.requests.clear()
        yield service


def _wanted(workspace: Workspace, client: Client) -> list[PdfRequest]:
    session = open_session(workspace, client, BOREALIS, EVERYTHING, show_nothing)
    return pdfs.missing_files(session)


def fetch_files(workspace: Workspace, client: Client) -> None:
    session = open_session(workspace, client, BOREALIS, EVERYTHING, show_nothing)
    harvest_history(session)
    harvest_pdfs(session)


def looks(service: Service) -> Counter[str]:
    """Return how often edits were requested, by the parameter used."""
    queries = [one.query for one in service.requests if one.path == "/notes/edits"]
    return Counter("venue" if "domain" in query else "note" for query in queries)


@pytest.mark.slow
@pytest.mark.parametrize("papers", [30, 60])
def test_lookups_do_not_grow_with_files(
    papers: int, workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = build_world(papers=papers, venues=[BOREALIS])
    with listed_long_ago(world, workspace, hasty, monkeypatch) as service:
        fetch_files(workspace, hasty(service))
        files = [one for one in service.requests if one.path == "/notes/edits/attachment"]
        assert len(files) >= papers // 10
        assert looks(service) == {"venue": 1}
    assert {file.problem for file in workspace.raw.state.files(BOREALIS)} == {None}


def test_without_a_list_each_is_checked(
    workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = build_world(papers=30, venues=[BOREALIS])
    with listed_long_ago(world, workspace, hasty, monkeypatch, "no_domain") as service:
        fetch_files(workspace, hasty(service))
        files = [one for one in service.requests if one.path == "/notes/edits/attachment"]
        assert looks(service) == {"note": len(files)}


def test_a_changed_edit_stores_no_file(
    workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = build_world(papers=30, venues=[BOREALIS])
    with listed_long_ago(world, workspace, hasty, monkeypatch) as service:
        wanted = _wanted(workspace, hasty(service))
        paths = Counter(one.path for one in wanted)
        # If the paper names the same file, that file is the edit's too.
        first = next(one.key for one in wanted if one.route != CURRENT and paths[one.path] == 1)
        edit: dict[str, Any] = world.v2.edits[first[0]]
        other = next(path for path in world.v2.files if path != first[1])
        content = {**edit["note"]["content"], "pdf": {"value": other}}
        world.v2.edits[first[0]] = {**edit, "tmdate": now_ms(), "note": {**edit["note"], "content": content}}
        service.reindex()
        fetch_files(workspace, hasty(service))
        assert looks(service) == {"venue": 1}
    found = {(file.edit_id, file.path): file for file in workspace.raw.state.files(BOREALIS)}
    assert (found[first].sha256, found[first].problem) == (None, Naming("replaced"))
    assert {file.problem for key, file in found.items() if key != first} == {None}


def _first_of_an_edit(workspace: Workspace, client: Client) -> tuple[str, str]:
    """Return the key of a file that only one edit names."""
    wanted = _wanted(workspace, client)
    paths = Counter(one.path for one in wanted)
    return next(one.key for one in wanted if one.route != CURRENT and paths[one.path] == 1)


def test_a_removed_edit_stores_no_file(
    workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no longer in any list; as the list has all edits of the venue, it was hidden or deleted."""
    world = build_world(papers=30, venues=[BOREALIS])
    with listed_long_ago(world, workspace, hasty, monkeypatch) as service:
        first = _first_of_an_edit(workspace, hasty(service))
        gone = world.v2.edits[first[0]]
        list_edits = fetch_edits
        monkeypatch.setattr(
            pdfs,
            "fetch_edits",
            lambda client, note_id: (one for one in list_edits(client, note_id) if object_id(one[1]) != gone["id"]),
        )
        fetch_latest = pdfs.fetch_latest
        monkeypatch.setattr(pdfs, "fetch_latest", lambda session: without(fetch_latest(session), first[0]))
        fetch_files(workspace, hasty(service))
        assert looks(service) == {"venue": 1, "note": 1}
    found = {(file.edit_id, file.path): file for file in workspace.raw.state.files(BOREALIS)}
    assert (found[first].sha256, found[first].problem) == (None, Naming("replaced"))


def without(latest: LatestEdits, edit_id: str) -> LatestEdits:
    return replace(latest, paths={one: path for one, path in latest.paths.items() if one != edit_id})


def test_an_edit_of_another_domain_is_requested_separately(
    workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of the venue never contains it, so its absence from the latest edits means nothing."""
    world = build_world(papers=30, venues=[BOREALIS])
    with listed_long_ago(world, workspace, hasty, monkeypatch) as service:
        first = _first_of_an_edit(workspace, hasty(service))
        own = venue_of_edit
        monkeypatch.setattr(
            pdfs, "venue_of_edit", lambda body: "Elsewhere.cc" if first[0].encode() in body else own(body)
        )
        fetch_latest = pdfs.fetch_latest
        # As if the venue has more edits than the list shows, all modified later.
        monkeypatch.setattr(
            pdfs,
            "fetch_latest",
            lambda session: replace(without(fetch_latest(session), first[0]), is_whole=False, since_ms=1),
        )
        fetch_files(workspace, hasty(service))
        assert looks(service) == {"venue": 1, "note": 1}
    assert {file.problem for file in workspace.raw.state.files(BOREALIS)} == {None}


def test_without_a_list_files_are_fetched(
    workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = build_world(papers=30, venues=[BOREALIS])

    def refuse(*_: object, **__: object) -> None:
        raise BusyError("OpenReview answered 503")

    with listed_long_ago(world, workspace, hasty, monkeypatch) as service:
        monkeypatch.setattr(pdfs, "fetch_venue_edits", refuse)
        fetch_files(workspace, hasty(service))
        files = [one for one in service.requests if one.path == "/notes/edits/attachment"]
        assert looks(service) == {"note": len(files)}
    assert {file.problem for file in workspace.raw.state.files(BOREALIS)} == {None}
