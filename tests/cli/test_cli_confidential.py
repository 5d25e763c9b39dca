"""What only the account that harvested may read is in a confidential report and explorer, marked, and nowhere else."""

import json
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import polars as pl
import pytest
from starlette.testclient import TestClient

from commands import Run, assert_refused, run_command, succeed
from peercorpus.corpus.confidential import FOLDER, open_confidential
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.pipeline.build_confidential import build_confidential
from peercorpus.release.folder import open_release
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import open_workspace

MARK = "Not for publication"
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
    """Tests read it, and may build its confidential tables."""
    made = Closed(shutil.copytree(demo_folder, tmp_path_factory.mktemp("closed") / "demo") / "corpus")
    build_confidential(made.folder)
    return made


@pytest.fixture(scope="module")
def client(closed: Closed) -> Iterator[TestClient]:
    """A client of the confidential explorer."""
    with open_workspace(closed.folder, write=False) as workspace, open_confidential(workspace) as view:
        app = make_app(open_explorer(view, show_nothing, is_confidential=True), "127.0.0.1")
        with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as opened:
            yield opened


def test_submission_reviews_and_chairs_posts_are_shown_and_each_page_is_marked(
    closed: Closed, client: TestClient
) -> None:
    page = client.get(f"/paper/{closed.forum_id}")
    assert page.status_code == 200
    assert page.text.count(SECRET) > 1
    assert INTERNAL in client.get(f"/paper/{closed.other_id}").text
    assert closed.forum_id in client.get(f"/papers?q={SECRET}").text
    ways = ["/", "/papers", f"/papers?q={SECRET}", f"/paper/{closed.forum_id}", "/venues", "/points", "/about", "/none"]
    for way in ways:
        answer = client.get(way)
        assert f"<strong>{MARK}.</strong>" in answer.text, way
        assert '<meta name="robots" content="noindex' in answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-robots-tag"].startswith("noindex")
        assert "etag" not in answer.headers
    assert "peercorpus.open" not in client.get("/papers").text
    assert "--confidential" in client.get("/papers").text


def test_every_confidential_export_is_marked_in_its_name_and_first_column(
    closed: Closed, client: TestClient, tmp_path: Path
) -> None:
    for kind in ("csv", "jsonl", "parquet"):
        answer = client.get(f"/export.{kind}?q={SECRET}")
        assert answer.headers["content-disposition"] == f'attachment; filename="papers_not_for_publication.{kind}"'
        (tmp_path / f"out.{kind}").write_bytes(answer.content)
    read = [
        pl.read_csv(tmp_path / "out.csv"),
        pl.read_ndjson(tmp_path / "out.jsonl"),
        pl.read_parquet(tmp_path / "out.parquet"),
    ]
    for frame in read:
        assert (frame.columns[0], set(frame["notice"])) == ("notice", {MARK})
        assert closed.forum_id in set(frame["forum_id"])
    record = client.get(f"/record/{closed.forum_id}")
    assert next(iter(json.loads(record.text).items())) == ("notice", MARK)
    assert "not_for_publication" in record.headers["content-disposition"]


def test_the_command_writes_marked_files_only_and_listens_on_this_machine_only(
    closed: Closed, tmp_path: Path, run: Run
) -> None:
    ask = ("explore", closed.folder, "--confidential", "--select", "")
    assert_refused(run(*ask, "--out", tmp_path / "mine.csv"), "mine_not_for_publication.csv")
    named = tmp_path / "mine_not_for_publication.csv"
    assert run(*ask, "--out", named).code == 0
    assert named.read_text().startswith("notice,")
    assert stat.S_IMODE(named.stat().st_mode) == 0o600
    assert_refused(run("explore", closed.folder, "--confidential", "--host", "0.0.0.0"), "0.0.0.0", "this machine only")
    assert run("explore", closed.folder, "--select", "", "--out", tmp_path / "plain.csv").code == 0
    assert SECRET not in (tmp_path / "plain.csv").read_text()


def test_the_submission_is_in_the_confidential_report_and_in_no_other(closed: Closed, tmp_path: Path, run: Run) -> None:
    pytest.importorskip("matplotlib")
    counts = []
    for options in ([], ["--confidential"]):
        out = tmp_path / f"report{len(options)}"
        assert run("report", closed.folder, "--out", out, *options).code == 0
        figures = json.loads((out / "numbers.json").read_text())["figures"]
        counts.append([figures[name]["n"] for name in ("grades", "review_length")])
    assert stat.S_IMODE((tmp_path / "report1").stat().st_mode) == 0o700
    (papers, reviews), (all_papers, all_reviews) = counts
    assert all_papers == papers + 1
    assert all_reviews > reviews


TABLES = ("papers", "reviews", "posts")


def test_no_other_output_contains_confidential_records(
    closed: Closed, client: TestClient, tmp_path: Path, run: Run
) -> None:
    assert client.get(f"/paper/{closed.forum_id}").status_code == 200  # tables and index are there
    made = tmp_path / "made"
    made.mkdir()
    assert run("publish", closed.folder, "--out", made / "release", "--new-splits").code == 0
    assert run("site", made / "release", "--out", made / "site").code == 0
    # Of a workspace, and of a release that holds no more.
    assert run("export", closed.folder, "--format", "trl", "--out", made / "talks.jsonl").code == 0
    assert run("export", made / "release", "--format", "jsonl", "--out", made / "export").code == 0
    pytest.importorskip("duckdb")
    said = []
    for command in (
        *(("sql", "-w", closed.folder, f"select * from {table}", "--format", "json") for table in TABLES),
        ("audit", "grades", closed.folder),
        ("table1", closed.folder),
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
    assert all(len(text) > 100 for text in said)
    frames = [pl.read_parquet(path) for path in (made / "release").rglob("*.parquet")]
    words = "\n".join(str(row) for frame in frames for row in frame.iter_rows())
    assert len(words) > 1_000
    assert SECRET not in words
    assert INTERNAL not in words
    assert closed.forum_id not in words
    assert open_release(made / "release")


def test_the_confidential_folder_is_private_and_not_a_workspace(closed: Closed, run: Run) -> None:
    folder = closed.folder / FOLDER
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "NOT_FOR_PUBLICATION.txt").read_text().startswith(MARK)
    for command in (("publish", folder), ("status", folder), ("sql", "-w", folder), ("explore", folder)):
        assert_refused(run(*command))
    assert run_command("check", closed.folder).code == 0


def test_mcp_and_the_plain_explorer_never_see_it(closed: Closed) -> None:
    from peercorpus.sql.public_tables import open_public_tables

    with open_workspace(closed.folder, write=False) as workspace:
        app = make_app(open_explorer(workspace, show_nothing), "127.0.0.1")
        with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as plain:
            assert plain.get(f"/paper/{closed.forum_id}").status_code == 404
            assert closed.forum_id not in plain.get(f"/papers?q={SECRET}").text
            page = plain.get(f"/paper/{closed.other_id}")
            assert (page.status_code, INTERNAL in page.text, MARK in page.text) == (200, False, False)
            assert page.headers["cache-control"] == "no-cache"
    pytest.importorskip("duckdb")
    # The server of `mcp` answers from these tables.
    with open_public_tables(closed.folder, show_nothing) as tables:
        assert closed.forum_id not in set(tables.database.frame("select * from papers")["forum_id"])


def test_a_paper_that_only_the_account_may_read_can_be_taken_down(closed: Closed, run: Run, tmp_path: Path) -> None:
    folder = shutil.copytree(closed.folder, tmp_path / "corpus")
    assert run("takedown", closed.forum_id, "-w", folder).code == 0
    assert_refused(run("takedown", "AbCdEfGhIj", "-w", folder), "Nothing in the workspace")
    out = tmp_path / "all_not_for_publication.csv"
    assert run("explore", folder, "--confidential", "--select", "", "--out", out).code == 0
    assert closed.forum_id not in out.read_text()
    assert closed.other_id in out.read_text()
