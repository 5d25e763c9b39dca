"""Measures `publish` beside DuckDB and Polars, which join the same tables and write as many copies of the texts.

A release has the text of a paper four times: alone, with reviews, with conversations and with both (decision 12). The
floor writes these four and the reviews and conversations alone, as Parquet with zstd; it withholds, checks, counts and
orders nothing, and writes no card. `python benchmarks/flooring.py WORKSPACE OUT` does so with the tables of a
workspace.
"""

import shutil
import sys
from pathlib import Path

import duckdb
import polars as pl
from deltalake import DeltaTable

from apart import run_apart
from publishing import fill, publish_all

ROUNDS = 3
TABLES = {
    "papers": "1-papers",
    "reviews": "2-reviews",
    "versions": "4-versions",
    "texts": "5-texts",
    "talks": "6-conversations",
}
BESIDE = {"papers": (), "papers_full": ("reviews", "talks"), "review_sft": ("reviews",), "rebuttal": ("talks",)}
"""What each copy of the texts is combined with."""


def _files(corpus: Path, name: str) -> list[str]:
    return DeltaTable(corpus / "tables" / TABLES[name]).file_uris()


def by_duckdb(corpus: Path, out: Path) -> None:
    """One query a copy."""
    out.mkdir()
    database = duckdb.connect(config={"threads": 2})
    database.execute("SET enable_progress_bar = false")
    for name in TABLES:
        files = _files(corpus, name)
        database.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet({files!r}, hive_partitioning = true)")
    for copy, beside in BESIDE.items():
        lists = "".join(f", {name}" for name in beside)
        joins = "".join(
            f" LEFT JOIN (SELECT forum_id, list({name}) AS {name} FROM {name} GROUP BY 1) USING (forum_id)"
            for name in beside
        )
        _copy(
            database,
            f"SELECT papers.*, sha256, markdown{lists} FROM papers LEFT JOIN (SELECT forum_id, sha256, markdown"
            " FROM versions JOIN texts USING (venue_id, sha256) WHERE is_initial) USING (forum_id)"
            f"{joins}",
            out / f"{copy}.parquet",
        )
    for name in ("reviews", "talks"):
        _copy(database, f"SELECT * FROM {name}", out / f"{name}.parquet")


def _copy(database: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    database.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")


def by_polars(corpus: Path, out: Path) -> None:
    """One lazy query a copy, streamed."""
    out.mkdir()
    held = {name: pl.scan_parquet(_files(corpus, name), hive_partitioning=True) for name in TABLES}
    initial = held["versions"].filter(pl.col("is_initial")).select("venue_id", "forum_id", "sha256")
    markdown = held["texts"].select("venue_id", "sha256", "markdown")
    read = initial.join(markdown, on=("venue_id", "sha256")).drop("venue_id")
    texts = held["papers"].join(read, on="forum_id", how="left")
    for copy, beside in BESIDE.items():
        query = texts
        for name in beside:
            of_forum = held[name].group_by("forum_id").agg(pl.struct(pl.all()).alias(name))
            query = query.join(of_forum, on="forum_id", how="left")
        query.sink_parquet(out / f"{copy}.parquet", compression="zstd")
    for name in ("reviews", "talks"):
        held[name].sink_parquet(out / f"{name}.parquet", compression="zstd")


WAYS = {"peercorpus": publish_all, "DuckDB": by_duckdb, "Polars": by_polars}


def measure_way(way: str, corpus: Path, out: Path) -> tuple[float, float, float, float]:
    """Seconds of processor and of the clock, peak megabytes, and megabytes of Parquet."""
    shutil.rmtree(out, ignore_errors=True)
    took = run_apart([sys.executable, __file__, way, str(corpus), str(out)])
    written = sum(path.stat().st_size for path in out.rglob("*.parquet")) / 1e6
    return took.cpu_s, took.seconds, took.peak_mb, written


def measure_floor(scratch: Path, papers: int = 5_000) -> None:
    """The three on made-up papers."""
    corpus = scratch / "floor"
    fill(corpus, papers)
    measure(corpus, scratch / "floor-out", ROUNDS)


def measure(corpus: Path, out: Path, times: int) -> None:
    """The three in turns; of each its round with the least processor time."""
    rounds = [{way: measure_way(way, corpus, out) for way in WAYS} for _ in range(times)]
    best = {way: min(each[way] for each in rounds) for way in WAYS}
    print(f"\nprocessor time, the best of {times} rounds\n")
    print("| what writes | processor s | s | peak MB | MB of Parquet | ours by it |\n|---|---:|---:|---:|---:|---:|")
    for way, (cpu_s, took_s, peak, written) in best.items():
        ratio = best["peercorpus"][0] / cpu_s
        print(f"| {way} | {cpu_s:.1f} | {took_s:.1f} | {peak:,.0f} | {written:,.0f} | {ratio:.1f} |")


if __name__ == "__main__":
    if sys.argv[1] in WAYS:
        WAYS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        measure(Path(sys.argv[1]), Path(sys.argv[2]), 1)
