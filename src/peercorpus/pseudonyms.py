"""Names for people who sign by account: the same throughout a workspace, and told from nothing outside it.

The key lies in `raw.db`, beside the accounts themselves: whoever has them can be told nothing by it, and the tables can
be made again of that file alone.
"""

import hashlib
import hmac
import secrets
import sqlite3

from peercorpus.errors import WorkspaceError

KEY_BYTES = 32
DIGITS = 10
"""Hexadecimal: of a million people, two share a pseudonym with a chance of one in three."""


class Pseudonyms:
    """The pseudonyms of one database."""

    def __init__(self, database: sqlite3.Connection, *, write: bool) -> None:
        self._db = database
        if write and self._key() is None:
            new = ("pseudonyms", secrets.token_bytes(KEY_BYTES))
            self._db.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?)", new)

    def _key(self) -> bytes | None:
        """None where the database was last written before there were pseudonyms."""
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'secrets'").fetchone():
            return None
        row: tuple[bytes] | None = self._db.execute("SELECT value FROM secrets WHERE name = 'pseudonyms'").fetchone()
        return row[0] if row else None

    def of(self, account: str) -> str:
        """Ten hexadecimal digits for an account.

        Raises:
            WorkspaceError: The database has no key yet; without one, whoever knows an account could tell its pseudonym.
        """
        key = self._key()
        if key is None:
            raise WorkspaceError("raw.db has no key for pseudonyms yet; run 'peercorpus build', which makes one.")
        return hmac.new(key, account.encode(), hashlib.sha256).hexdigest()[:DIGITS]

    def digest(self) -> str:
        """What changes with the key and does not tell it."""
        return hashlib.sha256(b"pseudonyms" + (self._key() or b"")).hexdigest()
