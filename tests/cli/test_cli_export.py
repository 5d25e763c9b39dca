"""`peercorpus export`, from the user's point of view."""

import json
from pathlib import Path

import pytest

from asked_releases import publish_release
from commands import Run, assert_refused
from in_this_process import build_here
from invented_releases import a_release, talk, task_paper, write_release
from invented_tables import ICLR, a_forum, invented, paper
from naming import Naming
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.layouts import ExportRequest
from peercorpus.release.folder import open_release
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.splits import Task
from peercorpus.release.task_tables import CONFIG
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace
from published_records import re2_paper, re2_rebuttal, write_json, write_manuscript


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


def test_one_task_with_the_abstract_and_no_system_message(release: Path, tmp_path: Path, run: Run) -> None:
    options = ("--format", "trl", "--task", "review", "--paper", "abstract", "--no-system")
    assert run("export", release, "--out", tmp_path / "out", *options).code == 0
    row = json.loads((tmp_path / "out" / "review_test.jsonl").read_text())
    assert row["messages"][0] == {"role": "user", "content": "# On t9\n\nWe invent."}
    assert not list((tmp_path / "out").glob("rebuttal*"))


def test_a_release_with_splits_but_no_training_paper_gets_no_advice_to_add_splits(tmp_path: Path, run: Run) -> None:
    with invented(tmp_path / "corpus", {ICLR: [paper("f1")]}) as workspace:
        publish_release(workspace, tmp_path / "release", splits=SplitRequest(Profile.RE2))
    ended = run("export", tmp_path / "release", "--out", tmp_path / "out", "--format", "trl")
    assert_refused(ended, f"'{tmp_path / 'release'}'")
    assert "--splits" not in ended.err


@pytest.mark.slow
def test_impossible_exports_are_refused_in_one_sentence(release: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "out"

    def refuse(sentence: str, *arguments: str | Path) -> None:
        assert_refused(run("export", *arguments, "--out", out), sentence)

    refuse(f"'{tmp_path / 'nothing'}'", tmp_path / "nothing", "--format", "trl")
    refuse(f"'{tmp_path}'", tmp_path, "--format", "trl")
    plain = write_release(tmp_path / "plain", {}, {"t1": "CC BY 4.0"})
    refuse("--splits", plain, "--format", "trl")
    half = write_release(tmp_path / "half", {("review_sft", "train"): [task_paper("t1")]}, {})
    refuse("'rebuttal'", half, "--format", "trl", "--task", "rebuttal")
    refuse("--format jsonl", release, "--format", "jsonl", "--paper", "text")
    refuse("--format jsonl", release, "--format", "jsonl", "--assistant", "author")
    refuse("'ICLR.cc'", release, "ICLR.cc", "--format", "trl")
    refuse("--task rebuttal", release, "--format", "trl", "--task", "review", "--assistant", "author")
    refuse("--paper", release, "--format", "trl", "--paper", "none")
    for arguments in (
        ("--format", "trl", "--task", "poetry"),
        ("--format", "csv"),
        ("--format", "trl", "--max-characters", "0"),
    ):
        assert run("export", release, "--out", out, *arguments).code == 2
    assert not out.exists()


@pytest.mark.slow
def test_a_release_is_exported_with_texts_of_the_grades_it_was_published_with(tmp_path: Path, run: Run) -> None:
    write_json(tmp_path / "in" / "REVIEWS_train.json", [re2_paper()])
    write_json(tmp_path / "in" / "REBUTTAL_train.json", [re2_rebuttal()])
    write_manuscript(tmp_path / "in", text="As it was submitted.")
    corpus, release, out = (tmp_path / name for name in ("corpus", "release", "out"))
    with open_workspace(corpus, create=True) as workspace:
        import_dumps(workspace, [tmp_path / "in"])
        build_here(workspace)
    told = ("export", release, "--out", out, "--format", "trl", "--task", "rebuttal", "--no-system")
    assert run("publish", "-w", corpus, "--out", release).code == 0
    assert_refused(run(*told), "'peercorpus publish --grade'")
    assert run("publish", "-w", corpus, "--out", release, "--grade", "stated").code == 0
    assert run(*told).code == 0
    row = json.loads((out / "rebuttal_train.jsonl").read_text())
    assert (row["paper_grade"], row["messages"][0]["content"]) == ("stated", Naming("As it was submitted."))


@pytest.mark.parametrize("named", [("--grade", "stated"), ("--min-words", "3"), ("--venue", "ICLR2024")])
def test_options_that_choose_examples_need_a_model(
    release: Path, tmp_path: Path, run: Run, named: tuple[str, str]
) -> None:
    assert_refused(run("export", release, "--out", tmp_path / "out", "--format", "trl", *named), "--model")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("layout", ExportLayout)
def test_a_workspace_is_refused_with_the_command_that_makes_a_release_of_it(
    tmp_path: Path, run: Run, layout: ExportLayout
) -> None:
    with invented(tmp_path / "a corpus", {ICLR: a_forum("f1")}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")])
    ended = run("export", tmp_path / "a corpus", "--out", tmp_path / "out", "--format", layout)
    assert_refused(ended, "is a workspace", f"peercorpus publish -w '{tmp_path / 'a corpus'}' --out RELEASE")
    assert not (tmp_path / "out").exists()


def test_every_review_and_conversation_of_a_real_release_is_in_a_file_or_counted(
    demo_folder: Path, tmp_path: Path
) -> None:
    release = demo_folder / "release"
    exported = export_release(release, tmp_path / "out", ExportRequest(ExportLayout.TRL))
    for task, column in ((Task.REVIEW, "reviews"), (Task.REBUTTAL, "conversations")):
        files = [file.samples for file in exported.files if file.task is task]
        rows = open_release(release).rows(CONFIG[task], None, [column])
        held = sum(len(row[column]) for row in rows)
        assert held > 0
        assert sum(file.rows + file.left_out.total() for file in files) == held


def test_an_export_is_not_a_release(release: Path, tmp_path: Path, run: Run) -> None:
    assert run("export", release, "--out", tmp_path / "out", "--format", "jsonl").code == 0
    ended = run("export", tmp_path / "out", "--out", tmp_path / "again", "--format", "trl")
    assert_refused(ended, f"'{tmp_path / 'out'}'")


def test_export_reports_how_many_turns_came_after_the_decision(tmp_path: Path, run: Run) -> None:
    late = talk("t1", "I doubt it.", "It holds.", "I see.", after_decision=2)
    release = a_release(tmp_path / "release", {"train": [task_paper("t1", conversations=[late])]})
    ended = run("export", release, "--out", tmp_path / "out", "--format", "trl", "--task", "rebuttal")
    assert "  left out: 2 turns posted after the decision" in ended.out.splitlines()
