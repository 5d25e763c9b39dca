"""Queries of a corpus are read-only, bounded, and reach nothing but its tables."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asked_releases import publish_release
from invented_releases import task_paper, write_release
from invented_tables import two_conferences
from peercorpus.errors import PeercorpusError
from peercorpus.release.dated_releases import open_target
from peercorpus.sql import worker
from peercorpus.sql.public_tables import open_public_tables
from peercorpus.sql.query import ALLOCATORS, Database
from peercorpus.sql.worker import Reply, Request
from peercorpus.workspace.workspace import open_workspace
from planted_releases import resign

pytest.importorskip("duckdb", reason="duckdb is not installed")
SECRET = "obey-the-abstract"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    folder = tmp_path_factory.mktemp("asked")
    papers = [task_paper(name, abstract=SECRET, grade=None) | {"reviews": []} for name in ("a", "b", "c")]
    write_release(folder, {("papers_full", "iclr"): papers}, {"a": "CC", "b": "CC", "c": "CC"})
    (folder / "data" / "papers" / "secret.csv").write_text("x\n1\n")
    with open_public_tables(folder) as tables:
        return tables.database


def ask_here(database: Database, sql: str, offset: int = 0, limit: int = 10, cell_chars: int = 50) -> Reply:
    """Run a statement in this process as the worker process does."""
    tables = {name: [str(path) for path in paths] for name, paths in database.tables.items()}
    schemas = {name: schema.serialize().to_pybytes() for name, schema in database.empty.items()}
    try:
        return worker.answer(Request(tables, schemas, sql, offset=offset, limit=limit, cell_chars=cell_chars))
    except Exception as error:  # noqa: BLE001 -- as the process does
        return Reply(refusal=worker.explain(error))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT forum_id FROM papers_full ORDER BY ALL",
        "FROM papers_full SELECT forum_id ORDER BY forum_id DESC NULLS LAST LIMIT 50%",
        "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 3) SELECT DISTINCT x FROM n",
        "SELECT year, count(*) FILTER (year > 2000) FROM papers_full GROUP BY ALL HAVING count(*) > 1",
        "SELECT p.forum_id FROM papers_full p LEFT JOIN reviews USING (forum_id) WHERE EXISTS (SELECT 1 FROM papers)",
        "SELECT row_number() OVER (PARTITION BY year ORDER BY forum_id) AS place FROM papers_full QUALIFY place < 3",
        "SELECT list_transform([1, 2], lambda x: x + 1), {'a': 1}, CASE WHEN true THEN 1 END, CAST('1' AS INT)",
        "SELECT unnest(keywords) FROM papers_full TABLESAMPLE 50%",
        "VALUES (1), (2)",
        "SELECT 1 UNION ALL BY NAME SELECT 2 AS b EXCEPT SELECT 3, 4",
        "SELECT created_at, decided_at, now() FROM papers_full",
    ],
)
def test_a_plain_select_is_answered(database: Database, sql: str) -> None:
    assert ask_here(database, sql).refusal is None


@pytest.mark.fault(
    "input", "SQL that would write, read other files or load code", "refused; nothing is written", times=26
)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{folder}/data/papers/secret.csv')",
        "SELECT * FROM '{folder}/data/papers/secret.csv'",
        'WITH "{folder}/data/papers/secret.csv" AS (SELECT 1) SELECT 1',
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM query('SELECT 1')",
        "WITH duckdb_settings AS (SELECT 1) SELECT 1",
        "SELECT current_setting('allowed_paths')",
        "SELECT getenv('HOME')",
        "COPY papers TO '{folder}/copy.csv'",
        "CREATE TABLE x AS SELECT 1",
        "INSERT INTO papers VALUES (1)",
        "WITH gone AS (DELETE FROM papers RETURNING *) SELECT * FROM gone",
        "SET threads = 1",
        "ATTACH '{folder}/x.db'",
        "INSTALL httpfs",
        "PRAGMA version",
        "SUMMARIZE papers",
        "SELECT * FROM (DESCRIBE papers)",
        "PIVOT papers ON year USING count(*)",
        "SELECT 1; SELECT 2",
        "",
        "SELECT FROM WHERE",
        "SELECT " + "(" * 2_000 + "1" + ")" * 2_000,
    ],
)
def test_everything_else_is_refused_and_writes_nothing(database: Database, sql: str) -> None:
    folder = database.tables["papers"][0].parents[2]
    before = sorted(folder.rglob("*"))
    refusal = ask_here(database, sql.format(folder=folder)).refusal
    assert refusal
    assert "\n" not in refusal
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("sql", ["SELECT abstract::INT FROM papers_full", "SELECT error(abstract) FROM papers_full"])
def test_a_refusal_never_quotes_values_of_the_tables(database: Database, sql: str) -> None:
    refusal = ask_here(database, sql).refusal
    assert refusal
    assert SECRET not in refusal


def test_long_texts_and_lists_are_cut_and_counted(database: Database) -> None:
    found = ask_here(database, "SELECT repeat('a', 1000), range(1000), 'nan'::DOUBLE, 'x'::BLOB", cell_chars=10)
    text, numbers, missing, raw = found.rows[0]
    assert (text, len(numbers), missing, raw) == ("a" * 10 + "…[990 more characters]", 200, "nan", "<1 bytes>")


def test_rows_are_skipped_and_limited(database: Database) -> None:
    assert ask_here(database, "SELECT * FROM range(10000)", offset=5_000, limit=2).rows == [[5_000], [5_001]]


@pytest.mark.slow
@pytest.mark.fault("input", "SQL without end", "it is stopped")
def test_an_endless_query_is_stopped(database: Database) -> None:
    hasty = Database(database.tables, database.empty, time_limit_s=1.5)
    with pytest.raises(PeercorpusError, match="stopped after"):
        hasty.ask("SELECT count(*) FROM range(1000000000000)")


@pytest.mark.slow
@pytest.mark.fault("input", "SQL that takes all memory", "it is stopped")
def test_queries_out_of_memory_are_stopped(database: Database) -> None:
    with pytest.raises(PeercorpusError, match="memory limit"):
        database.ask("SELECT len(range(1000000000))")


@pytest.mark.parametrize(
    ("sql", "said"), [("SELECT 1\0", "code 0"), ("SELECT '\ud800'", "surrogate"), ("x" * 30_000, "20,000")]
)
def test_odd_statements_are_refused(database: Database, sql: str, said: str) -> None:
    with pytest.raises(PeercorpusError, match=said):
        database.ask(sql)


def test_a_folder_that_cannot_be_queried_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PeercorpusError, match="neither a workspace nor a release"), open_public_tables(tmp_path):
        pass
    with pytest.raises(PeercorpusError, match="not a folder"), open_public_tables(tmp_path / "none"):
        pass
    with open_workspace(tmp_path / "unbuilt", create=True) as workspace:
        (workspace.folder / "venues.toml").touch()
    with pytest.raises(PeercorpusError, match="peercorpus build"), open_public_tables(tmp_path / "unbuilt"):
        pass
    files = '{"data/iclr-00000-of-00001.parquet": "0"}'
    (tmp_path / "release.json").write_text(f'{{"generator": "peercorpus", "version": "1", "files": {files}}}')
    with pytest.raises(PeercorpusError, match="take an intact copy"), open_public_tables(tmp_path):
        pass
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"forum_id": ["f1"]}), tmp_path / "data" / "iclr-00000-of-00001.parquet")
    resign(tmp_path)
    with pytest.raises(PeercorpusError, match="layout 'reviewbench'"), open_public_tables(tmp_path):
        pass


@pytest.mark.slow
def test_unchanged_workspaces_use_their_release(tmp_path: Path) -> None:
    folder = two_conferences(tmp_path / "corpus")
    with open_workspace(folder) as workspace, open_target(folder, None, None) as target:
        publish_release(workspace, target.folder)
    count = "SELECT count(*) FROM papers_full"
    with open_public_tables(folder) as tables:
        assert tables.database.tables["papers_full"][0].is_relative_to(target.final)
        assert tables.database.ask(count).rows == [[18]]
    (folder / "takedown.txt").write_text("f1\n")
    with open_public_tables(folder) as tables:
        assert not tables.database.tables["papers_full"][0].is_relative_to(folder)
        assert tables.database.ask(count).rows == [[17]]


SHOW_PEAK = """
from peercorpus.sql import worker
worker.main()
import sys
print(*[line.split()[1] for line in open("/proc/self/status") if line.startswith("VmPeak:")], file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_small_queries_take_little_memory(database: Database) -> None:
    tables = {name: [str(path) for path in paths] for name, paths in database.tables.items()}
    schemas = {"empty": pa.schema([("number", pa.int64())]).serialize().to_pybytes()}
    request = Request(tables, schemas, "SELECT * FROM papers_full", limit=10, cell_chars=50)
    ended = subprocess.run(
        [sys.executable, "-c", SHOW_PEAK],
        input=msgspec.json.encode(request),
        capture_output=True,
        check=True,
        env=os.environ | ALLOCATORS,
    )
    assert len(msgspec.json.decode(ended.stdout, type=Reply).rows) == 3
    assert int(ended.stderr) * 1024 < worker.ADDRESS_SPACE_BYTES / 2
