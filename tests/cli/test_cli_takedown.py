"""`peercorpus takedown`, as a user meets it."""

from pathlib import Path

import pytest

from commands import Run, assert_refused
from invented_tables import ICLR, a_forum, invented
from naming import Naming
from peercorpus.cli.text import export, publish
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.layouts import ExportRequest
from peercorpus.release.exports.workspace_export import export_workspace
from peercorpus.release.publish import publish_release
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    with invented(tmp_path / "corpus", {ICLR: [*a_forum("f1"), *a_forum("f2")]}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")])
    return tmp_path / "corpus"


def test_ids_are_listed_and_what_goes_is_told_without_its_words(corpus: Path, run: Run) -> None:
    ended = run("takedown", "f1", "f2-answer", "f9", "-w", corpus)
    assert ended.code == 1  # as nothing has the id f9
    assert [line.split(": ") for line in ended.out.splitlines()] == [
        ["f1", "1 paper"],
        ["f2-answer", "1 post"],
        ["f9", Naming("stays listed")],
        [Naming("next release"), "1 paper, 1 review, 4 posts, 1 conversation."],
    ]
    assert (corpus / "takedown.txt").read_text() == "f1\nf2-answer\nf9\n"


def test_it_is_undone(corpus: Path, run: Run) -> None:
    assert run("takedown", "f1", "-w", corpus).code == 0
    ended = run("takedown", "f1", "f2", "--undo", "-w", corpus)
    assert ended.code == 1
    unlisted, left_out = ended.out.splitlines()
    assert unlisted == Naming("f2: ", "not listed")
    assert left_out.split(": ")[1] == "nothing."
    assert (corpus / "takedown.txt").read_text() == ""


def test_an_id_that_begins_with_a_dash_follows_two(corpus: Path, run: Run) -> None:
    assert run("takedown", "-w", corpus, "--", "-Aw0rr").code == 1
    assert (corpus / "takedown.txt").read_text() == "-Aw0rr\n"


def test_what_can_be_no_id_and_no_id_at_all_are_refused(corpus: Path, run: Run) -> None:
    assert_refused(run("takedown", "two words", "-w", corpus), "'two words'")
    assert run("takedown", "-w", corpus).code == 2
    assert not (corpus / "takedown.txt").exists()


def test_both_exports_say_what_they_left_out(corpus: Path, run: Run, tmp_path: Path) -> None:
    assert run("takedown", "f1", "f2-answer", "-w", corpus).code == 0
    left = "  left out: taken down 1 paper, 1 review, 4 posts, 1 version, 1 conversation"
    with open_workspace(corpus, write=False) as workspace:
        summary = publish_release(workspace, tmp_path / "out")
        written = export_workspace(workspace, tmp_path / "d.jsonl", ExportRequest(ExportLayout.TRL), [ICLR])
    assert f"{left}, 1 text\n" in publish.published(summary, tmp_path / "out", None)
    assert left in export.workspace_exported(written, tmp_path / "d.jsonl").splitlines()
