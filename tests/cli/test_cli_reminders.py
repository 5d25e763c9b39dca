"""`peercorpus reminders` from the user's point of view, and what a release states about the decisions."""

import hashlib
import json
from pathlib import Path

import pytest

from asked_releases import publish_release
from cards import read_card
from commands import Run, assert_refused
from invented_tables import ICLR, conversation, invented, paper, post, review, turn, version
from peercorpus.corpus.reminder_decisions import LIST
from peercorpus.records.enums import PostKind, Role
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

NUDGE = "Dear Reviewer, the discussion ends soon. Have we addressed your concerns?"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A paper whose authors answer a review and then remind the reviewer, in a text with a control character."""
    by_reviewer = {"kind": PostKind.REVIEW, "role": Role.REVIEWER, "signature": "R1"}
    records = [
        paper("f"),
        review("f"),
        version("f", None, None),
        post("f-R1", "f", **by_reviewer),
        post("f-a", "f", reply_to="f-R1", text="The gap is 0.4."),
        post("f-n", "f", reply_to="f-R1", title="Reminder\x1b", text=NUDGE),
        conversation("f", "R1", [turn(Role.REVIEWER, "f-R1"), turn(Role.AUTHOR, "f-a")]),
    ]
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f", 2, ICLR, "f", "f", 1, 1, "invented", b"{}")])
    return tmp_path / "corpus"


def test_reminders_lists_posts_with_their_threads(corpus: Path, run: Run) -> None:
    ended = run("reminders", "-w", corpus)
    assert ended.code == 0, ended.err
    first, rule, *_, last = ended.out.splitlines()
    assert first == "f-n  (paper f, conversation with R1)"
    assert rule.endswith("takes it for a reminder; score 0")
    assert "\x1b" not in ended.out
    assert "author: The gap is 0.4." in ended.out
    assert "takes 1 post for reminders" in last
    (listed,) = json.loads(run("reminders", "-w", corpus, "--json").out)["posts"]
    assert (listed["post_id"], listed["result"], listed["text"]) == ("f-n", "taken", NUDGE)
    assert [one["post_id"] for one in listed["before"]] == ["f-R1", "f-a"]


def test_a_decision_is_written_shown_and_undone(corpus: Path, run: Run) -> None:
    ended = run("reminders", "-w", corpus, "--keep", "f-n", "--drop", "f-a", "--why", "it asks for a score")
    assert ended.code == 0, ended.err
    assert "1 to leave out, 1 to keep" in ended.out
    assert "peercorpus build" in ended.out
    lines = (corpus / LIST).read_text().splitlines()
    assert [line.split("\t")[::3] for line in lines[1:]] == [
        ["f-a", "it asks for a score"],
        ["f-n", "it asks for a score"],
    ]
    listed = json.loads(run("reminders", "-w", corpus, "--json").out)
    assert {one["post_id"]: one["is_set_aside"] for one in listed["posts"]} == {"f-a": True, "f-n": False}
    assert "decided: keep (" in run("reminders", "-w", corpus).out
    assert run("reminders", "-w", corpus, "--undo", "f-n", "--undo", "f-a").code == 0
    assert json.loads(run("reminders", "-w", corpus, "--json").out)["decisions"] == []


def test_bad_input_is_refused_in_one_sentence(corpus: Path, run: Run) -> None:
    assert_refused(run("reminders", "-w", corpus, "--drop", "f-R1"), "'f-R1'", "reviewer")
    assert_refused(run("reminders", "-w", corpus, "--keep", "zzz"), "'zzz'")
    assert_refused(run("reminders", "-w", corpus, "--why", "so"), "--why")
    assert not (corpus / LIST).exists()
    (corpus / LIST).write_text("f-n\tkeep\nf-n\treminder\n")
    assert_refused(run("reminders", "-w", corpus), "Lines 1 and 2")
    (corpus / LIST).write_text("gone\tkeep\n")
    assert "no effect: gone" in run("reminders", "-w", corpus).out


@pytest.mark.slow
def test_a_release_names_the_decisions(corpus: Path, tmp_path: Path, run: Run) -> None:
    with open_workspace(corpus) as workspace:
        publish_release(workspace, tmp_path / "before")
        assert run("reminders", "-w", corpus).code == 0
        (corpus / LIST).write_text("f-n\tkeep\nf-a\treminder\nf-z\tkeep\n")
        publish_release(workspace, tmp_path / "after")
    inputs = json.loads((tmp_path / "after" / "inputs.json").read_text())
    digest = hashlib.sha256((corpus / LIST).read_bytes()).hexdigest()
    assert inputs["reminders"] == {"sha256": digest, "decisions": 3}
    assert "reminders" not in json.loads((tmp_path / "before" / "inputs.json").read_text())
    assert "for 3 posts of the workspace: 1 left out, 2 kept" in read_card(tmp_path / "after")
    assert "ask for a reply" not in read_card(tmp_path / "before")
