"""The folder of a release: complete or absent, and never in place of anything else."""

import hashlib
import json
from pathlib import Path

import pytest

from asked_releases import publish_release
from invented_tables import ICLR, ICML, TMLR, a_forum, invented, paper, review
from peercorpus.errors import PeercorpusError, TableError
from peercorpus.release.card.markdown import escape
from peercorpus.release.shards import CONFIGS, SplitWriter
from peercorpus.workspace.workspace import open_workspace


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_release_is_the_same_every_time_and_replaces_an_older_one(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1"), ICML: a_forum("f2", ICML)}) as workspace:
        publish_release(workspace, out, [ICML])
        summary = publish_release(workspace, out)
        first = contents(out)
        publish_release(workspace, out)
    assert contents(out) == first
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert (summary.venues, summary.papers, summary.reviews, summary.conversations) == (2, 2, 2, 2)
    assert summary.with_text == 2
    rows = {"papers": 1, "papers_full": 1, "reviews": 1, "posts": 2, "conversations": 1, "versions": 1, "texts": 1}
    assert [(split.config, split.name, split.rows) for split in summary.splits] == [
        *((config, split, count) for config, count in rows.items() for split in ("iclr", "icml")),
        ("scores", "iclr", 3),
        ("scores", "icml", 3),
    ]


@pytest.mark.slow
def test_the_manifest_names_every_file_with_its_digest(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace:
        publish_release(workspace, tmp_path / "out")
    found = contents(tmp_path / "out")
    manifest = json.loads(found.pop("release.json"))
    assert manifest["files"] == {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}


@pytest.mark.parametrize("manifest", [None, "{}", "[]", '{"generator": "peercorpus", "files": {}}'])
def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, manifest: str | None) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    if manifest:
        (out / "release.json").write_text(manifest)
    with (
        invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace,
        pytest.raises(PeercorpusError, match=rf"'{out}'.*'(thesis\.tex|release\.json)'"),
    ):
        publish_release(workspace, out)
    assert (out / "thesis.tex").read_text() == "years of work"


def test_a_file_at_the_release_path_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with (
        invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace,
        pytest.raises(PeercorpusError, match=f"'{tmp_path / 'out'}'"),
    ):
        publish_release(workspace, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "a file"


def test_a_release_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace:
        publish_release(workspace, out)
        before = contents(out)

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("peercorpus.release.writing.write_dataset_card", interrupted)
        with pytest.raises(KeyboardInterrupt):
            publish_release(workspace, out)
    assert contents(out) == before
    assert {path.name for path in tmp_path.iterdir()} - {"corpus"} == {"out"}


def test_unbuilt_tables_and_missing_venues_are_reported(tmp_path: Path) -> None:
    with (
        open_workspace(tmp_path / "empty", create=True) as workspace,
        pytest.raises(TableError, match="1-papers"),
    ):
        publish_release(workspace, tmp_path / "out")
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace, pytest.raises(TableError, match=TMLR):
        publish_release(workspace, tmp_path / "out", [TMLR])
    assert not (tmp_path / "out").exists()


def test_reviews_without_a_paper_are_left_out_and_counted(tmp_path: Path) -> None:
    records = [paper("f2"), *(review(forum_id) for forum_id in ("f1", "f2", "f3"))]
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        summary = publish_release(workspace, tmp_path / "out")
    assert (summary.reviews, summary.orphans) == (1, 2)
    assert "2 reviews and conversations" in (tmp_path / "out" / "README.md").read_text()


def test_tables_out_of_order_are_an_error_and_not_a_loss(tmp_path: Path) -> None:
    records = [paper("f1"), paper("f2"), review("f2"), review("f1")]
    with (
        invented(tmp_path / "corpus", {ICLR: records}) as workspace,
        pytest.raises(TableError, match="'peercorpus build'"),
    ):
        publish_release(workspace, tmp_path / "out")


def test_a_split_is_cut_into_shards_that_keep_the_limit(tmp_path: Path) -> None:
    writer = SplitWriter(tmp_path, CONFIGS["conversations"], "iclr", shard_bytes=50_000)
    for number in range(5_000):
        writer.add({"conversation_id": hashlib.sha256(str(number).encode()).hexdigest()})
    split = writer.finish()
    files = sorted((tmp_path / "data" / "conversations").iterdir())
    assert [path.name for path in files] == [f"iclr-{n:05d}-of-{split.shards:05d}.parquet" for n in range(split.shards)]
    assert split.shards > 3
    assert max(path.stat().st_size for path in files) <= 50_000 + 5_000
    assert sum(path.stat().st_size for path in files) == split.file_bytes


def test_nothing_from_a_note_gets_into_the_card(tmp_path: Path) -> None:
    bad_id = "X.cc/2020/<script>|`${}"
    records = [paper("f1", bad_id, conference="x", title="PWNED", venue="PWNED", keywords=("PWNED",))]
    with invented(tmp_path / "corpus", {bad_id: records}) as workspace:
        publish_release(workspace, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    assert "PWNED" not in card
    assert bad_id not in card
    assert escape(bad_id) in card
