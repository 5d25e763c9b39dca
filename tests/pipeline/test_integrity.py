"""Damage on disk is found, set aside, and repaired by fetching and rebuilding: the workspace is as before."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from commands import Run, assert_refused
from in_this_process import build_here
from peercorpus.execution.progress import show_nothing
from peercorpus.execution.requests import BuildRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.pipeline.integrity import Held, check_workspace, repair
from peercorpus.records.documents import Inspection
from peercorpus.records.enums import Reason
from peercorpus.simulator.server.changes import hide_note
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import Workspace, open_workspace
from table_rows import rows

VENUE = "Borealis.cc/2024/Conference"
PAGE = 16_384

Damaging = Callable[[Path], None]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serve_simulator(build_world(papers=3, venues=[VENUE])) as served:
        yield served


@pytest.fixture(scope="module")
def built(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("integrity") / "corpus"
    with open_workspace(folder, create=True) as workspace:
        fetch(workspace, service)
        build_here(workspace)
    return folder


@pytest.fixture
def corpus(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "corpus")


def fetch(workspace: Workspace, service: Service) -> None:
    with Client(service.base_url_v1, service.base_url_v2) as client:
        harvest(workspace, client, [VENUE])


def cut_a_body(folder: Path) -> None:
    change_a_body(folder, lambda body: body[:-5])


def flip_a_bit(folder: Path) -> None:
    change_a_body(folder, lambda body: body[:-9] + bytes([body[-9] ^ 4]) + body[-8:])


def change_a_body(folder: Path, change: Callable[[bytes], bytes]) -> None:
    with closing(sqlite3.connect(folder / "raw.db")) as database, database:
        query = "SELECT seen, body FROM objects WHERE kind = 'note' AND object_id <> forum_id ORDER BY seen LIMIT 1"
        ((seen, body),) = database.execute(query).fetchall()
        database.execute("UPDATE objects SET body = ? WHERE seen = ?", (change(body), seen))


def change_an_edit(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "raw.db")) as database, database:
        database.execute(
            "UPDATE objects SET body = x'00' WHERE seen = (SELECT max(seen) FROM objects WHERE kind='edit')"
        )


def cut_a_pdf(folder: Path) -> None:
    path = next(iter(sorted((folder / "files").rglob("*.pdf"))))
    path.write_bytes(path.read_bytes()[:-100])


def edit_a_pdf(folder: Path) -> None:
    path = next(iter(sorted((folder / "files").rglob("*.pdf"))))
    path.write_bytes(path.read_bytes() + b"\n% a comment\n")


def cached_texts(folder: Path) -> list[Path]:
    return sorted((folder / "texts").rglob("*.zst"))


def cut_a_text(folder: Path) -> None:
    path = cached_texts(folder)[0]
    path.write_bytes(path.read_bytes()[:-9])


def put_a_text_under_another_name(folder: Path) -> None:
    first, second, *_ = cached_texts(folder)
    second.write_bytes(first.read_bytes())


def table_file(folder: Path, name: str) -> Path:
    return next(iter(sorted((folder / "tables" / name).rglob("*.parquet"))))


def cut_a_table(folder: Path) -> None:
    path = table_file(folder, "2-reviews")
    path.write_bytes(path.read_bytes()[:-20])


def flip_a_bit_of_a_table(folder: Path) -> None:
    path = table_file(folder, "3-posts")
    content = bytearray(path.read_bytes())
    content[200] ^= 16
    path.write_bytes(bytes(content))


def remove_a_table_file(folder: Path) -> None:
    table_file(folder, "6-conversations").unlink()


def commits(folder: Path, name: str) -> list[Path]:
    return sorted((folder / "tables" / name / "_delta_log").glob("*.json"))


def remove_the_last_commit(folder: Path) -> None:
    commits(folder, "1-papers")[-1].unlink()


def flip_a_bit_of_a_log(folder: Path) -> None:
    path = commits(folder, "4-versions")[-1]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 2
    path.write_bytes(bytes(content))


def remove_a_log(folder: Path) -> None:
    shutil.rmtree(folder / "tables" / "8-links" / "_delta_log")


def remove_a_table(folder: Path) -> None:
    shutil.rmtree(folder / "tables" / "set-aside")


def zero_a_page(folder: Path) -> None:
    zero(folder, (folder / "raw.db").stat().st_size // 2 // PAGE)


def zero_the_sightings(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "raw.db")) as database:
        ((root,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sightings'")
    zero(folder, root - 1)


def zero(folder: Path, page: int) -> None:
    with (folder / "raw.db").open("r+b") as file:
        file.seek(page * PAGE)
        file.write(bytes(PAGE))


def change_the_key(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "raw.db")) as database, database:
        database.execute("UPDATE secrets SET value = CAST(x'00' || substr(value, 2) AS BLOB)")


DAMAGES = {
    cut_a_body: Held.OBJECT,
    flip_a_bit: Held.OBJECT,
    change_an_edit: Held.OBJECT,
    cut_a_pdf: Held.FILE,
    edit_a_pdf: Held.FILE,
    cut_a_text: Held.TEXT,
    put_a_text_under_another_name: Held.TEXT,
    cut_a_table: Held.TABLE,
    flip_a_bit_of_a_table: Held.TABLE,
    remove_a_table_file: Held.TABLE,
    remove_the_last_commit: Held.TABLE,
    flip_a_bit_of_a_log: Held.TABLE,
    remove_a_log: Held.TABLE,
    remove_a_table: Held.TABLE,
    change_the_key: Held.KEY,
}


def everything(folder: Path) -> dict[str, list[Any]]:
    with open_workspace(folder, write=False) as workspace:
        return rows(workspace, VENUE)


@pytest.mark.slow
@pytest.mark.fault(
    "disk", "bodies, PDFs, cached texts, parts and logs of tables, the key: cut, changed, gone, exchanged",
    "`check --repair`, `harvest` and `build` bring back what an undisturbed workspace holds, row for row", times=15
)  # fmt: skip
@pytest.mark.parametrize(("damage", "held"), DAMAGES.items(), ids=[damage.__name__ for damage in DAMAGES])
def test_damage_is_found_and_repaired(
    corpus: Path, built: Path, service: Service, damage: Damaging, held: Held
) -> None:
    damage(corpus)
    with open_workspace(corpus) as workspace:
        integrity = check_workspace(workspace, show_nothing)
        assert [found.held for found in integrity.damages] == [held]
        repaired = repair(workspace, integrity)
        assert repaired.harvest == ([] if held in {Held.TABLE, Held.KEY, Held.TEXT} else [VENUE])
        fetch(workspace, service)
        build_here(workspace, options=BuildRequest(retry=True))
        after = check_workspace(workspace, show_nothing)
        assert (list(after.damages), list(after.lost)) == ([], [])
    assert everything(corpus) == everything(built)


def test_new_workspace_has_no_damage(corpus: Path, run: Run) -> None:
    ended = run("check", "--workspace", corpus)
    assert ended.code == 0
    assert "all unchanged since they were stored." in ended.out


def test_command_names_damage_and_remedy(corpus: Path, run: Run) -> None:
    cut_a_body(corpus)
    cut_a_pdf(corpus)
    found = run("check", "--workspace", corpus)
    assert found.code == 1
    assert "damaged: 2." in found.out
    refused = run("build", "--workspace", corpus)
    assert refused.code == 0  # Tables built before the damage do not need the bodies again.
    repaired = run("check", "--workspace", corpus, "--repair")
    assert repaired.code == 0
    assert f"1. peercorpus harvest {VENUE} --workspace {corpus}" in repaired.out
    assert f"2. peercorpus build --workspace {corpus} --retry" in repaired.out
    assert "not been received again" in run("check", "--workspace", corpus).out


@pytest.mark.slow
def test_damaged_body_stops_a_build(corpus: Path, run: Run) -> None:
    cut_a_body(corpus)
    shutil.rmtree(corpus / "tables")
    ended = run("build", "--workspace", corpus)
    assert ended.code == 2
    assert "run 'peercorpus check --repair' on the workspace." in ended.err
    assert ended.err.count("\n") <= 2


@pytest.mark.parametrize("damage", [cut_a_pdf, edit_a_pdf])
def test_changed_pdf_is_not_read(corpus: Path, damage: Damaging) -> None:
    damage(corpus)
    sha256 = next(iter(sorted((corpus / "files").rglob("*.pdf")))).stem
    shutil.rmtree(corpus / "tables")
    with open_workspace(corpus) as workspace:
        build_here(workspace)
        inspected = {one.sha256 for one in workspace.tables.read(Inspection, VENUE)}
        assert sha256 not in inspected
        assert workspace.tables.set_aside_counts(VENUE, "inspect_files")[Reason.FILE_ALTERED] == 1


@pytest.mark.slow
@pytest.mark.fault("disk", "a page of `raw.db` is zeroed", "what is whole is taken over, a harvest brings the rest")
def test_unreadable_database_is_replaced(corpus: Path, built: Path, service: Service, run: Run) -> None:
    path = corpus / "raw.db"
    zero_a_page(corpus)
    before = path.read_bytes()
    ended = run("check", "--workspace", corpus)
    assert ended.code == 1
    assert "SQLite cannot read all of raw.db" in ended.out
    assert path.read_bytes() == before
    (kept,) = _repair_database(corpus, run)
    assert kept.read_bytes() == before
    with open_workspace(corpus) as workspace:
        fetch(workspace, service)
        build_here(workspace, options=BuildRequest(retry=True))
        after = check_workspace(workspace, show_nothing)
        assert (list(after.damages), list(after.lost)) == ([], [])
    assert everything(corpus) == everything(built)


def _repair_database(corpus: Path, run: Run) -> list[Path]:
    """Recover what is intact; return the damaged database, which is kept."""
    ended = run("check", "--workspace", corpus, "--repair")
    assert ended.code == 0
    assert f"peercorpus harvest {VENUE}" in ended.out
    return [path for path in corpus.glob("raw.db.damaged-*") if path.stat().st_size]


@pytest.mark.fault("disk", "an empty `raw.db` beside tables and files", "no command takes it for a new workspace")
def test_empty_database_is_not_new(corpus: Path, run: Run) -> None:
    (corpus / "raw.db").write_bytes(b"")
    for command in ("build", "status", "check"):
        assert_refused(run(command, "--workspace", corpus), "raw.db", "backup")
    assert (corpus / "raw.db").read_bytes() == b""


@pytest.mark.slow
@pytest.mark.fault("disk", "the log of a table is cut", "one sentence; set aside, and made again by the next build")
def test_damaged_log_is_rebuilt(corpus: Path, built: Path, run: Run) -> None:
    commit = max((corpus / "tables" / "3-posts" / "_delta_log").iterdir())
    commit.write_bytes(commit.read_bytes()[:-40])
    assert_refused(run("status", "--workspace", corpus), "3-posts", "check --repair")
    assert run("check", "--workspace", corpus).code == 1
    assert run("check", "--workspace", corpus, "--repair").code == 0
    assert any((corpus / "damaged").iterdir())
    with open_workspace(corpus) as workspace:
        build_here(workspace)
    assert everything(corpus) == everything(built)


def papers(folder: Path) -> set[str]:
    with open_workspace(folder) as workspace:
        build_here(workspace)
        return {paper.forum_id for paper in rows(workspace, VENUE)["1-papers"]}


def reasons(folder: Path, record_id: str) -> set[str]:
    with open_workspace(folder, write=False) as workspace:
        return {row.reason for row in rows(workspace, VENUE)["set-aside"] if row.record_id == record_id}


@pytest.mark.slow
@pytest.mark.fault(
    "disk", "`raw.db`, after a paper was deleted at OpenReview", "no paper counts as there until its venue is listed"
    " again, and the deleted one stays away", times=2, lost="nothing"
)  # fmt: skip
@pytest.mark.parametrize("damage", [zero_a_page, zero_the_sightings])
def test_removed_paper_stays_unpublished(corpus: Path, run: Run, damage: Damaging) -> None:
    world = build_world(papers=3, venues=[VENUE])
    before = papers(corpus)
    hidden = min(before)
    with serve_simulator(world) as service:
        hide_note(world, hidden)
        service.reindex()
        with open_workspace(corpus) as workspace:
            fetch(workspace, service)
            assert workspace.raw.state.gone(VENUE) == {hidden}
        damage(corpus)
        assert run("check", "--workspace", corpus, "--repair").code == 0
        assert papers(corpus) == set()
        assert reasons(corpus, hidden) == {Reason.NOT_LISTED_SINCE}
        shown = run("status", "--workspace", corpus, "--all").out
        assert "not listed since raw.db was repaired; harvest the venue" in shown
        with open_workspace(corpus) as workspace:
            fetch(workspace, service)
        assert papers(corpus) == before - {hidden}
        assert reasons(corpus, hidden) == {Reason.NO_LONGER_SHOWN}


@pytest.mark.slow
@pytest.mark.parametrize("damage", [cut_a_body, change_an_edit])
def test_removed_paper_stays_removed(corpus: Path, damage: Damaging) -> None:
    world = build_world(papers=3, venues=[VENUE])
    hidden = min(papers(corpus))
    with serve_simulator(world) as service, open_workspace(corpus) as workspace:
        hide_note(world, hidden)
        service.reindex()
        fetch(workspace, service)
    damage(corpus)
    with open_workspace(corpus) as workspace:
        repair(workspace, check_workspace(workspace, show_nothing))
        assert hidden in workspace.raw.state.gone(VENUE)
        with workspace.raw.transaction():
            workspace.raw.state.forget_listings(VENUE)
        assert hidden in workspace.raw.state.gone(VENUE)
    assert hidden not in papers(corpus)
