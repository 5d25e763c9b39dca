"""Unchanged parts are kept from the previous release, and the bytes equal those of a release from scratch."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest
import zstandard

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
    paper,
    with_figures,
)
from invented_tables import what_follows as follow
from peercorpus.corpus.takedown import SALT
from peercorpus.corpus.text_choice import TextChoice
from peercorpus.errors import TryLaterError
from peercorpus.records.papers import Paper
from peercorpus.release import rows, task_tables, writing
from peercorpus.release.kept_parts import PARTS, Part
from peercorpus.release.request import Profile, ReleaseLayout, SplitRequest
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

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


@pytest.mark.slow(40)
@pytest.mark.parametrize("options", LAYOUTS.values(), ids=LAYOUTS)
def test_an_incremental_release_equals_a_new_one(tmp_path: Path, written: list[str], options: dict[str, Any]) -> None:
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


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.slow(40)
@pytest.mark.parametrize("spoil", [damage, cut_short, Path.unlink])
def test_a_changed_file_is_written_again(tmp_path: Path, written: list[str], spoil: Callable[[Path], None]) -> None:
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


@pytest.mark.slow(40)
@pytest.mark.parametrize("content", [b"", b"\x00", b"\xff" * 30])
def test_notes_on_releases_may_be_lost_or_damaged(tmp_path: Path, written: list[str], content: bytes) -> None:
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


@pytest.mark.slow(40)
def test_no_byte_of_what_was_taken_down(tmp_path: Path, written: list[str]) -> None:
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


@pytest.mark.slow(40)
def test_a_hard_linked_file_is_copied(tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    make(corpus, {ICLR: of_venue(ICLR)})
    publish(corpus, out)
    kept = next((out / "data" / "reviews").glob("*.parquet"))
    (tmp_path / "backup").hardlink_to(kept)
    publish(corpus, out)
    assert kept.read_bytes() == (tmp_path / "backup").read_bytes()
    assert {path.stat().st_nlink for path in out.rglob("*.parquet")} == {1}
    assert not kept.samefile(tmp_path / "backup")


@pytest.mark.slow(40)
def test_tables_changed_meanwhile_keep_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.slow(40)
def test_a_takedown_meanwhile_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    make(corpus, {ICLR: of_venue(ICLR)})

    def build_late(*arguments: Any, **options: Any) -> rows.ForumRows:
        (corpus / "takedown.txt").write_text("a1\n")
        return rows.build_rows(*arguments, **options)

    monkeypatch.setattr(writing, "build_rows", build_late)
    with pytest.raises(TryLaterError, match=r"'takedown.txt' changed while the release was written"):
        publish(corpus, out)
    assert not out.exists()


def published_files(corpus: Path, out: Path) -> dict[str, bytes]:
    """Publish to a folder without splits, and return its files."""
    publish(corpus, out, splits=None)
    return contents(out)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    make(tmp_path / "corpus", {ICLR: a_forum("a1"), TMLR: a_forum("d1", TMLR)})
    return tmp_path / "corpus"


def rewrite(corpus: Path, change: Callable[[Part], None]) -> None:
    """Change the note on each part, and its digest accordingly."""
    (path,) = (corpus / PARTS).iterdir()
    noted: dict[str, bytes] = msgspec.msgpack.decode(path.read_bytes())
    for key, kept in noted.items():
        part = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(kept[32:]))
        change(part)
        packed = zstandard.ZstdCompressor().compress(msgspec.msgpack.encode(part))
        noted[key] = hashlib.sha256(packed).digest() + packed
    path.write_bytes(msgspec.msgpack.encode(noted))


@pytest.mark.slow
@pytest.mark.parametrize("field", ["config", "split"])
def test_a_path_leading_elsewhere_is_not_used(corpus: Path, tmp_path: Path, field: str) -> None:
    before = published_files(corpus, tmp_path / "out")
    for name in ("../../../planted", "/tmp/planted", "a/b", "", ".."):

        def plant(part: Part, name: str = name) -> None:
            for file in part["files"]:  # type: ignore[index]
                file[field] = name

        rewrite(corpus, plant)
        outside = {path for path in tmp_path.rglob("*") if "out" not in path.parts}
        assert published_files(corpus, tmp_path / "out") == before
        assert {path for path in tmp_path.rglob("*") if "out" not in path.parts} == outside


@pytest.mark.slow
def test_a_note_with_changed_counts_is_unused(corpus: Path, tmp_path: Path) -> None:
    before = published_files(corpus, tmp_path / "out")
    (path,) = (corpus / PARTS).iterdir()
    noted: dict[str, bytes] = msgspec.msgpack.decode(path.read_bytes())
    key, kept = next(iter(noted.items()))
    noted[key] = kept[:40] + bytes([kept[40] ^ 1]) + kept[41:]
    path.write_bytes(msgspec.msgpack.encode(noted))
    assert published_files(corpus, tmp_path / "out") == before


@pytest.mark.slow
def test_a_paper_of_two_venues_leaves_both(tmp_path: Path) -> None:
    secret = "zanzibarquagga"
    venues: dict[str, list[object]] = {
        ICLR: [*a_forum("a1"), paper("shared01", title=secret)],
        TMLR: [*a_forum("d1", TMLR), paper("shared01", TMLR, title=secret)],
    }
    corpus = tmp_path / "corpus"
    make(corpus, venues)
    assert any(secret.encode() in content for content in published_files(corpus, tmp_path / "out").values())
    (corpus / "takedown.txt").write_text("shared01\n")
    assert [name for name, held in published_files(corpus, tmp_path / "out").items() if secret.encode() in held] == []
