"""The folder of a release: complete or absent, never in place of anything else, and opened by its users' tools."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from answered_points import with_points
from asked_releases import publish_release
from invented_tables import ICLR, ICML, TMLR, a_forum, invented, link, paper, review, what_follows
from peercorpus.errors import PeercorpusError, TableError
from peercorpus.release.columns import column_meaning
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.schemas import Papers
from peercorpus.release.shards import CONFIGS, SplitWriter
from peercorpus.workspace.workspace import open_workspace


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_release_is_the_same_every_time(tmp_path: Path) -> None:
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


def test_a_file_in_the_way_stays(tmp_path: Path) -> None:
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


def test_reviews_without_a_paper_are_counted(tmp_path: Path) -> None:
    records = [paper("f2"), *(review(forum_id) for forum_id in ("f1", "f2", "f3"))]
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        summary = publish_release(workspace, tmp_path / "out")
    assert (summary.reviews, summary.orphans) == (1, 2)
    assert "2 reviews and conversations" in (tmp_path / "out" / "README.md").read_text()


def test_tables_out_of_order_are_an_error(tmp_path: Path) -> None:
    records = [paper("f1"), paper("f2"), review("f2"), review("f1")]
    with (
        invented(tmp_path / "corpus", {ICLR: records}) as workspace,
        pytest.raises(TableError, match="'peercorpus build'"),
    ):
        publish_release(workspace, tmp_path / "out")


def test_shards_keep_the_limit(tmp_path: Path) -> None:
    writer = SplitWriter(tmp_path, CONFIGS["conversations"], "iclr", shard_bytes=50_000)
    for number in range(5_000):
        writer.add({"conversation_id": hashlib.sha256(str(number).encode()).hexdigest()})
    split = writer.finish()
    files = sorted((tmp_path / "data" / "conversations").iterdir())
    assert [path.name for path in files] == [f"iclr-{n:05d}-of-{split.shards:05d}.parquet" for n in range(split.shards)]
    assert split.shards > 3
    assert max(path.stat().st_size for path in files) <= 50_000 + 5_000
    assert sum(path.stat().st_size for path in files) == split.file_bytes


ICLR_2021 = "ICLR.cc/2021/Conference"

# `datasets` reads its cache folder and offline setting only once, when it is imported.
OPEN = """
import sys
from datasets import DatasetInfo, Features, load_dataset, load_dataset_builder
from huggingface_hub import DatasetCard
from peercorpus.release.shards import CONFIGS
folder, expected = sys.argv[1], eval(sys.argv[2])
for config, rows in expected.items():
    loaded = load_dataset(folder, config)
    assert {name: split.num_rows for name, split in loaded.items()} == rows, (config, loaded)
    features = Features.from_arrow_schema(CONFIGS[config].schema)
    streamed = load_dataset(folder, config, streaming=True)
    info = load_dataset_builder(folder, config).info
    for name, count in rows.items():
        assert loaded[name].features == streamed[name].features == features, (config, loaded[name].features)
        assert list(streamed[name]) == list(loaded[name]), config
        table, split = loaded[name].data.table, info.splits[name]
        assert abs(split.num_bytes - table.nbytes) <= 0.05 * table.nbytes + 400, (split, table.nbytes)
assert load_dataset(folder)["icml"][0]["forum_id"] == "f4"
card = DatasetCard.load(folder + "/README.md")
assert [config["config_name"] for config in card.data.configs] == list(expected)
assert card.data.license == "other" and card.data.size_categories == ["n<1K"]
for described in card.data.dataset_info:
    name = described["config_name"]
    again = DatasetInfo._from_yaml_dict(described)
    assert {split: one.num_examples for split, one in again.splits.items()} == expected[name]
"""
CORPUS = {"iclr": 3, "icml": 1}
TASKS = {"train": 2, "validation": 1, "test": 1}
ROWS = {
    "papers": CORPUS | {"tmlr": 1},
    "papers_full": CORPUS | {"tmlr": 1},
    "reviews": CORPUS,
    "meta_reviews": {"iclr": 1},
    "ai_reviews": {"iclr": 1},
    "posts": {"iclr": 7, "icml": 2},
    "conversations": CORPUS,
    "versions": {"iclr": 4, "icml": 1},
    "texts": {"iclr": 4, "icml": 1},
    "changes": {"iclr": 1},
    "scores": {"iclr": 9, "icml": 3},
    "points": CORPUS,
    "answers": {"iclr": 6, "icml": 2},
    "links": {"tmlr": 1},
    "tries": {"iclr": 1, "tmlr": 1},
    "review_sft": TASKS,
    "rebuttal": TASKS,
    "meta_review_sft": {"test": 1},
    "acceptance": {"test": 1},
}
"""Return the number of rows by configuration and split."""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    venues: dict[str, list[object]] = {
        ICLR: [*a_forum("f1"), *what_follows("f1"), *a_forum("f2")],
        ICLR_2021: a_forum("f3", ICLR_2021),
        ICML: a_forum("f4", ICML),
        TMLR: [paper("f5", TMLR, number=None, title=None), link("f5", TMLR, "f3", ICLR_2021)],
    }
    with_all = {venue_id: with_points(records) for venue_id, records in venues.items()}
    with invented(folder / "corpus", with_all) as workspace:
        publish_release(workspace, folder / "out", splits=SplitRequest(Profile.RE2), points=True)
    return folder / "out"


@pytest.mark.slow
def test_datasets_opens_every_configuration(release: Path, tmp_path: Path) -> None:
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-W", "error::FutureWarning:datasets", "-c", OPEN, str(release), repr(ROWS)]
    done = subprocess.run(command, env=os.environ | offline, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("config", ROWS)
def test_polars_duckdb_and_pandas_open_it(release: Path, config: str) -> None:
    for split, rows in ROWS[config].items():
        files = str(release / "data" / config / f"{split}-*.parquet")
        (path,) = (release / "data" / config).glob(f"{split}-*.parquet")
        assert pl.scan_parquet(files).collect().height == rows
        assert duckdb.connect().execute(f"SELECT count(*) FROM '{files}'").fetchall() == [(rows,)]
        held = duckdb.connect().sql(f"SELECT * FROM '{files}'").to_arrow_table()
        assert held.num_rows == rows
        assert len(pd.read_parquet(path)["forum_id"].dropna()) == rows


@pytest.mark.parametrize("config", ROWS)
def test_parquet_files_have_a_schema_and_index(release: Path, config: str) -> None:
    for path in (release / "data" / config).iterdir():
        file = pq.ParquetFile(path)
        assert file.schema_arrow.equals(CONFIGS[config].schema)
        assert column_meaning(file.schema_arrow.field("forum_id")).startswith("OpenReview's id")
        assert file.metadata.row_group(0).column(0).has_column_index


def test_the_columns_are_those_of_reviewbench() -> None:
    assert " ".join(Papers.schema.names) == (
        "forum_id conference year track venue_id paper_number title abstract authors keywords tldr primary_area venue"
        " decision decision_comment author_rebuttal num_reviews reviews_json markdown markdown_chars licence"
    )
