"""Private files are readable only by their owner, whatever the process's umask."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from peercorpus.corpus.takedown import add_to_list, read_list
from peercorpus.errors import WorkspaceError
from peercorpus.explorer.search_index import open_index
from peercorpus.models.endpoint import ResponseCache
from peercorpus.release.dated_releases import open_target
from peercorpus.release.kept_splits import write_splits
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.object_store import write_whole
from peercorpus.workspace.private_files import make_private_folder, name_final, replace_file, replacing
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import OWN, open_workspace

NOTE = RawObject(RawKind.NOTE, "a", 2, "V", "a", "a", 1, 1, "a dump", b"{}")


@pytest.fixture(autouse=True)
def _generous() -> Iterator[None]:
    """A process whose files everyone may read."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_workspace_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    with open_workspace(folder, create=True) as workspace:
        with workspace.raw.transaction():
            workspace.raw.add([NOTE])
        names = ("raw.db", "raw.db-wal", "raw.db-shm")
        assert {path.name: mode(path) for path in folder.glob("raw.db*")} == dict.fromkeys(names, 0o600)
    add_to_list(folder, ["a"])
    assert mode(folder) == 0o700
    assert mode(folder / "raw.db") == mode(folder / "takedown.txt") == 0o600


def test_older_workspace_becomes_private(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    with open_workspace(folder, create=True) as workspace:
        workspace.raw.add([NOTE])
    (folder / "raw.db").chmod(0o644)
    folder.chmod(0o755)
    with open_workspace(folder, write=False) as workspace:
        assert workspace.raw.find(RawKind.NOTE, "a") == NOTE
    assert mode(folder / "raw.db") == 0o644
    with open_workspace(folder):
        pass
    assert mode(folder / "raw.db") == 0o600
    assert mode(folder) == 0o700


def test_foreign_folder_keeps_its_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o770)
    monkeypatch.setattr("os.geteuid", lambda: tmp_path.stat().st_uid + 1)
    make_private_folder(tmp_path)
    assert mode(tmp_path) == 0o770


def test_folder_of_damaged_files_is_private(tmp_path: Path) -> None:
    (tmp_path / "tables" / "3-posts").mkdir(parents=True)
    Tables(tmp_path / "tables", tmp_path / "partial").set_log_aside("3-posts", tmp_path / "damaged")
    assert mode(tmp_path / "damaged") == 0o700


def test_link_instead_of_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "somebody else's"
    other.write_text("untouched")
    (tmp_path / "takedown.txt").symlink_to(other)
    replace_file(tmp_path / "takedown.txt", ["a"])
    assert other.read_text() == "untouched"
    assert read_list(tmp_path) == ["a"]
    assert {path.name for path in tmp_path.iterdir()} == {"takedown.txt", "somebody else's"}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        workspace.raw.add([NOTE])
    return tmp_path / "corpus"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another user's folder, with our file names in it."""
    folder = tmp_path / "somebody else's"
    for name in ("index-1", ".partial-1", "index-2/more", ".unfinished"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_text("untouched")
    return folder


def listing(folder: Path) -> dict[str, str | None]:
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_text() if path.is_file() else None for path in paths}


@pytest.mark.fault("input", "a file or folder of a workspace is a link elsewhere", "refused, not followed", times=15)
@pytest.mark.parametrize(
    "name",
    [*OWN, "files/ab", "files/partial", "tables/1-papers", "tables/1-papers/_delta_log", "tables/3-posts/venue_id=V"],
)
def test_workspace_with_link_is_not_written(corpus: Path, other: Path, name: str) -> None:
    before = listing(other)
    (corpus / name).unlink(missing_ok=True)
    (corpus / name).parent.mkdir(parents=True, exist_ok=True)
    (corpus / name).symlink_to(other if "." not in name else other / "index-1" / "file")
    with pytest.raises(WorkspaceError, match="is a link"), open_workspace(corpus):
        pass
    assert listing(other) == before


def test_no_index_follows_a_link(corpus: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.explorer.search_index.digest_inputs", lambda _: "3")
    before = listing(other)
    (corpus / "explorer").symlink_to(other)
    with open_workspace(corpus, write=False) as workspace:
        monkeypatch.setattr(workspace.tables, "require", lambda _: None)
        monkeypatch.setattr(workspace.tables, "venues", lambda _: ["V"])
        with pytest.raises(WorkspaceError, match="is a link"):
            open_index(workspace, None, None)  # type: ignore[arg-type]
    assert listing(other) == before


@pytest.mark.parametrize("name", ["splits", "splits/.lock"])
def test_no_splits_follow_a_link(tmp_path: Path, corpus: Path, other: Path, name: str) -> None:
    before = listing(other)
    (corpus / name).parent.mkdir(exist_ok=True)
    (corpus / name).symlink_to(other if name == "splits" else other / "index-1" / "file")
    with pytest.raises(WorkspaceError, match="is a link"):
        write_splits(tmp_path, [], SplitRequest(Profile.RE2), standing=tmp_path, workspace=corpus)
    assert listing(other) == before


def test_no_answers_follow_a_link(corpus: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    elsewhere.touch()
    (corpus / "answers.db").symlink_to(elsewhere)
    with pytest.raises(WorkspaceError, match="is a link"):
        ResponseCache(corpus / "answers.db", "run", 1)
    assert not elsewhere.stat().st_size


def test_no_release_follows_a_link(corpus: Path, other: Path) -> None:
    before = listing(other)
    (corpus / "releases").symlink_to(other)
    with pytest.raises(WorkspaceError, match="is a link"), open_target(corpus, None, None):
        pass
    assert listing(other) == before


def test_atomic_write_replaces_a_link(tmp_path: Path) -> None:
    other = tmp_path / "somebody else's"
    other.write_text("untouched")
    (tmp_path / "place.json").symlink_to(other)
    write_whole(tmp_path / "place.json", b"{}")
    assert other.read_text() == "untouched"
    assert (tmp_path / "place.json").read_bytes() == b"{}"
    assert not (tmp_path / "place.json").is_symlink()


@pytest.mark.parametrize("name", ["papers.csv", "p" * 255, "é" * 127, "[p].csv"])
def test_two_writers_do_not_meet(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with replacing(path) as first:
        first.write_text("first")
        with replacing(path) as second:
            second.write_text("second, which is longer")
            write_whole(path, b"third")
            replace_file(path, ["fourth"])
        assert path.read_text() == "second, which is longer"
        assert name_final(first.name) == name or len(name.encode()) > 200
    assert path.read_text() == "first"
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_error_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text("earlier")

    def write_half() -> None:
        with replacing(path) as partial:
            partial.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert listing(tmp_path) == {"papers.csv": "earlier"}


def test_killed_runs_leftovers_are_removed(tmp_path: Path) -> None:
    left, running, alike = (
        tmp_path / name
        for name in (".papers.csv.0123abcd.partial", ".papers.csv.4567abcd.partial", ".papers.csv.jsonl.partial")
    )
    for path in (left, running, alike):
        path.write_text("half")
    os.utime(left, (0, 0))
    os.utime(alike, (0, 0))
    with replacing(tmp_path / "papers.csv"):
        pass
    assert sorted(listing(tmp_path)) == [running.name, alike.name, "papers.csv"]
