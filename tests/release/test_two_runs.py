"""Two runs that write the same folder or file: one writes it, the other says so; the folder of a killed run is free."""

import os
from pathlib import Path

import pytest

from peercorpus.errors import PeercorpusError
from peercorpus.release.folder import lock_folder, own_folder, replace_folder

BUSY = "Another run is writing .*release'; wait until it ends, or stop it, then try again."


def write_release(folder: Path) -> None:
    with replace_folder(folder) as partial:
        (partial / "papers").write_text("papers")


def test_a_folder_that_another_run_is_writing_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    write_release(folder)
    with replace_folder(folder) as partial:
        (partial / "papers").write_text("new papers")
        with pytest.raises(PeercorpusError, match=BUSY):
            write_release(folder)
        assert (folder / "papers").read_text() == "papers"
    assert (folder / "papers").read_text() == "new papers"
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    write_release(folder)
    assert (folder / "papers").read_text() == "papers"


def test_the_folder_of_a_killed_run_is_replaced(tmp_path: Path) -> None:
    left = tmp_path / ".release.partial"
    left.mkdir()
    (left / "half").touch()
    write_release(tmp_path / "release")
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert not (tmp_path / "release" / "half").exists()


def test_a_run_that_has_renamed_its_folder_leaves_that_of_the_next(tmp_path: Path) -> None:
    partial = tmp_path / "partial"
    with own_folder(partial, tmp_path / "release"):
        partial.rename(tmp_path / "release")
        partial.mkdir()
        (partial / "of the next").touch()
    assert (partial / "of the next").exists()


def test_a_refused_folder_is_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "thesis.tex").touch()
    with pytest.raises(PeercorpusError, match=r"thesis\.tex"):
        write_release(folder)
    assert [path.name for path in tmp_path.rglob("*")] == ["release", "thesis.tex"]


def test_a_lock_is_free_at_the_end_and_after_an_error(tmp_path: Path) -> None:
    opened: list[int] = []

    def fail() -> None:
        with lock_folder(tmp_path, tmp_path / "release") as descriptor:
            opened.append(descriptor)
            raise BlockingIOError

    for _ in range(2):
        with pytest.raises(BlockingIOError):
            fail()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])
