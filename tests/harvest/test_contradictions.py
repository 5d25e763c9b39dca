"""A file never moves a stored note to another forum or venue, nor replaces its text without a later time."""

import json
from pathlib import Path
from typing import Any

import pytest

from peercorpus.importers.import_dumps import ImportSummary, import_dumps
from peercorpus.openreview.raw_rows import RawOrigin, build_note
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

PIER, QUAY = "Pier.org/2026/Conference", "Quay.org/2026/Conference"


def note(note_id: str, forum: str = "p1", venue_id: str = PIER, **more: Any) -> dict[str, Any]:
    tail = "-/Submission" if note_id == forum else "Submission1/-/Official_Review"
    base = {"id": note_id, "forum": forum, "domain": venue_id, "invitations": [f"{venue_id}/{tail}"], "tmdate": 5}
    return {**base, "readers": ["everyone"], "content": {"review": {"value": "Kites."}}, **more}


def take(folder: Path, workspace: Workspace, *notes: dict[str, Any], name: str = "a.json") -> ImportSummary:
    path = folder / name
    path.write_text(json.dumps(notes))
    return import_dumps(workspace, [path])


def harvested(workspace: Workspace, *notes: dict[str, Any]) -> None:
    origin = RawOrigin("https://api2.openreview.net/notes", 1, PIER)
    with workspace.raw.transaction():
        workspace.raw.add(build_note(json.dumps(one, separators=(",", ":")).encode(), origin) for one in notes)
        workspace.raw.place()


MOVING = {
    "another forum": note("r1", "p2", tmdate=9),
    "another venue": note("r1", venue_id=QUAY, tmdate=9),
    "both": note("r1", "p2", QUAY, tmdate=9),
    "another text at the same time": note("r1", content={"review": {"value": "Other."}}),
    "no text at the same time": note("r1", content=None),
}


@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize("is_harvested", [True, False])
def test_a_contradicting_note_is_set_aside(name: str, is_harvested: bool, tmp_path: Path, workspace: Workspace) -> None:
    first = (note("p1", "p1"), note("r1"))
    if is_harvested:
        harvested(workspace, *first)
    else:
        take(tmp_path, workspace, *first)
    summary = take(tmp_path, workspace, note("p2", "p2", QUAY), MOVING[name], name="b.json")
    assert (summary.taken(RawKind.NOTE).new, sum(summary.left_out.values())) == (1, 1)
    assert not summary.files[0].is_whole
    assert list(summary.files[0].first.values()) == ["'r1'"]
    (kept,) = workspace.raw.versions_of(RawKind.NOTE, ["r1"])["r1"]
    assert (kept.venue_id, kept.forum_id, b"Kites." in kept.body) == (PIER, "p1", True)


def test_two_texts_in_one_file_leave_the_first(tmp_path: Path, workspace: Workspace) -> None:
    other = note("r1", content={"review": {"value": "Other."}})
    summary = take(tmp_path, workspace, note("r1"), other, note("r1"))
    counts = summary.taken(RawKind.NOTE)
    assert (counts.new, counts.known, sum(summary.left_out.values())) == (1, 1, 1)


def test_a_later_version_of_a_note_is_taken(tmp_path: Path, workspace: Workspace) -> None:
    harvested(workspace, note("p1", "p1"), note("r1"))
    later = note("r1", tmdate=9, content={"review": {"value": "Changed."}})
    assert take(tmp_path, workspace, later).taken(RawKind.NOTE).new == 1
    found = workspace.raw.find(RawKind.NOTE, "r1")
    assert found is not None
    assert b"Changed." in found.body


def test_a_poorer_copy_of_a_harvested_note_is_already_there(tmp_path: Path, workspace: Workspace) -> None:
    harvested(workspace, note("p1", "p1"), note("r1"))
    poorer = {name: value for name, value in note("r1").items() if name != "readers"}
    counts = take(tmp_path, workspace, poorer).taken(RawKind.NOTE)
    assert (counts.new, counts.known) == (0, 1)


def test_an_edit_stays_with_its_note(tmp_path: Path, workspace: Workspace) -> None:
    partial = {"id": "r1", "content": {"review": {"value": "Kites."}}}
    edit = {"id": "e1", "domain": PIER, "tcdate": 5, "note": partial}
    take(tmp_path, workspace, note("p1", "p1"), note("r1"), note("r2"), edit)
    moved = {**edit, "tmdate": 9, "note": {**partial, "id": "r2"}}
    assert sum(take(tmp_path, workspace, moved).left_out.values()) == 1


def test_a_harvest_corrects_the_place_of_an_imported_note(tmp_path: Path, workspace: Workspace) -> None:
    take(tmp_path, workspace, note("r1", "p2", QUAY, tmdate=9))
    harvested(workspace, note("p1", "p1"), note("r1"))
    versions = workspace.raw.versions_of(RawKind.NOTE, ["r1"])["r1"]
    assert {(one.venue_id, one.forum_id) for one in versions} == {(PIER, "p1")}
