"""A release opens offline with its users' tools, and describes itself correctly."""

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
from cards import read_card
from invented_tables import ICLR, ICML, TMLR, a_forum, invented, link, paper, what_follows
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.schemas import PAPERS, column_meaning
from peercorpus.release.shards import CONFIGS

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


def test_every_configuration_is_checked() -> None:
    assert list(ROWS) == [name for name in CONFIGS if name != "figures"]  # on demand: test_publish_figures


@pytest.mark.slow
def test_datasets_opens_every_configuration_offline_whole_and_streaming(release: Path, tmp_path: Path) -> None:
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
def test_parquet_files_have_schema_column_descriptions_and_a_page_index(release: Path, config: str) -> None:
    for path in (release / "data" / config).iterdir():
        file = pq.ParquetFile(path)
        assert file.schema_arrow.equals(CONFIGS[config].schema)
        assert column_meaning(file.schema_arrow.field("forum_id")).startswith("OpenReview's id")
        assert file.metadata.row_group(0).column(0).has_column_index


def test_the_columns_are_those_of_reviewbench_in_its_order_and_the_licence() -> None:
    assert " ".join(PAPERS.names) == (
        "forum_id conference year track venue_id paper_number title abstract authors keywords tldr primary_area venue"
        " decision decision_comment author_rebuttal num_reviews reviews_json markdown markdown_chars licence"
    )


def test_the_card_says_how_many_papers_have_a_text_and_how_that_is_known(release: Path) -> None:
    card = read_card(release)
    assert "| all | `accepted` | 4 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 4 |" in card
    assert f"| {ICLR} | `accepted` | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 2 |" in card
    assert f"| {TMLR} | `accepted` | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 |" in card


def test_a_release_without_conversations_has_no_such_configuration(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [paper("f1")]}) as workspace:
        publish_release(workspace, tmp_path / "out")
    assert "conversations" not in read_card(tmp_path / "out").split("---\n")[1]
    assert sorted(path.name for path in (tmp_path / "out" / "data").iterdir()) == ["papers", "papers_full"]
