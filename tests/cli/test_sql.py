"""`peercorpus sql` prints what a SELECT over the public tables returns, and refuses everything else in one sentence."""

import csv
import io
import json
from pathlib import Path

import pytest

from asked_here import patch_queries
from commands import Run, assert_refused
from invented_releases import task_paper, write_release
from invented_tables import two_conferences

pytest.importorskip("duckdb", reason="duckdb is not installed")

PAPERS = "SELECT forum_id, year, keywords FROM papers_full ORDER BY forum_id"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    papers = [task_paper(name, title="=1+1", grade=None) | {"reviews": []} for name in ("a", "b", "c")]
    folder = tmp_path_factory.mktemp("asked")
    return write_release(folder, {("papers_full", "iclr"): papers}, {"a": "CC", "b": "CC", "c": "CC"})


@pytest.fixture(autouse=True)
def _in_this_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "apart" not in request.node.name:
        patch_queries(monkeypatch)


def test_results_are_text_csv_or_json(run: Run, release: Path) -> None:
    assert run("sql", "-w", release, PAPERS).out.splitlines() == [
        "forum_id  year  keywords",
        'a         2020  ["kites"]',
        'b         2020  ["kites"]',
        'c         2020  ["kites"]',
        "3 rows.",
    ]
    as_csv = run("sql", "-w", release, PAPERS, "--format", "csv").out
    assert list(csv.reader(io.StringIO(as_csv)))[1] == ["a", "2020", '["kites"]']
    as_json = run("sql", "-w", release, PAPERS, "--format", "json").out
    assert json.loads(as_json)[2] == {"forum_id": "c", "year": 2020, "keywords": ["kites"]}


def test_limited_results_state_the_total(run: Run, release: Path) -> None:
    text = run("sql", "-w", release, PAPERS, "--limit", "2")
    assert text.out.splitlines()[3:] == ["2 of 3 rows; --limit shows more, --out FILE writes all."]
    as_csv = run("sql", "-w", release, PAPERS, "--limit", "2", "--format", "csv")
    assert len(as_csv.out.splitlines()) == 3
    assert as_csv.err.startswith("2 of 3 rows")


def test_the_extension_of_a_file_chooses_its_format(run: Run, release: Path, tmp_path: Path) -> None:
    for name, beginning in (("a.csv", "forum_id,"), ("a.json", "[\n"), ("a.txt", "forum_id  ")):
        ended = run("sql", "-w", release, PAPERS, "--out", tmp_path / name)
        assert (ended.code, ended.out) == (0, f"Wrote 3 rows to '{tmp_path / name}'.\n")
        assert (tmp_path / name).read_text().startswith(beginning)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.json", "a.txt"]


def test_a_statement_is_read_from_standard_input(run: Run, release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("-- papers\nSELECT count(*) AS papers FROM papers_full"))
    assert run("sql", "-w", release, "-").out == "papers\n     3\n1 row.\n"


def test_without_a_statement_tables_and_columns_are_listed(run: Run, release: Path) -> None:
    tables = run("sql", "-w", release, "--format", "json").out
    rows = {table["table"]: table["rows"] for table in json.loads(tables)}
    assert (rows["papers_full"], rows["reviews"], rows["ai_reviews"]) == (3, 0, 0)
    columns = run("sql", "-w", release, "--table", "reviews").out
    assert "\nsections.kind " in columns
    assert_refused(run("sql", "-w", release, "--table", "nothing"), "papers_full")


@pytest.mark.slow
def test_no_taken_down_rows_are_queried(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_: None)
    folder = two_conferences(tmp_path / "corpus")
    (folder / "takedown.txt").write_text("f1\n")
    ended = run("sql", "-w", folder, "SELECT count(*) AS n FROM reviews", "--format", "csv")
    assert (ended.code, ended.out) == (0, "n\n17\n")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["SELECT FROM WHERE"], "SQL"),
        (["SELECT 1 FROM gone"], "papers_full"),
        (["DROP TABLE papers"], "SELECT"),
        (["SELECT 1", "--table", "reviews"], "--table"),
        ([" "], "empty"),
        (["--nothing"], "--nothing"),
        (["SELECT 1", "--out", "."], "folder"),
        (["SELECT to_months(1) AS span"], "span"),
    ],
)
def test_a_bad_statement_is_refused(
    run: Run, release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run("sql", "-w", release, *arguments), named)


def test_nothing_is_written_into_the_queried_folder(run: Run, release: Path) -> None:
    assert_refused(run("sql", "-w", release, PAPERS, "--out", release / "README.csv"), "inside")
    assert (release / "README.md").read_text() == "# Invented\n"


@pytest.mark.slow
def test_a_slow_statement_is_stopped_apart(run: Run, release: Path) -> None:
    assert_refused(run("sql", "-w", release, "SELECT count(*) FROM range(1000000000000)", "--time-limit-s", "1"), "1 s")
