"""`peercorpus export`, as a user meets it."""

import json
from pathlib import Path

import pytest

from commands import Run, assert_refused
from invented_releases import a_release, task_paper, write_release
from invented_tables import ICLR, invented, paper
from peercorpus.publish.export import Layout, Wanted
from peercorpus.publish.exporting import export
from peercorpus.publish.opened import open_release
from peercorpus.publish.run import publish
from peercorpus.publish.split_files import Asked
from peercorpus.publish.splits import Profile, Task
from peercorpus.publish.tasks import CONFIG


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return a_release(tmp_path / "release")


def test_it_says_what_it_wrote_and_what_it_left_out(tmp_path: Path, run: Run) -> None:
    silent = task_paper("t2", conversations=[])
    papers = {"train": [task_paper("t1"), silent], "test": [task_paper("t9", reviews=[])]}
    ended = run("export", a_release(tmp_path / "release", papers), "--out", tmp_path / "out", "--format", "trl")
    assert ended.code == 0
    assert ended.out == (
        f"The trl files are in {tmp_path / 'out'}; its README.md says how to open them.\n"
        "review_train.jsonl: 2 rows of 2 papers\n"
        "review_validation.jsonl: not written, no rows\n"
        "review_test.jsonl: not written, no rows\n"
        "rebuttal_train.jsonl: 1 row of 1 paper\n"
        "rebuttal_validation.jsonl: not written, no rows\n"
        "rebuttal_test.jsonl: 1 row of 1 paper\n"
    )


def test_one_task_with_the_abstract_and_no_system_message(release: Path, tmp_path: Path, run: Run) -> None:
    options = ("--format", "trl", "--task", "review", "--paper", "abstract", "--no-system")
    assert run("export", release, "--out", tmp_path / "out", *options).code == 0
    row = json.loads((tmp_path / "out" / "review_test.jsonl").read_text())
    assert row["messages"][0] == {"role": "user", "content": "# On t9\n\nWe invent."}
    assert not list((tmp_path / "out").glob("rebuttal*"))


def test_a_release_with_sides_and_no_paper_to_train_on_is_not_told_to_be_published_with_sides(
    tmp_path: Path, run: Run
) -> None:
    with invented(tmp_path / "corpus", {ICLR: [paper("f1")]}) as workspace:
        publish(workspace, tmp_path / "release", sides=Asked(Profile.RE2))
    ended = run("export", tmp_path / "release", "--out", tmp_path / "out", "--format", "trl")
    assert_refused(ended, "can be trained on")
    assert "--splits" not in ended.err


def test_what_cannot_be_done_is_refused_in_a_sentence(release: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "out"

    def refuse(sentence: str, *arguments: str | Path) -> None:
        assert_refused(run("export", *arguments, "--out", out), sentence)

    refuse("holds no release", tmp_path / "nothing", "--format", "trl")
    refuse("holds no release", tmp_path, "--format", "trl")
    plain = write_release(tmp_path / "plain", {}, {"t1": "CC BY 4.0"})
    refuse("has no task configurations; publish it with --splits", plain, "--format", "trl")
    half = write_release(tmp_path / "half", {("review_sft", "train"): [task_paper("t1")]}, {})
    refuse("has no configuration 'rebuttal'", half, "--format", "trl", "--task", "rebuttal")
    refuse("--format jsonl writes the rows as they are", release, "--format", "jsonl", "--paper", "text")
    for arguments in (
        ("--format", "trl", "--task", "poetry"),
        ("--format", "csv"),
        ("--format", "trl", "--max-characters", "0"),
    ):
        assert run("export", release, "--out", out, *arguments).code == 2
    assert not out.exists()


def test_every_review_and_conversation_of_a_real_release_is_in_a_file_or_counted(
    demo_folder: Path, tmp_path: Path
) -> None:
    release = demo_folder / "release"
    exported = export(release, tmp_path / "out", Wanted(Layout.TRL))
    for task, column in ((Task.REVIEW, "reviews"), (Task.REBUTTAL, "conversations")):
        files = [file.samples for file in exported.files if file.task is task]
        rows = open_release(release).rows(CONFIG[task], None, [column])
        held = sum(len(row[column]) for row in rows)
        assert held > 0
        assert sum(file.rows + file.left_out.total() for file in files) == held


def test_an_export_is_no_release(release: Path, tmp_path: Path, run: Run) -> None:
    assert run("export", release, "--out", tmp_path / "out", "--format", "jsonl").code == 0
    ended = run("export", tmp_path / "out", "--out", tmp_path / "again", "--format", "trl")
    assert_refused(ended, "holds no release")
