"""What a paid endpoint answered, and how much of a run's budget is spent; one file that many processes share."""

import hashlib
import sqlite3
from pathlib import Path

from peercorpus.errors import EngineError

WAIT_S = 60.0
"""How long a process waits for another one that is writing."""

TABLES = """
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, text TEXT NOT NULL, tokens INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (run TEXT PRIMARY KEY, pages INTEGER NOT NULL, tokens INTEGER NOT NULL) WITHOUT ROWID;
"""


def key_of(page: bytes, model: str, prompt: str) -> str:
    """What an answer is kept under: the page's image, the model, and the prompt."""
    parts = (page, model.encode(), prompt.encode())
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


class Answers:
    """The answers, and the pages and tokens of one run."""

    def __init__(self, path: Path | None, run: str, most_pages: int, most_tokens: int | None) -> None:
        """Open the file, or make it.

        Args:
            path: The file; None keeps everything in memory.
            run: Which run it is.
            most_pages: Pages that the run may ask for.
            most_tokens: Tokens that it may use; None means no limit.
        """
        self._run, self._most_pages, self._most_tokens = run, most_pages, most_tokens
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path or ":memory:", timeout=WAIT_S, isolation_level=None)
        if path is not None:
            self._db.execute("PRAGMA journal_mode = WAL")
        self._db.executescript(TABLES)
        self._db.execute("INSERT OR IGNORE INTO spent VALUES (?, 0, 0)", (run,))

    def find(self, key: str) -> str | None:
        """The answer kept under a key; None where there is none."""
        row = self._db.execute("SELECT text FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def reserve(self) -> None:
        """Take one page from the budget, before it is asked for.

        Raises:
            EngineError: The budget is used up.
        """
        sql = "UPDATE spent SET pages = pages + 1 WHERE run = ? AND pages < ? AND (? IS NULL OR tokens < ?)"
        values = (self._run, self._most_pages, self._most_tokens, self._most_tokens)
        if self._db.execute(sql, values).rowcount == 0:
            pages, tokens = self.spent()
            raise EngineError(
                f"The budget for the vision endpoint is used up after {pages} pages and {tokens} tokens; the answers "
                "are kept: run the same command again with a larger budget."
            )

    def keep(self, key: str, text: str, tokens: int) -> None:
        """Keep an answer, and count its tokens."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, text, tokens))
        self._db.execute("UPDATE spent SET tokens = tokens + ? WHERE run = ?", (tokens, self._run))
        self._db.execute("COMMIT")

    def spent(self) -> tuple[int, int]:
        """Pages and tokens of the run so far."""
        pages, tokens = self._db.execute("SELECT pages, tokens FROM spent WHERE run = ?", (self._run,)).fetchone()
        return int(pages), int(tokens)

    def close(self) -> None:
        """Close the file."""
        self._db.close()
