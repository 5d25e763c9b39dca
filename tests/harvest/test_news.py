"""Harvesting again requests what changed, keeps every version seen, and marks what is gone; nothing is forgotten."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from in_this_process import build_here
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest import session, submissions
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview import listing
from peercorpus.openreview.client import Client
from peercorpus.records.enums import Phase, Reason, ScoreSource
from peercorpus.simulator.server.changes import (
    delete_note,
    edit_rating,
    hide_note,
    post_late,
    post_reply,
    replace_pdf,
    withdraw,
)
from peercorpus.simulator.server.damage import Fault
from peercorpus.simulator.server.faults import Faults
from peercorpus.simulator.server.index import values_of
from peercorpus.simulator.server.requests import Request, gives_file
from peercorpus.simulator.server.responses import invalid, json_answer
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import Holdings, Json, World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace

MakeClient = Callable[..., Client]

AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
VENUES = [AURORA, BOREALIS]
DAY_MS = 86_400_000


@pytest.fixture
def world() -> World:
    return build_world(papers=8, venues=VENUES)


@pytest.fixture(params=VENUES)
def venue_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def holdings(world: World, venue_id: str) -> Holdings:
    return world.v1 if venue_id == AURORA else world.v2


def is_public(note: Json) -> bool:
    return "everyone" in values_of(note, "readers") and not note.get("ddate")


def replies(world: World, venue_id: str, kind: str = "") -> list[str]:
    """Return the public replies of public papers whose invitation ends in this way."""
    notes = holdings(world, venue_id).notes
    return [
        note_id
        for note_id, note in notes.items()
        if note["id"] != note["forum"]
        and is_public(note)
        and is_public(notes[str(note["forum"])])
        and any(name.endswith(kind) for name in values_of(note, "invitation"))
    ]


def papers(world: World, venue_id: str) -> list[str]:
    """Return the public papers that have their own PDF and are not withdrawn."""
    lists = {f"{venue_id}/-/Submission", f"{venue_id}/-/Blind_Submission"}
    notes = holdings(world, venue_id).notes
    return [
        note_id
        for note_id, note in notes.items()
        if note["id"] == note["forum"] and is_public(note) and lists & {*values_of(note, "invitation")}
    ]


def versions(workspace: Workspace, venue_id: str, note_id: str) -> list[Json]:
    found = workspace.raw.versions(RawKind.NOTE, venue_id)
    return [msgspec.json.decode(one.body) for one in found if one.object_id == note_id]


def questions(service: Service) -> list[Request]:
    """Return the requests for notes, edits and files; settings are requested every time."""
    return [one for one in service.requests if one.path not in {"/groups", "/invitations"}]


def test_only_changes_are_requested(world: World, workspace: Workspace, hasty: MakeClient, venue_id: str) -> None:
    review_id = replies(world, venue_id, "Official_Review")[-1]
    paper_id = papers(world, venue_id)[-1]
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), VENUES)
        edit_rating(world, review_id, "1: Strong reject" if venue_id == AURORA else 1, now_ms())
        post_reply(world, paper_id, "One more word.", now_ms())
        path = replace_pdf(world, paper_id, now_ms())
        service.reindex()
        service.requests.clear()
        summaries = harvest(workspace, hasty(service), VENUES)
        asked = questions(service)
    lists = [one for one in asked if one.path == "/notes"]
    assert len(lists) == 3 * len(VENUES)
    assert all("mintmdate" in one.query or one.query["limit"] == "1" for one in lists)
    histories = [one.query.get("note.id") or one.query["referent"] for one in asked if one.path in HISTORY]
    assert sorted(histories) == sorted([review_id, paper_id])
    files = [one for one in asked if gives_file(one.path)]
    assert len(files) == 1
    assert all(summary.remarks == () for summary in summaries)
    stored = {one.path: one for one in workspace.raw.state.files(venue_id)}[path]
    assert workspace.files.read(stored.sha256 or "") == holdings(world, venue_id).files[path]()
    assert len(versions(workspace, venue_id, review_id)) == len(versions(workspace, venue_id, paper_id)) == 2


HISTORY = {"/notes/edits", "/references"}


@pytest.mark.slow
def test_an_overwritten_rating_is_known(world: World, workspace: Workspace, hasty: MakeClient) -> None:
    review_id = replies(world, BOREALIS, "Official_Review")[0]
    before = values_of(world.v2.notes[review_id], "content.rating")[0]
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
        edit_rating(world, review_id, 1, now_ms(), public=False)
        service.reindex()
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
    build_here(workspace, [BOREALIS])
    review = next(row for row in rows(workspace, "2-reviews", BOREALIS) if row["review_id"] == review_id)
    ratings = {(one["phase"], one["source"], one["value"]) for one in review["scores"] if one["field"] == "rating"}
    # The earlier version had been modified at its release, so that it shows a change, but not the first rating.
    assert ratings == {(Phase.FINAL, ScoreSource.NOTE, 1.0)}
    (change,) = (one for one in review["score_changes"] if one["field"] == "rating")
    assert (change["before"], change["after"], change["source"]) == (float(before), 1.0, ScoreSource.SNAPSHOT)


@pytest.mark.slow
def test_a_deleted_note_is_kept_and_marked(
    world: World, workspace: Workspace, hasty: MakeClient, venue_id: str
) -> None:
    reply_id = replies(world, venue_id, "Comment")[0]
    paper_id = next(one for one in papers(world, venue_id) if one != holdings(world, venue_id).notes[reply_id]["forum"])
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        for note_id in (reply_id, paper_id):
            delete_note(world, note_id, now_ms())
        service.reindex()
        for refresh in (False, False, True):
            harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True, refresh=refresh))
            build_here(workspace, [venue_id])
            assert [one.get("ddate") is not None for one in versions(workspace, venue_id, reply_id)] == [False, True]
            posts = rows(workspace, "3-posts", venue_id)
            assert [post["deleted"] for post in posts if post["post_id"] == reply_id] == [True]
            aside = {(row["record_id"], row["reason"]) for row in rows(workspace, "set-aside", venue_id)}
            assert (paper_id, Reason.DELETED) in aside
            assert Reason.NO_LONGER_SHOWN not in {reason for _, reason in aside}


def rows(workspace: Workspace, table: str, venue_id: str) -> list[dict[str, Any]]:
    return [row for batch in workspace.tables.batches(table, venue_id, None) for row in batch.to_pylist()]


def test_a_deletion_is_requested_once(world: World, workspace: Workspace, hasty: MakeClient, venue_id: str) -> None:
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        delete_note(world, replies(world, venue_id, "Comment")[0], now_ms())
        service.reindex()
        for refresh in (False, False, True, False, False):
            service.requests.clear()
            harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True, refresh=refresh))
            if not refresh:
                assert len([one for one in questions(service) if one.path == "/notes"]) == 3


def test_a_gone_note_can_return(world: World, workspace: Workspace, hasty: MakeClient, venue_id: str) -> None:
    reply_id = replies(world, venue_id)[0]
    paper_id = next(one for one in papers(world, venue_id) if one != holdings(world, venue_id).notes[reply_id]["forum"])
    before = {note_id: holdings(world, venue_id).notes[note_id] for note_id in (reply_id, paper_id)}
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        hide_note(world, reply_id)
        hide_note(world, paper_id)
        service.reindex()
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        assert workspace.raw.state.gone(venue_id) == {reply_id, paper_id}
        assert workspace.raw.find(RawKind.NOTE, reply_id) is not None
        holdings(world, venue_id).notes.update(before)
        service.reindex()
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        assert workspace.raw.state.gone(venue_id) == set()
        service.requests.clear()
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        assert len([one for one in questions(service) if one.path == "/notes"]) == 3


def test_hidden_and_new_notes_are_noticed(world: World, workspace: Workspace, hasty: MakeClient, venue_id: str) -> None:
    reply_id, paper_id = replies(world, venue_id)[0], papers(world, venue_id)[0]
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        hide_note(world, reply_id)
        posted_id = post_reply(world, paper_id, "Hello.", now_ms())
        service.reindex()
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
    assert workspace.raw.state.gone(venue_id) == {reply_id}
    assert workspace.raw.find(RawKind.NOTE, posted_id) is not None


def test_a_withdrawn_paper_is_kept_with_its_discussion(
    world: World, workspace: Workspace, hasty: MakeClient, venue_id: str
) -> None:
    paper_id = papers(world, venue_id)[0]
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        held = {note.object_id for note in workspace.raw.latest(RawKind.NOTE, venue_id)}
        said_id = withdraw(world, paper_id, now_ms())
        service.reindex()
        for _ in range(2):
            harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
            assert {note.object_id for note in workspace.raw.latest(RawKind.NOTE, venue_id)} == held | {said_id}
            assert workspace.raw.state.gone(venue_id) == set()
            assert len(versions(workspace, venue_id, paper_id)) == 2


def test_a_submission_opened_late_comes_with_its_replies(
    world: World, workspace: Workspace, hasty: MakeClient, venue_id: str
) -> None:
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [venue_id])
        late_id = post_late(world, papers(world, venue_id)[0], now_ms())
        reply_id = post_reply(world, late_id, "Welcome.", now_ms())
        service.reindex()
        harvest(workspace, hasty(service), [venue_id])
    assert workspace.raw.find(RawKind.NOTE, late_id) is not None
    assert workspace.raw.find(RawKind.NOTE, reply_id) is not None
    assert workspace.raw.state.gone(venue_id) == set()


def news_answered(how: str) -> Faults:
    """A service that cannot report changes."""

    def choose(request: Request) -> Fault | None:
        asks_for_news = request.path == "/notes" and "details" not in request.query and "id" not in request.query
        is_count = "mintmdate" not in request.query
        if not asks_for_news or (is_count and "domain" not in request.query and "*" not in request.query["invitation"]):
            return None
        if how == "refuses":
            return Fault(invalid("mintmdate", "x", "is not a parameter").answer())
        if how == "gives nothing":
            return Fault(json_answer({"notes": [], "count": 0}))
        unknown = {"mintmdate"} if how == "ignores mintmdate" else {"mintmdate", "trash", "sort"}
        return Fault(asks=lambda query: {name: value for name, value in query.items() if name not in unknown})

    return choose


@pytest.mark.slow
@pytest.mark.parametrize("how", ["refuses", "gives nothing", "ignores mintmdate", "ignores all it can"])
def test_without_news_lists_are_read_again(
    world: World, workspace: Workspace, hasty: MakeClient, venue_id: str, how: str, tmp_path: Path
) -> None:
    review_id, hidden_id, deleted_id = (replies(world, venue_id)[place] for place in (0, 5, 9))
    paper_id = papers(world, venue_id)[0]
    with serve_simulator(world, faults=news_answered(how)) as service:
        for _ in range(2):
            harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        assert workspace.raw.state.gone(venue_id) == set()
        edit_rating(world, review_id, "1: Strong reject", now_ms(), field="title")
        posted_id = post_reply(world, paper_id, "One more word.", now_ms())
        hide_note(world, hidden_id)
        delete_note(world, deleted_id, now_ms())
        service.reindex()
        for _ in range(2):
            harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        with open_workspace(tmp_path / "fresh", create=True) as fresh:
            harvest(fresh, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
            shown = {note.object_id for note in fresh.raw.latest(RawKind.NOTE, venue_id)}
    assert len(versions(workspace, venue_id, review_id)) == 2
    assert workspace.raw.find(RawKind.NOTE, posted_id) is not None
    held = {note.object_id for note in workspace.raw.latest(RawKind.NOTE, venue_id)}
    assert held - workspace.raw.state.gone(venue_id) - {deleted_id} == shown
    assert hidden_id in workspace.raw.state.gone(venue_id)


class Clock:
    """A clock of this machine that can be set."""

    def __init__(self) -> None:
        self.ahead_ms = 0
        self.per_look_ms = 0

    def __call__(self) -> int:
        self.ahead_ms += self.per_look_ms
        return now_ms() + self.ahead_ms


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    from peercorpus.harvest import pdfs
    from peercorpus.harvest import submissions as changes

    clock = Clock()
    for module in (session, submissions, changes, pdfs):
        if hasattr(module, "now_ms"):
            monkeypatch.setattr(module, "now_ms", clock)
    return clock


@pytest.mark.slow
@pytest.mark.fault("machine", "a clock set back or ahead by days or years between two harvests", "nothing", times=8)
@pytest.mark.parametrize(("days", "refresh"), [(-400, False), (-1, True), (1, False), (400, True)])
def test_a_wrong_clock_loses_nothing(
    world: World, workspace: Workspace, hasty: MakeClient, clock: Clock, venue_id: str, days: int, refresh: bool
) -> None:
    hidden_id, deleted_id = (replies(world, venue_id)[place] for place in (5, 9))
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True))
        clock.ahead_ms = days * DAY_MS
        posted_id = post_reply(world, papers(world, venue_id)[0], "One more word.", now_ms())
        service.reindex()
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True, refresh=refresh))
        assert workspace.raw.state.gone(venue_id) == set()
        clock.ahead_ms = 0
        second_id = post_reply(world, papers(world, venue_id)[0], "And another.", now_ms())
        service.reindex()
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True, refresh=refresh))
        assert workspace.raw.state.gone(venue_id) == set()
        clock.ahead_ms = -days * DAY_MS
        hide_note(world, hidden_id)
        delete_note(world, deleted_id, now_ms())
        service.reindex()
        harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(no_files=True, refresh=refresh))
    assert workspace.raw.find(RawKind.NOTE, posted_id) is not None
    assert workspace.raw.find(RawKind.NOTE, second_id) is not None
    assert workspace.raw.state.gone(venue_id) - {deleted_id} == {hidden_id}


@pytest.mark.slow
@pytest.mark.fault("machine", "a clock that jumps while a list is read", "nothing", times=4)
@pytest.mark.parametrize("per_look_ms", [-DAY_MS, DAY_MS])
def test_a_clock_change_during_a_list_loses_nothing(
    world: World,
    workspace: Workspace,
    hasty: MakeClient,
    clock: Clock,
    venue_id: str,
    per_look_ms: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "PAGE_WITH_REPLIES", 1)
    clock.per_look_ms = per_look_ms
    with serve_simulator(world) as service:
        for refresh in (False, True, False):
            harvest(workspace, hasty(service), [venue_id], request=HarvestRequest(refresh=refresh))
            assert workspace.raw.state.gone(venue_id) == set()
        hidden_id = replies(world, venue_id)[5]
        hide_note(world, hidden_id)
        service.reindex()
        harvest(workspace, hasty(service), [venue_id])
        assert workspace.raw.state.gone(venue_id) == {hidden_id}
