"""A workspace contains only complete files, is written by one run at a time, and is not left behind empty."""

import hashlib
import multiprocessing
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from peercorpus.errors import PeercorpusError, WorkspaceError
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import LOCK, Files, open_workspace

V = "Aurora.cc/2020/Conference"
NOTE = RawObject(RawKind.NOTE, "a", 2, V, "a", "a", 1, 1, "a dump", b"{}")
INVITATION = RawObject(RawKind.INVITATION, f"{V}/-/Review", 2, V, "", f"{V}/-/Review", 1, 1, "a dump", b"{}")


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    with open_workspace(folder, create=True) as workspace:
        workspace.raw.add([NOTE])
    return folder


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7 invented", bytes(range(256)) * 5000])
def test_file_is_stored_once_by_sha256(tmp_path: Path, content: bytes) -> None:
    files = Files(tmp_path / "files", tmp_path / "files" / "partial")
    sha256 = files.add(content)
    assert sha256 == hashlib.sha256(content).hexdigest()
    path = tmp_path / "files" / sha256[:2] / f"{sha256}.pdf"
    assert files.path(sha256) == path
    stored_at = path.stat().st_ino
    assert files.add(content) == sha256
    assert path.stat().st_ino == stored_at
    assert files.read(sha256) == content
    assert [each for each in (tmp_path / "files").rglob("*") if each.is_file()] == [path]


def store_for_ever(folder: Path) -> None:
    files = Files(folder, folder / "partial")
    while True:
        files.add(os.urandom(3_000_000))


@pytest.mark.slow
@pytest.mark.parametrize("files", [1, 5])
def test_kill_leaves_no_partial_file(tmp_path: Path, files: int) -> None:
    process = multiprocessing.get_context("spawn").Process(target=store_for_ever, args=(tmp_path,))
    process.start()
    while process.is_alive() and len(list(tmp_path.rglob("*.pdf"))) < files:
        process.join(0.002)
    process.kill()
    process.join(60)
    stored = list(tmp_path.rglob("*.pdf"))
    assert len(stored) >= files
    assert [hashlib.sha256(path.read_bytes()).hexdigest() for path in stored] == [path.stem for path in stored]


def make_file(path: Path) -> None:
    path.write_text("a text")


def make_foreign_folder(path: Path) -> None:
    path.mkdir()
    (path / "thesis.tex").write_text("a text")


def make_broken_workspace(path: Path) -> None:
    path.mkdir()
    (path / "raw.db").write_text("not a database, by far" * 100)


def make_nothing(path: Path) -> None:
    assert not path.exists()


@pytest.mark.parametrize(
    ("make", "create", "sentence"),
    [
        (make_file, True, "is a file"),
        (make_file, False, "is a file"),
        (make_foreign_folder, True, "--workspace"),
        (make_foreign_folder, False, "'peercorpus harvest' or 'import'"),
        (Path.mkdir, False, "'peercorpus harvest' or 'import'"),
        (make_nothing, False, "'peercorpus harvest' or 'import'"),
        (make_broken_workspace, True, "is damaged .file is not a database."),
        (make_broken_workspace, False, "is damaged .file is not a database."),
    ],
)
def test_other_folder_is_left_unchanged(
    tmp_path: Path, make: Callable[[Path], None], create: bool, sentence: str
) -> None:
    path = tmp_path / "corpus"
    make(path)
    before = {found: found.read_bytes() for found in tmp_path.rglob("*") if found.is_file()}
    for write in (True, False):
        with pytest.raises(WorkspaceError, match=sentence) as caught, open_workspace(path, create=create, write=write):
            pytest.fail("it was opened")
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
    after = {found: found.read_bytes() for found in tmp_path.rglob("*") if found.is_file() and found.name != LOCK}
    assert after == before


@pytest.mark.parametrize("name", ["a file/corpus", "a" * 300], ids=["below a file", "too long a name"])
def test_impossible_path_is_refused(tmp_path: Path, name: str) -> None:
    make_file(tmp_path / "a file")
    with (
        pytest.raises(WorkspaceError, match=r"cannot be (read|written): "),
        open_workspace(tmp_path / name, create=True),
    ):
        pytest.fail("it was opened")
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]


def test_lock_ends_with_the_run(filled: Path) -> None:
    def fail() -> None:
        with open_workspace(filled):
            raise PeercorpusError("no")

    with pytest.raises(PeercorpusError, match="no"):
        fail()
    with open_workspace(filled) as workspace:
        assert workspace.raw.count(RawKind.NOTE, V) == 1


def fail_after(stored: RawObject | None) -> Callable[[Path], None]:
    def fail(folder: Path) -> None:
        with open_workspace(folder, create=True) as workspace:
            workspace.raw.add([stored] if stored else [])
            workspace.files.add(b"%PDF-")
            raise PeercorpusError("no")

    def use(folder: Path) -> None:
        with pytest.raises(PeercorpusError, match="no"):
            fail(folder)

    return use


def end_after(stored: RawObject | None) -> Callable[[Path], None]:
    def use(folder: Path) -> None:
        with open_workspace(folder, create=True) as workspace:
            workspace.raw.add([stored] if stored else [])

    return use


@pytest.mark.parametrize(
    ("use", "is_left"),
    [
        (end_after(None), False),
        (fail_after(None), False),
        (fail_after(INVITATION), False),
        (fail_after(NOTE), True),
        (end_after(INVITATION), True),
        (end_after(NOTE), True),
    ],
    ids=["nothing", "nothing, failing", "settings, failing", "a note, failing", "settings", "a note"],
)
@pytest.mark.parametrize("was_there", [False, True])
def test_empty_new_workspace_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: Callable[[Path], None], is_left: bool, was_there: bool
) -> None:
    folder = tmp_path / "corpus"
    if was_there:
        folder.mkdir()
        monkeypatch.chdir(folder)
    use(Path() if was_there else folder)
    assert (folder / "raw.db").exists() is is_left
    assert folder.exists() is (is_left or was_there)
    if folder.exists() and not is_left:
        assert list(folder.iterdir()) == []


def test_existing_workspace_is_kept(filled: Path) -> None:
    fail_after(None)(filled)
    with open_workspace(filled, write=False) as workspace:
        assert workspace.raw.venues() == [V]


def test_copied_workspace_is_the_same(filled: Path, tmp_path: Path) -> None:
    moved = filled.rename(tmp_path / "moved")
    with open_workspace(moved) as workspace:
        assert list(workspace.raw.latest(RawKind.NOTE, V)) == [NOTE]
    with closing(sqlite3.connect(moved / "raw.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
