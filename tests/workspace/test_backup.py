"""The commands of docs/workspace.md make copies that are whole, also while a run writes."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Run
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace, open_workspace

PAGE = (Path(__file__).parents[2] / "docs" / "workspace.md").read_text("utf-8")
AT_REST, WHILE_WRITING, *_ = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
WITH_PYTHON = re.findall(r"`(python -c .*?)`\.", PAGE, re.DOTALL)[0]

requires_shell = pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the program sqlite3")


def note(number: int) -> RawObject:
    body = f'{{"id":"r{number}"}}'.encode()
    return RawObject(RawKind.NOTE, f"r{number}", 2, "V", "r1", f"r{number}", 1, 1, "a dump", body)


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace that a run is writing: what came last is in the write-ahead log only."""
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        workspace.raw.add([note(1)])
        workspace.files.add(b"a PDF")
        (tmp_path / "corpus" / "takedown.txt").write_text("r9\n")
        yield workspace


def shell(folder: Path, commands: str) -> None:
    done = subprocess.run(["sh", "-ec", commands], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def assert_whole(backup: Path, run: Run) -> None:
    checked = run("check", "--workspace", backup)
    assert checked.code == 0, checked.out
    with open_workspace(backup) as restored:
        assert [each.object_id for each in restored.raw.versions(RawKind.NOTE, "V")] == ["r1"]
        assert [path.read_bytes() for path in (backup / "files").rglob("*.pdf")] == [b"a PDF"]
    assert (backup / "takedown.txt").read_text() == "r9\n"
    assert (backup / "raw.db").stat().st_mode & 0o777 == 0o600


@requires_shell
@pytest.mark.usefixtures("writing")
def test_copy_during_a_run_is_intact(tmp_path: Path, run: Run) -> None:
    shell(tmp_path, WHILE_WRITING)
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o700
    assert_whole(tmp_path / "backup", run)


@pytest.mark.usefixtures("writing")
def test_python_copies_without_the_program(tmp_path: Path, run: Run) -> None:
    without = re.sub(r"^sqlite3 .*$", lambda _: WITH_PYTHON, WHILE_WRITING, flags=re.MULTILINE)
    shell(tmp_path, without.replace("python -c", "python3 -c"))
    assert_whole(tmp_path / "backup", run)


def test_copy_of_idle_folder_is_intact(tmp_path: Path, run: Run) -> None:
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        workspace.raw.add([note(1)])
        workspace.files.add(b"a PDF")
    (tmp_path / "corpus" / "takedown.txt").write_text("r9\n")
    shell(tmp_path, AT_REST)
    assert_whole(tmp_path / "backup", run)
