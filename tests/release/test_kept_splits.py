"""A paper keeps its split in every later release of its workspace, wherever it is written."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from asked_releases import publish_release
from cards import read_card
from commands import Run
from invented_tables import ICLR, a_forum, fill, invented
from peercorpus.errors import PeercorpusError
from peercorpus.release import writing
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

RE2 = SplitRequest(Profile.RE2)
ANEW = replace(RE2, is_new=True)
FEW, MANY = range(20, 26), range(60)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    with invented(tmp_path / "corpus", {ICLR: forums(FEW)}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f20", 2, ICLR, "f20", "f20", 1, 1, "invented", b"{}")])
    return tmp_path / "corpus"


def forums(numbers: range) -> list[object]:
    return [record for number in numbers for record in a_forum(f"f{number:02}")]


def hold(corpus: Path, numbers: range) -> None:
    with open_workspace(corpus) as workspace:
        fill(workspace, ICLR, forums(numbers))


def release(corpus: Path, out: Path, asked: SplitRequest = RE2) -> dict[str, str]:
    """Return the split of each paper in a new release."""
    with open_workspace(corpus, write=False) as workspace:
        publish_release(workspace, out, splits=asked)
    splits = json.loads(asked.path(out).read_text())["splits"]
    return {forum_id: split for split, ids in splits.items() for forum_id in ids}


def moved(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [forum_id for forum_id, split in before.items() if after.get(forum_id) != split]


@pytest.mark.slow
def test_splits_are_kept_in_another_folder(corpus: Path, tmp_path: Path, run: Run) -> None:
    first = release(corpus, tmp_path / "first")
    hold(corpus, MANY)
    second = release(corpus, tmp_path / "second")
    assert moved(first, second) == []
    assert set(first.values()) == {"train", "validation", "test"}
    assert len(second) == len(MANY)
    assert "Splits: 0 papers changed theirs" in run("diff", tmp_path / "first", tmp_path / "second").out


@pytest.mark.slow
def test_papers_moved_by_new_splits_are_counted(corpus: Path, tmp_path: Path, run: Run) -> None:
    first = release(corpus, tmp_path / "first")
    hold(corpus, MANY)
    kept = release(corpus, tmp_path / "kept")
    anew = release(corpus, tmp_path / "anew", ANEW)
    number = len(moved(kept, anew))
    assert len(moved(first, anew)) > 0
    assert f"because new splits were requested: {number}." in read_card(tmp_path / "anew")
    assert "because new splits were requested: 0." in read_card(tmp_path / "kept")
    assert f"Splits: {number} papers changed theirs" in run("diff", tmp_path / "kept", tmp_path / "anew").out
    # From now on these are kept.
    assert moved(anew, release(corpus, tmp_path / "later")) == []


@pytest.mark.slow
def test_an_undone_takedown_restores_the_split(corpus: Path, tmp_path: Path) -> None:
    first = release(corpus, tmp_path / "first")
    (tested,) = (forum_id for forum_id, split in first.items() if split == "test")
    (corpus / "takedown.txt").write_text(f"{tested}\n")
    hold(corpus, MANY)
    without = release(corpus, tmp_path / "without")
    assert moved(first, without) == [tested]
    # In quotation marks, as a digest may contain such a short id.
    assert f'"{tested}"' not in "".join(path.read_text() for path in (tmp_path / "without").rglob("*.json"))
    (corpus / "takedown.txt").unlink()
    assert moved(first, release(corpus, tmp_path / "again")) == []


@pytest.mark.slow
@pytest.mark.fault(
    "kill", "a release stopped before it has its name", "the next one gives the same splits", lost="nothing"
)
def test_a_stopped_release_moves_no_paper(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = release(corpus, tmp_path / "first")
    hold(corpus, MANY)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(writing, "write_dataset_card", stop)
        with pytest.raises(KeyboardInterrupt):
            release(corpus, tmp_path / "second")
    assert not (tmp_path / "second").exists()
    assert moved(first, release(corpus, tmp_path / "second")) == []


@pytest.mark.slow
@pytest.mark.fault(
    "input", "the splits that a workspace keeps cannot be read", "a sentence that names the file", lost="nothing"
)
@pytest.mark.parametrize("content", ["", "{}", "[1", "\x00"])
def test_unreadable_kept_splits_are_named(corpus: Path, tmp_path: Path, content: str) -> None:
    release(corpus, tmp_path / "first")
    (corpus / "splits" / "re2.json").write_text(content)
    with pytest.raises(PeercorpusError, match=r"splits/re2\.json.*--splits-from"):
        release(corpus, tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_kept_splits_are_readable_by_the_owner_only(corpus: Path, tmp_path: Path) -> None:
    release(corpus, tmp_path / "first")
    assert (corpus / "splits").stat().st_mode & 0o777 == 0o700
    assert (corpus / "splits" / "re2.json").stat().st_mode & 0o777 == 0o600
