"""The file of splits in a release: what it contains, how it is reused, and what is refused."""

import hashlib
import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from asked_releases import publish_release
from invented_tables import ICLR, ICML, TMLR, a_forum, invented, paper
from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import Role
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.release.request import Profile, SplitRequest

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
    return card.split("\n### Train, validation and test splits\n")[1].split("\n#")[0]


def without_a_split(card: str) -> list[int]:
    """Return how many papers no task can use, how many have no date, and how many with a split are missing."""
    (line,) = (line for line in section_of_splits(card).splitlines() if line.startswith("In no split"))
    return [int(number) for number in re.findall(r"\d+", line)]


def test_a_release_lists_its_papers_by_split_and_task_and_how_it_was_made(tmp_path: Path) -> None:
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


def test_the_card_counts_papers_by_venue_and_split_and_states_which_have_none(tmp_path: Path) -> None:
    write(tmp_path, "out", forums(0, 30), RE2, {TMLR: [paper("t1", TMLR)]})
    card = (tmp_path / "out" / "README.md").read_text()
    assert f"| {ICLR} | 26 | 2 | 2 | 0 |" in card
    assert f"| {TMLR} | 0 | 0 | 0 | 1 |" in card
    assert "| rebuttal | 26 | 1 | 1 | 2 |" in card
    assert "1,000" in section_of_splits(card)
    assert without_a_split(card)[:2] == [1, 0]


@pytest.mark.slow
def test_a_later_release_keeps_the_splits_of_an_earlier_one(tmp_path: Path) -> None:
    first = write(tmp_path, "first", forums(0, 30), RE2)
    asked = replace(RE2, earlier=tmp_path / "first")
    second = write(tmp_path, "second", forums(5, 60), asked, {ICML: forums(60, 90, ICML)})
    for split, found in first["splits"].items():
        assert set(found) <= set(second["splits"][split])
    assert len(ids(second["splits"])) == 90
    assert second["made"]["earlier"] == hashlib.sha256(RE2.path(tmp_path / "first").read_bytes()).hexdigest()
    assert without_a_split((tmp_path / "second" / "README.md").read_text())[2] == 5


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
def test_no_paper_of_a_replaced_release_changes_its_split_unnoticed(tmp_path: Path) -> None:
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


def test_a_temporal_release_tests_on_papers_submitted_after_the_date(tmp_path: Path) -> None:
    dates = {"f000": datetime(2020, 6, 2, tzinfo=UTC), "f001": datetime(2020, 6, 1, 23, tzinfo=UTC), "f002": None}
    records = [
        replace(one, created_at=dates[one.forum_id]) if isinstance(one, Paper) and one.forum_id in dates else one
        for one in forums(0, 9)
    ]
    found = write(tmp_path, "out", records, SplitRequest(Profile.TEMPORAL, DAY))
    assert found["tasks"]["review"]["test"] == ["f000"]
    assert found["test_after"] == "2020-06-01"
    assert "f002" not in ids(found["splits"])
    card = (tmp_path / "out" / "README.md").read_text()
    assert "after 2020-06-01" in card
    assert without_a_split(card)[:2] == [0, 1]
    with pytest.raises(PeercorpusError, match=r"2020-06-01.*--splits-from"):
        write(tmp_path, "new", records, SplitRequest(Profile.TEMPORAL, date(2021, 1, 1), tmp_path / "out"))


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "No such file"), ("{", "cannot be read"), ('{"profile": "re2"}', "cannot be read")],
)
def test_unreadable_splits_are_reported_before_anything_is_written(
    tmp_path: Path, content: str | None, said: str
) -> None:
    (tmp_path / "old" / "splits").mkdir(parents=True)
    if content is not None:
        (tmp_path / "old" / "splits" / "re2.json").write_text(content)
    with pytest.raises(PeercorpusError, match=said):
        write(tmp_path, "out", forums(0, 3), replace(RE2, earlier=tmp_path / "old"))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_file_with_a_paper_in_two_splits_is_refused(tmp_path: Path) -> None:
    found = write(tmp_path, "old", forums(0, 9), RE2)
    found["splits"]["test"].append(found["splits"]["train"][0])
    RE2.path(tmp_path / "old").write_text(json.dumps(found))
    with pytest.raises(PeercorpusError, match="intact copy"):
        write(tmp_path, "out", forums(0, 9), replace(RE2, earlier=tmp_path / "old"))


def test_a_profile_without_its_day_and_a_day_without_its_profile_are_refused() -> None:
    with pytest.raises(PeercorpusError, match=r"'temporal'.*--test-after"):
        SplitRequest(Profile.TEMPORAL)
    with pytest.raises(PeercorpusError, match=r"'re2'.*--test-after"):
        SplitRequest(Profile.RE2, DAY)
