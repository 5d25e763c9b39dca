"""Releases named by date: they never change, and one that is up to date is not written again."""

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from asked_releases import publish_release, request
from commands import Run, assert_refused
from invented_tables import ICLR, ICML, TMLR, a_forum, fill, invented, link, paper, review, two_conferences
from peercorpus.errors import WorkspaceError
from peercorpus.release import provenance
from peercorpus.release.dated_releases import is_up_to_date, open_target
from peercorpus.release.published import dated_releases
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.workspace.raw_store import RawKind, RawObject
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


@pytest.mark.slow
def test_a_release_is_named_by_date(workspace: Path) -> None:
    assert add(workspace).name == "2026-11-20"
    for number in range(2, 11):
        hold(workspace, "abcdef"[: number % 5 + 1])
        assert add(workspace).name == f"2026-11-20-{number}"
    assert [release.name for release in dated_releases(workspace)][:2] == ["2026-11-20-10", "2026-11-20-9"]
    assert add(workspace, NEXT).name == "2026-11-20-10"


def test_an_identical_release_is_not_written_again(workspace: Path, run: Run) -> None:
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


def test_no_release_is_replaced(workspace: Path, run: Run) -> None:
    release = add(workspace)
    link = workspace.parent / "link"
    link.symlink_to(release)
    for out in (release, release.parent, release / "new", link, release.parent / "2030-01-01"):
        assert_refused(run("publish", "--workspace", workspace, "--out", out), "leave out --out")
    assert names(workspace) == [".lock", "2026-11-20"]


@pytest.mark.slow
def test_a_failed_release_leaves_nothing(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


RE2 = SplitRequest(Profile.RE2)
BOTH = (ICLR, ICML)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return two_conferences(tmp_path / "corpus")


@pytest.fixture
def release(corpus: Path, tmp_path: Path) -> Path:
    with open_workspace(corpus, write=False) as workspace:
        publish_release(workspace, tmp_path / "release", splits=RE2)
    return tmp_path / "release"


def stands(
    release: Path,
    corpus: Path,
    venues: Sequence[str] = BOTH,
    splits: SplitRequest | None = RE2,
    *,
    no_authors: bool = False,
) -> bool:
    with open_workspace(corpus, write=False) as workspace:
        return is_up_to_date(release, workspace, request(splits, no_authors=no_authors), venues)


def test_a_models_release_is_never_up_to_date(release: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = provenance.read_inputs(release)
    assert inputs is not None
    by_model = msgspec.structs.replace(inputs, titles="kite-1")
    monkeypatch.setattr("peercorpus.release.dated_releases.read_inputs", lambda _: by_model)
    with open_workspace(corpus, write=False) as workspace:
        assert not is_up_to_date(release, workspace, by_model.request, BOTH)


@pytest.mark.slow
def test_other_options_write_a_release_anew(release: Path, corpus: Path, tmp_path: Path) -> None:
    assert stands(release, corpus)
    assert not stands(release, corpus, [ICLR])
    assert not stands(release, corpus, splits=None)
    assert not stands(release, corpus, splits=SplitRequest(Profile.TEMPORAL, date(2024, 1, 1)))
    assert not stands(release, corpus, splits=SplitRequest(Profile.RE2, earlier=release))
    assert not stands(release, corpus, no_authors=True)
    assert not stands(tmp_path / "nowhere", corpus)


@pytest.mark.slow
def test_a_changed_workspace_writes_a_release_anew(release: Path, corpus: Path) -> None:
    (corpus / "takedown.txt").write_text("f1\n")
    assert not stands(release, corpus)
    (corpus / "takedown.txt").unlink()
    assert stands(release, corpus)
    with open_workspace(corpus) as workspace:
        workspace.tables.append("8-links", ICML, "invent", [link("m1", ICML, "f1")])
    assert not stands(release, corpus)


@pytest.mark.slow
def test_another_code_version_publishes_again(release: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "VERSION", 99)
    assert not stands(release, corpus)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "inputs.json", "release.json"])
def test_a_changed_release_is_not_kept(release: Path, corpus: Path, name: str) -> None:
    (release / name).write_text("{}")
    assert not stands(release, corpus)


ADA = "Ada Example"


@pytest.fixture
def named_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of one paper that names its author."""
    with invented(tmp_path / "corpus", {ICLR: [paper("f1", authors=(ADA,)), review("f1")]}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")])
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)
    return tmp_path / "corpus"


def named(release: Path) -> list[str]:
    """Return the authors named in a release."""
    rows: list[dict[str, Any]] = [row for path in release.rglob("*.parquet") for row in pq.read_table(path).to_pylist()]
    return sorted({name for row in rows for name in row.get("authors") or ()})


@pytest.mark.parametrize("is_dated", [False, True])
def test_a_release_without_authors_is_written_anew(named_corpus: Path, run: Run, *, is_dated: bool) -> None:
    out = () if is_dated else ("--out", named_corpus.parent / "release")
    asked = ("publish", "--workspace", named_corpus, "--splits", "none", *out)
    made: list[list[str]] = []
    for options in ([], ["--no-authors"], ["--no-authors"], []):
        assert run(*asked, *options).code == 0
        releases = sorted((named_corpus / "releases").glob("2*")) if is_dated else [named_corpus.parent / "release"]
        made.append(named(releases[-1]))
    assert made == [[ADA], [], [], [ADA]], "a release names authors who were not to be named, or the other way round"
