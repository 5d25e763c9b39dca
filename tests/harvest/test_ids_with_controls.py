"""An object whose ids contain a control character is set aside where it enters, and no other object is lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from altered_answers import VENUES, altering, with_field, world
from in_this_process import build_here
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.openreview.client import Client
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import Reason
from peercorpus.records.papers import SetAside
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

__all__ = ["world"]

MakeClient = Callable[..., Client]
VENUE = "Pier.org/2026/Conference"
CONTROLS = ["\0", "\n", "\x1b[2J", "\x7f", "\x85"]


def note(note_id: str, **more: object) -> dict[str, Any]:
    name = "-/Submission" if note_id == "root" else "Submission1/-/Official_Review"
    return {
        "id": note_id,
        "forum": "root",
        "replyto": None if note_id == "root" else "root",
        "invitations": [f"{VENUE}/{name}"],
        "domain": VENUE,
        "signatures": [f"{VENUE}/Submission1/{'Authors' if note_id == 'root' else 'Reviewer_a1B2'}"],
        "readers": ["everyone"],
        "content": {"title": {"value": "Lines\nand \0 belong in texts"}},
        **more,
    }


FAULTY: dict[str, Callable[[str], dict[str, Any]]] = {
    "id": lambda mark: note(f"a{mark}"),
    "forum": lambda mark: note("a", forum=f"root{mark}"),
    "replyto": lambda mark: note("a", replyto=f"root{mark}"),
    "venue": lambda mark: note("a", domain=f"{VENUE}{mark}"),
    "invitation": lambda mark: note("a", invitations=[f"{VENUE}{mark}/-/Review"]),
    "signature": lambda mark: note("a", signatures=[f"{VENUE}/Submission1/Reviewer_{mark}"]),
    "reference": lambda mark: note("a", referent=f"root{mark}"),
    "edit": lambda mark: {"id": f"a{mark}", "domain": VENUE, "note": {"id": "root"}},
    "note of an edit": lambda mark: {"id": "a", "domain": VENUE, "note": {"id": f"root{mark}"}},
    "group": lambda mark: {"id": f"{VENUE}{mark}", "members": []},
    "setting": lambda mark: {"id": f"{VENUE}/-/Review{mark}", "edit": {}, "duedate": 1},
}


@pytest.mark.parametrize("place", FAULTY)
def test_an_import_sets_it_aside_with_a_reason(place: str, workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    faulty = [FAULTY[place](mark) for mark in CONTROLS]
    path.write_bytes(msgspec.json.encode([note("root"), *faulty, note("review")]))
    summary = import_dumps(workspace, [path])
    assert sum(summary.left_out.values()) == len(CONTROLS)
    assert all("contains a control character" in reason for reason in summary.left_out)
    assert [kept.object_id for kept in workspace.raw.latest(RawKind.NOTE, VENUE)] == ["review", "root"]
    assert workspace.raw.venues() == [VENUE]
    build_here(workspace)
    assert read_status(workspace).holds


def test_an_import_sets_published_records_aside(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "reviews.json"
    record = {"paper_id": "p", "conference_year_track": "Kites 2024", "title": "Kites", "reviews": []}
    path.write_bytes(msgspec.json.encode([record, {**record, "paper_id": "q\0"}]))
    summary = import_dumps(workspace, [path])
    assert list(summary.left_out) == ["a record whose paper, venue or reviewer has a control character in its id"]
    assert summary.taken(RawKind.PUBLISHED).total == 1


@pytest.mark.parametrize("field", ["id", "forum", "replyto", "domain", "signatures"])
def test_a_harvest_keeps_its_bytes_and_says_why(
    field: str, world: World, workspace: Workspace, hasty: MakeClient
) -> None:
    value: object = "a\0b"
    change = with_field(field, [value] if field == "signatures" else value)
    with serve_simulator(world, faults=altering("/notes", "notes", change)) as service:
        summaries = harvest(workspace, hasty(service), VENUES, request=HarvestRequest(no_files=True))
    assert all(summary.unreadable for summary in summaries)
    build_here(workspace, VENUES)
    for venue_id in VENUES:
        kept = list(workspace.raw.latest(RawKind.UNREADABLE, venue_id))
        assert kept
        assert not any("\0" in one.object_id + one.forum_id + one.subject_id for one in kept)
        aside = [row for row in workspace.tables.read(SetAside, venue_id) if row.reason is Reason.NOT_JSON]
        assert {row.detail for row in aside} == {f"its '{field}' contains a control character"}
    assert read_status(workspace).holds
    assert workspace.raw.venues() == sorted(VENUES)
