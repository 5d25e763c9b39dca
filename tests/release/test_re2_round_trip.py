"""Files in Re²'s format survive import, build, publish and export unchanged, except for listed differences."""

import json
from pathlib import Path

import pytest

from asked_releases import publish_release
from in_this_process import build_here
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.models.chat_messages import ChatOptions
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import Grade
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.layouts import ExportRequest
from peercorpus.release.exports.samples import PromptOptions
from peercorpus.release.folder import open_release
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.workspace.workspace import open_workspace
from published_records import re2_paper, reviewbench_review, reviewbench_row, write_json, write_parquet
from re2_files import SPLITS, Record, write_re2

pytestmark = pytest.mark.slow

RE2 = ExportRequest(ExportLayout.RE2, telling=PromptOptions(chat=ChatOptions(ends_answered=False)))
DIFFERENCES = {
    "the order of records": "a release lists papers by venue and id, and conversations in the order of the reviews",
    "licence, paper_grade": "ours: what a user of the text must know",
    "initial_score, final_score of a conversation": "those of the review, where the record has none",
}
"""Return what an exported file has that the imported one lacked, with the reason."""


@pytest.fixture(scope="module")
def trip(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folders of the files and of their export."""
    folder = tmp_path_factory.mktemp("re2")
    write_re2(folder / "in")
    with open_workspace(folder / "corpus", create=True) as workspace:
        import_dumps(workspace, [folder / "in"])
        build_here(workspace)
        standing = read_status(workspace)
        assert standing.holds, standing.balances
        publish_release(workspace, folder / "release", splits=SplitRequest(Profile.STATED), grade=Grade.STATED.value)
    export_release(folder / "release", folder / "out", RE2)
    return folder / "in", folder / "out"


def read(folder: Path, name: str) -> dict[tuple[str, str], Record]:
    """The records of one file, by paper and reviewer."""
    records = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return {(record["paper_id"], record.get("reviewer_id", "")): record for record in records}


def without_ours(exported: Record, stated: Record) -> Record:
    added = {"licence", "paper_grade"} | ({"initial_score", "final_score"} - stated.keys())
    return {name: value for name, value in exported.items() if name not in added}


@pytest.mark.parametrize("name", [f"{name}_{split}" for name in ("REVIEWS", "REBUTTAL") for split in SPLITS])
def test_records_of_re2_survive_the_round_trip_unchanged(trip: tuple[Path, Path], name: str) -> None:
    stated, exported = (read(folder, name) for folder in trip)
    assert exported.keys() == stated.keys()
    for key, record in stated.items():
        assert without_ours(exported[key], record) == record


def test_manuscripts_are_written_to_their_original_paths(trip: tuple[Path, Path]) -> None:
    stated, exported = (
        {path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder / "papers").rglob("*.md")}
        for folder in trip
    )
    assert exported == stated


def test_a_paper_of_both_datasets_has_re2s_text_if_re2_has_the_review(tmp_path: Path) -> None:
    words = "Strong points: kites fly. Weak points: they fall."
    reviews = [
        reviewbench_review(reviewer="Reviewer_AbCd", review_id="a"),
        reviewbench_review(reviewer="Reviewer_EfGh", review_id="b", summary="Only ReviewBench has it."),
    ]
    write_parquet(tmp_path / "rb" / "kites.parquet", [reviewbench_row(reviews=reviews)])
    paper = re2_paper(reviews=[re2_paper()["reviews"][0] | {"review_content": words}])
    write_json(tmp_path / "re2" / "REVIEWS_train.json", [paper])
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        import_dumps(workspace, [tmp_path / "rb", tmp_path / "re2"])
        build_here(workspace)
        splits = SplitRequest(Profile.STATED)
        publish_release(workspace, tmp_path / "release", splits=splits, grade=Grade.UNSTATED.value)
    export_release(tmp_path / "release", tmp_path / "out", RE2)
    (exported,) = read(tmp_path / "out", "REVIEWS_train").values()
    texts = {review["reviewer_id"]: review["review_content"] for review in exported["reviews"]}
    assert texts["Reviewer_AbCd"] == words
    assert "Only ReviewBench has it." in texts["Reviewer_EfGh"]
    assert {key for review in exported["reviews"] for key in review} == paper["reviews"][0].keys()
    assert exported.keys() == paper.keys() | {"licence", "paper_grade"}
    rows = [*open_release(tmp_path / "release").rows("reviews", None, None)]
    assert len(rows) == 2
    assert all(words != section["text"] for row in rows for section in row["sections"])
