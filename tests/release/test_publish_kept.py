"""Unchanged parts are kept from the previous release, and the bytes equal those of a release from scratch."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from asked_releases import publish_release
from invented_tables import (
    ICLR,
    ICML,
    TABLES_BUILT,
    TMLR,
    a_forum,
    fill,
    invented,
    link,
    with_figures,
)
from invented_tables import what_follows as follow
from peercorpus.corpus.takedown import SALT
from peercorpus.corpus.text_choice import TextChoice
from peercorpus.errors import TryLaterError
from peercorpus.records.papers import Paper
from peercorpus.release import rows, task_tables, writing
from peercorpus.release.kept_parts import PARTS
from peercorpus.release.request import Profile, ReleaseLayout, SplitRequest
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

pytestmark = pytest.mark.slow(40)

NEURIPS = "NeurIPS.cc/2022/Conference"
PAPERS = {ICLR: ("a1", "a2", "a3"), ICML: ("b1", "b2gone"), NEURIPS: ("c1", "c2"), TMLR: ("d1",)}
RE2 = SplitRequest(Profile.RE2)


def of_venue(venue_id: str, **text: str) -> list[object]:
    """Papers with data for every configuration of a release."""
    forums = (
        [*a_forum(forum_id, venue_id, text.get(forum_id)), *follow(forum_id, venue_id)] for forum_id in PAPERS[venue_id]
    )
    return with_figures([record for forum in forums for record in forum])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def publish(folder: Path, out: Path, venue_ids: list[str] | None = None, **options: Any) -> None:
    options = {"splits": RE2} | options
    with open_workspace(folder) as workspace:
        publish_release(workspace, out, venue_ids, **options)


@pytest.fixture(autouse=True)
def _files_of_one_venue_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.release.venue_groups.LARGE_VENUE", 1)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The papers whose rows were made, with a mark on those whose rows for tasks were."""
    made: list[str] = []

    def build_rows(forum: Any, *arguments: Any, **options: Any) -> rows.ForumRows:
        made.append(forum.paper.forum_id)
        return rows.build_rows(forum, *arguments, **options)

    def write_tasks(*arguments: Any) -> Iterator[str]:
        for forum_id in task_tables.write_tasks(*arguments):
            made.append(f"task {forum_id}")
            yield forum_id

    monkeypatch.setattr(writing, "build_rows", build_rows)
    monkeypatch.setattr(writing, "write_tasks", write_tasks)
    return made


def taken(written: list[str]) -> tuple[list[str], list[str]]:
    """Return the papers written since the last call, and those written for tasks."""
    of_tasks = [one.removeprefix("task ") for one in written if one.startswith("task ")]
    of_rows = [one for one in written if not one.startswith("task ")]
    written.clear()
    return of_rows, of_tasks


def check_as_from_nothing(
    corpus: Path, out: Path, written: list[str], *venue_ids: str, **options: Any
) -> tuple[list[str], list[str]]:
    """Publish with kept parts and from scratch; return what was written for the first, after comparing the bytes."""
    bare = corpus.with_name("bare")
    shutil.rmtree(bare, ignore_errors=True)
    shutil.copytree(corpus, bare)
    shutil.rmtree(bare / PARTS, ignore_errors=True)
    (bare / "published.jsonl").unlink(missing_ok=True)
    written.clear()
    publish(corpus, out, [*venue_ids] or None, **options)
    wrote = taken(written)
    fresh = bare.with_name("fresh")
    shutil.rmtree(fresh, ignore_errors=True)
    publish(bare, fresh, [*venue_ids] or None, **options)
    found, expected = contents(out), contents(fresh)
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []
    written.clear()
    return wrote


LAYOUTS: dict[str, dict[str, Any]] = {
    "peercorpus": {"texts": TextChoice.ALL, "latex": True, "figures": True, "points": True},
    "reviewbench": {"layout": ReleaseLayout.REVIEWBENCH, "splits": None},
    "without splits": {"splits": None},
}


@pytest.mark.parametrize("options", LAYOUTS.values(), ids=LAYOUTS)
def test_an_incremental_release_equals_one_from_scratch_byte_for_byte(
    tmp_path: Path, written: list[str], options: dict[str, Any]
) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"

    def step(*venue_ids: str, **others: Any) -> list[str]:
        return check_as_from_nothing(corpus, out, written, *venue_ids, **(options | others))[0]

    make(corpus, {ICLR: of_venue(ICLR), NEURIPS: of_venue(NEURIPS)})
    assert step() == ["a1", "a2", "a3", "c1", "c2"]
    assert step() == []
    change(corpus, ICML, of_venue(ICML))
    assert step() == ["b1", "b2gone"]
    (corpus / "takedown.txt").write_text("c1\n")
    assert step() == ["c2"]
    (corpus / "takedown.txt").write_text("c1\na2-answer\n")
    assert step() == ["a1", "a2", "a3"]
    change(corpus, ICML, of_venue(ICML, b1="# Another text"))
    assert step() == ["b1", "b2gone"]
    assert step(grade="unrevised_likely") == ["a1", "a2", "a3", "b1", "b2gone", "c2"]
    assert step(ICLR, NEURIPS, grade="unrevised_likely") == []
    (corpus / "takedown.txt").unlink()
    assert step(grade="unrevised_likely") == ["a1", "a2", "a3", "b1", "b2gone", "c1", "c2"]


def make(corpus: Path, venues: dict[str, list[object]]) -> None:
    """Make a workspace of these records, with a note so that it is not removed as empty."""
    with invented(corpus, venues) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "a1", 2, ICLR, "a1", "a1", 1, 1, "invented", b"{}")])
    (corpus / SALT).write_bytes(b"s" * 32)


def change(corpus: Path, venue_id: str, records: list[object]) -> None:
    with open_workspace(corpus) as workspace:
        fill(workspace, venue_id, records)


def test_a_new_link_rewrites_only_tasks_of_venues_whose_splits_change(tmp_path: Path, written: list[str]) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    make(corpus, {venue_id: of_venue(venue_id) for venue_id in (ICLR, ICML, NEURIPS)})
    publish(corpus, out)
    before = find_used(out)
    change(corpus, TMLR, [*of_venue(TMLR), link("d1", TMLR, "a1")])
    wrote, of_tasks = check_as_from_nothing(corpus, out, written)
    assert wrote == ["d1"]
    assert {row["forum_id"] for row in read(out, "tries")} == {"a1", "d1"}
    wrote, anew = check_as_from_nothing(corpus, out, written, splits=replace(RE2, is_new=True))
    after = find_used(out)
    moved = {forum_id for forum_id in before.keys() | after.keys() if before.get(forum_id) != after.get(forum_id)}
    assert wrote == []
    assert {*of_tasks, *anew} == {one for ids in PAPERS.values() if moved & {*ids} for one in ids}


def read(out: Path, config: str) -> list[dict[str, Any]]:
    return [row for path in (out / "data" / config).glob("*.parquet") for row in pq.read_table(path).to_pylist()]


def find_used(out: Path) -> dict[str, list[str]]:
    """Return the splits on which each paper is used, by task."""
    found: dict[str, list[str]] = {}
    for config in ("review_sft", "rebuttal", "meta_review_sft"):
        for path in sorted((out / "data" / config).glob("*.parquet")):
            for forum_id in pq.read_table(path).column("forum_id").to_pylist():
                found.setdefault(forum_id, []).append(f"{config} {path.name.partition('-')[0]}")
    return found


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("spoil", [damage, cut_short, Path.unlink])
def test_a_file_that_was_changed_is_written_again(
    tmp_path: Path, written: list[str], spoil: Callable[[Path], None]
) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    make(corpus, {venue_id: of_venue(venue_id) for venue_id in (ICLR, ICML)})
    publish(corpus, out)
    before = contents(out)
    spoil(out / "data" / "reviews" / "icml-00000-of-00001.parquet")
    taken(written)
    publish(corpus, out)
    assert contents(out) == before
    assert taken(written)[0] == ["b1", "b2gone"]
    spoil(next((out / "data" / "review_sft").glob("train-*.parquet")))
    publish(corpus, out)
    assert contents(out) == before
    rows_of, tasks_of = taken(written)
    assert rows_of == []
    assert tasks_of


@pytest.mark.parametrize("content", [b"", b"\x00", b"\xff" * 30])
def test_the_workspaces_notes_on_releases_may_be_lost_or_damaged(
    tmp_path: Path, written: list[str], content: bytes
) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    make(corpus, {ICLR: of_venue(ICLR)})
    publish(corpus, out)
    before = contents(out)
    for path in (corpus / PARTS).iterdir():
        path.write_bytes(content)
    taken(written)
    publish(corpus, out)
    assert contents(out) == before
    assert taken(written)[0] == ["a1", "a2", "a3"]


def test_no_byte_of_a_release_contains_what_was_taken_down(tmp_path: Path, written: list[str]) -> None:
    """Search every file, and every value of Parquet files; the files of the other venues are kept."""
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    secret = "Xyzzy plugh"
    records = [
        replace(record, title=secret, abstract=secret)
        if isinstance(record, Paper) and record.forum_id == "b2gone"
        else record
        for record in of_venue(ICML, b2gone=f"# {secret}")
    ]
    make(corpus, {ICLR: of_venue(ICLR), ICML: records, TMLR: [*of_venue(TMLR), link("d1", TMLR, "b2gone")]})
    publish(corpus, out)
    assert find_in(out, secret, "b2gone")
    (corpus / "takedown.txt").write_text("b2gone\n")
    taken(written)
    publish(corpus, out)
    assert taken(written)[0] == ["b1"]
    assert find_in(out, secret, "b2gone") == []


def find_in(out: Path, *words: str) -> list[str]:
    """Return the files that contain one of these words, in their bytes or in a value."""
    found = []
    for path in sorted(out.rglob("*")):
        if path.is_file():
            held = path.read_bytes()
            if path.suffix == ".parquet":
                held += json.dumps(pq.read_table(path).to_pylist(), default=str).encode()
            found += [path.name] if any(word.encode() in held for word in words) else []
    return found


def test_an_edit_of_one_release_changes_no_other(tmp_path: Path) -> None:
    corpus, first, second = tmp_path / "corpus", tmp_path / "first", tmp_path / "second"
    with invented(corpus, {ICLR: of_venue(ICLR)}) as workspace:
        publish_release(workspace, first, splits=RE2)
        publish_release(workspace, second, splits=RE2, standing=first)
    before = contents(second)
    assert before == contents(first)
    for path in first.rglob("*.parquet"):
        with path.open("r+b") as file:
            file.write(b"edited")
    assert contents(second) == before


def test_a_hard_linked_file_of_the_replaced_release_is_copied(tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    make(corpus, {ICLR: of_venue(ICLR)})
    publish(corpus, out)
    kept = next((out / "data" / "reviews").glob("*.parquet"))
    (tmp_path / "backup").hardlink_to(kept)
    publish(corpus, out)
    assert kept.read_bytes() == (tmp_path / "backup").read_bytes()
    assert {path.stat().st_nlink for path in out.rglob("*.parquet")} == {1}
    assert not kept.samefile(tmp_path / "backup")


def test_the_workspace_forgets_its_notes_on_removed_releases(tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    make(corpus, {ICLR: of_venue(ICLR)})
    publish(corpus, out)
    first = {path.name for path in (corpus / PARTS).iterdir()}
    change(corpus, ICML, of_venue(ICML))
    publish(corpus, out)
    assert len(first) == 1
    assert first.isdisjoint(second := {path.name for path in (corpus / PARTS).iterdir()})
    assert len(second) == 1


def test_tables_changed_while_a_release_is_written_keep_the_previous_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    make(corpus, {ICLR: of_venue(ICLR)})
    publish(corpus, out)
    before = contents(out)
    change(corpus, ICML, of_venue(ICML))

    def build_late(forum: Any, *arguments: Any, **options: Any) -> rows.ForumRows:
        if forum.paper.forum_id == "b1":
            with (
                open_workspace(corpus) as other,
                other.tables.replacing(TABLES_BUILT, ICLR, "invent", "b" * 64) as replacement,
            ):
                for record in of_venue(ICLR, a1="# Another text"):
                    replacement.add(record)
        return rows.build_rows(forum, *arguments, **options)

    monkeypatch.setattr(writing, "build_rows", build_late)
    with (
        open_workspace(corpus, write=False) as workspace,
        pytest.raises(TryLaterError, match="tables changed while the release was written"),
    ):
        publish_release(workspace, out, splits=RE2)
    assert contents(out) == before
    monkeypatch.undo()
    check_as_from_nothing(corpus, out, [])


def test_a_takedown_while_a_release_is_written_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    make(corpus, {ICLR: of_venue(ICLR)})

    def build_late(*arguments: Any, **options: Any) -> rows.ForumRows:
        (corpus / "takedown.txt").write_text("a1\n")
        return rows.build_rows(*arguments, **options)

    monkeypatch.setattr(writing, "build_rows", build_late)
    with pytest.raises(TryLaterError, match=r"'takedown.txt' changed while the release was written"):
        publish(corpus, out)
    assert not out.exists()
