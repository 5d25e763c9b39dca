"""Both recipes run from published files to a conformance report offline, and resume where they stopped."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import Ended, Run, assert_refused
from peercorpus.recipes.recipe import RecipeName, ScopeVenue, read_recipe
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.world import build_world
from recipe_datasets import (
    REVIEWBENCH_PLACES,
    re2_papers,
    read_rows,
    reviewbench_papers,
    write_re2,
    write_reviewbench,
)

FEW = ("icml", "colm")


def few_papers() -> list[dict[str, Any]]:
    """Rows of three venues."""
    return [row for row in reviewbench_papers(100) if row["conference"] in FEW]


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return write_reviewbench(tmp_path / "few", few_papers())


@pytest.fixture
def make(run: Run, tmp_path: Path) -> Any:
    def made(name: str, source: Path | str | None, *more: str) -> Ended:
        named = [] if source is None else ["--from", str(source)]
        return run("recipe", name, "--workspace", tmp_path / "corpus", *named, "--no-harvest", "--workers", "1", *more)

    return made


def by_what(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["section"], row["what"]): row for row in read_rows(folder)}


@pytest.mark.slow
def test_reviewbench_is_rebuilt_and_rerun(make: Any, tmp_path: Path) -> None:
    source = write_reviewbench(tmp_path / "published")
    first = make("reviewbench", source)
    assert (first.code, "Nothing to do" in first.out) == (0, False), first.err
    out = tmp_path / "corpus" / "recipe"
    rows = by_what(out)
    assert rows["Numbers", "conferences"]["verdict"] == "same"
    assert rows["Numbers", "papers"]["made"] == "200"
    assert rows["Numbers", "without text"]["made"] == "4"
    assert {row["verdict"] for (section, _), row in rows.items() if section in {"Columns", "Keys of reviews_json"}} == {
        "same"
    }
    places = {place[3] for place in REVIEWBENCH_PLACES}
    made = {
        what.partition(":")[0]
        for section, what in rows
        if section.startswith("Conferences") and rows[section, what]["made"]
    }
    assert made == places
    assert {row["verdict"] for (section, _), row in rows.items() if section == "Splits"} == {"present"}
    assert all(row["reasons"] for row in rows.values() if row["verdict"] in {"different", "missing"})
    again = make("reviewbench", source)
    assert (again.code, again.out.splitlines()[-1]) == (0, "Nothing to do: all of this was done before.")
    assert "conformance.md" in again.out


@pytest.mark.slow
def test_re2_is_rebuilt_and_rerun(make: Any, tmp_path: Path) -> None:
    source = write_re2(tmp_path / "published")
    first = make("re2", source)
    assert (first.code, "Nothing to do" in first.out) == (0, False), first.err
    rows = by_what(tmp_path / "corpus" / "recipe")
    assert rows["Numbers", "papers"]["made"] == "200"
    assert rows["Numbers", "reviews"]["made"] == rows["Numbers", "rebuttals"]["made"] == "500"
    figures = {what[:2]: row["verdict"] for (section, what), row in rows.items() if section == "Figures 2 and 3"}
    # Re² states no keywords.
    assert figures == {
        name: "missing" if name == "2e" else "present" for name in ("2a", "2b", "2c", "2d", "2e", "2f", "3:")
    }
    files = {what: row["verdict"] for (section, what), row in rows.items() if section == "Files"}
    assert files.pop("figures of the papers") == "missing"
    assert set(files.values()) == {"same", "present"}
    assert rows["Numbers", "review test papers"]["made"] == rows["Numbers", "rebuttal test papers"]["made"] == "20"
    exported = tmp_path / "corpus" / "recipe" / "re2"
    test_ids = [paper["paper_id"] for paper in re2_papers()[-20:]]
    assert sorted(paper["paper_id"] for paper in json.loads((exported / "REVIEWS_test.json").read_text())) == test_ids
    for what in ("venues", "first year", "last year"):
        assert rows["Numbers", what]["reasons"] == [
            "the imported files contain papers of 4 venues",
            "43 of 45 venues are not named publicly",
        ]
    assert rows["Row of Table 1", "data source"]["verdict"] == "present"
    again = make("re2", source)
    assert (again.code, again.out.splitlines()[-1]) == (0, "Nothing to do: all of this was done before.")


@pytest.mark.slow
def test_a_changed_file_changes_nothing(make: Any, few: Path, tmp_path: Path) -> None:
    assert make("reviewbench", few).code == 0
    before = (tmp_path / "corpus" / "recipe.json").read_bytes()
    write_reviewbench(few, [row | {"title": "Another"} for row in few_papers()])
    assert_refused(make("reviewbench", few), "another file", "data/colm-00000-of-00001.parquet")
    assert (tmp_path / "corpus" / "recipe.json").read_bytes() == before


def spoil_columns(path: Path, change: Any) -> None:
    pq.write_table(change(pq.read_table(path)), path)


BAD_TABLES: dict[str, Any] = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-300]),
    "a column is missing": lambda path: spoil_columns(path, lambda table: table.drop_columns(["abstract"])),
    "a column is renamed": lambda path: spoil_columns(
        path, lambda table: table.rename_columns(["id" if name == "forum_id" else name for name in table.column_names])
    ),
}


@pytest.mark.slow
@pytest.mark.fault(
    "input", "a published table that is damaged or lacks columns", "one sentence that names the file", times=3
)
def test_damaged_tables_are_refused_in_one_sentence(make: Any, few: Path) -> None:
    path = few / "data" / "icml-00000-of-00001.parquet"
    whole = path.read_bytes()
    for spoil in BAD_TABLES.values():
        spoil(path)
        assert_refused(make("reviewbench", few), "icml-00000-of-00001.parquet")
        path.write_bytes(whole)
    assert make("reviewbench", few).code == 0


def test_an_empty_workspace_needs_files_or_harvest(make: Any, tmp_path: Path) -> None:
    ended = make("reviewbench", None)
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert "--from hf:Samarth0710/reviewbench" in ended.err
    assert not (tmp_path / "corpus").exists()


@pytest.mark.slow
def test_a_used_commit_is_reused(make: Any, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    snapshot = tmp_path / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (snapshot / "data").symlink_to(few / "data")
    asked: list[object] = []

    def stand_in(_: str, **how: object) -> str:
        asked.append(how["revision"])
        return str(snapshot)

    monkeypatch.setattr("huggingface_hub.snapshot_download", stand_in)
    for _ in range(2):
        assert make("reviewbench", "hf:Samarth0710/reviewbench").code == 0
    assert asked == [None, commit]
    state = json.loads((tmp_path / "corpus" / "recipe.json").read_text())
    assert (state["revision"], state["source"]) == (commit, "hf:Samarth0710/reviewbench")


STOPS = (
    "peercorpus.cli.recipe_steps.build",
    "peercorpus.cli.recipe_steps.publish_release",
    "peercorpus.cli.recipe_steps.write_conformance",
)


@pytest.mark.slow
@pytest.mark.parametrize("place", STOPS)
def test_an_interrupted_run_resumes(
    make: Any, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(place, stop)
        assert make("reviewbench", few).code == 130
    ended = make("reviewbench", few)
    assert ended.code == 0
    assert "import: 2 files" in ended.out
    assert by_what(tmp_path / "corpus" / "recipe")["Numbers", "papers"]["made"] == str(len(few_papers()))


@pytest.mark.slow
@pytest.mark.fault("kill", "a recipe, by SIGKILL", "the same command makes the same report")
def test_a_killed_run_ends_the_same(make: Any, few: Path, tmp_path: Path) -> None:
    arguments = ["recipe", "reviewbench", "--workspace", "corpus", "--from", str(few), "--no-harvest", "--workers", "1"]
    command = [sys.executable, "-m", "peercorpus", *arguments]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("import: ")
        os.kill(running.pid, signal.SIGKILL)
    assert make("reviewbench", few).code == 0
    killed = read_rows(tmp_path / "corpus" / "recipe")
    assert make("reviewbench", few, "--out", str(tmp_path / "elsewhere")).code == 0
    assert read_rows(tmp_path / "elsewhere") == killed


@pytest.mark.slow
@pytest.mark.fault("machine", "a full disk during a recipe", "one sentence; nothing half-written")
def test_a_full_disk_leaves_no_half(make: Any, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    def fill_database(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("peercorpus.workspace.raw_store.RawStore.add", fill_database)
        assert_refused(make("reviewbench", few), "disk is full")
        assert not (tmp_path / "corpus").exists()
    with monkeypatch.context() as patched:
        patched.setattr(pa, "OSFile", fill)
        patched.setattr(pq.ParquetWriter, "write_batch", fill)
        patched.setattr(pq.ParquetWriter, "write_table", fill)
        ended = make("reviewbench", few)
        assert (ended.code, ended.err.count("\n")) == (2, ended.err.count("\n"))
        assert "No space left on device" in ended.err
    out = tmp_path / "corpus" / "recipe"
    assert not out.exists() or not any(out.iterdir())
    with monkeypatch.context() as patched:
        patched.setattr("peercorpus.recipes.product_files.write_whole", fill)
        assert "No space left on device" in make("reviewbench", few).err
    assert not (out / "conformance.json").exists()
    assert make("reviewbench", few).code == 0
    assert by_what(out)["Numbers", "papers"]["made"] == str(len(few_papers()))


MISSING = "Borealis.cc/2024/Conference"
COLM = ("colmweb.org/COLM/2024/Conference", "colmweb.org/COLM/2025/Conference")
PAPERS = 3
MakeHere = Callable[..., Ended]


@pytest.fixture
def service() -> Any:
    with serve_simulator(build_world(papers=PAPERS, venues=[MISSING])) as serving:
        yield serving


@pytest.fixture
def run_recipe(run: Run, tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> MakeHere:
    """Runs the recipe on a scope of two venues that are in the files and one that is missing."""
    whole = read_recipe(RecipeName.REVIEWBENCH)
    held = tuple(venue for venue in whole.venue if venue.id in COLM)
    lacking = ScopeVenue(id=MISSING, split="borealis", track="main", source="coverage")
    small = msgspec.structs.replace(whole, venue=(*held, lacking))
    monkeypatch.setattr("peercorpus.recipes.recipe.read_recipe", lambda _: small)
    rows = [row for row in reviewbench_papers(60) if row["conference"] == "colm"]
    folder = write_reviewbench(tmp_path / "published", rows)
    urls = ("--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2)

    def made() -> Ended:
        at = ("--workspace", tmp_path / "corpus", "--from", folder)
        return run("recipe", "reviewbench", *at, *urls, "--workers", "1")

    return made


@pytest.mark.slow
def test_a_harvest_resumes_after_interrupts(
    run_recipe: MakeHere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(import_module("peercorpus.harvest.harvest"), "harvest_pdfs", stop)
        assert run_recipe().code == 130
    out = tmp_path / "corpus" / "recipe"
    assert not out.exists()
    first = run_recipe()
    assert first.code == 0, first.err
    assert "import: 1 file of" in first.out
    assert f"harvest: {PAPERS} submissions of 1 venue." in first.out
    rows = {row["what"].partition(":")[0]: row for row in read_rows(out) if row["section"].startswith("Conferences")}
    assert {what: row["verdict"] for what, row in rows.items()} == dict.fromkeys((*COLM, MISSING), "present")
    assert f"{PAPERS} papers" in rows[MISSING]["made"]
    published = pq.read_table(out / "release" / "data" / "borealis-00000-of-00001.parquet").to_pylist()
    assert len(published) == PAPERS
    assert {row["venue_id"] for row in published} == {MISSING}
    assert any(row["num_reviews"] for row in published)
    assert any(row["markdown"] for row in published)
    again = run_recipe()
    assert (again.code, again.out.splitlines()[-1]) == (0, "Nothing to do: all of this was done before.")


BAD_LISTS: dict[str, Any] = {
    "cut off": lambda text: text[:-40],
    "renamed members": lambda text: text.replace('"paper_id"', '"forum"').replace('"reviews"', '"official"'),
    "not a list": lambda text: text.strip()[1:-1],
}


@pytest.mark.slow
@pytest.mark.fault("input", "a published list of JSON that is damaged", "one sentence that names the file", times=3)
def test_damaged_lists_are_refused_in_one_sentence(make: Any, tmp_path: Path) -> None:
    source = write_re2(tmp_path / "published", re2_papers(8), test=2)
    path = source / "REVIEWS_train.json"
    whole = path.read_text()
    for spoil in BAD_LISTS.values():
        path.write_text(spoil(whole))
        assert_refused(make("re2", source), "REVIEWS_train.json")
    path.write_text(whole)
    assert make("re2", source).code == 0
