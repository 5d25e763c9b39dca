"""What only the owner may read is readable to nobody else, whatever the process would allow."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from peercorpus.corpus.takedown import add_to_list, read_list
from peercorpus.workspace.private_files import replace_file
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

NOTE = RawObject(RawKind.NOTE, "a", 2, "V", "a", "a", 1, 1, "a dump", b"{}")


@pytest.fixture(autouse=True)
def _generous() -> Iterator[None]:
    """A process that lets everybody read what it writes."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_workspace_is_open_to_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    with open_workspace(folder, create=True) as workspace:
        with workspace.raw.transaction():
            workspace.raw.add([NOTE])
        names = ("raw.db", "raw.db-wal", "raw.db-shm")
        assert {path.name: mode(path) for path in folder.glob("raw.db*")} == dict.fromkeys(names, 0o600)
    add_to_list(folder, ["a"])
    assert mode(folder) == 0o700
    assert mode(folder / "raw.db") == mode(folder / "takedown.txt") == 0o600


def test_an_older_workspace_is_closed_to_others_when_it_is_next_written(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    with open_workspace(folder, create=True) as workspace:
        workspace.raw.add([NOTE])
    (folder / "raw.db").chmod(0o644)
    with open_workspace(folder, write=False) as workspace:
        assert workspace.raw.find(RawKind.NOTE, "a") == NOTE
    assert mode(folder / "raw.db") == 0o644
    with open_workspace(folder):
        pass
    assert mode(folder / "raw.db") == 0o600


@pytest.mark.parametrize("name", ["takedown.txt", "takedown.txt.partial"])
def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path, name: str) -> None:
    other = tmp_path / "somebody else's"
    other.write_text("untouched")
    (tmp_path / name).symlink_to(other)
    replace_file(tmp_path / "takedown.txt", ["a"])
    assert other.read_text() == "untouched"
    assert read_list(tmp_path) == ["a"]
    assert {path.name for path in tmp_path.iterdir()} == {"takedown.txt", "somebody else's"}
