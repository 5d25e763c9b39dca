"""Every format and layout gives the same rows, and anything that is not a corpus is refused in one sentence."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audited_papers import Record, papers, publish_accepted, write_lines
from invented_tables import ICLR, ICML, a_forum, invented, paper, text, version
from other_layouts import (
    PAPER,
    paper_row,
    peerread_reviews,
    write,
    write_peerread,
    write_rows,
)
from peercorpus.audit.inputs import TEXTS, file_source, workspace_source
from peercorpus.audit.leak_audit import audit
from peercorpus.audit.papers import AuditedPaper, RowCounts, layout_source, parse_decision, read_papers
from peercorpus.audit.report import audit_to_dict
from peercorpus.corpus.takedown import read_takedown
from peercorpus.errors import TableError
from peercorpus.records.enums import Grade

RECORDS = papers(change=publish_accepted)
AWKWARD = 'Kites, "long" ones\nand\r\nothers; é \u2028 \U0001f600'


def rows(path: Path, text: str | None = None, decision: str | None = None) -> list[AuditedPaper]:
    return list(read_papers(file_source(path, text, decision), RowCounts()))


def write_parquet(path: Path, records: list[Record]) -> None:
    pq.write_table(pa.Table.from_pylist(records), path, row_group_size=7)


def write_list(path: Path, records: list[Record]) -> None:
    path.write_text(json.dumps(records, indent=1), encoding="utf-8")


def write_by_id(path: Path, records: list[Record]) -> None:
    path.write_text(json.dumps({one["forum_id"]: one for one in records}), encoding="utf-8")


def write_csv(path: Path, records: list[Record], delimiter: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(records[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(records)


def write_tsv(path: Path, records: list[Record]) -> None:
    write_csv(path, records, "\t")


FORMATS: list[tuple[str, Callable[[Path, list[Record]], object]]] = [
    ("a.parquet", write_parquet),
    ("a.jsonl", write_lines),
    ("a.json", write_lines),
    ("a.json", write_list),
    ("a.json", write_by_id),
    ("a.csv", write_csv),
    ("a.tsv", write_tsv),
]


@pytest.mark.parametrize(("name", "write"), FORMATS, ids=[f"{name} {write.__name__}" for name, write in FORMATS])
def test_every_format_has_one_result(tmp_path: Path, name: str, write: Callable[[Path, list[Record]], object]) -> None:
    records = [*RECORDS[:60], RECORDS[0] | {"forum_id": "odd", "text": AWKWARD}]
    write(tmp_path / name, records)
    found = rows(tmp_path / name)
    assert [(row.record_id, row.text, row.accepted) for row in found] == [
        (one["forum_id"], one["text"], one["decision"] != "Reject") for one in records
    ]


def test_pythons_extensions_of_json_are_read(tmp_path: Path) -> None:
    odd: list[Record] = [{"text": "half \ud800 a pair", "decision": "Reject"}, {"text": "a", "decision": float("nan")}]
    assert [row.text for row in rows(write_lines(tmp_path / "a.jsonl", odd))] == ["half ? a pair"]


def test_unreadable_content_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('text,decision\na,Reject\nx,y,"Ada Example ada@example.org \x1b[31m' + "words " * 999 + '"\n')
    with pytest.raises(TableError) as refused:
        rows(path)
    said = str(refused.value)
    assert said.startswith("'a.csv' ")
    assert "Expected 2 columns, got 3" in said
    assert all(text not in said for text in ("ada@example.org", "Ada Example", "\x1b", "words"))


@pytest.mark.slow
def test_a_folder_is_read_completely(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_parquet(tmp_path / "data" / "a.parquet", RECORDS[:70])
    write_lines(tmp_path / "b.jsonl", RECORDS[70:])
    write_lines(tmp_path / "reviews.jsonl", [{"forum_id": "x", "review": "y"}])
    (tmp_path / "release.json").write_text('{"generator": "x", "files": {}}')
    (tmp_path / "README.md").write_text("Kites.")
    source = file_source(tmp_path)
    assert source.passed_over == ("README.md", "release.json", "reviews.jsonl")
    assert len(list(read_papers(source, RowCounts()))) == len(RECORDS)
    write_lines(tmp_path / "all.jsonl", RECORDS)
    whole, parts = (audit_to_dict(audit(one))["features"] for one in (file_source(tmp_path / "all.jsonl"), source))
    assert whole == parts


@pytest.mark.parametrize("text", TEXTS)
def test_usual_names_of_texts_are_known_in_any_case(tmp_path: Path, text: str) -> None:
    write_lines(tmp_path / "a.jsonl", [{text.upper(): "words", "Decision": "Reject"}])
    assert rows(tmp_path / "a.jsonl")[0].text == "words"


def test_the_source_of_a_text_is_a_feature(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"text": "a", "decision": 0, "grade": "exact", "source": "ada@example.org"}])
    assert rows(tmp_path / "a.jsonl")[0].traits == {"grade": "exact", "source": "[e-mail]"}


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        *(("Accept (Oral)", True), ("accepted", True), ("ICLR 2020 Poster", True), ("Accept: notable-top-5%", True)),
        *(("1.0", True), ("0.0", False), ("2.0", None), (" Yes ", True), ("0.5", None)),
        *(("TRUE", True), (1, True), (1.0, True), (True, True), ("y", True), ("Not Accepted", False)),
        *(("Reject", False), ("rejected", False), ("Decline", False), (0, False), (False, False), ("no", False)),
        *(("", None), ("Withdrawn", None), ("Desk Reject", None), ("Invite to Workshop Track", None), (6, None)),
        *(("Accept or reject", None), ("not rejected", None), ("Under review", None), (float("nan"), None)),
        *(([], None), ({"decision": "Accept"}, None), (None, None), ("reconsider", None)),
    ],
)
def test_a_decision_is_never_guessed(value: object, accepted: bool | None) -> None:
    assert parse_decision(value) is accepted


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.parquet", b"PAR1 and no more", "'a.parquet'.* parquet: "),
        ("a.parquet", b"", "contains no rows"),
        ("a.jsonl", b"\x00\xff\xfe binary", "'a.jsonl'.* jsonl: line 1 "),
        ("a.jsonl", b'{"text": "a", "decision": 1}\n[1]\n', "'a.jsonl'.* line 2 "),
        ("a.json", b'[{"text": "a"', "'a.json'.* json: "),
        ("a.json", b"[" * 9999, "'a.json'.* json: "),
        ("a.jsonl", b'{"decision": 1}', r"no column of a text \(name it"),
        ("a.csv", b"title\x1b[31m\na\n", r"title\\x1b\[31m"),
        ("a.csv", b"\xff\xfe\x00\x01,\n\x00,\xff", "a.csv' "),
        ("a.docx", b"PK", "'.*a.docx'.*Parquet"),
        (
            "a.jsonl",
            b'{"title": "a", "decision": 1}\n',
            r"text .*--text.*: title, decision",
        ),
        ("a.csv", b"title,rating\na,1\n", "no column of a text .* and of a decision .*: title, rating"),
    ],
)
def test_a_path_that_is_not_a_corpus_is_refused(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=sentence):
        rows(tmp_path / name)


def test_a_broken_table_in_a_folder_is_never_skipped(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", RECORDS)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(TableError, match=r"'b\.parquet' cannot be read"):
        file_source(tmp_path)


def rows_at(path: Path) -> tuple[list[AuditedPaper], RowCounts]:
    source, counts = layout_source(path), RowCounts()
    assert source is not None
    return list(read_papers(source, counts)), counts


def test_peerread_has_texts_and_decisions(tmp_path: Path) -> None:
    found, counts = rows_at(write_peerread(tmp_path, ("1", "2", "3"), (True, False, None)))
    assert {(one.record_id, one.accepted) for one in found} == {("iclr_2017-1", True), ("iclr_2017-2", False)}
    assert all(one.text.startswith("# ON KITES") for one in found)
    assert dict(counts.aside) == {"no decision": 1}


def test_columns_that_are_fields_of_notes_are_found(tmp_path: Path) -> None:
    row = {"id": PAPER, "content.text.value": "Kites.", "content.decision.value": "Reject"}
    (found,) = read_papers(file_source(write_rows(tmp_path / "a.csv", [row])), RowCounts())
    assert (found.text, found.accepted) == ("Kites.", False)


def test_a_list_of_papers_is_audited(tmp_path: Path) -> None:
    path = write(tmp_path / "iclr2024.json", [paper_row()])
    with pytest.raises(TableError, match="abstract"):
        file_source(path)
    (found,) = read_papers(file_source(path, "abstract"), RowCounts())
    assert (found.record_id, found.text, found.accepted) == (PAPER, "We fly kites.", False)


def test_a_damaged_file_is_one_sentence(tmp_path: Path) -> None:
    write_peerread(tmp_path)
    write(tmp_path / "data/iclr_2017/train/reviews/400.json", json.dumps(peerread_reviews())[:-9])
    with pytest.raises(TableError):
        rows_at(tmp_path)


@pytest.mark.slow
def test_a_taken_down_paper_is_not_audited(tmp_path: Path) -> None:
    twin = [paper("g1", ICML), version("g1", "sha-f2", Grade.EXACT, ICML), text("sha-f2", "# XYZZY", ICML)]
    venues = {ICLR: [*a_forum("f1"), *a_forum("f2", markdown="# XYZZY")], ICML: twin}
    with invented(tmp_path / "corpus", venues) as workspace:
        (workspace.folder / "takedown.txt").write_text("f2\n")
        taken = read_takedown(workspace)
        found = list(workspace_source(workspace, taken.forums, taken.files).entries())
        everything = list(workspace_source(workspace).entries())
    assert [(one.record_id, one.text) for one in everything if one.text == "# XYZZY"] != []
    assert sorted((str(one.record_id), one.text, one.why_not) for one in found) == [
        ("None", None, "taken down"),
        ("f1", "# Text of f1", None),
        ("g1", None, None),
    ]
