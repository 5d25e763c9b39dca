"""AI reviews change nothing else: no table, configuration, split, export, statistic or figure."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest

from asked_releases import publish_release
from in_this_process import InThisProcess
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.pipeline.build import build
from peercorpus.pipeline.status import read_status
from peercorpus.records.papers import Paper
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import open_workspace
from table_rows import rows

pytestmark = pytest.mark.slow

FJORD = "Fjord.cc/2024/Conference"
KEY = bytes(32)
INVITATIONS = ("/-/AI_Review", "/-/LLM_PDF_Feedback")
Notes = dict[str, Any]


def below_ai(notes: Notes) -> set[str]:
    """Return the ids of an AI's reviews, as the simulator posts them, and of everything below them."""
    found = {note_id for note_id, note in notes.items() if note["invitations"][0].endswith(INVITATIONS)}
    while more := {note_id for note_id, note in notes.items() if note["replyto"] in found} - found:
        found |= more
    return found


def without_ai(world: World) -> World:
    """The same world without any AI reviews."""
    holdings = world.v2.copy()
    gone = below_ai(holdings.notes)
    holdings.notes = {note_id: note for note_id, note in holdings.notes.items() if note_id not in gone}
    return World(world.v1, holdings)


class Made:
    """A harvested, built and published world."""

    def __init__(self, folder: Path, world: World) -> None:
        self.corpus, self.release = folder / "corpus", folder / "release"
        with (
            patch("secrets.token_bytes", return_value=KEY),
            serve_simulator(world) as service,
            Client(service.base_url_v1, service.base_url_v2) as client,
            open_workspace(self.corpus, create=True) as workspace,
        ):
            harvest(workspace, client, [FJORD])
            build(workspace, spread=InThisProcess())
            self.rows = rows(workspace, FJORD)
            self.status = read_status(workspace)
            publish_release(workspace, self.release, splits=SplitRequest(Profile.RE2))
        self.files = {
            path.relative_to(self.release).as_posix(): path.read_bytes()
            for path in sorted(self.release.rglob("*"))
            if path.is_file()
        }


def uncounted(records: list[Any]) -> list[Any]:
    """Return papers without the number of unseen replies, which contains the replies that a world was rid of."""
    return [replace(one, replies_not_shown=None) if isinstance(one, Paper) else one for one in records]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Made, Made]:
    """The same papers, with AI reviews and without."""
    folder = tmp_path_factory.mktemp("apart")
    world = build_world(papers=5, venues=[FJORD])
    return Made(folder / "with", world), Made(folder / "without", without_ai(world))


def test_no_ai_review_is_set_aside(pair: tuple[Made, Made]) -> None:
    made, plain = pair
    assert made.status.holds
    ids = {note_id for review in made.rows["2-ai-reviews"] for note_id in review.note_ids}
    assert len(made.rows["2-ai-reviews"]) >= 4
    assert not ids & {row.record_id for row in made.rows["set-aside"]}
    assert not plain.rows["2-ai-reviews"]


def test_ai_reviews_change_no_other_table(pair: tuple[Made, Made]) -> None:
    made, plain = pair
    for name in made.rows.keys() - {"2-ai-reviews"}:
        assert uncounted(made.rows[name]) == uncounted(plain.rows[name]), name


def test_other_release_files_are_unchanged(pair: tuple[Made, Made]) -> None:
    made, plain = pair
    of_ai = {name for name in made.files if name.startswith("data/ai_reviews/")}
    assert of_ai
    data = {name for name in made.files if name.startswith(("data/", "splits/"))} - of_ai
    assert {name.split("/")[1] for name in data} >= {"papers_full", "posts", "conversations", "review_sft", "rebuttal"}
    (papers,) = (name for name in data if name.startswith("data/papers_full/"))
    assert {name: made.files[name] for name in data - {papers}} == {
        name: content
        for name, content in plain.files.items()
        if name.startswith(("data/", "splits/")) and name != papers
    }
    full, plain_full = (pl.read_parquet(one.release / papers).drop("replies_not_shown") for one in pair)
    assert full.equals(plain_full)
    assert "an AI wrote" in made.files["README.md"].decode()
    assert "an AI wrote" not in plain.files["README.md"].decode()
