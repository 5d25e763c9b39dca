"""The file of splits: what it contains, what is refused, and splits that a dataset or an earlier version stated."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from asked_releases import publish_release
from cards import read_card
from commands import Run
from in_this_process import build_here
from invented_tables import ICLR, TMLR, a_forum, fill, invented, paper
from peercorpus.errors import PeercorpusError
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.records.enums import Role
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.release.diff import find_differences
from peercorpus.release.folder import open_release
from peercorpus.release.provenance import read_inputs
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.split_file import read_split_file
from peercorpus.release.splits import PaperSplits
from peercorpus.workspace.object_store import file_digest
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace, open_workspace
from published_records import reviewbench_row, write_parquet

RE2 = SplitRequest(Profile.RE2)
DAY = date(2020, 6, 1)


def forums(first: int, last: int, venue_id: str = ICLR) -> list[object]:
    return [record for number in range(first, last) for record in a_forum(f"f{number:03}", venue_id)]


def write(
    folder: Path, out: str, records: list[object], asked: SplitRequest, more: dict[str, Any] | None = None
) -> Any:
    """Publish a new corpus; return the file of its splits."""
    with invented(folder / f"corpus-{len(list(folder.iterdir()))}", {ICLR: records, **(more or {})}) as workspace:
        publish_release(workspace, folder / out, splits=asked)
    return json.loads(asked.path(folder / out).read_text())


def ids(by_split: dict[str, list[str]]) -> list[str]:
    return sorted(forum_id for found in by_split.values() for forum_id in found)


def section_of_splits(card: str) -> str:
    return card.split("\n## How papers are drawn\n")[1].split("\n#")[0]


def without_a_split(card: str) -> list[int]:
    """Return how many papers no task can use, how many have no date, and how many with a split are missing."""
    (line,) = (line for line in section_of_splits(card).splitlines() if line.startswith("In no split"))
    return [int(number) for number in re.findall(r"\d+", line)]


def test_a_release_lists_its_papers_by_split(tmp_path: Path) -> None:
    found = write(tmp_path, "out", forums(0, 30), RE2, {TMLR: [paper("t1", TMLR)]})
    assert found["sizes"] == {task: {"train": 26, "validation": 2, "test": 2} for task in ("review",)} | {
        "rebuttal": {"train": 26, "validation": 1, "test": 1},
        "meta_review": {"train": 0, "validation": 0, "test": 0},
    }
    assert ids(found["splits"]) == [f"f{number:03}" for number in range(30)]
    assert set(found["tasks"]["rebuttal"]["test"]) < set(found["tasks"]["review"]["test"])
    assert (found["profile"], found["test_after"], found["made"]["earlier"]) == ("re2", None, None)
    path = RE2.path(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert manifest["files"]["splits/re2.json"] == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.slow
def test_no_split_file_names_a_taken_down_paper(tmp_path: Path) -> None:
    first = write(tmp_path, "first", forums(0, 30), RE2)
    asked = replace(RE2, earlier=tmp_path / "first")
    with invented(tmp_path / "later", {ICLR: forums(0, 30)}) as workspace:
        (workspace.folder / "takedown.txt").write_text("f007\n")
        publish_release(workspace, tmp_path / "later-out", splits=asked)
        publish_release(workspace, tmp_path / "first", splits=asked)
    for out in ("later-out", "first"):
        found = json.loads(RE2.path(tmp_path / out).read_text())
        assert ids(found["splits"]) == sorted(set(ids(first["splits"])) - {"f007"})
        assert b"f007" not in RE2.path(tmp_path / out).read_bytes()


@pytest.mark.slow
def test_no_split_changes_unnoticed(tmp_path: Path) -> None:
    first = write(tmp_path, "out", forums(0, 30), RE2)
    assert write(tmp_path, "out", forums(0, 30), RE2) == first
    write(tmp_path, "other", forums(10, 60), RE2)
    with pytest.raises(PeercorpusError, match="--splits-from"):
        write(tmp_path, "out", forums(10, 60), replace(RE2, earlier=tmp_path / "other"))
    assert json.loads(RE2.path(tmp_path / "out").read_text()) == first
    kept = write(tmp_path, "out", forums(10, 60), RE2)
    assert set(first["splits"]["test"]) <= set(kept["splits"]["test"])
    assert len(ids(kept["splits"])) == 60


@pytest.mark.parametrize("spoiled", ["text", "review", "conversation", "hidden", "deleted"])
def test_only_usable_papers_are_in_a_task(tmp_path: Path, spoiled: str) -> None:
    records = a_forum("f9", markdown="" if spoiled == "text" else "# Text")
    if spoiled == "review":
        records = [one for one in records if not isinstance(one, Review)]
    if spoiled == "conversation":
        records = [
            replace(one, turns=tuple(turn for turn in one.turns if turn.role is Role.AUTHOR))
            if isinstance(one, Conversation)
            else one
            for one in records
        ]
    if spoiled == "hidden":
        records = [replace(one, readers_public=False) if isinstance(one, Post) else one for one in records]
    if spoiled == "deleted":
        records = [replace(one, deleted=True) if isinstance(one, Review) else one for one in records]
    tasks = write(tmp_path, "out", records, RE2)["tasks"]
    uses = {
        "text": (False, False),
        "review": (False, True),
        "conversation": (True, False),
        "hidden": (True, False),
        "deleted": (False, True),
    }
    assert (bool(ids(tasks["review"])), bool(ids(tasks["rebuttal"]))) == uses[spoiled]


def test_a_temporal_release_tests_on_later_papers(tmp_path: Path) -> None:
    dates = {"f000": datetime(2020, 6, 2, tzinfo=UTC), "f001": datetime(2020, 6, 1, 23, tzinfo=UTC), "f002": None}
    records = [
        replace(one, created_at=dates[one.forum_id]) if isinstance(one, Paper) and one.forum_id in dates else one
        for one in forums(0, 9)
    ]
    found = write(tmp_path, "out", records, SplitRequest(Profile.TEMPORAL, DAY))
    assert found["tasks"]["review"]["test"] == ["f000"]
    assert found["test_after"] == "2020-06-01"
    assert "f002" not in ids(found["splits"])
    card = read_card(tmp_path / "out")
    assert "after 2020-06-01" in card
    assert without_a_split(card)[:2] == [0, 1]
    with pytest.raises(PeercorpusError, match=r"2020-06-01.*--splits-from"):
        write(tmp_path, "new", records, SplitRequest(Profile.TEMPORAL, date(2021, 1, 1), tmp_path / "out"))


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "No such file"), ("{", "cannot be read"), ('{"profile": "re2"}', "cannot be read")],
)
def test_unreadable_splits_are_refused_first(tmp_path: Path, content: str | None, said: str) -> None:
    (tmp_path / "old" / "splits").mkdir(parents=True)
    if content is not None:
        (tmp_path / "old" / "splits" / "re2.json").write_text(content)
    with pytest.raises(PeercorpusError, match=said):
        write(tmp_path, "out", forums(0, 3), replace(RE2, earlier=tmp_path / "old"))
    assert not (tmp_path / "out").exists()


def test_a_profile_needs_its_day() -> None:
    with pytest.raises(PeercorpusError, match=r"'temporal'.*--test-after"):
        SplitRequest(Profile.TEMPORAL)
    with pytest.raises(PeercorpusError, match=r"'re2'.*--test-after"):
        SplitRequest(Profile.RE2, DAY)


def former_forums(number: int) -> list[object]:
    return [record for paper in range(number) for record in a_forum(f"f{paper:02}")]


def rename(path: Path) -> None:
    content = path.read_text()
    assert '"splits":' in content
    path.write_text(content.replace('"splits":', '"sides":'))


def make_former(folder: Path) -> Path:
    """Make a workspace and a release of six papers, and give their splits the former names."""
    with invented(folder / "corpus", {ICLR: former_forums(6)}) as workspace:
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
        fill(workspace, ICLR, former_forums(60))
        publish_release(workspace, folder / out, splits=asked)
    return read_split_file(asked.path(folder / out)).read()


def test_a_former_folders_splits_are_kept(tmp_path: Path) -> None:
    former = read_split_file(RE2.path(make_former(tmp_path))).read()
    assert former.of.items() <= release_more(tmp_path, "second", RE2).of.items()
    assert not (tmp_path / "corpus" / "sides").exists()
    assert former.of.items() <= release_more(tmp_path, "third", RE2).of.items()


@pytest.mark.parametrize("out", ["new", "former"])
def test_the_splits_of_a_former_release_are_kept(out: str, tmp_path: Path) -> None:
    former = make_former(tmp_path)
    before = read_split_file(RE2.path(former)).read()
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


def test_a_file_without_splits_is_refused(tmp_path: Path) -> None:
    path = RE2.path(make_former(tmp_path))
    path.write_text(path.read_text().replace('"sides":', '"parts":'))
    with pytest.raises(PeercorpusError, match=r"The splits '.*' cannot be read: .*`splits`"):
        read_split_file(path).read()


STATED = SplitRequest(Profile.STATED)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        yield opened


def test_a_corpus_without_stated_splits_is_refused(tmp_path: Path, workspace: Workspace) -> None:
    write_parquet(tmp_path / "in" / "kites.parquet", [reviewbench_row()])
    import_dumps(workspace, [tmp_path / "in"])
    build_here(workspace)
    with pytest.raises(PeercorpusError, match="states the split of a paper") as caught:
        publish_release(workspace, tmp_path / "out", splits=STATED)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()
