"""The inputs of a release: the same inputs give the same bytes, and later changes are named."""

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from asked_releases import publish_release
from invented_tables import ICLR, ICML, two_conferences
from peercorpus.models.endpoint import MODEL_KEY_VARIABLE, AskedModel, ModelSettings
from peercorpus.records.reviews import Post
from peercorpus.release.by_model.turn_titles import Titler
from peercorpus.release.provenance import ChangedInput, find_moved, read_inputs
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.workspace.harvest_state import Listing
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

RE2 = SplitRequest(Profile.RE2)


def note(kind: RawKind = RawKind.NOTE) -> RawObject:
    return RawObject(kind, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return two_conferences(tmp_path / "corpus")


def release(corpus: Path, out: Path, splits: SplitRequest | None = RE2) -> dict[str, bytes]:
    with open_workspace(corpus, write=False) as workspace:
        publish_release(workspace, out, splits=splits)
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def moved(corpus: Path, out: Path) -> list[ChangedInput]:
    inputs = read_inputs(out)
    assert inputs is not None
    with open_workspace(corpus, write=False) as workspace:
        return find_moved(inputs, workspace)


@pytest.mark.slow
def test_a_copied_workspace_gives_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    (corpus / "takedown.txt").write_text("f1\nm2-answer\n")
    first = release(corpus, tmp_path / "first")
    shutil.copytree(corpus, tmp_path / "copy")
    shutil.rmtree(corpus)
    assert release(tmp_path / "copy", tmp_path / "second") == first
    assert moved(tmp_path / "copy", tmp_path / "first") == []
    assert "inputs.json" in json.loads(first["release.json"])["files"]


@pytest.mark.slow
def test_changed_inputs_are_named_by_venue_and_table(corpus: Path, tmp_path: Path) -> None:
    release(corpus, tmp_path / "out")
    with open_workspace(corpus) as workspace:
        workspace.tables.append("3-posts", ICLR, "invent", [next(workspace.tables.read(Post, ICLR))])
        workspace.raw.add([note(RawKind.PUBLISHED)])
        with workspace.raw.transaction():
            workspace.raw.state.set_listing(ICML, "submissions", Listing(None, 1, None, complete=True))
    (corpus / "takedown.txt").write_text("f1\n")
    assert moved(corpus, tmp_path / "out") == [
        ChangedInput(None, "takedown.txt"),
        ChangedInput(ICLR, "3-posts"),
        ChangedInput(ICLR, "records"),
        ChangedInput(ICML, "listing"),
    ]


@pytest.mark.slow
def test_the_takedown_list_cannot_be_guessed(corpus: Path, tmp_path: Path) -> None:
    (corpus / "takedown.txt").write_text("f1\nm1\n")
    first = json.loads(release(corpus, tmp_path / "first")["inputs.json"])["takedown"]
    (corpus / "takedown.txt").write_text("# asked for in May\nm1\nf1\n")
    assert json.loads(release(corpus, tmp_path / "second")["inputs.json"])["takedown"] == first
    (corpus / "takedown.salt").unlink()
    assert json.loads(release(corpus, tmp_path / "third")["inputs.json"])["takedown"] != first


def test_the_model_that_writes_titles_is_named(corpus: Path, tmp_path: Path) -> None:
    settings = ModelSettings("http://127.0.0.1:9/v1", "titles-7b", MODEL_KEY_VARIABLE)
    with (
        closing(AskedModel.of(settings, None, "r", 1)) as model,
        open_workspace(corpus, write=False) as workspace,
    ):
        publish_release(workspace, tmp_path / "out", titler=Titler(model))
    assert json.loads((tmp_path / "out" / "inputs.json").read_text())["titles"] == "titles-7b"
