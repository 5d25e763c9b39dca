"""Edits from one list of the venue or from one request per note: the same records and tables, and nothing lost."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from commands import Run
from in_this_process import build_here
from peercorpus.execution.progress import Progress
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest import venue_edits
from peercorpus.harvest.harvest import HarvestSummary, harvest
from peercorpus.harvest.plan import plan_harvest
from peercorpus.openreview import listing
from peercorpus.openreview.client import Client
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import Reason
from peercorpus.simulator.server.changes import edit_rating, replace_pdf
from peercorpus.simulator.server.damage import Fault, server_error
from peercorpus.simulator.server.faults import OTHER_VENUE, Faults, faults_by_name, is_edit_list, on_path, together
from peercorpus.simulator.server.index import values_of
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.responses import invalid, json_answer
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace

MakeClient = Callable[..., Client]
Records = set[tuple[str, str, bytes]]

BOREALIS, JOURNAL = "Borealis.cc/2024/Conference", "JLE"
PAGE = 40
LATER_MS = 1_900_000_000_000
REFUSED = Fault(invalid("note.id", "x", "must be something else").answer())


@pytest.fixture(autouse=True)
def _small_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a list of a few pages worthwhile for a few notes."""
    monkeypatch.setattr(listing, "LARGEST_PAGE", PAGE)
    monkeypatch.setattr(venue_edits, "CHECKED", 1)
    monkeypatch.setattr(venue_edits, "FEW", 2)


@pytest.fixture(scope="module", autouse=True)
def _one_key() -> Iterator[None]:
    """Make pseudonyms the same in every workspace."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(secrets, "token_bytes", bytes)
        yield


@pytest.fixture(scope="module")
def world() -> World:
    """A world that tests must not change."""
    return build_world(papers=30, venues=[BOREALIS])


@pytest.fixture(scope="module")
def by_note(world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[Records, Mapping[str, Any]]:
    """Raw records and tables from one request per note."""
    with open_workspace(tmp_path_factory.mktemp("by-note") / "corpus", create=True) as workspace:
        (summary,), asked = fetch(workspace, world, faults_by_name("no_domain"))
        assert summary.no_list == "400 Validation"
        assert len(asked) > 20
        build_here(workspace)
        return records(workspace), tables(workspace)


def fetch(
    workspace: Workspace, world: World, faults: Faults = lambda _: None, **options: Any
) -> tuple[list[HarvestSummary], list[Request]]:
    """Harvest without files; also return the requests for edits."""
    with serve_simulator(world, faults=faults) as service, make_client(service) as client:
        summaries = harvest(workspace, client, [BOREALIS], request=HarvestRequest(no_files=True, **options))
        return summaries, edit_requests(service)


def make_client(service: Service) -> Client:
    return Client(service.base_url_v1, service.base_url_v2)


def edit_requests(service: Service) -> list[Request]:
    return [request for request in service.requests if request.path == "/notes/edits"]


def records(workspace: Workspace, venue_id: str = BOREALIS) -> Records:
    """Every edit with its forum and its text."""
    return {(edit.object_id, edit.forum_id, edit.body) for edit in workspace.raw.versions(RawKind.EDIT, venue_id)}


def tables(workspace: Workspace) -> Mapping[str, Any]:
    """Every row of every table of the venue, in any order."""
    names = ("1-papers", "2-reviews", "3-posts", "4-versions", "6-conversations", "set-aside")
    return {
        name: sorted(str(row) for batch in workspace.tables.batches(name, BOREALIS, None) for row in batch.to_pylist())
        for name in names
    }


@pytest.mark.slow
def test_both_ways_give_the_same_edits(
    world: World, workspace: Workspace, by_note: tuple[Records, Mapping[str, Any]]
) -> None:
    (summary,), asked = fetch(workspace, world)
    lists = [request for request in asked if "domain" in request.query]
    assert summary.remarks == ()
    assert (summary.edits_waiting, summary.no_list) == (0, None)
    assert len([request for request in lists if "after" in request.query]) >= 2
    assert len(asked) - len(lists) < 15
    assert [request for request in lists if "offset" in request.query and request.query["limit"] != "1"] == []
    assert records(workspace) == by_note[0]
    build_here(workspace)
    assert tables(workspace) == by_note[1]
    assert read_status(workspace).holds


USABLE = {"edits_repeated", "no_offset", "no_count", "sort_allowlist"}
UNUSABLE = {
    "no_domain": "400 Validation",
    "unknown_domain": "an empty list of edits",
    "edits_lost": "fewer edits than it counts",
    "ignores_after": "the same edits again",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(USABLE | UNUSABLE.keys()))
def test_a_list_that_is_wrong_loses_no_edit(
    name: str, world: World, workspace: Workspace, by_note: tuple[Records, Mapping[str, Any]]
) -> None:
    (summary,), asked = fetch(workspace, world, faults_by_name(name))
    assert records(workspace) == by_note[0]
    assert summary.no_list == UNUSABLE.get(name)
    assert (len([request for request in asked if "note.id" in request.query]) > 20) == (name in UNUSABLE)
    assert bool(summary.remarks) == (name in UNUSABLE)
    assert (summary.failures, summary.edits_waiting) == ((), 0)


def test_lost_uncounted_rows_are_noticed(
    world: World, workspace: Workspace, by_note: tuple[Records, Mapping[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "LARGEST_PAGE", 2)
    monkeypatch.setattr(venue_edits, "count_requests", lambda _: 0)
    monkeypatch.setattr(venue_edits, "CHECKED", 10)
    (summary,), _ = fetch(workspace, world, faults_by_name("edits_lost", "no_count"))
    assert summary.no_list is not None
    assert records(workspace) == by_note[0]


@pytest.mark.slow
def test_a_list_of_all_venues_is_recognised(workspace: Workspace, tmp_path: Path) -> None:
    both = build_world(papers=60, venues=[BOREALIS, JOURNAL])
    (summary,), _ = fetch(workspace, both, faults_by_name("ignores_domain"))
    assert summary.no_list == "edits of other venues"
    with open_workspace(tmp_path / "by-note", create=True) as singly:
        fetch(singly, both, faults_by_name("no_domain"))
        assert records(workspace) == records(singly)
    assert workspace.raw.venues() == [BOREALIS]


def is_public(thing: Mapping[str, object]) -> bool:
    return "everyone" in str(thing["readers"]) and not thing.get("ddate")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reason"), [("edits_of_others", Reason.OTHER_VENUE), ("edits_of_unlisted", Reason.FORUM_MISSING)]
)
def test_a_strangers_edit_is_set_aside(
    name: str, reason: Reason, world: World, workspace: Workspace, by_note: tuple[Records, Mapping[str, Any]]
) -> None:
    (summary,), _ = fetch(workspace, world, faults_by_name(name))
    strays = {edit_id for edit_id, _, _ in records(workspace) - by_note[0]}
    assert by_note[0] <= records(workspace)
    assert len(strays) >= 2
    assert summary.no_list is None
    build_here(workspace)
    rows = [row for batch in workspace.tables.batches("set-aside", BOREALIS, None) for row in batch.to_pylist()]
    assert {row["record_id"]: row["reason"] for row in rows if row["record_id"] in strays} == dict.fromkeys(
        strays, reason
    )
    assert name == "edits_of_unlisted" or any(OTHER_VENUE in row["detail"] for row in rows)
    assert read_status(workspace).holds
    found = {name: values for name, values in tables(workspace).items() if name != "set-aside"}
    assert found == {name: values for name, values in by_note[1].items() if name != "set-aside"}


def test_no_file_is_requested_for_an_unlisted_paper(workspace: Workspace) -> None:
    world = build_world(papers=12, venues=[BOREALIS])
    with serve_simulator(world, faults=faults_by_name("edits_of_unlisted")) as service, make_client(service) as client:
        harvest(workspace, client, [BOREALIS])
    assert {stored.forum_id for stored in workspace.raw.state.files(BOREALIS)} <= workspace.raw.roots(BOREALIS)


class Stopper:
    """Interrupts at the n-th step."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, _: Progress) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 3])
def test_an_interrupted_list_resumes_where_it_stopped(
    every: int, world: World, workspace: Workspace, by_note: tuple[Records, Mapping[str, Any]]
) -> None:
    runs = 0
    with serve_simulator(world) as service, make_client(service) as client:
        while runs < 200:
            runs += 1
            try:
                harvest(workspace, client, [BOREALIS], request=HarvestRequest(no_files=True), progress=Stopper(every))
            except KeyboardInterrupt:
                continue
            break
        asked = Counter(tuple(sorted(request.query.items())) for request in edit_requests(service))
    assert runs > 3
    assert records(workspace) == by_note[0]
    assert workspace.raw.state.pending(BOREALIS, venue_edits.TASK) == []
    assert [dict(query) for query, times in asked.items() if times > 1 and ("limit", "1") not in query] == []
    assert workspace.raw.state.is_listed(BOREALIS)


def test_an_abandoned_reading_leaves_no_trace(world: World, workspace: Workspace) -> None:
    fetch(workspace, world)
    assert workspace.raw.state.count_sighted_edits(BOREALIS) == 0
    assert workspace.raw.state.pending(BOREALIS, venue_edits.LIST) == []


@pytest.fixture
def changing() -> World:
    """A world to change."""
    return build_world(papers=30, venues=[BOREALIS])


def change(world: World, notes: Iterable[str]) -> None:
    """Change reviews and PDFs."""
    for number, note_id in enumerate(sorted(notes)):
        note = world.v2.notes[note_id]
        if note_id != note["forum"]:
            edit_rating(world, note_id, 1 + number % 2, LATER_MS + number)
        elif values_of(note, "content.pdf"):
            replace_pdf(world, note_id, LATER_MS + number)


def asked_before(workspace: Workspace) -> set[str]:
    """The notes whose edits were fetched."""
    return {venue_edits.note_id_of(entry) for entry in workspace.raw.state.done(BOREALIS, venue_edits.TASK)}


def harvest_twice(folder: Path, world: World, name: str = "") -> tuple[Records, list[Request]]:
    """Harvest, change the world and harvest again; return the edits and the second run's requests for them."""
    faults = faults_by_name(name) if name else lambda _: None
    with (
        open_workspace(folder, create=True) as workspace,
        serve_simulator(world, faults=faults) as service,
        make_client(service) as client,
    ):
        harvest(workspace, client, [BOREALIS], request=HarvestRequest(no_files=True))
        change(world, asked_before(workspace))
        service.reindex()
        service.requests.clear()
        harvest(workspace, client, [BOREALIS], request=HarvestRequest(no_files=True))
        return records(workspace), edit_requests(service)


@pytest.mark.slow
def test_a_second_harvest_reads_new_edits(changing: World, tmp_path: Path) -> None:
    found, asked = harvest_twice(tmp_path / "list", changing)
    expected, singly = harvest_twice(tmp_path / "notes", build_world(papers=30, venues=[BOREALIS]), "no_domain")
    pages = [request.query for request in asked if "domain" in request.query and request.query["limit"] != "1"]
    assert found == expected
    assert {page["sort"] for page in pages} == {"tmdate:desc"}
    changed = [edit for edit in found if str(LATER_MS)[:6].encode() in edit[2]]
    assert len(pages) == len(changed) // PAGE + 1
    assert len(asked) < len(singly)


def test_a_wrong_order_is_not_trusted(changing: World, tmp_path: Path) -> None:
    def unsorted(request: Request) -> Fault | None:
        is_news = is_edit_list(request) and request.query["limit"] != "1"
        return Fault(asks=lambda query: {**query, "sort": "id"}) if is_news else None

    with (
        open_workspace(tmp_path / "w", create=True) as workspace,
        serve_simulator(changing, faults=unsorted) as service,
        make_client(service) as client,
    ):
        harvest(workspace, client, [BOREALIS], request=HarvestRequest(no_files=True))
        changed = asked_before(workspace)
        change(changing, changed)
        service.reindex()
        service.requests.clear()
        (summary,) = harvest(workspace, client, [BOREALIS], request=HarvestRequest(no_files=True))
        singly = {request.query.get("note.id") for request in edit_requests(service)}
    assert summary.no_list == "not the latest edits first"
    assert changed <= singly


def test_an_overloading_list_is_tried_again(
    world: World, workspace: Workspace, by_note: tuple[Records, Mapping[str, Any]], hasty: MakeClient
) -> None:
    def too_much(request: Request) -> Fault | None:
        return server_error() if is_edit_list(request) else None

    with serve_simulator(world, faults=too_much) as service:
        (summary,) = harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
    assert records(workspace) == by_note[0]
    assert summary.no_list is None


def test_a_list_refused_halfway_is_continued(
    world: World, workspace: Workspace, by_note: tuple[Records, Mapping[str, Any]]
) -> None:
    def refuse(request: Request) -> Fault | None:
        return REFUSED if is_edit_list(request) and "after" in request.query else None

    (summary,), _ = fetch(workspace, world, refuse)
    assert summary.no_list == "400 Validation"
    assert records(workspace) == by_note[0]


def test_a_response_without_list_is_replaced(
    world: World, workspace: Workspace, by_note: tuple[Records, Mapping[str, Any]]
) -> None:
    (summary,), _ = fetch(workspace, world, lambda one: Fault(json_answer({})) if is_edit_list(one) else None)
    assert summary.no_list == "no list of edits"
    assert records(workspace) == by_note[0]


@pytest.mark.slow
def test_a_refused_list_is_probed_once(world: World, workspace: Workspace) -> None:
    fetch(workspace, world, together(faults_by_name("no_domain"), on_path("/notes/edits", REFUSED, times=10**6)))
    (summary,), asked = fetch(workspace, world)
    assert asked == []
    assert summary.failures
    (summary,), asked = fetch(workspace, world, refresh=True)
    assert any("domain" in request.query for request in asked)
    assert (summary.failures, summary.no_list, summary.edits_refused) == ((), None, 0)


def test_edits_refused_both_ways_are_a_failure(run: Run, world: World, tmp_path: Path) -> None:
    with serve_simulator(world, faults=on_path("/notes/edits", REFUSED, times=10**6)) as service:
        urls = ("--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2)
        ended = run("harvest", BOREALIS, "--no-files", "--workspace", tmp_path / "w", *urls)
    assert ended.code == 1
    assert "with the same answer (400 Validation)" in ended.err


def test_edits_of_parts_are_requested_singly(world: World, workspace: Workspace) -> None:
    _, asked = fetch(workspace, world, limit=12)
    assert asked
    assert not any("domain" in request.query for request in asked)


def test_the_plan_states_the_way(run: Run, world: World, tmp_path: Path) -> None:
    said = {}
    for name in ("no_domain", "no_offset"):
        with serve_simulator(world, faults=faults_by_name(name)) as service:
            urls = ("--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2)
            said[name] = run("harvest", BOREALIS, "--plan", "--workspace", tmp_path / "w", *urls).out
    assert "30 notes, one by one (OpenReview's list of the venue's edits: 400 Validation)" in said["no_domain"]
    assert "30 notes, from the list of the venue's edits" in said["no_offset"]


def test_planned_list_requests_are_made(world: World, workspace: Workspace) -> None:
    with serve_simulator(world) as service, make_client(service) as client:
        (plan,) = plan_harvest(workspace, client, [BOREALIS], request=HarvestRequest(no_files=True))
        service.requests.clear()
        harvest(workspace, client, [BOREALIS], request=HarvestRequest(no_files=True))
        asked = edit_requests(service)
        (again,) = plan_harvest(workspace, client, [BOREALIS], request=HarvestRequest(no_files=True))
    planned = next(step for step in plan.steps if step.what == "versions")
    tried = 2 * 5
    assert planned.by_venue
    assert planned.requests <= len(asked) <= planned.requests + tried
    assert [step.requests for step in again.steps if step.what == "versions"] == [0]
