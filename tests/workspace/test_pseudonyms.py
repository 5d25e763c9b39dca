"""Pseudonyms: the same for an account throughout a workspace, another in another one, and never the account."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from peercorpus.errors import WorkspaceError
from peercorpus.workspace.raw_store import RawStore

ADA, BO = "~Ada_Example1", "~Bo_Example1"


def opened(path: Path, *, write: bool = True) -> tuple[str, str, str]:
    """Two pseudonyms and the digest."""
    raw = RawStore(path, write=write)
    found = raw.pseudonyms.of(ADA), raw.pseudonyms.of(BO), raw.pseudonyms.digest()
    raw.close()
    return found


def test_an_account_has_one_pseudonym_in_a_database_and_its_copies(tmp_path: Path) -> None:
    first = opened(tmp_path / "raw.db")
    shutil.copy(tmp_path / "raw.db", tmp_path / "copy.db")
    assert (
        opened(tmp_path / "raw.db") == opened(tmp_path / "copy.db") == opened(tmp_path / "raw.db", write=False) == first
    )
    assert first[0] != first[1]
    assert all(len(name) == 10 and set(name) <= set("0123456789abcdef") for name in first[:2])


def test_another_database_has_others_and_says_so_by_its_digest(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "one.db"), opened(tmp_path / "other.db")
    assert not set(one) & set(other)


def test_a_database_from_before_pseudonyms_gives_none_until_it_is_written(tmp_path: Path) -> None:
    opened(tmp_path / "raw.db")
    with closing(sqlite3.connect(tmp_path / "raw.db", isolation_level=None)) as database:
        database.execute("DROP TABLE secrets")
        database.execute("PRAGMA user_version = 0")
    raw = RawStore(tmp_path / "raw.db", write=False)
    before = raw.pseudonyms.digest()
    with pytest.raises(WorkspaceError, match="'peercorpus build'"):
        raw.pseudonyms.of(ADA)
    raw.close()
    assert opened(tmp_path / "raw.db")[2] != before
