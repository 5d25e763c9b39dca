"""Exports: the same papers as the page, in each format, and the command that reproduces them."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from commands import Run, assert_refused
from explored import LIVELY, QUIET, SILENT
from invented_tables import paper
from peercorpus.corpus.public_forums import PublicForum
from peercorpus.explorer import export
from peercorpus.explorer.export import as_csv, as_jsonl, as_parquet, write_selection
from peercorpus.explorer.paper_row import COLUMNS, PaperRow, paper_row


def ids_in_csv(raw: bytes) -> list[str]:
    return [row["forum_id"] for row in csv.DictReader(io.StringIO(raw.decode()))]


def ids_in_jsonl(raw: bytes) -> list[str]:
    return [json.loads(line)["forum_id"] for line in raw.splitlines()]


def ids_in_parquet(raw: bytes) -> list[str]:
    return [str(one) for one in pq.read_table(io.BytesIO(raw)).column("forum_id").to_pylist()]


READ: dict[str, Callable[[bytes], list[str]]] = {"csv": ids_in_csv, "jsonl": ids_in_jsonl, "parquet": ids_in_parquet}


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sort=oldest", [QUIET, LIVELY, SILENT]),
        ("q=kites&status=accepted", [LIVELY]),
        ("q=nonsense", []),
        ("sort=oldest&page=7", [QUIET, LIVELY, SILENT]),
    ],
)
def test_an_export_has_the_pages_papers(client: TestClient, kind: str, query: str, expected: list[str]) -> None:
    answer = client.get(f"/export.{kind}?{query}")
    assert answer.headers["content-disposition"] == f'attachment; filename="papers.{kind}"'
    assert READ[kind](answer.content) == expected


def a_row(number: int, title: str = "Kites") -> PaperRow:
    return paper_row(PublicForum(paper(f"p{number:05}", title=title), [], [], [], []), frozenset())


@pytest.mark.parametrize(("write", "kind"), [(as_csv, "csv"), (as_jsonl, "jsonl"), (as_parquet, "parquet")])
def test_an_export_is_sent_in_batches(write: Callable[..., object], kind: str) -> None:
    asked = [0]

    def rows() -> object:
        for number in range(1_500):
            asked[0] += 1
            yield a_row(number)

    parts = write(rows())
    first = next(parts)  # type: ignore[call-overload]
    assert asked[0] <= 501
    whole = first + b"".join(parts)  # type: ignore[arg-type]
    assert READ[kind](whole) == [f"p{number:05}" for number in range(1_500)]


def test_two_exports_to_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "papers.csv"
    written: list[int] = []

    def rows_beside_another_export(*_: object) -> Iterator[PaperRow]:
        yield a_row(1)
        monkeypatch.setattr(export, "select_rows", lambda *_: [a_row(2), a_row(3)])
        written.append(write_selection(None, None, out))  # type: ignore[arg-type]
        assert ids_in_csv(out.read_bytes()) == ["p00002", "p00003"]

    monkeypatch.setattr(export, "select_rows", rows_beside_another_export)
    assert write_selection(None, None, out) == 1  # type: ignore[arg-type]
    assert written == [2]
    assert ids_in_csv(out.read_bytes()) == ["p00001"]
    assert [path.name for path in tmp_path.iterdir()] == ["papers.csv"]


@pytest.mark.fault(
    "input", "a title that a spreadsheet would run as a formula, in an export of the explorer", "it is text there"
)
def test_no_csv_cell_is_a_formula() -> None:
    (row,) = csv.DictReader(io.StringIO(b"".join(as_csv([a_row(1, '=HYPERLINK("x")')])).decode()))
    assert row["title"] == '\'=HYPERLINK("x")'
    assert [*row] == [*COLUMNS]


def test_the_shown_command_writes_the_same(client: TestClient, known_folder: Path, run: Run, tmp_path: Path) -> None:
    query = "q=kites&sort=oldest"
    assert f"--select &#39;{query.replace('&', '&amp;')}&#39; --out papers.csv" in client.get(f"/?{query}").text
    out = tmp_path / "papers.csv"
    ended = run("explore", "--workspace", known_folder, "--select", query, "--out", out)
    assert (ended.code, ended.out) == (0, f"2 papers in {out}\n")
    assert out.read_bytes() == client.get(f"/export.csv?{query}").content


def test_an_unknown_format_is_refused(client: TestClient, known_folder: Path, run: Run, tmp_path: Path) -> None:
    assert client.get("/").status_code == 200
    ended = run("explore", "--workspace", known_folder, "--select", "", "--out", tmp_path / "papers.xlsx")
    assert_refused(ended, ".csv")
    assert_refused(run("explore", "--workspace", known_folder, "--select", ""), "--select", "--out")
    out = tmp_path / "papers.csv"
    refused = run("explore", "--workspace", known_folder, "--select", "status=loved", "--out", out)
    assert_refused(refused, "'loved'", "accepted, rejected")
    assert not out.exists()
