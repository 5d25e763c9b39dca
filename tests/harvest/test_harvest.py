"""A harvest of invented venues stores everything that the public may see, once, as received."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from peercorpus.errors import EmptyVenueError, SignInError, SourceError, VenueNotFoundError, VenuesFileError
from peercorpus.execution.progress import Progress
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.simulator.server.damage import CUT_OFF, DROPPED, TRUNCATED, Fault, expired, rate_limited
from peercorpus.simulator.server.faults import on_path, together
from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.server.responses import forbidden
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import Json, World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace, open_workspace

AURORA, BOREALIS, EMPTY = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference", "Empty.cc/2024/Conference"

MakeClient = Callable[..., Client]


def public(things: dict[str, Json]) -> set[str]:
    return {thing_id for thing_id, thing in things.items() if _is_public(thing)}


def _is_public(thing: Json) -> bool:
    readers = thing["readers"]
    return isinstance(readers, list) and "everyone" in readers and not thing.get("ddate")


def held(workspace: Workspace, kind: RawKind, venue_ids: list[str]) -> Counter[str]:
    return Counter(found.object_id for venue in venue_ids for found in workspace.raw.versions(kind, venue))


@pytest.mark.slow
@pytest.mark.parametrize("sign_in_required", [False, True])
def test_everything_public_is_stored_exactly_once(
    invented: World, workspace: Workspace, hasty: MakeClient, venue_ids: list[str], sign_in_required: bool
) -> None:
    token = write_token(invented) if sign_in_required else None
    with serve_simulator(invented, sign_in_required=sign_in_required) as service, hasty(service, token) as client:
        summaries = harvest(workspace, client, venue_ids)
        assert sum(summary.requests for summary in summaries) == len(service.requests) == client.requests
    v1, v2 = invented.v1, invented.v2
    assert held(workspace, RawKind.NOTE, venue_ids) == Counter([*public(v1.notes), *public(v2.notes)])
    assert held(workspace, RawKind.REFERENCE, venue_ids) == Counter(public(v1.edits))
    assert held(workspace, RawKind.EDIT, venue_ids) == Counter(public(v2.edits))
    assert workspace.raw.venues() == sorted(venue_ids)
    for summary in summaries:
        assert summary.is_complete
        assert summary.remarks == ()
        assert summary.submissions == summary.expected
        assert summary.submissions + summary.replies == workspace.raw.count(RawKind.NOTE, summary.venue_id)
        assert (sum(summary.files_not_had.values()), summary.files) == (
            0,
            len(workspace.raw.state.files(summary.venue_id)),
        )


def test_notes_are_stored_as_the_service_sends_them(
    invented: World, service: Service, workspace: Workspace, hasty: MakeClient
) -> None:
    harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
    for found in workspace.raw.latest(RawKind.NOTE, BOREALIS):
        body = msgspec.json.decode(found.body)
        assert "replies" not in body.pop("details", {})
        original = invented.v2.notes[found.object_id]
        content = original["content"]
        assert isinstance(content, dict)
        readable = {name: value for name, value in content.items() if _is_public({"readers": ["everyone"], **value})}
        assert body == {**original, "content": readable}


def test_every_file_is_the_one_of_its_edit(
    invented: World, service: Service, workspace: Workspace, hasty: MakeClient, venue_ids: list[str]
) -> None:
    harvest(workspace, hasty(service), venue_ids)
    stored = [one for venue in venue_ids for one in workspace.raw.state.files(venue)]
    assert {one.problem for one in stored} == {None}
    for one in stored:
        content = workspace.files.read(one.sha256 or "")
        holdings = invented.v1 if one.path in invented.v1.files else invented.v2
        assert content == holdings.files[one.path]()
        assert len(content) == one.size_bytes
    asked = [request for request in service.requests if request.path.endswith(("pdf", "attachment"))]
    files = [file for request in asked for file in request.query.get("ids", request.query.get("id", "")).split(",")]
    # One file of each venue's archive is also requested alone, to verify that names in it identify the files' papers.
    archives = {request.query["ids"].split(",")[0] for request in asked if "ids" in request.query}
    assert len(files) == len({one.path for one in stored}) + len(archives)
    assert len(asked) < len(files)


def test_a_second_harvest_requests_nothing_that_is_stored(
    service: Service, workspace: Workspace, hasty: MakeClient, venue_ids: list[str], digests: Callable[..., object]
) -> None:
    harvest(workspace, hasty(service), venue_ids)
    before = digests(workspace)
    service.requests.clear()
    summaries = harvest(workspace, hasty(service), venue_ids)
    assert {request.path for request in service.requests} == {"/groups", "/invitations", "/notes"}
    notes = [request.query for request in service.requests if request.path == "/notes"]
    assert all("mintmdate" in query or query["limit"] == "1" for query in notes)
    assert len(notes) == 3 * len(venue_ids)
    assert digests(workspace) == before
    assert all(summary.remarks == () for summary in summaries)


def test_a_refresh_notices_what_is_no_longer_shown(workspace: Workspace, hasty: MakeClient) -> None:
    world = build_world(papers=4, venues=[BOREALIS])
    replies = [
        note_id for note_id, note in world.v2.notes.items() if note["replyto"] and note_id in public(world.v2.notes)
    ]
    roots = [note_id for note_id, note in world.v2.notes.items() if note_id == note["forum"]]
    hidden_paper = roots[-1]
    hidden_reply = next(note_id for note_id in replies if world.v2.notes[note_id]["forum"] != hidden_paper)
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
        assert workspace.raw.state.gone(BOREALIS) == set()
        before = workspace.raw.digest(RawKind.NOTE, BOREALIS)
        for note_id in (hidden_reply, hidden_paper):
            world.v2.notes[note_id] = {**world.v2.notes[note_id], "readers": [BOREALIS]}
        service.reindex()
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True, refresh=True))
        under = {note_id for note_id in replies if world.v2.notes[note_id]["forum"] == hidden_paper}
        assert workspace.raw.state.gone(BOREALIS) - under == {hidden_reply, hidden_paper}
        assert workspace.raw.digest(RawKind.NOTE, BOREALIS) != before
        assert workspace.raw.find(RawKind.NOTE, hidden_reply) is not None


def test_a_refresh_fetches_changes_and_keeps_earlier_versions(workspace: Workspace, hasty: MakeClient) -> None:
    world = build_world(papers=2, venues=[BOREALIS])
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [BOREALIS])
        reply_id = next(note_id for note_id, note in world.v2.notes.items() if note["replyto"] and _is_public(note))
        note = world.v2.notes[reply_id]
        assert isinstance(note["tmdate"], int)
        world.v2.notes[reply_id] = {**note, "tmdate": note["tmdate"] + 1}
        service.reindex()
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(limit=9))
        assert held(workspace, RawKind.NOTE, [BOREALIS])[reply_id] == 1
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(refresh=True))
    assert held(workspace, RawKind.NOTE, [BOREALIS])[reply_id] == 2
    found = workspace.raw.find(RawKind.NOTE, reply_id)
    assert found is not None
    assert found.modified_ms == note["tmdate"] + 1


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2, 3, 99])
def test_a_limited_harvest_can_be_continued(
    service: Service,
    workspace: Workspace,
    hasty: MakeClient,
    venue_ids: list[str],
    digests: Callable[..., object],
    tmp_path: Path,
    limit: int,
) -> None:
    few = harvest(workspace, hasty(service), venue_ids, request=HarvestRequest(limit=limit))
    assert all(summary.submissions <= limit for summary in few)
    harvest(workspace, hasty(service), venue_ids)
    with open_workspace(tmp_path / "whole", create=True) as whole:
        harvest(whole, hasty(service), venue_ids)
        assert digests(workspace) == digests(whole)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [DROPPED, CUT_OFF, TRUNCATED, rate_limited(retry_after_s=0), rate_limited()])
@pytest.mark.parametrize("path", ["/notes", "/references", "/pdf", "/groups"])
def test_temporary_faults_change_nothing(
    invented: World, workspace: Workspace, hasty: MakeClient, path: str, fault: Fault
) -> None:
    if path == "/pdf" and fault is TRUNCATED:
        pytest.skip("a PDF whose length is as announced cannot be known to be cut")
    with serve_simulator(invented, faults=on_path(path, fault, api="v1")) as service:
        harvest(workspace, hasty(service), [AURORA])
    paper_ids = {note_id for note_id in public(invented.v1.notes) if note_id == invented.v1.notes[note_id]["forum"]}
    assert set(held(workspace, RawKind.NOTE, [AURORA])) == public(invented.v1.notes)
    assert {stored.forum_id for stored in workspace.raw.state.files(AURORA)} <= paper_ids


def test_an_unavailable_file_is_recorded_with_the_reason(
    invented: World, workspace: Workspace, hasty: MakeClient
) -> None:
    refused = Fault(forbidden("File", "of a paper", "Guest").answer())
    with serve_simulator(
        invented, faults=together(on_path("/attachment", refused), on_path("/pdf", refused))
    ) as service:
        assert harvest(workspace, hasty(service), [BOREALIS])[0].files_not_had == {"403 Forbidden": 1}
        assert [one.problem for one in workspace.raw.state.files(BOREALIS) if one.problem] == ["403 Forbidden"]
        assert harvest(workspace, hasty(service), [BOREALIS])[0].files_not_had == {"403 Forbidden": 1}
        assert (
            harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(refresh=True))[0].files_not_had == {}
        )


def test_progress_ends_at_the_total(service: Service, workspace: Workspace, hasty: MakeClient) -> None:
    seen: list[Progress] = []
    harvest(workspace, hasty(service), [BOREALIS], progress=seen.append)
    last = {one.what: one for one in seen}
    assert list(last) == ["listing submissions", "edits of submissions", "edits of replies", "fetching PDFs"]
    assert all(one.done == one.total for one in last.values())
    assert all(one.eta_s == 0 for one in last.values())


REPLACED = "replaced since the paper was listed"


# On API v1 each file is requested by the reference that introduced it, which does not change.
@pytest.mark.parametrize(("venue_id", "problems"), [(AURORA, {None}), (BOREALIS, {None, REPLACED})])
def test_a_replaced_pdf_is_never_mistaken(
    workspace: Workspace, hasty: MakeClient, venue_id: str, problems: set[str | None]
) -> None:
    world = build_world(papers=4, venues=[venue_id])
    holdings = world.v1 if venue_id == AURORA else world.v2
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        listed = [
            note.object_id for note in workspace.raw.latest(RawKind.NOTE, venue_id) if note.object_id == note.forum_id
        ]
        workspace.raw.state.sight(listed, 1)
        later = "/pdf/" + "0" * 40 + ".pdf"
        holdings.files[later] = lambda: b"%PDF-1.7 a later one"
        for note_id in listed:
            note = holdings.notes[note_id]
            content = note["content"]
            assert isinstance(content, dict)
            pdf = later if venue_id == AURORA else {"value": later}
            holdings.notes[note_id] = {**note, "content": {**content, "pdf": pdf}}
        service.reindex()
        # With a limit it does not request changes.
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(limit=99))
    current = [stored for stored in workspace.raw.state.files(venue_id) if stored.edit_id in listed]
    wrong = [
        stored for stored in current if stored.sha256 and workspace.files.read(stored.sha256).endswith(b"a later one")
    ]
    assert wrong == []
    assert {stored.problem for stored in current} == problems


def test_a_restarted_listing_forgets_its_end(workspace: Workspace, hasty: MakeClient) -> None:
    with serve_simulator(build_world(papers=2, venues=[AURORA])) as service:
        harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True))
        assert workspace.raw.state.is_listed(AURORA) is True
        harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True, refresh=True))
        assert workspace.raw.state.is_listed(AURORA) is True


@pytest.mark.slow
@pytest.mark.parametrize("refresh", [False, True])
def test_an_unread_list_loses_no_paper(workspace: Workspace, hasty: MakeClient, refresh: bool) -> None:
    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with serve_simulator(build_world(papers=30, venues=[AURORA])) as service:
        if refresh:
            harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True))
            assert workspace.raw.state.is_listed(AURORA) is True
        with pytest.raises(KeyboardInterrupt):
            harvest(
                workspace,
                hasty(service),
                [AURORA],
                request=HarvestRequest(no_files=True, refresh=refresh),
                progress=stop,
            )
    assert workspace.raw.state.is_listed(AURORA) is False
    assert workspace.raw.state.gone(AURORA) == set()


def test_a_later_reply_is_not_gone(workspace: Workspace) -> None:
    def note(note_id: str, modified_ms: int) -> RawObject:
        body = b'{"id": "%s"}' % note_id.encode()
        return RawObject(RawKind.NOTE, note_id, 2, BOREALIS, "f", note_id, modified_ms, 0, "test", body)

    workspace.raw.add([note("f", 10), note("old", 20), note("new", 200)])
    workspace.raw.state.sight(["f"], 100)
    assert workspace.raw.state.gone(BOREALIS) == {"old"}


def test_the_token_is_stored_nowhere(invented: World, tmp_path: Path, hasty: MakeClient, venue_ids: list[str]) -> None:
    token = write_token(invented)
    with (
        serve_simulator(invented, sign_in_required=True) as service,
        open_workspace(tmp_path / "w", create=True) as workspace,
    ):
        harvest(workspace, hasty(service, token), venue_ids)
        sources = {one.source for venue in venue_ids for kind in RawKind for one in workspace.raw.versions(kind, venue)}
    assert sources
    assert not any(token in source for source in sources)
    for path in (tmp_path / "w").rglob("*"):
        assert path.is_dir() or token.encode() not in path.read_bytes()


def test_an_unknown_venue_leaves_nothing_behind(service: Service, tmp_path: Path, hasty: MakeClient) -> None:
    with pytest.raises(VenueNotFoundError), open_workspace(tmp_path / "w", create=True) as workspace:
        harvest(workspace, hasty(service), [AURORA, "Nowhere.cc/2020/Conference"])
    assert not (tmp_path / "w").exists()


def test_an_empty_venue_is_asked_again(
    service: Service, tmp_path: Path, workspace: Workspace, hasty: MakeClient
) -> None:
    with pytest.raises(EmptyVenueError, match=f"'{EMPTY}'"), open_workspace(tmp_path / "w", create=True) as fresh:
        harvest(fresh, hasty(service), [EMPTY])
    assert not (tmp_path / "w").exists()
    for _ in range(2):
        with pytest.raises(EmptyVenueError):
            harvest(workspace, hasty(service), [EMPTY])


@pytest.mark.parametrize("token", [None, "never.given.before"])
def test_a_wrong_token_is_refused(invented: World, workspace: Workspace, hasty: MakeClient, token: str | None) -> None:
    with (
        serve_simulator(invented, sign_in_required=True) as service,
        pytest.raises(SignInError, match="PEERCORPUS_TOKEN"),
    ):
        harvest(workspace, hasty(service, token), [BOREALIS])


def test_an_expiring_token_loses_nothing(invented: World, workspace: Workspace, hasty: MakeClient) -> None:
    with serve_simulator(invented, faults=on_path("/notes/edits", expired(), after=2)) as service:
        with pytest.raises(SignInError, match="refused the token"):
            harvest(workspace, hasty(service), [BOREALIS])
        harvest(workspace, hasty(service), [BOREALIS])
    ids = {edit_id for edit_id in public(invented.v2.edits) if invented.v2.edits[edit_id]["domain"] == BOREALIS}
    assert set(held(workspace, RawKind.EDIT, [BOREALIS])) == ids


def test_a_long_rate_limit_ends_the_run(invented: World, workspace: Workspace, hasty: MakeClient) -> None:
    spent, moment = (
        on_path("/attachment", rate_limited(3600), times=99),
        r"again after (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC",
    )
    with serve_simulator(invented, faults=spent) as service, pytest.raises(SourceError, match=moment):
        harvest(workspace, hasty(service), [BOREALIS])
    assert workspace.raw.state.listing(BOREALIS, f"{BOREALIS}/-/Submission").complete


def test_only_a_sample_of_posted_papers_is_tried(workspace: Workspace, hasty: MakeClient) -> None:
    world = build_world(papers=40, venues=[BOREALIS])
    for note in world.v2.notes.values():
        if note["id"] == note["forum"]:
            note["invitations"] = [f"{BOREALIS}/-/Submission", f"{BOREALIS}/-/Post_Submission", f"{BOREALIS}/-/Edit"]
    for edit_id, edit in list(world.v2.edits.items()):
        if edit["note"]["id"] == world.v2.notes[edit["note"]["id"]]["forum"]:  # type: ignore[index]
            world.v2.edits[edit_id] = {**edit, "readers": [BOREALIS]}
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
        asked = {request.query.get("note.id") for request in service.requests if request.path == "/notes/edits"}
    papers = {note["id"] for note in world.v2.notes.values() if note["id"] == note["forum"]}
    assert len(asked & papers) == 5


def test_shown_edits_are_all_requested(workspace: Workspace, hasty: MakeClient) -> None:
    world = build_world(papers=12, venues=["JLE"])
    for note in world.v2.notes.values():
        if note["id"] == note["forum"]:
            note["invitations"] = ["JLE/-/Submission"]
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), ["JLE"], request=HarvestRequest(no_files=True))
    assert set(held(workspace, RawKind.EDIT, ["JLE"])) == public(world.v2.edits)


def test_a_summary_names_differing_counts(service: Service, workspace: Workspace, hasty: MakeClient) -> None:
    summary = harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))[0]
    assert summary.remarks == ()
    lists = tuple(replace(submissions, expected=99) for submissions in summary.lists)
    (remark,) = replace(summary, lists=lists).remarks
    assert re.findall(r" (\d+)", remark) == ["99", str(summary.submissions)]


OWN_LIST = f"""
[[venue]]
id = "{AURORA}"
source = "https://aurora.example.org"
lists = ["Kites"]
"""


def test_the_users_lists_are_requested(tmp_path: Path, hasty: MakeClient) -> None:
    world = build_world(papers=7, venues=[AURORA])
    for name in ("Blind_Submission", "Submission"):
        del world.v1.invitations[f"{AURORA}/-/{name}"]
    papers = [note for note in world.v1.notes.values() if note["invitation"] == f"{AURORA}/-/Blind_Submission"]
    for note in papers:
        note["invitation"] = f"{AURORA}/-/Kites"
    (tmp_path / "venues.toml").write_text(OWN_LIST, encoding="utf-8")
    with serve_simulator(world) as service, open_workspace(tmp_path, create=True) as workspace:
        [summary] = harvest(workspace, hasty(service), [AURORA], request=HarvestRequest(no_files=True))
        assert {str(note["id"]) for note in papers} <= set(held(workspace, RawKind.NOTE, [AURORA]))
    assert papers
    assert summary.is_complete


def test_an_invalid_users_file_is_refused(tmp_path: Path, hasty: MakeClient) -> None:
    (tmp_path / "venues.toml").write_text(OWN_LIST.replace("lists", "list"), encoding="utf-8")
    with (
        serve_simulator(build_world(papers=1, venues=[AURORA])) as service,
        open_workspace(tmp_path, create=True) as workspace,
        pytest.raises(VenuesFileError, match="'list'"),
    ):
        harvest(workspace, hasty(service), [AURORA])
    assert service.requests == []


KILLED_AT_THE_TENTH = """
import os, signal, sys
from pathlib import Path
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.workspace.workspace import open_workspace

steps = 0
def stop(_):
    global steps
    steps += 1
    if steps == 10:
        os.kill(os.getpid(), signal.SIGKILL)

folder, url_v1, url_v2, *venue_ids = sys.argv[1:]
with open_workspace(Path(folder), create=True) as workspace, Client(url_v1, url_v2) as client:
    harvest(workspace, client, venue_ids, progress=stop)
"""


class Stopper:
    """Interrupts at the n-th step."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, _: Progress) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.fixture
def undisturbed(
    service: Service, hasty: Callable[..., Client], venue_ids: list[str], digests: Callable[..., object], tmp_path: Path
) -> object:
    with open_workspace(tmp_path / "undisturbed", create=True) as workspace:
        harvest(workspace, hasty(service), venue_ids)
        service.requests.clear()
        return digests(workspace)


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 7, 20])
def test_an_interrupted_harvest_resumes(
    service: Service,
    workspace: Workspace,
    hasty: Callable[..., Client],
    venue_ids: list[str],
    digests: Callable[..., object],
    undisturbed: object,
    every: int,
) -> None:
    runs = 0
    while runs < 500:
        runs += 1
        try:
            harvest(workspace, hasty(service), venue_ids, progress=Stopper(every))
        except KeyboardInterrupt:
            continue
        break
    assert runs > 3
    assert digests(workspace) == undisturbed
    asked = Counter((one.api, one.path, tuple(sorted(one.query.items()))) for one in service.requests)
    twice = [(path, dict(query)) for (_, path, query), times in asked.items() if times > 1]
    # Each run requests the settings, checks complete lists for additions, changes and removals, and checks after
    # fetching files whether their papers still name them.
    is_question = [
        path in {"/groups", "/invitations", "/notes/search"} or _asks_for_news(query) for path, query in twice
    ]
    assert all(is_question), twice


def _asks_for_news(query: dict[str, str]) -> bool:
    return "mintmdate" in query or query.get("limit") == "1"


@pytest.mark.slow
@pytest.mark.fault("kill", "a harvest at its tenth commit, again and again", "the same command goes on")
def test_a_killed_harvest_resumes(
    service: Service, venue_ids: list[str], digests: Callable[..., object], undisturbed: object, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    urls = [service.base_url_v1, service.base_url_v2]
    command = [sys.executable, "-c", KILLED_AT_THE_TENTH, str(folder), *urls, *venue_ids]
    for _ in range(2):
        assert subprocess.run(command, check=False, timeout=60).returncode == -9
    with open_workspace(folder) as workspace, Client(*urls) as client:
        harvest(workspace, client, venue_ids)
        assert digests(workspace) == undisturbed


BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "run.py"


@pytest.mark.slow(21)
@pytest.mark.fault("kill", "a harvest, by SIGKILL at random instants", "the same command continues", times=8)
def test_killed_harvests_reach_the_same_state(tmp_path: Path) -> None:
    kills = 8
    command = [sys.executable, str(BENCHMARK), "kills", str(kills), "--papers", "5", "--out", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    killed = [line for line in run.stdout.splitlines() if line.startswith("killed")]
    assert sum(int(line.split()[1]) for line in killed) == kills, run.stdout
    assert all(line.endswith("equal") for line in killed), run.stdout
