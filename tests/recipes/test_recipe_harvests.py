"""A recipe harvests what the published files lack, from the simulated service, and resumes when interrupted."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from commands import Ended, Run
from peercorpus.recipes.recipe import RecipeName, ScopeVenue, read_recipe
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.world import build_world
from recipe_datasets import read_rows, reviewbench_papers, write_reviewbench

pytestmark = pytest.mark.slow

MISSING = "Borealis.cc/2024/Conference"
COLM = ("colmweb.org/COLM/2024/Conference", "colmweb.org/COLM/2025/Conference")
PAPERS = 3
MakeHere = Callable[..., Ended]


@pytest.fixture
def service() -> Any:
    with serve_simulator(build_world(papers=PAPERS, venues=[MISSING])) as serving:
        yield serving


@pytest.fixture
def make(run: Run, tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> MakeHere:
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


def test_an_interrupted_harvest_resumes_and_is_built_published_and_reported_once(
    make: MakeHere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(import_module("peercorpus.harvest.harvest"), "harvest_pdfs", stop)
        assert make().code == 130
    out = tmp_path / "corpus" / "recipe"
    assert not out.exists()
    first = make()
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
    again = make()
    assert (again.code, again.out.splitlines()[-1]) == (0, "Nothing to do: all of this was done before.")
