"""A file never moves a stored note to another forum or venue, nor replaces its text without a later time."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from peercorpus.importers.import_dumps import ImportSummary, import_dumps
from peercorpus.openreview.raw_rows import RawOrigin, build_note
from peercorpus.pipeline.build import build
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Review, Section
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace

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


def test_a_poorer_copy_is_already_there(tmp_path: Path, workspace: Workspace) -> None:
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


def test_a_harvest_corrects_a_notes_place(tmp_path: Path, workspace: Workspace) -> None:
    take(tmp_path, workspace, note("r1", "p2", QUAY, tmdate=9))
    harvested(workspace, note("p1", "p1"), note("r1"))
    versions = workspace.raw.versions_of(RawKind.NOTE, ["r1"])["r1"]
    assert {(one.venue_id, one.forum_id) for one in versions} == {(PIER, "p1")}


V = "Kite.cc/2024/Conference"
CHAIRS = [f"{V}/Program_Chairs"]
MS = 1_700_000_000_000
Json = dict[str, Any]


def closable_note(note_id: str, invitation: str, content: Mapping[str, Any], **more: Any) -> Json:
    times = {"tcdate": MS, "tmdate": MS, "cdate": MS, "mdate": MS}
    return {"id": note_id, "forum": "p", "domain": V, "invitations": [invitation], "content": content, **times, **more}


PAPER = closable_note("p", f"{V}/-/Submission", {"title": {"value": "Kites"}}, signatures=[f"{V}/Submission1/Authors"])
REVIEW = closable_note(
    "r",
    f"{V}/Submission1/-/Official_Review",
    {"summary": {"value": "Kites fly."}, "weaknesses": {"value": "No wind."}, "rating": {"value": 6}},
    replyto="p",
    signatures=[f"{V}/Submission1/Reviewer_aB1c"],
)


def public(item: Json, **more: Any) -> Json:
    return {**item, "readers": ["everyone"], **more}


def closed_field(item: Json) -> Json:
    summary = {"value": "Kites fly.", "readers": CHAIRS}
    return {**item, "content": {**item["content"], "summary": summary}}


def built(folder: Path, *dumps: Sequence[Json]) -> tuple[ImportSummary, list[Paper], list[Review]]:
    """Import some dumps one after the other, each from a folder of its own, and build."""
    with open_workspace(folder / "corpus", create=True) as workspace:
        for number, items in enumerate(dumps):
            (folder / f"{number}").mkdir()
            (folder / f"{number}" / "notes.json").write_text(json.dumps(items), encoding="utf-8")
            summary = import_dumps(workspace, [folder / f"{number}" / "notes.json"])
        build(workspace)
        venues = workspace.venues()
        papers = [paper for venue in venues for paper in workspace.tables.read(Paper, venue)]
        reviews = [review for venue in venues for review in workspace.tables.read(Review, venue)]
    return summary, papers, reviews


def summaries(reviews: Sequence[Review]) -> list[Section]:
    return [section for review in reviews for section in review.sections if section.field == "summary"]


OPEN, CLOSED = public(REVIEW), {**REVIEW, "readers": CHAIRS}
EXCLUDED = public(REVIEW, nonreaders=["everyone"])


@pytest.mark.parametrize("closed", [CLOSED, EXCLUDED], ids=["other readers", "nonreaders"])
@pytest.mark.parametrize("is_untimed", [False, True])
def test_a_review_closed_anywhere_is_closed(closed: Json, is_untimed: bool, tmp_path: Path) -> None:
    times = dict.fromkeys(("tcdate", "tmdate", "cdate", "mdate")) if is_untimed else {}
    first, second = ({**one, **times} for one in (OPEN, closed))
    for number, order in enumerate(itertools.permutations((first, second))):
        for name, dumps in {
            "apart": [[public(PAPER), order[0]], [order[1]]],
            "together": [[public(PAPER), *order]],
        }.items():
            (tmp_path / f"{number}-{name}").mkdir()
            *_, reviews = built(tmp_path / f"{number}-{name}", *dumps)
            assert [review.readers_public for review in reviews] == [False]


def test_a_later_file_closes_a_paper(tmp_path: Path) -> None:
    _, papers, _ = built(tmp_path, [public(PAPER), OPEN], [{**PAPER, "readers": [V]}])
    assert papers == []


def test_a_field_closed_anywhere_is_closed(tmp_path: Path) -> None:
    for number, order in enumerate(itertools.permutations((OPEN, closed_field(OPEN)))):
        (tmp_path / f"{number}").mkdir()
        *_, reviews = built(tmp_path / f"{number}", [public(PAPER), order[0]], [order[1]])
        assert len(reviews) == 1
        assert summaries(reviews) == []


def test_opening_at_the_same_time_is_refused(tmp_path: Path) -> None:
    summary, _, reviews = built(tmp_path, [public(PAPER), CLOSED], [OPEN])
    assert [review.readers_public for review in reviews] == [False]
    assert sum(summary.left_out.values()) == 1


@pytest.mark.parametrize("more", [{"version": 2}, {"tmdate": MS + 1}, {}], ids=["another member", "later", "same"])
def test_a_dump_without_readers_opens_nothing(more: Json, tmp_path: Path) -> None:
    *_, reviews = built(tmp_path, [public(PAPER), CLOSED], [PAPER, {**REVIEW, **more}])
    assert [review.readers_public for review in reviews] == [False]


def test_a_dump_without_readers_closes_nothing(tmp_path: Path) -> None:
    *_, reviews = built(tmp_path, [public(PAPER), OPEN], [PAPER, {**REVIEW, "tmdate": MS + 1}])
    assert [review.readers_public for review in reviews] == [True]


def test_readers_of_unreadable_items_count(tmp_path: Path) -> None:
    without_id = {name: value for name, value in CLOSED.items() if name != "id"}
    _, papers, reviews = built(tmp_path, [PAPER, REVIEW, without_id])
    assert (papers, [review.readers_public for review in reviews]) == ([], [])


@pytest.mark.parametrize("times", [0, 0.0, "0"])
def test_times_of_zero_prove_nothing(times: object, tmp_path: Path) -> None:
    unknown = dict.fromkeys(("tcdate", "tmdate", "cdate", "mdate"), times)
    _, (paper,), (review,) = built(tmp_path, [public(PAPER, **unknown), public(REVIEW, **unknown)])
    assert (paper.created_at, review.created_at, review.revised) == (None, None, None)
    assert {score.phase.value for score in review.scores} == {"final"}
