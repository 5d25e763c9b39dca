"""Papers of any source in the layout `reviewbench`: its columns and vocabulary, without unpublishable data."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asked_releases import publish_release
from commands import Run, assert_refused
from in_this_process import build_here
from invented_tables import ICLR, TMLR, a_forum, invented, paper
from peercorpus.corpus.takedown import LIST
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.release.request import ReleaseLayout
from peercorpus.release.reviews_json import FIELDS
from peercorpus.release.schemas import PAPERS, PAPERS_FULL, REVIEWBENCH
from peercorpus.release.shards import CONFIGS
from peercorpus.workspace.workspace import open_workspace
from published_records import reviewbench_review, reviewbench_row, write_parquet

D_AND_B = "NeurIPS.cc/2021/Track/Datasets_and_Benchmarks/Round1"
EMNLP = "EMNLP/2023/Conference"
CARD = [*FIELDS, "extra_scores", "extra_text"]


def read_rows(release: Path) -> dict[str, dict[str, Any]]:
    rows = [row for path in sorted(release.glob("data/*.parquet")) for row in pq.read_table(path).to_pylist()]
    return {row["forum_id"]: row for row in rows}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layout")
    nothing = {"title": None, "abstract": None, "venue": None, "decision": None, "decision_comment": None}
    venues: dict[str, list[object]] = {
        ICLR: a_forum("f1"),
        TMLR: [
            paper("f2", TMLR, number=None, year=2024),
            paper("f3", TMLR, **nothing, decided_at=None, created_at=None, keywords=()),
        ],
        D_AND_B: [paper("f4", D_AND_B, conference="neurips", year=2021, track="Track/Datasets_and_Benchmarks/Round1")],
        EMNLP: [paper("f5", EMNLP, conference="emnlp", year=2023, venue="EMNLP 2023 Findings")],
    }
    with invented(folder / "corpus", venues) as workspace:
        publish_release(workspace, folder / "out", layout=ReleaseLayout.REVIEWBENCH)
    return folder / "out"


def test_a_harvested_paper_has_the_columns_of_the_card(release: Path) -> None:
    rows = read_rows(release)
    assert [(row["conference"], row["year"], row["track"]) for row in rows.values()] == [
        ("emnlp", 2023, "findings"),
        ("iclr", 2020, "main"),
        ("neurips", 2021, "datasets_and_benchmarks"),
        ("tmlr", 2024, "main"),
        ("tmlr", None, "main"),
    ]
    assert sorted(path.name for path in (release / "data").iterdir()) == [
        f"{split}-00000-of-00001.parquet" for split in ("emnlp", "iclr", "neurips", "tmlr")
    ]


def test_unknown_values_are_empty_or_null_as_on_the_card(release: Path) -> None:
    row = read_rows(release)["f3"]
    empty = {name for name, value in row.items() if value == ""}
    assert empty == {
        *("title", "abstract", "tldr", "primary_area", "venue", "decision", "decision_comment", "author_rebuttal"),
        "markdown",
    }
    assert {name for name, value in row.items() if value is None} == {"year"}
    assert (row["authors"], row["keywords"], row["reviews_json"]) == ([], [], "[]")
    assert (row["num_reviews"], row["markdown_chars"]) == (0, 0)


def test_reviews_have_the_cards_members_in_order(release: Path) -> None:
    (review,) = json.loads(read_rows(release)["f1"]["reviews_json"])
    assert list(review) == CARD
    assert isinstance(review["extra_scores"], dict)
    assert review["extra_text"]["code_of_conduct"] == "Yes"


def test_our_own_layout_starts_with_the_twenty_columns(release: Path) -> None:
    for schema in (PAPERS, PAPERS_FULL):
        assert schema.names[:20] == REVIEWBENCH.names
        # The year has one type in all our configurations, which is not that of the card.
    assert schema.types[:20] == [
        pa.int64() if name == "year" else REVIEWBENCH.field(name).type for name in REVIEWBENCH.names
    ]
    assert pq.read_schema(next((release / "data").iterdir())).equals(REVIEWBENCH)


@pytest.mark.slow
def test_the_code_of_the_card_runs_on_the_release(release: Path, tmp_path: Path) -> None:
    card = (release / "README.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", card, re.DOTALL))
    assert 'load_dataset("path/to/this/folder")' in code
    code = (
        code.replace("path/to/this/folder", str(release)) + "\nassert set(ds) == {'iclr', 'tmlr', 'emnlp', 'neurips'}"
    )
    assert 'ds["iclr"]' in code  # The first split whose first paper has a review.
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | offline, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "review_id" in done.stdout


def test_the_card_mentions_nothing_that_the_layout_lacks(release: Path) -> None:
    card = (release / "README.md").read_text()
    elsewhere = {name for config in CONFIGS.values() for name in config.schema.names} | {"papers", "papers_full"}
    sentences = [one for one in re.split(r"(?<=[.:])\s", card) if "default layout" not in one]
    assert [
        one for one in sentences if {*re.findall(r"`(\w+)`", one)} & (elsewhere - {*REVIEWBENCH.names, *CARD})
    ] == []
    assert [word for word in ("tasks", "its split", "every other post", "conversations |") if word in card] == []
    assert "`track` | string | `main`, `datasets_and_benchmarks`, `findings`" in card


def test_verify_and_diff_read_it_and_products_refuse_it_in_one_sentence(release: Path, run: Run) -> None:
    assert run("verify", release).code == 0
    assert "Nothing differs." in run("diff", release, release).out
    assert_refused(run("export", release, "--out", release.parent / "x", "--format", "jsonl"), "no task configurations")
    for command in ("report", "table1"):
        out = ("--out", release.parent / "x") if command == "report" else ()
        assert_refused(run(command, "--workspace", release, *out), "layout 'reviewbench'", "workspace")
    assert not (release.parent / "x").exists()


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """A workspace with one paper of ReviewBench that names people and has two reviews by one reviewer."""
    reviews = [
        reviewbench_review(summary="Write to ada@kites.example.", extra_text={"to": "bo@kites.example"}),
        reviewbench_review(review_id="r2", rebuttal="Thank you, r2."),
        reviewbench_review(review_id="r2", summary="The same id again.", rebuttal=""),
    ]
    row = reviewbench_row(reviews=reviews, authors=["Ada Example", "", None], track="findings", year=2022)
    write_parquet(tmp_path / "in" / "a.parquet", [row])
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        import_dumps(workspace, [tmp_path / "in"])
        build_here(workspace)
    return tmp_path / "corpus"


def publish_row(workspace: Path, *, no_authors: bool = False) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    out = workspace.parent / "out"
    with open_workspace(workspace) as opened:
        publish_release(opened, out, layout=ReleaseLayout.REVIEWBENCH, no_authors=no_authors)
    (row,) = read_rows(out).values()
    return row, json.loads(row["reviews_json"])


@pytest.mark.slow
def test_a_record_keeps_its_text_and_email_addresses_are_masked(imported: Path) -> None:
    row, reviews = publish_row(imported)
    assert (row["track"], row["year"], row["authors"]) == ("findings", 2022, ["Ada Example", "", None])
    assert reviews[0]["summary"] == "Write to [e-mail]."
    assert reviews[0]["extra_text"] == {"to": "[e-mail]"}
    assert [review["review_id"] for review in reviews] == ["r1", "r2", "r2"]
    assert [review["rebuttal"] for review in reviews] == ["We thank the reviewer.", "Thank you, r2.", ""]


def test_what_is_taken_down_is_not_in_the_layout(imported: Path) -> None:
    (imported / LIST).write_text("r1\nr2/rebuttal\n")
    row, reviews = publish_row(imported)
    assert [(review["review_id"], review["rebuttal"]) for review in reviews] == [("r2", ""), ("r2", "")]
    assert row["num_reviews"] == 2
    assert "ada" not in row["reviews_json"]


def test_without_authors_no_name_is_published(imported: Path) -> None:
    row, _ = publish_row(imported, no_authors=True)
    assert row["authors"] == []
    assert "Ada Example" not in json.dumps(row, ensure_ascii=False)


@pytest.mark.slow
def test_publish_writes_the_layout_and_refuses_options_it_lacks(imported: Path, run: Run, tmp_path: Path) -> None:
    layout = ("publish", "--workspace", imported, "--layout", "reviewbench", "--out", tmp_path / "cli")
    assert_refused(run(*layout, "--splits", "re2"), "--splits cannot be used with --layout reviewbench")
    assert_refused(run(*layout, "--latex"), "--latex cannot be used with --layout reviewbench")
    assert_refused(run(*layout, "--texts", "all"), "--texts all cannot be used with --layout reviewbench")
    assert not (tmp_path / "cli").exists()
    made = run(*layout).out
    assert "load_dataset(" in made
    assert "conversation" not in made, "the layout has none"
    assert run("verify", tmp_path / "cli", "--workspace", imported).code == 0
    assert "nothing" in run(*layout).out.lower()
    assert run("publish", "--workspace", imported, "--out", tmp_path / "cli", "--splits", "none").code == 0
    assert (tmp_path / "cli" / "data" / "papers").is_dir()
