"""`peercorpus show` and documents as JSON, from the user's point of view."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from json_keys import JSON_KEYS

from commands import Run, succeed
from invented_tables import paper
from model_endpoint import completion, serving
from peercorpus.cli.text.show import show_record
from peercorpus.corpus.forums import Forum
from peercorpus.records.papers import Conflict, StatedSplit
from raw_forums import v2

V = "Invented.cc/2024/Conference"
ESCAPE = "\x1b[2J\x1b[31m"


def note(note_id: str, signer: str, reply_to: str | None, at: int, **content: Any) -> dict[str, Any]:
    tail = "Submission" if reply_to is None else ("Official_Review" if "rating" in content else "Official_Comment")
    times = {"tcdate": at * 86_400_000, "tmdate": at * 86_400_000}
    return v2(note_id, tail, signer, forum="p1", replyto=reply_to, content=content, **times)


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


def test_differing_records_are_named() -> None:
    conflict = Conflict("title", "Kites", "Ki\x1btes", "reviewbench:f1", "re2-reviews:f1")
    splits = (StatedSplit("review", "test", "train"), StatedSplit("rebuttal", "train"))
    records = ("reviewbench:f1", "re2-reviews:f1")
    whole = paper("f1", records=records, conflicts=(conflict,), stated_splits=splits)
    shown = show_record(Forum(whole, [], [], [], []), is_brief=False)
    assert "made of reviewbench:f1, re2-reviews:f1" in shown
    assert "title: 'Kites' from reviewbench:f1 is used; re2-reviews:f1 states 'Ki" in shown
    assert "task review: test; another of its files states train" in shown
    assert "task rebuttal: train" in shown
    assert "\x1b" not in shown
    assert "Published datasets" not in show_record(Forum(paper("f2"), [], [], [], []), is_brief=False)


def test_shown_text_cannot_move_the_cursor(corpus: Path, run: Run) -> None:
    for arguments in ([], ["--brief"]):
        assert "\x1b" not in run("show", "p1", "-w", corpus, *arguments).out


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


DOCS = Path(__file__).parents[2] / "docs"


def keys_of(document: Any) -> set[str]:
    """Return the keys of a document as documented: those of a list's items if they are documented."""
    if isinstance(document, list):
        return {f"[].{key}" for item in document for key in item}
    return set(document)


@pytest.fixture(scope="module")
def forum_id(demo_folder: Path) -> str:
    import peercorpus

    return str(peercorpus.open(demo_folder / "corpus").papers().collect()["forum_id"][0])


LINES = {
    "status": "status W",
    "verify": "verify R",
    "diff": "diff R R",
    "show": "show ID -w W",
    "takedown": "takedown --list -w W",
    "venues": "venues ICLR2024",
    "audit grades": "audit grades W",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", LINES)
def test_a_document_has_the_documented_keys(run: Run, demo_folder: Path, forum_id: str, command: str) -> None:
    places = {"W": demo_folder / "corpus", "R": demo_folder / "release", "ID": forum_id}
    line = [places.get(word, word) for word in LINES[command].split()]
    ended, plain = run(*line, "--json", "-q"), run(*line)
    assert (ended.code, ended.err) == (plain.code, "")
    document = json.loads(ended.out)
    documented = JSON_KEYS[command]
    tops = {key.partition("[].")[0] for key in documented if not key.startswith("[].")} | {
        key for key in documented if key.startswith("[].")
    }
    assert keys_of(document) == tops
    for name in {key.partition("[].")[0] for key in documented if "[]." in key} - {""}:
        assert keys_of(document[name]) == {key.removeprefix(name) for key in documented if key.startswith(f"{name}[].")}
    page = (DOCS / "cli" / f"{command.split()[0]}.md").read_text(encoding="utf-8")
    assert [key for key in documented if f"| `{key}` |" not in page] == []


def test_the_leak_audits_keys_are_documented() -> None:
    source = (Path(__file__).parents[2] / "src/peercorpus/audit/report.py").read_text(encoding="utf-8")
    body = source.partition("def audit_to_dict")[2].partition("\n\n\n")[0]
    assert set(re.findall(r'^        "(\w+)": ', body, re.MULTILINE)) == set(JSON_KEYS["audit leaks"])


@pytest.mark.slow
def test_a_shown_document_is_public(run: Run, demo_folder: Path, forum_id: str) -> None:
    shown = json.loads(run("show", forum_id, "-w", demo_folder / "corpus", "--json").out)
    assert "authors" not in shown["paper"]
    rows = [*shown["reviews"], *shown["posts"], *shown["ai_reviews"]]
    assert rows
    assert all(row["readers_public"] and not row["deleted"] for row in rows)
