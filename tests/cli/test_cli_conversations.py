"""`peercorpus show`, and the titles that `peercorpus publish` writes, from the user's point of view."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from commands import Run, assert_refused, succeed
from invented_tables import paper
from model_endpoint import completion, serving
from peercorpus.cli.text.show import show_record
from peercorpus.corpus.forums import PaperRecord
from peercorpus.records.papers import Conflict, StatedSplit

V = "Invented.cc/2024/Conference"
ESCAPE = "\x1b[2J\x1b[31m"


def note(note_id: str, signer: str, reply_to: str | None, at: int, **content: Any) -> dict[str, Any]:
    tail = "Submission" if reply_to is None else ("Official_Review" if "rating" in content else "Official_Comment")
    return {
        "id": note_id,
        "forum": "p1",
        "replyto": reply_to,
        "invitations": [f"{V}/-/{tail}" if reply_to is None else f"{V}/Submission1/-/{tail}"],
        "signatures": [f"{V}/Submission1/{signer}"],
        "readers": ["everyone"],
        "tcdate": at * 86_400_000,
        "tmdate": at * 86_400_000,
        "content": {name: {"value": value} for name, value in content.items()},
    }


NOTES = [
    note("p1", "Authors", None, 1, title=f"On kites{ESCAPE}", abstract="We fly kites."),
    note("r1", "Reviewer_A1bC", "p1", 10, summary="Kites are flown.", rating=5, confidence="none at all"),
    note("a2", "Authors", "r1", 20, title="Response (2/2)", comment="And tails."),
    note("a1", "Authors", "r1", 21, title="Response (1/2)", comment="They fly."),
    note("r2", "Reviewer_A1bC", "a1", 22, title="Thanks", comment=f"I raise my score from 4 to 5.{ESCAPE}"),
    note("g1", "Authors", "p1", 23, title="To all", comment="Reviewer A1bC: tails were added."),
    note("n1", "Authors", "r1", 24, comment="The discussion ends soon. Have we addressed your concerns?"),
]


def build_corpus(folder: Path, notes: list[dict[str, Any]]) -> Path:
    dump = folder / "notes.json"
    dump.write_text(json.dumps(notes))
    succeed("import", dump, "-w", folder / "corpus")
    succeed("build", "-w", folder / "corpus")
    return folder / "corpus"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that tests must not change."""
    return build_corpus(tmp_path_factory.mktemp("conversations"), NOTES)


def test_show_prints_the_whole_record_readable(corpus: Path, run: Run) -> None:
    shown = run("show", "p1", "-w", corpus)
    assert shown.code == 0
    for expected in (
        "Versions",
        "rating: 5",
        "confidence: 'none at all'",
        "Conversation with Reviewer_A1bC",
        "2 posts merged: Response",
        "to all reviewers",
        "1 passage naming this reviewer",
        "n1 (comment of Authors",
        "build_conversations: reminder.",
    ):
        assert expected in shown.out
    assert shown.out.index("They fly.") < shown.out.index("And tails.")


def test_show_names_differing_records_of_a_paper_and_its_stated_split() -> None:
    conflict = Conflict("title", "Kites", "Ki\x1btes", "reviewbench:f1", "re2-reviews:f1")
    splits = (StatedSplit("review", "test", "train"), StatedSplit("rebuttal", "train"))
    records = ("reviewbench:f1", "re2-reviews:f1")
    whole = paper("f1", records=records, conflicts=(conflict,), stated_splits=splits)
    shown = show_record(PaperRecord(whole, [], [], [], [], [], []), is_brief=False)
    assert "made of reviewbench:f1, re2-reviews:f1" in shown
    assert "title: 'Kites' from reviewbench:f1 is used; re2-reviews:f1 states 'Ki" in shown
    assert "task review: test; another of its files states train" in shown
    assert "task rebuttal: train" in shown
    assert "\x1b" not in shown
    assert "Published datasets" not in show_record(PaperRecord(paper("f2"), [], [], [], [], [], []), is_brief=False)


def test_shown_text_cannot_move_the_cursor(corpus: Path, run: Run) -> None:
    for arguments in ([], ["--brief"]):
        assert "\x1b" not in run("show", "p1", "-w", corpus, *arguments).out


def test_a_brief_record_is_shorter(corpus: Path, run: Run) -> None:
    assert len(run("show", "p1", "-w", corpus, "--brief").out) <= len(run("show", "p1", "-w", corpus).out)


def test_an_unknown_id_is_reported(corpus: Path, run: Run) -> None:
    assert_refused(run("show", "nobody", "-w", corpus), "'nobody'")


def test_an_unbuilt_workspace_is_reported(tmp_path: Path, run: Run) -> None:
    dump = tmp_path / "notes.json"
    dump.write_text(json.dumps(NOTES))
    run("import", dump, "-w", tmp_path / "corpus")
    for command in (("show", "p1"), ("publish", "--out", tmp_path / "out")):
        assert_refused(run(*command, "-w", tmp_path / "corpus"), "'peercorpus build'")


def test_a_model_may_write_the_titles(corpus: Path, tmp_path: Path, run: Run) -> None:
    named = ["--titles", "model", "--model", "kite-1", "--model-url"]
    # A model's answers are cached in the workspace.
    own = shutil.copytree(corpus, tmp_path / "corpus")
    with serving(completion("On kites and tails")) as stand:
        ended = run("publish", "-w", own, "--out", tmp_path / "out", *named, stand.url)
    assert ended.code == 0
    assert "1 title by the model." in ended.out
    (path,) = (tmp_path / "out" / "data" / "conversations").iterdir()
    (talk,) = pq.read_table(path).to_pylist()
    assert [(turn["title"], turn["title_model"]) for turn in talk["turns"]][1] == ("On kites and tails", "kite-1")
    assert talk["turns"][1]["titles"] == ["Response (1/2)", "Response (2/2)"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--titles", "model"],
        ["--model", "kite-1"],
        ["--titles", "model", "--model", "m", "--model-url", "x"],
        ["--titles", "model", "--model", "m", "--model-url", "http://[::"],
    ],
)
def test_a_model_needs_both_url_and_name(corpus: Path, tmp_path: Path, run: Run, arguments: list[str]) -> None:
    ended = run("publish", "-w", corpus, "--out", tmp_path / "out", *arguments)
    assert_refused(ended, "odel")
    assert not (tmp_path / "out").exists()
