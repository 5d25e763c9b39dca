"""A stored body that is no longer what was received is never read as the record, and comes back when fetched again."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from peercorpus.errors import DamagedError
from peercorpus.workspace.harvest_state import Listing
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore

VENUE = "Aurora.cc/2020/Conference"


def note(object_id: str, rating: int = 6) -> RawObject:
    body = f'{{"id":"{object_id}","forum":"f","content":{{"rating":"{rating}: words {object_id}"}}}}'.encode()
    return RawObject(RawKind.NOTE, object_id, 2, VENUE, "f", object_id, 1, 7, "a dump", body)


NOTES = [note("f"), note("r1"), note("r2")]


def packed_body(path: Path, object_id: str) -> bytes:
    with closing(sqlite3.connect(path)) as database:
        ((body,),) = database.execute("SELECT body FROM objects WHERE object_id = ?", (object_id,)).fetchall()
    assert isinstance(body, bytes)
    return body


def overwrite(path: Path, of: str, /, **columns: object) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for name, value in columns.items():
            database.execute(f"UPDATE objects SET {name} = ? WHERE object_id = ?", (value, of))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(RawStore(tmp_path / "raw.db")) as raw, raw.transaction():
        raw.add(NOTES)
        raw.state.set_listing(VENUE, "all", Listing(after="r2", received=3, expected=3, complete=True))
        raw.state.enqueue(VENUE, "versions", ["r1 1", "r2 1"])
        raw.state.mark_done("versions", "r1 1")
        raw.state.mark_done("versions", "r2 1")
    return tmp_path / "raw.db"


@pytest.mark.slow
@pytest.mark.fault("disk", "one flipped bit, at each place of a stored body", "never read as the record")
def test_no_flipped_bit_is_read(path: Path) -> None:
    whole = packed_body(path, "r1")
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        overwrite(path, "r1", body=bytes(flipped))
        with closing(RawStore(path, write=False)) as raw:
            body = read_body(raw)
        # Some bits mean nothing to the decompressor: the body is still what was received.
        assert body in {None, NOTES[1].body}


def read_body(raw: RawStore) -> bytes | None:
    """Return the body of `r1`; None if it is refused in a sentence that names it and the remedy."""
    try:
        found = raw.find(RawKind.NOTE, "r1")
    except DamagedError as error:
        what, todo = "note 'r1' of 'Aurora.cc/2020/Conference'", "peercorpus check --repair"
        return None if what in str(error) and todo in str(error) else str(error).encode()
    return found.body if found else None


@pytest.mark.parametrize("body", [b"", b"\x00" * 9, b"(\xb5/\xfd"], ids=["empty", "zeros", "cut"])
def test_a_truncated_body_is_reported(path: Path, body: bytes) -> None:
    overwrite(path, "r1", body=body)
    with closing(RawStore(path, write=False)) as raw:
        with pytest.raises(DamagedError, match="'r1'"):
            raw.find(RawKind.NOTE, "r1")
        with pytest.raises(DamagedError, match="'r1'"):
            list(raw.of_forums(["f"]))
        assert raw.find(RawKind.NOTE, "r2") == NOTES[2]


def test_intact_data_has_no_damage(path: Path) -> None:
    with closing(RawStore(path, write=False)) as raw:
        assert raw.damaged.database_faults() == []
        assert list(raw.damaged.check_each()) == [None] * raw.damaged.count()
        assert raw.damaged.not_back() == []


@pytest.mark.fault("disk", "another time or id of a note in `raw.db` than its body states", "`check` names it", times=2)
@pytest.mark.parametrize("column", [{"modified_ms": 3}, {"object_id": "r9"}])
def test_row_contradicting_its_body_is_found(path: Path, column: dict[str, object]) -> None:
    stated = RawObject(RawKind.NOTE, "r7", 2, VENUE, "f", "r7", 5, 7, "a dump", b'{"id":"r7","tmdate":5}')
    with closing(RawStore(path)) as raw:
        raw.add([stated])
        assert not any(raw.damaged.check_each())
    overwrite(path, "r7", **column)
    with closing(RawStore(path, write=False)) as raw:
        assert len([each for each in raw.damaged.check_each() if each is not None]) == 1


def test_objects_aside_come_back(path: Path) -> None:
    whole = packed_body(path, "r1")
    overwrite(path, "r1", body=whole[:-3])
    overwrite(path, "r2", object_id="r3")
    with closing(RawStore(path)) as raw:
        damaged = [each for each in raw.damaged.check_each() if each is not None]
        assert [each.object_id for each in damaged] == ["r1", "r3"]
        with raw.transaction():
            raw.damaged.set_aside(damaged)
        assert [one.object_id for one in raw.versions(RawKind.NOTE, VENUE)] == ["f"]
        assert raw.state.listing(VENUE, "all").received == 0
        assert raw.state.done(VENUE, "versions") == set()
        assert [each.object_id for each in raw.damaged.not_back()] == ["r1", "r3"]
        raw.add([note("r1", rating=9), NOTES[2]])
        assert [each.object_id for each in raw.damaged.not_back()] == ["r1"]
        raw.add([NOTES[1]])
        assert raw.damaged.not_back() == []
