"""`peercorpus publish` and `export`, from the user's point of view."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from commands import Run, assert_refused, succeed
from invented_releases import a_release, task_paper
from invented_tables import ICLR, TMLR, a_forum, conversation, fill, invented, paper, post, review, turn, version
from naming import Naming
from peercorpus.corpus.reminder_decisions import LIST
from peercorpus.records.enums import PostKind, Role
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.folder import open_release
from peercorpus.release.splits import Task
from peercorpus.release.task_tables import CONFIG
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace
from raw_forums import v2


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return a_release(tmp_path / "release")


def test_export_reports_what_it_wrote_and_left_out(tmp_path: Path, run: Run) -> None:
    silent = task_paper("t2", conversations=[])
    papers = {"train": [task_paper("t1"), silent], "test": [task_paper("t9", reviews=[])]}
    ended = run("export", a_release(tmp_path / "release", papers), "--out", tmp_path / "out", "--format", "trl")
    assert ended.code == 0
    where, *files = ended.out.splitlines()
    assert where == Naming("trl", str(tmp_path / "out"), "README.md")
    assert [file.split(": ") for file in files] == [
        ["review_train.jsonl", "2 rows of 2 papers"],
        ["review_validation.jsonl", Naming("not written")],
        ["review_test.jsonl", Naming("not written")],
        ["rebuttal_train.jsonl", "1 row of 1 paper"],
        ["rebuttal_validation.jsonl", Naming("not written")],
        ["rebuttal_test.jsonl", "1 row of 1 paper"],
    ]


@pytest.mark.parametrize("named", [("--grade", "stated"), ("--min-words", "3"), ("--venue", "ICLR2024")])
def test_choosing_examples_needs_a_model(release: Path, tmp_path: Path, run: Run, named: tuple[str, str]) -> None:
    assert_refused(run("export", release, "--out", tmp_path / "out", "--format", "trl", *named), "--model")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("layout", ExportLayout)
def test_a_workspace_is_refused_with_advice(tmp_path: Path, run: Run, layout: ExportLayout) -> None:
    with invented(tmp_path / "a corpus", {ICLR: a_forum("f1")}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")])
    ended = run("export", tmp_path / "a corpus", "--out", tmp_path / "out", "--format", layout)
    assert_refused(ended, "is a workspace", f"peercorpus publish -w '{tmp_path / 'a corpus'}' --out RELEASE")
    assert not (tmp_path / "out").exists()


def test_every_review_is_in_a_file_or_counted(demo_folder: Path, tmp_path: Path) -> None:
    release = demo_folder / "release"
    exported = export_release(release, tmp_path / "out", ExportRequest(format=ExportLayout.TRL))
    for task, column in ((Task.REVIEW, "reviews"), (Task.REBUTTAL, "conversations")):
        files = [file.samples for file in exported.files if file.task is task]
        rows = open_release(release).rows(CONFIG[task], None, [column])
        held = sum(len(row[column]) for row in rows)
        assert held > 0
        assert sum(file.rows + file.left_out.total() for file in files) == held


@pytest.fixture
def workspace(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six papers that both tasks can use, in tables without received data behind them."""
    folder, dump = tmp_path / "corpus", tmp_path / "notes.json"
    dump.write_text(json.dumps([{"id": "x", "forum": "x", "invitation": f"{TMLR}/-/Submission", "content": {}}]))
    assert run("import", dump, "--workspace", folder).code == 0
    with open_workspace(folder) as opened:
        fill(opened, ICLR, [record for name in "abcdef" for record in a_forum(name)])
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)
    return folder


VENUE = "Invented.cc/2024/Conference"
ANSWER = "It was calm on both days."


def note(note_id: str, signer: str, reply_to: str | None, day: int, **content: Any) -> dict[str, Any]:
    tail = "Submission" if reply_to is None else ("Official_Review" if "rating" in content else "Official_Comment")
    times = {"tcdate": day * 86_400_000, "tmdate": day * 86_400_000}
    return v2(note_id, tail, signer, forum="p1", replyto=reply_to, content=content, **times)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that tests must not change."""
    folder = tmp_path_factory.mktemp("points")
    notes = [
        note("p1", "Authors", None, 1, title="On kites", abstract="We fly kites."),
        note("r1", "Reviewer_A1bC", "p1", 10, weaknesses="The wind is not measured.", rating=5),
        note("a1", "Authors", "r1", 20, comment=ANSWER),
    ]
    (folder / "notes.json").write_text(json.dumps(notes))
    succeed("import", folder / "notes.json", "-w", folder / "corpus")
    succeed("build", "--points", "-w", folder / "corpus")
    return folder / "corpus"


def rows(out: Path, config: str) -> list[dict[str, Any]]:
    return [row for path in (out / "data" / config).glob("*.parquet") for row in pq.read_table(path).to_pylist()]


NUDGE = "Dear Reviewer, the discussion ends soon. Have we addressed your concerns?"


@pytest.fixture
def reminded(tmp_path: Path) -> Path:
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


def test_reminders_lists_posts_with_their_threads(reminded: Path, run: Run) -> None:
    ended = run("reminders", "-w", reminded)
    assert ended.code == 0, ended.err
    first, rule, *_, last = ended.out.splitlines()
    assert first == "f-n  (paper f, conversation with R1)"
    assert rule.endswith("takes it for a reminder; score 0")
    assert "\x1b" not in ended.out
    assert "author: The gap is 0.4." in ended.out
    assert "takes 1 post for reminders" in last
    (listed,) = json.loads(run("reminders", "-w", reminded, "--json").out)["posts"]
    assert (listed["post_id"], listed["result"], listed["text"]) == ("f-n", "taken", NUDGE)
    assert [one["post_id"] for one in listed["before"]] == ["f-R1", "f-a"]


def test_a_decision_is_written_shown_and_undone(reminded: Path, run: Run) -> None:
    ended = run("reminders", "-w", reminded, "--keep", "f-n", "--drop", "f-a", "--why", "it asks for a score")
    assert ended.code == 0, ended.err
    assert "1 to leave out, 1 to keep" in ended.out
    assert "peercorpus build" in ended.out
    lines = (reminded / LIST).read_text().splitlines()
    assert [line.split("\t")[::3] for line in lines[1:]] == [
        ["f-a", "it asks for a score"],
        ["f-n", "it asks for a score"],
    ]
    listed = json.loads(run("reminders", "-w", reminded, "--json").out)
    assert {one["post_id"]: one["is_set_aside"] for one in listed["posts"]} == {"f-a": True, "f-n": False}
    assert "decided: keep (" in run("reminders", "-w", reminded).out
    assert run("reminders", "-w", reminded, "--undo", "f-n", "--undo", "f-a").code == 0
    assert json.loads(run("reminders", "-w", reminded, "--json").out)["decisions"] == []


def test_bad_input_is_refused_in_one_sentence(reminded: Path, run: Run) -> None:
    assert_refused(run("reminders", "-w", reminded, "--drop", "f-R1"), "'f-R1'", "reviewer")
    assert_refused(run("reminders", "-w", reminded, "--keep", "zzz"), "'zzz'")
    assert_refused(run("reminders", "-w", reminded, "--why", "so"), "--why")
    assert not (reminded / LIST).exists()
    (reminded / LIST).write_text("f-n\tkeep\nf-n\treminder\n")
    assert_refused(run("reminders", "-w", reminded), "Lines 1 and 2")
    (reminded / LIST).write_text("gone\tkeep\n")
    assert "no effect: gone" in run("reminders", "-w", reminded).out
