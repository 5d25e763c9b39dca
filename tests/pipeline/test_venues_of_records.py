"""Venues that published datasets name are those of the catalogue, so that a later harvest finds their papers there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from in_this_process import build_here
from peercorpus.harvest.harvest import harvest
from peercorpus.importers import venue_names
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.importers.venue_names import venue_named
from peercorpus.openreview.client import Client
from peercorpus.pipeline.status import read_status
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import Grade, PaperSource
from peercorpus.records.papers import Paper, PaperVersion
from peercorpus.records.reviews import Review
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import Workspace, open_workspace
from published_records import TEXT, re2_paper, reviewbench_row, write_json, write_manuscript, write_parquet

BOREALIS = "Borealis.cc/2024/Conference"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        yield opened


NAMES = {
    "NeurIPS 2022 Conference": "NeurIPS.cc/2022/Conference",
    "nips 2022 main": "NeurIPS.cc/2022/Conference",
    "ICLR 2023 Workshop Tiny Papers": "ICLR.cc/2023/TinyPapers",
    "ICLR 2018 Workshop": "ICLR.cc/2018/Workshop",
    "NeurIPS 2023 Track Datasets and Benchmarks": "NeurIPS.cc/2023/Track/Datasets_and_Benchmarks",
    "neurips 2024 datasets_and_benchmarks": "NeurIPS.cc/2024/Datasets_and_Benchmarks_Track",
    "tmlr 2024 main": "TMLR",
    # Two rounds fit, so none does.
    "NeurIPS 2021 Track Datasets and Benchmarks": "published/NeurIPS/2021/Track_Datasets_and_Benchmarks",
    "ICLR 2023 Workshop Kites": "published/ICLR/2023/Workshop_Kites",
    "Kites": "published/Kites",
    "": "unplaced",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_matches_the_only_venue_with_its_words(name: str) -> None:
    assert venue_named(name) == NAMES[name]


def test_a_venue_added_to_the_catalogue_gets_records_imported_before(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_json(tmp_path / "REVIEWS_train.json", [re2_paper(track="Borealis 2024 Conference")])
    import_dumps(workspace, [path])
    assert workspace.raw.venues() == ["published/Borealis/2024/Conference"]
    monkeypatch.setattr(venue_names, "_find_fitting", lambda _: [BOREALIS])
    import_dumps(workspace, [path])
    assert workspace.raw.venues() == [BOREALIS]


@pytest.mark.slow
@pytest.mark.parametrize("order", [("import", "harvest"), ("harvest", "import")])
def test_a_harvest_replaces_records_and_keeps_their_texts(
    tmp_path: Path, workspace: Workspace, order: tuple[str, str]
) -> None:
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
                harvest(workspace, client, [BOREALIS], files=False)
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
