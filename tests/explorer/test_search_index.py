"""The index: made once for each state of the tables, replaced when they change, and never incomplete."""

import shutil
from pathlib import Path

import pytest

from commands import Run, assert_refused
from explored import GONE, LIVELY, QUIET, explored, known
from invented_tables import ICLR, a_forum, fill, invented, paper
from peercorpus.corpus.takedown import read_takedown
from peercorpus.errors import TableError
from peercorpus.execution.progress import Progress, show_nothing
from peercorpus.explorer import index_parts
from peercorpus.explorer.search_index import OpenIndex, digest_inputs, find_paper, find_row, open_index
from peercorpus.workspace.table_logs import TableLogs
from peercorpus.workspace.workspace import Workspace, open_workspace


def opened(workspace: Workspace) -> OpenIndex:
    return open_index(workspace, read_takedown(workspace), show_nothing)


def indexes(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "explorer").iterdir())


@pytest.mark.slow
def test_the_index_is_built_once_with_progress(tmp_path: Path) -> None:
    seen: list[Progress] = []
    with invented(tmp_path / "corpus", known()) as workspace:
        open_index(workspace, read_takedown(workspace), seen.append)
        assert [(one.what, one.done, one.total) for one in seen] == [("indexing papers", 4, 4)]
        seen.clear()
        open_index(workspace, read_takedown(workspace), seen.append)
        assert seen == []
        assert indexes(workspace.folder) == [f"index-{digest_inputs(workspace)}"]


@pytest.mark.slow
def test_new_tables_or_takedowns_replace_the_index(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        assert find_row(opened(workspace), GONE) is not None
        before = indexes(workspace.folder)
        (workspace.folder / "takedown.txt").write_text(f"{GONE}\n")
        assert find_row(opened(workspace), GONE) is None
        between = indexes(workspace.folder)
        with workspace.tables.replacing(("1-papers",), ICLR, "invent", "b" * 64) as replacement:
            for record in a_forum("New00001"):
                if type(record).__name__ == "Paper":
                    replacement.add(record)
        fresh = opened(workspace)
        assert find_row(fresh, LIVELY) is None
        assert find_row(fresh, "New00001") is not None
        after = indexes(workspace.folder)
    assert len({*before, *between, *after}) == 3
    assert [len(names) for names in (before, between, after)] == [1, 1, 1]


@pytest.mark.slow
def test_an_open_explorer_keeps_its_tables(tmp_path: Path) -> None:
    with (
        explored(tmp_path / "corpus", known()) as client,
        open_workspace(tmp_path / "corpus", write=False) as workspace,
    ):
        workspace.tables.logs = TableLogs(workspace.folder / "raw.db", write=True)
        before = client.get(f"/paper/{LIVELY}").text
        with workspace.tables.replacing(("1-papers", "3-posts"), ICLR, "invent", "b" * 64) as replacement:
            replacement.add(paper("New00001"))
        assert client.get(f"/paper/{LIVELY}?points=none").text == before  # Another address: its copy is kept.
        assert client.get("/paper/New00001").status_code == 404


@pytest.mark.slow
def test_an_index_left_half_built_is_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with invented(tmp_path / "corpus", known()) as workspace:
        with monkeypatch.context() as patched:
            patched.setattr(index_parts, "make_document", killed)
            with pytest.raises(KeyboardInterrupt):
                opened(workspace)
        assert indexes(workspace.folder) == []
        (workspace.folder / "explorer" / f"partial-{2**22 + 1}-left").mkdir()
        (workspace.folder / "explorer" / "partial-1-running").mkdir()
        assert find_row(opened(workspace), QUIET) is not None
        assert indexes(workspace.folder) == [f"index-{digest_inputs(workspace)}", "partial-1-running"]


@pytest.mark.slow
def test_a_read_only_workspace_can_be_explored(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        (workspace.folder / "explorer").write_text("in the way")
        found = find_paper(opened(workspace), LIVELY)
    assert found is not None
    assert [link.earlier_id for link in found[1].links] == [QUIET]


def test_without_tables_the_next_step(tmp_path: Path, run: Run) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        shutil.rmtree(workspace.folder / "tables" / "1-papers")
        with pytest.raises(TableError, match="peercorpus build"):
            opened(workspace)
        assert_refused(
            run("explore", "-w", tmp_path / "corpus", "--no-browser"), "its log is missing", "check --repair"
        )
    with invented(tmp_path / "empty", {}) as workspace:
        fill(workspace, ICLR, [])
        assert_refused(run("explore", "-w", tmp_path / "empty", "--no-browser"), "peercorpus build")
