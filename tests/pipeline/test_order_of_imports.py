"""The venue of a forum depends on what names it, and on no order of the imports and harvests."""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from in_this_process import build_here
from other_layouts import paper_row
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.openreview.client import Client
from peercorpus.pipeline.status import read_status
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import Grade, PaperSource, Reason, VenueSource
from peercorpus.records.papers import Paper, PaperVersion, SetAside
from peercorpus.records.reviews import Post, Review
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.venues import VENUES
from peercorpus.simulator.world.world import build_world
from peercorpus.venues import venue_names
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace
from published_records import TEXT, re2_paper, reviewbench_row, write_json, write_manuscript, write_parquet

KITES, BALLOONS = "Kites.cc/2019/Conference", "Balloons.cc/2019/Conference"
ICLR = "ICLR.cc/2019/Conference"
Notes = list[dict[str, Any]]


def content_only(number: int, forum: str = "kite1") -> dict[str, Any]:
    """A review with only its content left, in the form of ICLR 2019."""
    content = {"title": "Kites", "review": f"Kite {number} flies well.", "rating": "7: Good paper, accept"}
    confidence = "4: The reviewer is confident but not absolutely certain that the evaluation is correct"
    return {"forum": forum, "id": f"r{number}", "content": content | {"confidence": confidence}}


def submission(**members: Any) -> dict[str, Any]:
    base = {"id": "kite1", "forum": "kite1", "replyto": None, "readers": ["everyone"], "tmdate": 5}
    return base | {"content": {"title": "On Kites"}} | members


def decision(number: int, venue_id: str) -> dict[str, Any]:
    base = {"id": f"d{number}", "forum": "kite1", "replyto": "kite1", "readers": ["everyone"]}
    signed = {"invitation": f"{venue_id}/-/Paper7/Decision", "signatures": [f"{venue_id}/Program_Chairs"]}
    return base | signed | {"content": {"decision": "Accept"}}


PARTS: dict[str, tuple[str, Notes]] = {
    "2019": ("iclr2019_reviews.json", [content_only(1)]),
    "2018": ("iclr2018_reviews.json", [content_only(3)]),
    "content": ("some.json", [content_only(2)]),
    "submission": ("s.json", [submission(invitation=f"{KITES}/-/Blind_Submission")]),
    "nameless": ("n.json", [submission(invitations=None)]),
    "reply": ("r.json", [decision(1, KITES)]),
    "another": ("x.json", [decision(2, BALLOONS)]),
}
SETS: list[tuple[tuple[str, ...], str, VenueSource | None]] = [
    (("2019", "submission"), KITES, VenueSource.NOTE),
    (("2019", "nameless"), ICLR, VenueSource.FILE_NAME),
    (("2019", "content", "nameless"), ICLR, VenueSource.FILE_NAME),
    (("2019", "nameless", "reply"), KITES, VenueSource.REPLIES),
    (("2019", "content", "reply"), KITES, VenueSource.REPLIES),
    (("nameless", "reply", "another"), "unplaced", None),
    (("2019", "content", "submission", "reply"), KITES, VenueSource.NOTE),
    (("submission", "reply", "another"), KITES, VenueSource.NOTE),
    (("submission", "nameless", "another"), KITES, VenueSource.NOTE),
    (("2019", "2018", "content"), "unplaced", None),
    (("2019", "2018", "nameless", "reply"), KITES, VenueSource.REPLIES),
]


def orders(parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield all orders of up to three parts; of more, those that have each first, and each last, and their reverses."""
    if len(parts) < 4:
        yield from permutations(parts)
        return
    for start in range(len(parts)):
        order = parts[start:] + parts[:start]
        yield from (order, order[::-1])


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "venue_id", "source"), SETS, ids=["+".join(parts) for parts, _, _ in SETS])
def test_every_order_gives_the_same_rows(
    tmp_path: Path, parts: tuple[str, ...], venue_id: str, source: VenueSource | None
) -> None:
    tables: list[list[Any]] = []
    for number, order in enumerate(orders(parts)):
        with open_workspace(tmp_path / f"corpus{number}", create=True) as workspace:
            for part in order:
                name, notes = PARTS[part]
                import_dumps(workspace, [write_json(tmp_path / f"in{number}" / name, notes)])
            build_here(workspace)
            assert workspace.raw.venues() == [venue_id], order
            assert read_status(workspace).holds
            tables.append([list(workspace.tables.read(kind, venue_id)) for kind in (Paper, Review, Post, SetAside)])
            assert [paper.venue_from for paper in tables[-1][0]] == ([source] if source else []), order
    assert all(table == tables[0] for table in tables)


def take(workspace: Workspace, folder: Path, notes: Notes, name: str, **how: Any) -> None:
    import_dumps(workspace, [write_json(folder / name, notes)], **how)


def papers(workspace: Workspace, venue_id: str) -> list[Paper]:
    build_here(workspace)
    assert read_status(workspace).holds
    return list(workspace.tables.read(Paper, venue_id))


@pytest.mark.parametrize("first", ["user", "file"])
def test_user_takes_precedence_over_names(tmp_path: Path, workspace: Workspace, first: str) -> None:
    steps = [(PARTS["content"], KITES), (PARTS["2019"], None)]
    for (name, notes), venue_id in steps if first == "user" else reversed(steps):
        take(workspace, tmp_path, notes, name, venue_id=venue_id)
    take(workspace, tmp_path, [content_only(4)], "iclr2019_more.json")
    assert workspace.raw.venues() == [KITES]
    assert [one.venue_from for one in papers(workspace, KITES)] == [VenueSource.IMPORT]


def test_user_decides_between_names(tmp_path: Path, workspace: Workspace) -> None:
    for part in ("2019", "2018"):
        name, notes = PARTS[part]
        take(workspace, tmp_path, notes, name)
    assert workspace.raw.venues() == ["unplaced"]
    name, notes = PARTS["content"]
    take(workspace, tmp_path, notes, name, venue_id=ICLR)
    take(workspace, tmp_path, [content_only(5)], "more.json")
    assert workspace.raw.venues() == [ICLR]


def test_renamed_file_is_placed_anew(tmp_path: Path, workspace: Workspace) -> None:
    take(workspace, tmp_path, [content_only(1)], "some.json")
    assert workspace.raw.venues() == ["unplaced"]
    take(workspace, tmp_path, [content_only(1)], "iclr2019_reviews.json")
    take(workspace, tmp_path, [content_only(2)], "more.json")
    assert [one.venue_from for one in papers(workspace, ICLR)] == [VenueSource.IMPORT]


def public_forum(world: World, venue_id: str) -> str:
    """A public submission of a venue with a review that everyone may read."""
    notes = {**world.v1.notes, **world.v2.notes}
    public = (one for one in notes.values() if one["id"] == one["forum"] and "everyone" in str(one["readers"]))
    return next(str(one["id"]) for one in public if venue_id in str(one) and not one.get("ddate"))


@pytest.mark.slow
def test_harvest_reclaims_misplaced_records(tmp_path: Path) -> None:
    world, venue_id, found = build_world(papers=3), VENUES[0].venue_id, []
    with serve_simulator(world) as service, Client(service.base_url_v1, service.base_url_v2, None) as client:
        for order in (("import", "harvest"), ("harvest", "import")):
            with open_workspace(tmp_path / order[0], create=True) as workspace:
                for step in order:
                    if step == "harvest":
                        harvest(workspace, client, [venue_id], request=HarvestRequest(no_files=True))
                    else:
                        take(workspace, tmp_path, [content_only(1, public_forum(world, venue_id))], "iclr2019.json")
                        papers(workspace, ICLR)
                found.append(papers(workspace, venue_id))
                assert workspace.raw.venues() == [venue_id]
                assert papers(workspace, ICLR) == []
                review = workspace.raw.find(RawKind.NOTE, "r1")
                assert review is not None
                assert review.venue_id == venue_id
    assert found[0] == found[1]


@pytest.mark.slow
def test_two_lists_give_one_paper(tmp_path: Path) -> None:
    lists = {"iclr2024.json": "6;3", "iclr2024_before.json": "5;3"}
    told = []
    for number, order in enumerate((tuple(lists), tuple(reversed(lists)), ("all",))):
        with open_workspace(tmp_path / f"corpus{number}", create=True) as workspace:
            for name in lists:
                write_json(tmp_path / "in" / name, [paper_row(rating=lists[name], confidence="4;2", reviewers="")])
            for name in order:
                import_dumps(workspace, [tmp_path / "in"] if name == "all" else [tmp_path / "in" / name])
            import_dumps(workspace, [tmp_path / "in" / "iclr2024.json"])
            (paper,) = papers(workspace, "ICLR.cc/2024/Conference")
            reasons = Counter(row.reason for row in workspace.tables.read(SetAside, paper.venue_id))
            assert reasons == {Reason.SUPERSEDED: 1, Reason.NOTHING_SAID: 2}
            told.append((paper, list(workspace.tables.read(Review, paper.venue_id))))
    assert told[0] == told[1] == told[2]
    assert [review.scores[0].label for review in told[0][1]] == ["6", "3"]


def test_updated_list_replaces_the_earlier(tmp_path: Path, workspace: Workspace) -> None:
    for rating in ("6;3", "8;3"):
        path = write_json(tmp_path / "iclr2024.json", [paper_row(rating=rating, confidence="4;2", reviewers="")])
        import_dumps(workspace, [path])
    assert len(papers(workspace, "ICLR.cc/2024/Conference")) == 1
    labels = [review.scores[0].label for review in workspace.tables.read(Review, "ICLR.cc/2024/Conference")]
    assert labels == ["8", "3"]


BOREALIS = "Borealis.cc/2024/Conference"


def test_new_venue_gets_earlier_records(tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_json(tmp_path / "REVIEWS_train.json", [re2_paper(track="Borealis 2024 Conference")])
    import_dumps(workspace, [path])
    assert workspace.raw.venues() == ["published/Borealis/2024/Conference"]
    monkeypatch.setattr(venue_names, "_find_fitting", lambda _: [BOREALIS])
    import_dumps(workspace, [path])
    assert workspace.raw.venues() == [BOREALIS]


@pytest.mark.slow
@pytest.mark.parametrize("order", [("import", "harvest"), ("harvest", "import")])
def test_harvest_replaces_records_not_texts(tmp_path: Path, workspace: Workspace, order: tuple[str, str]) -> None:
    world = build_world(papers=3)
    forum_id = sorted(
        str(one["id"])
        for one in world.v2.notes.values()
        if one["id"] == one["forum"] and "everyone" in str(one["readers"]) and BOREALIS in str(one)
    )[0]
    published = tmp_path / "published"
    write_parquet(published / "a.parquet", [reviewbench_row(forum_id, venue_id=BOREALIS)])
    write_json(published / "REVIEWS_train.json", [re2_paper(forum_id, "Borealis 2024 Conference")])
    write_manuscript(published, forum_id, text="As submitted.")
    with serve_simulator(world) as service, Client(service.base_url_v1, service.base_url_v2, None) as client:
        for step in order:
            if step == "harvest":
                harvest(workspace, client, [BOREALIS], request=HarvestRequest(no_files=True))
            else:
                import_dumps(workspace, [published])
            build_here(workspace)
    assert workspace.raw.venues() == [BOREALIS]
    standing = read_status(workspace)
    assert standing.holds, standing.balances
    papers = [paper for paper in workspace.tables.read(Paper, BOREALIS) if paper.forum_id == forum_id]
    assert [paper.known_from for paper in papers] == [PaperSource.NOTE]
    reviews = [review for review in workspace.tables.read(Review, BOREALIS) if review.forum_id == forum_id]
    assert not [review for review in reviews if review.review_id.startswith(("r1", "re2"))]
    versions = [one for one in workspace.tables.read(PaperVersion, BOREALIS) if one.forum_id == forum_id]
    assert {one.edit_id: one.grade for one in versions if not one.is_pdf} == {
        f"re2-text:{forum_id}": Grade.STATED,
        f"reviewbench:{forum_id}": Grade.UNSTATED,
    }
    assert {text.markdown for text in workspace.tables.read(PaperText, BOREALIS)} >= {"As submitted.", TEXT}
