"""The index keeps the parts of unchanged venues, and equals one made from scratch."""

import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import tantivy

from explored import GONE, LIVELY, QUIET, hostile, known
from invented_points import split
from invented_tables import ICLR, ICML, TABLES_BUILT, TMLR, a_forum, fill, invented, link, paper, post, text, version
from peercorpus.corpus.public_forums import public_forums
from peercorpus.corpus.takedown import NOTHING, read_takedown
from peercorpus.errors import TryLaterError
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer import index_parts, search_index
from peercorpus.explorer.index_documents import TEXTS
from peercorpus.explorer.index_parts import VenueInputs, divide
from peercorpus.explorer.point_documents import TEXT, read_point_row
from peercorpus.explorer.search_index import OpenIndex, find_paper, find_row, open_index
from peercorpus.records.enums import Grade, PostKind
from peercorpus.records.reviews import Review
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.workspace import Workspace

keys = (f"{number:015x}{0:049x}" for number in count(1))
NAMES = (*TEXTS, "row")
SEARCHES = ("words", "invent", "Words of answer", '"words of"', "venue_id:tmlr", "kite OR answer", "zebra")


def put(workspace: Workspace, venue_id: str, records: list[object]) -> None:
    with workspace.tables.replacing(TABLES_BUILT, venue_id, "invent", next(keys)) as replacement:
        for record in records:
            replacement.add(record)


def opened(workspace: Workspace, spread: LocalExecutor | None = None) -> OpenIndex:
    return open_index(workspace, read_takedown(workspace), show_nothing, spread)


def described(index: OpenIndex) -> dict[str, Any]:
    """Return all content and results of an index, in order."""
    found: dict[str, Any] = {"venues": index.venues}
    for words in ("*", *SEARCHES):
        query = index.index.parse_query(words, list(TEXTS))
        hits = index.searcher.search(query, 1_000, count=False).hits
        documents = [(score, index.searcher.doc(address)) for score, address in hits]
        found[words] = [(score, [document.get_all(name) for name in NAMES]) for score, document in documents]
    every_point = index.points.searcher.search(index.points.index.parse_query("*"), 1_000).hits
    points = [index.points.searcher.doc(address) for _, address in every_point]
    found["points"] = [[document.get_all(name) for name in (TEXT, "row")] for document in points]
    found["of papers"] = [find_paper(index, row) for row in sorted(forums_of(index))]
    newest = index.searcher.search(index.index.parse_query("*"), 1_000, order_by_field="created").hits
    found["newest"] = [index.searcher.doc(address).get_first("row") for _, address in newest]
    return found


def forums_of(index: OpenIndex) -> set[str]:
    """Return the papers that have points."""
    every_point = index.points.searcher.search(index.points.index.parse_query("*"), 1_000).hits
    return {read_point_row(index.points.searcher.doc(address)).forum_id for _, address in every_point}


def described_anew(workspace: Workspace) -> dict[str, Any]:
    """Return the content of an index made from scratch, without replacing the existing one."""
    explorer, aside = workspace.folder / "explorer", workspace.folder / "aside"
    explorer.rename(aside)
    try:
        return described(opened(workspace))
    finally:
        # tantivy watches the folder of an open index, and may put a lock back while it is removed.
        removed = explorer.rename(workspace.folder / "removed")
        shutil.rmtree(removed, ignore_errors=True)
        shutil.rmtree(removed, ignore_errors=True)
        aside.rename(explorer)


def files(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in (folder / "explorer").glob("index-*/*.store")}


def holds(folder: Path, words: bytes) -> bool:
    return any(words in path.read_bytes() for path in (folder / "explorer").rglob("*") if path.is_file())


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a part per venue and a segment per paper."""
    monkeypatch.setattr(index_parts, "PART_PAPERS", 1)
    monkeypatch.setattr(index_parts, "_SEGMENT_CHARACTERS", 1)


class Corpus:
    """A corpus that changes at random: venues are added, removed or changed, papers and posts taken down or back."""

    def __init__(self, workspace: Workspace, chance: random.Random) -> None:
        self.workspace = workspace
        self.chance = chance
        self.listed: set[str] = set()

    def pick_venue(self) -> str:
        return f"V{self.chance.randrange(6)}.cc/2020/Conference"

    def pick_forum(self) -> str:
        return f"V{self.chance.randrange(6)}.p{self.chance.randrange(4)}"

    def replace_venue(self) -> None:
        venue_id = self.pick_venue()
        numbers = range(self.chance.randrange(1, 4))
        records = [record for n in numbers for record in a_forum(f"{venue_id[:2]}.p{n}", venue_id)]
        if self.chance.random() < 0.7:
            reviews = [record for record in records if isinstance(record, Review)]
            records += [point for of_paper in reviews for point in split(of_paper)]
        # A file of another venue's paper, and a link to one.
        shared = self.pick_forum()
        records.append(version(f"{venue_id[:2]}.p{numbers[-1]}", f"sha-{shared}", Grade.UNREVISED, venue_id))
        records.append(link(f"{venue_id[:2]}.p0", venue_id, shared, f"{shared[:2]}.cc/2020/Conference"))
        records.append(post(f"{venue_id[:2]}.p{numbers[-1]}-{self.chance.random()}", f"{venue_id[:2]}.p{numbers[-1]}"))
        put(self.workspace, venue_id, records)

    def remove_venue(self) -> None:
        put(self.workspace, self.pick_venue(), [])

    def list_paper(self) -> None:
        self.listed ^= {self.pick_forum()}

    def list_post(self) -> None:
        self.listed ^= {f"{self.pick_forum()}-answer"}

    def change(self) -> None:
        moves: list[Callable[[], None]] = [self.replace_venue, self.replace_venue, self.list_paper, self.list_post]
        self.chance.choice([*moves, self.remove_venue])()
        (self.workspace.folder / "takedown.txt").write_text("".join(f"{listed}\n" for listed in sorted(self.listed)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.usefixtures("small_parts")
def test_an_updated_index_equals_a_new_one(tmp_path: Path, seed: int) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum("always")}) as workspace:
        corpus = Corpus(workspace, random.Random(seed))
        for _ in range(8):
            corpus.change()
            assert described(opened(workspace)) == described_anew(workspace)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_only_changed_venues_are_indexed(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        opened(workspace)
        before = files(workspace.folder)
        put(workspace, TMLR, [paper("New00001", TMLR)])
        assert find_row(opened(workspace), "New00001") is not None
        after = files(workspace.folder)
    assert len(before) == len(after) == 4
    assert len(before.items() & after.items()) == 3


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_later_points_change_one_part(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        assert opened(workspace).points.searcher.num_docs == 0
        before, keys_before = files(workspace.folder), {each.venue_id: each.key for each in read_all(workspace)}
        of_quiet = next(record for record in known()[ICML] if isinstance(record, Review))
        with workspace.tables.replacing(("9-points",), ICML, "find_points", next(keys)) as replacement:
            for point in split(of_quiet):
                replacement.add(point)
        index = opened(workspace)
        assert (index.points.searcher.num_docs, forums_of(index)) == (1, {QUIET})
        after, keys_after = files(workspace.folder), {each.venue_id: each.key for each in read_all(workspace)}
        assert described(index) == described_anew(workspace)
    assert len(before.items() & after.items()) == 3
    assert {venue_id for venue_id in keys_before if keys_before[venue_id] != keys_after[venue_id]} == {ICML}


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_a_takedown_leaves_no_byte(tmp_path: Path) -> None:
    secret = b"zanzibarquagga"
    venues = known()
    venues[ICLR] = [*venues[ICLR], paper("Zz00001", title=secret.decode())]
    with invented(tmp_path / "corpus", venues) as workspace:
        opened(workspace)
        before = files(workspace.folder)
        assert holds(workspace.folder, secret)
        assert holds(workspace.folder, b"Gone0004")
        (workspace.folder / "takedown.txt").write_text(f"Zz00001\n{GONE}\n")
        index = opened(workspace)
        assert find_row(index, LIVELY) is not None
        assert not holds(workspace.folder, secret)
        assert not holds(workspace.folder, b"Gone0004")
        after = files(workspace.folder)
        assert len(before.items() & after.items()) == 2
        put(workspace, ICLR, [])
        opened(workspace)
        assert not holds(workspace.folder, b"Kites in strong wind")


def test_other_takedowns_change_no_part(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        keys_before = {each.venue_id: each.key for each in read_all(workspace)}
        (workspace.folder / "takedown.txt").write_text(f"{LIVELY}-answer\n")
        keys_after = {each.venue_id: each.key for each in read_all(workspace)}
    assert {venue_id for venue_id in keys_before if keys_before[venue_id] != keys_after[venue_id]} == {ICLR}


def read_all(workspace: Workspace) -> Iterator[VenueInputs]:
    return index_parts.read_inputs(workspace.tables, read_takedown(workspace))


@pytest.mark.slow
def test_texts_of_other_venues_change_parts(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        fill(workspace, TMLR, [paper("T1", TMLR), version("T1", "sha-far", Grade.EXACT, TMLR)])
        before = {each.venue_id: each.key for each in read_all(workspace)}
        put(workspace, "Far.cc/2020/Conference", [text("sha-far", "# Far", "Far.cc/2020/Conference")])
        between = {each.venue_id: each.key for each in read_all(workspace)}
        put(workspace, "Far.cc/2020/Conference", [link("F1", "Far.cc/2020/Conference", "T1", TMLR)])
        after = {each.venue_id: each.key for each in read_all(workspace)}
    assert between[TMLR] not in {before[TMLR], after[TMLR]}
    assert after[TMLR] != before[TMLR]
    assert before[ICML] == between[ICML] == after[ICML]


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_several_processes_build_the_same_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "_FEW_PAPERS", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with invented(tmp_path / "corpus", known()) as workspace:
        by_several = described(opened(workspace, LocalExecutor()))
        assert by_several == described_anew(workspace)


@pytest.mark.slow
def test_tables_changed_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        make = index_parts.make_part

        def make_late(job: index_parts.PartJob, tables: Tables | None = None) -> index_parts.Part:
            put(workspace, TMLR, [post("late", "late", TMLR, kind=PostKind.COMMENT)])
            return make(job, tables)

        monkeypatch.setattr(search_index, "make_part", make_late)
        with pytest.raises(TryLaterError):
            opened(workspace)
        monkeypatch.undo()
        assert described(opened(workspace)) == described_anew(workspace)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_faulty_indexes_are_rebuilt(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        opened(workspace)
        (folder,) = (workspace.folder / "explorer").iterdir()
        next(folder.glob("*.store")).unlink()
        folder.rename(folder.with_name("index-damaged"))
        other = workspace.folder / "explorer" / "index-other"
        other.mkdir()
        (other / "parts.json").write_text('[{"key": 3}]')
        assert described(opened(workspace)) == described_anew(workspace)
        assert len(list((workspace.folder / "explorer").iterdir())) == 1


@pytest.mark.slow
def test_older_indexes_are_removed(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        opened(workspace)
        left = workspace.folder / "explorer" / "index-left"
        left.mkdir()
        os.utime(left, (1, 1))
        opened(workspace)
        assert not left.exists()


def invented_inputs(sizes: list[int]) -> list[VenueInputs]:
    return [VenueInputs(f"V{n:04}", size, {}, (), frozenset(), NOTHING) for n, size in enumerate(sizes)]


def test_small_venues_share_parts() -> None:
    venues = invented_inputs([1] * 2_000)
    parts = [tuple(each.venue_id for each in part) for part in divide(venues)]
    assert 40 <= len(parts) <= 90
    assert [venue_id for part in parts for venue_id in part] == [each.venue_id for each in venues]
    for left_out in (0, 700, 1_999):
        fewer = [tuple(each.venue_id for each in part) for part in divide(venues[:left_out] + venues[left_out + 1 :])]
        assert len(set(fewer) - set(parts)) <= 2


def test_large_venues_have_their_own_parts() -> None:
    sizes = [5_000, 1, 1, 999, 1_000, 2]
    parts = [[each.papers for each in part] for part in divide(invented_inputs(sizes))]
    assert [size for part in parts for size in part] == sizes
    assert all(len(part) == 1 or sum(part) <= 1_000 for part in parts)


@pytest.mark.slow
@pytest.mark.parametrize("make", [known, hostile])
def test_index_and_tables_hold_the_same(tmp_path: Path, make: Callable[[], dict[str, list[object]]]) -> None:
    with invented(tmp_path / "corpus", make()) as workspace:
        index = opened(workspace)
        shown = [
            forum
            for venue_id in workspace.tables.venues("1-papers")
            for forum in public_forums(workspace.tables, NOTHING, venue_id)
        ]
        assert shown
        found = [find_paper(index, forum.paper.forum_id) for forum in shown]
        unread: dict[str, Any] = dict.fromkeys(("links", "points", "changes", "set_aside"), ())
        assert [replace(each[1], **unread) for each in found if each] == [replace(forum, **unread) for forum in shown]


def test_a_read_only_index_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with invented(tmp_path / "corpus", known()) as workspace:
        whole = described(opened(workspace))
        open_files, refused = search_index._open_files, []

        def open_writable(folder: Path) -> tantivy.Index:
            if folder.is_relative_to(workspace.folder):
                refused.append(folder.name)
                raise ValueError("Failed to acquire Lockfile: IoError(Os { code: 13, kind: PermissionDenied })")
            return open_files(folder)

        monkeypatch.setattr(search_index, "_open_files", open_writable)
        assert described(opened(workspace)) == whole
        assert len(refused) == 2
