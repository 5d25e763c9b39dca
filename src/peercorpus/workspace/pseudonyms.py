"""Make pseudonyms of accounts with a key that `raw.db` stores twice, since a new key would change all of them."""

import hashlib
import hmac
import secrets
import sqlite3
from dataclasses import dataclass

from peercorpus.errors import DamagedError, WorkspaceError

KEY_BYTES = 32
DIGITS = 10
"""Hexadecimal digits of a pseudonym: among a million people, any two share one with a probability of one in three."""

KEY = "pseudonyms"
"""Name of the key in the tables `secrets` and `secret_copies`. In databases with copies, its SHA-256 follows it."""


@dataclass(frozen=True, slots=True)
class StoredKey:
    """The values stored in a database under the name of the key.

    Attributes:
        first: Value in the table `secrets`; None if there is none.
        copy: Value in the table `secret_copies`; None if there is none, as in old databases.
    """

    first: object
    copy: object

    def find_whole(self) -> bytes | None:
        """Return the key if either value is intact; a key from an old database without copies is accepted unchecked."""
        for value in (self.first, self.copy):
            if isinstance(value, bytes) and value == _with_digest(value[:KEY_BYTES]):
                return value[:KEY_BYTES]
        first = self.first if self.copy is None else None
        return first if isinstance(first, bytes) and len(first) == KEY_BYTES else None


def store_key(database: sqlite3.Connection, key: bytes) -> None:
    """Store the key twice, replacing any stored values."""
    for table in ("secrets", "secret_copies"):
        database.execute(f"DELETE FROM {table}")
        database.execute(f"INSERT INTO {table} (name, value) VALUES (?, ?)", (KEY, _with_digest(key)))


def _with_digest(key: bytes) -> bytes:
    return key + hashlib.sha256(key).digest()


class Pseudonyms:
    """Pseudonyms of accounts, made with the key in one database."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database

    def ensure_key(self, *, is_first: bool) -> None:
        """Store a missing copy of the key; make the key if this is the first opportunity.

        A database that has lost its key is damaged: a new key would change every pseudonym.
        """
        stored = self._read()
        key = stored.find_whole()
        if stored.copy is None and key is not None:
            store_key(self._db, key)
        elif is_first and stored == StoredKey(None, None):
            store_key(self._db, secrets.token_bytes(KEY_BYTES))

    def _read(self) -> StoredKey:
        return StoredKey(self._read_value("secrets"), self._read_value("secret_copies"))

    def _read_value(self, table: str) -> object:
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            return None
        # If the type was changed, SQLite would decode the bytes as text.
        row = self._db.execute(f"SELECT CAST(value AS BLOB) FROM {table} WHERE name = ?", (KEY,)).fetchone()
        return row[0] if row else None

    def _key(self) -> bytes | None:
        """Return the key; None if the database was last written by a version without pseudonyms."""
        stored = self._read()
        key = stored.find_whole()
        if key is None and self._is_lost(stored):
            raise DamagedError(
                "The key of the pseudonyms in raw.db is damaged; restore a backup of raw.db, or run 'peercorpus check"
                " --repair' on the workspace, which makes a new key, so that reviewers get new pseudonyms."
            )
        return key

    def of(self, account: str) -> str:
        """Return the pseudonym of an account, ten hexadecimal digits.

        Raises:
            WorkspaceError: The database has no key yet; without one, pseudonyms could be computed from account names.
            DamagedError: The key is damaged.
        """
        key = self._key()
        if key is None:
            raise WorkspaceError("raw.db has no key for pseudonyms yet; run 'peercorpus build', which makes one.")
        return hmac.new(key, account.encode(), hashlib.sha256).hexdigest()[:DIGITS]

    def digest(self) -> str:
        """Return a digest that changes with the key and does not reveal it.

        Raises:
            DamagedError: The key is damaged.
        """
        return hashlib.sha256(b"pseudonyms" + (self._key() or b"")).hexdigest()

    def _is_lost(self, stored: StoredKey) -> bool:
        """Return whether a key without an intact copy existed: every filled database with copies had one."""
        if stored != StoredKey(None, None):
            return True
        has_copies = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'secret_copies'").fetchone()
        return has_copies is not None and self._db.execute("SELECT 1 FROM objects LIMIT 1").fetchone() is not None

    def find_fault(self) -> str | None:
        """Return what is wrong with the key; None if nothing."""
        stored = self._read()
        key = stored.find_whole()
        if key is None:
            return "it is lost" if self._is_lost(stored) else None
        is_sound = stored.copy is None or stored.first == stored.copy
        return None if is_sound else "one of its two copies was changed"

    def repair(self) -> bool:
        """Store the key twice again; return False if it was lost, so that a new one was made."""
        key = self._read().find_whole()
        store_key(self._db, key or secrets.token_bytes(KEY_BYTES))
        return key is not None
