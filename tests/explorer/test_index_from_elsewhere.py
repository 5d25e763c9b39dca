"""The index in a workspace from an untrusted source exposes no file of the user, and writes none elsewhere."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explored import known
from invented_tables import ICLR, TMLR, a_forum, invented, paper
from peercorpus.corpus.takedown import read_takedown
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer import index_parts
from peercorpus.explorer.index_parts import POINTS
from peercorpus.explorer.search_index import PARTS, _keep_parts, open_index
from peercorpus.workspace.workspace import Workspace

pytestmark = pytest.mark.slow

PRECIOUS = "what the user wrote"


def opened(workspace: Workspace) -> Path:
    """Return the folder of a workspace's index."""
    open_index(workspace, read_takedown(workspace), show_nothing)
    (folder,) = (path for path in (workspace.folder / "explorer").iterdir() if not path.is_symlink())
    return folder


def alter(folder: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    """Make an earlier index of the workspace, with different parts."""
    earlier = folder.rename(folder.with_name("index-0"))
    parts = json.loads((earlier / PARTS).read_bytes())
    change(parts)
    (earlier / PARTS).write_text(json.dumps(parts))
    return earlier


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_parts, "PART_PAPERS", 1)


@pytest.mark.parametrize(
    "name",
    ["../../planted", "/tmp/planted", "x/planted", "meta.json", "venues.json", "parts.json", "", ".", "0" * 32],
)
def test_only_files_of_segments_are_taken(tmp_path: Path, name: str) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        earlier = alter(opened(workspace), lambda parts: parts[0]["papers"]["files"].append(name))
        (workspace.folder / "planted").write_text(PRECIOUS)
        if not (earlier / name).exists():
            (earlier / "x").mkdir()
            (earlier / name).write_text(PRECIOUS)
        kept = index_parts_taken(workspace)
        folder = opened(workspace)
        assert (workspace.folder / "planted").read_text() == PRECIOUS
        assert {
            one.name for one in folder.rglob("*") if one.is_file() and PRECIOUS in one.read_text(errors="replace")
        } == set()
    assert kept == 2


def index_parts_taken(workspace: Workspace) -> int:
    """Return how many of the three known parts an earlier index provides."""
    scratch = workspace.folder / "scratch"
    (scratch / POINTS).mkdir(parents=True)
    with workspace.tables.looking_once():
        inputs = index_parts.read_inputs(workspace.tables, read_takedown(workspace))
        wanted = {index_parts.key_of(venues) for venues in index_parts.divide(inputs)}
    taken = _keep_parts(workspace.folder / "explorer", wanted, scratch)
    shutil.rmtree(scratch)
    return len(taken)


@pytest.mark.parametrize("name", ["venues.json", "meta.json", "f" * 32 + ".store"])
def test_links_to_user_files_are_ignored(tmp_path: Path, name: str) -> None:
    precious = tmp_path / "precious"
    precious.write_text(PRECIOUS)
    with invented(tmp_path / "corpus", known()) as workspace:
        earlier = alter(opened(workspace), lambda parts: parts[0]["papers"]["files"].append(name))
        (earlier / name).unlink(missing_ok=True)
        (earlier / name).symlink_to(precious)
        folder = opened(workspace)
        assert precious.read_text() == PRECIOUS
        assert [path.name for path in folder.iterdir() if path.is_symlink()] == []
        assert not (folder / ("f" * 32 + ".store")).exists()


def test_linked_indexes_are_ignored(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        folder = opened(workspace)
        elsewhere = folder.rename(tmp_path / "elsewhere")
        folder.with_name("index-0").symlink_to(elsewhere)
        assert index_parts_taken(workspace) == 0
        opened(workspace)
        assert (elsewhere / PARTS).is_file()


def test_papers_of_two_venues_are_removed(tmp_path: Path) -> None:
    secret = "zanzibarquagga"
    venues: dict[str, list[object]] = {
        ICLR: [*a_forum("a1"), paper("shared01", title=secret)],
        TMLR: [*a_forum("d1", TMLR), paper("shared01", TMLR, title=secret)],
    }
    with invented(tmp_path / "corpus", venues) as workspace:
        opened(workspace)
        (workspace.folder / "takedown.txt").write_text("shared01\n")
        files = [path for path in opened(workspace).rglob("*") if path.is_file()]
        assert [path.name for path in files if secret.encode() in path.read_bytes()] == []


def test_files_of_points_are_checked(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text(PRECIOUS)
    with invented(tmp_path / "corpus", known()) as workspace:
        earlier = alter(opened(workspace), lambda parts: parts[0]["points"]["files"].append("meta.json"))
        (earlier / POINTS / "meta.json").unlink()
        (earlier / POINTS / "meta.json").symlink_to(precious)
        assert index_parts_taken(workspace) == 2
        opened(workspace)
        assert precious.read_text() == PRECIOUS
