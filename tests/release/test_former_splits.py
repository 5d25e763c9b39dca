"""Releases and workspaces whose splits are named as earlier versions named them, `sides`, are read and migrated."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from asked_releases import publish_release
from commands import Run
from invented_tables import ICLR, a_forum, fill, invented
from peercorpus.errors import PeercorpusError
from peercorpus.release.diff import find_differences
from peercorpus.release.folder import open_release
from peercorpus.release.provenance import read_inputs
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.split_file import read_splits
from peercorpus.release.splits import PaperSplits
from peercorpus.workspace.object_store import file_digest
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

RE2 = SplitRequest(Profile.RE2)


def forums(number: int) -> list[object]:
    return [record for paper in range(number) for record in a_forum(f"f{paper:02}")]


def rename(path: Path) -> None:
    content = path.read_text()
    assert '"splits":' in content
    path.write_text(content.replace('"splits":', '"sides":'))


def make_former(folder: Path) -> Path:
    """Make a workspace and a release of six papers, and give their splits the former names."""
    with invented(folder / "corpus", {ICLR: forums(6)}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f00", 2, ICLR, "f00", "f00", 1, 1, "invented", b"{}")])
        publish_release(workspace, folder / "former", splits=RE2)
    (folder / "corpus" / "splits").rename(folder / "corpus" / "sides")
    rename(folder / "corpus" / "sides" / "re2.json")
    manifest = json.loads((folder / "former" / "release.json").read_text())
    for name in ("splits/re2.json", "inputs.json"):
        rename(folder / "former" / name)
        manifest["files"][name] = file_digest(folder / "former" / name)
    (folder / "former" / "release.json").write_text(json.dumps(manifest))
    return folder / "former"


def release_more(folder: Path, out: str, asked: SplitRequest) -> PaperSplits:
    """Release sixty papers of the workspace."""
    with open_workspace(folder / "corpus") as workspace:
        fill(workspace, ICLR, forums(60))
        publish_release(workspace, folder / out, splits=asked)
    return read_splits(asked.path(folder / out))


def test_a_workspace_keeps_the_splits_of_its_former_folder(tmp_path: Path) -> None:
    former = read_splits(RE2.path(make_former(tmp_path)))
    assert former.of.items() <= release_more(tmp_path, "second", RE2).of.items()
    assert not (tmp_path / "corpus" / "sides").exists()
    assert former.of.items() <= release_more(tmp_path, "third", RE2).of.items()


@pytest.mark.parametrize("out", ["new", "former"])
def test_the_splits_of_a_former_release_are_kept(out: str, tmp_path: Path) -> None:
    former = make_former(tmp_path)
    before = read_splits(RE2.path(former))
    (tmp_path / "corpus" / "sides").rename(tmp_path / "elsewhere")
    asked = replace(RE2, earlier=former) if out == "new" else RE2
    assert before.of.items() <= release_more(tmp_path, out, asked).of.items()


def test_a_former_release_is_verified_and_compared(tmp_path: Path, run: Run) -> None:
    former = make_former(tmp_path)
    release_more(tmp_path, "second", RE2)
    differences = find_differences(open_release(former), open_release(tmp_path / "second"))
    assert (differences.splits, differences.splits_added) == ([], 54)
    assert "splits    6 papers: no fault" in run("verify", former).out
    inputs, file = read_inputs(former), open_release(former).splits()
    assert inputs is not None
    assert inputs.splits is not None
    assert file is not None
    assert (inputs.splits.profile, len(file.read().of)) == (Profile.RE2, 6)


def test_a_file_without_splits_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = RE2.path(make_former(tmp_path))
    path.write_text(path.read_text().replace('"sides":', '"parts":'))
    with pytest.raises(PeercorpusError, match=r"The splits '.*' cannot be read: .*`splits`"):
        read_splits(path)
