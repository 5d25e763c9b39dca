"""A workspace whose files and tables lie in a store does what one on this machine does, and a move loses nothing."""

import json
import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from deltalake import DeltaTable

from asked_releases import publish_release
from commands import Run, assert_refused
from in_this_process import build_here
from peercorpus import open as open_corpus
from peercorpus.cli.text.status import standing, standing_json
from peercorpus.errors import WorkspaceError
from peercorpus.execution.progress import show_nothing
from peercorpus.execution.requests import BuildRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.installation import advise_install
from peercorpus.openreview.client import Client
from peercorpus.pipeline.build import build
from peercorpus.pipeline.status import read_status
from peercorpus.records.papers import Paper
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace import object_store
from peercorpus.workspace.move import move_workspace
from peercorpus.workspace.object_store import FILE, MARK, S3Path, list_below
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace, open_workspace

pytestmark = pytest.mark.cluster

AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
VENUES = [AURORA, BOREALIS]
TO = "s3://papers/corpora/one"
ROOT = S3Path("papers", "corpora/one")
RECORDS: dict[str, type[Any]] = {**TABLES}
NEEDED = ["pytest", "obstore", "peercorpus.pipeline.build", "peercorpus.pipeline.status", "peercorpus.workspace.move"]
NEEDED += ["peercorpus.harvest.harvest", "peercorpus.release.publish", "peercorpus.simulator.server.service"]
"""Imports of this module that take long."""


@contextmanager
def client() -> Iterator[Client]:
    world = build_world(papers=4, venues=VENUES)
    with serve_simulator(world) as service, Client(service.base_url_v1, service.base_url_v2) as asked:
        yield asked


@pytest.fixture(scope="module")
def aurora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of one venue, built; tests copy it."""
    folder = tmp_path_factory.mktemp("moving") / "aurora"
    with client() as asked, open_workspace(folder, create=True) as workspace:
        harvest(workspace, asked, [AURORA])
        build_here(workspace)
    return folder


@pytest.fixture
def local(aurora: Path, tmp_path: Path) -> Path:
    return shutil.copytree(aurora, tmp_path / "local" / "corpus")


@pytest.fixture
def placed(aurora: Path, tmp_path: Path, bucket: S3Path) -> Path:
    """The same, its files and tables in a store."""
    assert bucket == S3Path("papers")
    folder = shutil.copytree(aurora, tmp_path / "placed" / "corpus")
    move_workspace(folder, TO, show_nothing)
    return folder


def bytes_below(folder: Path | S3Path) -> dict[str, bytes]:
    """Return the contents of the files and tables of a place, by name."""
    found: dict[str, bytes] = {}
    for part in ("files", "tables"):
        for place, _ in list_below(folder / part):
            found[str(place).removeprefix(str(folder)).lstrip("/")] = place.read_bytes()
    return found


def rows(workspace: Workspace) -> dict[tuple[str, str], list[str]]:
    """All rows of all tables, in no order where files are read by several processes."""
    tables = workspace.tables
    return {
        (name, venue_id): sorted(repr(row) for row in tables.read(kind, venue_id))
        for name, kind in RECORDS.items()
        for venue_id in VENUES
    }


def harvest_more(folder: Path) -> dict[tuple[str, str], list[str]]:
    """Harvest the other venue as well, and build."""
    with client() as asked, open_workspace(folder) as workspace:
        harvest(workspace, asked, [BOREALIS])
        build_here(workspace)
        standing = read_status(workspace)
        assert standing.holds
        assert not standing.unfinished
        return rows(workspace)


@pytest.mark.slow
def test_store_gives_the_results_of_disk(local: Path, placed: Path) -> None:
    assert harvest_more(placed) == harvest_more(local)
    assert bytes_below(placed) == {}
    assert {name for name in bytes_below(ROOT) if name.startswith("files/")} == {
        name for name in bytes_below(local) if name.startswith("files/")
    }
    for folder in (local, placed):
        with open_workspace(folder, write=False) as workspace:
            publish_release(workspace, folder.parent / "release")
    assert tree(placed.parent / "release") == tree(local.parent / "release")
    for frame in ("papers", "texts", "set_aside"):
        here, there = (getattr(open_corpus(folder), frame)().collect() for folder in (local, placed))
        assert there.sort(there.columns[0]).equals(here.sort(here.columns[0]))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow(25)
@pytest.mark.parametrize(
    "command",
    [
        "status -w {corpus}",
        "show {forum} -w {corpus}",
        "build -w {corpus}",
        "report -w {corpus} --out {out}/report",
        "explore -w {corpus} --select= --out {out}/papers.csv",
        "audit leaks {corpus}",
        "takedown nobody --force -w {corpus}",
    ],
)
@pytest.mark.usefixtures("svg_alone")
def test_commands_do_the_same_in_stores(local: Path, placed: Path, run: Run, command: str) -> None:
    with open_workspace(placed, write=False) as workspace:
        forum_id = next(workspace.tables.read(Paper, AURORA)).forum_id
    said, written = [], []
    for folder in (local, placed):
        out = folder.parent / "out"
        out.mkdir()
        ended = run(*(part.format(corpus=folder, out=out, forum=forum_id) for part in command.split()))
        said.append((ended.code, ended.out.replace(str(folder.parent), "")))
        written.append(tree(out))
    assert said[0] == said[1]
    assert written[0] == written[1]
    # There are too few papers for that audit, which reports it once it has read them.
    assert said[0][0] == (2 if "leaks" in command else 0)
    assert ("--out" in command) == bool(written[0])


@pytest.mark.slow
def test_workspace_moves_between_stores(aurora: Path, placed: Path, served: str, run: Run) -> None:
    httpx2.put(f"{served}/other", timeout=60).raise_for_status()
    assert any(name.startswith("files/") for name in bytes_below(ROOT))
    assert json.loads((placed / FILE).read_bytes()).keys() == {"at", "other", "mark"}
    move_workspace(placed, "s3://other", show_nothing)
    assert run("check", "--workspace", placed).code == 0
    assert bytes_below(S3Path("other")) == bytes_below(aurora)
    assert list(ROOT.walk()) == []
    with open_workspace(placed) as workspace:
        assert all(step.was_finished for step in build_here(workspace))


@pytest.mark.slow
def test_new_workspace_may_begin_in_store(bucket: S3Path, tmp_path: Path, run: Run) -> None:
    new = tmp_path / "new"
    assert run("move", "--workspace", new, "--to", bucket).code == 0
    assert run("harvest", "Nowhere.cc/1999/Conference", "--workspace", new, "--url-v2", "http://127.0.0.1:9").code == 3
    assert (new / FILE).exists()
    with client() as asked, open_workspace(new, create=True) as workspace:
        harvest(workspace, asked, [AURORA])
    assert bytes_below(new) == {}
    assert any(found.name.endswith(".pdf") for found, _ in bucket.walk())


def killed_at(operation: int, work: Callable[..., Any], *arguments: Any) -> None:
    """Do some work, and be killed at the n-th request to a store or write."""
    left = operation

    def count(function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **named)

        return counted

    object_store._bucket = count(object_store._bucket)  # type: ignore[assignment]
    Path.rename = count(Path.rename)  # type: ignore[method-assign]
    Path.unlink = count(Path.unlink)  # type: ignore[method-assign]
    DeltaTable.create_write_transaction = count(DeltaTable.create_write_transaction)  # type: ignore[method-assign]
    work(*arguments)


def is_killed(operation: int, work: Callable[..., Any], *arguments: Any) -> bool:
    """Return whether the work was killed before it ended."""
    # One process imports what the work needs, and forks those that are killed, as nothing has run in it yet.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(NEEDED)
    process = context.Process(target=killed_at, args=(operation, work, *arguments))
    process.start()
    process.join(120)
    assert process.exitcode in {0, -signal.SIGKILL}
    return process.exitcode != 0


@pytest.mark.slow
@pytest.mark.fault("kill", "a move of a workspace to an object store, and back", "the same command goes on", times=2)
@pytest.mark.parametrize("back", [False, True], ids=["to a store", "back"])
def test_a_killed_move_resumes(aurora: Path, tmp_path: Path, bucket: S3Path, back: bool) -> None:
    assert bucket
    folder, kills = shutil.copytree(aurora, tmp_path / "corpus"), 0
    if back:
        move_workspace(folder, TO, show_nothing)
    with open_workspace(folder, write=False) as workspace:
        before = rows(workspace)
    to = "." if back else TO
    for operation in (4, 50, 100, 140):
        kills += is_killed(operation, move_workspace, folder, to, show_nothing)
        with open_workspace(folder, write=False) as workspace:
            assert rows(workspace) == before
    assert kills >= 2
    move_workspace(folder, to, show_nothing)
    assert bytes_below(folder if back else ROOT) == bytes_below(aurora)
    assert bytes_below(ROOT if back else folder) == {}
    assert (folder / FILE).exists() is not back
    assert not back or list(ROOT.walk()) == []


@pytest.mark.slow
def test_an_unfinished_move_can_be_undone(aurora: Path, tmp_path: Path, bucket: S3Path) -> None:
    folder = shutil.copytree(aurora, tmp_path / "corpus")
    assert is_killed(30, move_workspace, folder, TO, show_nothing)
    assert list(bucket.walk())
    with open_workspace(folder) as workspace:
        assert all(step.was_finished for step in build_here(workspace))
        told = standing(read_status(workspace))
        assert all(named in told for named in (f"'{TO}'", "--to ."))
        assert json.loads(standing_json(read_status(workspace)))["move_begun"] == TO
    move_workspace(folder, ".", show_nothing)
    with open_workspace(folder) as workspace:
        assert "move" not in standing(read_status(workspace))
    assert list(bucket.walk()) == []
    assert bytes_below(folder) == bytes_below(aurora)


def build_whole(folder: Path) -> None:
    """Build with processes that read the files, as the command does."""
    with open_workspace(folder) as workspace:
        build(workspace)


@pytest.mark.slow
@pytest.mark.fault("kill", "a build of a workspace in an object store", "the same command goes on", times=3)
@pytest.mark.parametrize("operation", [5, 25, 50])
def test_a_killed_build_resumes(local: Path, placed: Path, operation: int) -> None:
    with client() as asked:
        for folder in (local, placed):
            with open_workspace(folder) as workspace:
                harvest(workspace, asked, [BOREALIS])
    assert is_killed(operation, build_whole, placed)
    made = []
    for folder in (local, placed):
        with open_workspace(folder) as workspace:
            build_here(workspace)
            assert read_status(workspace).holds
            made.append(rows(workspace))
    assert made[0] == made[1]


def test_used_destination_is_refused(local: Path, bucket: S3Path, run: Run) -> None:
    (bucket / "one" / "notes.txt").write_bytes(b"mine")
    before = tree(local)
    assert_refused(run("move", "--workspace", local, "--to", bucket / "one"), f"'{bucket / 'one'}'")
    assert {name: content for name, content in tree(local).items() if "raw.db" not in name} == {
        name: content for name, content in before.items() if "raw.db" not in name
    }
    assert (bucket / "one" / "notes.txt").read_bytes() == b"mine"


@pytest.mark.slow
def test_invalid_destinations_do_not_block_moves(local: Path, bucket: S3Path, run: Run) -> None:
    assert bucket
    before = bytes_below(local)
    for to, named in [
        ("s3://papers/a b", "'s3://papers/a b'"),
        ("s3://papers/../x", "'s3://papers/../x'"),
        ("s3://nowhere/one", "s3://nowhere/one"),
        ("elsewhere", "'elsewhere'"),
        ("https://example.org/one", "'https:'"),
    ]:
        assert_refused(run("move", "--workspace", local, "--to", to), named)
        assert bytes_below(local) == before
        assert not (local / FILE).exists()
    assert run("move", "--workspace", local, "--to", TO).code == 0


@pytest.mark.slow
def test_destination_inside_a_workspace_is_refused(local: Path, aurora: Path, bucket: S3Path, run: Run) -> None:
    assert run("move", "--workspace", local, "--to", bucket / "one").code == 0
    refused = run("move", "--workspace", local, "--to", bucket / "one" / "more")
    assert_refused(refused, f"'{bucket / 'one' / 'more'}' and '{bucket / 'one'}'")
    other = shutil.copytree(aurora, local.parent / "other")
    assert_refused(
        run("move", "--workspace", other, "--to", bucket / "one" / "tables" / "two"),
        "'s3://papers/one'",
    )


@pytest.mark.slow
def test_deleted_files_do_not_return(local: Path, bucket: S3Path) -> None:
    assert bucket
    assert is_killed(40, move_workspace, local, TO, show_nothing)
    gone, _ = next((ROOT / "files").walk())
    (local / "files" / gone.parent.name / gone.name).unlink()
    move_workspace(local, TO, show_nothing)
    assert not gone.exists()


@pytest.mark.slow
def test_damaged_local_file_is_replaced(placed: Path) -> None:
    stored, _ = next((ROOT / "files").walk())
    content = stored.read_bytes()
    damaged = placed / "files" / stored.parent.name / stored.name
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(bytes(len(content)))
    move_workspace(placed, ".", show_nothing)
    assert damaged.read_bytes() == content


def test_symbolic_link_is_not_moved(local: Path, tmp_path: Path, bucket: S3Path) -> None:
    shelf = min(path for path in (local / "files").iterdir() if len(path.name) == 2)
    shelf.rename(tmp_path / "elsewhere")
    shelf.symlink_to(tmp_path / "elsewhere")
    before = bytes_below(local)
    with pytest.raises(WorkspaceError, match="is a link"):
        move_workspace(local, TO, show_nothing)
    assert bytes_below(local) == before
    assert bytes_below(ROOT) == {}
    assert bucket


@pytest.mark.fault(
    "disk", "a PDF is changed before its workspace is moved", "one sentence that names it; nothing is removed"
)
def test_damaged_file_stops_the_move(local: Path, bucket: S3Path, run: Run) -> None:
    assert bucket
    damaged = min((local / "files").rglob("*.pdf"))
    damaged.write_bytes(b"another")
    before = bytes_below(local)
    ended = run("move", "--workspace", local, "--to", TO)
    assert ended.code == 2
    assert f"'{damaged}' is damaged" in ended.err
    assert bytes_below(local) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (("status",), "down"),
        (("build",), "another store"),
        (("publish", "--out", "{}/release"), "no bucket"),
        (("move", "--to", "."), "another store"),
        (("status",), "no extra"),
    ],
)
def test_failing_store_is_reported(
    placed: Path, run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], fault: str
) -> None:
    named = {
        "down": str(ROOT),
        "no bucket": "'s3://nowhere/one' does not contain",
        "another store": f"'{ROOT}' does not contain",
        "no extra": advise_install("cluster"),
    }[fault]
    monkeypatch.setattr(object_store, "RETRIES", 0)
    object_store._bucket.cache_clear()
    if fault == "down":
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    elif fault == "no bucket":
        said = json.loads((placed / "place.json").read_bytes())
        (placed / FILE).write_text(json.dumps(said | {"at": "s3://nowhere/one"}))
    elif fault == "another store":
        (ROOT / MARK).write_bytes(b"another")
    else:
        monkeypatch.setitem(sys.modules, "obstore", None)
    before = tree(placed)
    ended = run(*(part.format(placed.parent) for part in command), "--workspace", placed)
    assert_refused(ended, named, code=3 if fault == "down" else 2)
    assert tree(placed).keys() == before.keys()


def cut_object(path: S3Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def change_object(path: S3Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def in_store(part: str, *, ends: str) -> S3Path:
    """The last object below a prefix of the workspace whose name ends so."""
    found = [path for path, _ in list_below(ROOT / part) if str(path).endswith(ends)]
    return max((path for path in found if isinstance(path, S3Path)), key=str)


STORED_DAMAGES: dict[str, tuple[str, str, Callable[[S3Path], None]]] = {
    "a PDF is cut": ("files", ".pdf", cut_object),
    "a bit of a PDF": ("files", ".pdf", change_object),
    "a part is cut": ("tables/2-reviews", ".parquet", cut_object),
    "a bit of a part": ("tables/3-posts", ".parquet", change_object),
    "a part is gone": ("tables/6-conversations", ".parquet", S3Path.unlink),
    "a commit is cut": ("tables/1-papers", ".json", cut_object),
    "a bit of a commit": ("tables/4-versions", ".json", change_object),
    "the last commit is gone": ("tables/set-aside", ".json", S3Path.unlink),
    "the log is gone": ("tables/8-links", ".json", S3Path.unlink),
}


@pytest.mark.slow(45)
@pytest.mark.fault("disk", "an object of a workspace in a store is cut, changed or gone", "`check` names it", times=9)
@pytest.mark.parametrize("damage", STORED_DAMAGES)
def test_damage_in_a_store_is_repaired(aurora: Path, placed: Path, run: Run, damage: str) -> None:
    below, ends, change = STORED_DAMAGES[damage]
    change(in_store(below, ends=ends))
    checked = run("check", "--workspace", placed)
    assert (checked.code, "damaged: 1." in checked.out) == (1, True)
    assert ("file" if below == "files" else below.removeprefix("tables/")) in checked.out
    assert run("check", "--workspace", placed, "--repair").code == 0
    with client() as asked, open_workspace(placed) as workspace:
        harvest(workspace, asked, [AURORA])
        build_here(workspace, options=BuildRequest(retry=True))
    if below == "files":
        assert run("check", "--workspace", placed).code == 0
    with open_workspace(placed, write=False) as there, open_workspace(aurora, write=False) as here:
        assert rows(there) == rows(here)
