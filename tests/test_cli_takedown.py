"""`peercorpus takedown`, as a user meets it."""

from pathlib import Path

import pytest

from commands import Run, assert_refused
from invented_tables import ICLR, a_forum, invented
from peercorpus import wording
from peercorpus.dialogues import View
from peercorpus.publish.dialogues import Format, write_dialogues
from peercorpus.publish.run import publish
from peercorpus.raw import Kind, RawObject
from peercorpus.workspace import open_workspace


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    with invented(tmp_path / "corpus", {ICLR: [*a_forum("f1"), *a_forum("f2")]}) as workspace:
        workspace.raw.add([RawObject(Kind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")])
    return tmp_path / "corpus"


def test_ids_are_listed_and_what_goes_is_told_without_its_words(corpus: Path, run: Run) -> None:
    ended = run("takedown", "f1", "f2-answer", "f9", "-w", corpus)
    assert ended.code == 0
    assert ended.out == (
        "f1: 1 paper\n"
        "f2-answer: 1 post\n"
        "f9: nothing in the tables has this id; it stays listed.\n"
        "The next release leaves out: 1 paper, 1 review, 4 posts, 1 conversation.\n"
    )
    assert (corpus / "takedown.txt").read_text() == "f1\nf2-answer\nf9\n"


def test_it_is_undone(corpus: Path, run: Run) -> None:
    assert run("takedown", "f1", "-w", corpus).code == 0
    ended = run("takedown", "f1", "f2", "--undo", "-w", corpus)
    assert ended.out == "f2: was not listed.\nThe next release leaves out: nothing.\n"
    assert (corpus / "takedown.txt").read_text() == ""


def test_an_id_that_begins_with_a_dash_follows_two(corpus: Path, run: Run) -> None:
    assert run("takedown", "-w", corpus, "--", "-Aw0rr").code == 0
    assert (corpus / "takedown.txt").read_text() == "-Aw0rr\n"


def test_what_can_be_no_id_and_no_id_at_all_are_refused(corpus: Path, run: Run) -> None:
    assert_refused(run("takedown", "two words", "-w", corpus), "'two words' can be no id")
    assert run("takedown", "-w", corpus).code == 2
    assert not (corpus / "takedown.txt").exists()


def test_both_exports_say_what_they_left_out(corpus: Path, run: Run, tmp_path: Path) -> None:
    assert run("takedown", "f1", "f2-answer", "-w", corpus).code == 0
    left = "  left out: taken down 1 paper, 1 review, 4 posts, 1 version, 1 conversation\n"
    with open_workspace(corpus, write=False) as workspace:
        summary = publish(workspace, tmp_path / "out")
        written = write_dialogues(workspace, tmp_path / "d.jsonl", Format(View()), [ICLR])
    assert left in wording.published(summary, tmp_path / "out")
    assert left.rstrip("\n") in wording.dialogues(written, tmp_path / "d.jsonl")
