"""Tables and index that are replaced, removed or damaged while the explorer runs: pages go on, or say what happened."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from asked_releases import publish_release
from explored import HOST, LIVELY, QUIET, known, words_of
from invented_tables import ICLR, fill, invented, keep, paper
from peercorpus.errors import TryLaterError
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer import server
from peercorpus.explorer.search_index import open_index
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.workspace.workspace import Workspace, open_workspace

NEW = "New.cc/2024/Conference"
READING_TABLES = (f"/text/{LIVELY}", f"/changes/{LIVELY}", f"/record/{LIVELY}")
"""Pages that read tables."""
REPLACED = (
    "The tables were replaced since the explorer was started, as by a build; stop the explorer and start it again."
)
GONE = "The tables have been removed since the explorer was started; run 'peercorpus build'"


@contextmanager
def corpus(folder: Path) -> Iterator[Workspace]:
    with invented(folder, known()) as workspace:
        keep(workspace)
        yield workspace


def serve(workspace: Workspace) -> TestClient:
    app = make_app(open_explorer(workspace, show_nothing), "127.0.0.1")
    return TestClient(app, base_url=HOST, raise_server_exceptions=False)


def answers(client: TestClient) -> list[tuple[int, str]]:
    found = [client.get(path) for path in READING_TABLES]
    return [(answer.status_code, words_of(answer.text)) for answer in found]


def remove_files(workspace: Workspace) -> list[Path]:
    """Remove the Parquet files of texts and changes, as a table whose columns differ is made anew."""
    files = [
        path for name in ("5-texts", "7-changes") for path in (workspace.folder / "tables" / name).rglob("*.parquet")
    ]
    for path in files:
        path.unlink()
    return files


def build_again(workspace: Workspace) -> None:
    """Replace the tables by those of a newer build, without a trace of the earlier ones."""
    with open_workspace(workspace.folder) as other:
        shutil.rmtree(workspace.folder / "tables")
        for venue_id, records in (known() | {NEW: [paper("New00001", NEW)]}).items():
            fill(other, venue_id, records)


def test_kept_files_keep_pages(tmp_path: Path) -> None:
    with corpus(tmp_path / "corpus") as workspace:
        client = serve(workspace)
        fill(workspace, ICLR, [paper("New00001")])
        assert [status for status, _ in answers(client)] == [200, 200, 200]
        assert "tether" in client.get(f"/changes/{LIVELY}").text
        assert client.get(f"/paper/{LIVELY}").status_code == 200
        assert client.get("/paper/New00001").status_code == 404
        assert client.get(f"/venue/{ICLR.replace('/', '%2F')}").status_code == 200


def test_replaced_tables_are_called_so(tmp_path: Path) -> None:
    with corpus(tmp_path / "corpus") as workspace:
        client = serve(workspace)
    build_again(workspace)
    for status, said in answers(client):
        assert status == 503
        assert REPLACED in said
        assert "damaged" not in said
    assert client.get(f"/papers?q={QUIET}", follow_redirects=False).status_code == 303
    with open_workspace(workspace.folder, write=False) as again:
        assert [status for status, _ in answers(serve(again))] == [200, 200, 200]


def test_lost_files_are_called_damaged(tmp_path: Path) -> None:
    with corpus(tmp_path / "corpus") as workspace:
        client = serve(workspace)
        assert remove_files(workspace)
        for status, said in answers(client):
            assert status == 500
            assert "is damaged" in said
            assert "peercorpus check --repair" in said


def test_removed_tables_are_called_so(tmp_path: Path) -> None:
    with corpus(tmp_path / "corpus") as workspace:
        client = serve(workspace)
    shutil.rmtree(workspace.folder / "tables")
    for status, said in answers(client):
        assert status == 503
        assert GONE in said
    assert client.get("/papers?q=kites").status_code == 200


def delete_index(folder: Path) -> None:
    shutil.rmtree(folder / "explorer")


def publish(folder: Path) -> None:
    with open_workspace(folder, write=False) as workspace:
        publish_release(workspace, folder.parent / "release")


def explore_too(folder: Path) -> None:
    with open_workspace(folder) as workspace:
        fill(workspace, NEW, [paper("New00001", NEW)])
        open_explorer(workspace, show_nothing)


@pytest.mark.parametrize("act", [delete_index, publish, explore_too])
def test_what_runs_beside_it_changes_no_page(tmp_path: Path, act: Callable[[Path], None]) -> None:
    paths = ("/", "/papers?q=kites", f"/paper/{LIVELY}", "/points", "/venues", "/export.csv", *READING_TABLES)
    with corpus(tmp_path / "corpus") as workspace:
        client = serve(workspace)
        other = serve(workspace)
    expected = {path: (client.get(path).status_code, client.get(path).content) for path in paths}
    act(tmp_path / "corpus")
    # Those of the other client were not asked for before.
    assert {path: (other.get(path).status_code, other.get(path).content) for path in paths} == expected


def test_a_takedown_stops_until_restart(tmp_path: Path) -> None:
    with corpus(tmp_path / "corpus") as workspace:
        client = serve(workspace)
        (tmp_path / "corpus" / "takedown.txt").write_text(f"{LIVELY}\n")
        for path in ("/", f"/paper/{QUIET}", *READING_TABLES):
            answer = client.get(path)
            assert (answer.status_code, "stop the explorer and start it again" in answer.text) == (503, True)
        assert serve(workspace).get(f"/paper/{LIVELY}").status_code == 404


def test_tables_changing_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with corpus(tmp_path / "corpus") as workspace:

        def open_then_change(*given: Any) -> object:
            opened = open_index(*given)
            fill(workspace, NEW, [paper("New00001", NEW)])
            return opened

        monkeypatch.setattr(server, "open_index", open_then_change)
        with pytest.raises(TryLaterError, match="run the same command again"):
            open_explorer(workspace, show_nothing)
