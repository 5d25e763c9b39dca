"""A build does only what is left to do, gives the same tables wherever it runs, and verifies its sums."""

import hashlib
import json
import shutil
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from in_this_process import build_here
from peercorpus.cli.main import main
from peercorpus.errors import TableError
from peercorpus.execution.progress import Progress
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import content_key
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.pipeline.build import STAGES, build, is_finished, require_built
from peercorpus.pipeline.build_venues import ALL_VENUES, StepResult
from peercorpus.pipeline.plan_build import expected_key
from peercorpus.pipeline.status import read_status
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import PostKind, Reason
from peercorpus.records.papers import Link, Paper
from peercorpus.records.points import Point
from peercorpus.records.reviews import Post, Review
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.texts.engine import ENGINES
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.table_reader import ON_DEMAND, TABLES
from peercorpus.workspace.workspace import Workspace, open_workspace
from table_rows import rows

AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
VENUES = [AURORA, BOREALIS]
NAMES = [stage.name for stage in STAGES]
OWN = [stage.name for stage in STAGES if not stage.is_of_all]
LINKING = (ALL_VENUES, "link_papers")
OPTIONS, OTHER = BuildRequest(), BuildRequest(engine="another")
DIGESTS = {"note": "ab", "1-papers": "12"}


def tree_digest(folder: Path) -> str:
    """Return a digest of the names and contents of all files below a folder."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return total.hexdigest()


def world_with_an_ai_review() -> World:
    """Two papers at each of two venues, one with an AI review."""
    world = build_world(papers=4, venues=VENUES)
    review = next(
        note for note in world.v2.notes.values() if str(note.get("parentInvitations")).endswith("Official_Review")
    )
    said = {
        "invitations": [f"{BOREALIS}/-/AI_Review"],
        "signatures": [f"{BOREALIS}/AI_Reviewer"],
        "mdate": review["tcdate"],
    }
    content = {"ai_review": {"value": "The claims hold."}}
    world.v2.notes["anAIsReview"] = review | said | {"id": "anAIsReview", "content": content}
    return world


@pytest.fixture(scope="module")
def harvested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A harvested workspace that was not built; tests copy it."""
    folder = tmp_path_factory.mktemp("pipeline") / "harvested"
    world = world_with_an_ai_review()
    with (
        serve_simulator(world) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
        open_workspace(folder, create=True) as workspace,
    ):
        harvest(workspace, client, VENUES)
    return folder


@pytest.fixture(scope="module")
def built(harvested: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same workspace, built; tests that change anything copy it."""
    folder = shutil.copytree(harvested, tmp_path_factory.mktemp("pipeline") / "built")
    with open_workspace(folder) as workspace:
        build_here(workspace)
    return folder


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "corpus")


@pytest.fixture
def another_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add another PDF engine, of the same version."""
    monkeypatch.setattr("peercorpus.texts.engine.ENGINES", {**ENGINES, "another": ENGINES[OPTIONS.engine]})


def steps_run(steps: list[StepResult]) -> list[tuple[str, str]]:
    return [(step.venue_id, step.stage) for step in steps if not step.was_finished]


def change_a_review(workspace: Workspace, venue_id: str) -> str:
    """Store a newer version of a venue's first review; return its id."""
    review = next(iter(workspace.tables.read(Review, venue_id)))
    found = workspace.raw.find(RawKind.NOTE, review.review_id)
    assert found is not None
    body = json.loads(found.body)
    body["tmdate"] = body["mdate"] = found.modified_ms + 1000
    field = review.sections[0].field
    body["content"][field] = "Changed." if found.api == 1 else {"value": "Changed."}
    newer = found._replace(body=json.dumps(body).encode(), modified_ms=found.modified_ms + 1000)
    assert workspace.raw.add([newer]) == 1
    return review.review_id


@pytest.mark.slow
def test_build_runs_stages_in_order(harvested: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    with open_workspace(shutil.copytree(harvested, tmp_path / "corpus")) as workspace:
        before = read_status(workspace)
        assert before.balances == []
        assert list(before.unfinished) == [(name, venue_id) for venue_id in VENUES for name in NAMES]
        steps = build_here(workspace, progress=told.append)
        assert all(is_finished(workspace, stage, venue_id, BuildRequest()) for stage in STAGES for venue_id in VENUES)
    assert steps_run(steps) == [*((venue_id, name) for venue_id in VENUES for name in OWN), LINKING]
    ends = [(one.venue_id, one.what) for one in told if one.done == one.total]
    nothing_to_do = [(BOREALIS, "compare_versions"), LINKING]
    doing = {stage.name: stage.doing for stage in STAGES}
    expected = [step for step in steps_run(steps) if step not in nothing_to_do]
    assert ends == [(venue_id, doing[name]) for venue_id, name in expected]


@pytest.mark.slow
def test_timed_out_pdf_waits_for_request(harvested: Path, tmp_path: Path) -> None:
    with open_workspace(shutil.copytree(harvested, tmp_path / "corpus")) as workspace:
        build_here(workspace, VENUES[:1])
        key = expected_key(workspace, STAGES[NAMES.index("read_texts")], VENUES[0], BuildRequest())
        with workspace.tables.replacing((), VENUES[0], "read_texts", key) as out:
            out.set_aside("0" * 64, None, Reason.PDF_TIMEOUT, "It took more than 60 s.")
        assert steps_run(build_here(workspace, VENUES[:1])) == []
        assert (VENUES[0], "read_texts") in steps_run(build_here(workspace, VENUES[:1], BuildRequest(retry=True)))
        assert workspace.tables.set_aside_counts(VENUES[0], "read_texts") == {}


@pytest.mark.slow
def test_removed_file_is_fetched_again(harvested: Path, tmp_path: Path) -> None:
    world = world_with_an_ai_review()
    with (
        open_workspace(shutil.copytree(harvested, tmp_path / "corpus")) as workspace,
        serve_simulator(world) as service,
    ):
        shutil.rmtree(workspace.folder / "files")
        build_here(workspace, [AURORA])
        missing = workspace.tables.set_aside_counts(AURORA, "read_texts")
        assert missing.keys() == {Reason.FILE_MISSING}
        with Client(service.base_url_v1, service.base_url_v2) as client:
            harvest(workspace, client, [AURORA])
        build_here(workspace, [AURORA], BuildRequest(retry=True))
        assert workspace.tables.set_aside_counts(AURORA, "read_texts") == {}
        assert workspace.tables.count("5-texts", AURORA) == missing[Reason.FILE_MISSING]


@pytest.mark.slow
def test_outdated_tables_are_not_published(harvested: Path, tmp_path: Path) -> None:
    with open_workspace(shutil.copytree(harvested, tmp_path / "corpus")) as workspace:
        with pytest.raises(TableError, match=f"'{AURORA}'.*'peercorpus build'"):
            require_built(workspace, [AURORA])
        build_here(workspace)
        require_built(workspace)
        workspace.raw.state.sight([next(workspace.raw.latest(RawKind.NOTE, AURORA)).forum_id], 1 << 50)
        with pytest.raises(TableError, match=f"'{AURORA}'.*'peercorpus build'"):
            require_built(workspace)
        assert {name for name, _ in read_status(workspace).unfinished} >= {"normalise", "build_conversations"}


@pytest.mark.slow
def test_emptied_venue_has_no_rows(tmp_path: Path) -> None:
    def root(venue_id: str, modified_ms: int) -> RawObject:
        note = {"id": "f", "forum": "f", "invitations": [f"{venue_id}/-/Submission"], "readers": ["everyone"]}
        body = json.dumps({**note, "tmdate": modified_ms}).encode()
        return RawObject(RawKind.NOTE, "f", 2, venue_id, "f", "f", modified_ms, 0, "test", body)

    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        workspace.raw.add([root("Old/2024", 1)])
        build_here(workspace)
        workspace.raw.add([root("New/2024", 2)])
        workspace.raw.place()
        assert ("normalise", "Old/2024") in read_status(workspace).unfinished
        build_here(workspace)
        assert [workspace.tables.count("1-papers", venue_id) for venue_id in ("Old/2024", "New/2024")] == [0, 1]


def test_second_build_does_nothing(built: Path) -> None:
    before = tree_digest(built / "tables")
    with open_workspace(built) as workspace:
        steps = build_here(workspace)
    assert steps_run(steps) == []
    assert len(steps) == len(VENUES) * len(OWN) + 1
    assert {step.seconds for step in steps} == {0.0}
    assert tree_digest(built / "tables") == before


@pytest.mark.slow
@pytest.mark.parametrize("venue_id", VENUES)
def test_changed_note_rebuilds_its_venue(copied: Path, tmp_path: Path, venue_id: str) -> None:
    other = next(other for other in VENUES if other != venue_id)
    with open_workspace(copied) as workspace:
        untouched = rows(workspace, other)
        review_id = change_a_review(workspace, venue_id)
        standing = read_status(workspace)
        assert {venue for _, venue in standing.unfinished} == {venue_id}
        ran = steps_run(build_here(workspace))
        assert {venue for venue, _ in ran} == {venue_id, ALL_VENUES}
        assert ran[0][1] == "normalise"
        names = {name for _, name in ran}
        assert "build_conversations" in names
        assert "inspect_files" not in names
        review = next(one for one in workspace.tables.read(Review, venue_id) if one.review_id == review_id)
        assert "Changed." in {section.text for section in review.sections}
        assert rows(workspace, other) == untouched
        standing = read_status(workspace)
        assert (standing.holds, list(standing.unfinished)) == (True, [])
        updated = rows(workspace, venue_id)
    shutil.rmtree(copied / "tables")
    with open_workspace(copied.rename(tmp_path / "from nothing")) as workspace:
        build_here(workspace, [venue_id])
        assert rows(workspace, venue_id) == updated


@pytest.mark.slow
def test_same_data_gives_the_same_rows(built: Path, harvested: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    shutil.copy(harvested / "raw.db", again)
    shutil.copytree(harvested / "files", again / "files")
    with open_workspace(again) as workspace:
        build(workspace, VENUES[::-1])
        found = [rows(workspace, venue_id) for venue_id in VENUES]
    with open_workspace(built, write=False) as workspace:
        assert found == [rows(workspace, venue_id) for venue_id in VENUES]
    seldom = {"2-ai-reviews", "7-changes"}
    never = {*ON_DEMAND, "8-links"}
    assert all(venue_rows[name] for venue_rows in found for name in TABLES.keys() - seldom - never)
    assert all(any(venue_rows[name] for venue_rows in found) for name in seldom)


@pytest.mark.slow
def test_points_are_found_on_demand(copied: Path) -> None:
    with open_workspace(copied) as workspace:
        assert "find_points" not in {balance.stage for balance in read_status(workspace).balances}
        build_here(workspace, [BOREALIS], BuildRequest(points=True))
        assert [*workspace.tables.read(Point, BOREALIS)] != []
        assert [*workspace.tables.read(Point, AURORA)] == []
        status = read_status(workspace)
        assert status.holds
        found = [balance for balance in status.balances if balance.stage == "find_points"]
        assert [(balance.venue_id, balance.unit) for balance in found] == [
            (BOREALIS, "reviews"),
            (BOREALIS, "characters"),
        ]
        assert build_here(workspace, [BOREALIS], BuildRequest(points=True))[-2].was_finished
        workspace.tables.finish("9-points", BOREALIS, "find_points", "b" * 64)
        assert read_status(workspace).unfinished == [("find_points", BOREALIS)]


@pytest.mark.slow
def test_only_named_venues_are_built(harvested: Path, tmp_path: Path) -> None:
    with open_workspace(shutil.copytree(harvested, tmp_path / "corpus")) as workspace:
        assert steps_run(build_here(workspace, [BOREALIS])) == [*((BOREALIS, name) for name in OWN), LINKING]
        assert {venue for _, venue in read_status(workspace).unfinished} == {AURORA}
        with pytest.raises(TableError, match=f"'Nowhere'.*{AURORA}, {BOREALIS}"):
            build_here(workspace, ["Nowhere"])


@pytest.mark.slow
def test_one_venue_links_to_all(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The texts are no evidence; titles and abstracts of these two are the same.
    monkeypatch.setattr("peercorpus.links.link_submissions.pair_share", lambda _: None)
    with open_workspace(copied) as workspace:
        older = next(iter(workspace.tables.read(Paper, AURORA)))
        newer = next(iter(workspace.tables.read(Paper, BOREALIS)))
        found = workspace.raw.find(RawKind.NOTE, newer.forum_id)
        assert found is not None
        body = json.loads(found.body)
        body["tmdate"] = body["mdate"] = found.modified_ms + 1000
        body["content"] |= {"title": {"value": older.title}, "abstract": {"value": older.abstract}}
        workspace.raw.add([found._replace(body=json.dumps(body).encode(), modified_ms=found.modified_ms + 1000)])
        before = [link for venue_id in VENUES for link in workspace.tables.read(Link, venue_id)]
        assert steps_run(build_here(workspace, [BOREALIS]))[-1] == LINKING
        links = [link for venue_id in VENUES for link in workspace.tables.read(Link, venue_id) if link not in before]
        require_built(workspace)
        assert read_status(workspace).holds
        assert steps_run(build_here(workspace)) == []
    assert [(link.earlier_id, link.forum_id) for link in links] == [(older.forum_id, newer.forum_id)]


def test_every_sum_balances(built: Path) -> None:
    with open_workspace(built, write=False) as workspace:
        standing = read_status(workspace)
        notes = {venue_id: workspace.raw.count(RawKind.NOTE, venue_id) for venue_id in VENUES}
    assert standing.holds
    assert list(standing.unfinished) == []
    assert {(balance.stage, balance.venue_id) for balance in standing.balances} >= {
        (name, venue_id) for name in NAMES for venue_id in VENUES
    }
    assert {balance.stage for balance in standing.balances if balance.rows_in > 0} >= set(NAMES)
    found = {balance.venue_id: balance.rows_in for balance in standing.balances if balance.stage == "normalise"}
    assert found == notes


def remove_a_row(folder: Path, name: str) -> str:
    """Remove a row of a table without the workspace's knowledge; return its venue."""
    table = DeltaTable(str(folder / "tables" / name))
    id_name = fields(TABLES[name])[0].name
    row = table.to_pyarrow_table(columns=[id_name, "venue_id"]).to_pylist()[0]
    where = f"{id_name} = '{row[id_name]}' AND venue_id = '{row['venue_id']}'"
    assert table.delete(where)["num_deleted_rows"] > 0
    return str(row["venue_id"])


# Nothing else in the tables records how many pairs of papers are the same work, so no sum can miss a link.
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TABLES if name not in {"8-links", *ON_DEMAND}])
def test_a_lost_row_breaks_the_balance(
    copied: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    venue_id = remove_a_row(copied, name)
    # As if a defect of a stage had lost it, with intact files.
    monkeypatch.setattr("peercorpus.pipeline.status.require_whole", lambda *_: None)
    with open_workspace(copied, write=False) as workspace:
        standing = read_status(workspace)
    assert not standing.holds
    assert {balance.venue_id for balance in standing.balances if not balance.holds} == {venue_id}
    with pytest.raises(SystemExit) as ended:
        main(["status", "--workspace", str(copied)])
    assert ended.value.code == 1
    assert "Build again; if that does not help, report a bug." in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["status", "--workspace", str(copied), "--all"])
    assert ended.value.code == 1
    out, err = capsys.readouterr()
    assert "DOES NOT AGREE" in out
    assert err == ""


def test_complete_workspace_balances(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["status", "--workspace", str(built), "--all"])
    assert ended.value.code == 0
    assert "sums agree" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.usefixtures("another_engine")
@pytest.mark.parametrize("stage", STAGES, ids=NAMES)
def test_key_changes_only_with_rows(stage: Any) -> None:
    def key(options: BuildRequest = OPTIONS, digests: dict[str, str] = DIGESTS, **changes: object) -> str:
        return content_key(replace(stage, **changes), options, digests)

    assert key() == key(BuildRequest(workers=7, pdf_timeout_s=1.0)) == key(digests=dict(reversed(DIGESTS.items())))
    assert (key(OTHER) != key()) is (stage.name == "read_texts")
    different = [key(version=99), key(name="another"), key(digests=DIGESTS | {"note": "cd"}), key(digests={})]
    different.append(key(made_with=lambda _: "another version of the engine"))
    assert len({key(), *different}) == 6
    assert len(key()) == len(f"{int(key(), 16):064x}") == 64


@pytest.mark.usefixtures("another_engine")
def test_other_engine_leaves_texts_to_do(built: Path) -> None:
    with open_workspace(built, write=False) as workspace:
        standing = read_status(workspace, OTHER)
    left = ("read_texts", "compare_versions", "link_papers")
    assert list(standing.unfinished) == [(name, one) for one in VENUES for name in left]


def test_stopped_build_resumes(copied: Path) -> None:
    with open_workspace(copied) as workspace:
        texts = list(workspace.tables.read(PaperText, AURORA))
        posts = list(workspace.tables.read(Post, AURORA))
        shutil.rmtree(copied / "tables" / "6-conversations")
        shutil.rmtree(copied / "tables" / "5-texts")
        ran = [name for _, name in steps_run(build_here(workspace, [AURORA]))]
        assert ran[:2] == ["read_texts", "build_conversations"]
        assert sorted(workspace.tables.read(PaperText, AURORA), key=repr) == sorted(texts, key=repr)
        assert list(workspace.tables.read(Post, AURORA)) == posts
    assert any(post.kind is PostKind.REVIEW for post in posts)


def late_reply(workspace: Workspace) -> RawObject:
    """A comment below a submission that was never harvested, by an import."""
    found = next(iter(workspace.raw.latest(RawKind.NOTE, BOREALIS)))
    body = json.loads(found.body) | {"id": "late", "forum": "not here", "replyto": "not here"}
    return found._replace(object_id="late", forum_id="not here", subject_id="late", body=json.dumps(body).encode())


@pytest.mark.slow
def test_unplaced_note_is_set_aside(copied: Path) -> None:
    with open_workspace(copied) as workspace:
        workspace.raw.add([late_reply(workspace)])
        build_here(workspace)
        standing = read_status(workspace)
        counts = workspace.tables.set_aside_counts(BOREALIS, "normalise")
    assert standing.holds
    assert sum(counts.values()) == 1
