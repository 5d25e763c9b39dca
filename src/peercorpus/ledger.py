"""What is left of OpenReview's request budget, kept in `raw.db`, so that a later run and a crashed run obey it too."""

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS budget (
    route TEXT PRIMARY KEY, request_limit INTEGER, remaining INTEGER NOT NULL, ends_at REAL NOT NULL,
    seen_at REAL NOT NULL, length_s INTEGER);
"""


@dataclass(frozen=True, slots=True)
class Window:
    """What is known of the current window of one route.

    Attributes:
        limit: Requests per window; None where only a refusal told of it.
        remaining: Requests left in it.
        ends_at: When the next one opens, seconds since the epoch by this machine's clock.
        seen_at: When this was learnt; no wait is longer than from then to `ends_at`, wherever the clock has gone since.
        length_s: Seconds from one window to the next; None where not said.
    """

    limit: int | None
    remaining: int
    ends_at: float
    seen_at: float
    length_s: int | None

    def left_s(self, now: float) -> float:
        """Seconds until the next window opens; 0 where it has."""
        return max(0.0, min(self.ends_at - now, self.ends_at - self.seen_at))


class BudgetLedger:
    """The table `budget` of `raw.db`, on a connection of its own that threads may share."""

    def __init__(self, path: Path) -> None:
        """Open it, and make the table where it is not there."""
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=60)
        # A lost last entry costs one refused request; waiting for the disk after each request would cost more.
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.executescript(SCHEMA)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def windows(self) -> dict[str, Window]:
        """The windows known, by route."""
        with self._lock:
            rows = self._db.execute("SELECT route, request_limit, remaining, ends_at, seen_at, length_s FROM budget")
            return {route: Window(*rest) for route, *rest in rows}

    def set_window(self, route: str, window: Window) -> None:
        """Remember a window in place of what was known of its route."""
        row = (route, window.limit, window.remaining, window.ends_at, window.seen_at, window.length_s)
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO budget VALUES (?,?,?,?,?,?)", row)
