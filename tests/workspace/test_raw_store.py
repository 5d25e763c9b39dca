"""Every version of an object is stored once, whatever its order of arrival; a transaction is whole or absent."""

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peercorpus.workspace.harvest_state import Listing, StoredFile
from peercorpus.workspace.raw_store import UNPLACED, RawKind, RawObject, RawStore

V, W = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"


def raw_object(
    object_id: str,
    forum_id: str,
    body: str = "{}",
    *,
    at: int = 1,
    venue_id: str = V,
    kind: RawKind = RawKind.NOTE,
    subject_id: str | None = None,
) -> RawObject:
    about = object_id if subject_id is None else subject_id
    return RawObject(kind, object_id, 2, venue_id, forum_id, about, at, 7, "a dump", body.encode())


def open_in_memory() -> RawStore:
    return RawStore(Path(":memory:"))


@pytest.fixture
def raw(tmp_path: Path) -> Iterator[RawStore]:
    store = RawStore(tmp_path / "raw.db")
    yield store
    store.close()


def bodies(found: Iterator[RawObject]) -> list[str]:
    return [one.body.decode() for one in found]


def test_every_version_is_stored_once(raw: RawStore) -> None:
    first, second = raw_object("a", "a", '{"v":1}', at=1), raw_object("a", "a", '{"v":2}', at=2)
    assert raw.add([first, second]) == 2
    assert raw.add([second, first, raw_object("a", "a", '{"v":3}', at=3)]) == 1
    assert bodies(raw.versions(RawKind.NOTE, V)) == ['{"v":1}', '{"v":2}', '{"v":3}']
    assert raw.count(RawKind.NOTE, V) == 1


def test_object_is_read_as_stored(raw: RawStore) -> None:
    stored = raw_object("e", "a", '{"text":"näher — 更近 \\u0000"}', kind=RawKind.EDIT, subject_id="r")
    raw.add([stored])
    assert list(raw.versions(RawKind.EDIT, V)) == [stored]
    assert raw.find(RawKind.EDIT, "e") == stored
    assert raw.find(RawKind.NOTE, "e") is None


def test_one_id_names_several_kinds(raw: RawStore) -> None:
    raw.add([raw_object("x", "x", kind=kind) for kind in RawKind])
    assert [raw.count(kind, V) for kind in RawKind] == [1] * len(RawKind)


@pytest.mark.parametrize(
    ("times", "latest"),
    [((1, 2, 3), 2), ((3, 2, 1), 0), ((2, 3, 1), 1), ((5, 5, 5), 2), ((0, 0, -1), 1)],
    ids=["as they were made", "the oldest last", "the newest between", "one time", "no times"],
)
def test_latest_version_is_by_time(raw: RawStore, times: Sequence[int], latest: int) -> None:
    raw.add(raw_object("a", "a", f'"{number}"', at=at) for number, at in enumerate(times))
    assert bodies(raw.latest(RawKind.NOTE, V)) == [f'"{latest}"']
    found = raw.find(RawKind.NOTE, "a")
    assert found is not None
    assert found.body.decode() == f'"{latest}"'


def test_forums_come_in_order(raw: RawStore) -> None:
    raw.add([raw_object("z", "b"), raw_object("b", "b"), raw_object("a", "a")])
    raw.add([raw_object("e", "b", kind=RawKind.EDIT, subject_id="b"), raw_object("d", "c", kind=RawKind.EDIT)])
    found = raw.by_forum((RawKind.NOTE, RawKind.EDIT), V)
    listed = [(forum, [one.object_id for one in objects]) for forum, objects in found]
    assert listed == [("a", ["a"]), ("b", ["b", "z", "e"]), ("c", ["d"])]


SCATTERED = [
    raw_object("root", "root", '"old"', at=1, venue_id=W),
    raw_object("root", "root", '"new"', at=2),
    raw_object("reply", "", '"without a forum"', at=1, venue_id=UNPLACED),
    raw_object("reply", "root", '"with one"', at=2, venue_id=W),
    raw_object("edit", "reply", kind=RawKind.EDIT, subject_id="reply", venue_id=UNPLACED),
    raw_object("reference", "root", kind=RawKind.REFERENCE, subject_id="root", venue_id="V1"),
    raw_object("other", "other", venue_id=W),
    raw_object("stray", "nowhere", venue_id=UNPLACED),
]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.permutations(SCATTERED), st.sets(st.integers(0, len(SCATTERED))))
def test_replies_find_their_forum(arriving: list[RawObject], placed_after: set[int]) -> None:
    raw = open_in_memory()
    for number, one in enumerate(arriving):
        raw.add([one])
        if number in placed_after:
            raw.place()
    raw.place()
    where = {
        (one.object_id, one.body.decode()): (one.venue_id, one.forum_id)
        for venue_id in raw.venues()
        for kind in (RawKind.NOTE, RawKind.EDIT, RawKind.REFERENCE)
        for one in raw.versions(kind, venue_id)
    }
    assert len(where) == len(SCATTERED)
    assert {object_id: place for (object_id, _), place in where.items()} == {
        "root": (V, "root"),
        "reply": (V, "root"),
        "edit": (V, "root"),
        "reference": (V, "root"),
        "other": (W, "other"),
        "stray": (UNPLACED, "nowhere"),
    }
    assert where[("root", '"old"')] == (V, "root")
    assert where[("reply", '"without a forum"')] == (V, "root")
    notes = list(raw.latest(RawKind.NOTE, V))
    assert len(notes) == raw.count(RawKind.NOTE, V) == 2
    digests = [raw.digest(kind, venue_id) for kind in RawKind for venue_id in raw.venues()]
    raw.place()
    assert [raw.digest(kind, venue_id) for kind in RawKind for venue_id in raw.venues()] == digests
    raw.close()


MADE = [raw_object(f"n{number % 3}", "n0", f'"{number}"', at=number) for number in range(7)]


@settings(deadline=None, max_examples=30)
@given(st.permutations(MADE), st.lists(st.sampled_from(MADE)))
def test_digest_ignores_order_of_arrival(arriving: list[RawObject], again: list[RawObject]) -> None:
    raw, ordered = open_in_memory(), open_in_memory()
    ordered.add(MADE)
    raw.add([*arriving, *again])
    assert raw.digest(RawKind.NOTE, V) == ordered.digest(RawKind.NOTE, V)
    raw.close()
    ordered.close()


@pytest.mark.parametrize(
    "more",
    [raw_object("n9", "n0"), raw_object("n0", "n0", '"another body"')],
    ids=["another object", "another version"],
)
def test_digest_covers_its_own_objects(raw: RawStore, more: RawObject) -> None:
    raw.add(MADE)
    before = {(kind, venue): raw.digest(kind, venue) for kind in RawKind for venue in (V, W)}
    raw.add([more])
    changed = {place for place, digest in before.items() if raw.digest(*place) != digest}
    assert changed == {(RawKind.NOTE, V)}


def test_a_transaction_is_atomic(raw: RawStore) -> None:
    raw.add([raw_object("a", "a")])

    def write() -> None:
        raw.add([raw_object("b", "b")])
        raw.state.set_listing(V, "list", Listing("b", 2, 9, complete=False))
        raw.state.enqueue(V, "edits", ["b"])
        raw.state.add_file(StoredFile("e", "/pdf/x.pdf", V, "b", "ab", 2, None))
        raw.add([raw_object("a", "a", '"moved"', venue_id=W)])
        raw.place()

    def fail() -> None:
        write()
        raise RuntimeError("in the middle")

    before = list(raw.versions(RawKind.NOTE, V))
    with pytest.raises(RuntimeError, match="in the middle"), raw.transaction():
        fail()
    assert list(raw.versions(RawKind.NOTE, V)) == before
    assert (raw.state.pending(V, "edits"), raw.state.files(V)) == ([], [])
    assert raw.state.listing(V, "list") == Listing(None, 0, None, complete=False)
    with raw.transaction():
        write()
    assert (raw.state.pending(V, "edits"), len(raw.state.files(V))) == (["b"], 1)
    assert raw.state.listing(V, "list") == Listing("b", 2, 9, complete=False)
    assert raw.venues() == [V, W]


def die_in_a_transaction(path: Path) -> None:
    raw = RawStore(path)
    with raw.transaction():
        raw.add(raw_object(f"n{number}", f"n{number}", f'"{number}"' * 500) for number in range(2000))
        raw.state.set_listing(V, "list", Listing("n1", 2000, None, complete=True))
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_transaction_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "raw.db"
    raw = RawStore(path)
    raw.add([raw_object("a", "a")])
    raw.close()
    process = multiprocessing.get_context("spawn").Process(target=die_in_a_transaction, args=(path,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    raw = RawStore(path)
    assert [one.object_id for one in raw.latest(RawKind.NOTE, V)] == ["a"]
    assert raw.state.listing(V, "list").complete is False
    assert raw.add([raw_object("b", "b")]) == 1
    raw.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_queue_keeps_order_of_arrival(raw: RawStore) -> None:
    raw.state.enqueue(V, "edits", ["c", "a", "b"])
    raw.state.enqueue(V, "files", ["a"])
    raw.state.mark_done("edits", "a", "404 NotFound")
    raw.state.enqueue(V, "edits", ["a", "c", "d"])
    assert raw.state.pending(V, "edits") == ["c", "b", "d"]
    assert raw.state.pending(V, "files") == ["a"]
    assert raw.state.pending(W, "edits") == []


def test_listing_is_kept_by_name(raw: RawStore) -> None:
    state = Listing("a", 3, None, complete=True)
    raw.state.set_listing(V, "one", Listing(None, 1, 5, complete=False))
    raw.state.set_listing(V, "one", state)
    assert raw.state.listing(V, "one") == state
    assert raw.state.listing(V, "two") == raw.state.listing(W, "one") == Listing(None, 0, None, complete=False)


def test_file_of_an_edit_is_recorded(raw: RawStore) -> None:
    failed = StoredFile("e2", "/pdf/b.pdf", V, "f", None, None, "404 NotFound")
    raw.state.add_file(StoredFile("e2", "/pdf/b.pdf", V, "f", "cd", 9, None))
    raw.state.add_file(StoredFile("e1", "/pdf/a.pdf", V, "f", "ab", 5, None))
    digest = raw.state.files_digest(V)
    raw.state.add_file(failed)
    assert raw.state.files(V) == [StoredFile("e1", "/pdf/a.pdf", V, "f", "ab", 5, None), failed]
    assert raw.state.files_digest(V) != digest
    assert raw.state.files(W) == []


def test_store_is_empty_without_objects(raw: RawStore) -> None:
    assert raw.is_empty()
    raw.add([raw_object(f"{V}/-/Official_Review", "", kind=RawKind.INVITATION)])
    assert not raw.is_empty()
    assert raw.venues() == []


ALIKE = '{"id":"r","content":{"review":"' + 5_000 * "a"
"""The first 5,000 bytes, and a few more, of two versions of a long review."""


def version(end: str, at_ms: int) -> RawObject:
    body = f'{ALIKE}{end}"}}}}'.encode()
    return RawObject(RawKind.NOTE, "r", 2, V, "f", "r", at_ms, 7, "a dump", body)


def test_versions_alike_at_first_are_kept(raw: RawStore) -> None:
    first, second = version(" Weak.", 1), version(" Strong.", 2)
    assert raw.add([first, second]) == 2
    assert list(raw.versions(RawKind.NOTE, V)) == [first, second]
    assert raw.find(RawKind.NOTE, "r") == second


def test_digest_covers_ends_of_bodies(raw: RawStore) -> None:
    raw.add([version(" Weak.", 1)])
    with closing(RawStore(Path(":memory:"))) as other:
        other.add([version(" Strong.", 1)])
        assert other.digest("note", V) != raw.digest("note", V)
