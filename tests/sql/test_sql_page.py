"""Every statement in docs/sql.md returns what the page shows, for the papers of the demo."""

import re
from pathlib import Path

import polars as pl
import pytest

import peercorpus
from asked_here import patch_queries
from asked_releases import publish_release
from invented_tables import ICLR, a_forum, invented, what_follows
from peercorpus.cli.sql import as_text

pytest.importorskip("duckdb", reason="duckdb is not installed")
PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text()
QUESTIONS = {
    title: (statement, result)
    for title, statement, result in re.findall(
        r"^### \d+\. ([^\n]+)\n.+?^```sql\n(.+?)^```\n+^```text\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL
    )
}


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_queries(monkeypatch)


def test_there_are_ten_questions() -> None:
    assert len(QUESTIONS) == 10 == PAGE.count("```sql")


@pytest.mark.parametrize("title", QUESTIONS)
def test_a_statement_returns_what_the_page_shows(demo_folder: Path, title: str) -> None:
    statement, result = QUESTIONS[title]
    assert as_text(peercorpus.load_release(demo_folder / "release").sql(statement)) == result


def test_polars_counts_like_sql(demo_folder: Path) -> None:
    release = peercorpus.load_release(demo_folder / "release")
    scores = release.table("scores").filter(pl.col("aspect") == "recommendation", pl.col("initial").is_not_null())
    raised = scores.filter(pl.col("final") > pl.col("initial")).collect().height
    statement, _ = QUESTIONS["How many reviewers change their score after the rebuttal?"]
    counted = release.sql(statement)
    assert (counted["known"].sum(), counted["raised"].sum()) == (scores.collect().height, raised) == (9, 2)
    silent = release.table("reviews").filter(pl.col("rebuttal") == "").select("forum_id", "reviewer").collect()
    statement, _ = QUESTIONS["Which reviews did the authors not answer?"]
    assert set(release.sql(statement).select("forum_id", "reviewer").rows()) == set(silent.rows())


def test_reviews_by_an_ai_are_counted_apart(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [*a_forum("p"), *what_follows("p"), *a_forum("q")]}) as workspace:
        publish_release(workspace, tmp_path / "release")
    statement, _ = QUESTIONS["How many reviews were written by an AI of the venue?"]
    assert peercorpus.load_release(tmp_path / "release").sql(statement).rows() == [(ICLR, 2, 1)]
