"""Files of edits listed long ago: a single request for the venue's latest edits shows which changed since."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from naming import Naming
from peercorpus.errors import BusyError
from peercorpus.execution.progress import show_nothing
from peercorpus.harvest import pdfs
from peercorpus.harvest.edit_history import harvest_history
from peercorpus.harvest.harvest import harvest
from peercorpus.harvest.pdf_list import CURRENT, PdfRequest
from peercorpus.harvest.pdfs import LatestEdits, harvest_pdfs
from peercorpus.harvest.session import open_session
from peercorpus.openreview.client import Client
from peercorpus.openreview.listing import fetch_edits, object_id
from peercorpus.openreview.objects import now_ms, venue_of_edit
from peercorpus.simulator.server.faults import faults_by_name
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import Workspace

BOREALIS = "Borealis.cc/2024/Conference"
HOURS_MS = 4 * 3_600_000

MakeClient = Callable[..., Client]


@contextmanager
def listed_long_ago(
    world: World, workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch, *faults: str
) -> Iterator[Service]:
    """A service whose edits were all listed four hours ago, before any file was requested."""
    with serve_simulator(world, faults=faults_by_name(*faults)) as service:
        harvest(workspace, hasty(service), [BOREALIS], files=False)
        monkeypatch.setattr(pdfs, "now_ms", lambda: now_ms() + HOURS_MS)
        service.requests.clear()
        yield service


def _wanted(workspace: Workspace, client: Client) -> list[PdfRequest]:
    session = open_session(workspace, client, BOREALIS, limit=None, refresh=False, show=show_nothing)
    return pdfs.missing_files(session)


def fetch_files(workspace: Workspace, client: Client) -> None:
    session = open_session(workspace, client, BOREALIS, limit=None, refresh=False, show=show_nothing)
    harvest_history(session)
    harvest_pdfs(session)


def looks(service: Service) -> Counter[str]:
    """Return how often edits were requested, by the parameter used."""
    queries = [one.query for one in service.requests if one.path == "/notes/edits"]
    return Counter("venue" if "domain" in query else "note" for query in queries)


@pytest.mark.slow
@pytest.mark.parametrize("papers", [30, 60])
def test_the_number_of_lookups_does_not_grow_with_the_number_of_files(
    papers: int, workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = build_world(papers=papers, venues=[BOREALIS])
    with listed_long_ago(world, workspace, hasty, monkeypatch) as service:
        fetch_files(workspace, hasty(service))
        files = [one for one in service.requests if one.path == "/notes/edits/attachment"]
        assert len(files) >= papers // 10
        assert looks(service) == {"venue": 1}
    assert {file.problem for file in workspace.raw.state.files(BOREALIS)} == {None}


def test_each_file_is_checked_if_the_list_cannot_be_used(
    workspace: Workspace, hasty: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = build_world(papers=30, venues=[BOREALIS])
    with listed_long_ago(world, workspace, hasty, monkeypatch, "no_domain") as service:
        fetch_files(workspace, hasty(service))
        files = [one for one in service.requests if one.path == "/notes/edits/attachment"]
        assert looks(service) == {"note": len(files)}


def test_a_file_is_not_stored_for_an_edit_that_names_another_one_now(
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


def test_the_file_of_a_removed_edit_is_not_stored(
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


def test_files_are_fetched_even_if_the_list_is_unavailable(
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
