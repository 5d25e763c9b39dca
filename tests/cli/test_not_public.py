"""What only the account that harvested may read is nowhere, and folders may have any name."""

import shutil
from pathlib import Path

import msgspec
import polars as pl
import pytest
from starlette.testclient import TestClient

from commands import Run, assert_refused, succeed
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.release.folder import open_release
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import open_workspace

SECRET = "zanzibarite"
"""A word of the submission that only the account may read, and of its reviews."""

INTERNAL = "quokkaesque"
"""A word of what reviewers and chairs post among themselves."""


class Closed:
    """A demo of which one paper is shown to the account only, and one post of another to reviewers and chairs only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with open_workspace(folder) as workspace:
            venue_id = next(name for name in workspace.raw.venues() if name.startswith("Cascadia"))
            forums = dict(workspace.raw.by_forum([RawKind.NOTE], venue_id))
            self.forum_id, self.other_id = sorted(forums, key=lambda forum_id: -len(forums[forum_id]))[:2]
            inner = f"{venue_id}/Submission1"
            with_authors = [venue_id, f"{inner}/Reviewers", f"{inner}/Authors"]
            closed = [self._close(note.body, with_authors, SECRET) for note in forums[self.forum_id]]
            reply = next(note for note in forums[self.other_id] if note.object_id != self.other_id)
            internal = self._close(reply.body, with_authors[:2], INTERNAL)
            notes = [*forums[self.forum_id], reply]
            workspace.raw.add(
                note._replace(body=body, modified_ms=note.modified_ms + 1, seen_ms=note.seen_ms + 1)
                for note, body in zip(notes, [*closed, internal], strict=True)
            )
        succeed("build", folder)

    @staticmethod
    def _close(body: bytes, readers: list[str], word: str) -> bytes:
        note = msgspec.json.decode(body)
        for name in ("title", "summary", "review", "comment", "rebuttal"):
            if isinstance(note["content"].get(name), dict):
                note["content"][name]["value"] = f"{word} {note['content'][name]['value']}"
        return msgspec.json.encode(note | {"readers": readers, "tmdate": note["tmdate"] + 1})


@pytest.fixture(scope="module")
def closed(demo_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Closed:
    """Tests read it only."""
    return Closed(shutil.copytree(demo_folder, tmp_path_factory.mktemp("closed") / "demo") / "corpus")


TABLES = ("papers", "reviews", "posts")


def test_no_output_contains_what_is_not_public(closed: Closed, tmp_path: Path, run: Run) -> None:
    made = tmp_path / "made"
    made.mkdir()
    assert run("publish", closed.folder, "--out", made / "release", "--new-splits").code == 0
    assert run("site", made / "release", "--out", made / "site").code == 0
    for layout in ("trl", "jsonl"):
        assert run("export", made / "release", "--format", layout, "--out", made / layout).code == 0
    pytest.importorskip("duckdb")
    said = []
    for command in (
        *(("sql", "-w", closed.folder, f"select * from {table}", "--format", "json") for table in TABLES),
        ("audit", "grades", closed.folder),
        ("table1", closed.folder),
        ("show", closed.other_id, "-w", closed.folder),
        ("show", closed.other_id, "-w", closed.folder, "--json"),
    ):
        ended = run(*command)
        assert ended.code == 0, ended
        said.append(ended.out)
    assert run("explore", closed.folder, "--select", "", "--out", made / "papers.csv").code == 0
    assert run("pdfs", closed.folder, "--to", made / "pdfs").code in {0, 1}
    texts = "\n".join(said)
    for path in made.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert closed.forum_id.encode() not in content, path
            assert SECRET.encode() not in content, path
            assert INTERNAL.encode() not in content, path
        assert closed.forum_id not in path.name
    assert closed.forum_id not in texts
    assert SECRET not in texts
    assert INTERNAL not in texts
    assert all(len(text) > 100 for text in said)
    frames = [pl.read_parquet(path) for path in (made / "release").rglob("*.parquet")]
    words = "\n".join(str(row) for frame in frames for row in frame.iter_rows())
    assert len(words) > 1_000
    assert SECRET not in words
    assert INTERNAL not in words
    assert closed.forum_id not in words
    assert open_release(made / "release")


def test_mcp_and_the_explorer_never_see_it(closed: Closed) -> None:
    from peercorpus.sql.public_tables import open_public_tables

    with open_workspace(closed.folder, write=False) as workspace:
        app = make_app(open_explorer(workspace, show_nothing), "127.0.0.1")
        with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as plain:
            assert plain.get(f"/paper/{closed.forum_id}").status_code == 404
            assert closed.forum_id not in plain.get(f"/papers?q={SECRET}").text
            page = plain.get(f"/paper/{closed.other_id}")
            assert (page.status_code, INTERNAL in page.text) == (200, False)
    pytest.importorskip("duckdb")
    # The server of `mcp` answers from these tables.
    with open_public_tables(closed.folder, show_nothing) as tables:
        assert closed.forum_id not in set(tables.database.frame("select * from papers")["forum_id"])


def test_an_unpublished_paper_is_taken_down_by_force(closed: Closed, run: Run, tmp_path: Path) -> None:
    folder = shutil.copytree(closed.folder, tmp_path / "corpus")
    assert_refused(run("takedown", closed.forum_id, "-w", folder), "Nothing in the workspace", "--force")
    assert run("takedown", closed.forum_id, "-w", folder, "--force").code == 0
