"""A folder may be called anything: commands work in it, or refuse it in one sentence before they write."""

import json
from pathlib import Path

import pytest

import peercorpus
from commands import Run, assert_refused

MISREAD = ["a%20b", "50%25", "back\\slash", "line\nbreak", "\udcff\udcfe"]
NOTE = {
    "id": "rkgO66VKDS",
    "forum": "rkgO66VKDS",
    "invitation": "Invented.cc/2024/Conference/-/Submission",
    "readers": ["everyone"],
    "content": {"title": "On nothing"},
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run, with a file to import: packages take some relative paths for URLs."""
    (tmp_path / "note.json").write_text(json.dumps([NOTE]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "name", ["ven:2024", "50%", "a#b?c", "für 日本", "-dash", "a[1]*", "s3:x", "~", "a'b\"", "{x}"]
)
def test_every_command_works_in_a_folder_with_an_odd_name(run: Run, name: str) -> None:
    workspace, release, beside = f"--workspace={name}", f"{name}.out", "" if name[0] != "-" else "./"
    for command in (
        ["import", "note.json", workspace],
        ["build", workspace],
        ["status", workspace],
        ["check", workspace],
        ["show", NOTE["id"], workspace],
        ["forms", workspace],
        ["publish", workspace, f"--out={release}"],
        ["publish", workspace, f"--out={release}"],
        ["verify", f"{beside}{release}"],
        ["diff", f"{beside}{release}", f"{beside}{release}"],
        ["table1", workspace],
        ["table1", f"--workspace={release}"],
        ["takedown", NOTE["id"], workspace],
    ):
        ended = run(*map(str, command))
        assert ended.code == 0, (command, ended.err)
    assert peercorpus.open(name).papers().collect()["forum_id"].to_list() == [NOTE["id"]]


@pytest.mark.fault(
    "machine", "a folder whose path Delta Lake reads as another one", "one sentence; nothing is written", times=5
)
@pytest.mark.parametrize("name", MISREAD)
def test_a_folder_whose_path_is_misread_is_refused_and_not_made(run: Run, name: str, here: Path) -> None:
    for command in (["import", "note.json"], ["build"], ["status"], ["harvest", "Invented.cc/2024/Conference"]):
        assert_refused(run(*command, f"--workspace={name}"), "cannot hold a workspace", "rename")
    assert [path.name for path in here.iterdir()] == ["note.json"]


def test_a_link_to_a_folder_that_is_misread_is_refused(run: Run, here: Path) -> None:
    (here / "a%20b").mkdir()
    (here / "link").symlink_to(here / "a%20b")
    assert_refused(run("import", "note.json", "--workspace=link"), "'link'", "'%20'")
