"""Everything intact is recovered from a damaged `raw.db`, and what is lost is named."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from peercorpus.errors import DamagedError
from peercorpus.workspace.harvest_state import Listing, StoredFile
from peercorpus.workspace.raw_recovery import find_database_faults, recover_database
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore

VENUE = "Aurora.cc/2020/Conference"
PAGE = 16_384


def note(number: int) -> RawObject:
    words = " ".join(str(number * word * word % 99_991) for word in range(number % 7 * 900))
    body = f'{{"id":"r{number}","forum":"f","content":{{"review":"{words}"}}}}'.encode()
    return RawObject(RawKind.NOTE, f"r{number}", 2, VENUE, "f", f"r{number}", number, 7, "https://api", body)


NOTES = [note(number) for number in range(300)]
FILE = StoredFile("e1", "/pdf/1.pdf", VENUE, "f", "ab" * 32, 17, None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(RawStore(tmp_path / "raw.db")) as raw, raw.transaction():
        raw.add(NOTES)
        raw.state.add_file(FILE)
        raw.state.set_listing(VENUE, "all", Listing(after="r9", received=300, expected=300, complete=True))
    return tmp_path / "raw.db"


def zero(path: Path, start: int, length: int) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(bytes(length))


def page_of(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as database:
        (number,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    return int(number) - 1


def zero_header(path: Path) -> None:
    zero(path, 0, 100)


def zero_first_page(path: Path) -> None:
    zero(path, 0, PAGE)


def zero_root_of_objects(path: Path) -> None:
    zero(path, page_of(path, "objects") * PAGE, PAGE)


def zero_some_pages(path: Path) -> None:
    zero(path, 30 * PAGE, 3 * PAGE)


def scramble_some_sectors(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for start in range(25 * PAGE, len(content) - 512, 9 * PAGE):
        content[start : start + 512] = b"\xa5" * 512
    path.write_bytes(bytes(content))


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 77])


DAMAGES = {
    zero_header: 300,
    zero_first_page: 300,
    zero_root_of_objects: 300,
    zero_some_pages: 250,
    scramble_some_sectors: 200,
    cut_in_half: 100,
}


@pytest.mark.fault(
    "disk", "`raw.db`: header, first page, a root page, pages, sectors, the second half", "all that is whole is taken"
    " over into a new one; what is lost is named", times=6, lost="what lay there, until it is harvested again"
)  # fmt: skip
@pytest.mark.parametrize(("damage", "fewest"), DAMAGES.items(), ids=[damage.__name__ for damage in DAMAGES])
def test_intact_rows_are_recovered(path: Path, damage: Callable[[Path], None], fewest: int) -> None:
    with closing(RawStore(path, write=False)) as raw:
        pseudonym = raw.pseudonyms.of("~Ada_Example1")
    damage(path)
    damaged = path.read_bytes()
    assert find_database_faults(path) != []
    recovery = recover_database(path)
    assert recovery.kept.read_bytes() == damaged
    assert find_database_faults(path) == []
    assert recovery.venue_ids == [VENUE]
    with closing(RawStore(path)) as raw:
        held = list(raw.versions(RawKind.NOTE, VENUE))
        assert set(held) <= set(NOTES)
        assert len(held) == recovery.objects >= fewest
        assert raw.state.files(VENUE) == [FILE]
        assert raw.pseudonyms.of("~Ada_Example1") == pseudonym
        assert recovery.has_key
        assert not raw.state.listing(VENUE, "all").complete
        named = {each.object_id for each in raw.damaged.not_back()}
        assert len(named) == recovery.lost
        lost = {each.object_id for each in set(NOTES) - set(held)}
        assert named <= lost
        assert named == lost or damage is cut_in_half  # which loses the index, too
        raw.add(NOTES)
        assert raw.damaged.not_back() == []
    assert {each.name.removesuffix("-wal") for each in path.parent.iterdir()} == {"raw.db", recovery.kept.name}


def test_rows_in_the_write_ahead_log_are_recovered(path: Path) -> None:
    with closing(RawStore(path)) as raw:
        raw.add([note(1_000)])
        copies = {name: path.with_name(name).read_bytes() for name in ("raw.db", "raw.db-wal")}
    for name, content in copies.items():
        path.with_name(name).write_bytes(content)
    zero_header(path)
    recover_database(path)
    with closing(RawStore(path, write=False)) as raw:
        assert raw.find(RawKind.NOTE, "r1000") == note(1_000)


@pytest.mark.parametrize("content", [b"", b"something else\n" * 99, bytes(5 * PAGE)], ids=["empty", "text", "zeros"])
def test_a_completely_unreadable_file_is_left_unchanged(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DamagedError, match="backup"):
        recover_database(path)
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == ["raw.db"]
