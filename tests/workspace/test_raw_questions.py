"""Querying many venues together gives the same results as querying each alone, with one query each."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from peercorpus.workspace import raw_questions
from peercorpus.workspace.harvest_state import UNKNOWN_MS, Listing, StoredFile
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore

VENUES = [f"V{number:02}'.cc/2024" for number in range(12)]


def make_object(kind: RawKind, object_id: str, venue_id: str, forum_id: str) -> RawObject:
    return RawObject(kind, object_id, 2, venue_id, forum_id, object_id, 5, 5, "test", object_id.encode())


@pytest.fixture
def raw(tmp_path: Path) -> Iterator[RawStore]:
    """Venues with notes and files of their own, of which some are gone; the fourth is larger than a group."""
    store = RawStore(tmp_path / "raw.db")
    for number, venue_id in enumerate(VENUES):
        for paper in range(40 if number == 3 else 1 + number % 3):
            forum_id = f"{number}-{paper}"
            objects = [make_object(RawKind.NOTE, forum_id, venue_id, forum_id)]
            objects += [make_object(RawKind.NOTE, f"{forum_id}-{n}", venue_id, forum_id) for n in range(3)]
            objects += [make_object(RawKind.PUBLISHED, f"{name}:{forum_id}", venue_id, forum_id) for name in "ab"]
            store.add(objects)
            store.state.sight([forum_id, f"{forum_id}-0"], 10 + paper)
            store.state.sight([f"{forum_id}-1"], UNKNOWN_MS)
            file = StoredFile(f"e{forum_id}", f"/pdf/{forum_id}.pdf", venue_id, forum_id, None, None, "gone")
            store.state.add_file(file)
        store.state.set_listing(venue_id, "x", Listing(None, 1, 1, complete=number % 2 == 0, started_ms=11))
    yield store
    store.close()


def ask_all(raw: RawStore) -> list[object]:
    return [
        (
            [raw.count(kind, venue_id, prefix) for kind in RawKind for prefix in ("", "a:", "ab")],
            [raw.digest(kind, venue_id) for kind in RawKind],
            raw.roots(venue_id),
            raw.state.gone(venue_id),
            raw.state.unconfirmed(venue_id),
            raw.state.is_listed(venue_id),
            raw.state.files(venue_id),
            raw.state.files_digest(venue_id),
        )
        for venue_id in [*VENUES, "nowhere"]
    ]


def test_batched_queries_equal_single_ones(raw: RawStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_questions, "GROUP_OBJECTS", 60)
    alone = ask_all(raw)
    with raw.questions.reading_through(VENUES):
        assert ask_all(raw) == alone
    assert raw.count(RawKind.NOTE, VENUES[3]) == 160
    raw.add([make_object(RawKind.NOTE, "new", VENUES[0], "new")])
    assert ask_all(raw) != alone


def test_queries_do_not_grow_with_venues(raw: RawStore) -> None:
    asked = Counter[str]()
    raw._db.set_trace_callback(lambda sql: asked.update([sql.partition("FROM asked")[0]]))
    found = []
    for venue_ids in (VENUES[:6], VENUES):
        asked.clear()
        with raw.questions.reading_through(venue_ids):
            for venue_id in venue_ids:
                raw.count(RawKind.PUBLISHED, venue_id, "a:")
                raw.digest(RawKind.NOTE, venue_id)
                raw.state.files(venue_id)
        found.append(sum(asked.values()))
    assert found[0] == found[1]
