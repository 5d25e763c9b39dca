"""What a paid endpoint answered, and how much of a run's budget is spent; one file that many processes share."""

import hashlib
import sqlite3
from pathlib import Path

from peercorpus.errors import ModelError

WAIT_S = 60.0
"""How long a process waits for another one that is writing."""

TABLES = """
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, text TEXT NOT NULL, tokens INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spending
    (run TEXT PRIMARY KEY, questions INTEGER NOT NULL, tokens INTEGER NOT NULL) WITHOUT ROWID;
"""


def key_of(model: str, prompt: str, image: bytes = b"") -> str:
    """What an answer is kept under: the model, the prompt, and the image it is about."""
    parts = (image, model.encode(), prompt.encode())
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


class Answers:
    """The answers, and what one run has spent."""

    def __init__(self, path: Path | None, run: str, most_questions: int, most_tokens: int | None) -> None:
        """Open the file, or make it.

        Args:
            path: The file; None keeps everything in memory.
            run: Which run it is.
            most_questions: Questions that the run may ask.
            most_tokens: Tokens that it may use; None means no limit.

        Raises:
            ModelError: The file is damaged.
        """
        self._run, self._most_questions, self._most_tokens = run, most_questions, most_tokens
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path or ":memory:", timeout=WAIT_S, isolation_level=None)
        try:
            if path is not None:
                self._db.execute("PRAGMA journal_mode = WAL")
            self._db.executescript(TABLES)
        except sqlite3.DatabaseError as error:
            raise ModelError(f"The answers kept in '{path}' cannot be read ({error}); move the file away.") from None
        self._db.execute("INSERT OR IGNORE INTO spending VALUES (?, 0, 0)", (run,))

    def find(self, key: str) -> str | None:
        """The answer kept under a key; None where there is none."""
        row = self._db.execute("SELECT text FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def reserve(self) -> None:
        """Take one question from the budget, before it is asked.

        Raises:
            ModelError: The budget is used up.
        """
        is_left = "questions < ? AND (? IS NULL OR tokens < ?)"
        sql = f"UPDATE spending SET questions = questions + 1 WHERE run = ? AND {is_left}"
        values = (self._run, self._most_questions, self._most_tokens, self._most_tokens)
        if self._db.execute(sql, values).rowcount == 0:
            questions, tokens = self.spent()
            raise ModelError(
                f"The budget for the model is used up (questions: {questions}, tokens: {tokens}); the answers "
                "are kept: run the same command again with a larger budget."
            )

    def keep(self, key: str, text: str, tokens: int) -> None:
        """Keep an answer, and count its tokens."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, text, tokens))
        self._db.execute("UPDATE spending SET tokens = tokens + ? WHERE run = ?", (tokens, self._run))
        self._db.execute("COMMIT")

    def spent(self) -> tuple[int, int]:
        """Questions and tokens of the run so far."""
        questions, tokens = self._db.execute(
            "SELECT questions, tokens FROM spending WHERE run = ?", (self._run,)
        ).fetchone()
        return int(questions), int(tokens)

    def close(self) -> None:
        """Close the file."""
        self._db.close()
