"""`peercorpus takedown`, from the user's point of view."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from commands import Run, assert_refused
from invented_tables import ICLR, a_forum, invented
from naming import Naming
from peercorpus.release.folder import open_release
from peercorpus.release.provenance import read_inputs
from peercorpus.release.published import remember_upload
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    with invented(tmp_path / "corpus", {ICLR: [*a_forum("f1"), *a_forum("f2")]}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")])
    return tmp_path / "corpus"


def test_ids_are_listed_without_their_text(corpus: Path, run: Run) -> None:
    ended = run("takedown", "f1", "f2-answer", "f9", "--force", "-w", corpus)
    assert ended.code == 0
    assert [line.split(": ") for line in ended.out.splitlines()] == [
        ["f1", "1 paper"],
        ["f2-answer", "1 post"],
        ["f9", Naming("stays listed")],
        [Naming("next release"), "1 paper, 1 review, 4 posts, 1 conversation."],
    ]
    assert (corpus / "takedown.txt").read_text() == "f1\nf2-answer\nf9\n"


def test_a_takedown_can_be_undone(corpus: Path, run: Run) -> None:
    assert run("takedown", "f1", "-w", corpus).code == 0
    ended = run("takedown", "f1", "f2", "--undo", "-w", corpus)
    assert ended.code == 1
    unlisted, removed, left_out = ended.out.splitlines()
    assert unlisted == Naming("f2: ", "not listed")
    assert removed == "No longer listed: f1."
    assert left_out.split(": ")[1] == "nothing."
    assert (corpus / "takedown.txt").read_text() == ""


def test_an_invalid_or_missing_id_is_refused(corpus: Path, run: Run) -> None:
    assert_refused(run("takedown", "two words", "-w", corpus), "'two words'")
    assert run("takedown", "-w", corpus).code == 2
    assert not (corpus / "takedown.txt").exists()


AUTHOR = "~Ada_Example1"


@pytest.fixture
def signed(corpus: Path) -> Path:
    """Return the corpus with a note that names its author."""
    content = {"id": "f2", "content": {"authorids": {"value": [AUTHOR]}}}
    with open_workspace(corpus) as workspace:
        body = json.dumps(content).encode()
        workspace.raw.add([RawObject(RawKind.NOTE, "f2", 2, ICLR, "f2", "f2", 1, 1, "invented", body)])
    return corpus


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("f2-to-lal", "'f2-to-all'"),
        ("F2-ANSWER", "'f2-answer'"),
        ("f2-to-al", "'f2-to-all'"),
        ("Ada_Example1", f"'{AUTHOR}'"),
        ("~Ada_Example2", f"'{AUTHOR}'"),
        ("ada@example.org", "profile"),
        ("nothing-like-it", "'noteId='"),
    ],
)
def test_a_mistyped_id_is_refused_with_a_suggestion(signed: Path, run: Run, typed: str, suggested: str) -> None:
    assert_refused(run("takedown", "f1", typed, "-w", signed), typed, suggested)
    assert not (signed / "takedown.txt").exists()


def test_an_unknown_id_is_listed_by_force(corpus: Path, run: Run) -> None:
    assert run("takedown", "not-here-yet", "--force", "-w", corpus).code == 0
    assert run("takedown", "not-here-yet", "--undo", "-w", corpus).code == 0
    assert (corpus / "takedown.txt").read_text() == ""


@pytest.mark.slow
def test_a_takedown_publishes_again(corpus: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)
    asked = ("publish", "-w", corpus, "--no-authors", "--splits", "none")
    for more in ((), ("--out", tmp_path / "out"), ("--out", tmp_path / "deleted")):
        assert run(*asked, *more).code == 0
    shutil.rmtree(tmp_path / "deleted")
    (before,) = (corpus / "releases").glob("2*")
    remember_upload(corpus, open_release(before), "ada/kites", "https://hub/ada/kites/commit/1")
    remember_upload(corpus, replace(open_release(before), sha256="0"), "ada/kites", "https://hub/ada/kites/commit/0")
    ended = run("takedown", "f2-answer", "--publish", "--json", "-w", corpus)
    assert ended.code == 0
    shown = json.loads(ended.out)
    assert shown["verified"] is True
    assert [(holder["where"], holder["rows"]) for holder in shown["held_by"]] == [
        (str(before), 1),
        (str(tmp_path / "out"), 1),
        ("https://hub/ada/kites/commit/1", 1),
        ("https://hub/ada/kites/commit/0", None),
    ]
    inputs = read_inputs(Path(shown["release"]))
    assert inputs is not None
    assert (inputs.authors, inputs.splits) == (False, None)
    lines = run("takedown", "--publish", "-w", corpus).out.splitlines()
    assert "The release passes every check." in lines
    assert [line.partition(";")[0] for line in lines if str(tmp_path) in line and "contain" in line] == [
        f"'{before}' still contains what is taken down in 1 row",
        f"'{tmp_path / 'out'}' still contains what is taken down in 1 row",
    ]
    assert sum("commit/" in line for line in lines) == 2
    (tmp_path / "out" / "release.json").write_text("{")
    assert f"'{tmp_path / 'out'}' may still contain" in run("takedown", "--list", "-w", corpus).out
    shutil.rmtree(tmp_path / "out")
    assert str(tmp_path / "out") not in run("takedown", "--list", "-w", corpus).out
