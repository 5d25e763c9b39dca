"""`peercorpus publish` without `--out`: releases named by date, which never change."""

import json
import os
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from asked_releases import publish_release
from commands import Run, assert_refused
from invented_tables import ICLR, TMLR, a_forum, fill
from peercorpus.errors import WorkspaceError
from peercorpus.release.dated_releases import open_target
from peercorpus.release.published import dated_releases
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.workspace.workspace import open_workspace

DAY, NEXT = date(2026, 11, 20), date(2026, 11, 21)


def texts(*names: str) -> list[object]:
    return [record for name in names for record in a_forum(name, markdown=f"# Text of {name}")]


@pytest.fixture
def workspace(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder, dump = tmp_path / "corpus", tmp_path / "notes.json"
    dump.write_text(json.dumps([{"id": "x", "forum": "x", "invitation": f"{TMLR}/-/Submission", "content": {}}]))
    assert run("import", dump, "--workspace", folder).code == 0
    hold(folder, "abcdef")
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)
    return folder


def hold(folder: Path, names: str) -> None:
    with open_workspace(folder) as opened:
        fill(opened, ICLR, texts(*names))


def add(folder: Path, day: date = DAY, splits: SplitRequest | None = None) -> Path:
    """Return the final release."""
    with open_workspace(folder, write=False) as opened, open_target(folder, None, splits, day) as place:
        publish_release(opened, place.folder, splits=splits, standing=place.with_splits)
    return place.final


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "releases").iterdir())


def splits_of(release: Path, profile: str = "re2") -> dict[str, str]:
    found = json.loads((release / "splits" / f"{profile}.json").read_text())["splits"]
    return {forum_id: split for split, ids in found.items() for forum_id in ids}


@pytest.mark.slow
def test_a_release_is_named_by_its_date_and_later_ones_of_the_day_by_a_number(workspace: Path) -> None:
    assert add(workspace).name == "2026-11-20"
    for number in range(2, 11):
        hold(workspace, "abcdef"[: number % 5 + 1])
        assert add(workspace).name == f"2026-11-20-{number}"
    assert [release.name for release in dated_releases(workspace)][:2] == ["2026-11-20-10", "2026-11-20-9"]
    assert add(workspace, NEXT).name == "2026-11-20-10"


def test_an_identical_release_is_not_written_again_and_this_is_reported(workspace: Path, run: Run) -> None:
    first = run("publish", "--workspace", workspace, "--splits", "re2")
    (name,) = [one for one in names(workspace) if one != ".lock"]
    assert first.code == 0
    assert f"are in {workspace / 'releases' / name}.\n" in first.out
    again = run("publish", "--workspace", workspace, "--splits", "re2")
    assert again.code == 0
    assert f"'{workspace / 'releases' / name}'" in again.out
    assert again.out.splitlines()[1:] == [f"Next: peercorpus explore -w {workspace} (or report)"]
    assert names(workspace) == [".lock", name]


@pytest.mark.slow
def test_the_files_of_a_release_are_read_only(workspace: Path) -> None:
    release = add(workspace)
    modes = {path.stat().st_mode & 0o777 for path in release.rglob("*") if path.is_file()}
    assert modes == {0o444}


@pytest.mark.slow
def test_papers_keep_the_splits_of_earlier_releases_of_the_same_profile(workspace: Path) -> None:
    asked = SplitRequest(Profile.RE2)
    before = splits_of(add(workspace, splits=asked))
    add(workspace, splits=SplitRequest(Profile.TEMPORAL, date(2019, 12, 31)))
    hold(workspace, "abcdefghijklmnopqrstuvwxyz")
    after = splits_of(add(workspace, NEXT, asked))
    assert before.items() <= after.items()
    assert len(after) == 26
    # Otherwise the splits would have been the same without being kept.
    with open_workspace(workspace, write=False) as opened:
        publish_release(opened, workspace.parent / "anew", splits=replace(asked, is_new=True))
    assert not before.items() <= splits_of(workspace.parent / "anew").items()


@pytest.mark.slow
def test_splits_with_another_test_date_are_not_carried_over(workspace: Path) -> None:
    early, late = (SplitRequest(Profile.TEMPORAL, date(year, 12, 31)) for year in (2018, 2019))
    add(workspace, splits=early)
    found = json.loads((add(workspace, splits=late) / "splits" / "temporal.json").read_text())
    assert (found["test_after"], found["made"]["earlier"]) == ("2019-12-31", None)


@pytest.mark.slow
def test_explicit_splits_may_not_move_a_paper_of_the_newest_release(workspace: Path, run: Run) -> None:
    asked = ("publish", "--workspace", workspace, "--splits", "re2")
    assert run(*asked).code == 0
    (newest,) = dated_releases(workspace)
    hold(workspace, "abcdefghijklmnopqrstuvwxyz")
    other = workspace.parent / "other"
    assert run(*asked, "--out", other, "--new-splits").code == 0
    hold(workspace, "abcdef")
    ended = run(*asked, "--splits-from", other)
    assert (ended.code, ended.out) == (2, "")
    assert f"--splits-from '{newest}'" in ended.err
    assert names(workspace) == [".lock", newest.name]


def test_no_release_is_replaced(workspace: Path, run: Run) -> None:
    release = add(workspace)
    link = workspace.parent / "link"
    link.symlink_to(release)
    for out in (release, release.parent, release / "new", link, release.parent / "2030-01-01"):
        assert_refused(run("publish", "--workspace", workspace, "--out", out), "leave out --out")
    assert names(workspace) == [".lock", "2026-11-20"]


@pytest.mark.slow
def test_a_failed_release_leaves_nothing_and_leftovers_are_removed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("peercorpus.release.writing.write_dataset_card", interrupted)
        with pytest.raises(KeyboardInterrupt):
            add(workspace)
    assert names(workspace) == [".lock"]
    (workspace / "releases" / ".new").mkdir()
    (workspace / "releases" / ".new" / "left.txt").write_text("of a run that was killed")
    assert not (add(workspace) / "left.txt").exists()
    assert names(workspace) == [".lock", "2026-11-20"]


def test_two_runs_do_not_write_at_once(workspace: Path) -> None:
    with open_target(workspace, None, None) as place:
        place.folder.mkdir()
        (place.folder / "release.json").write_text("{}")
        with pytest.raises(WorkspaceError, match=f"'{place.folder.parent}'"):
            add(workspace)


def test_folders_with_other_names_are_not_releases(workspace: Path) -> None:
    release = add(workspace)
    for name in ("2026-11-20-0", "2026-11-20-01", "mine", "2026-11-30"):
        (workspace / "releases" / name).mkdir()
    os.link(release / "release.json", workspace / "releases" / "mine" / "release.json")
    assert dated_releases(workspace) == [release]


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_name_is_not_a_folder(workspace: Path, run: Run, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.chdir(workspace.parent)
    before = sorted(workspace.parent.iterdir())
    assert_refused(run("publish", "--workspace", workspace, "--out", value), "--out")
    assert_refused(run("publish", "--workspace", value), "--workspace")
    assert_refused(run("status", "-w", value), "-w")
    assert sorted(workspace.parent.iterdir()) == before
