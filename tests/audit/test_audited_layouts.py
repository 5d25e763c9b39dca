"""Folders in the layouts of other datasets are audited without conversion."""

import json
from pathlib import Path

import pytest

from other_layouts import (
    PAPER,
    paper_row,
    peerread_reviews,
    write,
    write_nlpeer,
    write_peerread,
    write_rows,
    write_texts,
)
from peercorpus.audit.inputs import file_source
from peercorpus.audit.papers import AuditedPaper, RowCounts, layout_source, read_papers
from peercorpus.errors import TableError


def rows(path: Path) -> tuple[list[AuditedPaper], RowCounts]:
    source, counts = layout_source(path), RowCounts()
    assert source is not None
    return list(read_papers(source, counts)), counts


def test_peerread_has_texts_and_decisions(tmp_path: Path) -> None:
    found, counts = rows(write_peerread(tmp_path, ("1", "2", "3"), (True, False, None)))
    assert {(one.record_id, one.accepted) for one in found} == {("iclr_2017-1", True), ("iclr_2017-2", False)}
    assert all(one.text.startswith("# ON KITES") for one in found)
    assert dict(counts.aside) == {"no decision": 1}


def test_texts_with_a_table_of_decisions(tmp_path: Path) -> None:
    decisions = {PAPER: "Reject", "kItE3_aaaa": "Accept (Oral)", "kItE4_bbbb": "Unknown"}
    found, counts = rows(write_texts(tmp_path, decisions))
    assert {(one.record_id, one.accepted) for one in found} == {(PAPER, False), ("kItE3_aaaa", True)}
    assert (counts.read, sum(counts.aside.values())) == (3, 1)


def test_nlpeer_has_no_decisions(tmp_path: Path) -> None:
    found, counts = rows(write_nlpeer(tmp_path))
    assert (found, dict(counts.aside)) == ([], {"no decision": 1})


def test_columns_that_are_fields_of_notes_are_found(tmp_path: Path) -> None:
    row = {"id": PAPER, "content.text.value": "Kites.", "content.decision.value": "Reject"}
    (found,) = read_papers(file_source(write_rows(tmp_path / "a.csv", [row])), RowCounts())
    assert (found.text, found.accepted) == ("Kites.", False)


def test_a_list_of_papers_is_audited_by_its_abstracts_where_they_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "iclr2024.json", [paper_row()])
    with pytest.raises(TableError, match="abstract"):
        file_source(path)
    (found,) = read_papers(file_source(path, "abstract"), RowCounts())
    assert (found.record_id, found.text, found.accepted) == (PAPER, "We fly kites.", False)


def test_a_damaged_file_is_one_sentence(tmp_path: Path) -> None:
    write_peerread(tmp_path)
    write(tmp_path / "data/iclr_2017/train/reviews/400.json", json.dumps(peerread_reviews())[:-9])
    with pytest.raises(TableError):
        rows(tmp_path)


def test_other_folders_match_no_layout(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.csv", [{"text": "a", "decision": "Reject"}])
    write(tmp_path / "notes.md", "# Notes")
    assert layout_source(tmp_path) is None
    assert layout_source(tmp_path / "a.csv") is None
