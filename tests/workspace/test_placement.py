"""The location of a workspace's files and tables in `place.json`, a file that is copied and edited by hand."""

from pathlib import Path

import pytest

from commands import Run, assert_refused
from peercorpus.errors import WorkspaceError
from peercorpus.workspace.placement import FILE, Placement, read_placement, write_placement


@pytest.mark.parametrize(
    "content",
    [
        b'{"at": "elsewhere", "other": null, "mark": "x"}',
        b'{"at": ".", "other": "/somewhere", "mark": "x"}',
        b'{"at": "\\xff"}',
        b'{"at": "\xff"}',
        b"{}",
    ],
)
def test_a_placement_names_a_store_or_the_folder(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(WorkspaceError, match=r"place\.json"):
        read_placement(tmp_path)


@pytest.mark.fault("disk", "`place.json` states what cannot be", "one sentence that names it")
def test_a_damaged_placement_is_reported_in_one_sentence(tmp_path: Path, run: Run) -> None:
    assert run("import", "--workspace", tmp_path / "corpus", _dump(tmp_path)).code == 0
    (tmp_path / "corpus" / FILE).write_text('{"at": "elsewhere", "other": null, "mark": "x"}')
    for command in (("status",), ("move", "--to", ".")):
        assert_refused(run(*command, "--workspace", tmp_path / "corpus"), FILE)


def _dump(folder: Path) -> Path:
    note = (
        '{"id": "a", "forum": "a", "invitation": "V.cc/2020/Conference/-/Blind_Submission", "content": {"title": "T"}}'
    )
    (folder / "notes.jsonl").write_text(note)
    return folder / "notes.jsonl"


def test_a_written_placement_can_be_read(tmp_path: Path) -> None:
    placement = Placement("s3://papers/one", ".", "mark")
    write_placement(tmp_path, placement)
    assert read_placement(tmp_path) == placement
