"""Pseudonyms: the same for an account throughout a workspace, different in another, and never the account."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from peercorpus.errors import DamagedError, WorkspaceError
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore

ADA, BO = "~Ada_Example1", "~Bo_Example1"


def opened(path: Path, *, write: bool = True) -> tuple[str, str, str]:
    """Two pseudonyms and the digest."""
    with closing(RawStore(path, write=write)) as raw:
        return raw.pseudonyms.of(ADA), raw.pseudonyms.of(BO), raw.pseudonyms.digest()


def test_one_account_has_one_pseudonym(tmp_path: Path) -> None:
    first = opened(tmp_path / "raw.db")
    shutil.copy(tmp_path / "raw.db", tmp_path / "copy.db")
    assert (
        opened(tmp_path / "raw.db") == opened(tmp_path / "copy.db") == opened(tmp_path / "raw.db", write=False) == first
    )
    assert first[0] != first[1]
    assert all(len(name) == 10 and set(name) <= set("0123456789abcdef") for name in first[:2])


def test_other_database_has_other_pseudonyms(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "one.db"), opened(tmp_path / "other.db")
    assert not set(one) & set(other)


def test_first_version_gets_its_key_when_written(tmp_path: Path) -> None:
    opened(tmp_path / "raw.db")
    with closing(sqlite3.connect(tmp_path / "raw.db", isolation_level=None)) as database:
        database.execute("DELETE FROM secrets")
        database.execute("DROP TABLE secret_copies")
        database.execute("PRAGMA user_version = 1")
    raw = RawStore(tmp_path / "raw.db", write=False)
    before = raw.pseudonyms.digest()
    with pytest.raises(WorkspaceError, match="'peercorpus build'"):
        raw.pseudonyms.of(ADA)
    raw.close()
    assert opened(tmp_path / "raw.db")[2] != before


def overwrite(path: Path, table: str, value: object) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"DELETE FROM {table}")
        if value is not None:
            database.execute(f"INSERT INTO {table} (name, value) VALUES ('pseudonyms', ?)", (value,))


DAMAGES = [None, "text", 7, b"", b"k" * 32, b"k" * 64]


@pytest.mark.fault("disk", "one of the two copies of the key of the pseudonyms", "`check` names it", times=12)
@pytest.mark.parametrize("table", ["secrets", "secret_copies"])
@pytest.mark.parametrize("value", DAMAGES)
def test_one_copy_of_the_key_suffices(tmp_path: Path, table: str, value: object) -> None:
    path = tmp_path / "raw.db"
    before = opened(path)
    overwrite(path, table, value)
    assert opened(path, write=False) == before
    is_a_copy_made_again = (table, value) == ("secret_copies", None)
    with closing(RawStore(path)) as raw:
        assert (raw.pseudonyms.find_fault() is None) == is_a_copy_made_again
        assert raw.pseudonyms.repair()
        assert raw.pseudonyms.find_fault() is None
    assert opened(path) == before


@pytest.mark.fault(
    "disk", "both copies of the key", "no pseudonym is made; `check` says that it is lost", lost="the key"
)
def test_lost_key_is_never_replaced_silently(tmp_path: Path) -> None:
    path = tmp_path / "raw.db"
    before = opened(path)
    with closing(RawStore(path)) as raw:
        raw.add([RawObject(RawKind.NOTE, "a", 2, "V", "a", "a", 1, 7, "a dump", b"{}")])
    for key, copy in [(None, None), (b"k" * 32, b"c" * 64)]:
        overwrite(path, "secrets", key)
        overwrite(path, "secret_copies", copy)
        for write in (True, False):
            with pytest.raises(DamagedError, match="check --repair"):
                opened(path, write=write)
        with closing(RawStore(path, write=False)) as raw:
            assert raw.pseudonyms.find_fault() == "it is lost"
    with closing(RawStore(path)) as raw:
        assert not raw.pseudonyms.repair()
    assert not {*opened(path)} & {*before}
