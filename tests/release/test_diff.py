"""`peercorpus diff`: what is added, changed, gone and taken down, by venue; splits; columns."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asked_releases import publish_release
from commands import Run
from invented_tables import ICLR, ICML, a_forum, invented
from peercorpus.records.papers import Paper
from peercorpus.release.request import Profile, SplitRequest


def texts(names: str, venue_id: str = ICLR) -> list[object]:
    return [record for name in names for record in a_forum(name, venue_id, f"# Text of {name}")]


def titled(records: list[object], forum_id: str, title: str) -> list[object]:
    return [
        replace(one, title=title) if isinstance(one, Paper) and one.forum_id == forum_id else one for one in records
    ]


def release(folder: Path, name: str, records: dict[str, list[object]], taken: str = "", **other: Any) -> Path:
    with invented(folder / f"corpus-{name}", records) as workspace:
        (workspace.folder / "takedown.txt").write_text(taken)
        publish_release(workspace, folder / name, **other)
    return folder / name


def compared(run: Run, one: Path, other: Path) -> Any:
    ended = run("diff", one, other, "--json", "--ids")
    assert ended.code == 0
    return json.loads(ended.out)


def told(added: str = "", changed: str = "", gone: str = "", taken_down: int | None = 0) -> dict[str, Any]:
    return {"added": list(added), "changed": list(changed), "gone": list(gone), "taken_down": taken_down}


@pytest.mark.slow
def test_removed_posts_exclude_reviews_taken_down(tmp_path: Path, run: Run) -> None:
    one = release(tmp_path, "one", {ICLR: a_forum("f1")}, "")
    other = release(tmp_path, "other", {ICLR: a_forum("f1")}, "f1-R1\nf1-answer\n")
    found = compared(run, one, other)["rows"]
    gone = {"added": [], "changed": [], "gone": ["f1-answer"], "taken_down": 1}
    assert found["posts"] == {ICLR: gone}
    assert found["reviews"] == {ICLR: gone | {"gone": ["f1-R1"]}}


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return release(tmp_path, "first", {ICLR: texts("abc"), ICML: texts("xyz", ICML)})


@pytest.mark.slow
def test_papers_are_compared_by_venue(tmp_path: Path, run: Run, first: Path) -> None:
    records = {ICLR: titled(texts("bcd"), "b", "Other"), ICML: texts("xyz", ICML)}
    found = compared(run, first, release(tmp_path, "second", records))
    assert found["rows"]["papers"] == {ICLR: told("d", "b", "a")}
    assert found["rows"]["conversations"] == {
        ICLR: {"added": ["d/R1"], "changed": [], "gone": ["a/R1"], "taken_down": 0}
    }
    assert (found["columns"], found["splits_changed"]) == ([], [])


@pytest.mark.slow
def test_the_tombstone_names_what_was_taken(tmp_path: Path, run: Run) -> None:
    all_of_them = {ICLR: texts("abcde"), ICML: texts("xyz", ICML)}
    one = release(tmp_path, "one", all_of_them, "e\n")
    other = release(tmp_path, "other", {ICLR: texts("bcde"), ICML: texts("xyz", ICML)}, "e\nb\nz\n")
    assert compared(run, one, other)["rows"]["papers"] == {
        ICLR: told(gone="ab", taken_down=1),
        ICML: told(gone="z", taken_down=1),
    }
    for name in ("one", "other"):
        tombstone = json.loads((tmp_path / name / "takedown.json").read_text())
        del tombstone["venues"]
        (tmp_path / name / "takedown.json").write_text(json.dumps(tombstone))
    assert compared(run, one, other)["rows"]["papers"][ICLR] == told(gone="ab", taken_down=None)


def test_papers_with_a_changed_split_are_listed(tmp_path: Path, run: Run) -> None:
    asked = SplitRequest(Profile.RE2)
    one = release(tmp_path, "one", {ICLR: texts("abcdefghi")}, splits=asked)
    other = tmp_path / "other"
    shutil.copytree(one, other)
    path = other / "splits" / "re2.json"
    file = json.loads(path.read_text())
    moved, lost = file["splits"]["train"][:2]
    file["splits"]["train"] = [*file["splits"]["train"][2:], "new"]
    file["splits"]["test"].append(moved)
    path.write_text(json.dumps(file))
    ended = run("diff", one, other, "--ids")
    counts, *papers = ended.out.splitlines()
    assert re.findall(r"\d+ .*?(changed|lost|new)", counts) == ["changed", "lost", "new"]
    assert re.findall(r"\d+", counts) == ["1", "1", "1"]
    assert papers == [f"split re2 {moved} train -> test", f"split re2 {lost} train -> no split"]
